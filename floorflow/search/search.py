"""The feedback loop: find the best design for which a legal floorplan exists, and say what ended the search.

For the highest rate, intervals are searched by bisection on fold, connect, cluster and partition; then ever shorter
ones are probed, since feasibility is monotone for the joint problem but not for heuristics. Survivors are placed,
shortest interval first, with the remedies of `floorflow.search.repair`; if none helps, longer intervals are tried.
The least resources are sought at the longest interval allowed, the lowest latency in `floorflow.search.lowest_latency`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from floorflow.errors import InfeasibleError, LimitError
from floorflow.folding import RATIO, FoldingSolution, fold_at_interval, shortage, shortest_interval
from floorflow.placement import PlacementSolution
from floorflow.search.candidate import Candidate, PlanningContext
from floorflow.search.impl_styles import fewer_styles, needless_at
from floorflow.search.lowest_latency import latency_cycles, lowest_latency
from floorflow.search.repair import PlacedCandidate, place_candidate
from floorflow.search.state import Progress, SearchState, TraceRow

PROBES = 3
"""Failures in a row, at ever shorter intervals after bisection, that end the search."""
PLACINGS = 7
"""Intervals between the shortest and the longest that are placed where the shortest cannot be."""
PLACING_RATIO = 1.05
"""By which the steps between those begin to grow: far more than 1, 2, 4 of the intervals where they lie close."""
RATE_ATTEMPTS = 8
"""Intervals tried for a requested rate."""
INTERRUPTED = "interrupted: this is the best that had been found"
"""What ended a search that Ctrl-C stopped."""


@dataclass(frozen=True)
class SearchResult:
    """The best legal design, its floorplans by FPGA, the bound on the interval, the trace, and the remedy it took.

    ``whole_budget_bound`` bounds what folding minimised when nothing of the budget is kept back: the scarcity at the
    design's interval, or the latency.
    """

    candidate: Candidate
    placements: Mapping[str, PlacementSolution]
    bound_cycles: int
    ended_by: str
    trace: tuple[TraceRow, ...]
    whole_budget_bound: float | None
    repair: str = ""


def search(context: PlanningContext, progress: Progress) -> SearchResult:
    """Find the best legal design for the request. Ctrl-C ends the search with what can be placed at once.

    Raises
    ------
    InfeasibleError
        If even the longest interval is proven infeasible.
    LimitError
        If nothing is proven but no legal design was found.

    """
    run = SearchState(context, progress)
    intervals = context.problem.intervals()
    if not run.foldable(intervals[-1]):
        raise _infeasible(run, intervals[-1])
    bound_cycles: int | None = None
    latency_bound: float | None = None
    try:
        if context.request.goal == "latency":
            latency_bound, ended_by = lowest_latency(run, intervals[-1])
        elif context.request.goal == "resources":
            ended_by = _least_resources(run, intervals)
        else:
            run, intervals, index = _in_fit_styles(run)
            bound_cycles = intervals[index]
            ended_by = _fastest(run, intervals, index)
            if run.best is None or run.best.candidate.interval_cycles > bound_cycles:
                run, ended_by = _with_own_styles(run) or (run, ended_by)
    except KeyboardInterrupt:
        ended_by = _salvage(run)
    if run.best is None:
        raise _not_found(run)
    candidate = run.best.candidate
    bound_cycles = candidate.interval_cycles if bound_cycles is None else bound_cycles
    whole = latency_bound if context.request.goal == "latency" else _whole_budget_bound(run.context, candidate.folding)
    return SearchResult(
        candidate, run.best.placements, bound_cycles, ended_by, tuple(run.trace), whole, run.best.repair
    )


def _in_fit_styles(run: SearchState) -> tuple[SearchState, tuple[int, ...], int]:
    """Return the search to go on with, its intervals, and the index of the shortest that the budget allows.

    Where hls or rtl against FINN's own choice does not shorten it, ``--impl-style auto`` leaves the choice to FINN.
    Where it does, but a floorplan needs a longer interval, `_with_own_styles` looks whether FINN's choice packs better.
    """
    intervals, index = _shortest_possible(run)
    own = needless_at(run.context.problem, intervals[index]) if run.context.request.impl_style == "auto" else None
    if own is None:
        return run, intervals, index
    run = run.among(own)
    return run, *_shortest_possible(run)


def _with_own_styles(run: SearchState) -> tuple[SearchState, str] | None:
    """Search again with hls or rtl as FINN chooses; return that search and what ended it if it found a better design.

    A choice that allows a shorter interval by the sums of resources may be harder to pack: what it needs less of is not
    what runs short in a slot.
    """
    own = fewer_styles(run.context.problem) if run.context.request.impl_style == "auto" else None
    if own is None:
        return None
    other = run.among(own)
    best = math.inf if run.best is None else run.best.candidate.interval_cycles
    intervals, index = _shortest_possible(other)
    if intervals[index] >= best or not other.foldable(intervals[-1]):
        return None
    try:
        ended_by = _fastest(other, intervals, index)
    except KeyboardInterrupt:
        ended_by = INTERRUPTED
    if other.best is None or other.best.candidate.interval_cycles >= best:
        if ended_by == INTERRUPTED:
            raise KeyboardInterrupt
        return None
    tried = [replace(row, detail=f"hls and rtl as FINN chooses: {row.detail}") for row in other.trace]
    other.trace[:] = [*run.trace, *tried]
    return other, ended_by


def _shortest_possible(run: SearchState) -> tuple[tuple[int, ...], int]:
    problem = run.context.problem
    intervals = problem.intervals()
    # One interval too short, so that the trace says what forbids it.
    start = max(0, problem.first_possible(intervals) - 1)
    return intervals, shortest_interval(intervals, run.foldable, start, ratio=RATIO) or 0


def _least_resources(run: SearchState, intervals: tuple[int, ...]) -> str:
    """Fold for the longest allowed interval; where that cannot be placed, for shorter ones, which change the folding.

    Options slower than a requested rate are gone already.
    """
    longest = intervals[-1]
    for _ in range(RATE_ATTEMPTS):
        if run.placed(longest):
            break
        candidate = run.candidates[longest]
        # The same folding answers every interval down to its own.
        shorter = [i for i in intervals if i < (candidate.interval_cycles if candidate else longest)]
        if not shorter:
            break
        longest = shorter[-1]
    if run.context.request.fps is not None:
        return "the requested rate was met"
    failed = [_verdict(row) for row in run.trace if row.verdict != "legal"]
    folding = run.best.candidate.folding if run.best is not None else None
    if folding and not failed and folding.budget == run.context.problem.budget and folding.stats.status == "optimal":
        return "least resources: no folding at any interval is less scarce"
    return "; ".join(["least resources for which a legal floorplan was found", *failed[-1:]])


def _fastest(run: SearchState, intervals: tuple[int, ...], bound_index: int) -> str:
    """Place the shortest interval that survives partition, or the next longer one that can be placed."""
    first = shortest_interval(intervals, run.partitioned, bound_index)
    first = len(intervals) if first is None else first
    misses, probe = 0, first - 1
    while probe >= bound_index and misses < PROBES:
        if run.partitioned(intervals[probe]):
            first, misses = probe, -1
        misses, probe = misses + 1, probe - 1
    shortest_interval(intervals, run.placed, first, PLACINGS, PLACING_RATIO)
    if run.best is not None and run.best.candidate.interval_cycles == intervals[bound_index]:
        return "the interval is the folding optimum under the platform's summed limits"
    return _what_stopped(run)


def _what_stopped(run: SearchState) -> str:
    """Return the verdict on the longest interval that failed below the one that was found."""
    found = run.best.candidate.interval_cycles if run.best is not None else None
    failed = [row for row in run.trace if row.verdict != "legal" and (found is None or row.interval_cycles < found)]
    last = max(failed, key=lambda row: row.interval_cycles, default=None)
    return _verdict(last) if last else "bisection"


def _verdict(row: TraceRow) -> str:
    return f"{row.interval_cycles:,} cycles: {row.verdict} ({row.stage}): {row.detail}"


def _salvage(run: SearchState) -> str:
    """Place the best design so far after Ctrl-C, without remedies; a second Ctrl-C goes through."""
    for candidate in sorted(run.completed, key=_merit(run.context)):
        if run.best is None:
            answer = place_candidate(run.context, candidate, "")
            if isinstance(answer, PlacedCandidate):
                run.note(answer.candidate.interval_cycles, "legal", "place", "after Ctrl-C, without remedies")
                run.best = answer
    if run.best is None:
        raise KeyboardInterrupt
    return INTERRUPTED


def _merit(context: PlanningContext) -> Callable[[Candidate], int]:
    """Return what ranks designs, best first."""
    return latency_cycles if context.request.goal == "latency" else lambda candidate: candidate.interval_cycles


def _whole_budget_bound(context: PlanningContext, folding: FoldingSolution) -> float | None:
    """Bound the scarcity at the design's interval under all of the budget, for it may have been folded for less."""
    if folding.budget == context.problem.budget:
        return folding.stats.bound
    loose = fold_at_interval(context.problem, folding.interval_cycles)
    return loose.stats.bound if isinstance(loose, FoldingSolution) else None


