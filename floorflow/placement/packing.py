"""Find any legal layout when space is tight: shelves, and making room by turning others out.

Shelves cut a slot into a few bands of equal height and fill them as a snake, each module as narrow as it can be in
its band. This wastes little and keeps a chain of modules in order. What still finds no room takes the place
where it disturbs least; the modules that it turns out look for a new place, at a price that rises each time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from floorflow.placement.search import AREA_UNIT, Field, Layout, first_free, pull
from floorflow.placement.shapes import BOTTOM, LEFT, RIGHT, TOP, BoolArray, IntArray

MAX_SHELVES = 6


def shelves(field: Field, order: Sequence[int], bands: Sequence[tuple[int, int]]) -> Layout:
    """Fill bands (bottom and top row), each from the side where the one before ended; some may stay unplaced."""
    layout = Layout.empty(field.count)
    for module in order:
        rects = field.shapes[module].rects
        for number, (bottom, top) in enumerate(bands):
            inside = np.flatnonzero((rects[:, BOTTOM] >= bottom) & (rects[:, TOP] <= top))
            side = rects[inside, RIGHT] if number % 2 == 0 else -rects[inside, LEFT]
            width = rects[inside, RIGHT] - rects[inside, LEFT]
            key = side * AREA_UNIT + width * 1024 + rects[inside, TOP] - rects[inside, BOTTOM]
            box = _free_among(field, layout, module, inside, key)
            if box is not None:
                layout.put(module, box)
                break
    return layout


def bands_of(low: int, high: int, row_step: int, count: int) -> list[tuple[int, int]]:
    """Cut rows ``low..high`` into ``count`` bands of whole row steps, the heights as equal as possible."""
    first, last = -(-low // row_step), (high + 1) // row_step
    cuts = [first + (last - first) * index // count for index in range(count + 1)]
    return [(a * row_step, b * row_step - 1) for a, b in itertools.pairwise(cuts) if b > a]


def make_room(field: Field, start: Layout, rounds: int, rng: np.random.Generator) -> Layout:
    """Place what is unplaced, turning others out where that costs least; the layout with most placed is returned."""
    layout, best = start.copy(), start.copy()
    price = np.ones(field.count)
    for _ in range(rounds):
        if layout.complete:
            return layout
        waiting = np.flatnonzero(~layout.placed)
        module = int(rng.choice(waiting))
        key = pull(field, layout, module, field.bits[module]) * AREA_UNIT + field.shapes[module].area
        box = first_free(field, layout, module, key)
        if box is None:
            box = _least_disturbing(field, layout, module, price, rng)
            met = _met_by(field, layout, module, box)
            layout.placed[met] = False
            price[module] += 1
        layout.put(module, box)
        if layout.placed.sum() > best.placed.sum():
            best = layout.copy()
    return best


def _free_among(
    field: Field, layout: Layout, module: int, subset: IntArray, key: IntArray
) -> IntArray | None:
    rects = field.shapes[module].rects[subset]
    rivals = layout.boxes[field.rivals[module] & layout.placed]
    free = np.flatnonzero(~_hits(rects, rivals).any(axis=1)) if len(rects) else subset
    return rects[free[np.argmin(key[free])]] if len(free) else None


def _hits(rects: IntArray, boxes: IntArray) -> BoolArray:
    """Return, (n_rects, n_boxes), which overlap; sides are compared one at a time to keep memory small."""
    hit: BoolArray = rects[:, LEFT, None] <= boxes[:, RIGHT]
    hit &= rects[:, RIGHT, None] >= boxes[:, LEFT]
    hit &= rects[:, BOTTOM, None] <= boxes[:, TOP]
    hit &= rects[:, TOP, None] >= boxes[:, BOTTOM]
    return hit


def _least_disturbing(
    field: Field,
    layout: Layout,
    module: int,
    price: np.ndarray[tuple[int], np.dtype[np.float64]],
    rng: np.random.Generator,
) -> IntArray:
    """Return the candidate whose overlapped modules are cheapest; each costs its price times its least area."""
    shapes = field.shapes[module]
    rivals = np.flatnonzero(field.rivals[module] & layout.placed)
    worth = np.array([price[rival] * int(field.shapes[rival].area.min()) for rival in rivals])
    cost = _hits(shapes.rects, layout.boxes[rivals]) @ worth + shapes.area * 0.5
    return shapes.rects[int(np.argmin(cost * (1 + 0.2 * rng.random(len(cost)))))]


def _met_by(field: Field, layout: Layout, module: int, box: IntArray) -> IntArray:
    rivals = np.flatnonzero(field.rivals[module] & layout.placed)
    return rivals[_hits(box[None, :], layout.boxes[rivals])[0]]
