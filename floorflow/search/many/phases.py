"""Partitions in time: which segments of a network the device runs one after another, each planned by itself.

Source: Montgomerie-Corcoran et al., SAMO (2022), equations 3 and 4. A dynamic program over cuts runs on lower bounds of
all segments. Those of its best path are folded, then planned down to their floorplans, and the program runs again on
what that gave, until all of its best path is planned: every other path is then bounded to be no better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from floorflow.errors import InputError
from floorflow.hardware import Platform
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Search
from floorflow.search.candidate.preparing import Priced
from floorflow.search.candidate.progress import Progress
from floorflow.search.many.in_time import BoardMemory, Span
from floorflow.search.many.segment_plans import MOST_PLANNED, WORTH, PlannedPhase, SegmentPlans
from floorflow.segments.cheapest_path import cheapest_path
from floorflow.stats import SolveStats

METHOD = "bounds of all segments, those of the best path planned"


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
        asked = replace(whole, request=phase_request(whole.request))
        return _Run(SegmentPlans(asked, search, progress, memory), memory).result(load_us, whole.request.frames)


@dataclass(frozen=True)
class _Run:
    """A search on its way."""

    plans: SegmentPlans
    memory: BoardMemory

    def result(self, reconfiguration_us: float, frames: int) -> InPhases:
        """Return the best partitions that were found, with what is proven of all others.

        A signal ends the search with the best of those that are planned whole by then; another goes through.
        """
        try:
            return self._result(reconfiguration_us, frames)
        except KeyboardInterrupt:
            if self.plans.interrupted:
                raise
            self.plans.interrupted = True
            return self._result(reconfiguration_us, frames)

    def _result(self, reconfiguration_us: float, frames: int) -> InPhases:
        plans = self.plans
        segments = plans.segments
        us_per_cycle = frames / plans.whole.platform.clock_mhz
        costs = us_per_cycle, reconfiguration_us
        cost, spans = self._best_planned(*costs)
        while not plans.interrupted:
            hoped, path = self._best_path(*costs)
            todo = [span for span in path if span not in plans.planned]
            if not path or (spans and self._is_enough(cost, hoped, len(todo))):
                break
            plans.plan(todo)
            cost, spans = self._best_planned(*costs)
            if not todo:
                break
        if not spans:
            raise plans.no_plan()
        cost, spans = self._rather_alone((cost, spans), *costs)
        bound, _ = cheapest_path(plans.bounds() * us_per_cycle, reconfiguration_us)
        bound = min(cost, bound)
        proven = bound >= cost * (1 - 1e-9)
        stats = SolveStats(METHOD, "optimal" if proven else "feasible", cost, cost if proven else bound)
        alone = float(segments.lowest[0, plans.count] * us_per_cycle)
        phases = tuple(plans.planned[span] for span in spans)
        shared = replace(plans.context, needs={})
        return InPhases(shared, phases, stats, reconfiguration_us, self.memory, alone, plans.interrupted)

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
        while True:
            cost, path = cheapest_path(self.plans.hoped() * us_per_cycle, reconfiguration_us)
            if path is None or not self.plans.fold(path):
                return cost, path or []

    def _best_planned(self, us_per_cycle: float, reconfiguration_us: float) -> tuple[float, list[Span]]:
        cost, path = cheapest_path(self.plans.found() * us_per_cycle, reconfiguration_us)
        return cost, path or []
