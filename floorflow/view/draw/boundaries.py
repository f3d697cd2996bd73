"""Draw the boundaries between the slots of an FPGA, whose cards stand one above the other: load and streams of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floorflow.view.contents.scene import BoundaryView, CrossingView, SlotChainView, Use
from floorflow.view.draw.links import stream_text
from floorflow.view.draw.use_bars import draw_bar
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import CROSSING, QUIET
from floorflow.view.sheet.sheet import Sheet
from floorflow.view.sheet.text import clipped

_BAND, _SIZE = 38.0, 6.8
"""Height of the band between two slots, and font size, in points."""
_MORE = 31.0
"""Points more for each further boundary of a slot that has several to slots above it."""


def band_height(slot_chain: SlotChainView) -> float:
    """Return the room between two slots: for every boundary of the lower one to others."""
    lowers = [boundary.lower for boundary in slot_chain.boundaries]
    return _BAND + _MORE * (max(map(lowers.count, lowers), default=1) - 1)


def draw_boundaries(sheet: Sheet, cards: Mapping[str, Box], slot_chain: SlotChainView) -> None:
    """Draw all boundaries, each in the band above its lower slot; those to slots elsewhere below the others there.

    ``cards`` are the boxes of the slots in points, by their names.
    """
    names = {slot.name: slot.label for _, slots in slot_chain.fpgas for slot in slots}
    for _, slots in slot_chain.fpgas:
        for upper, lower in zip((None, *slots), slots, strict=False):
            own = [boundary for boundary in slot_chain.boundaries if boundary.lower == lower.name]
            own.sort(key=lambda boundary: upper is None or boundary.upper != upper.name)
            card = cards[lower.name]
            bottom = card.top + band_height(slot_chain) if upper is None else cards[upper.name].bottom
            for index, boundary in enumerate(own):
                if upper is not None and boundary.upper == upper.name:
                    _draw_arrows(sheet, card, bottom, boundary)
                    _write_boundary(sheet, card, bottom, boundary, "")
                else:
                    to = f"to {names[boundary.upper]}: "
                    _write_boundary(sheet, card, bottom - index * _MORE, boundary, to)


def _draw_arrows(sheet: Sheet, lower: Box, upper_bottom: float, boundary: BoundaryView) -> None:
    """Draw an arrow for each direction in which streams go between two cards, one above the other."""
    x = lower.left + 8
    if boundary.down:
        _draw_arrow(sheet, x + 4, upper_bottom, lower.top)
    if boundary.up:
        _draw_arrow(sheet, x + 14, lower.top, upper_bottom)


def _write_boundary(sheet: Sheet, lower: Box, top: float, boundary: BoundaryView, to: str) -> None:
    """Write into the band above a slot, downwards from ``top``, the use of a boundary's SLL wires and its streams."""
    x, right = lower.left + 8, lower.right - 6
    share = boundary.use_wires / boundary.capacity_wires if boundary.capacity_wires else 0.0
    y = top - 11
    draw_bar(sheet, Box(x + 24, y - 0.6, x + 84, y + 5.6), Use(share, 1.0))
    text = f"{to}{boundary.use_wires:,.0f} of {boundary.capacity_wires:,.0f} SLL wires ({share:.1%})"
    sheet.write(x + 90, y, clipped(text, right - x - 90, _SIZE), _SIZE)
    lines = [f"{arrow} {_list(streams)}" for arrow, streams in (("↓", boundary.down), ("↑", boundary.up)) if streams]
    for line in lines or ["no stream"]:
        y -= 9.5
        sheet.write(x + 24, y, clipped(line, right - x - 24, _SIZE), _SIZE, color=CROSSING if lines else QUIET)


def _draw_arrow(sheet: Sheet, x: float, start: float, end: float) -> None:
    style = {"arrowstyle": "-|>,head_width=0.28,head_length=0.5", "color": CROSSING, "linewidth": 1.6}
    style |= {"shrinkA": 0, "shrinkB": 0}
    sheet.axes.annotate("", xy=(x, end), xytext=(x, start), arrowprops=style, annotation_clip=False)


def _list(streams: Sequence[CrossingView]) -> str:
    return ",  ".join(stream_text(stream) for stream in streams)
