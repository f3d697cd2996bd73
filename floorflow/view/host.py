"""Draw the streams that leave the picture: from and to the host, from and to other FPGAs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.patches import FancyArrowPatch

from floorflow.view.geometry import Box
from floorflow.view.palette import BAR
from floorflow.view.scene import StreamView
from floorflow.view.sheet import Frame, Sheet
from floorflow.view.text import Occupied, block_size

_SIZE = 6.8
_REACH = 14.0
"""Points between the die's edge and the text of an outside end: the strip of the clock regions' numbers."""


def draw_far_ends(
    sheet: Sheet, frame: Frame, streams: Sequence[StreamView], labels: Mapping[str, Box], occupied: Occupied
) -> None:
    """Draw an arrow between the nearer side of the die and each module with an end elsewhere."""
    for stream in streams:
        near = stream.target if stream.source is None else stream.source
        if near is not None and stream.far_end:
            _draw_far_end(sheet, frame, stream, labels[near], occupied)


def _draw_far_end(sheet: Sheet, frame: Frame, stream: StreamView, module: Box, occupied: Occupied) -> None:
    lines = (stream.far_end, f"{stream.width_bits} bit")
    width, height = block_size(lines, _SIZE, bold=True)
    x, y = module.centre
    at_left = x < frame.die.centre[0]
    middle = frame.die.left - _REACH - width / 2 if at_left else frame.die.right + _REACH + width / 2
    box = _free_beside(Box.around(middle, y, width, height), occupied)
    occupied.take(box)
    style: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "weight": "bold",
        "color": BAR,
        "linespacing": 1.1,
    }
    sheet.write(*box.centre, "\n".join(lines), _SIZE, **style)
    outer = (box.right + 2 if at_left else box.left - 2, box.centre[1])
    inner = (module.left if at_left else module.right, y)
    start, end = (outer, inner) if stream.source is None else (inner, outer)
    sheet.line(start, end, color="white", alpha=0.75, linewidth=3.4, zorder=9)
    arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, shrinkA=0, shrinkB=0, zorder=10)
    arrow.set(color=BAR, linewidth=1.6)
    sheet.axes.add_artist(arrow)


def _free_beside(box: Box, occupied: Occupied) -> Box:
    """Return the box moved up or down to the nearest height at which nothing is written."""
    x, y = box.centre
    steps = sorted(range(-80, 81), key=lambda step: (abs(step), step))
    moved = (Box.around(x, y + 3 * step, box.width, box.height) for step in steps)
    return next((candidate for candidate in moved if occupied.free(candidate, 2.0)), box)
