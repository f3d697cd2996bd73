"""All legal rectangles but those of which no layout shorter than a known one can be made.

A rectangle of a module is out if its own wires, at their least, and all other wires, at theirs, are as long as what is
known. What stays of each module narrows where its middle and how large it is, which puts out more of the others; this
is repeated until nothing changes. The shortest layout, if it is shorter than the known one, is made of what stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from floorflow.placement.bound import Extent, Legal, least_twice_distance
from floorflow.placement.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, IntArray
from floorflow.placement.net_arrays import NetArrays

PASSES = 20
"""Repetitions at most."""
MOST = 400_000
"""Rectangles of a module beyond which nothing is enumerated."""


def all_rectangles(legal: Legal) -> IntArray | None:
    """Return, (n, 4), every legal rectangle, None if they are very many."""
    grid = legal.grid
    first = np.searchsorted(grid.rights, legal.low)
    end = np.where(legal.allowed, np.searchsorted(grid.rights, legal.high, side="right"), 0)
    if int(np.maximum(end - first, 0).sum()) > MOST:
        return None
    number = np.arange(len(grid.rights))
    span, left, right = np.nonzero((number >= first[:, :, None]) & (number < end[:, :, None]))
    return np.column_stack((grid.lefts[left], grid.spans[span, 0], grid.rights[right], grid.spans[span, 1]))


def shorter_than(nets: NetArrays, rects: Sequence[IntArray], twice_known: int) -> tuple[list[IntArray], int]:
    """Return what stays of each module's rectangles, and twice a lower bound of what is made of them.

    The bound is ``twice_known`` if nothing stays of some module: then nothing is shorter.
    """
    left = list(rects)
    for _ in range(PASSES):
        before = [len(each) for each in left]
        extents, to_pins = [_extent_of(each) for each in left], _least_to_pins(nets, left)
        total = _twice_bound(nets, extents) + sum(to_pins)
        for module, least in enumerate(to_pins):
            others = total - _twice_pairs(nets, module, extents) - least
            left[module] = left[module][others + _twice_lengths(nets, module, left[module], extents) < twice_known]
            if not len(left[module]):
                return left, twice_known
        if [len(each) for each in left] == before:
            break
    return left, _twice_bound(nets, [_extent_of(each) for each in left]) + sum(_least_to_pins(nets, left))


def _extent_of(rects: IntArray) -> Extent:
    x2, y2 = rects[:, LEFT] + rects[:, RIGHT], rects[:, BOTTOM] + rects[:, TOP]
    return Extent(
        columns=int((rects[:, RIGHT] - rects[:, LEFT] + 1).min()),
        rows=int((rects[:, TOP] - rects[:, BOTTOM] + 1).min()),
        x2=(int(x2.min()), int(x2.max())),
        y2=(int(y2.min()), int(y2.max())),
    )


def _twice_lengths(nets: NetArrays, module: int, own: IntArray, extents: Sequence[Extent]) -> IntArray:
    """Return, (n,), the least length of a module's wires for each of its rectangles."""
    x2, y2 = own[:, LEFT] + own[:, RIGHT], own[:, BOTTOM] + own[:, TOP]
    columns, rows = own[:, RIGHT] - own[:, LEFT] + 1, own[:, TOP] - own[:, BOTTOM] + 1
    total = _twice_to_pins(nets, module, own)
    for other in np.flatnonzero(nets.bits[module]).tolist():
        extent = extents[other]
        apart_x = np.maximum(np.maximum(extent.x2[0] - x2, x2 - extent.x2[1]), 0)
        apart_y = np.maximum(np.maximum(extent.y2[0] - y2, y2 - extent.y2[1]), 0)
        beside = np.maximum(apart_x, columns + extent.columns) + apart_y
        above = apart_x + np.maximum(apart_y, rows + extent.rows)
        total += int(nets.bits[module, other]) * np.minimum(beside, above)
    return total


def _twice_to_pins(nets: NetArrays, module: int, own: IntArray) -> IntArray:
    """Return, (n,), twice the length of the wires to pins for each of a module's rectangles."""
    x2, y2 = own[:, LEFT] + own[:, RIGHT], own[:, BOTTOM] + own[:, TOP]
    total = np.zeros(len(own), dtype=np.int64)
    for pin in np.flatnonzero(nets.pin_bits[module]).tolist():
        x, y = nets.pins[pin].tolist()
        total += int(nets.pin_bits[module, pin]) * (np.abs(x2 - x) + np.abs(y2 - y))
    return total


def _least_to_pins(nets: NetArrays, rects: Sequence[IntArray]) -> list[int]:
    return [int(_twice_to_pins(nets, module, own).min()) for module, own in enumerate(rects)]


def _twice_pairs(nets: NetArrays, module: int, extents: Sequence[Extent]) -> int:
    """Return twice the bound of a module's wires to others."""
    return sum(
        int(nets.bits[module, other]) * least_twice_distance(extents[module], extents[other])
        for other in np.flatnonzero(nets.bits[module]).tolist()
    )


def _twice_bound(nets: NetArrays, extents: Sequence[Extent]) -> int:
    """Return twice the bound of all wires between modules."""
    pairs = zip(nets.pairs.T.tolist(), nets.pair_bits.tolist(), strict=True)
    return sum(bits * least_twice_distance(extents[a], extents[b]) for (a, b), bits in pairs)
