"""The search by goal: the highest rate, the least resources or the lowest latency, and what ended it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from floorflow.errors import InfeasibleError, LimitError
from floorflow.folding import FoldingSolution, fold_at_interval, shortage
from floorflow.placement import PlacementSolution
from floorflow.search.candidate import Candidate
from floorflow.search.context import PlanningContext
from floorflow.search.highest_rate import (
    INTERRUPTED,
    highest_rate,
    in_fit_styles,
    what_stopped,
    with_own_styles,
)
from floorflow.search.least_resources import least_resources
from floorflow.search.lowest_latency import latency_cycles, lowest_latency
from floorflow.search.placing import PlacedCandidate, place_candidate
from floorflow.search.state import Progress, SearchState, TraceRow


@dataclass(frozen=True)
class SearchResult:
    """The best legal candidate, its floorplans by FPGA, the bound on the interval, the trace, and the repair it took.

    ``whole_budget_bound`` bounds what folding minimised when nothing of the budget is kept back: the scarcity at its
    interval, or the latency.
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
    if not run.is_feasible(intervals[-1]):
        raise _infeasible(run, intervals[-1])
    bound_cycles: int | None = None
    latency_bound: float | None = None
    try:
        if context.request.goal == "latency":
            latency_bound, ended_by = lowest_latency(run, intervals[-1])
        elif context.request.goal == "resources":
            ended_by = least_resources(run, intervals)
        else:
            run, intervals, index = in_fit_styles(run)
            bound_cycles = intervals[index]
            ended_by = highest_rate(run, intervals, index)
            if run.best is None or run.best.candidate.interval_cycles > bound_cycles:
                run, ended_by = with_own_styles(run) or (run, ended_by)
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


def _salvage(run: SearchState) -> str:
    """Place the best candidate so far after Ctrl-C, without repairs; a second Ctrl-C goes through."""
    for candidate in sorted(run.completed, key=_merit(run.context)):
        if run.best is None:
            answer = place_candidate(run.context, candidate, "")
            if isinstance(answer, PlacedCandidate):
                run.note(answer.candidate.interval_cycles, "legal", "place", "after Ctrl-C, without repairs")
                run.best = answer
    if run.best is None:
        raise KeyboardInterrupt
    return INTERRUPTED


def _merit(context: PlanningContext) -> Callable[[Candidate], int]:
    """Return what ranks candidates, best first."""
    return latency_cycles if context.request.goal == "latency" else lambda candidate: candidate.interval_cycles


def _whole_budget_bound(context: PlanningContext, folding: FoldingSolution) -> float | None:
    """Bound the scarcity at the candidate's interval under all of the budget, for it may have been folded for less."""
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
