"""Bounds of several wires together: what lies around one module, and what lies along a slot's edge.

**Stars.** Two rectangles that do not overlap lie apart in columns or in rows: each neighbour of a module lies left or
right of it, where its distance is at least half of both widths, or above or below. A module is not at once as narrow
and as low as it can be, and of two neighbours on one side one lies beyond the other, or both off the middle. The least
over the module's shapes and its neighbours' sides is a bound of its wires; each wire counts half at both of its ends.

**Edges.** What leaves a slot upwards is the shorter, the nearer its modules lie to the upper edge; but the rows there
hold only so many cells. The middle of a rectangle is the mean of its cells, so that cells given out row by row, to
those with most bits a cell first, bound the sum of all (least cells for each module; larger ones only come to lie
further away).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from floorflow.hardware.slots import Slot
from floorflow.placement.bounds.wires import Extent, Legal, least_twice_distance
from floorflow.placement.layout import NetArrays
from floorflow.placement.rectangles.candidate_rectangles import IntArray

Floats = npt.NDArray[np.float64]

MOST = 5
"""Neighbours whose sides are enumerated, those with most bits; the others count as if each were alone."""
SIDES = 4
"""Left, right, below, above."""


@dataclass(frozen=True)
class Shapes:
    """Columns and rows, (k,), of a module's legal rectangles of which none is both narrower and lower than another."""

    columns: IntArray
    rows: IntArray

    @classmethod
    def of(cls, legal: Legal) -> Shapes:
        """Find the narrowest of each height."""
        spans, far = legal.grid.spans, np.iinfo(np.int64).max
        narrowest = np.where(legal.allowed, legal.low - legal.grid.lefts + 1, far).min(axis=1)
        heights = spans[:, 1] - spans[:, 0] + 1
        rows = np.unique(heights)
        columns = np.array([narrowest[heights == height].min() for height in rows])
        before = np.minimum.accumulate(np.append(far, columns)[:-1])
        better = columns < before
        return cls(columns[better], rows[better])

    @property
    def cells(self) -> int:
        """The least cells of a rectangle."""
        return int((self.columns * self.rows).min())


