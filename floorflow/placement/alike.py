"""Place groups of equal modules in windows that are alike, so that each group is one circuit, implemented once.

Rectangles are alike if `can_relocate` allows to move what is made in one into another: equal sides over equal columns,
with clock spines and edges between the same rows.

1. Without the rule first: that says where modules would be, and is the answer where no group can be alike.
2. For one group after another, the one with most LUTs first, a kind of windows is chosen: a few kinds are tried, most
   modules and then the shortest wires count. Modules for which none leaves room are a group of their own, with another
   kind; a last one has no equal, and the method says how many have one.
3. All is annealed; a module of a group takes only windows of its kind.
4. Modules of groups change their windows where more ports lie on equal sides then, for `LONGER` of the wires at most:
   on the sides of its rectangle by which the straight lines from a module's middle to what its wires lead to leave it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from floorflow.hardware.geometry import Rect
from floorflow.hardware.relocation import anchors
from floorflow.placement.annealing import Cooling, anneal
from floorflow.placement.bounds.wires import need_of
from floorflow.placement.construction.several_ways import may_overlap
from floorflow.placement.construction.shelves import repair_by_ejection
from floorflow.placement.layout import (
    CandidateRectangles,
    Layout,
    NetArrays,
    Occupied,
    SearchSpace,
    net_arrays,
    twice_hpwl,
)
from floorflow.placement.lns import improve
from floorflow.placement.objective import wire_bound
from floorflow.placement.preparing import PreparedProblem, prepare, solution
from floorflow.placement.problem import Limits, Pin, PlacementProblem, PlacementSolution, Region, Wire, point_of
from floorflow.placement.rectangles.candidate_rectangles import (
    IntArray,
    Raster,
    area_of,
    candidate_rectangles,
    compact,
    overlaps,
    sides_of,
    slot_grid,
)

Side = Literal["left", "right", "below", "above"]


def side_towards(rect: Rect, point: Pin) -> Side:
    """Return by which side the straight line from a rectangle's middle to a point leaves it."""
    middle = Pin.at_centre(rect)
    x, y = point.x2 - middle.x2, point.y2 - middle.y2
    if abs(x) * rect.rows >= abs(y) * rect.columns:
        return "right" if x >= 0 else "left"
    return "above" if y >= 0 else "below"


def port_sides(module: str, regions: Mapping[str, Region], wires: Sequence[Wire]) -> tuple[Side, ...]:
    """Return the sides of a module's ports: those that it reads first, then those that it writes, each as listed."""
    rect = regions[module][0]
    reads = [wire.source for wire in wires if wire.target == module]
    writes = [wire.target for wire in wires if wire.source == module]
    return tuple(side_towards(rect, point_of(end, regions)) for end in (*reads, *writes))


def unlike_ports(groups: Sequence[Sequence[str]], regions: Mapping[str, Region], wires: Sequence[Wire]) -> int:
    """Return how many ports of modules of the groups lie on another side than those of most of their group do.

    Of modules with other numbers of ports than the first of their group none is compared.
    """
    unlike = 0
    for group in groups:
        sides = [port_sides(name, regions, wires) for name in group]
        ports = [tuple(one) for one in zip(*(s for s in sides if len(s) == len(sides[0])), strict=True)]
        unlike += sum(len(port) - max(map(port.count, port)) for port in ports)
    return unlike


Group = tuple[str, ...]
LOOKED_AT = 400
"""Kinds of windows, the most promising, of which all places are looked up."""


Windows = Mapping[str, IntArray]
"""Rectangles that are alike: all that there are in the slots of a group, by slot, (n, 4) each."""


