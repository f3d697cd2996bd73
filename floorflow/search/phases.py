"""Partitions in time: which segments of a network the device runs one after another, each planned by itself.

Source: Montgomerie-Corcoran et al., SAMO (2022), equations 3 and 4. A dynamic program over cuts runs on lower bounds of
all segments. Those of its best path are folded, then planned down to their floorplans, and the program runs again on
what that gave, until all of its best path is planned: every other path is then bounded to be no better.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from floorflow.errors import FloorflowError, InfeasibleError, InputError, LimitError, Refusal, sentence
from floorflow.hardware import Platform
from floorflow.request import Request
from floorflow.schedule.cheapest_path import cheapest_path
from floorflow.search.context import PlanningContext
from floorflow.search.in_time import BoardMemory, SegmentsInTime, Span, slowed
from floorflow.search.preparing import Priced, context_of
from floorflow.search.progress import Progress
from floorflow.search.search import Search, SearchResult
from floorflow.stats import SolveStats

MOST_PLANNED = {"fast": 8, "default": 24, "best": 96}
"""Segments that are planned at most, by effort, beyond a first path."""
WORTH = {"fast": 0.05, "default": 0.01, "best": 0.0}
"""Share of a batch's time that may be open, by effort: for less than that no other path is planned."""
METHOD = "bounds of all segments, those of the best path planned"


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


