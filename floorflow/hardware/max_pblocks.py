"""The largest rectangles that a slot's keep-outs leave clear, which bound a module in a pblock of one rectangle."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.resources import Resources


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
