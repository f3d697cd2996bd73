"""The Lagrangian relaxation bounds the optimum, and what it calls infeasible is."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.folding.dominance import Array
from floorflow.folding.lagrangian import FINENESS, lagrangian_bound, rows_within_cost
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.variable_elimination import FORBIDDEN
from tests.folding.pairwise import (
    WEIGHTS,
    all_choices,
    budgets,
    knapsack_of,
    least_cost,
    prices,
    random_problems,
    use_of,
)


@given(random_problems(), budgets)
def test_bound_and_answer_enclose_the_optimum(problem: FoldingProblem, budget: Array) -> None:
    best = least_cost(problem, budget)
    knapsack = knapsack_of(problem, budget)
    lagrangian = lagrangian_bound(knapsack)
    if best is None:
        assert lagrangian.selection is None
        return
    assert not lagrangian.infeasible
    assert lagrangian.bound <= best <= lagrangian.cost
    if lagrangian.selection is not None:
        use = use_of(problem, knapsack.pricing.rows_of(lagrangian.selection))
        assert (use <= budget).all()
        assert int(use @ WEIGHTS) == lagrangian.cost


@given(random_problems(), budgets, st.lists(st.integers(0, 2**60), min_size=5, max_size=5), st.booleans())
def test_prices_to_start_from_spoil_no_bound(
    problem: FoldingProblem, budget: Array, start: list[int], first: bool
) -> None:
    best, knapsack = least_cost(problem, budget), knapsack_of(problem, budget)
    lagrangian = lagrangian_bound(knapsack, np.array(start), first=first)
    assert lagrangian.bound >= 0
    if best is not None:
        assert not lagrangian.infeasible
        assert lagrangian.bound <= best


@given(random_problems(), budgets)
def test_rows_struck_out_are_in_no_folding_within_the_cost(problem: FoldingProblem, budget: Array) -> None:
    knapsack = knapsack_of(problem, budget)
    keep = knapsack.pricing.masked_rows(rows_within_cost(knapsack, lagrangian_bound(knapsack).prices, 150))
    for rows in all_choices(problem):
        use = use_of(problem, rows)
        if (use <= budget).all() and int(use @ WEIGHTS) <= 150:
            assert all(row in left for left, row in zip(keep, rows, strict=True))


@given(random_problems(), budgets, prices)
def test_least_prices_and_min_marginals_equal_those_of_all_selections(
    problem: FoldingProblem, budget: Array, price: Array
) -> None:
    pricing = knapsack_of(problem, budget).pricing
    both = np.stack([FINENESS * WEIGHTS, FINENESS * WEIGHTS + price])
    rows = pricing.row_prices(both)
    totals, selection = pricing.least(rows, both)
    min_marginals = pricing.min_marginals(rows, both)
    # A stream that exceeds the budget by itself is barred.
    streams = [(c, (c.use > budget).any(axis=2)) for c in problem.couplings]
    for case, unit in enumerate(both):
        every = {
            choice: int(use_of(problem, choice) @ unit)
            for choice in all_choices(problem)
            if not any(b[c.source_class[choice[c.source]], c.target_class[choice[c.target]]] for c, b in streams)
        }
        if not every:
            assert totals[case] >= FORBIDDEN
            continue
        assert totals[case] == min(every.values()) == every[pricing.rows_of(selection[case])]
        assert (pricing.total(selection[case]) == use_of(problem, pricing.rows_of(selection[case]))).all()
        for place in range(pricing.size):
            group = int(pricing.group[place])
            row = int(pricing.classes.rows[group][place - pricing.begins[group]])
            with_it = [value for choice, value in every.items() if choice[group] == row]
            assert min_marginals[case, place] == min(with_it) if with_it else min_marginals[case, place] >= FORBIDDEN
