"""A module's legal rectangles told by their four sides: some hundred rules in place of a list of hundreds of thousands.

What holds enough still does when a side moves outwards. So a rectangle holds too little if it lies inside one that
does, and of those only the largest need to be told.
"""

from dataclasses import dataclass

import numpy as np

from floorflow.placement.rectangles.candidate_rectangles import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    BoolArray,
    IntArray,
    SlotGrid,
    narrowest,
)

NEVER = 1 << 14
"""More columns or rows than any device has."""


@dataclass(frozen=True, eq=False)
class LegalSides:
    """Rules for the sides of one module: left and right device columns; bottom and top in row steps, top exclusive.

    ``lefts`` and ``rights`` are the legal edges, ``bottom`` and ``top`` the region's. A rectangle is legal if

    - for no row of ``too_little`` (n, 4) left, bottom >= row[0], row[1] and right, top < row[2], row[3] at once,
    - for no row of ``too_low`` (n, 3) left >= row[0], right < row[1] and height < row[2] at once,
    - it has ``least_columns`` to ``most_columns``, each (heights + 1,) by height, and
    - it meets none of ``keep_outs`` (n, 4), told by their sides likewise.

    ``narrowest`` (heights + 1,), the columns of the narrowest of each height or less, follows from these.
    """

    row_step: int
    lefts: IntArray
    rights: IntArray
    bottom: int
    top: int
    too_little: IntArray
    too_low: IntArray
    least_columns: IntArray
    most_columns: IntArray
    keep_outs: IntArray
    narrowest: IntArray

    @classmethod
    def of(cls, grid: SlotGrid, need: IntArray, max_aspect: float | None, row_step: int) -> "LegalSides":
        """Return the rules for what `wires.legal_rectangles` returns; ``grid`` must hold every legal span."""
        bottoms, tops = grid.spans[:, 0] // row_step, (grid.spans[:, 1] + 1) // row_step
        bottom, top = int(bottoms.min()), int(tops.max())
        right = np.full((top - bottom + 1, top - bottom + 1, len(grid.lefts)), NEVER)
        right[bottoms - bottom, tops - bottom] = np.append(grid.rights, NEVER)[narrowest(grid, need)]
        by_height = np.array([_offset(right, height).min(axis=0) for height in range(top - bottom + 1)])
        least, most = _columns_by_height(np.arange(top - bottom + 1) * row_step, max_aspect)
        keep_outs = grid.keep_outs.copy()
        keep_outs[:, BOTTOM], keep_outs[:, TOP] = keep_outs[:, BOTTOM] // row_step, keep_outs[:, TOP] // row_step + 1
        return cls(
            row_step=row_step,
            lefts=grid.lefts,
            rights=grid.rights,
            bottom=bottom,
            top=top,
            too_little=_too_little(right, by_height, grid.lefts) + np.array([0, bottom, 0, bottom]),
            too_low=_too_low(by_height, grid.lefts),
            least_columns=least,
            most_columns=most,
            keep_outs=keep_outs,
            narrowest=np.where(by_height < NEVER, by_height - grid.lefts + 1, NEVER).min(axis=1),
        )

    def allow(self, rects: IntArray) -> BoolArray:
        """Return, (n,), which rectangles (n, 4) in device columns and rows are legal."""
        left, right, row_step = rects[:, LEFT], rects[:, RIGHT], self.row_step
        bottom, top = rects[:, BOTTOM] // row_step, (rects[:, TOP] + 1) // row_step
        columns, height = right - left + 1, top - bottom
        allowed = np.isin(left, self.lefts) & np.isin(right, self.rights) & (bottom >= self.bottom) & (top <= self.top)
        allowed &= (bottom * row_step == rects[:, BOTTOM]) & (top * row_step - 1 == rects[:, TOP])
        height = np.where(allowed, height, 0)
        allowed &= (columns >= self.least_columns[height]) & (columns <= self.most_columns[height])
        for a, b, c, d in self.too_little.tolist():
            allowed &= (left < a) | (bottom < b) | (right >= c) | (top >= d)
        for a, c, rows in self.too_low.tolist():
            allowed &= (left < a) | (right >= c) | (height >= rows)
        for a, b, c, d in self.keep_outs.tolist():
            allowed &= (left > c) | (bottom >= d) | (right < a) | (top <= b)
        return allowed


def _offset(right: IntArray, height: int) -> IntArray:
    """Return, (bottoms, lefts), the narrowest right edges of one height."""
    bottoms = np.arange(len(right) - height)
    return right[bottoms, bottoms + height]


def _columns_by_height(rows: IntArray, max_aspect: float | None) -> tuple[IntArray, IntArray]:
    if max_aspect is None:
        return np.ones_like(rows), np.full_like(rows, NEVER)
    return np.ceil(rows / max_aspect).astype(np.int64), np.floor(rows * max_aspect).astype(np.int64)


def _too_low(by_height: IntArray, lefts: IntArray) -> IntArray:
    """Return, (n, 3), what no rectangle of such a left and right edge, wherever it lies, is high enough for."""
    told = np.ones_like(by_height, dtype=np.bool_)
    told[:, 1:] &= by_height[:, 1:] != by_height[:, :-1]
    told[:-1] &= by_height[:-1] != by_height[1:]
    height, left = np.nonzero(told)
    return np.column_stack((lefts[left], by_height[height, left], height + 1))


def _too_little(right: IntArray, by_height: IntArray, lefts: IntArray) -> IntArray:
    """Return, (n, 4), what is told neither by a larger rectangle nor by `_too_low`: where rows differ."""
    bottom, top = np.indices(right.shape[:2])
    told: BoolArray = np.less(bottom, top)[:, :, None] & (right != by_height[np.maximum(top - bottom, 0)])
    told[:, :, 1:] &= right[:, :, 1:] != right[:, :, :-1]
    told[:, :-1] &= right[:, :-1] != right[:, 1:]
    told[1:] &= right[1:] != right[:-1]
    bottoms, tops, left = np.nonzero(told)
    return np.column_stack((lefts[left], bottoms, right[bottoms, tops, left], tops + 1))
