"""Partitions in time: which segments of a network the device runs one after another, each planned by itself.

Source: Montgomerie-Corcoran et al., SAMO (2022), equations 3 and 4. A dynamic program over cuts runs on lower bounds of
all segments. Those of its best path are folded, then planned down to their floorplans, and the program runs again on
what that gave, until all of its best path is planned: every other path is then bounded to be no better.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from floorflow.channels import StreamPrices
from floorflow.errors import INTERRUPTED, InputError, Refusal, Refused, Stop, sentence
from floorflow.hardware import Platform
from floorflow.request import Request
from floorflow.search.candidate.candidate import latency_us
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Search, SearchResult
from floorflow.search.candidate.preparing import Priced, context_of
from floorflow.search.candidate.progress import Progress
from floorflow.segments.in_time import BoardMemory, SegmentsInTime, slow_group, with_slow
from floorflow.segments.paths import Floats, Span, cheapest_path, lazy_path, spread, with_known
from floorflow.stats import SolveStats

METHOD = "bounds of all segments, those of the best path planned"


@dataclass(frozen=True)
class InPhases:
    """A network in phases: ``whole`` is what all of them share, ``stats`` is of the time of a batch in us.

    ``alone_us`` is what one partition alone would take at least, infinite if none is possible.
    """

    whole: PlanningContext
    phases: "tuple[PlannedPhase, ...]"
    stats: SolveStats
    reconfiguration_us: float
    memory: BoardMemory
    alone_us: float
    interrupted: bool = False


def phase_request(request: Request) -> Request:
    """Return the request that each phase is planned by: its shortest interval counts, whatever the objective."""
    return request.changed(objective=None, bargains="none")


def loading_of(request: Request, platform: Platform) -> tuple[float, BoardMemory]:
    """Return what loading the device takes, in us, and what its board's memory carries.

    InputError if the board's file does not say so.
    """
    board = platform.fpgas[0].board
    if board.reconfiguration is None or board.memory_gbps is None:
        lacking = "reconfiguration" if board.reconfiguration is None else "memory_gbps"
        hint = f"state {lacking} in a file of the board of your own (platforms/README.md)"
        raise InputError(f"--reconfigure {request.reconfigure}: the file of {board.name} has no {lacking}", hint)
    return board.reconfiguration.ms * 1e3, BoardMemory(board.memory_gbps, platform.clock_mhz)


def search_in_time(whole: Priced, search: Search, progress: Progress) -> InPhases | Refused:
    """Find the partitions of a network in time whose batch takes least; one partition alone is among them.

    InputError if the board's file does not say how it is loaded anew, or what its memory carries.
    """
    load_us, memory = loading_of(whole.request, whole.platform)
    with progress.stage("search"):
        asked = replace(whole, request=phase_request(whole.request))
        context = context_of(asked)
        if isinstance(context, Refused):
            return context
        plans = SegmentPlans(asked, search, progress, memory, context)
        return _Run(plans, memory).result(load_us, whole.request.frames)


@dataclass(frozen=True)
class _Run:
    """A search on its way."""

    plans: "SegmentPlans"
    memory: BoardMemory

    def result(self, reconfiguration_us: float, frames: int) -> InPhases | Refused:
        """Return the best partitions that were found, with what is proven of all others.

        A signal ends the search with the best of those that are planned whole by then; another goes through.
        """
        with Stop():
            return self._result(reconfiguration_us, frames)
        if self.plans.interrupted:
            return INTERRUPTED
        self.plans.interrupted = True
        return self._result(reconfiguration_us, frames)

    def _result(self, reconfiguration_us: float, frames: int) -> InPhases | Refused:
        plans = self.plans
        segments = plans.segments
        us_per_cycle = frames / plans.whole.platform.clock_mhz
        costs = us_per_cycle, reconfiguration_us
        cost, spans = self._best_planned(*costs)

        def planned(hope: tuple[float, list[Span]]) -> bool:
            nonlocal cost, spans
            hoped, path = hope
            todo = [span for span in path if span not in plans.planned]
            if not path or (spans and self._is_enough(cost, hoped, len(todo))):
                return False
            plans.plan(todo)
            cost, spans = self._best_planned(*costs)
            return bool(todo)

        lazy_path(lambda: self._best_path(*costs), planned)
        if not spans:
            return plans.no_plan()
        cost, spans = self._rather_alone((cost, spans), *costs)
        bound, _ = cheapest_path(plans.bounds() * us_per_cycle, reconfiguration_us)
        stats = SolveStats.bounded(METHOD, cost, min(cost, bound))
        alone = float(segments.lowest[0, plans.count] * us_per_cycle)
        phases = tuple(plans.planned[span] for span in spans)
        return InPhases(plans.context, phases, stats, reconfiguration_us, self.memory, alone, plans.interrupted)

    def _is_enough(self, cost: float, hoped: float, more: int) -> bool:
        """Whether a plan is so near to what may be hoped for, or so much was planned, that no more is."""
        effort = self.plans.whole.request.effort
        return cost * (1 - WORTH[effort]) <= hoped or len(self.plans.planned) + more > MOST_PLANNED[effort]

    def _rather_alone(
        self, best: tuple[float, list[Span]], us_per_cycle: float, reconfiguration_us: float
    ) -> tuple[float, list[Span]]:
        """Return one partition alone in place of several that are not worth their loads.

        Equation 4 has the first partition loaded when the batch comes. Where batch follows batch it is loaded again,
        which one partition alone never is: it is taken where that makes it faster, and the paper's batch takes as good
        as no longer.
        """
        cost, spans = best
        plans = self.plans
        whole = (0, plans.count)
        most = min(cost * (1 + WORTH[plans.whole.request.effort]), cost + reconfiguration_us)
        if len(spans) == 1 or plans.segments.lowest[whole] * us_per_cycle > most:
            return best
        if whole not in plans.planned and whole not in plans.refused and not plans.interrupted:
            plans.plan([whole])
        alone = plans.planned.get(whole)
        if alone is None or alone.interval_cycles * us_per_cycle > most:
            return best
        return alone.interval_cycles * us_per_cycle, [whole]

    def _best_path(self, us_per_cycle: float, reconfiguration_us: float) -> tuple[float, list[Span]]:
        """Return the best path by what is planned, and by what folding proves of all that is not, and its cost."""
        if self.plans.interrupted:
            return inf, []
        cost, path = lazy_path(
            lambda: cheapest_path(self.plans.hoped() * us_per_cycle, reconfiguration_us),
            lambda found: self.plans.fold(found[1] or ()),
        )
        return cost, path or []

    def _best_planned(self, us_per_cycle: float, reconfiguration_us: float) -> tuple[float, list[Span]]:
        cost, path = cheapest_path(self.plans.found() * us_per_cycle, reconfiguration_us)
        return cost, path or []


MOST_PLANNED = {"fast": 8, "default": 24, "best": 96}
"""Segments that are planned at most, by effort, beyond a first path."""
MOST_FOLDED = {"fast": 400, "default": 2000, "best": 20_000}
"""Segments of several blocks that folding bounds at most, by effort, where several parts of a device are tried."""
WORTH = {"fast": 0.05, "default": 0.01, "best": 0.0}
"""Share of a batch's time that may be open, by effort: for less than that no other path is planned."""


