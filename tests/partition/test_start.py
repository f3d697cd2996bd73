"""A start is never made worse, an illegal one is mended; equal problems are solved once; quick answers come first."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.partition import PartitionFailure, PartitionProblem, PartitionSolution, partition
from floorflow.partition.arrays import arrays_of
from floorflow.partition.bounds import card_cuts, cut_bounds, least_cost, whole_cards
from floorflow.partition.fm import is_legal
from floorflow.partition.infeasibility import least_excess, worst
from floorflow.partition.problem import LIMITS
from floorflow.resources import Resources
from floorflow.stats import Memo
from tests.partition.problems import best_of_all, chain, everything, problems, wished

NO_SHORT_CUT = replace(LIMITS["default"], small=-1)
"""Small problems too go the way of the large ones."""


@given(problems(8), st.randoms(use_true_random=False), st.booleans())
def test_any_start_leads_to_a_legal_answer_no_worse(problem: PartitionProblem, random: object, prove: bool) -> None:
    start = {name: random.randrange(len(problem.slots)) for name in problem.demands}  # type: ignore[attr-defined]
    answer = partition(problem, "auto", NO_SHORT_CUT, start=start, prove=prove)
    expected = best_of_all(problem, everything(problem))
    if isinstance(answer, PartitionFailure):
        assert expected is None
        return
    assert expected is not None
    assert problem.is_legal(answer.slot_of)
    assert problem.cost(answer.slot_of) == answer.stats.objective
    if problem.is_legal(start):
        assert problem.cost(answer.slot_of) <= problem.cost(start)
    if prove:
        assert answer.stats.bound is not None
        assert answer.stats.bound <= expected
        assert answer.stats.status != "optimal" or answer.stats.objective == expected


@given(problems(8))
def test_least_excess_finds_what_is_legal_and_proves_the_rest(problem: PartitionProblem) -> None:
    arrays = arrays_of(problem)
    if not arrays.takes.any(axis=1).all():
        return
    start = arrays.takes.argmax(axis=1).astype(np.int64)
    found = least_excess(problem, arrays, start, 0, 2.0)
    assert found.assignment is not None
    expected = best_of_all(problem, everything(problem))
    assert is_legal(arrays, found.assignment) == (expected is not None) == (not found.proven_infeasible)


@given(problems(8, least_slots=2))
def test_cuts_together_cost_no_more_than_the_best(problem: PartitionProblem) -> None:
    expected = best_of_all(problem, everything(problem))
    cuts = cut_bounds(problem, 0, 2.0)
    if expected is not None:
        assert cuts is not None
        assert max(0, *(cut.least for cut in cuts)) <= least_cost(problem, cuts) <= expected


@given(wished(5))
def test_assignments_to_whole_cards_are_all_there_are_cheapest_first(problem: PartitionProblem) -> None:
    cards, card_of_slot = whole_cards(problem)
    fpga_of = {slot: sorted(same) for same in _joined_by_boundaries(problem) for slot in same}
    assert all(
        (card_of_slot[a] == card_of_slot[b]) == (b in fpga_of[a]) for a in fpga_of for b in range(len(card_of_slot))
    )
    cuts = list(card_cuts(cards, 0, 2.0))
    legal = [a for a in everything(cards).tolist() if cards.is_legal(dict(zip(cards.demands, a, strict=True)))]
    assert sorted(tuple(cut.card_of.values()) for cut in cuts) == sorted(map(tuple, legal))
    for here, behind in pairwise([*cuts, *cuts[-1:]]):
        assert here.bound <= cards.cost(here.card_of) <= cards.cost(behind.card_of)
        assert cards.cost(here.card_of) <= here.bound + 1
    for places in everything(problem).tolist():
        slot_of = dict(zip(problem.demands, places, strict=True))
        if problem.is_legal(slot_of):
            assert [card_of_slot[slot] for slot in places] in legal
            card_of = {name: card_of_slot[slot] for name, slot in slot_of.items()}
            assert cards.paid_on_links(card_of) == problem.paid_on_links(slot_of)


def _joined_by_boundaries(problem: PartitionProblem) -> list[set[int]]:
    """Return the slots of each FPGA."""
    found = [{slot} for slot in range(len(problem.slots))]
    for edge in problem.edges:
        if edge.crossing.kind != "link":
            joined = [same for same in found if {edge.a, edge.b} & same]
            found = [same for same in found if same not in joined] + [set().union(*joined)]
    return found


def test_cuts_that_meet_cost_more_together_than_alone() -> None:
    problem = chain(6, 10, [20, 20, 20], wires=10)
    problem = replace(problem, demands={n: Resources(lut=12) for n in problem.demands}, host_out=2)
    problem = replace(problem, slots=tuple(replace(s, limit=Resources(lut=24, ff=1000)) for s in problem.slots))
    assert least_cost(problem, cut_bounds(problem, 0, 2.0) or ()) == 20


def test_the_resource_that_is_exceeded_most_is_named() -> None:
    problem = chain(3, 30, [50, 50])
    slot_of = dict(zip(problem.demands, (0, 0, 1), strict=True))
    refusal = worst(problem, slot_of)
    assert refusal is not None
    assert (refusal.resource, refusal.place, refusal.needed, refusal.allowed) == ("LUT", "SLR0", 60, 50)
    assert str(refusal) == "no assignment found within the limit; the closest has 60 needed, 50 allowed (SLR0, LUT)"
    assert worst(chain(3, 10, [50, 50]), slot_of) is None


def test_a_stream_that_goes_too_far_is_named_where_all_slots_have_room() -> None:
    problem = replace(chain(2, 10, [50, 50, 50]), max_hops=1)
    refusal = worst(problem, {"m0": 0, "m1": 2})
    assert refusal is not None
    assert (refusal.resource, refusal.needed, refusal.allowed) == ("SLR boundaries", 2, 1)
    assert worst(problem, {"m0": 0, "m1": 1}) is None


def test_a_start_must_name_every_module() -> None:
    with pytest.raises(ValueError, match="m2"):
        partition(chain(3, 10, [50, 50]), start={"m0": 0, "m1": 0})


def test_equal_problems_are_solved_once() -> None:
    memo = Memo()
    first = partition(chain(6, 10, [40, 40]), memo=memo)
    assert partition(chain(6, 10, [40, 40]), memo=memo) is first
    assert (memo.solved, memo.repeated) == (1, 1)
    partition(chain(6, 10, [40, 41]), memo=memo)
    partition(chain(6, 10, [40, 40]), memo=memo, seed=1)
    assert (memo.solved, memo.repeated) == (3, 1)


def test_a_quick_answer_is_proven_later_and_is_the_start_of_that() -> None:
    memo, problem = Memo(), chain(11, 10, [50, 40, 40])
    quick = partition(problem, "auto", NO_SHORT_CUT, memo=memo, prove=False)
    assert isinstance(quick, PartitionSolution)
    assert (quick.stats.status, quick.stats.bound) == ("heuristic", None)
    proven = partition(problem, "auto", NO_SHORT_CUT, memo=memo)
    assert isinstance(proven, PartitionSolution)
    assert proven.stats.status == "optimal"
    assert proven.stats.objective == problem.cost(proven.slot_of) <= problem.cost(quick.slot_of)
    assert partition(problem, "auto", NO_SHORT_CUT, memo=memo, prove=False) is proven
    assert (memo.solved, memo.repeated) == (2, 1)
