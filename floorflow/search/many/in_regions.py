"""Parts of a network that are swapped by partial reconfiguration: cuts, foldings, floorplans and the regions together.

Source: Seyoum et al., Spatio-Temporal Optimization of Deep Neural Networks for Reconfigurable FPGA SoCs, eq. 19. For
regions of each size a shortest path over cuts runs on lower bounds of all segments; what is hoped for most is folded,
then planned down to its floorplans inside its region, until nothing better is hoped for. A network that is not cut has
all of the device, and is never loaded.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from math import inf, isfinite

from floorflow.errors import INTERRUPTED, InputError, Refused, Stop
from floorflow.hardware import Rect
from floorflow.placement.region import RegionNeed
from floorflow.resources import ZERO, total
from floorflow.search.candidate.candidate import slot_demands
from floorflow.search.candidate.context import PlanningContext, slot_limits
from floorflow.search.candidate.findings import Search
from floorflow.search.candidate.preparing import Priced, context_of
from floorflow.search.candidate.progress import Progress
from floorflow.search.many.phases import (
    MOST_FOLDED,
    MOST_PLANNED,
    WORTH,
    PlannedPhase,
    SegmentPlans,
    loading_of,
    phase_request,
)
from floorflow.search.many.regions import SizedRegions, region_sizes, with_needs
from floorflow.segments.in_time import BoardMemory
from floorflow.segments.paths import Floats, Span, Step, best_path, cheapest_path, lazy_path, timeline, with_known
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


def search_in_regions(whole: Priced, search: Search, progress: Progress) -> InRegions | Refused:
    """Find the parts of a network whose batch takes least, swapped in regions of the best size, or in no region.

    InputError if the board's file does not say how a part of its device is loaded, or what its memory carries; if its
    device has several SLRs.
    """
    _, memory = loading_of(whole.request, whole.platform)
    if len(whole.platform.slots) > 1:
        told = f"--reconfigure partial: {whole.platform.name} has {len(whole.platform.slots)} slots, regions need one"
        raise InputError(told, "give --reconfigure full")
    with progress.stage("search"):
        asked = replace(whole, request=phase_request(whole.request))
        return _Run(asked, search, progress, memory).result()


@dataclass(frozen=True)
class _Way:
    """A way to run the network: in regions of one size, or uncut without any.

    ``plans`` are those of each region.
    """

    sized: SizedRegions | None
    plans: tuple[SegmentPlans, ...]
    us_per_cycle: float
    frames: int
    _hoped: dict[tuple[int, ...], tuple[float, list[Span]]] = field(default_factory=dict)

    @property
    def loads_us(self) -> tuple[float, ...]:
        return () if self.sized is None else self.sized.loads_us

    def best(self, costs: Sequence[Floats]) -> tuple[float, list[Span]]:
        """Return the least time in us by the cost of each segment in each region, and the segments; none, infinite."""
        count = self.plans[0].count
        if self.sized is None:
            us = float(costs[0][0, count])
            return us, [(0, count)] if isfinite(us) else []
        if len(self.plans) == 1:
            # The network as a whole is not cut, and has a way of its own.
            us, path = cheapest_path(with_known(costs[0], {(0, count): inf}), self.loads_us[0])
            return (us + self.loads_us[0], path) if path else (inf, [])

        found = best_path(costs, self.loads_us)
        return (found.us, found.spans) if found else (inf, [])

    def plans_of(self, number: int) -> SegmentPlans:
        """Return the plans of the region of a phase by its number."""
        return self.plans[number % len(self.plans)]

    def bound(self) -> float:
        """Return the time that no plan of this way is below."""
        return self.best([plans.bounds() * self.us_per_cycle for plans in self.plans])[0]

    def hoped(self) -> tuple[float, list[Span]]:
        """Return the best path by what is planned, and by what is proven of all that is not, and its time."""
        known = tuple(plans.known for plans in self.plans)
        if known not in self._hoped:
            hoped = [(plans.hoped() * self.us_per_cycle, self._planned_us(plans)) for plans in self.plans]
            self._hoped[known] = self.best([with_known(*each) for each in hoped])
        return self._hoped[known]

    def fold(self, path: Sequence[Span]) -> bool:
        """Bound the segments of a path by folding in their regions; return whether any was not yet."""
        folded = [self.plans_of(number).fold([span]) for number, span in enumerate(path)]
        return any(folded)

    def found(self) -> tuple[float, list[Span]]:
        """Return the best path of segments that are planned."""
        return self.best([with_known(plans.found(), self._planned_us(plans)) for plans in self.plans])

    def _planned_us(self, plans: SegmentPlans) -> dict[Span, float]:
        return {span: self.run_us(phase) for span, phase in plans.planned.items()}

    def run_us(self, phase: PlannedPhase) -> float:
        """Return what a batch takes through a phase: eq. 5, the pipeline filled once."""
        return (self.frames - 1) * phase.interval_cycles * self.us_per_cycle / self.frames + phase.latency_us

    def unplanned(self, path: Sequence[Span]) -> list[tuple[SegmentPlans, Span]]:
        """Return the segments of a path that are not planned in their regions."""
        pairs = [(self.plans_of(number), span) for number, span in enumerate(path)]
        return [(plans, span) for plans, span in pairs if span not in plans.planned]

    def steps(self, phases: Sequence[PlannedPhase]) -> tuple[Step, ...]:
        """Return when each phase loads and runs."""
        return timeline(self.loads_us, [self.run_us(phase) for phase in phases])


@dataclass(frozen=True)
class _Run:
    """A search on its way."""

    whole: Priced
    search: Search
    progress: Progress
    memory: BoardMemory

    def result(self) -> InRegions | Refused:
        """Return the best that was found of all ways, with what is proven of all others.

        A signal ends the search with the best that is planned whole by then; another goes through.
        """
        known = self._ways()
        if isinstance(known, Refused):
            return known
        ways, without = known
        with Stop():
            return self._result(ways, without)
        if self._interrupted(ways):
            return INTERRUPTED
        ways[0].plans[0].interrupted = True
        return self._result(ways, without)

    def _result(self, ways: Sequence[_Way], without: Refused | None) -> InRegions | Refused:
        best, cost = _best_found(ways)

        def worked_out(hope: tuple[float, list[Span], _Way]) -> bool:
            nonlocal best, cost
            us, path, way = hope
            todo = way.unplanned(path)
            if not path or (best is not None and self._is_enough(cost, us, ways, len(todo))):
                return False
            with self.progress.stage("folding"):
                folded = sum(plans.longer_folded for plans in _all_plans(ways))
                if folded < MOST_FOLDED[self.whole.request.effort] and way.fold(path):
                    return True
            for plans, span in todo:
                if not self._interrupted(ways):
                    plans.plan([span])
            best, cost = _best_found(ways)
            return bool(todo)

        lazy_path(lambda: self._hoped(ways), worked_out)
        if best is None:
            if self._interrupted(ways):
                return INTERRUPTED
            if without is not None:
                return without
            largest = max(
                (plans for way in ways[1:] for plans in way.plans), key=lambda plans: plans.segments.problem.budget.lut
            )
            return largest.no_plan(f"any region of {self.whole.platform.name} that was looked at")
        return self._told(best, cost, ways)

    def _ways(self) -> tuple[list[_Way], Refused | None] | Refused:
        """Return all ways: uncut, then in regions of all sizes that the device can have, or why it can have none."""
        request, platform = self.whole.request, self.whole.platform
        per_cycle = request.frames / platform.clock_mhz, request.frames
        whole = context_of(self.whole)
        if isinstance(whole, Refused):
            return whole
        share = {name: cap * request.area for name, cap in request.cap.as_dict().items()}
        uncut = replace(self.whole, request=request.changed(cap=share)) if request.area < 1 else self.whole
        ways = [_Way(None, (self._plans(uncut, whole),), *per_cycle)]
        known: dict[Rect, SegmentPlans] = {}
        sizes = region_sizes(platform, request)
        if isinstance(sizes, Refused):
            return (ways, sizes) if sizes.why == "proven" else sizes
        for sized in sizes:
            told = ", ".join(f"{region.frames:,}" for region in sized.choice.regions)
            self.progress.note(f"regions of {told} frames")
            for region, part in zip(sized.choice.regions, sized.platforms, strict=True):
                # A rectangle may be a region of several sizes.
                if region.rect not in known:
                    known[region.rect] = self._plans(replace(self.whole, platform=part), whole)
                    plans = known[region.rect]
                    # No segment is faster than its slowest block, or fits where one does not.
                    plans.fold((block, block + 1) for block in range(plans.count))
            ways.append(_Way(sized, tuple(known[region.rect] for region in sized.choice.regions), *per_cycle))
        return ways, None

    def _plans(self, part: Priced, whole: PlanningContext) -> SegmentPlans:
        limits = total(slot_limits(part.platform, part.request).values())
        context = replace(whole, request=part.request, problem=whole.problem.with_budget(limits))
        return SegmentPlans(part, self.search, self.progress, self.memory, context)

    def _hoped(self, ways: Sequence[_Way]) -> tuple[float, list[Span], _Way]:
        """Return the best path that may be hoped for, and its way; of equal ones the first way's."""
        if self._interrupted(ways):
            return inf, [], ways[0]
        hoped = [(way.hoped(), number) for number, way in enumerate(ways)]
        (us, path), number = min(hoped, key=lambda pair: (pair[0][0], pair[1]))
        return us, path, ways[number]

    def _is_enough(self, cost: float, hoped: float, ways: Sequence[_Way], more: int) -> bool:
        effort = self.whole.request.effort
        planned = sum(len(plans.planned) for plans in _all_plans(ways))
        return cost * (1 - WORTH[effort]) <= hoped or planned + more > MOST_PLANNED[effort]

    @staticmethod
    def _interrupted(ways: Sequence[_Way]) -> bool:
        return any(plans.interrupted for way in ways for plans in way.plans)

    def _told(self, way: _Way, cost: float, ways: Sequence[_Way]) -> InRegions:
        _, path = way.found()
        phases = tuple(way.plans_of(number).planned[span] for number, span in enumerate(path))
        steps = way.steps(phases)
        bound = min(cost, *(other.bound() for other in ways))
        stats = SolveStats.bounded(METHOD, cost, bound)
        alone = next((other.bound() for other in ways if other.sized is None), inf)
        sized = None if way.sized is None else with_needs(way.sized, _needs(way.sized, phases))
        whole = replace(way.plans[0].context, platform=self.whole.platform)
        sizes = sum(other.sized is not None for other in ways)
        return InRegions(whole, phases, steps, sized, stats, self.memory, alone, sizes, self._interrupted(ways))


def _all_plans(ways: Sequence[_Way]) -> Iterable[SegmentPlans]:
    """Return the plans of all rectangles, each once."""
    return {id(plans): plans for way in ways for plans in way.plans}.values()


def _best_found(ways: Sequence[_Way]) -> tuple[_Way | None, float]:
    found = [(way.found()[0], number) for number, way in enumerate(ways)]
    us, number = min(found)
    return (ways[number], us) if isfinite(us) else (None, inf)


def _needs(sized: SizedRegions, phases: Sequence[PlannedPhase]) -> list[RegionNeed]:
    """Return the most of each resource that any phase in each region needs."""
    most = dict.fromkeys(sized.names, ZERO)
    for number, phase in enumerate(phases):
        name = sized.names[number % len(sized.names)]
        for demand in slot_demands(phase.result.candidate).values():
            most[name] = most[name].most(demand)
    return list(starmap(RegionNeed, most.items()))
