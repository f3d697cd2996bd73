"""How much the search tries: each limit has an effect that can be seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from floorflow.backends.finn.read.source import read_source
from floorflow.errors import Refusal
from floorflow.folding import FoldingProblem, FoldingSolution, fold_at_interval
from floorflow.folding.exact import FoldingAnswer
from floorflow.partition import PartitionFailure, PartitionProblem, partition
from floorflow.partition.problem import PartitionAnswer
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.request import Request
from floorflow.resources import Resources, scaled_down
from floorflow.search.assignment import complete
from floorflow.search.candidate import Candidate
from floorflow.search.highest_rate import highest_rate, shortest_possible
from floorflow.search.least_resources import least_resources
from floorflow.search.limits import LatencyLimits, SearchLimits
from floorflow.search.lowest_latency import lowest_latency
from floorflow.search.preparing import prepare
from floorflow.search.progress import SILENT
from floorflow.search.repair import place_with_repairs
from floorflow.search.state import SearchState, share_of
from tests.conftest import CNV, TFC
from tests.search.test_search import fits, refuses


def refuse_all(problem: PlacementProblem) -> PlacementFailure:
    return refuses(problem.slots[0].name)


def refuse_above(lut: int) -> Callable[[PlacementProblem], PlacementSolution | PlacementFailure]:
    """Return a placer that refuses designs of more LUTs."""

    def place(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        return refuse_all(problem) if sum(m.demand.lut for m in problem.modules) > lut else fits(problem)

    return place


@dataclass
class FoldingRecorder:
    """Folds exactly and remembers what it was asked."""

    problems: list[FoldingProblem] = field(default_factory=list)

    def __call__(self, problem: FoldingProblem, interval_cycles: int) -> FoldingAnswer:
        self.problems.append(problem)
        return fold_at_interval(problem, interval_cycles)


def state_of(request: Request, limits: SearchLimits, **solvers: Any) -> SearchState:
    context = prepare(read_source(request.model), request, 1)
    context = replace(context, solvers=replace(context.solvers, **solvers), search_limits=limits)
    return SearchState(context, SILENT)


def tiny(**options: Any) -> Request:
    return Request(TFC, "pynq-z1", keep_granularity=True, effort="fast", **options)


def partition_below(fps: float) -> Callable[[PartitionProblem], PartitionAnswer]:
    """Return a partition method that refuses every higher frame rate."""

    def method(problem: PartitionProblem) -> PartitionAnswer:
        if problem.frames_per_s > fps:
            return PartitionFailure((Refusal("partition limit"),))
        return partition(problem, "auto", "fast", 0)

    return method


@pytest.mark.parametrize("attempts", [1, 3])
def test_the_least_resources_are_tried_at_so_many_intervals(attempts: int) -> None:
    state = state_of(tiny(fps=1000), SearchLimits(rate_attempts=attempts), place=refuse_all)
    least_resources(state, state.context.problem.intervals())
    assert len({row.interval_cycles for row in state.trace if row.stage == "place"}) == attempts


@pytest.mark.parametrize("shorter_tries", [1, 6])
def test_so_many_shorter_intervals_are_probed_after_bisection(shorter_tries: int) -> None:
    limits = SearchLimits(shorter_tries=shorter_tries, folding_rounds=1)
    state = state_of(tiny(), limits, place=fits, partition=partition_below(500_000))
    intervals, index = shortest_possible(state)
    highest_rate(state, intervals, index)
    assert state.best is not None
    first = intervals.index(state.best.candidate.interval_cycles)
    assert {intervals[first - step] for step in range(1, shorter_tries + 1)} <= set(state.candidates)
    assert (intervals[first - 6] in state.candidates) == (shorter_tries == 6)


def found_interval(limits: SearchLimits) -> int:
    state = state_of(tiny(), limits, place=refuse_above(9_000))
    intervals, index = shortest_possible(state)
    highest_rate(state, intervals, index)
    assert state.best is not None
    return state.best.candidate.interval_cycles


def test_more_placings_find_a_shorter_interval() -> None:
    intervals = [found_interval(SearchLimits(placings=placings)) for placings in (0, 3, 12)]
    assert intervals == sorted(intervals, reverse=True)
    assert intervals[0] > intervals[-1]


def test_the_first_step_to_a_longer_interval_is_of_the_ratio() -> None:
    for ratio in (1.5, 3.0):
        state = state_of(tiny(), SearchLimits(placings=1, placing_ratio=ratio), place=refuse_above(9_000))
        intervals, index = shortest_possible(state)
        highest_rate(state, intervals, index)
        tried = sorted(state.candidates)
        first = next(row.interval_cycles for row in state.trace if row.stage == "place")
        assert next(interval for interval in intervals if interval >= first * ratio) in tried


@pytest.mark.parametrize(("rounds", "step"), [(2, 0.1), (4, 0.05)])
def test_foldings_at_an_interval_leave_ever_more_of_the_budget(rounds: int, step: float) -> None:
    fold = FoldingRecorder()
    limits = SearchLimits(folding_rounds=rounds, reserve_step=step)
    state = state_of(tiny(fps=1000), limits, fold=fold, partition=partition_below(0))
    assert not state.partitioned(state.context.problem.intervals()[-1])
    budget = state.context.problem.budget
    reserves = [budget - problem.budget for problem in fold.problems]
    one = share_of(budget, step)
    assert reserves == [Resources(*(n * amount for amount in one.as_tuple())) for n in range(rounds)]


def test_without_a_round_no_assignment_is_tried() -> None:
    for rounds, expected in ((0, PartitionFailure), (4, Candidate)):
        context = state_of(tiny(fps=1000), SearchLimits(assignment_rounds=rounds)).context
        folding = fold_at_interval(context.problem, context.problem.intervals()[-1])
        assert isinstance(folding, FoldingSolution)
        assert isinstance(complete(context, folding), expected)


def test_a_slot_that_failed_is_tightened_to_the_shares() -> None:
    asked: list[PartitionProblem] = []

    def method(problem: PartitionProblem) -> PartitionAnswer:
        asked.append(problem)
        return partition_below(1e12)(problem)

    request = Request(CNV, "alveo-u250", fps=50_000, keep_granularity=True, effort="fast")
    limits = SearchLimits(tightened=(0.9, 0.7))
    state = state_of(request, limits, place=refuse_all, partition=method)
    longest = state.context.problem.intervals()[-1]
    assert state.partitioned(longest)
    candidate = state.candidates[longest]
    assert candidate is not None
    place_with_repairs(state.context, candidate)
    limit = asked[0].slots[0].limit
    seen = {problem.slots[0].limit for problem in asked}
    shares = [scaled_down(limit, dict.fromkeys(limit.as_dict(), share)) for share in limits.tightened]
    assert seen == {limit, *shares}


def latency_trace(
    latency: LatencyLimits, place: Callable[[PlacementProblem], PlacementSolution | PlacementFailure]
) -> tuple[list[int], list[FoldingProblem]]:
    """Return the percentages of the budget that were tried, in order, and the folding problems."""
    fold = FoldingRecorder()
    state = state_of(tiny(objective="latency"), SearchLimits(latency=latency), place=place, fold=fold)
    lowest_latency(state, state.context.problem.intervals()[-1])
    details = [re.search(r"with (\d+)% of the budget", row.detail) for row in state.trace]
    return [int(match[1]) for match in details if match], fold.problems


def test_the_budget_for_latency_falls_by_growing_steps_down_to_the_least() -> None:
    tried, _ = latency_trace(LatencyLimits(first_step=0.1, step_growth=2.0, least_budget=0.25), refuse_all)
    assert tried == [100, 90, 70, 30]
    tried, _ = latency_trace(LatencyLimits(first_step=0.2, step_growth=1.0, least_budget=0.5), refuse_all)
    assert tried == [100, 80, 60]


@pytest.mark.parametrize("halvings", [0, 1, 3])
def test_so_many_budgets_are_tried_between_failure_and_success(halvings: int) -> None:
    latency = LatencyLimits(first_step=0.5, halvings=halvings, worth_a_try=-1.0)
    tried, _ = latency_trace(latency, refuse_above(20_000))
    assert tried[:2] == [100, 50]
    between = {share for share in tried[2:] if 50 < share < 100}
    assert len(between) == halvings


def test_no_budget_between_is_tried_for_a_gain_that_is_not_worth_it() -> None:
    tried, _ = latency_trace(LatencyLimits(first_step=0.5, worth_a_try=1e6), refuse_above(20_000))
    assert tried == [100, 50]


def test_engines_are_held_to_their_share_of_a_slot_after_a_failure() -> None:
    latency = LatencyLimits(first_step=0.5, halvings=0, largest_engine=0.5, larger_engine=0.9)
    _, problems = latency_trace(latency, refuse_above(20_000))
    limit = next(iter(state_of(tiny(), SearchLimits()).context.limits.values()))
    largest = [problem.largest for problem in problems]
    assert largest[0] != share_of(limit, 0.5)
    assert {share_of(limit, 0.5), share_of(limit, 0.9)} <= set(largest)