@dataclass(frozen=True)
class PlannedPhase:
    """A segment with its context and what was found for it."""

    span: Span
    context: PlanningContext
    result: SearchResult

    @property
    def interval_cycles(self) -> int:
        """Initiation interval of its engines."""
        return self.result.candidate.interval_cycles

    @property
    def latency_us(self) -> float:
        """What one frame takes through it."""
        return latency_us(self.context, self.result.candidate)


class SegmentPlans:
    """Segments that were planned, and why others could not be; `segments` bounds all of them.

    ``context`` is that of the whole network: where ``whole`` has only a part of the device not every engine need fit
    there, and the folding problem has what the part allows.
    """

    def __init__(
        self, whole: Priced, search: Search, progress: Progress, memory: BoardMemory, context: PlanningContext
    ) -> None:
        self.whole, self.search, self.progress, self.context = whole, search, progress, context
        self.segments = segments_in_time(context, memory)
        self.planned: dict[Span, PlannedPhase] = {}
        self.refused: dict[Span, Refused] = {}
        self.interrupted = False

    @property
    def count(self) -> int:
        """Blocks between the places where the network may be cut."""
        return len(self.segments.blocks)

    @property
    def longer_folded(self) -> int:
        """Segments of several blocks that were bounded by folding."""
        return sum(b - a > 1 for a, b in self.segments.folded.answers)

    @property
    def known(self) -> int:
        """How much is known: it rises with all that changes `hoped`."""
        return len(self.segments.folded.answers) + len(self.planned) + len(self.refused)

    def bounds(self) -> Floats:
        """Return the interval in cycles below which no plan of each segment is."""
        return spread(self.segments.lowest)

    def intervals(self) -> dict[Span, float]:
        """Return the intervals in cycles of the segments that are planned."""
        return {span: phase.interval_cycles for span, phase in self.planned.items()}

    def hoped(self) -> Floats:
        """Return the interval in cycles of each segment: as planned, or as bounded; infinite where none was found."""
        return with_known(self.bounds(), self.intervals() | dict.fromkeys(self.refused, inf))

    def found(self) -> Floats:
        """Return the intervals in cycles of the segments that are planned, infinite for all others."""
        return with_known(np.full_like(self.segments.lowest, inf), self.intervals())

    def fold(self, spans: Iterable[Span]) -> bool:
        """Bound segments by folding, those of which that is not yet known; return whether there were any."""
        unsolved = self.segments.folded.unsolved(spans)
        if unsolved:
            with self.progress.stage("folding"):
                for span in unsolved:
                    self.progress.note(f"blocks {span[0]} to {span[1] - 1} of {self.count}")
                    self.segments.folded[span]
        return bool(unsolved)

    def plan(self, spans: Iterable[Span]) -> None:
        """Plan segments by themselves, and raise their bounds to what that proved."""
        lowest = self.segments.lowest
        for span in spans:
            self.progress.note(f"planning blocks {span[0]} to {span[1] - 1} of {self.count} as a partition")
            phase = self._planned(span)
            if isinstance(phase, Refused):
                if phase.interrupted:
                    self.interrupted = True
                    return
                self.refused[span] = phase
                if phase.why == "proven":
                    lowest[span] = inf
                continue
            self.planned[span] = phase
            result, cycles = phase.result, phase.interval_cycles
            proven = max(result.bound_cycles, result.joint_bound_cycles or 0)
            lowest[span] = min(max(lowest[span], proven), cycles)
            if result.interrupted:
                self.interrupted = True
                return

    def _planned(self, span: Span) -> PlannedPhase | Refused:
        context = context_of(self.whole.part(self.segments.dataflow(span)))
        if isinstance(context, Refused):
            return context
        slow_enough = int(self.segments.slow_enough[span])
        result = self.search(context)
        if isinstance(result, SearchResult) and result.candidate.interval_cycles < slow_enough:
            if result.interrupted:
                return INTERRUPTED
            other = slowed(context, slow_enough)
            if isinstance(other, Refusal):
                return Refused(f"proven infeasible by the cost model: {sentence(other)}", "", (other,), "proven")
            context, result = other, self.search(other)
        return result if isinstance(result, Refused) else PlannedPhase(span, context, result)

    def no_plan(self, where: str = "") -> Refused:
        """Return why no partitions were found: a block that fits nowhere, or what stopped the last that was tried."""
        if self.interrupted:
            return INTERRUPTED
        place = where or self.whole.platform.name
        about = f"{self.whole.dataflow.name} does not fit {place}, however it is cut in time"
        lowest = self.segments.lowest
        closed = [number for number in range(self.count) if not np.isfinite(lowest[number, number + 1])]
        refusals = tuple(r for error in self.refused.values() for r in error.refusals)
        if closed:
            names = self.segments.blocks[closed[0]]
            refused = self.segments.refusals((closed[0], closed[0] + 1))
            message = (
                f"proven infeasible by the cost model: {about}: {names[0]} to {names[-1]} alone: {sentence(*refused)}"
            )
            return Refused(message, "a larger platform or a narrower network", refused, "proven")
        told = "; ".join(dict.fromkeys(str(error) for error in self.refused.values())) or "no path of partitions"
        return Refused(f"{about}, as far as was found: {told}", "try --effort best", refusals)


def segments_in_time(context: PlanningContext, memory: BoardMemory) -> SegmentsInTime:
    """Return the segments of a network on a board; each FIFO costs the least that any memory of it does."""
    prices = StreamPrices(context.costs, prices=None, joins=not context.costs.sizes_fifos).couplings
    return SegmentsInTime(context.dataflow, context.problem, prices, memory, context.balance.bars)


def slowed(context: PlanningContext, slow_enough: int) -> PlanningContext | Refusal:
    """Return the same with foldings alone that are not too fast for the memory, in which one group is slow enough.

    Of the groups it is that which leaves the shortest interval. The refusal says that there is none.
    """
    number = slow_group(context.problem, slow_enough)
    if number is None:
        return Refusal("memory", "cycles", proven=True, needed=slow_enough)
    problem, unlimited = (with_slow(each, number, slow_enough) for each in (context.problem, context.unlimited))
    return replace(context, problem=problem, unlimited=unlimited)