def star_bound(shapes: Shapes, neighbours: Sequence[Extent], bits: Sequence[int]) -> float:
    """Return the least sum over neighbours, which overlap neither a module nor each other, of bits times distance."""
    if not bits:
        return 0.0
    order = sorted(range(len(bits)), key=lambda i: -bits[i])
    beside, above = (
        np.array([bits[i] * (own + least) / 2 for i, least in zip(order, extents, strict=True)]).reshape(len(bits), -1)
        for own, extents in (
            (shapes.columns, [neighbours[i].columns for i in order]),
            (shapes.rows, [neighbours[i].rows for i in order]),
        )
    )
    alone = np.minimum(beside, above)[MOST:].sum(axis=0)
    some = order[:MOST]
    sides = np.array(list(itertools.product(range(SIDES), repeat=len(some)))).reshape(-1, len(some))
    extra = np.array([_crowding(row, [neighbours[i] for i in some], [bits[i] for i in some]) for row in sides.tolist()])
    level = (sides < SIDES // 2).astype(np.float64)
    cost = level @ beside[:MOST] + (1 - level) @ above[:MOST] + extra[:, None] + alone
    return float(cost.min())


def _crowding(sides: Sequence[int], extents: Sequence[Extent], bits: Sequence[int]) -> float:
    """Return by how much wires are longer for sharing sides: of each pair of neighbours on one side at the least."""
    total, first = 0.0, [-1] * SIDES
    for one, side in enumerate(sides):
        other = first[side]
        if other < 0:
            first[side] = one
            continue
        first[side] = -1
        a, b = extents[one], extents[other]
        along, across = ("columns", "rows") if side < SIDES // 2 else ("rows", "columns")
        behind = min(bits[one] * getattr(b, along), bits[other] * getattr(a, along))
        off = min(bits[one], bits[other]) * (getattr(a, across) + getattr(b, across)) / 2
        total += min(behind, off)
    return total


def edge_bound(free_cells: IntArray, bits: Sequence[int], cells: Sequence[int]) -> float:
    """Return the least sum over modules of bits times the rows between their middle and an edge.

    ``free_cells`` (n_rows,) counts those of each row, from the edge on; ``cells`` are the least of each module.
    """
    left = free_cells.astype(np.float64)
    row, total = 0, 0.0
    for weight, need in sorted(zip(bits, cells, strict=True), key=lambda pair: -pair[0] / pair[1]):
        wanted = float(need)
        while wanted > 0 and row < len(left):
            taken = min(wanted, left[row])
            total += weight / need * taken * (row + 0.5)
            wanted, left[row] = wanted - taken, left[row] - taken
            row += left[row] <= 0
    return total


def free_cells_by_row(slot: Slot) -> IntArray:
    """Return, (n_rows,), the cells of each row of a slot that no keep-out covers, from the lowest on."""
    region = slot.region
    free = np.ones((region.rows, region.columns), dtype=np.bool_)
    for rect in slot.keep_outs:
        columns = slice(max(rect.left - region.left, 0), max(rect.right + 1 - region.left, 0))
        free[max(rect.bottom - region.bottom, 0) : max(rect.top + 1 - region.bottom, 0), columns] = False
    cells: IntArray = free.sum(axis=1)
    return cells


@dataclass
class _Edges:
    """Streams that leave slots: bits by module, over the upper edge (1) and the lower (-1) of each slot."""

    slots: Sequence[Slot]
    bits: dict[tuple[int, int], Counter[int]] = field(default_factory=dict)
    between: float = 0.0
    """Bits times the rows between the slots at their ends."""

    def add(self, low: int, high: int, bits: int, rows: int) -> None:
        """Add a stream between modules of two slots so many rows apart."""
        self.between += bits * rows
        for module, side in ((low, 1), (high, -1)):
            self.bits.setdefault((self.slots.index(self.slots[module]), side), Counter())[module] += bits

    def least(self, shapes: Sequence[Shapes], extents: Sequence[Extent]) -> float:
        """Return the least bits times rows of all these streams."""
        total = self.between
        for (slot, side), weights in self.bits.items():
            free = free_cells_by_row(self.slots[slot])[::-side]
            cells = [shapes[module].cells for module in weights]
            near = sum(bits * extents[module].rows / 2 for module, bits in weights.items())
            total += max(near, edge_bound(free, list(weights.values()), cells))
        return total


def wires_bound(nets: NetArrays, slots: Sequence[Slot], legal: Sequence[Legal], extents: Sequence[Extent]) -> float:
    """Bound the sum over wires between modules of bits times distance; ``slots`` are those of the modules.

    Wires inside a slot are bounded by stars, those between slots one above the other by edges, at least by each alone.
    """
    total, apart = 0.0, 0.0
    around: list[list[tuple[int, int]]] = [[] for _ in legal]
    edges, shapes = _Edges(slots), [Shapes.of(each) for each in legal]
    for (a, b), bits in zip(nets.pairs.T.tolist(), nets.pair_bits.tolist(), strict=True):
        low, high = (a, b) if slots[a].region.bottom < slots[b].region.bottom else (b, a)
        rows = slots[high].region.bottom - slots[low].region.top - 1
        if slots[a] == slots[b]:
            around[a].append((b, bits))
            around[b].append((a, bits))
        elif rows >= 0:
            apart += bits * least_twice_distance(extents[a], extents[b]) / 2
            edges.add(low, high, bits, rows)
        else:
            total += bits * least_twice_distance(extents[a], extents[b]) / 2
    for module, wired in enumerate(around):
        alone = sum(bits * least_twice_distance(extents[module], extents[other]) for other, bits in wired) / 2
        star = star_bound(shapes[module], [extents[o] for o, _ in wired], [b for _, b in wired])
        total += max(alone, star) / 2
    return total + max(apart, edges.least(shapes, extents))
