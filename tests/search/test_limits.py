"""How much the search tries: each limit has an effect that can be seen."""

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import pytest

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.model import renamings
from floorflow.errors import Refusal
from floorflow.folding import FoldingProblem, FoldingSolution, fold_at_interval
from floorflow.folding.problem import FoldingAnswer
from floorflow.partition import PartitionFailure, PartitionProblem, PartitionSolution, partition
from floorflow.partition.problem import PartitionAnswer
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.search.candidate.assignment import Unassigned, complete
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import LatencyLimits, SearchLimits
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.progress import SILENT
from floorflow.search.candidate.repair import place_with_repairs
from floorflow.search.interval import strategies as strategies_module
from floorflow.search.interval.latency import lowest_latency
from floorflow.search.interval.rate import RateSearch, at_the_bounds, attempt, beyond_the_bounds, least_resources
from floorflow.search.interval.state import SearchState, share_of
from floorflow.search.interval.strategies import fold_nearest, fold_whole
from floorflow.stats import SolveStats
from tests.plans import CNV, TFC
from tests.search.test_search import fits, refuses

Partitioner = Callable[[PartitionProblem, Mapping[str, int] | None, bool], PartitionAnswer]


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
    solvers |= {"fold_nearly": solvers["fold"]} if "fold" in solvers else {}
    context = replace(context, solvers=replace(context.solvers, **solvers), search_limits=limits)
    return SearchState(context, SILENT)


def tiny(**options: Any) -> Request:
    return Request(TFC, "pynq-z1", keep_granularity=True, effort="fast", **options)


def partition_below(fps: float) -> Partitioner:
    """Return a partition method that refuses every higher frame rate."""

    def method(problem: PartitionProblem, start: Mapping[str, int] | None, prove: bool) -> PartitionAnswer:
        if problem.frames_per_s > fps:
            return PartitionFailure((Refusal("partition limit"),))
        return partition(problem, "auto", "fast", 0, start=start, prove=prove)

    return method


def highest_rate(state: SearchState) -> None:
    kinds = RateSearch.of(state)
    at_the_bounds(kinds)
    beyond_the_bounds(kinds)


@pytest.mark.parametrize("attempts", [1, 3])
def test_the_least_resources_are_tried_at_so_many_intervals(attempts: int) -> None:
    state = state_of(tiny(fps=1000), SearchLimits(rate_attempts=attempts), place=refuse_all)
    least_resources(state, state.context.problem.intervals())
    assert len(state.attempts) == attempts


@pytest.mark.parametrize("shorter_tries", [0, 2, 6])
def test_so_many_shorter_intervals_are_tried_after_the_first_plan(shorter_tries: int) -> None:
    limits = SearchLimits(shorter_tries=shorter_tries, folding_rounds=1, ladder=4.0)
    state = state_of(tiny(), limits, place=refuse_above(9_000))
    highest_rate(state)
    tried = list(state.attempts)
    first = next(place for place, interval in enumerate(tried) if state.attempts[interval])
    assert len(tried) - first - 1 <= shorter_tries
    assert (len(tried) - first - 1 > 0) == (shorter_tries > 0)


@pytest.mark.parametrize("worth", [0.0, 0.05, 1e6])
def test_no_interval_is_tried_for_a_gain_on_one_that_failed_that_is_not_worth_it(worth: float) -> None:
    limits = SearchLimits(shorter_tries=20, folding_rounds=1, ladder=4.0, worth_a_try=worth)
    state = state_of(tiny(), limits, place=refuse_above(9_000))
    highest_rate(state)
    tried = list(state.attempts.items())
    first = next(place for place, (_, succeeded) in enumerate(tried) if succeeded)
    failed, found = max(interval for interval, _ in tried[:first]), tried[first][0]
    for interval, succeeded in tried[first + 1 :]:
        assert found > (1 + worth) * failed
        failed, found = (failed, interval) if succeeded else (interval, found)
    intervals = state.context.problem.intervals()
    between = [interval for interval in intervals if failed < interval < found]
    # It ends only where nothing is left, or nothing that is worth it.
    assert not between or found <= (1 + worth) * failed
    assert (len(tried) > first + 1) == (worth < 1)


def test_a_finer_ladder_finds_no_longer_interval() -> None:
    found = []
    for ladder in (4.0, 1.02):
        state = state_of(tiny(), SearchLimits(ladder=ladder, shorter_tries=0), place=refuse_above(9_000))
        highest_rate(state)
        assert state.best is not None
        found.append(state.best.candidate.interval_cycles)
    assert found[0] >= found[1]


def test_foldings_at_an_interval_keep_back_what_channels_were_short_of() -> None:
    fold = FoldingRecorder()
    lacking = Resources(lut=1000)

    def method(problem: PartitionProblem, start: object, prove: object) -> PartitionAnswer:
        return PartitionFailure((Refusal("partition limit"),), short=lacking)

    state = state_of(tiny(fps=1000), SearchLimits(folding_rounds=3), fold=fold, partition=method)
    assert fold_whole(state, state.context.problem.intervals()[-1]) is None
    budgets = [problem.budget.lut for problem in fold.problems]
    assert len(budgets) > 1
    assert budgets == sorted(budgets, reverse=True)
    assert budgets[0] - budgets[-1] >= lacking.lut


