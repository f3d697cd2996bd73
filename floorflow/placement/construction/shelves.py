"""Find any legal layout when space is tight: shelves, and repair by ejecting modules that are in the way.

Shelves cut a slot into a few bands of equal height and fill them as a snake, each module as narrow as it can be in
its band. This wastes little and keeps a chain of modules in order. What still fits nowhere takes the place
where it disturbs least; the modules that it ejects look for a new place, at a price that rises each time.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from floorflow.placement.layout import AREA_UNIT, Layout, Occupied, SearchSpace, box_at, first_free, keys_of
from floorflow.placement.rectangles.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, IntArray, overlaps

MAX_SHELVES = 8


def shelves(space: SearchSpace, order: Sequence[int], bands: Sequence[tuple[int, int]], start: Layout) -> Layout:
    """Fill bands (bottom and top row), each from the side where the one before ended; some may stay unplaced.

    ``start`` has what lies elsewhere.
    """
    occupied = Occupied.by(space, start.copy())
    for module in order:
        rects, free = space.candidates[module].rects, ~occupied.meets(module)
        for number, (bottom, top) in enumerate(bands):
            inside = np.flatnonzero(free & (rects[:, BOTTOM] >= bottom) & (rects[:, TOP] <= top))
            if not len(inside):
                continue
            side = rects[inside, RIGHT] if number % 2 == 0 else -rects[inside, LEFT]
            width = rects[inside, RIGHT] - rects[inside, LEFT]
            key = side * AREA_UNIT + width * 1024 + rects[inside, TOP] - rects[inside, BOTTOM]
            occupied.put(module, rects[inside[np.argmin(key)]])
            break
    return occupied.layout


def bands_of(low: int, high: int, row_step: int, count: int) -> list[tuple[int, int]]:
    """Cut rows ``low..high`` into ``count`` bands of whole row steps, the heights as equal as possible."""
    first, last = -(-low // row_step), (high + 1) // row_step
    cuts = [first + (last - first) * index // count for index in range(count + 1)]
    return [(a * row_step, b * row_step - 1) for a, b in itertools.pairwise(cuts) if b > a]


def repair_by_ejection(
    space: SearchSpace, modules: Sequence[int], start: Layout, rounds: int, rng: np.random.Generator
) -> Layout:
    """Place what is unplaced of some modules, ejecting others where that costs least; return the layout with most.

    None of them may meet any but themselves.
    """
    occupied, best = Occupied.by(space, start.copy()), start.copy()
    layout = occupied.layout
    price = np.ones(space.count)
    for _ in range(rounds):
        waiting = np.array(modules)[~layout.placed[list(modules)]]
        if not len(waiting):
            return layout
        module = int(rng.choice(waiting))
        chosen = first_free(occupied, module, keys_of(space, layout, module, space.bits[module]))
        if chosen is None:
            chosen = _least_disturbing(space, layout, module, price, rng)
            for other in _met_by(space, layout, module, box_at(space.candidates[module], chosen)).tolist():
                occupied.take_out(other)
            price[module] += 1
        occupied.put(module, box_at(space.candidates[module], chosen))
        if layout.placed.sum() > best.placed.sum():
            best = layout.copy()
    return best


def _least_disturbing(
    space: SearchSpace, layout: Layout, module: int, price: npt.NDArray[np.float64], rng: np.random.Generator
) -> int:
    """Return the candidate whose overlapped modules are cheapest; each costs its price times its least area."""
    candidates = space.candidates[module]
    cost = candidates.area * 0.5
    others = (space.may_overlap[module] & layout.placed).nonzero()[0]
    prices = price[others] * [space.candidates[other].least_area for other in others.tolist()]
    cost += overlaps(candidates.rects, layout.boxes[others]) @ prices
    return int(np.argmin(cost * (1 + 0.2 * rng.random(len(cost)))))


def _met_by(space: SearchSpace, layout: Layout, module: int, box: IntArray) -> IntArray:
    may_overlap = np.flatnonzero(space.may_overlap[module] & layout.placed)
    met: IntArray = may_overlap[overlaps(box[None, :], layout.boxes[may_overlap])[0]]
    return met
