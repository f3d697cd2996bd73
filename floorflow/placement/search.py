"""Place modules one by one, then take a few out and put them back better, many times.

A large-neighbourhood search on candidate rectangles. Everything is counted in whole numbers (twice the distances),
and the numbers of rounds are fixed, so that a seed gives one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from floorflow.placement.problem import PlacementProblem
from floorflow.placement.shapes import BOTTOM, LEFT, RIGHT, TOP, BoolArray, IntArray, area_of

AREA_UNIT = 1 << 24
"""More than any rectangle's area: wirelength counts first, area breaks ties."""

FIRST_LOOK = 400
"""Among many modules, so many of the cheapest candidates are tested for overlap before all of them are."""

NEVER = np.iinfo(np.int64).max
"""Key of a candidate that must not be taken."""


@dataclass(frozen=True)
class Shapes:
    """Candidates of one module.

    ``rects`` (n, 4), its columns as short ``sides`` (4, n) for quick comparisons, twice the centres ``x2`` and ``y2``
    (n,), ``area`` (n,).
    """

    rects: IntArray
    sides: npt.NDArray[np.int16]
    x2: IntArray
    y2: IntArray
    area: IntArray

    @classmethod
    def of(cls, rects: IntArray) -> Shapes:
        """Compute sides, centres and areas."""
        sides = np.ascontiguousarray(rects.T, dtype=np.int16)
        return cls(rects, sides, rects[:, LEFT] + rects[:, RIGHT], rects[:, BOTTOM] + rects[:, TOP], area_of(rects))


@dataclass(frozen=True)
class Field:
    """What a search needs to know, by module index.

    ``bits`` (n, n): summed wire widths between two modules, symmetric, diagonal 0. ``rivals`` (n, n): whether two
    modules can meet, which is so if their slots' regions overlap.
    """

    shapes: tuple[Shapes, ...]
    bits: IntArray
    rivals: BoolArray

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


def wire_bits(problem: PlacementProblem) -> IntArray:
    """Return, (n, n), the summed width of the wires between two modules."""
    bits = np.zeros((len(problem.modules), len(problem.modules)), dtype=np.int64)
    for wire in problem.wires:
        a, b = problem.index_of[wire.source], problem.index_of[wire.target]
        if a != b:
            bits[a, b] += wire.width_bits
            bits[b, a] += wire.width_bits
    return bits


def twice_hpwl(layout: Layout, bits: IntArray) -> int:
    """Return twice the wirelength of the modules that are placed."""
    boxes = layout.boxes
    x2, y2 = boxes[:, LEFT] + boxes[:, RIGHT], boxes[:, BOTTOM] + boxes[:, TOP]
    distance = np.abs(x2[:, None] - x2) + np.abs(y2[:, None] - y2)
    return int((bits * distance)[np.ix_(layout.placed, layout.placed)].sum()) // 2


def pull(field: Field, layout: Layout, module: int, weights: IntArray) -> IntArray:
    """Return, (n_candidates,), bits times twice the distance to the placed modules that it has wires with."""
    shapes = field.shapes[module]
    cost = np.zeros(len(shapes.area), dtype=np.int64)
    for other in np.flatnonzero((weights > 0) & layout.placed):
        left, bottom, right, top = layout.boxes[other].tolist()
        cost += weights[other] * (np.abs(shapes.x2 - (left + right)) + np.abs(shapes.y2 - (bottom + top)))
    return cost


def first_free(field: Field, layout: Layout, module: int, key: IntArray) -> IntArray | None:
    """Return the box of least key that overlaps no placed rival, or None."""
    shapes = field.shapes[module]
    rivals = layout.boxes[field.rivals[module] & layout.placed]
    if len(key) * len(rivals) > 200 * FIRST_LOOK:
        few = np.argpartition(key, FIRST_LOOK)[:FIRST_LOOK]
        few = few[~meets_any(shapes.sides[:, few], rivals)]
        if len(few):
            return box_at(shapes, few[np.argmin(key[few])])
    met = meets_any(shapes.sides, rivals)
    best = int(np.argmin(np.where(met, NEVER, key)))
    return None if met[best] else box_at(shapes, best)


