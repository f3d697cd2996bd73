"""Place modules one by one, then take a few out and put them back better, many times.

A large-neighbourhood search on candidate rectangles. Everything is counted in whole numbers (twice the distances),
and the numbers of rounds are fixed, so that a seed gives one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property

import numpy as np

from floorflow.placement.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, BoolArray, IntArray, area_of
from floorflow.placement.net_arrays import Wiring
from floorflow.placement.raster import Raster, Sums

AREA_UNIT = 1 << 24
"""More than any rectangle's area: wirelength counts first, area breaks ties."""

GROUPS = (2, 3, 4, 5, 6, 8)
"""How many modules are taken out at once, each number as often as it stands here."""

NEVER = np.iinfo(np.int64).max
"""Key of a candidate that must not be taken."""


@dataclass(frozen=True)
class Shapes:
    """Candidates of one module.

    ``rects`` (n, 4), twice the centres ``x2`` and ``y2`` (n,), ``area`` (n,), their ``corners`` on the ``raster``.
    """

    rects: IntArray
    x2: IntArray
    y2: IntArray
    area: IntArray
    raster: Raster
    corners: IntArray

    @classmethod
    def of(cls, rects: IntArray, raster: Raster) -> Shapes:
        """Compute centres, areas and corners."""
        x2, y2 = rects[:, LEFT] + rects[:, RIGHT], rects[:, BOTTOM] + rects[:, TOP]
        return cls(rects, x2, y2, area_of(rects), raster, raster.corners(rects))


@dataclass(frozen=True)
class SearchSpace:
    """What a search needs to know, by module index.

    ``rivals`` (n, n): whether two modules can meet, which is so if their slots' regions overlap.
    """

    shapes: tuple[Shapes, ...]
    wiring: Wiring
    rivals: BoolArray

    @property
    def bits(self) -> IntArray:
        """Return, (n, n), the summed wire widths between two modules."""
        return self.wiring.bits

    @cached_property
    def pin_pull(self) -> tuple[IntArray, ...]:
        """Return for each module, (n_candidates,), bits times twice the distance to the pins that it has wires with."""
        found = []
        for shapes, bits in zip(self.shapes, self.wiring.pin_bits, strict=True):
            cost = np.zeros(len(shapes.area), dtype=np.int64)
            for (x2, y2), width in zip(self.wiring.pins, bits, strict=True):
                cost += width * (np.abs(shapes.x2 - x2) + np.abs(shapes.y2 - y2))
            found.append(cost)
        return tuple(found)

    @property
    def count(self) -> int:
        """Number of modules."""
        return len(self.shapes)


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
    """A layout that only grows, with the running sums of what it takes of each slot, kept only where asked for.

    ``sums`` holds for a slot the sums over all modules but the ``waiting`` boxes.
    """

    field: SearchSpace
    layout: Layout
    sums: dict[Raster, Sums] = dataclass_field(default_factory=dict)
    waiting: dict[Raster, list[IntArray]] = dataclass_field(default_factory=dict)

    def put(self, module: int, box: IntArray) -> None:
        """Place a module."""
        self.layout.put(module, box)
        for boxes in self.waiting.values():
            boxes.append(box)

    def meets(self, module: int) -> BoolArray:
        """Return, (n_candidates,), whether a waiting module's candidates overlap one of those placed."""
        shapes = self.field.shapes[module]
        raster = shapes.raster
        if raster not in self.sums:
            self.sums[raster] = raster.sums(self.layout.boxes[self.field.rivals[module] & self.layout.placed])
        for box in self.waiting.get(raster, ()):
            raster.add(self.sums[raster], box)
        self.waiting[raster] = []
        return raster.meets(self.sums[raster], shapes.corners)


def twice_hpwl(layout: Layout, wiring: Wiring) -> int:
    """Return twice the wirelength of the modules that are placed."""
    centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
    first, second = wiring.pairs
    between = np.abs(centres[first] - centres[second]).sum(axis=1) * wiring.pair_bits
    length = int(between[layout.placed[first] & layout.placed[second]].sum())
    if not len(wiring.pins):
        return length
    to_pins = np.abs(centres[:, None] - wiring.pins).sum(axis=2) * wiring.pin_bits
    return length + int(to_pins[layout.placed].sum())


