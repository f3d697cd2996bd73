"""All foldings of one module that may be part of a folding of least area, as a table.

Area is the largest of what the resources take, so a linear model over single engines has weak bounds: half an engine
in LUTs and half in DSPs takes half the area of either. Over whole modules, whose areas are known, it is nearly exact.
Engines are joined one by one; of what looks alike from outside, what another one beats in all resources is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

LEAST_ALIKE = 2
"""Foldings of a class that are kept, however many classes there are."""


@dataclass(frozen=True, slots=True)
class Thinning:
    """What is left out: a folding that another one beats but for ``tolerance`` of its area, and all beyond ``most``."""

    tolerance: float
    most: int


@dataclass(frozen=True, eq=False)
class GroupRows:
    """Some rows of a group, (n_rows,), and what they use in each part, (n_rows, n_parts, 5)."""

    group: int
    rows: Array
    use: Array


@dataclass(frozen=True, eq=False)
class PartTable:
    """Foldings of the engines of one or several parts that are tied.

    ``rows`` (n, n_groups) are rows of each of ``groups``; ``use`` (n, n_parts, 5); ``cells_per_unit`` (n_parts, 5),
    infinite where a part must use none.
    """

    cells_per_unit: Floats
    groups: tuple[int, ...]
    rows: Array
    use: Array
    exact: bool = True
    """Whether nothing was dropped that another one does not beat in every resource."""

    @classmethod
    def empty(cls, cells_per_unit: Floats) -> PartTable:
        """Return the table of no engine."""
        parts = len(cells_per_unit)
        return cls(cells_per_unit, (), np.zeros((1, 0), dtype=np.int64), np.zeros((1, parts, 5), dtype=np.int64))

    @property
    def cells(self) -> Floats:
        """Cells that each resource takes in each part, (n, n_parts, 5); infinite where there is none."""
        taken = self.use * np.where(np.isfinite(self.cells_per_unit), self.cells_per_unit, 0.0)
        lacking = (self.use > 0) & ~np.isfinite(self.cells_per_unit)
        return np.asarray(np.where(lacking, np.inf, taken))

    @property
    def area(self) -> Floats:
        """Cells of all parts, (n,)."""
        return np.asarray(self.cells.max(axis=2).sum(axis=1))

    def joined(self, added: GroupRows) -> PartTable:
        """Return every pair of a folding and a row of one more group."""
        many, more = len(self.rows), len(added.rows)
        rows = np.column_stack((np.repeat(self.rows, more, axis=0), np.tile(added.rows, many)))
        use = self.use[:, None] + added.use[None]
        # Not by -1, which numpy cannot tell of a table without foldings.
        use = use.reshape(many * more, *use.shape[2:])
        return replace(self, groups=(*self.groups, added.group), rows=rows, use=use).take_possible()

    def classes(self, group: int, of_rows: Array) -> Array:
        """Return the class that each folding has at an end of a stream, (n,), by those of the group's rows."""
        return np.asarray(of_rows[self.rows[:, self.groups.index(group)]])

    def charged(self, part: int, use: Array) -> PartTable:
        """Return the table with more use, (n, 5), in one part."""
        total = self.use.copy()
        total[:, part] += use
        return replace(self, use=total).take_possible()

    def take(self, kept: Array) -> PartTable:
        """Return some of the foldings."""
        return replace(self, rows=self.rows[kept], use=self.use[kept])

    def take_possible(self) -> PartTable:
        """Return the foldings that use nothing that their slot lacks."""
        lacking = ((self.use > 0) & ~np.isfinite(self.cells_per_unit)).any(axis=(1, 2))
        return self.take(np.flatnonzero(~lacking)) if lacking.any() else self

    def reduced(self, outside: Sequence[Array], thinning: Thinning) -> PartTable:
        """Return the foldings that none beats of those with the same classes ``outside``, (n,) each.

        Of the others as many of each class as there is room for are kept: of least area, and of least of a resource.
        """
        if len(self.rows) < 2:
            return self
        area, cells = self.area, self.cells.reshape(len(self.rows), -1)
        slack = thinning.tolerance * float(area.min())
        keys = np.unique(np.column_stack(outside), axis=0, return_inverse=True)[1].ravel() if outside else area * 0
        order = np.lexsort((cells.sum(axis=1), area, keys))
        bounds = np.flatnonzero(np.diff(keys[order])) + 1
        kept: list[int] = []
        exact, most = self.exact and not slack, max(LEAST_ALIKE, thinning.most // (len(bounds) + 1))
        for alike in np.split(order, bounds):
            chosen = list(_unbeaten(alike, cells, slack, 4 * most))
            exact &= len(chosen) <= most
            kept += _spread(chosen, cells, most)
        return replace(self.take(np.sort(np.array(kept, dtype=np.int64))), exact=exact)


def _unbeaten(order: Array, cells: Floats, slack: float, most: int) -> Iterator[int]:
    """Yield those that none before beats, in order, at most so many."""
    left = order
    while left.size and most:
        yield int(left[0])
        most -= 1
        left = left[1:][(cells[left[1:]] + slack < cells[left[0]]).any(axis=1)]


def _spread(chosen: list[int], cells: Floats, most: int) -> list[int]:
    """Return at most so many of some foldings in order of area: the first, and those with least of each resource."""
    if len(chosen) <= most:
        return chosen
    each = most // (2 * cells.shape[1])
    least = [chosen[at] for kind in cells.T for at in np.argsort(kind[chosen], kind="stable")[:each].tolist()]
    return list(dict.fromkeys((*least, *chosen)))[:most]
