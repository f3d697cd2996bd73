"""The feedback loop: find the shortest interval for which a legal floorplan exists, and say what ended the search.

Intervals are searched by bisection on fold, connect, cluster and partition; then a few shorter ones are probed,
since feasibility is monotone for the joint problem but not for heuristics. Only the survivor is placed. If its
placement fails, remedies come in this order: modules move to other slots, neighbours merge into shared pblocks,
the network is folded anew under the tightened slot, and only then the interval grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from floorflow.design import Design, Setting, assign, by_slot, complete
from floorflow.errors import InfeasibleError, LimitError
from floorflow.folding import FoldingInfeasible, FoldingProblem, fold_at_interval, shortest_interval
from floorflow.placement import (
    PlacedModule,
    PlacementFailure,
    PlacementProblem,
    PlacementSolution,
    Wire,
    place,
)
from floorflow.resources import ZERO, Resources

Verdict = Literal["legal", "proven infeasible", "not found within the limit"]
Stage = Literal["fold", "partition", "place"]
Progress = Callable[[str], None]

FOLDING_ROUNDS = 8
"""Foldings tried at one interval, each leaving more of the budget to channels and to packing."""
RESERVE_STEP = 0.04
"""Share of the budget by which that reserve grows when modules do not pack; else it grows by what is short."""
PROBES = 2
"""Shorter intervals tried after bisection."""
TIGHTENED = (0.92, 0.84)
"""Shares of a slot's limit to which a slot whose placement failed is tightened."""


@dataclass(frozen=True)
class Attempt:
    """A row of the trace."""

    interval_cycles: int
    verdict: Verdict
    stage: Stage
    detail: str


@dataclass(frozen=True)
class Found:
    """The best legal design, its placement, the proven bound on the interval, and the trace."""

    design: Design
    placement: PlacementSolution
    bound_cycles: int
    ended_by: str
    trace: tuple[Attempt, ...]