def refuse_unless_told(problem: PartitionProblem, start: Mapping[str, int] | None, prove: bool) -> PartitionAnswer:
    """Refuse what does not say where to begin; what comes closest is half of it in one slot and half in the next."""
    if start is not None:
        return PartitionSolution(start, SolveStats("fake", "heuristic"))
    half = len(problem.demands) // 2
    closest = {name: 1 if place < half else 2 for place, name in enumerate(problem.demands)}
    return PartitionFailure((Refusal("partition limit"),), closest=closest)


def test_what_does_not_come_apart_is_folded_slot_by_slot_where_it_nearly_did() -> None:
    limits = SearchLimits(folding_rounds=2)
    state = state_of(Request(CNV, "alveo-u250", max_hops=3, effort="fast"), limits, partition=refuse_unless_told)
    interval = state.context.problem.intervals()[-1]
    assert fold_whole(state, interval) is None
    wanted = state.closest[interval]
    assert len(wanted) == 2, "one of each folding"
    slots = list(state.context.limits)
    for slot_of in wanted:
        assert list(slot_of) == [engine.name for engine in state.context.dataflow.engines]
        assert set(slot_of.values()) == set(slots[1:3])
    found = fold_nearest(state, interval)
    assert isinstance(found, Candidate)
    assert found.folding.stats.method == "exact by slot"
    renamed = renamings(state.context.dataflow, found.folded.dataflow)
    lies_in = {engine: found.slot_of[module.name] for module in found.modules for engine in module.engines}
    assert lies_in == {renamed[engine]: slot for engine, slot in wanted[-1].items()}
    assert found.problem.is_legal(found.partition.slot_of)
    assert interval not in state.closest
    assert fold_nearest(state, interval) is None, "nothing is tried twice"


def test_slots_of_what_came_closest_are_folded_after_contiguous_ones() -> None:
    request = Request(CNV, "alveo-u250", max_hops=3, effort="fast", tie_break="scarcity")
    state = state_of(request, SearchLimits(), partition=refuse_unless_told)
    interval = state.context.problem.intervals()[-1]
    asked: list[str] = []

    def fails(name: str) -> Callable[[SearchState, int], None]:
        def way(run: SearchState, interval: int) -> None:
            asked.append(name)

        way.__name__ = name
        return way

    with ExitStack() as patched:
        for name in ("fold_segments", "fold_scattered"):
            patched.enter_context(patch.object(strategies_module, name, fails(name)))
        assert attempt(state, interval)
    assert asked == ["fold_segments"]
    assert set(state.found[interval].slot_of.values()) == set(list(state.context.limits)[1:3])


def test_without_a_round_no_assignment_is_tried() -> None:
    for rounds, expected in ((0, Unassigned), (4, Candidate)):
        context = state_of(tiny(fps=1000), SearchLimits(assignment_rounds=rounds)).context
        folding = fold_at_interval(context.problem, context.problem.intervals()[-1])
        assert isinstance(folding, FoldingSolution)
        assert isinstance(complete(context, folding), expected)


def test_where_rectangles_do_not_pack_areas_are_limited_to_the_shares() -> None:
    asked: list[float] = []

    def method(problem: PartitionProblem, start: Mapping[str, int] | None, prove: bool) -> PartitionAnswer:
        if problem.cells:
            asked.append(problem.area_share)
        return partition_below(1e12)(problem, start, prove)

    request = Request(CNV, "alveo-u250", fps=50_000, keep_granularity=True, effort="fast")
    state = state_of(request, SearchLimits(tightened_shares=(0.9, 0.7)), place=refuse_all, partition=method)
    candidate = fold_whole(state, state.context.problem.intervals()[-1])
    assert candidate is not None
    place_with_repairs(state.context, candidate)
    assert list(dict.fromkeys(asked)) == [0.9, 0.7]


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
    tried, _ = latency_trace(latency, refuse_above(23_000))
    assert tried[:2] == [100, 50]
    between = {share for share in tried[2:] if 50 < share < 100}
    assert len(between) == halvings


def test_no_budget_between_is_tried_for_a_gain_that_is_not_worth_it() -> None:
    tried, _ = latency_trace(LatencyLimits(first_step=0.5, worth_a_try=1e6), refuse_above(23_000))
    assert tried == [100, 50]


def test_engines_are_held_to_their_share_of_a_slot_after_a_failure() -> None:
    latency = LatencyLimits(first_step=0.5, halvings=0, largest_engine=0.5, larger_engine=0.9)
    _, problems = latency_trace(latency, refuse_above(23_000))
    limit = next(iter(state_of(tiny(), SearchLimits()).context.limits.values()))
    largest = [problem.largest for problem in problems]
    assert largest[0] != share_of(limit, 0.5)
    assert {share_of(limit, 0.5), share_of(limit, 0.9)} <= set(largest)