def box_at(shapes: Shapes, index: int | np.int64) -> IntArray:
    """Return, (4,), one candidate."""
    box: IntArray = shapes.rects[index]
    return box


def meets_any(sides: npt.NDArray[np.int16], others: IntArray) -> BoolArray:
    """Return, (n,), whether rectangles, given as sides (4, n), overlap one of the few others (m, 4)."""
    left, bottom, right, top = sides
    hit = np.zeros(sides.shape[1], dtype=np.bool_)
    for low_x, low_y, high_x, high_y in others.tolist():
        hit |= (left <= high_x) & (right >= low_x) & (bottom <= high_y) & (top >= low_y)
    return hit


def construct(field: Field, order: Sequence[int], anchor: tuple[int, int]) -> Layout:
    """Place the modules in order, each nearest to what it talks to; without wires, nearest to the anchor.

    ``anchor`` is twice a column and twice a row. Modules that find no room stay unplaced.
    """
    layout = Layout.empty(field.count)
    for module in order:
        shapes = field.shapes[module]
        cost = pull(field, layout, module, field.bits[module])
        if not cost.any():
            cost = np.abs(shapes.x2 - anchor[0]) + np.abs(shapes.y2 - anchor[1])
        box = first_free(field, layout, module, cost * AREA_UNIT + shapes.area)
        if box is not None:
            layout.put(module, box)
    return layout


def improve(field: Field, start: Layout, rounds: int, rng: np.random.Generator) -> Layout:
    """Take one to five modules out and put them back, ``rounds`` times; return the best layout met.

    A worse layout is accepted now and then, ever more rarely (a temperature that falls from 5% of the wirelength).
    """
    current, best = start.copy(), start.copy()
    cost = lowest = twice_hpwl(start, field.bits)
    chances = rng.random(rounds)
    for step in range(rounds):
        trial = _reinsert(field, current, _pick(field, current, rng), rng)
        if trial is None:
            continue
        new = twice_hpwl(trial, field.bits)
        temperature = 0.05 * lowest * (1 - step / rounds) ** 2
        if new <= cost - temperature * np.log(max(chances[step], 1e-12)):
            current, cost = trial, new
        if new < lowest:
            best, lowest = trial, new
    return best


def _pick(field: Field, layout: Layout, rng: np.random.Generator) -> list[int]:
    """Choose a module and up to four more that are wired to it or lie near it."""
    count = min(int(rng.choice((1, 2, 3, 3, 4, 5))), field.count)
    seed = int(rng.integers(field.count))
    centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
    nearness = -np.abs(centres - centres[seed]).sum(axis=1).astype(np.float64)
    liking = field.bits[seed].astype(np.float64) if rng.random() < 0.6 else nearness
    score = liking + rng.random(field.count) * (np.abs(liking).mean() + 1)
    score[seed] = np.inf
    return [int(index) for index in np.argsort(-score, kind="stable")[:count]]


def _reinsert(field: Field, layout: Layout, modules: list[int], rng: np.random.Generator) -> Layout | None:
    """Put the modules back in random order under slightly distorted weights; None if one finds no room."""
    trial = layout.copy()
    trial.placed[modules] = False
    distort = len(modules) > 1 or rng.random() < 0.3
    for module in rng.permutation(modules).tolist():
        weights = field.bits[module]
        if distort:
            weights = (weights * (1 + 0.4 * rng.random(field.count))).astype(np.int64)
        key = pull(field, trial, module, weights) * AREA_UNIT + field.shapes[module].area
        box = first_free(field, trial, module, key)
        if box is None:
            return None
        trial.put(module, box)
    return trial
