"""Place modules one by one, then take a few out and put them back better, many times.

A large-neighbourhood search on candidate rectangles. Everything is counted in whole numbers (twice the distances),
and the numbers of rounds are fixed, so that a seed gives one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from floorflow.placement.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, BoolArray, IntArray, area_of
from floorflow.placement.net_arrays import NetArrays
from floorflow.placement.raster import Cells, Raster

AREA_UNIT = 1 << 24
"""More than any rectangle's area: wirelength counts first, area breaks ties."""

GROUPS = (2, 3, 4, 5, 6, 8)
"""How many modules are taken out at once, each number as often as it stands here."""

NEVER = np.iinfo(np.int64).max
"""Key of a candidate that must not be taken."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where the centres of candidates lie in one direction: ``twice`` (m,) the places, ``index`` (n,) that of each.

    Wirelength is a sum over both directions, so it is counted for the few places and looked up for the candidates.
    """

    twice: IntArray
    index: IntArray

    @classmethod
    def of(cls, twice: IntArray) -> Places:
        """Find the places among twice the centres (n,)."""
        return cls(*np.unique(twice, return_inverse=True))

    def distances(self, weights: IntArray, twice: IntArray) -> IntArray:
        """Return, (m,), the sum of weights (k,) times twice the distance to points (k,)."""
        summed: IntArray = weights @ np.abs(self.twice - twice[:, None])
        return summed


@dataclass(frozen=True, eq=False)
class CandidateRectangles:
    """Candidate rectangles of one module.

    ``rects`` (n, 4), the places ``x`` and ``y`` of their centres, ``area`` (n,), their ``corners`` on the ``raster``.
    """

    rects: IntArray
    x: Places
    y: Places
    area: IntArray
    raster: Raster
    corners: IntArray

    @classmethod
    def of(cls, rects: IntArray, raster: Raster) -> CandidateRectangles:
        """Compute centres, areas and corners."""
        x, y = Places.of(rects[:, LEFT] + rects[:, RIGHT]), Places.of(rects[:, BOTTOM] + rects[:, TOP])
        return cls(rects, x, y, area_of(rects), raster, raster.corners(rects))

    @cached_property
    def least_area(self) -> int:
        """Area of the smallest."""
        return int(self.area.min())

    def key(self, cost_x: IntArray, cost_y: IntArray) -> IntArray:
        """Return, (n,), the order of candidates: by the costs of their places, then by area."""
        key: IntArray = (cost_x * AREA_UNIT).take(self.x.index)
        key += (cost_y * AREA_UNIT).take(self.y.index)
        key += self.area
        return key

    def index_of(self, box: IntArray) -> int:
        """Return which candidate a box is, -1 if none."""
        found = np.flatnonzero((self.rects == box).all(axis=1))
        return int(found[0]) if len(found) else -1


@dataclass(frozen=True)
class SearchSpace:
    """What is searched, by module index: candidate rectangles and nets.

    ``may_overlap`` (n, n): whether two modules can meet, which is so if their slots' regions overlap.
    """

    candidates: tuple[CandidateRectangles, ...]
    nets: NetArrays
    may_overlap: BoolArray

    @property
    def bits(self) -> IntArray:
        """Return, (n, n), the summed wire widths between two modules."""
        return self.nets.bits

    @cached_property
    def pin_costs(self) -> tuple[tuple[IntArray, IntArray], ...]:
        """Return for each module, by places of its candidates, bits times twice the distance to pins it is wired to."""
        pins = self.nets.pins
        return tuple(
            (candidates.x.distances(bits, pins[:, 0]), candidates.y.distances(bits, pins[:, 1]))
            for candidates, bits in zip(self.candidates, self.nets.pin_bits, strict=True)
        )

    @cached_property
    def wired(self) -> tuple[IntArray, ...]:
        """Return for each module the others that it has wires with."""
        return tuple(np.flatnonzero(bits) for bits in self.bits)

    @cached_property
    def rasters(self) -> tuple[Raster, ...]:
        """Return the rasters of the modules' slots, each once."""
        return tuple(dict.fromkeys(candidates.raster for candidates in self.candidates))

    @cached_property
    def rasters_met(self) -> tuple[tuple[Raster, ...], ...]:
        """Return for each module the rasters that its rectangle can take cells of."""
        return tuple(
            tuple(dict.fromkeys(self.candidates[other].raster for other in [module, *np.flatnonzero(row).tolist()]))
            for module, row in enumerate(self.may_overlap)
        )

    @property
    def count(self) -> int:
        """Number of modules."""
        return len(self.candidates)