def _infeasible(run: SearchState, interval: int) -> InfeasibleError:
    context, fps = run.context, run.context.request.fps
    where = " + ".join(slot.name for slot in context.platform.slots)
    rate = "at any interval" if fps is None else f"at {fps:,g} frames/s (an interval of at most {interval:,} cycles)"
    if run.link_bound is not None and interval < run.link_bound.interval_cycles:
        return InfeasibleError(
            f"proven infeasible: {context.dataflow.name} on {context.platform.name} {rate}: "
            f"{run.link_bound.reason(interval)}, whatever the cut",
            hint="take a faster --link, fewer FPGAs" + (" or a lower --fps" if fps else ""),
        )
    answer, short = fold_at_interval(context.problem, interval), shortage(context.problem, interval)
    return InfeasibleError(
        f"proven infeasible: {context.dataflow.name} does not fit {context.platform.name} {rate}: {answer} "
        f"in {where} together" + (f"; {short}" if short else ""),
        hint=("a lower --fps, " if fps else "") + "a higher --cap, a larger platform or a narrower network",
    )


def _not_found(run: SearchState) -> LimitError:
    return LimitError(
        f"no legal plan found within the limits, though none is proven impossible: {_what_stopped(run)}",
        hint="try --effort best, another --fps, or a higher --cap",
    )
