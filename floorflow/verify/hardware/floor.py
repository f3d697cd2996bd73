"""The free floor of a slot: where a pblock may lie, how large it is, and how far a rectangle could reach on it.

Counted from the raw die: no edge of a pblock cuts an interconnect column off its neighbours, nor a tile of the tallest
kind; what touches a keep-out is not free (docs/plan.md, *Free cells*).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from floorflow.verify.hardware.geometry import FREE_SITE_TYPES, Device, Rectangle
from floorflow.verify.hardware.interconnect import JOINING


def units(device: Device) -> list[tuple[int, int]]:
    """Return first and last column of what no edge may cut, from left to right, where logic or a hard block is."""
    joined = set()
    for region in range(len(device.raw["clock_region_layouts"])):
        for column in range(device.columns):
            if device.legend_at(column, region)["kind"] == JOINING:
                joined |= {column, column + 1}
    starts = [column for column in range(device.columns) if column == 0 or column not in joined]
    columns_of = device.raw["site_columns"]
    useful = {column for kind in columns_of if kind not in FREE_SITE_TYPES for column in columns_of[kind]}
    whole = [(first, after - 1) for first, after in pairwise([*starts, device.columns])]
    return [(first, last) for first, last in whole if useful.intersection(range(first, last + 1))]


def row_step(device: Device) -> int:
    """Return the rows of the tallest tile on the die: pblocks start and end at multiples of them."""
    used = {sign for name in device.raw["clock_region_layouts"] for sign in device.raw["layouts"][name]}
    return max(int(device.raw["legend"][sign].get("tile_rows", 1)) for sign in used)


@dataclass(frozen=True)
class Floor:
    """The floor of one SLR: ``keep_outs`` are those of its board."""

    device: Device
    slr: int
    keep_outs: Sequence[Rectangle]

    @cached_property
    def _units(self) -> list[tuple[int, int]]:
        return units(self.device)

    @cached_property
    def _bands(self) -> list[tuple[int, int]]:
        step, (bottom, top) = row_step(self.device), self.device.slr_rows(self.slr)
        return [(row, row + step - 1) for row in range(-(-bottom // step) * step, top + 2 - step, step)]

    @cached_property
    def free_cells(self) -> int:
        """Columns times rows of all that a pblock of several rectangles can cover."""
        return sum((top - bottom + 1) * self._free_columns(bottom, top) for bottom, top in self._bands)

    def _free_columns(self, bottom: int, top: int) -> int:
        """Return the columns of the widest clear runs of units in some rows."""
        runs: list[tuple[int, int]] = []
        for first, last in self._units:
            if not self._clear(Rectangle(first, bottom, last, top), ()):
                continue
            if runs and self._clear(Rectangle(runs[-1][0], bottom, last, top), ()):
                runs[-1] = (runs[-1][0], last)
            else:
                runs.append((first, last))
        return sum(last - first + 1 for first, last in runs)

    def _clear(self, area: Rectangle, others: Iterable[Rectangle]) -> bool:
        return not any(area.overlaps(other) for other in (*self.keep_outs, *others))

    def around(self, area: Rectangle, others: Sequence[Rectangle]) -> Iterator[Rectangle]:
        """Yield, of each span of rows, the widest rectangle around an area that is clear of keep-outs and others."""
        for bottom, _ in self._bands:
            for _, top in self._bands:
                tall = Rectangle(area.left, bottom, area.right, top)
                if bottom <= area.bottom and top >= area.top and self._clear(tall, others):
                    yield self._widened(tall, others)

    def _widened(self, area: Rectangle, others: Sequence[Rectangle]) -> Rectangle:
        for first, _ in reversed([unit for unit in self._units if unit[0] < area.left]):
            wider = Rectangle(first, area.bottom, area.right, area.top)
            if not self._clear(wider, others):
                break
            area = wider
        for _, last in [unit for unit in self._units if unit[1] > area.right]:
            wider = Rectangle(area.left, area.bottom, last, area.top)
            if not self._clear(wider, others):
                break
            area = wider
        return area
