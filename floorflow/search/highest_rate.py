"""The search for the highest frame rate that has a legal floorplan.

Intervals are searched by bisection on fold, connect, cluster and partition; then ever shorter ones are probed, since
feasibility is monotone for the joint problem but not for heuristics. Survivors are placed, shortest interval first,
with the repairs of `floorflow.search.repair`; if none helps, longer intervals are tried.
"""

from __future__ import annotations

import math
from dataclasses import replace

from floorflow.folding import RATIO, shortest_interval
from floorflow.search.own_kinds import fewer_kinds, own_kinds_reaching
from floorflow.search.state import SearchState, TraceRow


def in_fit_kinds(run: SearchState) -> tuple[SearchState, tuple[int, ...], int]:
    """Return the search to go on with, its intervals, and the index of the shortest that the budget allows.

    Where other kinds than the back end's own choice do not shorten it, the choice is left to the back end if it asks
    for that (`Costs.own_kinds_first`). Where they do, but a floorplan needs a longer interval, `in_own_kinds` looks
    whether its own choice packs better.
    """
    intervals, index = shortest_possible(run)
    auto = run.context.costs.own_kinds_first
    own = own_kinds_reaching(run.context.problem, intervals[index]) if auto else None
    if own is None:
        return run, intervals, index
    run = run.among(own)
    return run, *shortest_possible(run)


def in_own_kinds(run: SearchState) -> tuple[SearchState, tuple[int, ...], int] | None:
    """Return a search with the back end's own kinds, as `in_fit_kinds` does; None if it can find nothing better.

    A choice that allows a shorter interval by the sums of resources may be harder to pack: what it needs less of is not
    what runs short in a slot.
    """
    own = fewer_kinds(run.context.problem) if run.context.costs.own_kinds_first else None
    if own is None:
        return None
    other = run.among(own)
    intervals, index = shortest_possible(other)
    if intervals[index] >= _interval(run) or not other.is_feasible(intervals[-1]):
        return None
    return other, intervals, index


def better(run: SearchState, own: SearchState) -> SearchState:
    """Return which of two searches found the shorter interval, the second with the trace of both."""
    if own.best is None or _interval(own) >= _interval(run):
        return run
    tried = [replace(row, detail=f"kinds as the back end chooses: {row.detail}") for row in own.trace]
    own.trace[:] = [*run.trace, *tried]
    return own


def _interval(run: SearchState) -> float:
    """Return the best interval found."""
    return math.inf if run.best is None else run.best.candidate.interval_cycles


def shortest_possible(run: SearchState) -> tuple[tuple[int, ...], int]:
    """Return the intervals that foldings have, ascending, and the index of the shortest that the budget allows."""
    problem = run.context.problem
    intervals = problem.intervals()
    # One interval too short, so that the trace says what forbids it.
    start = max(0, problem.first_possible(intervals) - 1)
    return intervals, shortest_interval(intervals, run.is_feasible, start, ratio=RATIO) or 0


def highest_rate(run: SearchState, intervals: tuple[int, ...], bound_index: int) -> str:
    """Place the shortest interval that survives partition, or the next longer one that can be placed."""
    limits = run.context.search_limits
    first = shortest_interval(intervals, run.partitioned, bound_index)
    if first is None and run.context.request.fold_method != "exact":
        first = _first_upwards(run, intervals, bound_index)
    first = len(intervals) if first is None else first
    misses, probe = 0, first - 1
    while probe >= bound_index and misses < limits.shorter_tries:
        if run.partitioned(intervals[probe]):
            first, misses = probe, -1
        misses, probe = misses + 1, probe - 1
    shortest_interval(intervals, run.placed, first, limits.placings, limits.placing_ratio)
    if run.best is not None and run.best.candidate.interval_cycles == intervals[bound_index]:
        return "the interval is the folding optimum under the platform's summed limits"
    return what_stopped(run)


def _first_upwards(run: SearchState, intervals: tuple[int, ...], start: int) -> int | None:
    """Return the first interval from the start on that survives partition, trying one by one.

    A published folding method may fail at the longest interval and still answer at shorter ones.
    """
    return next((index for index in range(start, len(intervals)) if run.partitioned(intervals[index])), None)


def what_stopped(run: SearchState) -> str:
    """Return the verdict on the longest interval that failed below the one that was found."""
    last = last_refused(run)
    return row_sentence(last) if last else "bisection"


def last_refused(run: SearchState) -> TraceRow | None:
    """Return the row of the longest interval that failed below the one that was found."""
    found = run.best.candidate.interval_cycles if run.best is not None else None
    failed = [row for row in run.trace if row.verdict != "legal" and (found is None or row.interval_cycles < found)]
    return max(failed, key=lambda row: row.interval_cycles, default=None)


def row_sentence(row: TraceRow) -> str:
    """Return a row of the trace as a sentence."""
    return f"{row.interval_cycles:,} cycles: {row.verdict} ({row.stage}): {row.detail}"
