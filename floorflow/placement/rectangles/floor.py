"""The floor of a slot while pblocks grow on it: what is taken, how far a rectangle may reach, what it would hold."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.placement.rectangles.candidate_rectangles import IntArray, supply_below
from floorflow.resources import Resources


@dataclass(frozen=True, eq=False)
class Floor:
    """Cells of one column by a row step, from the lower left corner of a slot's region.

    ``taken`` (steps, columns): keep-outs and pblocks. ``lefts`` and ``rights``: legal edges, ascending. ``below``:
    see `supply_below`.
    """

    region: Rect
    step: int
    taken: npt.NDArray[np.bool_]
    lefts: tuple[int, ...]
    rights: tuple[int, ...]
    below: IntArray

    @classmethod
    def of(cls, device: Device, slot: Slot) -> Floor:
        """Return the floor with nothing but the slot's keep-outs on it."""
        region, below = slot.region, supply_below(device, slot.region)
        inside = (device.left_edges >= region.left) & (device.right_edges <= region.right)
        lefts, rights = (tuple(edges[inside].tolist()) for edges in (device.left_edges, device.right_edges))
        taken = np.zeros((below.shape[0] - 1, region.columns), dtype=np.bool_)
        floor = cls(region, device.row_step, taken, lefts, rights, below)
        for rect in slot.keep_outs:
            floor.take(rect)
        return floor

    @property
    def bottom(self) -> int:
        """The lowest row of a pblock."""
        return -(-self.region.bottom // self.step) * self.step

    @property
    def top(self) -> int:
        """The highest row of a pblock."""
        return self.bottom + len(self.taken) * self.step - 1

    def take(self, rect: Rect, *, taken: bool = True) -> None:
        """Mark the cells that a rectangle meets, as far as it lies inside the region, as taken or as free."""
        columns, rows = self._columns(rect), self._rows(rect)
        if columns.start < columns.stop and rows.start < rows.stop:
            self.taken[rows, columns] = taken

    def is_clear(self, rect: Rect) -> bool:
        """Whether nothing is taken of a rectangle inside the region."""
        return not self.taken[self._rows(rect), self._columns(rect)].any()

    def supply(self, rect: Rect) -> Resources:
        """Return what a legal rectangle inside the region holds."""
        columns, rows = self._columns(rect), self._rows(rect)
        low, high = self.below[rows.start], self.below[rows.stop]
        held = high[columns.stop] - high[columns.start] - low[columns.stop] + low[columns.start]
        return Resources(*held.tolist())

    def further_left(self, rect: Rect) -> Iterator[Rect]:
        """Yield what the rectangle becomes when its left edge moves outwards over what is clear."""
        for left in reversed(self.lefts[: bisect_left(self.lefts, rect.left)]):
            strip = Rect(left, rect.bottom, rect.left - 1, rect.top)
            if not self.is_clear(strip):
                return
            rect = Rect(left, rect.bottom, rect.right, rect.top)
            yield rect

    def further_right(self, rect: Rect) -> Iterator[Rect]:
        """Yield what the rectangle becomes when its right edge moves outwards over what is clear."""
        for right in self.rights[bisect_right(self.rights, rect.right) :]:
            strip = Rect(rect.right + 1, rect.bottom, right, rect.top)
            if not self.is_clear(strip):
                return
            rect = Rect(rect.left, rect.bottom, right, rect.top)
            yield rect

    def further_down(self, rect: Rect) -> Iterator[Rect]:
        """Yield what the rectangle becomes when its bottom moves outwards over what is clear."""
        for bottom in range(rect.bottom - self.step, self.bottom - 1, -self.step):
            if not self.is_clear(Rect(rect.left, bottom, rect.right, bottom + self.step - 1)):
                return
            yield Rect(rect.left, bottom, rect.right, rect.top)

    def further_up(self, rect: Rect) -> Iterator[Rect]:
        """Yield what the rectangle becomes when its top moves outwards over what is clear."""
        for top in range(rect.top + self.step, self.top + 1, self.step):
            if not self.is_clear(Rect(rect.left, top - self.step + 1, rect.right, top)):
                return
            yield Rect(rect.left, rect.bottom, rect.right, top)

    def _columns(self, rect: Rect) -> slice:
        left = self.region.left
        return slice(max(rect.left - left, 0), max(min(rect.right + 1 - left, self.region.columns), 0))

    def _rows(self, rect: Rect) -> slice:
        """Return the row steps that a rectangle meets."""
        first = (rect.bottom - self.bottom) // self.step
        return slice(max(first, 0), max(min((rect.top - self.bottom) // self.step + 1, len(self.taken)), 0))