@dataclass(frozen=True)
class InPhases:
    """A network in phases: ``whole`` is what all of them share, ``stats`` is of the time of a batch in us.

    ``alone_us`` is what one partition alone would take at least, infinite if none is possible.
    """

    whole: PlanningContext
    phases: tuple[PlannedPhase, ...]
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

    Raises
    ------
    InputError
        If the board's file does not say so.

    """
    board = platform.fpgas[0].board
    if board.reconfiguration is None or board.memory_gbps is None:
        lacking = "reconfiguration" if board.reconfiguration is None else "memory_gbps"
        hint = f"state {lacking} in a file of the board of your own (platforms/README.md)"
        raise InputError(f"--reconfigure {request.reconfigure}: the file of {board.name} has no {lacking}", hint)
    return board.reconfiguration.ms * 1e3, BoardMemory(board.memory_gbps, platform.clock_mhz)


def search_in_time(whole: Priced, search: Search, progress: Progress) -> InPhases:
    """Find the partitions of a network in time whose batch takes least; one partition alone is among them.

    Raises
    ------
    InputError
        If the board's file does not say how it is loaded anew, or what its memory carries.
    InfeasibleError
        If it is proven that there are none.
    LimitError
        If none were found, and that is not proven.

    """
    load_us, memory = loading_of(whole.request, whole.platform)
    with progress.stage("search"):
        run = _Run(replace(whole, request=phase_request(whole.request)), search, progress, memory)
        return run.result(load_us, whole.request.frames)


@dataclass
class _Run:
    """A search on its way: what was planned, and why what was not could not be."""

    whole: Priced
    search: Search
    progress: Progress
    memory: BoardMemory
    planned: dict[Span, PlannedPhase] = field(default_factory=dict)
    refused: dict[Span, FloorflowError] = field(default_factory=dict)
    interrupted: bool = False

    def result(self, reconfiguration_us: float, frames: int) -> InPhases:
        """Return the best partitions that were found, with what is proven of all others."""
        context = context_of(self.whole)
        segments = SegmentsInTime.of(context, self.memory)
        us_per_cycle = frames / self.whole.platform.clock_mhz
        costs = us_per_cycle, reconfiguration_us
        cost, spans = inf, list[Span]()
        while not self.interrupted:
            hoped, path = self._best_path(segments, *costs)
            todo = [span for span in path if span not in self.planned]
            if not path or (spans and self._is_enough(cost, hoped, len(todo))):
                break
            self._plan(segments, todo)
            cost, spans = self._best_planned(len(segments.blocks), *costs)
            if not todo:
                break
        if not spans:
            raise self._no_plan(segments)
        cost, spans = self._rather_alone(segments, (cost, spans), *costs)
        bound, _ = cheapest_path(segments.lowest * us_per_cycle, reconfiguration_us)
        bound = min(cost, bound)
        proven = bound >= cost * (1 - 1e-9)
        stats = SolveStats(METHOD, "optimal" if proven else "feasible", cost, cost if proven else bound)
        alone = float(segments.lowest[0, len(segments.blocks)] * us_per_cycle)
        phases = tuple(self.planned[span] for span in spans)
        shared = replace(context, needs={})
        return InPhases(shared, phases, stats, reconfiguration_us, self.memory, alone, self.interrupted)

    def _is_enough(self, cost: float, hoped: float, more: int) -> bool:
        """Whether a plan is so near to what may be hoped for, or so much was planned, that no more is."""
        effort = self.whole.request.effort
        return cost * (1 - WORTH[effort]) <= hoped or len(self.planned) + more > MOST_PLANNED[effort]

    def _rather_alone(
        self,
        segments: SegmentsInTime,
        best: tuple[float, list[Span]],
        us_per_cycle: float,
        reconfiguration_us: float,
    ) -> tuple[float, list[Span]]:
        """Return one partition alone in place of several that are not worth their loads.

        Equation 4 has the first partition loaded when the batch comes. Where batch follows batch it is loaded again,
        which one partition alone never is: it is taken where that makes it faster, and the paper's batch takes as good
        as no longer.
        """
        cost, spans = best
        whole = (0, len(segments.blocks))
        most = min(cost * (1 + WORTH[self.whole.request.effort]), cost + reconfiguration_us)
        if len(spans) == 1 or segments.lowest[whole] * us_per_cycle > most:
            return best
        if whole not in self.planned and whole not in self.refused and not self.interrupted:
            self._plan(segments, [whole])
        alone = self.planned.get(whole)
        if alone is None or alone.interval_cycles * us_per_cycle > most:
            return best
        return alone.interval_cycles * us_per_cycle, [whole]

    def _best_path(
        self, segments: SegmentsInTime, us_per_cycle: float, reconfiguration_us: float
    ) -> tuple[float, list[Span]]:
        """Return the best path by what is planned, and by what folding proves of all that is not, and its cost."""
        while True:
            costs = segments.lowest.copy()
            for span, phase in self.planned.items():
                costs[span] = phase.interval_cycles
            for span in self.refused:
                costs[span] = np.inf
            cost, path = cheapest_path(costs * us_per_cycle, reconfiguration_us)
            if path is None:
                return cost, []
            open_ = [span for span in path if not segments.is_folded(span)]
            if not open_:
                return cost, path
            with self.progress.stage("folding"):
                for span in open_:
                    self.progress.note(f"blocks {span[0]} to {span[1] - 1} of {len(segments.blocks)}")
                    segments.fold(span)

    def _plan(self, segments: SegmentsInTime, spans: list[Span]) -> None:
        """Plan segments by themselves, and raise their bounds to what that proved."""
        for span in spans:
            self.progress.note(f"planning blocks {span[0]} to {span[1] - 1} of {len(segments.blocks)} as a partition")
            try:
                phase = self._planned(segments, span)
            except (InfeasibleError, LimitError) as error:
                self.refused[span] = error
                if isinstance(error, InfeasibleError):
                    segments.lowest[span] = inf
                continue
            self.planned[span] = phase
            result, cycles = phase.result, phase.interval_cycles
            proven = max(result.bound_cycles, result.joint_bound_cycles or 0)
            segments.lowest[span] = min(max(segments.lowest[span], proven), cycles)
            if result.interrupted:
                self.interrupted = True
                return

    def _planned(self, segments: SegmentsInTime, span: Span) -> PlannedPhase:
        context = context_of(self.whole.part(segments.dataflow(span)))
        slow_enough = int(segments.slow_enough[span])
        result = self.search(context)
        if result.candidate.interval_cycles < slow_enough:
            other = slowed(context, slow_enough)
            if isinstance(other, Refusal):
                raise InfeasibleError(f"proven infeasible by the cost model: {sentence(other)}", "", (other,))
            context, result = other, self.search(other)
        return PlannedPhase(span, context, result)

    def _best_planned(self, count: int, us_per_cycle: float, reconfiguration_us: float) -> tuple[float, list[Span]]:
        costs = np.full((count + 1, count + 1), np.inf)
        for span, phase in self.planned.items():
            costs[span] = phase.interval_cycles
        _, path = cheapest_path(costs * us_per_cycle, reconfiguration_us)
        if path is None:
            return inf, []
        # Summed anew: the program's own sum begins below zero.
        return sum(costs[span] * us_per_cycle for span in path) + (len(path) - 1) * reconfiguration_us, path

    def _no_plan(self, segments: SegmentsInTime) -> FloorflowError:
        """Return why no partitions were found: a block that fits nowhere, or what stopped the last that was tried."""
        if self.interrupted:
            raise KeyboardInterrupt
        about = f"{self.whole.dataflow.name} does not fit {self.whole.platform.name}, however it is cut in time"
        closed = [
            number for number in range(len(segments.blocks)) if not np.isfinite(segments.lowest[number, number + 1])
        ]
        refusals = tuple(r for error in self.refused.values() for r in error.refusals)
        if closed:
            names = segments.blocks[closed[0]]
            refused = segments.refusals((closed[0], closed[0] + 1))
            message = (
                f"proven infeasible by the cost model: {about}: {names[0]} to {names[-1]} alone: {sentence(*refused)}"
            )
            return InfeasibleError(message, "a larger platform or a narrower network", refused)
        told = "; ".join(dict.fromkeys(str(error) for error in self.refused.values())) or "no path of partitions"
        return LimitError(f"{about}, as far as was found: {told}", "try --effort best", refusals)
