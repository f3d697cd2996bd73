"""Place groups of equal modules in windows that are alike, so that each group is one circuit, implemented once.

1. Without the rule first: that says where modules would be, and is the answer where no group can be alike.
2. For one group after another a kind of windows is chosen: a few kinds are tried, the shortest wires count. A group for
   which no kind leaves room for all modules is not alike, and the method says so.
3. All is annealed; a module of a group takes only windows of its kind.
4. Modules of groups change their windows where more ports lie on equal sides then, for `LONGER` of the wires at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from floorflow.hardware.geometry import Rect
from floorflow.placement.alike.port_sides import unlike_ports
from floorflow.placement.alike.windows import Windows, windows_of
from floorflow.placement.construction.several_ways import may_overlap
from floorflow.placement.construction.shelves import repair_by_ejection
from floorflow.placement.effort import Limits
from floorflow.placement.improvement.annealing import Cooling, anneal
from floorflow.placement.improvement.lns import improve
from floorflow.placement.layouts.layout import CandidateRectangles, Layout, Occupied, SearchSpace, twice_hpwl
from floorflow.placement.layouts.net_arrays import NetArrays, net_arrays
from floorflow.placement.preparing import PreparedProblem, prepare, solution, wire_bound
from floorflow.placement.problem import PlacementProblem, PlacementSolution, Region
from floorflow.placement.rectangles.candidate_rectangles import compact, sides_of
from floorflow.placement.rectangles.raster import Raster

KINDS = 4
"""Kinds of windows that are tried for each group."""
EJECTIONS = 30
"""Ejections for each module to place all with a kind, at most."""
TRIED_ROUNDS = 60
"""Rounds of improvement of each kind that is tried."""
RUNS = 3
"""Runs of annealing, of which the shortest counts."""
LONGER = 0.02
"""Share by which wires may become longer for ports on equal sides."""

Group = tuple[str, ...]
Chosen = Mapping[Group, Windows]


def place_alike(problem: PlacementProblem, limits: Limits, seed: int, free: PlacementSolution) -> PlacementSolution:
    """Return a placement with those groups alike for which one was found; ``free`` is one without the rule."""
    prepared = prepare(replace(problem, alike=()), limits, "alike")
    if not isinstance(prepared, PreparedProblem):
        return free
    search = _Alike(prepared, free, seed)
    layout, chosen = search.free_layout, dict[Group, Windows]()
    for group in sorted(problem.alike, key=len, reverse=True):
        kinds = windows_of(problem, group, free.regions, KINDS)
        tried = [(search.tried({**chosen, group: kind}, group, layout), kind) for kind in kinds]
        found = [(end, kind) for end, kind in tried if end is not None]
        if found:
            layout, chosen[group] = min(found, key=lambda pair: twice_hpwl(pair[0], search.nets))
    if not chosen:
        return _told(problem, search.free_layout, free, chosen)
    best = search.annealed(layout, chosen, limits)
    return _told(problem, search.on_equal_sides(best, chosen), free, chosen)


def _told(problem: PlacementProblem, layout: Layout, free: PlacementSolution, chosen: Chosen) -> PlacementSolution:
    found = solution(problem, layout, wire_bound(free, problem.weights) or 0.0, free.stats.method)
    told = f"{found.stats.method}, {len(chosen)} of {len(problem.alike)} groups in windows alike"
    return replace(found, stats=replace(found.stats, method=told))


@dataclass(frozen=True)
class _Alike:
    """The search: the problem with its rectangles, and where all modules are without the rule."""

    prepared: PreparedProblem
    free: PlacementSolution
    seed: int

    @property
    def problem(self) -> PlacementProblem:
        """What is placed."""
        return self.prepared.problem

    @cached_property
    def nets(self) -> NetArrays:
        """The wires."""
        return net_arrays(self.problem)

    @cached_property
    def free_layout(self) -> Layout:
        """Where all modules are without the rule."""
        layout = Layout.empty(len(self.problem.modules))
        for index, module in enumerate(self.problem.modules):
            layout.put(index, sides_of(self.free.regions[module.name])[0])
        return layout

    @cached_property
    def own(self) -> list[CandidateRectangles]:
        """The rectangles that modules can have without the rule: compact ones, and what was found."""
        problem, found = self.problem, []
        rasters = {slot.name: Raster.of(slot.region, problem.device) for slot in problem.slots}
        for module, rects in zip(problem.modules, self.prepared.rects, strict=True):
            both = (compact(rects, problem.max_aspect), sides_of(self.free.regions[module.name]))
            found.append(CandidateRectangles.of(np.unique(np.concatenate(both), axis=0), rasters[module.slot]))
        return found

    def space(self, chosen: Chosen) -> SearchSpace:
        """Return what is searched: of modules in groups only the windows of their kind."""
        candidates = list(self.own)
        for group, windows in chosen.items():
            for module in map(self.problem.index_of.__getitem__, group):
                rects = windows.in_slot[self.problem.modules[module].slot]
                candidates[module] = CandidateRectangles.of(rects, self.own[module].raster)
        return SearchSpace(tuple(candidates), self.nets, may_overlap(self.problem))

    def tried(self, chosen: Chosen, group: Group, start: Layout) -> Layout | None:
        """Return a layout with a group in windows of a kind, from one without on; None if none was found."""
        space, rng, waiting = self.space(chosen), np.random.default_rng(self.seed), start.copy()
        waiting.placed[[self.problem.index_of[name] for name in group]] = False
        layout = repair_by_ejection(space, range(space.count), waiting, EJECTIONS * space.count, rng)
        return improve(space, layout, TRIED_ROUNDS, rng) if layout.complete else None

    def annealed(self, start: Layout, chosen: Chosen, limits: Limits) -> Layout:
        """Return the shortest layout of a few runs of annealing."""
        space, count = self.space(chosen), self.space(chosen).count
        rounds = limits.tight_rounds * min(4 * count, count + 20) // 2
        cooling = Cooling(rounds, min(0.2, 2.0 / count), 0.02 / count)
        ends = [anneal(space, start, cooling, one) for one in range(RUNS * self.seed, RUNS * (self.seed + 1))]
        return min(ends, key=lambda end: twice_hpwl(end, self.nets))

    def on_equal_sides(self, layout: Layout, chosen: Chosen) -> Layout:
        """Return the layout with modules of groups in other windows, if more ports lie on equal sides then."""
        space, groups, wires = self.space(chosen), list(chosen), self.problem.wires
        most = (1 + LONGER) * twice_hpwl(layout, self.nets)
        best, unlike = layout, unlike_ports(groups, self._regions(layout), wires)
        for module in [self.problem.index_of[name] for group in groups for name in group]:
            occupied = Occupied.by(space, best.copy())
            occupied.take_out(module)
            for one in (~occupied.meets(module)).nonzero()[0].tolist():
                moved = occupied.layout.copy()
                moved.put(module, space.candidates[module].rects[one])
                if twice_hpwl(moved, self.nets) <= most:
                    fewer = unlike_ports(groups, self._regions(moved), wires)
                    if fewer < unlike:
                        best, unlike = moved, fewer
        return best

    def _regions(self, layout: Layout) -> dict[str, Region]:
        boxes = zip(self.problem.modules, layout.boxes.tolist(), strict=True)
        return {module.name: (Rect(*box),) for module, box in boxes}
