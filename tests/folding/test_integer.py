"""The integer programmes find the cheapest folding below a limit, or prove that there is none, or give up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.folding import integer as module
from floorflow.folding.candidates import Array, Candidates
from floorflow.folding.integer import cheapest, some_choice
from tests.folding.pairwise import WEIGHTS, budgets, least_cost, random_candidates


@settings(max_examples=150, deadline=None)
@given(random_candidates(), budgets, st.integers(20, 400))
def test_the_cheapest_folding_within_the_limit_is_found(choices: Candidates, budget: Array, most: int) -> None:
    best = least_cost(choices, budget)
    found = cheapest(choices, WEIGHTS, budget, most)
    assert found.complete
    if best is None or best > most:
        assert found.picks is None
    else:
        assert found.picks is not None
        assert (choices.total(found.picks) <= budget).all()
        assert int(choices.total(found.picks) @ WEIGHTS) == best


def test_an_optimum_that_scips_presolving_loses_is_found() -> None:
    rows = [[[6, 1, 2, 3, 5], [5, 2, 4, 5, 1], [1, 7, 5, 6, 6]], [[4, 3, 6, 0, 7], [3, 7, 0, 7, 4], [2, 5, 6, 4, 1]]]
    pair = [
        [[3, 0, 4, 3, 4], [1, 4, 4, 0, 1], [0, 2, 0, 2, 3]],
        [[4, 4, 4, 0, 4], [2, 4, 1, 2, 0], [2, 0, 1, 3, 4]],
        [[3, 4, 4, 1, 0], [4, 4, 1, 0, 1], [4, 0, 1, 2, 2]],
    ]
    choices = Candidates((np.arange(3),) * 2, (np.array(rows[0]), np.array(rows[1])), {(0, 1): np.array(pair)})
    found = cheapest(choices, WEIGHTS, np.array([13, 9, 14, 9, 16]), 173)
    assert found.picks == (0, 2)


@settings(max_examples=100, deadline=None)
@given(random_candidates(), budgets)
def test_some_folding_is_found_where_there_is_one(choices: Candidates, budget: Array) -> None:
    found = some_choice(choices, WEIGHTS, budget, 10**6)
    assert found.complete or found.picks is not None
    assert (found.picks is None) == (least_cost(choices, budget) is None)
    if found.picks is not None:
        assert (choices.total(found.picks) <= budget).all()


@settings(max_examples=20)
@given(random_candidates(), budgets)
def test_a_search_that_ended_early_is_not_called_complete(choices: Candidates, budget: Array) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DETERMINISTIC_LIMIT", 0.0)
        assert not cheapest(choices, WEIGHTS, budget, 10**6).complete
