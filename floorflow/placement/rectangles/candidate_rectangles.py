"""Candidate rectangles of a module: for each left edge, bottom and height the narrowest one that is big enough.

Resources add up over columns, so the supply of columns ``left..right`` is a difference of two running sums. They are
computed once a slot (`SlotGrid`); a module then needs one binary search a resource, over all rows at once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.resources import RESOURCE_NAMES, Resources

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

SLACK = 1.5
"""Where no rectangle is compact enough, those within this factor of the least aspect are taken."""

LEFT, BOTTOM, RIGHT, TOP = 0, 1, 2, 3
"""Columns of an array of rectangles."""


SLOTS_KEPT = 64
"""Regions whose running sums are kept."""

COARSE_STEPS = 20
"""Slots of at most so many row steps are searched at every bottom and height."""


@dataclass(frozen=True)
class SlotGrid:
    """Legal edges of a slot and running sums of its supply.

    ``lefts`` (n_left,), ``rights`` (n_right,): legal columns in the region. ``spans`` (n_span, 2): bottom and top.
    ``before`` (n_span, n_left, 5): supply of the span left of each left edge; ``through`` (n_span, n_right, 5): up to
    and with each right edge. ``keep_outs`` (n, 4). ``complete``: whether every legal span is in
    ``spans``.
    """

    lefts: IntArray
    rights: IntArray
    spans: IntArray
    before: IntArray
    through: IntArray
    keep_outs: IntArray
    complete: bool


@lru_cache(SLOTS_KEPT)
def supply_below(device: Device, region: Rect) -> IntArray:
    """Return, (n_steps + 1, n_columns + 1, 5), what lies below each row step of a region and left of each column.

    No tile lies across a row step, so that what a rectangle of whole row steps holds is a sum of four of these.
    """
    step = device.row_step
    first, last = -(-region.bottom // step), (region.top + 1) // step
    tops, rights = np.arange(first, last) * step + step - 1, np.arange(region.left, region.right + 1)
    rects = np.empty((len(tops), len(rights), 4), dtype=np.int64)
    rects[:, :, LEFT], rects[:, :, BOTTOM] = region.left, first * step
    rects[:, :, RIGHT], rects[:, :, TOP] = rights, tops[:, None]
    supply = device.resources_of(rects.reshape(-1, 4)).reshape(len(tops), len(rights), 5)
    return np.pad(supply, ((1, 0), (1, 0), (0, 0)))


def slot_grid(device: Device, slot: Slot, *, every_span: bool = False) -> SlotGrid:
    """Return the edges and running sums of a slot; ``every_span`` leaves no bottom or height out."""
    return part_grid(device, slot, slot.region, every_span=every_span)


def part_grid(device: Device, slot: Slot, part: Rect, *, every_span: bool = False) -> SlotGrid:
    """Return the edges and running sums of a part of a slot."""
    region, step = slot.region, device.row_step
    first = -(-part.bottom // step)
    steps = (part.top + 1) // step - first
    thin = steps > COARSE_STEPS and not every_span
    spans = _spans(steps, step, thin=thin) + first * step
    lefts, rights = _between(device.left_edges, part), _between(device.right_edges, part)
    below, lowest = supply_below(device, region), -(-region.bottom // step)
    bottoms, tops = spans[:, 0] // step - lowest, (spans[:, 1] + 1) // step - lowest
    through, before = below[:, rights + 1 - region.left], below[:, lefts - region.left]
    return SlotGrid(
        lefts=lefts,
        rights=rights,
        spans=spans,
        before=before[tops] - before[bottoms],
        through=through[tops] - through[bottoms],
        keep_outs=sides_of(slot.keep_outs),
        complete=not thin or len(spans) == steps * (steps + 1) // 2,
    )


def sides_of(rects: Iterable[Rect]) -> IntArray:
    """Return, (n, 4), the sides of rectangles."""
    rows = [rect.as_tuple() for rect in rects]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def needed_supply(demand: Resources, fill: Mapping[str, float]) -> IntArray:
    """Return, (5,), the least supply of each resource for which ``demand <= floor(fill * supply + 1e-9)``."""
    needs = []
    for name, amount in zip(RESOURCE_NAMES, demand.as_tuple(), strict=True):
        share = fill.get(name, 1.0)
        supply = max(int((amount - 1e-9) / share) - 1, 0)
        while int(share * supply + 1e-9) < amount:
            supply += 1
        needs.append(supply)
    return np.array(needs, dtype=np.int64)


def supply_at(demand: Resources, fill: Mapping[str, float]) -> Resources:
    """Return the least supply of each resource for which ``demand <= floor(fill * supply + 1e-9)``."""
    return Resources(*needed_supply(demand, fill).tolist())


def narrowest(grid: SlotGrid, need: IntArray) -> IntArray:
    """Return, (n_span, n_left), the index of the least right edge that satisfies the need; n_right if there is none."""
    n_span, n_left, n_right = len(grid.spans), len(grid.lefts), len(grid.rights)
    best = np.broadcast_to(np.searchsorted(grid.rights, grid.lefts), (n_span, n_left))
    rows = np.arange(n_span)[:, None]
    for kind in np.flatnonzero(need):
        # A stride between the rows makes one sorted list of them all, so that one search serves every span.
        stride = 2 * int(grid.through[:, :, kind].max(initial=0)) + int(need[kind]) + 1
        sums = (grid.through[:, :, kind] + rows * stride).ravel()
        targets = grid.before[:, :, kind] + rows * stride + need[kind]
        best = np.maximum(best, np.searchsorted(sums, targets) - rows * n_right)
    return np.minimum(best, n_right).astype(np.int64)


def _narrowest_clear(grid: SlotGrid, need: IntArray) -> IntArray:
    """Return, (n, 4), the narrowest rectangle of each span and left edge that has one, of those clear of keep-outs."""
    index = narrowest(grid, need)
    span, left = (index < len(grid.rights)).nonzero()
    rects = np.column_stack(
        (grid.lefts[left], grid.spans[span, 0], grid.rights[index[span, left]], grid.spans[span, 1])
    )
    return rects[~overlaps(rects, grid.keep_outs).any(axis=1)] if len(grid.keep_outs) else rects


def candidate_rectangles(grid: SlotGrid, need: IntArray) -> IntArray:
    """Return, (n, 4), the narrowest rectangles clear of keep-outs, without those that contain another candidate."""
    rects = _narrowest_clear(grid, need)
    rects = _smallest_of_each(rects, (LEFT, BOTTOM, RIGHT), rects[:, TOP])
    rects = _smallest_of_each(rects, (BOTTOM, RIGHT, TOP), -rects[:, LEFT])
    return _smallest_of_each(rects, (LEFT, RIGHT, TOP), -rects[:, BOTTOM])


def smallest_rectangle(grid: SlotGrid, need: IntArray, max_aspect: float | None) -> IntArray | None:
    """Return, (4,), the smallest of the narrowest rectangles clear of keep-outs within an aspect, None if none is."""
    rects = _narrowest_clear(grid, need)
    if max_aspect is not None:
        rects = rects[aspect_of(rects) <= max_aspect]
    return rects[int(area_of(rects).argmin())] if len(rects) else None


def count_rectangles(grid: SlotGrid, need: IntArray) -> int:
    """Return how many rectangles on the grid's spans hold a need, those that meet keep-outs among them."""
    return int((len(grid.rights) - narrowest(grid, need)).sum())


