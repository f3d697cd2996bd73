"""Lay FPGAs out in rows from left to right, and draw the links between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.patches import FancyArrowPatch

from floorflow.view.geometry import Box
from floorflow.view.palette import LINK, QUIET
from floorflow.view.scene import CrossingView, LinkView
from floorflow.view.sheet import Sheet

Point = tuple[float, float]

MOST_IN_A_ROW = 4
LANE = 26.0
"""Points left of a row for the link from the row above, and between rows for its way there."""
_ELBOW = 12.0
"""Points before the target at which a link changes its height."""


def rows_of(count: int) -> tuple[range, ...]:
    """Share FPGAs numbered from 0 evenly over as few rows as hold them."""
    rows = -(-count // MOST_IN_A_ROW)
    width = -(-count // rows)
    return tuple(range(start, min(start + width, count)) for start in range(0, count, width))


@dataclass(frozen=True)
class Row:
    """A row of FPGAs on the sheet: the numbers of its FPGAs, and where it begins and ends in points."""

    numbers: range
    left: float
    bottom: float
    right: float


def link_way(start: Box, end: Box, row: Row, next_row: Row, gap: float) -> tuple[Point, ...]:
    """Return the corners of a link's way from the right side of one slot to the left side of another.

    Within a row it changes its height just before its end; to the next row it goes round below the row.
    """
    (_, from_y), (_, to_y) = start.centre, end.centre
    if row == next_row:
        turn = end.left - _ELBOW
        return (start.right, from_y), (turn, from_y), (turn, to_y), (end.left, to_y)
    outer, lane = start.right + gap - _ELBOW, next_row.left - _ELBOW
    gutter = row.bottom - LANE / 2
    return (start.right, from_y), (outer, from_y), (outer, gutter), (lane, gutter), (lane, to_y), (end.left, to_y)


def draw_link(sheet: Sheet, link: LinkView, way: Sequence[Point]) -> None:
    """Draw a link along its way: arrow heads where it carries streams, dashed if it carries none."""
    forward, backward = bool(link.forward.streams), bool(link.backward.streams)
    used = forward or backward
    x, y = zip(*way, strict=True)
    sheet.axes.plot(
        x,
        y,
        color=LINK if used else QUIET,
        linewidth=2.4 if used else 1.0,
        linestyle="solid" if used else (0, (4, 3)),
        solid_joinstyle="miter",
        solid_capstyle="butt",
        zorder=8,
    )
    if forward:
        _head(sheet, way[-2], way[-1])
    if backward:
        _head(sheet, way[1], way[0])


def _head(sheet: Sheet, start: Point, end: Point) -> None:
    length = 9.0
    reach = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    base = (end[0] - (end[0] - start[0]) * length / reach, end[1] - (end[1] - start[1]) * length / reach)
    arrow = FancyArrowPatch(base, end, arrowstyle="-|>", mutation_scale=13, shrinkA=0, shrinkB=0, zorder=9)
    arrow.set(color=LINK, linewidth=0)
    sheet.axes.add_artist(arrow)


def stream_text(stream: CrossingView) -> str:
    """Return a stream's ends and width: ``5→6 64 bit``."""
    return f"{'→'.join(stream.ends)} {stream.width_bits} bit"


def load_text(use_gbps: float, capacity_gbps: float) -> str:
    """Return a link's load in one direction."""
    return f"{use_gbps:.3g} of {capacity_gbps:g} Gb/s"
