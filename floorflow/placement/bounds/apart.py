"""The least over the places of one module that lie apart from those of another, for all of these at once.

Of two modules one ends before the other starts, along columns or rows. What lies before is told by a table: for each
column (or row) and each middle across, the least over all places that end there or before. Distances across are added
to a table as a whole, so that nothing is done for pairs of places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from floorflow.placement.bounds.places import Facing
from floorflow.placement.rectangles.candidate_rectangles import IntArray

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Before:
    """The places of a module that lie before those of another; tables are (rows, middles across)."""

    one: Facing
    other: Facing
    first: int
    rows: int
    across_first: int
    across: int

    @classmethod
    def of(cls, one: Facing, other: Facing) -> Before:
        """Find the size of the tables."""
        first, last = min(one.end.min(), other.start.min()), max(one.end.max(), other.start.max())
        low = min(one.across_low.min(), other.across_low.min())
        high = max(one.across_high.max(), other.across_high.max())
        return cls(one, other, int(first), int(last - first) + 1, int(low), int(high - low) + 1)

    @property
    def never(self) -> bool:
        """No place lies before any of the other."""
        return bool(self.one.end.min() > self.other.start.max())

    @property
    def always(self) -> bool:
        """All places lie before all of the other."""
        return bool(self.one.end.max() <= self.other.start.min())

    def table(self, values: Floats, bits: int) -> Floats:
        """Return the least of values (n,) less the bits times where a place's middle lies."""
        values = values - bits * self.one.unit * self.one.high
        level, low, high = self._windows(self.one)
        tables = np.full((int(level.max()) + 1, self.rows, self.across), np.inf)
        start = (level * self.rows + self.one.end - self.first) * self.across
        np.minimum.at(tables.reshape(-1), start + low, values)
        np.minimum.at(tables.reshape(-1), start + high, values)
        for k in range(len(tables) - 1, 0, -1):
            half = 1 << (k - 1)
            np.minimum(tables[k - 1], tables[k], out=tables[k - 1])
            np.minimum(tables[k - 1][:, half:], tables[k][:, :-half], out=tables[k - 1][:, half:])
        table: Floats = np.minimum.accumulate(tables[0], axis=0)
        return table

    def spread(self, table: Floats, bits: int) -> Floats:
        """Return the least of a table plus the bits times the distance across."""
        ramp = np.arange(self.across) * float(bits * self.one.across_unit)
        forth = np.minimum.accumulate(table - ramp, axis=1) + ramp
        back = np.minimum.accumulate((table + ramp)[:, ::-1], axis=1)[:, ::-1] - ramp
        least: Floats = np.minimum(forth, back)
        return least

    def least(self, table: Floats, bits: int, gap: int = 0) -> Floats:
        """Return, (n,), the least for each place of the other, ``gap`` columns (or row steps) away at least."""
        level, low, high = self._windows(self.other)
        windows = [table]
        for k in range(1, int(level.max()) + 1):
            half, wider = 1 << (k - 1), windows[-1].copy()
            np.minimum(wider[:, :-half], wider[:, half:], out=wider[:, :-half])
            windows.append(wider)
        flat = np.stack(windows).reshape(-1)
        row = self.other.start - self.first - gap
        start = (level * self.rows + np.maximum(row, 0)) * self.across
        values = np.where(row < 0, np.inf, np.minimum(flat[start + low], flat[start + high]))
        return values + bits * self.other.unit * self.other.low

    def _windows(self, facing: Facing) -> tuple[IntArray, IntArray, IntArray]:
        """Return the middles across as two windows each, of 2 ** level: level, and where either begins."""
        level = np.frexp(facing.across_high - facing.across_low + 1)[1].astype(np.int64) - 1
        low = facing.across_low - self.across_first
        return level, low, facing.across_high - self.across_first - (1 << level) + 1


def moved(table: Floats, gap: int) -> Floats:
    """Return a table with all places so many columns (or row steps) further away."""
    farther = np.full_like(table, np.inf)
    farther[gap:] = table[: max(len(table) - gap, 0)]
    return farther
