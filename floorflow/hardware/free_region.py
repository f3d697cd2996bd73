"""All that pblocks can use of a slot, as a union of rectangles.

A slot beside a shell is seldom a rectangle, so its largest clear one holds less than the slot does. Vivado's pblocks
take several ranges: one over the whole free region holds everything that any pblocks there can hold together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.grid import IntArray
from floorflow.hardware.slots import Slot
from floorflow.resources import Resources, total


def free_rectangles(device: Device, slot: Slot) -> tuple[Rect, ...]:
    """Return disjoint legal rectangles that cover every legal rectangle of the slot, from bottom to top.

    No pblock edge may cut a unit of columns or a hard block, so a row of tiles gives runs of whole units that touch no
    keep-out; equal runs one above the other are one rectangle. Nothing is left of a slot that is kept out wholly.
    """
    growing: dict[tuple[int, int], Rect] = {}
    done: list[Rect] = []
    for bottom, top, holes in _bands(device, slot):
        runs = _runs(device, slot, holes)
        done += (rect for run, rect in growing.items() if run not in runs)
        growing = {run: _grown(growing.get(run), run, bottom, top) for run in runs}
    return tuple(sorted((*done, *growing.values()), key=lambda rect: (rect.bottom, rect.left)))


def free_supply(device: Device, slot: Slot) -> Resources:
    """Return what a pblock over the whole free region holds: no pblocks of the slot hold more together."""
    return total(device.resources(rect) for rect in free_rectangles(device, slot))


def free_cells(device: Device, slot: Slot) -> int:
    """Return the area of the free region in columns times rows."""
    return sum(rect.columns * rect.rows for rect in free_rectangles(device, slot))


def _grown(below: Rect | None, run: tuple[int, int], bottom: int, top: int) -> Rect:
    """Return the rectangle of a run, with the one below it of the same columns, if any."""
    return Rect(run[0], bottom if below is None else below.bottom, run[1], top)


def _bands(device: Device, slot: Slot) -> Iterator[tuple[int, int, tuple[Rect, ...]]]:
    """Yield, from bottom to top, first and last of the rows that meet the same keep-outs, and these."""
    step = device.row_step

    def holes_at(bottom: int) -> tuple[Rect, ...]:
        return tuple(hole for hole in slot.keep_outs if hole.bottom < bottom + step and bottom <= hole.top)

    bottoms = range(-(-slot.region.bottom // step) * step, slot.region.top + 2 - step, step)
    for holes, band in groupby(bottoms, holes_at):
        rows = list(band)
        yield rows[0], rows[-1] + step - 1, holes


def _runs(device: Device, slot: Slot, holes: Iterable[Rect]) -> list[tuple[int, int]]:
    """Return, from left to right, first and last column of the widest legal rectangles in rows with these keep-outs."""
    inside = (device.left_edges >= slot.region.left) & (device.right_edges <= slot.region.right)
    lefts, rights = device.left_edges[inside], device.right_edges[inside]
    taken = np.zeros(device.column_count, dtype=np.int64)
    for hole in holes:
        taken[hole.left : hole.right + 1] = 1
    before: IntArray = np.pad(taken.cumsum(), (1, 0))
    runs: list[tuple[int, int]] = []
    for left, right in zip(lefts.tolist(), rights.tolist(), strict=True):
        if before[right + 1] != before[left]:
            continue
        if runs and before[left] == before[runs[-1][0]]:
            runs[-1] = (runs[-1][0], right)
        else:
            runs.append((left, right))
    return runs
