"""Which of many rectangles are free: running sums of the cells that are taken tell it of each in four look-ups.

Comparing a module's thousands of candidates with every other module costs as much as there are modules; running sums
over the slot's few thousand cells do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.placement.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, BoolArray, IntArray

Cells = npt.NDArray[np.int32]
"""(steps + 1, columns + 1), row and column 0 being none: which cells are taken, or their running sums."""


@dataclass(frozen=True, eq=False)
class Raster:
    """A slot's region in cells of one unit of columns by ``row_step`` rows, counted from its lower left corner.

    No pblock edge cuts a unit, so that rectangles meet where their cells do. ``unit_of`` (device columns,) is the
    number, from 1 on, of the unit of a column; outside the region it is 0 or ``units + 1``.
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
        return cls(np.clip(unit_of - inside[0] + 1, 0, units + 1), units, first, last - first, step)

    def empty(self) -> Cells:
        """Return cells of which none is taken."""
        return np.zeros((self.steps + 1, self.units + 1), dtype=np.int32)

    def paint(self, cells: Cells, box: IntArray, value: int) -> None:
        """Set the cells of a rectangle (4,), as far as it lies inside the region, to 1 or 0."""
        left, bottom, right, top = box.tolist()
        low, high = bottom // self.row_step - self.first_step + 1, (top + 1) // self.row_step - self.first_step + 1
        cells[max(low, 1) : max(high, 1), max(self.unit_of[left], 1) : self.unit_of[right] + 1] = value

    def corners(self, rects: IntArray) -> IntArray:
        """Return, (4, n), where to look up rectangles (n, 4) of whole row steps inside the region."""
        low_x, high_x = self.unit_of[rects[:, LEFT]] - 1, self.unit_of[rects[:, RIGHT]]
        low_y = (rects[:, BOTTOM] // self.row_step - self.first_step) * (self.units + 1)
        high_y = ((rects[:, TOP] + 1) // self.row_step - self.first_step) * (self.units + 1)
        return np.stack((high_x + high_y, low_x + high_y, high_x + low_y, low_x + low_y))

    @staticmethod
    def sums(cells: Cells) -> Cells:
        """Return the running sums of cells, from below and from the left."""
        return cells.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)

    @staticmethod
    def meets(sums: Cells, corners: IntArray) -> BoolArray:
        """Return, (n,), whether the rectangles with these corners hold a cell that is taken."""
        high, left_high, low_right, low = sums.take(corners)
        met: BoolArray = high - left_high > low_right - low
        return met
