"""Parts of a network that are swapped by partial reconfiguration: cuts, foldings, floorplans and the regions together.

Source: Seyoum et al., Spatio-Temporal Optimization of Deep Neural Networks for Reconfigurable FPGA SoCs, eq. 19. For
regions of each size a shortest path over cuts runs on lower bounds of all segments; what is hoped for most is folded,
then planned down to its floorplans inside its region, until nothing better is hoped for. A network that is not cut has
all of the device, and is never loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from floorflow.errors import FloorflowError, InfeasibleError
from floorflow.placement.region import RegionNeed
from floorflow.resources import Resources
from floorflow.schedule.cheapest_path import cheapest_path
from floorflow.schedule.chunks.paths import best_path
from floorflow.schedule.chunks.timeline import Step, after, first_state
from floorflow.search.candidate import slot_demands
from floorflow.search.context import PlanningContext
from floorflow.search.in_time import BoardMemory, Span
from floorflow.search.phases import loading_of, phase_request
from floorflow.search.preparing import Priced
from floorflow.search.progress import Progress
from floorflow.search.regions import SizedRegions, region_sizes, with_needs
from floorflow.search.search import Search
from floorflow.search.segment_plans import MOST_PLANNED, WORTH, PlannedPhase, SegmentPlans
from floorflow.stats import SolveStats

METHOD = "bounds of all segments in regions of each size, those of the best path planned"


@dataclass(frozen=True)
class InRegions:
    """A network in phases, each in a region by its number, with what was found of the time of a batch in us.

    ``sized`` is None where the network is not cut. ``alone_us``: what it would take so at least, infinite if it does
    not fit; ``sizes``: regions that were looked at.
    """

    whole: PlanningContext
    phases: tuple[PlannedPhase, ...]
    steps: tuple[Step, ...]
    sized: SizedRegions | None
    stats: SolveStats
    memory: BoardMemory
    alone_us: float
    sizes: int
    interrupted: bool = False


def search_in_regions(whole: Priced, search: Search, progress: Progress) -> InRegions:
    """Find the parts of a network whose batch takes least, swapped in regions of the best size, or in no region.

    Raises
    ------
    InputError
        If the board's file does not say how a part of its device is loaded, or what its memory carries.
    InfeasibleError
        If it is proven that there are none.
    LimitError
        If none were found, and that is not proven.

    """
    _, memory = loading_of(whole.request, whole.platform)
    with progress.stage("search"):
        asked = replace(whole, request=phase_request(whole.request))
        return _Run(asked, search, progress, memory).result()


@dataclass(frozen=True)
class _Way:
    """A way to run the network: in regions of one size, or uncut without any.

    ``plans`` are those of each region; equal regions share them.
    """

    sized: SizedRegions | None
    plans: tuple[SegmentPlans, ...]
    us_per_cycle: float
    frames: int

    @property
    def loads_us(self) -> tuple[float, ...]:
        return () if self.sized is None else self.sized.loads_us

    def best(self, costs: Sequence[NDArray[np.float64]]) -> tuple[float, list[Span]]:
        """Return the least time in us by the cost of each segment in each region, and the segments; none, infinite."""
        count = self.plans[0].count
        if self.sized is None:
            us = float(costs[0][0, count])
            return us, [(0, count)] if isfinite(us) else []
        if len(self.plans) == 1:
            us, path = cheapest_path(_cut(costs[0]), self.loads_us[0])
            return (us + self.loads_us[0], path) if path else (inf, [])

        def cost(a: int, b: int, region: int) -> tuple[float, float]:
            return float(costs[region][a, b]), 0.0

        found = best_path(count + 1, (inf, 0.0), cost, self.loads_us)
        return (found.us, found.spans) if found else (inf, [])

    def plans_of(self, number: int) -> SegmentPlans:
        """Return the plans of the region of a phase by its number."""
        return self.plans[number % len(self.plans)]

    def bound(self) -> float:
        """Return the time that no plan of this way is below."""
        return self.best([plans.segments.lowest * self.us_per_cycle for plans in self.plans])[0]

    def hoped(self) -> tuple[float, list[Span]]:
        """Return the best path by what is planned, and by what folding proves of all that is not, and its time."""
        while True:
            us, path = self.best([self._planned_us(plans, plans.hoped() * self.us_per_cycle) for plans in self.plans])
            folded = [self.plans_of(number).fold([span]) for number, span in enumerate(path)]
            if not any(folded):
                return us, path

    def found(self) -> tuple[float, list[Span]]:
        """Return the best path of segments that are planned."""
        return self.best([self._planned_us(plans, plans.found()) for plans in self.plans])

    def _planned_us(self, plans: SegmentPlans, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the costs with those of planned segments: eq. 5, the pipeline filled once."""
        costs = costs.copy()
        for span, phase in plans.planned.items():
            costs[span] = self.run_us(phase)
        return costs

    def run_us(self, phase: PlannedPhase) -> float:
        """Return what a batch takes through a phase."""
        return (self.frames - 1) * phase.interval_cycles * self.us_per_cycle / self.frames + phase.latency_us

    def unplanned(self, path: Sequence[Span]) -> list[tuple[SegmentPlans, Span]]:
        """Return the segments of a path that are not planned in their regions."""
        pairs = [(self.plans_of(number), span) for number, span in enumerate(path)]
        return [(plans, span) for plans, span in pairs if span not in plans.planned]

    def steps(self, phases: Sequence[PlannedPhase]) -> tuple[Step, ...]:
        """Return when each phase loads and runs."""
        if self.sized is None:
            return (Step(0, 0.0, 0.0, 0.0, self.run_us(phases[0])),)
        state, steps = first_state(len(self.plans)), []
        for number, phase in enumerate(phases):
            region = number % len(self.plans)
            state, step = after(state, self.loads_us[region], self.run_us(phase))
            steps.append(replace(step, region=region))
        return tuple(steps)