def windows_of(
    problem: PlacementProblem, group: Sequence[str], near: Mapping[str, Region], most: int
) -> list[tuple[Group, Windows]]:
    """Return kinds of windows that hold each of a group, with those that they have places apart for: most first.

    Then the most promising: small ones that lie near where the modules would be without the rule, which is ``near``.
    """
    slots = Counter(problem.modules[problem.index_of[name]].slot for name in group)
    need = np.max([need_of(problem, problem.modules[problem.index_of[name]]) for name in group], axis=0)
    kinds: dict[tuple[object, ...], list[Rect]] = defaultdict(list)
    for name in slots:
        grid = slot_grid(problem.device, problem.slot_of[name])
        for row in compact(candidate_rectangles(grid, need), problem.max_aspect).tolist():
            kinds[_kind(problem, Rect(*row))].append(Rect(*row))
    ends = [(point_of(name, near), sum(w.width_bits for w in problem.wires if name in w.modules)) for name in group]
    ranked = sorted(kinds.values(), key=lambda rects: _promise(ends, rects))
    found: list[tuple[Group, Windows]] = []
    for rects in ranked[:LOOKED_AT]:
        every = {name: _places(problem, name, rects[0]) for name in slots}
        part = _held(problem, group, every)
        found += [(part, every)] if len(part) > 1 else []
        if sum(len(part) == len(group) for part, _ in found) == most:
            break
    return sorted(found, key=lambda pair: -len(pair[0]))[:most]


def _held(problem: PlacementProblem, group: Sequence[str], windows: Windows) -> Group:
    """Return as many of a group as there are places apart for, slot by slot."""
    left = {slot: _apart(places) for slot, places in windows.items()}
    held = []
    for name in group:
        slot = problem.modules[problem.index_of[name]].slot
        left[slot] -= 1
        held += [name] if left[slot] >= 0 else []
    return tuple(held)


def _kind(problem: PlacementProblem, rect: Rect) -> tuple[object, ...]:
    """Return what is equal of rectangles that are alike, and of no others."""
    cells, between = problem.device.cell_kinds, problem.device.row_boundaries
    cut = cells[rect.bottom : rect.top + 1, rect.left : rect.right + 1]
    return rect.columns, rect.rows, cut.tobytes(), between[rect.bottom : rect.top].tobytes()


def _promise(ends: Sequence[tuple[Pin, int]], rects: Sequence[Rect]) -> tuple[float, Rect]:
    """Order kinds: by how far modules would go, width by width, and what their windows take, both in bits by cells.

    ``ends``: where each module would be, and the bits of its wires.
    """
    sides = sides_of(rects)
    centres = sides[:, :2] + sides[:, 2:]
    # A window that is wider pushes what lies beside it as far.
    size = 2 * float(area_of(sides)[0]) ** 0.5
    far = [float(np.abs(centres - np.array([point.x2, point.y2])).sum(axis=1).min()) for point, _ in ends]
    return sum(bits * (distance + size) for (_, bits), distance in zip(ends, far, strict=True)), rects[0]


def _places(problem: PlacementProblem, slot: str, window: Rect) -> IntArray:
    """Return all places, (n, 4), of a window in a slot."""
    there = problem.slot_of[slot]
    return sides_of(anchors(problem.device, window, there.region, there.keep_outs))


def _apart(rects: IntArray) -> int:
    """Return how many rectangles, taken from the lower left on, do not overlap: no more need there be."""
    taken: list[int] = []
    order: Iterable[int] = np.lexsort((rects[:, 0], rects[:, 1])).tolist()
    for index in order:
        if not overlaps(rects[index : index + 1], rects[taken]).any():
            taken.append(index)
    return len(taken)


KINDS = 8
"""Kinds of windows that are tried for each group."""
ORDERS = 2
"""Orders in which groups are given windows, at most."""
EJECTIONS = 6
"""Ejections for each module to place all with a kind, at most."""
TRIED_ROUNDS = 60
"""Rounds of improvement of each kind that is tried."""
RUNS = 3
"""Runs of annealing, of which the shortest counts."""
LONGER = 0.02
"""Share by which wires may become longer for ports on equal sides."""

Chosen = Mapping[Group, Windows]


def place_alike(problem: PlacementProblem, limits: Limits, seed: int, free: PlacementSolution) -> PlacementSolution:
    """Return a placement with those groups alike for which one was found; ``free`` is one without the rule."""
    prepared = prepare(replace(problem, alike=()), limits, "alike")
    if not isinstance(prepared, PreparedProblem):
        return free
    search = _Alike(prepared, problem.alike, free, seed)
    way = search.with_windows()
    layout, chosen = way.layout, way.chosen
    if not chosen:
        return _told(problem, search.free_layout, free, chosen)
    best = search.annealed(layout, chosen, limits)
    return _told(problem, search.on_equal_sides(best, chosen), free, chosen)


