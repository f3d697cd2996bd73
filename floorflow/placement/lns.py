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
from floorflow.placement.raster import Raster, Sums

AREA_UNIT = 1 << 24
"""More than any rectangle's area: wirelength counts first, area breaks ties."""

GROUPS = (2, 3, 4, 5, 6, 8)
"""How many modules are taken out at once, each number as often as it stands here."""

NEVER = np.iinfo(np.int64).max
"""Key of a candidate that must not be taken."""


@dataclass(frozen=True)
class CandidateRectangles:
    """Candidate rectangles of one module.

    ``rects`` (n, 4), twice the centres ``x2`` and ``y2`` (n,), ``area`` (n,), their ``corners`` on the ``raster``.
    """

    rects: IntArray
    x2: IntArray
    y2: IntArray
    area: IntArray
    raster: Raster
    corners: IntArray

    @classmethod
    def of(cls, rects: IntArray, raster: Raster) -> CandidateRectangles:
        """Compute centres, areas and corners."""
        x2, y2 = rects[:, LEFT] + rects[:, RIGHT], rects[:, BOTTOM] + rects[:, TOP]
        return cls(rects, x2, y2, area_of(rects), raster, raster.corners(rects))


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
    def pin_attraction(self) -> tuple[IntArray, ...]:
        """Return for each module, (n_candidates,), bits times twice the distance to the pins that it has wires with."""
        costs = []
        for candidates, bits in zip(self.candidates, self.nets.pin_bits, strict=True):
            cost = np.zeros(len(candidates.area), dtype=np.int64)
            for (x2, y2), width in zip(self.nets.pins, bits, strict=True):
                cost += width * (np.abs(candidates.x2 - x2) + np.abs(candidates.y2 - y2))
            costs.append(cost)
        return tuple(costs)

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
    """A layout that only grows, with the running sums of what it takes of each slot, kept only where asked for.

    ``sums`` holds for a slot the sums over all modules but the ``waiting`` boxes.
    """

    space: SearchSpace
    layout: Layout
    sums: dict[Raster, Sums] = field(default_factory=dict)
    waiting: dict[Raster, list[IntArray]] = field(default_factory=dict)

    def put(self, module: int, box: IntArray) -> None:
        """Place a module."""
        self.layout.put(module, box)
        for boxes in self.waiting.values():
            boxes.append(box)

    def meets(self, module: int) -> BoolArray:
        """Return, (n_candidates,), whether a waiting module's candidates overlap one of those placed."""
        candidates = self.space.candidates[module]
        raster = candidates.raster
        if raster not in self.sums:
            self.sums[raster] = raster.sums(self.layout.boxes[self.space.may_overlap[module] & self.layout.placed])
        for box in self.waiting.get(raster, ()):
            raster.add(self.sums[raster], box)
        self.waiting[raster] = []
        return raster.meets(self.sums[raster], candidates.corners)


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


def attraction(space: SearchSpace, layout: Layout, module: int, weights: IntArray) -> IntArray:
    """Return, (n_candidates,), bits times twice the distance to pins and placed modules that it has wires with.

    ``weights`` (n,) stand for the bits to other modules.
    """
    candidates = space.candidates[module]
    cost = space.pin_attraction[module].copy()
    for other in np.flatnonzero((weights > 0) & layout.placed):
        left, bottom, right, top = layout.boxes[other].tolist()
        cost += weights[other] * (np.abs(candidates.x2 - (left + right)) + np.abs(candidates.y2 - (bottom + top)))
    return cost


def first_free(occupied: Occupied, module: int, key: IntArray) -> IntArray | None:
    """Return the box of least key that overlaps no placed module, or None."""
    met = occupied.meets(module)
    best = int(np.argmin(np.where(met, NEVER, key)))
    return None if met[best] else box_at(occupied.space.candidates[module], best)


def box_at(candidates: CandidateRectangles, index: int | np.int64) -> IntArray:
    """Return, (4,), one candidate."""
    box: IntArray = candidates.rects[index]
    return box


def construct_greedily(space: SearchSpace, order: Sequence[int], anchor: tuple[int, int]) -> Layout:
    """Place the modules in order, each nearest to what it talks to; without wires, nearest to the anchor.

    ``anchor`` is twice a column and twice a row. Modules that fit nowhere stay unplaced.
    """
    layout = Layout.empty(space.count)
    occupied = Occupied(space, layout)
    for module in order:
        candidates = space.candidates[module]
        cost = attraction(space, layout, module, space.bits[module])
        if not cost.any():
            cost = np.abs(candidates.x2 - anchor[0]) + np.abs(candidates.y2 - anchor[1])
        box = first_free(occupied, module, cost * AREA_UNIT + candidates.area)
        if box is not None:
            occupied.put(module, box)
    return layout


def improve(space: SearchSpace, start: Layout, rounds: int, rng: np.random.Generator) -> Layout:
    """Take two to eight modules out and put them back, ``rounds`` times; return the best layout met.

    A worse layout is accepted now and then, ever more rarely (a temperature that falls from 2% of the wirelength).
    """
    current, best = start.copy(), start.copy()
    cost = lowest = twice_hpwl(start, space.nets)
    chances = rng.random(rounds)
    for step in range(rounds):
        trial = _reinsert(space, current, _neighbourhood(space, current, rng), rng)
        if trial is None:
            continue
        new = twice_hpwl(trial, space.nets)
        temperature = 0.02 * lowest * (1 - step / rounds) ** 2
        if new <= cost - temperature * np.log(max(chances[step], 1e-12)):
            current, cost = trial, new
        if new < lowest:
            best, lowest = trial, new
    return best


def _neighbourhood(space: SearchSpace, layout: Layout, rng: np.random.Generator) -> list[int]:
    """Choose a module and one to seven more that are wired to it or lie near it."""
    count = min(GROUPS[int(rng.integers(len(GROUPS)))], space.count)
    seed = int(rng.integers(space.count))
    centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
    nearness = -np.abs(centres - centres[seed]).sum(axis=1).astype(np.float64)
    affinity = space.bits[seed].astype(np.float64) if rng.random() < 0.6 else nearness
    score = affinity + rng.random(space.count) * (np.abs(affinity).mean() + 1)
    score[seed] = np.inf
    return [int(index) for index in np.argsort(-score, kind="stable")[:count]]


def _reinsert(space: SearchSpace, layout: Layout, modules: list[int], rng: np.random.Generator) -> Layout | None:
    """Put the modules back in random order under slightly distorted weights; None if one fits nowhere."""
    trial = layout.copy()
    trial.placed[modules] = False
    occupied = Occupied(space, trial)
    distort = len(modules) > 1 or rng.random() < 0.3
    for module in rng.permutation(modules).tolist():
        weights = space.bits[module]
        if distort:
            weights = (weights * (1 + 0.4 * rng.random(space.count))).astype(np.int64)
        key = attraction(space, trial, module, weights) * AREA_UNIT + space.candidates[module].area
        box = first_free(occupied, module, key)
        if box is None:
            return None
        occupied.put(module, box)
    return trial
