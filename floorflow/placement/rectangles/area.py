"""Cells of the smallest legal rectangle of a module: what area it takes of a slot at the least.

Cells are physical columns times CLB rows. Of a slot whose rows repeat, as those of clock regions do, most spans of a
height hold the same: one of each kind is looked at, and only if so many neighbouring columns of it can hold the need
at all in less than the best rectangle so far.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.placement.rectangles.candidate_rectangles import (
    SLOTS_KEPT,
    IntArray,
    SlotGrid,
    narrowest,
    needed_supply,
    slot_grid,
)
from floorflow.resources import Resources

NEEDS_KEPT = 1 << 14
"""Answers that are kept: a search asks for the same modules again and again."""
NEVER = np.iinfo(np.int64).max


def least_cells(device: Device, slot: Slot, demand: Resources, fill: Mapping[str, float]) -> int | None:
    """Return the cells of the smallest legal rectangle in a slot that holds a demand at a fill, None if there is none.

    ``fill`` gives the share of the rectangle's supply that may be used (1 if left out). Slots of one region and equal
    keep-outs share their answers.
    """
    need = needed_supply(demand, fill)
    return _least_cells(device, slot.region, slot.keep_outs, tuple(need.tolist()))


@lru_cache(NEEDS_KEPT)
def _least_cells(device: Device, region: Rect, keep_outs: tuple[Rect, ...], need: tuple[int, ...]) -> int | None:
    table, wanted = _table(device, region, keep_outs), np.array(need, dtype=np.int64)
    possible = table.possible_cells(wanted)
    # The most promising span first: what it takes rules most others out.
    first = possible == possible.min(initial=NEVER)
    best = table.cells(np.flatnonzero(first & (possible < NEVER)), wanted)
    others = np.flatnonzero((possible < best) & ~first)
    best = min(best, table.cells(table.with_less(others, wanted, best), wanted))
    return None if best == NEVER else best


@dataclass(frozen=True, eq=False)
class _AreaTable:
    """Spans of a slot, one of each kind.

    ``last`` (n_span, n_left): the last of ``rights``, by position, that rectangles clear of keep-outs may reach.
    ``most`` (5, n_width, n_span): the most that the first to n-th right edge from any left edge on make possible;
    ``columns`` (n_width,): the least columns that this takes.
    """

    grid: SlotGrid
    rows: IntArray
    last: IntArray
    most: IntArray
    columns: IntArray

    def possible_cells(self, need: IntArray) -> IntArray:
        """Return, (n_span,), a lower bound of the cells of each span's rectangles; NEVER if none holds the need."""
        widths = np.zeros(len(self.rows), dtype=np.int64)
        for kind in np.flatnonzero(need):
            widths = np.maximum(widths, (self.most[kind] < need[kind]).sum(axis=0))
        columns = np.append(self.columns, NEVER)[widths]
        return np.where(columns < NEVER, np.minimum(columns, NEVER // self.rows) * self.rows, NEVER)

    def with_less(self, spans: IntArray, need: IntArray, cells: int) -> IntArray:
        """Return those of some spans that have a rectangle of less than so many cells."""
        grid = self.grid
        widest = grid.lefts + (cells - 1) // self.rows[spans][:, None] - 1
        right = np.minimum(np.searchsorted(grid.rights, widest, side="right") - 1, self.last[spans])
        inside = right >= np.searchsorted(grid.rights, grid.lefts)
        holds = (grid.through[spans[:, None], right] - grid.before[spans] >= need).all(axis=2)
        return spans[(inside & holds).any(axis=1)]

    def cells(self, spans: IntArray, need: IntArray) -> int:
        """Return the cells of the smallest rectangle of some spans; NEVER if there is none."""
        if not len(spans):
            return NEVER
        grid = self.grid
        some = replace(grid, spans=grid.spans[spans], before=grid.before[spans], through=grid.through[spans])
        index = narrowest(some, need)
        fits = index <= self.last[spans]
        columns = grid.rights[np.minimum(index, len(grid.rights) - 1)] - grid.lefts + 1
        return int((columns * self.rows[spans][:, None])[fits].min(initial=NEVER))


@lru_cache(SLOTS_KEPT)
def _table(device: Device, region: Rect, keep_outs: tuple[Rect, ...]) -> _AreaTable:
    slot = Slot("", "", "", region, keep_outs, Resources(), Resources())
    grid = slot_grid(device, slot, every_span=True)
    rows, last = grid.spans[:, 1] - grid.spans[:, 0] + 1, _last_clear(grid)
    alike = [array.reshape(len(grid.spans), -1) for array in (rows, grid.before, grid.through, last)]
    _, kinds = np.unique(np.concatenate(alike, axis=1), axis=0, return_index=True)
    grid = replace(grid, spans=grid.spans[kinds], before=grid.before[kinds], through=grid.through[kinds])
    most, columns = _most_by_width(grid)
    return _AreaTable(grid, rows[kinds], last[kinds], most, columns)


def _last_clear(grid: SlotGrid) -> IntArray:
    """Return, (n_span, n_left), the last right edge, by position, that rectangles may reach without a keep-out."""
    last = np.full((len(grid.spans), len(grid.lefts)), len(grid.rights) - 1)
    for left, bottom, right, top in grid.keep_outs.tolist():
        met = (grid.spans[:, :1] <= top) & (grid.spans[:, 1:] >= bottom) & (grid.lefts <= right)
        last = np.where(met, np.minimum(last, np.searchsorted(grid.rights, left) - 1), last)
    return last


def _most_by_width(grid: SlotGrid) -> tuple[IntArray, IntArray]:
    """Return ``most`` and ``columns`` of an `_AreaTable`."""
    first = np.searchsorted(grid.rights, grid.lefts)
    most, columns = [], []
    for width in range(len(grid.rights)):
        lefts = np.flatnonzero(first + width < len(grid.rights))
        if not len(lefts):
            break
        rights = first[lefts] + width
        most.append((grid.through[:, rights] - grid.before[:, lefts]).max(axis=1))
        columns.append((grid.rights[rights] - grid.lefts[lefts] + 1).min())
    ordered = np.maximum.accumulate(np.stack(most), axis=0).transpose(2, 0, 1)
    return np.ascontiguousarray(ordered), np.array(columns, dtype=np.int64)
