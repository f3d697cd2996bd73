"""Lay FPGAs out in rows from left to right, and draw the links between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from floorflow.view.box import Box, Point
from floorflow.view.palette import LINK, QUIET
from floorflow.view.sheet import Sheet
from floorflow.view.slots import LinkView

LANE = 26.0
"""Points left of a row for the link from the row above, and between rows for its path there."""
_GUTTER = 12.0
"""Points between two links that go round below a row."""
_ELBOW = 12.0
"""Points before the target at which a link changes its height."""
_BESIDE, _LOWER = 9.0, 7.0
"""Points beside an FPGA at which a link in a gutter goes down and up, and below other links at which it leaves."""


def rows_of(count: int, most: int = 4) -> tuple[range, ...]:
    """Share FPGAs numbered from 0 evenly over as few rows as hold them, ``most`` in each."""
    rows = -(-count // most)
    width = -(-count // rows)
    return tuple(range(start, min(start + width, count)) for start in range(0, count, width))


@dataclass(frozen=True)
class Row:
    """A row of FPGAs on the sheet: the numbers of its FPGAs, and where it begins and ends in points."""

    numbers: range
    left: float
    bottom: float
    right: float


@dataclass(frozen=True)
class Gutters:
    """The gutter of each link by its name: 0 between neighbours, else a number of its own from 1 on."""

    fpgas: tuple[str, ...]
    by_link: dict[str, int]

    @classmethod
    def of(cls, links: Sequence[LinkView], fpgas: Sequence[str]) -> Gutters:
        """Give each link that is not between neighbours a gutter."""
        neighbours = set(pairwise(fpgas))
        others = [link.name for link in links if link.fpgas not in neighbours]
        numbers = {name: number for number, name in enumerate(others, start=1)}
        return cls(tuple(fpgas), {link.name: numbers.get(link.name, 0) for link in links})

    @property
    def lane_below(self) -> float:
        """The room in points that links need below a row."""
        return LANE + _GUTTER * max(self.by_link.values(), default=0)

    def draw_link(self, sheet: Sheet, link: LinkView, ends: tuple[Box, Box], rows: Sequence[Row], gap: float) -> bool:
        """Draw a link from slot to slot; return whether its name and loads were written, as they are in a gutter."""
        numbers = [self.fpgas.index(fpga) for fpga in link.fpgas]
        first, last = (next(row for row in rows if number in row.numbers) for number in numbers)
        gutter = self.by_link[link.name]
        path = link_path(*ends, (first, last), gap, gutter)
        # Arrow heads where it carries streams, dashed if it carries none.
        if link.is_used:
            sheet.line(*path, colour=LINK, width=2.4, z=8)
        else:
            sheet.line(*path, colour=QUIET, width=1.0, dashes=(4, 3), z=8)
        for streams, (before, end) in zip(link.streams, (path[-2:], (path[1], path[0])), strict=True):
            if streams:
                sheet.arrow(before, end, head=9.0, colour=LINK, width=2.4, z=8)
        if gutter and sheet.style.is_whole:
            (left, y), (right, _) = sorted(path[2:4])
            there, back = link.loads
            text, colour = f"{link.name}  → {there}, ← {back}", LINK if link.is_used else QUIET
            sheet.write((left + right) / 2, y + 4.5, text, 6.8, align="middle", colour=colour, bold=True)
        return bool(gutter)


def link_path(start: Box, end: Box, rows: tuple[Row, Row], gap: float, gutter: int = 0) -> tuple[Point, ...]:
    """Return the corners of a link's path from the right side of one slot to the left side of another.

    ``rows`` hold its ends. Between neighbours in a row it changes its height just before its end; else it goes round
    below the row, in a gutter of its own, to the space before its end; beside its start it is apart from the others.
    """
    (_, from_y), (_, to_y) = start.centre, end.centre
    outer, lane = start.right + gap - _ELBOW, end.left - _ELBOW
    if rows[0] == rows[1] and not gutter:
        return (start.right, from_y), (lane, from_y), (lane, to_y), (end.left, to_y)
    gutter_y = rows[0].bottom - LANE / 2 - _GUTTER * gutter
    if gutter:
        outer, lane, from_y, to_y = start.right + _BESIDE, end.left - _BESIDE, from_y - _LOWER, to_y - _LOWER
    return (start.right, from_y), (outer, from_y), (outer, gutter_y), (lane, gutter_y), (lane, to_y), (end.left, to_y)