def compact(rects: IntArray, max_aspect: float | None) -> IntArray:
    """Keep the rectangles of at most that aspect; where there is none, those of the least aspect that there is."""
    if max_aspect is None or not len(rects):
        return rects
    aspect = aspect_of(rects)
    least = float(aspect.min())
    return rects[aspect <= (max_aspect if least <= max_aspect else SLACK * least)]


def aspect_of(rects: IntArray) -> npt.NDArray[np.float64]:
    """Return columns to rows or rows to columns of each rectangle, whichever is larger."""
    columns = (rects[:, RIGHT] - rects[:, LEFT] + 1).astype(np.float64)
    rows = (rects[:, TOP] - rects[:, BOTTOM] + 1).astype(np.float64)
    return np.maximum(columns / rows, rows / columns)


def area_of(rects: IntArray) -> IntArray:
    """Return columns times rows of each rectangle."""
    area: IntArray = (rects[:, RIGHT] - rects[:, LEFT] + 1) * (rects[:, TOP] - rects[:, BOTTOM] + 1)
    return area


def overlaps(rects: IntArray, others: IntArray) -> BoolArray:
    """Return, (n_rects, n_others), which rectangles share a column and a row."""
    a, b = rects[:, None, :], others[None, :, :]
    hit: BoolArray = (a[..., LEFT] <= b[..., RIGHT]) & (b[..., LEFT] <= a[..., RIGHT])
    hit &= (a[..., BOTTOM] <= b[..., TOP]) & (b[..., BOTTOM] <= a[..., TOP])
    return hit


def _between(edges: IntArray, part: Rect) -> IntArray:
    return edges[(edges >= part.left) & (edges <= part.right)]


