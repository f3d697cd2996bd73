"""A platform of which only some rectangles may be built on: what a reconfigurable region leaves to its modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from floorflow.hardware.geometry import Rect, bounding_box
from floorflow.hardware.platform import Fpga, Platform
from floorflow.hardware.slots import Slot
from floorflow.resources import Resources, total


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
