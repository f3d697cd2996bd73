"""Every rectangle that a region may have on a die: all intervals of units times all spans of clock-region rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.hardware.grid import IntArray
from floorflow.hardware.reconfigurable import PADDING_FRAMES, RegionGrid


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rectangles as arrays, one entry each.

    ``places`` (n, 4) int: first unit, last unit, lowest and highest row of clock regions; ``supply`` (n, 5) int is what
    a region gets there, and the static part loses; ``frames`` (n,) int.
    """

    places: IntArray
    supply: IntArray
    frames: IntArray

    def __len__(self) -> int:
        return len(self.places)

    @property
    def loaded(self) -> IntArray:
        """Frames with the padding of each row: (n,) int; what loading takes grows with it."""
        rows = self.places[:, 3] - self.places[:, 2] + 1
        loaded: IntArray = self.frames + 2 * PADDING_FRAMES * rows
        return loaded

    def only(self, chosen: NDArray[np.bool_] | IntArray) -> Candidates:
        """Return some of them."""
        return Candidates(self.places[chosen], self.supply[chosen], self.frames[chosen])


def candidates(grid: RegionGrid) -> Candidates:
    """Return all legal rectangles: edges beside whole units, nothing inside that is closed, within one SLR."""
    parts = [part for first, last in grid.slr_rows for part in _of_slr(grid, first, last) if len(part)]
    if not parts:
        empty = np.zeros((0, 5), dtype=np.int64)
        return Candidates(empty[:, :4], empty, empty[:, 0])
    return Candidates(
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.supply for part in parts]),
        np.concatenate([part.frames for part in parts]),
    )


def _of_slr(grid: RegionGrid, lowest: int, highest: int) -> Iterator[Candidates]:
    for bottom in range(lowest, highest + 1):
        for top in range(bottom, highest + 1):
            yield _of_rows(grid, bottom, top)


def _of_rows(grid: RegionGrid, bottom: int, top: int) -> Candidates:
    """Return all legal intervals of units over some rows."""
    rows = slice(bottom, top + 1)
    edge = np.flatnonzero((grid.whole[rows] & grid.may_span[rows]).all(axis=0))
    first, last = (side.ravel() for side in np.meshgrid(edge, edge, indexing="ij"))
    barred: NDArray[np.bool_] = np.asarray((~grid.may_span[rows]).any(axis=0))
    closed = _sums(barred.astype(np.int64)[:, None])
    keep = (first <= last) & ((closed[last + 1] - closed[first])[:, 0] == 0)
    first, last = first[keep], last[keep]
    supply, frames = _sums(grid.supply[rows].sum(axis=0)), _sums(grid.frames[rows].sum(axis=0)[:, None])
    places = np.stack([first, last, np.full_like(first, bottom), np.full_like(first, top)], axis=1)
    return Candidates(places, supply[last + 1] - supply[first], (frames[last + 1] - frames[first])[:, 0])


def _sums(values: IntArray) -> IntArray:
    """Return the sums before each unit, and of all: (units + 1, n) int."""
    sums: IntArray = np.concatenate([np.zeros((1, values.shape[1]), dtype=np.int64), values.cumsum(axis=0)])
    return sums


def smallest(found: Candidates) -> Candidates:
    """Return those that hold no other one of them, by fewest frames: the others are of no use."""
    order = np.lexsort((*found.places.T[::-1], found.loaded))
    found = found.only(order)
    kept: list[int] = []
    a = found.places
    for number in range(len(found)):
        inside = a[kept] if kept else a[:0]
        first, last, bottom, top = a[number]
        holds = (inside[:, 0] >= first) & (inside[:, 1] <= last) & (inside[:, 2] >= bottom) & (inside[:, 3] <= top)
        if not holds.any():
            kept.append(number)
    return found.only(np.array(kept, dtype=np.int64))
