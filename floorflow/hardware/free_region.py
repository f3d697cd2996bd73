"""All that pblocks can use of a slot: the largest clear rectangles, the whole free region, and a part of it alone.

A slot beside a shell is seldom a rectangle, so its largest clear one, which bounds a module in a pblock of one
rectangle, holds less than the slot does. Vivado's pblocks take several ranges: one over the whole free region holds
everything that any pblocks there can hold together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise, product

import numpy as np

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect, bounding_box
from floorflow.hardware.grid import IntArray
from floorflow.hardware.platform import Fpga, Platform
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


def clear_rectangles(device: Device, slot: Slot) -> tuple[Rect, ...]:
    """Return the maximal rectangles with legal edges inside the slot that touch no keep-out.

    A maximal one is bounded by the region or by keep-outs on every side, so trying all their sides finds them all.
    """
    region, holes = slot.region, slot.keep_outs
    sides = product(
        {region.left, *(hole.right + 1 for hole in holes)},
        {region.bottom, *(hole.top + 1 for hole in holes)},
        {region.right, *(hole.left - 1 for hole in holes)},
        {region.top, *(hole.bottom - 1 for hole in holes)},
    )
    snapped = {rect for corners in sides for rect in _legal(device, *corners)}
    clear = {r for r in snapped if region.contains(r) and not any(r.overlaps(hole) for hole in holes)}
    return tuple(sorted(r for r in clear if not any(o.contains(r) for o in clear if o != r)))


def max_pblocks(device: Device, slot: Slot) -> tuple[Resources, ...]:
    """Return what each of the slot's maximal clear rectangles holds, without those that another one exceeds."""
    supplies = {device.resources(rect) for rect in clear_rectangles(device, slot)}
    kept = (s for s in supplies if not any(s.fits(other) for other in supplies if other != s))
    return tuple(sorted(kept, key=Resources.as_tuple))


def _legal(device: Device, left: int, bottom: int, right: int, top: int) -> Iterable[Rect]:
    """Shrink to the nearest edges at which a pblock may start and end; nothing if none remain."""
    lefts = device.left_edges[device.left_edges >= left]
    rights = device.right_edges[device.right_edges <= right]
    step = device.row_step
    low, high = -(-bottom // step) * step, (top + 1) // step * step - 1
    if np.size(lefts) and np.size(rights) and lefts[0] <= rights[-1] and low <= high:
        yield Rect(int(lefts[0]), low, int(rights[-1]), high)


def confined(platform: Platform, owned: Mapping[str, Sequence[Rect]]) -> Platform:
    """Return the platform whose slots, by name, have but these disjoint rectangles; slots without any keep all.

    What is available is what the rectangles hold, or what the slot has if that is less: the static part lies outside.
    """
    fpgas = tuple(
        replace(fpga, slots=tuple(_confined(fpga, slot, owned.get(slot.name, ())) for slot in fpga.slots))
        for fpga in platform.fpgas
    )
    return replace(platform, fpgas=fpgas)


def _confined(fpga: Fpga, slot: Slot, owned: Sequence[Rect]) -> Slot:
    if not owned:
        return slot
    region = bounding_box(owned)
    supply: Resources = total(fpga.device.resources(rect) for rect in owned)
    kept = {rect for rect in slot.keep_outs if rect.overlaps(region)}
    keep_outs = tuple(sorted({*kept, *gaps(region, owned)}))
    return replace(slot, region=region, keep_outs=keep_outs, available=supply.least(slot.capacity))


def gaps(region: Rect, owned: Sequence[Rect]) -> tuple[Rect, ...]:
    """Return disjoint rectangles of what lies in a rectangle and in none of some disjoint others inside it."""
    cuts = sorted({region.bottom, region.top + 1, *(r.bottom for r in owned), *(r.top + 1 for r in owned)})
    found = []
    for bottom, after in pairwise(cuts):
        here = sorted((r.left, r.right) for r in owned if r.bottom <= bottom and r.top >= after - 1)
        column = region.left
        for left, right in [*here, (region.right + 1, region.right + 1)]:
            if left > column:
                found.append(Rect(column, bottom, left - 1, after - 1))
            column = right + 1
    return tuple(found)
