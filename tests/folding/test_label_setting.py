"""Enumeration below a limit meets every folding there is, or says that it gave up."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from floorflow.folding.dominance import Array
from floorflow.folding.label_setting import _Labels, cheapest_below
from floorflow.folding.problem import FoldingProblem
from tests.folding.pairwise import WEIGHTS, budgets, knapsack_of, least_cost, prices, random_problems, reduced_of


@given(random_problems(), budgets, prices, st.integers(20, 400))
def test_the_cheapest_folding_within_the_limit_is_found(
    problem: FoldingProblem, budget: Array, price: Array, most: int
) -> None:
    best, reduced = least_cost(problem, budget), reduced_of(problem)
    found = cheapest_below(reduced, WEIGHTS, budget, price, most)
    assert found.complete
    if found.selection is not None:
        assert (reduced.total(found.selection) <= budget).all()
    if best is not None and best <= most:
        assert found.selection is not None
        assert int(reduced.total(found.selection) @ WEIGHTS) == best


@given(random_problems(), budgets)
def test_too_many_labels_are_not_called_complete(problem: FoldingProblem, budget: Array) -> None:
    assume(any(rows.size > 1 for rows in reduced_of(problem).rows))
    outcome = cheapest_below(reduced_of(problem), WEIGHTS, budget, budget * 0, 10**6, most_labels=-1)
    assert not outcome.complete


@given(random_problems(), budgets)
def test_prices_however_high_do_not_overflow(problem: FoldingProblem, budget: Array) -> None:
    best, reduced, knapsack = least_cost(problem, budget), reduced_of(problem), knapsack_of(problem, budget)
    found = cheapest_below(reduced, WEIGHTS, budget, knapsack.unit_prices(np.full(5, 1e30)), knapsack.dearest)
    assert found.complete
    assert (None if found.selection is None else int(reduced.total(found.selection) @ WEIGHTS)) == best


def test_labels_that_fit_are_counted_by_state() -> None:
    none = np.zeros(4, dtype=np.int64)
    labels = _Labels(np.array([0, 5, 5, 10**5]), np.zeros((4, 5)), np.array([3, 1, 2**50, 0]), none, ())
    first, count = labels.with_extra_within(np.array([5, 5, 10**5, 7, 0]), np.array([0, 2**60, 2**60, 9, 3]))
    assert count.tolist() == [0, 2, 1, 0, 1]
    assert first[[1, 2, 4]].tolist() == [1, 3, 0]
