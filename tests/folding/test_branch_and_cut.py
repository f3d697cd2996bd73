"""Branch and cut finds the cheapest folding below a limit, or proves that there is none, or says that it gave up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.folding import branch_and_cut as module
from floorflow.folding.branch_and_cut import branch_and_cut
from floorflow.folding.candidates import Array, Candidates
from tests.folding.pairwise import WEIGHTS, budgets, least_cost, random_candidates


@settings(max_examples=150, deadline=None)
@given(random_candidates(), budgets, st.integers(20, 400))
def test_the_cheapest_folding_within_the_limit_is_found(choices: Candidates, budget: Array, most: int) -> None:
    best = least_cost(choices, budget)
    found = branch_and_cut(choices, WEIGHTS, budget, most)
    assert found.complete
    if best is None or best > most:
        assert found.picks is None
    else:
        assert found.picks is not None
        assert (choices.total(found.picks) <= budget).all()
        assert int(choices.total(found.picks) @ WEIGHTS) == best


@settings(max_examples=50, deadline=None)
@given(random_candidates(), budgets)
def test_the_first_folding_is_found_where_there_is_one(choices: Candidates, budget: Array) -> None:
    found = branch_and_cut(choices, WEIGHTS, budget, 10**6, first=True)
    assert (found.picks is None) == (least_cost(choices, budget) is None)
    if found.picks is not None:
        assert (choices.total(found.picks) <= budget).all()


@settings(max_examples=20)
@given(random_candidates(), budgets)
def test_too_large_a_model_is_not_called_complete(choices: Candidates, budget: Array) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_PAIRS", -1)
        assert not branch_and_cut(choices, WEIGHTS, budget, 10**6).complete
