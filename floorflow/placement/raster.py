"""Which of many rectangles are free: running sums of the cells that are taken tell it of each in four look-ups.

Comparing a module's thousands of candidates with every other module costs as much as there are modules; running sums
over the slot's few thousand cells do not, and a rectangle is added to them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from floorflow.hardware.geometry import Rect
from floorflow.placement.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, BoolArray, IntArray

Sums = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Raster:
    """A slot's region in cells of one column by ``row_step`` rows, counted from ``left`` and ``bottom``."""

    left: int
    bottom: int
    columns: int
    steps: int
    row_step: int

    @classmethod
    def of(cls, region: Rect, row_step: int) -> Raster:
        """Return the raster of all whole row steps of a region."""
        first, last = -(-region.bottom // row_step), (region.top + 1) // row_step
        return cls(region.left, first * row_step, region.columns, last - first, row_step)

    def corners(self, rects: IntArray) -> IntArray:
        """Return, (4, n), where to look up rectangles (n, 4) of whole row steps inside the region."""
        low_x, high_x = rects[:, LEFT] - self.left, rects[:, RIGHT] - self.left + 1
        low_y = (rects[:, BOTTOM] - self.bottom) // self.row_step
        high_y = (rects[:, TOP] - self.bottom + 1) // self.row_step
        low_y, high_y = low_y * (self.columns + 1), high_y * (self.columns + 1)
        return np.stack((high_x + high_y, low_x + high_y, high_x + low_y, low_x + low_y))

    def sums(self, rects: IntArray) -> Sums:
        """Return, (steps + 1, columns + 1), the running sums of the cells that rectangles (n, 4) take."""
        taken = np.zeros((self.steps + 1, self.columns + 1), dtype=np.int32)
        for left, bottom, right, top in self._cells(rects):
            taken[max(bottom, 0) + 1 : max(top, -1) + 2, max(left, 0) + 1 : max(right, -1) + 2] = 1
        return taken.cumsum(axis=1, dtype=np.int32).cumsum(axis=0, dtype=np.int32)

    def add(self, sums: Sums, rect: IntArray) -> None:
        """Add the cells of a rectangle (4,) to running sums; none of them may be taken."""
        ((left, bottom, right, top),) = self._cells(rect[None, :])
        rows, columns = self._edges
        up = np.minimum(np.maximum(rows - max(bottom, 0), 0), max(top + 1 - max(bottom, 0), 0))
        across = np.minimum(np.maximum(columns - max(left, 0), 0), max(right + 1 - max(left, 0), 0))
        sums += up[:, None] * across

    @cached_property
    def _edges(self) -> tuple[Sums, Sums]:
        return np.arange(self.steps + 1, dtype=np.int32), np.arange(self.columns + 1, dtype=np.int32)

    def _cells(self, rects: IntArray) -> list[list[int]]:
        """Return first and last column and row step of rectangles, counted from the region's corner."""
        origin, unit = (self.left, self.bottom, self.left, self.bottom), (1, self.row_step, 1, self.row_step)
        cells: list[list[int]] = ((rects - origin) // unit).tolist()
        return cells

    @staticmethod
    def meets(sums: Sums, corners: IntArray) -> BoolArray:
        """Return, (n,), whether the rectangles with these corners hold a cell that is taken."""
        high, left_high, low_right, low = sums.take(corners)
        met: BoolArray = high - left_high > low_right - low
        return met
