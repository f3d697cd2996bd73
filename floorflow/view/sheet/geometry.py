"""Axis-parallel boxes, in device columns and rows or in points on the sheet (1/72 inch)."""

from __future__ import annotations

from dataclasses import dataclass

POINTS_PER_INCH = 72


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

    @property
    def width(self) -> float:
        """Extent along x."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Extent along y."""
        return self.top - self.bottom

    @property
    def centre(self) -> tuple[float, float]:
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