@dataclass
class Layout:
    """Rectangles chosen so far: ``boxes`` (n, 4), valid where ``placed`` (n,). The search changes it in place."""

    boxes: IntArray
    placed: BoolArray

    @classmethod
    def empty(cls, count: int) -> Layout:
        """Return a layout of ``count`` modules with none placed."""
        return cls(np.zeros((count, 4), dtype=np.int64), np.zeros(count, dtype=np.bool_))

    def copy(self) -> Layout:
        """Return an independent copy."""
        return Layout(self.boxes.copy(), self.placed.copy())

    @property
    def complete(self) -> bool:
        """Whether every module has a rectangle."""
        return bool(self.placed.all())

    def put(self, module: int, box: IntArray) -> None:
        """Place a module."""
        self.boxes[module] = box
        self.placed[module] = True


@dataclass
class Occupied:
    """A layout with the cells that it takes of each slot, and their running sums, kept until the cells change."""

    space: SearchSpace
    layout: Layout
    cells: dict[Raster, Cells] = field(init=False)
    sums: dict[Raster, Cells] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Take the cells of what is placed."""
        self.cells = {raster: raster.empty() for raster in self.space.rasters}
        for module in np.flatnonzero(self.layout.placed).tolist():
            self._paint(module, 1)

    def put(self, module: int, box: IntArray) -> None:
        """Place a module where nothing is."""
        self.layout.put(module, box)
        self._paint(module, 1)

    def take_out(self, module: int) -> None:
        """Take out a module, if it is placed."""
        if self.layout.placed[module]:
            self.layout.placed[module] = False
            self._paint(module, 0)

    def _paint(self, module: int, value: int) -> None:
        for raster in self.space.rasters_met[module]:
            raster.paint(self.cells[raster], self.layout.boxes[module], value)
            self.sums.pop(raster, None)

    def meets(self, module: int, some: IntArray | None = None) -> BoolArray:
        """Return, (n,), whether some of a waiting module's candidates, or all, overlap one of those placed."""
        candidates = self.space.candidates[module]
        raster = candidates.raster
        if raster not in self.sums:
            self.sums[raster] = raster.sums(self.cells[raster])
        corners = candidates.corners if some is None else candidates.corners.take(some, axis=1)
        return raster.meets(self.sums[raster], corners)


def twice_hpwl(layout: Layout, nets: NetArrays) -> int:
    """Return twice the wirelength of the modules that are placed."""
    centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
    first, second = nets.pairs
    between = np.abs(centres[first] - centres[second]).sum(axis=1) * nets.pair_bits
    length = int(between[layout.placed[first] & layout.placed[second]].sum())
    if not len(nets.pins):
        return length
    to_pins = np.abs(centres[:, None] - nets.pins).sum(axis=2) * nets.pin_bits
    return length + int(to_pins[layout.placed].sum())


def key_of(space: SearchSpace, layout: Layout, module: int, weights: IntArray) -> IntArray:
    """Return, (n_candidates,), the order of a module's candidates: by wirelength, then by area.

    Wirelength is bits times twice the distance to the pins and placed modules that it has wires with; ``weights`` (n,)
    stand for the bits to other modules.
    """
    candidates, (cost_x, cost_y) = space.candidates[module], space.pin_costs[module]
    others = space.wired[module]
    others = others[layout.placed[others]]
    if len(others):
        boxes, bits = layout.boxes[others], weights[others]
        cost_x = cost_x + candidates.x.distances(bits, boxes[:, LEFT] + boxes[:, RIGHT])
        cost_y = cost_y + candidates.y.distances(bits, boxes[:, BOTTOM] + boxes[:, TOP])
    return candidates.key(cost_x, cost_y)


def first_free(occupied: Occupied, module: int, key: IntArray, held: int = -1) -> int | None:
    """Return the candidate of least key that overlaps no placed module, or None.

    ``held`` is one that is likely to be free, if any: only what is as good is looked at then.
    """
    if held >= 0 and not occupied.meets(module, np.array([held]))[0]:
        near = np.flatnonzero(key <= key[held])
        return int(near[np.argmin(np.where(occupied.meets(module, near), NEVER, key[near]))])
    met = occupied.meets(module)
    best = int(np.argmin(np.where(met, NEVER, key)))
    return None if met[best] else best


