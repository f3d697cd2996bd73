"""Where a module can lie, told by few rectangles: those that cannot be narrower on both sides, and pairs of them.

A legal rectangle of some span of rows may have room to spare. Narrow it from the right as far as it remains legal, then
column by column move on to what is narrow from the left: every rectangle on this way is legal and lies inside the
first, cannot be narrowed from the left and from the right both, and the middles move from left of its middle to right
of it. So between two that follow each other, or at one of them, lies its middle. Such a pair stands for all rectangles
around it: it covers what the two cover, which they cover too, and its middle may be anywhere between both middles.
What holds for all of these places holds for all legal rectangles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorflow.placement.bounds.wires import Legal
from floorflow.placement.rectangles.candidate_rectangles import IntArray


@dataclass(frozen=True, eq=False)
class Facing:
    """Places as they lie along one of four directions, (n,) each: ``start`` to ``end``, exclusive, and the middles.

    ``low`` to ``high`` is twice the middle along the direction, ``across_low`` to ``across_high`` across it; ``unit``
    and ``across_unit`` are the columns or rows of one.
    """

    start: IntArray
    end: IntArray
    low: IntArray
    high: IntArray
    across_low: IntArray
    across_high: IntArray
    unit: int
    across_unit: int

    def turned(self) -> Facing:
        """Look the other way."""
        across = self.across_low, self.across_high, self.unit, self.across_unit
        return Facing(-self.end, -self.start, -self.high, -self.low, *across)


@dataclass(frozen=True, eq=False)
class Places:
    """Where a module can lie: as seen to the right, to the left, upwards and downwards, in columns and row steps."""

    facing: tuple[Facing, Facing, Facing, Facing]

    @classmethod
    def of(cls, legal: Legal, row_step: int) -> Places:
        """Find the places that stand for the legal rectangles."""
        first, last = _pairs(legal)
        spans = legal.grid.spans[first[:, 0]]
        (left, right), (other_left, other_right) = (each[:, 1:].T for each in (first, last))
        low, high = left + right + 1, other_left + other_right + 1
        bottom, top = spans[:, 0] // row_step, (spans[:, 1] + 1) // row_step
        columns = Facing(left, other_right + 1, low, high, bottom + top, bottom + top, 1, row_step)
        rows = Facing(bottom, top, bottom + top, bottom + top, low, high, row_step, 1)
        return cls((columns, columns.turned(), rows, rows.turned()))

    def __len__(self) -> int:
        return len(self.facing[0].start)

    def least_size(self, axis: int) -> int:
        """Return the least columns (axis 0) or row steps (1)."""
        facing = self.facing[2 * axis]
        return int((facing.end - facing.start).min())

    def twice_distances(self, twice_x: int, twice_y: int) -> IntArray:
        """Return, (n,), twice the least distance in columns and rows of the middles to a point told by its double."""
        distances = np.zeros(len(self), dtype=np.int64)
        for facing, point in ((self.facing[0], twice_x), (self.facing[2], twice_y)):
            low, high = facing.low * facing.unit - 1, facing.high * facing.unit - 1
            distances += np.maximum(np.maximum(low - point, point - high), 0)
        return distances


def _pairs(legal: Legal) -> tuple[IntArray, IntArray]:
    """Return, (n, 3) each, span, left and right of both of each pair; each rectangle also makes a pair with itself."""
    lefts, rights = legal.grid.lefts, legal.grid.rights
    span, left, right = _narrow(legal)
    follows = (span[1:] == span[:-1]) & (left[1:] - left[:-1] <= 1)
    rects = np.column_stack((span, lefts[left], rights[right]))
    return np.concatenate((rects, rects[:-1][follows])), np.concatenate((rects, rects[1:][follows]))


def _narrow(legal: Legal) -> tuple[IntArray, IntArray, IntArray]:
    """Return, (n,), the span and the indices of left and right edge of what cannot be narrower on both sides.

    They are sorted. The right edges of one left edge are those from the narrowest on, up to the next one's narrowest.
    """
    grid, count = legal.grid, len(legal.grid.rights)
    narrowest = np.searchsorted(grid.rights, legal.low)
    widest = np.searchsorted(grid.rights, legal.high, side="right") - 1
    allowed = legal.allowed & (narrowest <= widest)
    after = np.where(allowed, narrowest, count)[:, 1:]
    after = np.minimum.accumulate(np.pad(after, ((0, 0), (0, 1)), constant_values=count)[:, ::-1], axis=1)[:, ::-1]
    last = np.minimum(np.maximum(after - 1, narrowest), widest)
    span, left = np.nonzero(allowed)
    counts = (last - narrowest + 1)[span, left]
    which = np.repeat(np.arange(len(span)), counts)
    beyond = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return span[which], left[which], narrowest[span, left][which] + beyond
