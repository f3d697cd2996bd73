"""What comes closest where nothing is legal: a slot for every module, and no assignment exceeds limits less."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings

from floorflow.partition import PartitionFailure, PartitionProblem, partition
from floorflow.resources import Resources
from tests.partition.problems import best_of_all, chain, everything, problems

ROUNDING = 1e-3
"""Shares are summed in millionths of a limit, each rounded."""


def excess(problem: PartitionProblem, slot_of: Mapping[str, int]) -> float:
    """Return the sum of the shares by which limits are exceeded, with too many hops, ways back and large modules."""
    uses: list[tuple[int, int | None]] = []
    for slot, demand in zip(problem.slots, problem.slot_demands(slot_of), strict=True):
        uses += zip(demand.as_tuple(), slot.limit.as_tuple(), strict=True)
    uses += zip(problem.slot_cells(slot_of), problem.most_cells, strict=True)
    uses += [(sum(slot_of[m] == s for m in each), 1) for each in problem.apart for s in range(len(problem.slots))]
    both_ways = problem.link_bits(slot_of), problem.streams_over(slot_of)
    for edge, wires, bits, streams in zip(problem.edges, problem.loads(slot_of), *both_ways, strict=True):
        uses += [(wires, edge.crossing.wires), *((each, problem.allowed_bits(edge)) for each in bits)]
        uses += [(each, problem.allowed_streams(edge)) for each in streams]
    misplaced: float = sum(not problem.takes(name, slot) for name, slot in slot_of.items())
    # A tenth for each hop too many between two modules, or a module and an end of the host.
    far = {(s.source, s.target): problem.hops(s, slot_of) - (problem.max_hops or 9) for s in problem.streams}
    misplaced += sum(max(0, hops) / 10 for hops in far.values())
    misplaced += len({(s.source, s.target) for s in problem.back(slot_of)})
    return misplaced + sum(max(0, use - most) / max(1, most) for use, most in uses if most is not None)


def least_of_all(problem: PartitionProblem) -> float:
    """Return the least excess of all assignments in which each module fits its slot alone."""
    every = (dict(zip(problem.demands, places, strict=True)) for places in everything(problem).tolist())
    return min(excess(problem, each) for each in every if all(problem.takes(m, s) for m, s in each.items()))


def tight(problem: PartitionProblem) -> PartitionProblem:
    """Return the problem with equal slots of which each takes any module and all together take hardly more than all."""
    needs = [need.as_tuple() for need in problem.demands.values()]
    share = (max(-(-sum(each) // len(problem.slots)), *each, 0) for each in zip(*needs, strict=True))
    limit = Resources(*share)
    return replace(problem, slots=tuple(replace(s, limit=limit, pblock_capacities=()) for s in problem.slots))


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(problems(most_modules=5, least_slots=2).map(tight))
def test_no_assignment_exceeds_limits_less(problem: PartitionProblem) -> None:
    assume(best_of_all(problem, everything(problem)) is None)
    answer = partition(problem)
    assert isinstance(answer, PartitionFailure)
    # What one look at sums or single modules refuses is not looked into.
    assume(answer.closest is not None)
    assert answer.proven
    assert answer.closest is not None
    assert list(answer.closest) == list(problem.demands)
    assert set(answer.closest.values()) <= set(range(len(problem.slots)))
    assert 0 < excess(problem, answer.closest) <= least_of_all(problem) + ROUNDING


def test_what_comes_closest_puts_one_module_too_many_into_the_slot_that_bears_it_best() -> None:
    """Three modules of 30 in slots of 50 and 55: one of them holds two, 10 or 5 too many."""
    answer = partition(chain(3, 30, [50, 55]))
    assert isinstance(answer, PartitionFailure)
    assert answer.closest is not None
    assert sorted(answer.closest.values()) == [0, 1, 1]


@pytest.mark.parametrize("method", ["dp", "metis", "exact"])
def test_methods_that_do_not_look_for_it_name_none(method: str) -> None:
    answer = partition(chain(3, 30, [50, 55]), method)
    assert isinstance(answer, PartitionFailure)
    assert answer.closest is None


@pytest.mark.parametrize("problem", [chain(2, 60, [50, 50]), chain(11, 10, [50, 50])], ids=["module", "sums"])
def test_what_one_look_refuses_has_none(problem: PartitionProblem) -> None:
    answer = partition(problem)
    assert isinstance(answer, PartitionFailure)
    assert answer.closest is None