@dataclass
class _Search:
    setting: Setting
    progress: Progress
    trace: list[Attempt] = field(default_factory=list)
    designs: dict[int, Design | None] = field(default_factory=dict)

    def note(self, interval: int, verdict: Verdict, stage: Stage, detail: str) -> None:
        self.trace.append(Attempt(interval, verdict, stage, detail))
        self.progress(f"interval {interval:,} cycles: {verdict} ({stage}) {detail}")

    def partitioned(self, interval: int) -> bool:
        """Whether fold, connect, cluster and partition succeed; remembers the design."""
        if interval not in self.designs:
            self.designs[interval] = self._design(interval)
        return self.designs[interval] is not None

    def _design(self, interval: int) -> Design | None:
        """Fold, connect, cluster and partition, leaving ever more of the budget to channels and to packing."""
        problem, reserve = self.setting.problem, ZERO
        reason = ""
        for _ in range(FOLDING_ROUNDS):
            folding = fold_at_interval(problem.with_budget(problem.budget - reserve), interval)
            if isinstance(folding, FoldingInfeasible):
                proven = reserve == ZERO
                verdict: Verdict = "proven infeasible" if proven else "not found within the limit"
                self.note(interval, verdict, "fold", str(folding) if proven else f"{reason}; then {folding}")
                return None
            answer = complete(self.setting, folding)
            if isinstance(answer, Design):
                return answer
            reason = answer.reason
            reserve = reserve + (_share(problem.budget, RESERVE_STEP) if answer.short == ZERO else answer.short)
        self.note(interval, "not found within the limit", "partition", reason)
        return None

    def placed(self, interval: int) -> tuple[Design, PlacementSolution] | None:
        """Place the design of an interval, with remedies."""
        if not self.partitioned(interval):
            return None
        failure = ""
        for design in self._remedies(interval):
            answer = _place(self.setting, design)
            if isinstance(answer, PlacementSolution):
                self.note(interval, "legal", "place", f"hpwl {answer.hpwl:,.0f}")
                return design, answer
            failure = answer.reason
            self.failed_slot = answer.slot
        self.note(interval, "not found within the limit", "place", failure)
        return None

    failed_slot: str | None = None

    def _remedies(self, interval: int) -> Iterator[Design]:
        """Yield the design itself, then the remedies for the slot whose placement failed last."""
        first = self.designs[interval]
        if first is None:
            return
        yield first
        for share in TIGHTENED:
            if len(self.setting.fpga.slots) > 1:
                moved = assign(self.setting, first.folding, first.modules, self._tightened(share))
                if isinstance(moved, Design):
                    self.progress(f"interval {interval:,}: moved modules out of {self.failed_slot}")
                    yield moved
        yield from self._merged(first)
        for share in TIGHTENED:
            refolded = self._refold(interval, share)
            if refolded is not None:
                self.progress(f"interval {interval:,}: folded anew under {share:.0%} of the limits")
                yield refolded

    def _merged(self, design: Design) -> Iterator[Design]:
        if self.setting.request.keep_granularity or self.failed_slot is None:
            return
        crowded = self.failed_slot
        count = sum(slot == crowded for slot in design.slot_of.values())
        for keep in sorted({max(1, count * 2 // 3), max(1, count // 3), 1}, reverse=True):
            if keep < count:
                merged = by_slot(self.setting, design, [crowded], keep)
                if isinstance(merged, Design):
                    self.progress(f"merged modules of {crowded} down to {keep}")
                    yield merged

    def _tightened(self, share: float) -> dict[str, float]:
        return {} if self.failed_slot is None else {self.failed_slot: share}

    def _refold(self, interval: int, share: float) -> Design | None:
        problem = self.setting.problem
        folding = fold_at_interval(problem.with_budget(_share(problem.budget, share)), interval)
        if isinstance(folding, FoldingInfeasible):
            return None
        design = complete(self.setting, folding, self._tightened(share))
        return design if isinstance(design, Design) else None


def search(setting: Setting, progress: Progress) -> Found:
    """Find the best legal design for the request.

    Raises
    ------
    InfeasibleError
        If even the longest interval is proven infeasible.
    LimitError
        If nothing is proven but no legal design was found.

    """
    run = _Search(setting, progress)
    intervals = setting.problem.intervals()
    bound_index = shortest_interval(intervals, lambda i: _foldable(setting.problem, i))
    if bound_index is None:
        raise _infeasible(setting, intervals[-1])
    if setting.request.fps is not None:
        return _at_rate(run, intervals[-1], intervals[bound_index])
    return _fastest(run, intervals, bound_index)


def _at_rate(run: _Search, interval: int, bound: int) -> Found:
    """Meet the user's rate at the longest allowed interval; options slower than it are gone already."""
    answer = run.placed(interval)
    if answer is None:
        raise _not_found(run)
    return Found(*answer, bound, "the requested rate was met at the least scarcity", tuple(run.trace))


def _fastest(run: _Search, intervals: tuple[int, ...], bound_index: int) -> Found:
    first = shortest_interval(intervals, run.partitioned, bound_index)
    if first is None:
        raise _not_found(run)
    for shorter in range(max(bound_index, first - PROBES), first):
        if run.partitioned(intervals[shorter]):
            first = shorter
            break
    for interval in intervals[first:]:
        answer = run.placed(interval)
        if answer is not None:
            return Found(*answer, intervals[bound_index], _ended_by(run, intervals, bound_index), tuple(run.trace))
    raise _not_found(run)


def _ended_by(run: _Search, intervals: tuple[int, ...], bound_index: int) -> str:
    found = run.trace[-1].interval_cycles
    if found == intervals[bound_index]:
        return "the interval is the folding optimum under the platform's summed limits"
    shorter = [row for row in run.trace if row.interval_cycles < found and row.verdict != "legal"]
    last = max(shorter, key=lambda row: row.interval_cycles) if shorter else None
    return f"{last.interval_cycles:,} cycles: {last.verdict} ({last.stage}): {last.detail}" if last else "bisection"


def _foldable(problem: FoldingProblem, interval: int) -> bool:
    return not isinstance(fold_at_interval(problem, interval), FoldingInfeasible)


def _share(amount: Resources, share: float) -> Resources:
    return Resources(*(int(share * have) for have in amount.as_tuple()))


def _place(setting: Setting, design: Design) -> PlacementSolution | PlacementFailure:
    home = {e: m.name for m in design.modules for e in m.engines}
    wires = tuple(
        Wire(home[c.stream.source], home[c.stream.target], c.width_bits)
        for c in design.channels
        if not (c.stream.from_host or c.stream.to_host) and home[c.stream.source] != home[c.stream.target]
    )
    modules = tuple(PlacedModule(m.name, design.slot_of[m.name], design.demands[m.name]) for m in design.modules)
    fpga = setting.fpga
    problem = PlacementProblem(fpga.device, fpga.slots, modules, wires, setting.request.fill, setting.request.effort)
    return place(problem, "auto", setting.request.seed)


def _infeasible(setting: Setting, interval: int) -> InfeasibleError:
    answer = fold_at_interval(setting.problem, interval)
    return InfeasibleError(
        f"proven infeasible: {setting.dataflow.name} does not fit {setting.platform.name} at any interval: {answer} "
        f"in {' + '.join(slot.name for slot in setting.platform.slots)} together",
        hint="raise the cap (--cap), choose a larger platform or a narrower network",
    )


def _not_found(run: _Search) -> LimitError:
    last = run.trace[-1] if run.trace else None
    detail = f": {last.stage}: {last.detail}" if last else ""
    return LimitError(
        f"no legal plan found within the limits, though none is proven impossible{detail}",
        hint="try --effort best, a lower --fps, or a higher --cap",
    )
