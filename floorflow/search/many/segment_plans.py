"""Segments of a network in time on a device, or on a part of it: what is hoped of each, and plans of some."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from floorflow.errors import FloorflowError, InfeasibleError, LimitError, Refusal, sentence
from floorflow.search.candidate.candidate import latency_us
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Search, SearchResult
from floorflow.search.candidate.preparing import Priced, context_of
from floorflow.search.candidate.progress import Progress
from floorflow.search.many.in_time import BoardMemory, SegmentsInTime, Span, no_less_than_parts, slowed

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

    ``context``, if that of the whole network is known: where ``whole`` has only a part of the device not every engine
    need fit there, and the folding problem has what the part allows.
    """

    def __init__(
        self,
        whole: Priced,
        search: Search,
        progress: Progress,
        memory: BoardMemory,
        context: PlanningContext | None = None,
    ) -> None:
        self.whole, self.search, self.progress = whole, search, progress
        self.context = context or context_of(whole)
        self.segments = SegmentsInTime.of(self.context, memory)
        self.planned: dict[Span, PlannedPhase] = {}
        self.refused: dict[Span, FloorflowError] = {}
        self.interrupted = False

    @property
    def count(self) -> int:
        """Blocks between the places where the network may be cut."""
        return len(self.segments.blocks)

    @property
    def _blocks(self) -> list[Span]:
        return [(number, number + 1) for number in range(self.count)]

    @property
    def longer_folded(self) -> int:
        """Segments of several blocks that were bounded by folding."""
        return self.segments.times_folded - sum(map(self.segments.is_folded, self._blocks))

    @property
    def allowed_lut(self) -> int:
        """LUTs that the design may use."""
        return self.segments.problem.budget.lut

    @property
    def known(self) -> int:
        """How much is known: it rises with all that changes `hoped`."""
        return self.segments.times_folded + len(self.planned) + len(self.refused)

    def bounds(self) -> NDArray[np.float64]:
        """Return the interval in cycles below which no plan of each segment is."""
        return no_less_than_parts(self.segments.lowest)

    def hoped(self) -> NDArray[np.float64]:
        """Return the interval in cycles of each segment: as planned, or as bounded; infinite where none was found."""
        costs = self.bounds()
        for span, phase in self.planned.items():
            costs[span] = phase.interval_cycles
        for span in self.refused:
            costs[span] = np.inf
        return costs

    def found(self) -> NDArray[np.float64]:
        """Return the intervals in cycles of the segments that are planned, infinite for all others."""
        costs = np.full_like(self.segments.lowest, np.inf)
        for span, phase in self.planned.items():
            costs[span] = phase.interval_cycles
        return costs

    def fold(self, spans: Iterable[Span]) -> bool:
        """Bound segments by folding, those of which that is not yet known; return whether there were any."""
        open_ = [span for span in spans if not self.segments.is_folded(span)]
        if open_:
            with self.progress.stage("folding"):
                for span in open_:
                    self.progress.note(f"blocks {span[0]} to {span[1] - 1} of {self.count}")
                    self.segments.fold(span)
        return bool(open_)

    def fold_blocks(self) -> None:
        """Bound each block alone by folding: no segment is faster than its slowest, or fits where one does not."""
        self.fold(self._blocks)

    def plan(self, spans: Iterable[Span]) -> None:
        """Plan segments by themselves, and raise their bounds to what that proved."""
        lowest = self.segments.lowest
        for span in spans:
            self.progress.note(f"planning blocks {span[0]} to {span[1] - 1} of {self.count} as a partition")
            try:
                phase = self._planned(span)
            except (InfeasibleError, LimitError) as error:
                self.refused[span] = error
                if isinstance(error, InfeasibleError):
                    lowest[span] = inf
                continue
            self.planned[span] = phase
            result, cycles = phase.result, phase.interval_cycles
            proven = max(result.bound_cycles, result.joint_bound_cycles or 0)
            lowest[span] = min(max(lowest[span], proven), cycles)
            if result.interrupted:
                self.interrupted = True
                return

    def _planned(self, span: Span) -> PlannedPhase:
        context = context_of(self.whole.part(self.segments.dataflow(span)))
        slow_enough = int(self.segments.slow_enough[span])
        result = self.search(context)
        if result.candidate.interval_cycles < slow_enough:
            if result.interrupted:
                raise KeyboardInterrupt
            other = slowed(context, slow_enough)
            if isinstance(other, Refusal):
                raise InfeasibleError(f"proven infeasible by the cost model: {sentence(other)}", "", (other,))
            context, result = other, self.search(other)
        return PlannedPhase(span, context, result)

    def no_plan(self, where: str = "") -> FloorflowError:
        """Return why no partitions were found: a block that fits nowhere, or what stopped the last that was tried."""
        if self.interrupted:
            raise KeyboardInterrupt
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
            return InfeasibleError(message, "a larger platform or a narrower network", refused)
        told = "; ".join(dict.fromkeys(str(error) for error in self.refused.values())) or "no path of partitions"
        return LimitError(f"{about}, as far as was found: {told}", "try --effort best", refusals)
