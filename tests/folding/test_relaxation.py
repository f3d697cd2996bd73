"""The Lagrangian relaxation bounds the optimum, and what it calls infeasible is."""

from __future__ import annotations

from hypothesis import given, settings

from floorflow.folding.candidates import Array, Candidates
from floorflow.folding.relaxation import relax, within
from tests.folding.pairwise import WEIGHTS, all_choices, budgets, least_cost, random_candidates


@settings(max_examples=150, deadline=None)
@given(random_candidates(), budgets)
def test_bound_and_answer_enclose_the_optimum(choices: Candidates, budget: Array) -> None:
    best = least_cost(choices, budget)
    relaxed = relax(choices, WEIGHTS, budget)
    if best is None:
        assert relaxed.picks is None
        return
    assert not relaxed.infeasible
    assert relaxed.bound <= best <= relaxed.cost
    if relaxed.picks is not None:
        assert (choices.total(relaxed.picks) <= budget).all()
        assert int(choices.total(relaxed.picks) @ WEIGHTS) == relaxed.cost


@settings(max_examples=100, deadline=None)
@given(random_candidates(), budgets)
def test_rows_struck_out_are_in_no_folding_within_the_cost(choices: Candidates, budget: Array) -> None:
    relaxed = relax(choices, WEIGHTS, budget)
    keep = within(choices, WEIGHTS, budget, relaxed, 150)
    for picks in all_choices(choices):
        use = choices.total(picks)
        if (use <= budget).all() and int(use @ WEIGHTS) <= 150:
            assert all(mask[pick] for mask, pick in zip(keep, picks, strict=True))
