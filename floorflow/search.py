"""The feedback loop: find the shortest interval for which a legal floorplan exists, and say what ended the search.

Intervals are searched by bisection on fold, connect, cluster and partition; then ever shorter ones are probed, since
feasibility is monotone for the joint problem but not for heuristics. Survivors are placed, shortest interval
first, with the remedies of `floorflow.remedies`; if none helps, the next longer interval is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from floorflow.design import Design, Setting, complete
from floorflow.errors import InfeasibleError, LimitError
from floorflow.folding import FoldingInfeasible, FoldingSolution, fold_at_interval, shortest_interval
from floorflow.placement import PlacementFailure, PlacementSolution
from floorflow.remedies import Placed, place_design, place_with_remedies
from floorflow.resources import ZERO, Resources
from floorflow.stats import SolveStats

Verdict = Literal["legal", "proven infeasible", "not found within the limit"]
Stage = Literal["fold", "partition", "place"]
Progress = Callable[[str], None]

FOLDING_ROUNDS = 8
"""Foldings tried at one interval, each leaving more of the budget to channels and to packing."""
RESERVE_STEP = 0.04
"""Share of the budget by which that reserve grows when modules do not pack; else it grows by what is short."""
PROBES = 3
"""Failures in a row, at ever shorter intervals after bisection, that end the search."""
RATE_ATTEMPTS = 8
"""Intervals tried for a requested rate."""
INTERRUPTED = "interrupted: this is the best that had been found"
"""What ended a search that Ctrl-C stopped."""


@dataclass(frozen=True)
class Attempt:
    """A row of the trace."""

    interval_cycles: int
    verdict: Verdict
    stage: Stage
    detail: str


@dataclass(frozen=True)
class Found:
    """The best legal design, its floorplans by FPGA, the bound on the interval, the trace, and the remedy it took."""

    design: Design
    placements: Mapping[str, PlacementSolution]
    bound_cycles: int
    ended_by: str
    trace: tuple[Attempt, ...]
    remedy: str = ""


@dataclass
class _Search:
    """One search: what was tried so far, and the partitioned design of each interval (None: there is none)."""

    setting: Setting
    progress: Progress
    trace: list[Attempt] = field(default_factory=list)
    designs: dict[int, Design | None] = field(default_factory=dict)
    best: Placed | None = None

    def note(self, interval: int, verdict: Verdict, stage: Stage, detail: str) -> None:
        self.trace.append(Attempt(interval, verdict, stage, detail))
        self.progress(f"interval {interval:,} cycles: {verdict} ({stage}) {detail}")

    def foldable(self, interval: int) -> bool:
        """Whether engines alone fold within the budget; an open question counts as yes, for this makes the bound."""
        answer = fold_at_interval(self.setting.problem, interval)
        if isinstance(answer, FoldingInfeasible):
            self.note(interval, "proven infeasible", "fold", str(answer))
        return not isinstance(answer, FoldingInfeasible)

    def partitioned(self, interval: int) -> bool:
        """Whether fold, connect, cluster and partition succeed; remembers the design."""
        if interval not in self.designs:
            self.progress(f"interval {interval:,} cycles: folding and partition")
            self.designs[interval] = self._design(interval)
        return self.designs[interval] is not None

    def _design(self, interval: int) -> Design | None:
        """Fold, connect, cluster and partition, leaving ever more of the budget to channels and to packing."""
        problem, reserve, reason = self.setting.problem, ZERO, ""
        for _ in range(FOLDING_ROUNDS):
            folding = fold_at_interval(problem.with_budget(problem.budget - reserve), interval)
            if not isinstance(folding, FoldingSolution):
                proven = reserve == ZERO and isinstance(folding, FoldingInfeasible)
                detail = f"{reason}; then {folding}" if reason else str(folding)
                self.note(interval, "proven infeasible" if proven else "not found within the limit", "fold", detail)
                return None
            answer = complete(self.setting, folding)
            if isinstance(answer, Design):
                return answer
            reason = answer.reason
            larger = _larger_reserve(problem.budget, reserve, folding.resources, answer.short)
            if larger == reserve:
                break
            reserve = larger
        self.note(interval, "not found within the limit", "partition", reason)
        return None

    def placed(self, interval: int) -> bool:
        """Place the design of an interval and remember it as the best."""
        design = self.designs[interval] if self.partitioned(interval) else None
        if design is None:
            return False
        self.progress(f"interval {interval:,} cycles: placing {len(design.modules)} modules")
        answer = place_with_remedies(self.setting, design)
        if isinstance(answer, PlacementFailure):
            verdict: Verdict = "not found within the limit"
            self.note(interval, verdict, "place", answer.reason)
            return False
        remedy = f"; {answer.remedy}" if answer.remedy else ""
        self.note(answer.design.interval_cycles, "legal", "place", f"hpwl {answer.hpwl:,.0f}{remedy}")
        self.best = answer
        return True


def search(setting: Setting, progress: Progress) -> Found:
    """Find the best legal design for the request. Ctrl-C ends the search with what can be placed at once.

    Raises
    ------
    InfeasibleError
        If even the longest interval is proven infeasible.
    LimitError
        If nothing is proven but no legal design was found.

    """
    run = _Search(setting, progress)
    intervals = setting.problem.intervals()
    if not run.foldable(intervals[-1]):
        raise _infeasible(setting, intervals[-1])
    at_rate = setting.request.fps is not None
    bound = intervals[-1]
    try:
        if at_rate:
            ended_by = _at_rate(run, intervals)
        else:
            index = shortest_interval(intervals, run.foldable) or 0
            bound = intervals[index]
            ended_by = _fastest(run, intervals, index)
    except KeyboardInterrupt:
        ended_by = _salvage(run)
    if run.best is None:
        raise _not_found(run)
    design = _with_honest_folding(setting, run.best.design)
    bound = design.interval_cycles if at_rate else bound
    return Found(design, run.best.placements, bound, ended_by, tuple(run.trace), run.best.remedy)


def _at_rate(run: _Search, intervals: tuple[int, ...]) -> str:
    """Meet the user's rate at the longest allowed interval; where that fails, a little faster than asked for.

    Options slower than the rate are gone already.
    """
    for interval in intervals[: -1 - RATE_ATTEMPTS : -1]:
        if run.placed(interval):
            break
    return "the requested rate was met"


def _fastest(run: _Search, intervals: tuple[int, ...], bound_index: int) -> str:
    """Place the shortest interval that survives partition, or the next longer one that can be placed."""
    first = shortest_interval(intervals, run.partitioned, bound_index)
    first = len(intervals) if first is None else first
    misses, probe = 0, first - 1
    while probe >= bound_index and misses < PROBES:
        if run.partitioned(intervals[probe]):
            first, misses = probe, -1
        misses, probe = misses + 1, probe - 1
    for interval in intervals[first:]:
        if run.placed(interval):
            break
    if run.best is not None and run.best.design.interval_cycles == intervals[bound_index]:
        return "the interval is the folding optimum under the platform's summed limits"
    return _what_stopped(run)


def _what_stopped(run: _Search) -> str:
    """Return the verdict on the longest interval that failed below the one that was found."""
    found = run.best.design.interval_cycles if run.best is not None else None
    failed = [row for row in run.trace if row.verdict != "legal" and (found is None or row.interval_cycles < found)]
    last = max(failed, key=lambda row: row.interval_cycles, default=None)
    return f"{last.interval_cycles:,} cycles: {last.verdict} ({last.stage}): {last.detail}" if last else "bisection"


def _salvage(run: _Search) -> str:
    """Place the best design so far after Ctrl-C, without remedies; a second Ctrl-C goes through."""
    for interval in sorted(run.designs):
        design = run.designs[interval]
        if run.best is None and design is not None:
            answer = place_design(run.setting, design, "")
            if isinstance(answer, Placed):
                run.note(answer.design.interval_cycles, "legal", "place", "after Ctrl-C, without remedies")
                run.best = answer
    if run.best is None:
        raise KeyboardInterrupt
    return INTERRUPTED


def _with_honest_folding(setting: Setting, design: Design) -> Design:
    """Hold the folding's scarcity against the optimum at its interval under all of the budget.

    The design may have been folded for less, to leave room for channels or to ease packing.
    """
    loose = fold_at_interval(setting.problem, design.interval_cycles)
    stats = design.folding.stats
    bound = loose.stats.bound if isinstance(loose, FoldingSolution) else None
    proven = bound is not None and stats.objective is not None and stats.objective <= bound
    honest = SolveStats(stats.method, "optimal" if proven else "feasible", stats.objective, bound)
    return replace(design, folding=replace(design.folding, stats=honest))


def _larger_reserve(budget: Resources, reserve: Resources, engines: Resources, short: Resources) -> Resources:
    """Keep back what this folding's channels would have needed; if modules only fail to pack, a step of everything."""
    if short == ZERO:
        return reserve + _share(budget, RESERVE_STEP)
    rows = zip(budget.as_tuple(), reserve.as_tuple(), engines.as_tuple(), short.as_tuple(), strict=True)
    return Resources(*(max(kept, have - used + lack) if lack else kept for have, kept, used, lack in rows))


def _share(amount: Resources, share: float) -> Resources:
    return Resources(*(int(share * have) for have in amount.as_tuple()))


def _infeasible(setting: Setting, interval: int) -> InfeasibleError:
    fps = setting.request.fps
    where = " + ".join(slot.name for slot in setting.platform.slots)
    rate = "at any interval" if fps is None else f"at {fps:,g} frames/s (an interval of at most {interval:,} cycles)"
    answer = fold_at_interval(setting.problem, interval)
    return InfeasibleError(
        f"proven infeasible: {setting.dataflow.name} does not fit {setting.platform.name} {rate}: {answer} "
        f"in {where} together",
        hint=("a lower --fps, " if fps else "") + "a higher --cap, a larger platform or a narrower network",
    )


def _not_found(run: _Search) -> LimitError:
    return LimitError(
        f"no legal plan found within the limits, though none is proven impossible: {_what_stopped(run)}",
        hint="try --effort best, another --fps, or a higher --cap",
    )