def _told(problem: PlacementProblem, layout: Layout, free: PlacementSolution, chosen: Chosen) -> PlacementSolution:
    found = solution(problem, layout, wire_bound(free, problem.weights) or 0.0, free.stats.method)
    alike = f"{sum(map(len, chosen))} of {sum(map(len, problem.alike))} modules of groups in windows alike"
    told = f"{found.stats.method}, {alike}"
    return replace(found, stats=replace(found.stats, method=told))


@dataclass(frozen=True)
class _Given:
    """A layout, and the kind of windows that groups, or parts of groups, have in it."""

    layout: Layout
    chosen: Chosen


@dataclass(frozen=True)
class _Alike:
    """The search: the problem with its rectangles, its groups, and where all modules are without the rule."""

    prepared: PreparedProblem
    groups: Sequence[Group]
    free: PlacementSolution
    seed: int
    known: dict[Group, list[tuple[Group, Windows]]] = field(default_factory=dict)
    """Kinds of windows, by group."""

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
                rects = windows[self.problem.modules[module].slot]
                candidates[module] = CandidateRectangles.of(rects, self.own[module].raster)
        return SearchSpace(tuple(candidates), self.nets, may_overlap(self.problem))

    def with_windows(self) -> _Given:
        """Return the layout with most LUTs in windows alike of a few, and the windows.

        Groups that found no room for all go first in the next.
        """
        order = sorted(self.groups, key=self.lut_of, reverse=True)
        best = _Given(self.free_layout, {})
        for _ in range(ORDERS):
            way = self._in_order(order)
            best = min(best, way, key=self._merit)
            short = [group for group in order if group not in way.chosen]
            after = short + [group for group in order if group in way.chosen]
            if after == order or not short:
                break
            order = after
        return best

    def _merit(self, way: _Given) -> tuple[int, int]:
        return -sum(map(self.lut_of, way.chosen)), twice_hpwl(way.layout, self.nets)

    def lut_of(self, group: Group) -> int:
        """Return the LUTs of a group; a module without any counts as one."""
        return sum(max(1, self.problem.modules[self.problem.index_of[name]].demand.lut) for name in group)

    def _in_order(self, order: Sequence[Group]) -> _Given:
        """Give one group after another windows, what is left of one behind the others."""
        way, waiting = _Given(self.free_layout, {}), list(order)
        while waiting:
            group = waiting.pop(0)
            found = self._with_windows_of(group, way)
            if found is not None:
                way, taken = found, list(found.chosen)[-1]
                rest = tuple(name for name in group if name not in taken)
                waiting += [rest] if len(rest) > 1 else []
        return way

    def _with_windows_of(self, group: Group, way: _Given) -> _Given | None:
        """Return the layout with as many of a group as can be in windows of one kind, None if there is none for two."""
        parts = list(self._kinds(group))
        for count in range(len(group), 1, -1):
            found = []
            for part, windows in [pair for pair in parts if len(pair[0]) == count]:
                chosen = {**way.chosen, part: windows}
                end = self.tried(chosen, part, way.layout)
                if end.complete:
                    found.append(_Given(end, chosen))
                else:
                    parts.append((self._fewer(part, end), windows))
            if found:
                return min(found, key=self._merit)
        return None

    def _kinds(self, group: Group) -> list[tuple[Group, Windows]]:
        if group not in self.known:
            self.known[group] = windows_of(self.problem, group, self.free.regions, KINDS)
        return self.known[group]

    def _fewer(self, part: Group, end: Layout) -> Group:
        """Return a group without those for which a layout had no room, or one beside which it had none for others."""
        lacking = [self.problem.modules[index] for index in (~end.placed).nonzero()[0].tolist()]
        out = {module.name for module in lacking}.intersection(part)
        full = {module.slot for module in lacking}
        beside = max(part, key=lambda name: self.problem.modules[self.problem.index_of[name]].slot in full)
        return tuple(name for name in part if name not in (out or {beside}))

    def tried(self, chosen: Chosen, group: Group, start: Layout) -> Layout:
        """Return a layout with a group in windows of a kind, from one without on; it lacks what has no room."""
        space, rng, waiting = self.space(chosen), np.random.default_rng(self.seed), start.copy()
        waiting.placed[[self.problem.index_of[name] for name in group]] = False
        layout = repair_by_ejection(space, range(space.count), waiting, EJECTIONS * space.count, rng)
        return improve(space, layout, TRIED_ROUNDS, rng) if layout.complete else layout

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