def _cut(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs without the network as a whole: that is not cut, and has a way of its own."""
    costs = costs.copy()
    costs[0, -1] = np.inf
    return costs


@dataclass(frozen=True)
class _Run:
    """A search on its way."""

    whole: Priced
    search: Search
    progress: Progress
    memory: BoardMemory

    def result(self) -> InRegions:
        """Return the best that was found of all ways, with what is proven of all others."""
        ways, errors = self._ways()
        best, cost = None, inf
        while ways and not self._interrupted(ways):
            hoped = [(way.hoped(), number) for number, way in enumerate(ways)]
            (us, path), number = min(hoped, key=lambda pair: (pair[0][0], pair[1]))
            todo = ways[number].unplanned(path)
            if not path or (best is not None and self._is_enough(cost, us, ways, len(todo))):
                break
            for plans, span in todo:
                plans.plan([span])
            best, cost = _best_found(ways)
            if not todo:
                break
        if best is None:
            raise self._no_plan(ways, errors)
        return self._told(best, cost, ways)

    def _ways(self) -> tuple[list[_Way], list[FloorflowError]]:
        """Return all ways that have foldings for every engine, and why others have none."""
        us_per_cycle, frames = self.whole.request.frames / self.whole.platform.clock_mhz, self.whole.request.frames
        ways, errors = [], list[FloorflowError]()

        def add(make: Callable[[], tuple[SizedRegions | None, tuple[SegmentPlans, ...]]]) -> None:
            try:
                ways.append(_Way(*make(), us_per_cycle, frames))
            except InfeasibleError as error:
                errors.append(error)

        request = self.whole.request
        share = {name: cap * request.area for name, cap in request.cap.as_dict().items()}
        uncut = replace(self.whole, request=request.changed(cap=share)) if request.area < 1 else self.whole
        add(lambda: (None, (self._plans(uncut),)))
        try:
            sizes = region_sizes(self.whole.platform, self.whole.request)
        except InfeasibleError as error:
            return ways, [*errors, error]
        for sized in sizes:
            self.progress.note(f"regions of {', '.join(f'{r.frames:,}' for r in sized.choice.regions)} frames")
            add(lambda sized=sized: (sized, self._plans_of(sized)))  # type: ignore[misc]
        return ways, errors

    def _plans_of(self, sized: SizedRegions) -> tuple[SegmentPlans, ...]:
        return tuple(self._plans(replace(self.whole, platform=platform)) for platform in sized.platforms)

    def _plans(self, whole: Priced) -> SegmentPlans:
        return SegmentPlans(whole, self.search, self.progress, self.memory)

    def _is_enough(self, cost: float, hoped: float, ways: Sequence[_Way], more: int) -> bool:
        effort = self.whole.request.effort
        planned = sum(len(plans.planned) for way in ways for plans in way.plans)
        return cost * (1 - WORTH[effort]) <= hoped or planned + more > MOST_PLANNED[effort]

    @staticmethod
    def _interrupted(ways: Sequence[_Way]) -> bool:
        return any(plans.interrupted for way in ways for plans in way.plans)

    def _told(self, way: _Way, cost: float, ways: Sequence[_Way]) -> InRegions:
        _, path = way.found()
        phases = tuple(way.plans_of(number).planned[span] for number, span in enumerate(path))
        steps = way.steps(phases)
        bound = min(cost, *(other.bound() for other in ways))
        proven = bound >= cost * (1 - 1e-9)
        stats = SolveStats(METHOD, "optimal" if proven else "feasible", cost, cost if proven else bound)
        alone = next((other.bound() for other in ways if other.sized is None), inf)
        sized = None if way.sized is None else with_needs(way.sized, _needs(way.sized, phases))
        whole = replace(way.plans[0].context, platform=self.whole.platform, needs={})
        sizes = sum(other.sized is not None for other in ways)
        return InRegions(whole, phases, steps, sized, stats, self.memory, alone, sizes, self._interrupted(ways))

    def _no_plan(self, ways: Sequence[_Way], errors: Sequence[FloorflowError]) -> FloorflowError:
        """Return why nothing was found, by the largest regions; of ways without foldings the last reason."""
        if not ways:
            return errors[-1]
        largest = ways[-1]
        where = "" if largest.sized is None else f"any region of {self.whole.platform.name} that was looked at"
        return largest.plans[0].no_plan(where)


def _best_found(ways: Sequence[_Way]) -> tuple[_Way | None, float]:
    found = [(way.found()[0], number) for number, way in enumerate(ways)]
    us, number = min(found)
    return (ways[number], us) if isfinite(us) else (None, inf)


def _needs(sized: SizedRegions, phases: Sequence[PlannedPhase]) -> list[RegionNeed]:
    """Return the most of each resource that any phase in each region needs."""
    most = {name: np.zeros(5, dtype=np.int64) for name in sized.names}
    for number, phase in enumerate(phases):
        name = sized.names[number % len(sized.names)]
        for demand in slot_demands(phase.result.candidate).values():
            most[name] = np.maximum(most[name], np.array(demand.as_tuple()))
    return [RegionNeed(name, Resources(*amounts.tolist())) for name, amounts in most.items()]