def box_at(candidates: CandidateRectangles, index: int | np.int64) -> IntArray:
    """Return, (4,), one candidate."""
    box: IntArray = candidates.rects[index]
    return box


def construct_greedily(space: SearchSpace, order: Sequence[int], anchor: tuple[int, int]) -> Layout:
    """Place the modules in order, each nearest to what it talks to; without wires, nearest to the anchor.

    ``anchor`` is twice a column and twice a row. Modules that fit nowhere stay unplaced.
    """
    occupied = Occupied(space, Layout.empty(space.count))
    for module in order:
        candidates, layout = space.candidates[module], occupied.layout
        if layout.placed[space.wired[module]].any() or space.nets.pin_bits[module].any():
            key = key_of(space, layout, module, space.bits[module])
        else:
            key = candidates.key(np.abs(candidates.x.twice - anchor[0]), np.abs(candidates.y.twice - anchor[1]))
        best = first_free(occupied, module, key)
        if best is not None:
            occupied.put(module, box_at(candidates, best))
    return occupied.layout


def improve(space: SearchSpace, start: Layout, rounds: int, rng: np.random.Generator) -> Layout:
    """Take two to eight modules out and put them back, ``rounds`` times; return the best layout met.

    A worse layout is accepted now and then, ever more rarely (a temperature that falls from 2% of the wirelength).
    """
    best = start.copy()
    search = _Improvement(Occupied(space, start.copy()), rng)
    cost = lowest = twice_hpwl(start, space.nets)
    chances = rng.random(rounds)
    for step in range(rounds):
        modules = search.neighbourhood()
        before, held = search.layout.boxes[modules], search.held[modules]
        if not search.reinsert(modules):
            search.put_back(modules, before, held)
            continue
        new = twice_hpwl(search.layout, space.nets)
        temperature = 0.02 * lowest * (1 - step / rounds) ** 2
        if new <= cost - temperature * np.log(max(chances[step], 1e-12)):
            cost = new
            if new < lowest:
                best, lowest = search.layout.copy(), new
        else:
            search.put_back(modules, before, held)
    return best


@dataclass
class _Improvement:
    """A layout that is changed in place; ``held`` (n,) is which candidate each module has, -1 if it is none of them."""

    occupied: Occupied
    rng: np.random.Generator
    held: IntArray = field(init=False)

    def __post_init__(self) -> None:
        """Find the candidates that the layout has."""
        pairs = zip(self.space.candidates, self.layout.boxes, strict=True)
        self.held = np.array([candidates.index_of(box) for candidates, box in pairs], dtype=np.int64)

    @property
    def space(self) -> SearchSpace:
        """What is searched."""
        return self.occupied.space

    @property
    def layout(self) -> Layout:
        """The layout as it is now."""
        return self.occupied.layout

    def neighbourhood(self) -> list[int]:
        """Choose a module and one to seven more that are wired to it or lie near it."""
        rng, count = self.rng, self.space.count
        size = min(GROUPS[int(rng.integers(len(GROUPS)))], count)
        seed = int(rng.integers(count))
        centres = self.layout.boxes[:, :2] + self.layout.boxes[:, 2:]
        nearness = -np.abs(centres - centres[seed]).sum(axis=1).astype(np.float64)
        affinity = self.space.bits[seed].astype(np.float64) if rng.random() < 0.6 else nearness
        score = affinity + rng.random(count) * (np.abs(affinity).mean() + 1)
        score[seed] = np.inf
        chosen: list[int] = np.argsort(-score, kind="stable")[:size].tolist()
        return chosen

    def reinsert(self, modules: list[int]) -> bool:
        """Put modules anew in random order under slightly distorted weights; return whether all found a place."""
        for module in modules:
            self.occupied.take_out(module)
        distort = len(modules) > 1 or self.rng.random() < 0.3
        for module in self.rng.permutation(modules).tolist():
            weights = self.space.bits[module]
            if distort:
                weights = (weights * (1 + 0.4 * self.rng.random(self.space.count))).astype(np.int64)
            key = key_of(self.space, self.layout, module, weights)
            best = first_free(self.occupied, module, key, int(self.held[module]))
            if best is None:
                return False
            self.occupied.put(module, box_at(self.space.candidates[module], best))
            self.held[module] = best
        return True

    def put_back(self, modules: list[int], boxes: IntArray, held: IntArray) -> None:
        """Place modules where they were."""
        for module in modules:
            self.occupied.take_out(module)
        for module, box in zip(modules, boxes, strict=True):
            self.occupied.put(module, box)
        self.held[modules] = held
