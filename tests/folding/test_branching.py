"""Branch and bound finds the cheapest folding, or proves that there is none, or says how far it got."""

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

from floorflow.folding import branching
from floorflow.folding.branching import Enumerate, branch_and_bound
from floorflow.folding.dominance import Array, restricted_to
from floorflow.folding.label_setting import cheapest_below
from floorflow.folding.lagrangian import lagrangian_bound
from floorflow.folding.local_search import LocalSearch
from floorflow.folding.problem import FoldingProblem
from tests.folding.pairwise import WEIGHTS, budgets, knapsack_of, least_cost, random_problems, use_of


def give_up(rows: Sequence[Array], prices: Array, most: int) -> tuple[None, bool]:
    """Leave every node to be split."""
    return None, False


def enumeration(problem: FoldingProblem, budget: Array) -> Enumerate:
    def within(rows: Sequence[Array], prices: Array, most: int) -> tuple[tuple[int, ...] | None, bool]:
        found = cheapest_below(restricted_to(problem, rows), WEIGHTS, budget, prices, most)
        best = found.selection and tuple(int(kept[pick]) for kept, pick in zip(rows, found.selection, strict=True))
        return best, found.complete

    return within


@pytest.mark.parametrize("enumerates", [False, True])
@given(random_problems(), budgets)
def test_the_cheapest_folding_is_found_and_proven(enumerates: bool, problem: FoldingProblem, budget: Array) -> None:
    best, knapsack = least_cost(problem, budget), knapsack_of(problem, budget)
    ends = enumeration(problem, budget) if enumerates else give_up
    found = branch_and_bound(knapsack, lagrangian_bound(knapsack), knapsack.dearest + 1, ends)
    if best is None:
        assert found.selection is None
        assert found.bound == knapsack.dearest + 1
        return
    assert found.selection is not None
    use = use_of(problem, knapsack.pricing.rows_of(found.selection))
    assert (use <= budget).all()
    assert int(use @ WEIGHTS) == best == found.bound


@given(random_problems(), budgets)
def test_only_what_costs_less_than_the_known_is_an_answer(problem: FoldingProblem, budget: Array) -> None:
    best, knapsack = least_cost(problem, budget), knapsack_of(problem, budget)
    if best is not None:
        found = branch_and_bound(knapsack, lagrangian_bound(knapsack), best, give_up)
        assert found.selection is None
        assert found.bound == best


@given(random_problems(), budgets)
def test_any_folding_will_do_if_asked_for_the_first(problem: FoldingProblem, budget: Array) -> None:
    best, knapsack = least_cost(problem, budget), knapsack_of(problem, budget)
    found = branch_and_bound(knapsack, lagrangian_bound(knapsack), knapsack.dearest + 1, give_up, first=True)
    assert (found.selection is None) == (best is None)
    if best is not None and found.selection is not None:
        assert (use_of(problem, knapsack.pricing.rows_of(found.selection)) <= budget).all()
        assert found.bound <= best


@given(random_problems(), budgets)
def test_a_search_that_ended_early_claims_no_more_than_it_proved(problem: FoldingProblem, budget: Array) -> None:
    best, knapsack = least_cost(problem, budget), knapsack_of(problem, budget)
    with patch.multiple(branching, MOST_NODES=1, ROUNDS=1):
        found = branch_and_bound(knapsack, lagrangian_bound(knapsack), knapsack.dearest + 1, give_up)
    if best is not None:
        assert found.bound <= best


@given(random_problems(), budgets)
def test_cut_edges_do_not_spoil_the_proof(problem: FoldingProblem, budget: Array) -> None:
    best = least_cost(problem, budget)
    knapsack = knapsack_of(problem, budget, largest_table=6)
    found = branch_and_bound(knapsack, lagrangian_bound(knapsack), knapsack.dearest + 1, give_up)
    assert (None if found.selection is None else int(knapsack.pricing.total(found.selection) @ WEIGHTS)) == best


@given(random_problems(), budgets)
def test_exchanges_lead_to_a_folding_within_the_budget_or_to_none(problem: FoldingProblem, budget: Array) -> None:
    knapsack = knapsack_of(problem, budget)
    lagrangian = lagrangian_bound(knapsack)
    for cut in lagrangian.cuts:
        found = LocalSearch(knapsack).run(cut.selection, lagrangian.prices)
        if found is not None:
            use = use_of(problem, knapsack.pricing.rows_of(found))
            assert (use <= budget).all()
            assert (use == knapsack.pricing.total(found)).all()
            if cut.keeps_limits:
                assert int(use @ WEIGHTS) <= cut.cost


def test_two_exchanges_at_once_repair_what_one_cannot() -> None:
    # Each engine has a row with 4 LUTs and one with 3 BRAMs; three of four must change to meet both limits.
    from floorflow.dataflow.model import Option
    from floorflow.dataflow.options import OptionGroup
    from floorflow.resources import Resources
    from tests.folding.pairwise import LOOSE

    rows = tuple((Option({}, 1, Resources(*use), (8,), (8,)),) for use in ((4, 0, 0, 0, 0), (0, 0, 3, 0, 0)))
    problem = FoldingProblem(tuple(OptionGroup((f"e{i}",), rows) for i in range(4)), LOOSE, LOOSE)
    knapsack = knapsack_of(problem, np.array([8, 60, 6, 60, 60]))
    start = knapsack.pricing.begins[:-1]
    found = LocalSearch(knapsack).run(start, np.zeros(5, dtype=np.int64))
    assert found is not None
    assert knapsack.pricing.total(found)[[0, 2]].tolist() == [8, 6]