def attraction(field: SearchSpace, layout: Layout, module: int, weights: IntArray) -> IntArray:
    """Return, (n_candidates,), bits times twice the distance to pins and placed modules that it has wires with.

    ``weights`` (n,) stand for the bits to other modules.
    """
    shapes = field.shapes[module]
    cost = field.pin_pull[module].copy()
    for other in np.flatnonzero((weights > 0) & layout.placed):
        left, bottom, right, top = layout.boxes[other].tolist()
        cost += weights[other] * (np.abs(shapes.x2 - (left + right)) + np.abs(shapes.y2 - (bottom + top)))
    return cost


def first_free(occupied: Occupied, module: int, key: IntArray) -> IntArray | None:
    """Return the box of least key that overlaps no placed rival, or None."""
    met = occupied.meets(module)
    best = int(np.argmin(np.where(met, NEVER, key)))
    return None if met[best] else box_at(occupied.field.shapes[module], best)


def box_at(shapes: Shapes, index: int | np.int64) -> IntArray:
    """Return, (4,), one candidate."""
    box: IntArray = shapes.rects[index]
    return box


def construct(field: SearchSpace, order: Sequence[int], anchor: tuple[int, int]) -> Layout:
    """Place the modules in order, each nearest to what it talks to; without wires, nearest to the anchor.

    ``anchor`` is twice a column and twice a row. Modules that find no room stay unplaced.
    """
    layout = Layout.empty(field.count)
    occupied = Occupied(field, layout)
    for module in order:
        shapes = field.shapes[module]
        cost = attraction(field, layout, module, field.bits[module])
        if not cost.any():
            cost = np.abs(shapes.x2 - anchor[0]) + np.abs(shapes.y2 - anchor[1])
        box = first_free(occupied, module, cost * AREA_UNIT + shapes.area)
        if box is not None:
            occupied.put(module, box)
    return layout


def improve(field: SearchSpace, start: Layout, rounds: int, rng: np.random.Generator) -> Layout:
    """Take two to eight modules out and put them back, ``rounds`` times; return the best layout met.

    A worse layout is accepted now and then, ever more rarely (a temperature that falls from 2% of the wirelength).
    """
    current, best = start.copy(), start.copy()
    cost = lowest = twice_hpwl(start, field.wiring)
    chances = rng.random(rounds)
    for step in range(rounds):
        trial = _reinsert(field, current, _pick(field, current, rng), rng)
        if trial is None:
            continue
        new = twice_hpwl(trial, field.wiring)
        temperature = 0.02 * lowest * (1 - step / rounds) ** 2
        if new <= cost - temperature * np.log(max(chances[step], 1e-12)):
            current, cost = trial, new
        if new < lowest:
            best, lowest = trial, new
    return best


def _pick(field: SearchSpace, layout: Layout, rng: np.random.Generator) -> list[int]:
    """Choose a module and one to seven more that are wired to it or lie near it."""
    count = min(GROUPS[int(rng.integers(len(GROUPS)))], field.count)
    seed = int(rng.integers(field.count))
    centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
    nearness = -np.abs(centres - centres[seed]).sum(axis=1).astype(np.float64)
    liking = field.bits[seed].astype(np.float64) if rng.random() < 0.6 else nearness
    score = liking + rng.random(field.count) * (np.abs(liking).mean() + 1)
    score[seed] = np.inf
    return [int(index) for index in np.argsort(-score, kind="stable")[:count]]


def _reinsert(field: SearchSpace, layout: Layout, modules: list[int], rng: np.random.Generator) -> Layout | None:
    """Put the modules back in random order under slightly distorted weights; None if one finds no room."""
    trial = layout.copy()
    trial.placed[modules] = False
    occupied = Occupied(field, trial)
    distort = len(modules) > 1 or rng.random() < 0.3
    for module in rng.permutation(modules).tolist():
        weights = field.bits[module]
        if distort:
            weights = (weights * (1 + 0.4 * rng.random(field.count))).astype(np.int64)
        key = attraction(field, trial, module, weights) * AREA_UNIT + field.shapes[module].area
        box = first_free(occupied, module, key)
        if box is None:
            return None
        occupied.put(module, box)
    return trial
