"""What the constraint files say of each slot: hard or soft pblocks, its SLR alone, or nothing.

What is asked for holds, but a pblock over all that is free of a slot is never hard, and where there is one SLR none is
assigned. ``auto``: on one die soft pblocks, or nothing if one pblock has most of what lies there; on several SLRs hard
pblocks where each has the room that it should have and covers no more than part of its slot, else the SLR alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.facts import PblockEntry, SlotStyle
from floorflow.hardware import Fpga, Slot, free_cells
from floorflow.request import MOST_OF_FPGA, MOST_OF_SLOT, Request


def constraint_styles(request: Request, fpga: Fpga, pblocks: Mapping[str, PblockEntry]) -> dict[str, SlotStyle]:
    """Return the style of each slot of an FPGA with these pblocks."""
    if request.constraint_style == "auto" and len(fpga.device.slrs) == 1:
        style: SlotStyle = "none" if _has_one_for_most(pblocks) else "soft"
        return {slot.name: style for slot in fpga.slots}
    return {
        slot.name: _style(request, fpga, slot, [entry for entry in pblocks.values() if entry.slot == slot.name])
        for slot in fpga.slots
    }


def _has_one_for_most(pblocks: Mapping[str, PblockEntry]) -> bool:
    luts = [entry.demand.LUT for entry in pblocks.values()]
    return max(luts, default=0) > MOST_OF_FPGA * sum(luts)


def _style(request: Request, fpga: Fpga, slot: Slot, pblocks: list[PblockEntry]) -> SlotStyle:
    free = free_cells(fpga.device, slot)
    covered = [cells(entry) for entry in pblocks]
    asked = request.constraint_style
    if asked == "slr":
        return "slr" if len(fpga.device.slrs) > 1 else "none"
    if asked == "auto":
        holds = all(area <= MOST_OF_SLOT * free for area in covered) and not any(entry.short for entry in pblocks)
        return "hard" if holds else "slr"
    return "soft" if asked == "hard" and free in covered else asked


def cells(entry: PblockEntry) -> int:
    """Return columns times rows of a pblock."""
    return sum((r.right - r.left + 1) * (r.top - r.bottom + 1) for r in entry.rectangles)
