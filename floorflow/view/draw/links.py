"""Lay FPGAs out in rows from left to right, and draw the links between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.patches import FancyArrowPatch

from floorflow.view.contents.scene import CrossingView, LinkView
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import LINK, QUIET
from floorflow.view.sheet.sheet import Sheet

Point = tuple[float, float]

MOST_IN_A_ROW = 4
LANE = 26.0
"""Points left of a row for the link from the row above, and between rows for its path there."""
_GUTTER = 12.0
"""Points between two links that go round below a row."""
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


def gutters_of(links: Sequence[LinkView], fpgas: Sequence[str]) -> dict[str, int]:
    """Return the gutter of each link by its name: 0 between neighbours, else a number of its own from 1 on."""
    place = {name: number for number, name in enumerate(fpgas)}
    apart = {link.name: place[link.fpgas[1]] - place[link.fpgas[0]] for link in links}
    others = [name for name, distance in apart.items() if distance != 1]
    return dict.fromkeys(apart, 0) | {name: number for number, name in enumerate(others, start=1)}


def lane_below(gutters: Mapping[str, int]) -> float:
    """Return the room in points that links need below a row."""
    return LANE + _GUTTER * max(gutters.values(), default=0)


def link_path(start: Box, end: Box, rows: tuple[Row, Row], gap: float, gutter: int = 0) -> tuple[Point, ...]:
    """Return the corners of a link's path from the right side of one slot to the left side of another.

    ``rows`` hold its ends. Between neighbours in a row it changes its height just before its end; else it goes round
    below the row, in a gutter of its own, to the space before its end.
    """
    (_, from_y), (_, to_y) = start.centre, end.centre
    outer, lane = start.right + gap - _ELBOW, end.left - _ELBOW
    if rows[0] == rows[1] and not gutter:
        return (start.right, from_y), (lane, from_y), (lane, to_y), (end.left, to_y)
    gutter_y = rows[0].bottom - LANE / 2 - _GUTTER * gutter
    return (start.right, from_y), (outer, from_y), (outer, gutter_y), (lane, gutter_y), (lane, to_y), (end.left, to_y)


def draw_link(sheet: Sheet, link: LinkView, path: Sequence[Point]) -> None:
    """Draw a link along its path: arrow heads where it carries streams, dashed if it carries none."""
    forward, backward = bool(link.forward.streams), bool(link.backward.streams)
    used = forward or backward
    x, y = zip(*path, strict=True)
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
        _head(sheet, path[-2], path[-1])
    if backward:
        _head(sheet, path[1], path[0])


def label_gutter(sheet: Sheet, link: LinkView, path: Sequence[Point]) -> None:
    """Write a link's name and loads above its gutter."""
    (left, y), (right, _) = sorted(path[2:4])
    loads = f"→ {load_text(link.forward.use_gbps, link.gbps)}, ← {load_text(link.backward.use_gbps, link.gbps)}"
    used = bool(link.forward.streams or link.backward.streams)
    text, colour = f"{link.name}  {loads}", LINK if used else QUIET
    sheet.write((left + right) / 2, y + 3, text, 6.8, ha="center", va="bottom", color=colour, weight="bold")


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
