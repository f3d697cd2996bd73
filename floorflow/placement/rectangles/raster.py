"""Which of many rectangles are free: running sums of the cells that are taken tell it of each in four look-ups.

Comparing a module's thousands of candidates with every other module costs as much as there are modules; running sums
over the slot's few thousand cells do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.placement.rectangles.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, BoolArray, IntArray

Sums = npt.NDArray[np.int32]
"""(steps + 1, units + 1): how many cells below and left of a corner are taken."""


@dataclass(frozen=True, eq=False)
class Raster:
    """A slot's region in cells of one unit of columns by ``row_step`` rows, counted from its lower left corner.

    No pblock edge cuts a unit, so that rectangles meet where their cells do. ``unit_of`` (device columns,) is the
    number, from 1 on, of the unit of a column; outside the region it is at most 0 or more than ``units``.
    """

    unit_of: IntArray
    units: int
    first_step: int
    steps: int
    row_step: int

    @classmethod
    def of(cls, region: Rect, device: Device) -> Raster:
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
    def meets(sums: Sums, corners: IntArray) -> BoolArray:
        """Return, (n,), whether the rectangles with these corners hold a cell that is taken."""
        high, left_high, low_right, low = sums.take(corners)
        met: BoolArray = high - left_high > low_right - low
        return met


def _within(place: int, most: int) -> int:
    return min(max(place, 0), most)
