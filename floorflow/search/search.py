"""The search by goal: the highest rate, the least resources or the lowest latency, and what ended it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.errors import InfeasibleError, LimitError
from floorflow.folding import FoldingSolution, fold_at_interval, shortage
from floorflow.placement import PlacementSolution
from floorflow.search.candidate import Candidate
from floorflow.search.context import PlanningContext
from floorflow.search.highest_rate import (
    better,
    highest_rate,
    in_fit_styles,
    in_own_styles,
    what_stopped,
)
from floorflow.search.least_resources import least_resources
from floorflow.search.lowest_latency import lowest_latency
from floorflow.search.progress import SILENT, Progress
from floorflow.search.salvage import salvage
from floorflow.search.state import SearchState, TraceRow

INTERRUPTED = "interrupted: this is the best that had been found"
"""What ended a search that Ctrl-C stopped."""


@dataclass(frozen=True)
class SearchResult:
    """The best legal design, its floorplans by FPGA, the bound on the interval, the trace, and the remedy it took.

    ``whole_budget_bound`` bounds what folding minimised when nothing of the budget is kept back: the scarcity at the
    design's interval, or the latency. ``interrupted``: Ctrl-C ended the search, or what came behind it.
    """

    candidate: Candidate
    placements: Mapping[str, PlacementSolution]
    bound_cycles: int
    ended_by: str
    trace: tuple[TraceRow, ...]
    whole_budget_bound: float | None
    repair: str = ""
    interrupted: bool = False


def search(context: PlanningContext, progress: Progress = SILENT) -> SearchResult:
    """Find the best legal design for the request. Ctrl-C ends the search with what can be placed at once.

    Raises
    ------
    InfeasibleError
        If even the longest interval is proven infeasible.
    LimitError
        If nothing is proven but no legal design was found.

    """
    with progress.stage("search"):
        run = SearchState(context, progress)
        longest = context.problem.intervals()[-1]
        if not run.foldable(longest):
            raise _infeasible(run, longest)
        found = _Ending(run)
        try:
            _by_goal(found, longest)
        except KeyboardInterrupt:
            salvage(found.run)
            found.interrupted = True
    return found.result()


@dataclass
class _Ending:
    """The search that found the best design, what is proven of it, and what ended it; Ctrl-C unless told."""

    run: SearchState
    bound_cycles: int | None = None
    whole_budget_bound: float | None = None
    ended_by: str = INTERRUPTED
    interrupted: bool = False

    def result(self) -> SearchResult:
        """Return the best design, of a search that has one."""
        if self.run.best is None:
            raise _not_found(self.run)
        candidate = self.run.best.candidate
        return SearchResult(
            candidate,
            self.run.best.placements,
            candidate.interval_cycles if self.bound_cycles is None else self.bound_cycles,
            self.ended_by,
            tuple(self.run.trace),
            self.whole_budget_bound,
            self.run.best.repair,
            self.interrupted,
        )


def _by_goal(found: _Ending, longest: int) -> None:
    """Search for what the request asks for; what is known goes into ``found`` at once, for Ctrl-C."""
    goal = found.run.context.request.goal
    if goal == "latency":
        found.whole_budget_bound, found.ended_by = lowest_latency(found.run, longest)
        return
    if goal == "resources":
        found.ended_by = least_resources(found.run, found.run.context.problem.intervals())
    else:
        _by_rate(found)
    if found.run.best is not None:
        with found.run.progress.stage("folding"):
            found.whole_budget_bound = _whole_budget_bound(found.run.context, found.run.best.candidate.folding)


def _by_rate(found: _Ending) -> None:
    """Search for the highest rate, where it may help with hls and rtl as FINN chooses too."""
    found.run, intervals, index = in_fit_styles(found.run)
    found.bound_cycles = intervals[index]
    ended_by = highest_rate(found.run, intervals, index)
    best = found.run.best
    if best is None or best.candidate.interval_cycles > found.bound_cycles:
        ended_by = _by_rate_in_own_styles(found) or ended_by
    found.ended_by = ended_by


def _by_rate_in_own_styles(found: _Ending) -> str | None:
    """Search with hls and rtl as FINN chooses; return what ended that search if it found a better design."""
    own = in_own_styles(found.run)
    if own is None:
        return None
    run, intervals, index = own
    try:
        ended_by = highest_rate(run, intervals, index)
    finally:
        found.run = better(found.run, run)
    return ended_by if found.run is run else None


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
        f"no legal plan found within the limits, though none is proven impossible: {what_stopped(run)}",
        hint="try --effort best, another --fps, or a higher --cap",
    )