@lru_cache
def _spans(steps: int, row_step: int, *, thin: bool) -> IntArray:
    """Return, (n, 2), bottom and top of spans of whole row steps from 0 on; ``thin`` leaves out ever more tall ones."""
    spans: list[tuple[int, int]] = []
    height = 1
    while height <= steps:
        stride = max(1, height // 6) if thin else 1
        places = sorted({*range(0, steps - height + 1, stride), steps - height})
        spans.extend((place, place + height) for place in places)
        height = steps if height < steps < height + stride else height + stride
    return np.array(spans, dtype=np.int64).reshape(-1, 2) * row_step - (0, 1)


def _smallest_of_each(rects: IntArray, fixed: tuple[int, int, int], size: IntArray) -> IntArray:
    """Keep one rectangle for each value of three sides: that of the least size."""
    order = np.lexsort((size, *(rects[:, side] for side in reversed(fixed))))
    ordered = rects[order]
    sides = ordered[:, list(fixed)]
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = (sides[1:] != sides[:-1]).any(axis=1)
    return ordered[first]


Sums = npt.NDArray[np.int32]
"""(steps + 1, units + 1): how many cells below and left of a corner are taken."""


@dataclass(frozen=True, eq=False)
class Raster:
    """A slot's region in cells of one unit of columns by ``row_step`` rows, counted from its lower left corner.

    Running sums of the cells that are taken tell of each of many rectangles in four look-ups whether it is free.
    Comparing a module's thousands of candidates with every other module would cost as much as there are modules.

    No pblock edge cuts a unit, so that rectangles meet where their cells do. ``unit_of`` (device columns,) is the
    number, from 1 on, of the unit of a column; outside the region it is at most 0 or more than ``units``.
    """

    unit_of: IntArray
    units: int
    first_step: int
    steps: int
    row_step: int

    @classmethod
    def of(cls, region: Rect, device: Device) -> "Raster":
        """Return the raster of all whole row steps of a region."""
        step = device.row_step
        first, last = -(-region.bottom // step), (region.top + 1) // step
        unit_of = np.searchsorted(device.left_edges, np.arange(device.column_count), side="right")
        inside = unit_of[region.left : region.right + 1]
        units = int(inside[-1] - inside[0] + 1)
        return cls(unit_of - inside[0] + 1, units, first, last - first, step)

    def none(self) -> Sums:
        """Return the running sums where no cell is taken."""
        return np.zeros((self.steps + 1, self.units + 1), dtype=np.int32)

    def added(self, box: IntArray) -> Sums:
        """Return what the cells of a rectangle (4,), as far as they lie inside the region, add to running sums."""
        left, bottom, right, top = box.tolist()
        low_x, high_x = (_within(unit, self.units) for unit in (self.unit_of.item(left) - 1, self.unit_of.item(right)))
        steps = (bottom // self.row_step - self.first_step, (top + 1) // self.row_step - self.first_step)
        low_y, high_y = (_within(step, self.steps) for step in steps)
        ramps_y, ramps_x = self._ramps
        up = ramps_y[high_y - low_y, self.steps - low_y : 2 * self.steps + 1 - low_y]
        across = ramps_x[high_x - low_x, self.units - low_x : 2 * self.units + 1 - low_x]
        cells: Sums = up[:, None] * across
        return cells

    @cached_property
    def _ramps(self) -> tuple[Sums, Sums]:
        """Return for rows and columns how many of the first n places from the middle on lie before each place."""
        most = (self.steps, self.units)
        rows, columns = (
            np.clip(np.arange(-m, m + 1)[None, :], 0, np.arange(m + 1)[:, None]).astype(np.int32) for m in most
        )
        return rows, columns

    def corners(self, rects: IntArray) -> IntArray:
        """Return, (4, n), where to look up rectangles (n, 4) of whole row steps inside the region."""
        low_x, high_x = self.unit_of[rects[:, LEFT]] - 1, self.unit_of[rects[:, RIGHT]]
        low_y = (rects[:, BOTTOM] // self.row_step - self.first_step) * (self.units + 1)
        high_y = ((rects[:, TOP] + 1) // self.row_step - self.first_step) * (self.units + 1)
        return np.stack((high_x + high_y, low_x + high_y, high_x + low_y, low_x + low_y))

    @staticmethod
    def is_free(sums: Sums, corners: IntArray, one: int) -> bool:
        """Whether one of the rectangles with these corners holds no cell that is taken."""
        high, left_high, low_right, low = corners[:, one].tolist()
        at = sums.item
        return bool(at(high) - at(left_high) == at(low_right) - at(low))

    @staticmethod
    def meets(sums: Sums, corners: IntArray) -> BoolArray:
        """Return, (n,), whether the rectangles with these corners hold a cell that is taken."""
        high, left_high, low_right, low = sums.take(corners)
        met: BoolArray = high - left_high > low_right - low
        return met


def _within(place: int, most: int) -> int:
    return min(max(place, 0), most)
