"""Axis-parallel boxes, in device columns and rows or in points on the sheet (1/72 inch)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with ``left < right`` and ``bottom < top``; edges are coordinates, not cells."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, x: float, y: float, width: float, height: float) -> Box:
        """Return the box of that size whose centre is (x, y)."""
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    @classmethod
    def of_cells(cls, rectangle: Mapping[str, int]) -> Box:
        """Return the box around whole columns and rows, as plan.json states them: both ends inclusive."""
        return cls(rectangle["left"], rectangle["bottom"], rectangle["right"] + 1, rectangle["top"] + 1)

    @property
    def width(self) -> float:
        """Extent along x."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Extent along y."""
        return self.top - self.bottom

    @property
    def area(self) -> float:
        """Product of both extents."""
        return self.width * self.height

    @property
    def centre(self) -> Point:
        """Middle point (x, y)."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def overlaps(self, other: Box, gap: float = 0.0) -> bool:
        """Whether the two come closer than ``gap`` to each other; touching edges do not overlap."""
        beside = self.right + gap <= other.left or other.right + gap <= self.left
        return not (beside or self.top + gap <= other.bottom or other.top + gap <= self.bottom)

    def holds(self, other: Box) -> bool:
        """Whether ``other`` lies inside, edges included."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.bottom <= other.bottom
            and other.top <= self.top
        )

    def grown(self, by: float) -> Box:
        """Return the box that is larger by so much at each side."""
        return Box(self.left - by, self.bottom - by, self.right + by, self.top + by)

    def without(self, other: Box) -> tuple[Box, ...]:
        """Return what is left of this box outside ``other``, cut into at most four boxes."""
        if not self.overlaps(other):
            return (self,)
        bottom, top = max(self.bottom, other.bottom), min(self.top, other.top)
        pieces = (
            Box(self.left, self.bottom, self.right, bottom),
            Box(self.left, top, self.right, self.top),
            Box(self.left, bottom, max(self.left, other.left), top),
            Box(min(self.right, other.right), bottom, self.right, top),
        )
        return tuple(piece for piece in pieces if piece.width > 0 and piece.height > 0)


def outside(area: Box, holes: tuple[Box, ...]) -> tuple[Box, ...]:
    """Return ``area`` less all ``holes``, cut into boxes that do not overlap."""
    pieces: tuple[Box, ...] = (area,)
    for hole in holes:
        pieces = tuple(rest for piece in pieces for rest in piece.without(hole))
    return pieces


def borders(boxes: Sequence[Box]) -> Iterator[tuple[Point, Point]]:
    """Yield the lines between what disjoint boxes cover and the rest, without those between boxes that touch."""
    xs = sorted({x for box in boxes for x in (box.left, box.right)})
    ys = sorted({y for box in boxes for y in (box.bottom, box.top)})
    covered = {
        (column, row)
        for column, (left, right) in enumerate(pairwise(xs))
        for row, (bottom, top) in enumerate(pairwise(ys))
        if any(box.holds(Box(left, bottom, right, top)) for box in boxes)
    }
    for row, y in enumerate(ys):
        sides = [((column, row) in covered) - ((column, row - 1) in covered) for column in range(len(xs) - 1)]
        yield from (((start, y), (end, y)) for start, end in _runs(xs, sides))
    for column, x in enumerate(xs):
        sides = [((column, row) in covered) - ((column - 1, row) in covered) for row in range(len(ys) - 1)]
        yield from (((x, start), (x, end)) for start, end in _runs(ys, sides))


def _runs(cuts: Sequence[float], sides: Sequence[int]) -> Iterator[Point]:
    """Yield from where to where the same side of a line is covered, if one alone is."""
    for side, parts in groupby(zip(sides, pairwise(cuts), strict=True), key=itemgetter(0)):
        ends = [end for _, part in parts for end in part]
        if side:
            yield ends[0], ends[-1]
