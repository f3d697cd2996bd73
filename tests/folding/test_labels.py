"""Enumeration below a limit meets every folding there is, or says that it gave up."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from floorflow.folding import labels as module
from floorflow.folding.candidates import Array
from floorflow.folding.labels import cheapest_below
from floorflow.folding.problem import FoldingProblem
from tests.folding.pairwise import WEIGHTS, budgets, candidates_of, least_cost, prices, random_problems


@settings(max_examples=200, deadline=None)
@given(random_problems(), budgets, prices, st.integers(20, 400))
def test_the_cheapest_folding_within_the_limit_is_found(
    problem: FoldingProblem, budget: Array, price: Array, most: int
) -> None:
    best, choices = least_cost(problem, budget), candidates_of(problem)
    found = cheapest_below(choices, WEIGHTS, budget, price, most)
    assert found.complete
    if found.picks is not None:
        assert (choices.total(found.picks) <= budget).all()
    if best is not None and best <= most:
        assert found.picks is not None
        assert int(choices.total(found.picks) @ WEIGHTS) == best


@given(random_problems(), budgets)
def test_too_many_labels_are_not_called_complete(problem: FoldingProblem, budget: Array) -> None:
    assume(any(rows.size > 1 for rows in candidates_of(problem).rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_LABELS", -1)
        assert not cheapest_below(candidates_of(problem), WEIGHTS, budget, budget * 0, 10**6).complete
