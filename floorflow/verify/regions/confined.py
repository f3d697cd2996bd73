"""What a phase that is loaded into a region may be built on: that region, and nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import Record


def region_of(plan: Record, phase: PhaseFacts) -> Record | None:
    """Return the region that a phase is loaded into; None if it has none, or one that the plan does not have."""
    name, regions = phase.raw.get("region"), (plan.get("reconfigurable") or {"regions": []})["regions"]
    return next((region for region in regions if region["name"] == name), None)


def rectangle(entry: Record) -> Rectangle:
    """Read a rectangle."""
    return Rectangle(entry["left"], entry["bottom"], entry["right"], entry["top"])


def confined_boards(plan: Record, phase: PhaseFacts, boards: Mapping[str, Board]) -> dict[str, Board]:
    """Return the boards with all kept free for a phase that is not of its region."""
    region = region_of(plan, phase)
    if region is None or region["fpga"] not in boards:
        return dict(boards)
    board = boards[region["fpga"]]
    free = [rectangle(entry) for entry in region["owned"]]
    return {**boards, region["fpga"]: replace(board, kept_free=tuple(_others(board.device.whole, free)))}


def confined_phase(plan: Record, phase: PhaseFacts) -> PhaseFacts:
    """Return a phase whose slot has no more available than its region."""
    region = region_of(plan, phase)
    if region is None or region["slot"] not in phase.slots:
        return phase
    slot = phase.slots[region["slot"]]
    available = {name: min(amount, slot.entry["capacity"].get(name, 0)) for name, amount in region["supply"].items()}
    inside = replace(slot, entry={**slot.entry, "available": available})
    return replace(phase, slots={**phase.slots, slot.name: inside})


def _others(whole: Rectangle, free: list[Rectangle]) -> Iterator[Rectangle]:
    """Yield all that is not free, each run of columns in each band of rows by itself."""
    edges = sorted({whole.bottom, whole.top + 1} | {area.bottom for area in free} | {area.top + 1 for area in free})
    bands = [(low, high - 1) for low, high in pairwise(edges) if low <= whole.top]
    for bottom, top in bands:
        taken = {
            column
            for area in free
            if area.bottom <= bottom and top <= area.top
            for column in range(area.left, area.right + 1)
        }
        start = None
        for column in range(whole.left, whole.right + 2):
            outside = column <= whole.right and column not in taken
            if outside and start is None:
                start = column
            elif not outside and start is not None:
                yield Rectangle(start, bottom, column - 1, top)
                start = None
