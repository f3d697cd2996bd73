"""Rectangles on a device: physical columns and CLB rows, both inclusive.

SLICE numbers are no coordinates: block RAM, DSP and interconnect columns stand between SLICE columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Rect:
    """Columns ``left..right`` and CLB rows ``bottom..top`` of a device, all four inclusive."""

    left: int
    bottom: int
    right: int
    top: int

    def __post_init__(self) -> None:
        if self.left > self.right or self.bottom > self.top:
            raise ValueError(f"empty rectangle: {self.left}..{self.right} x {self.bottom}..{self.top}")

    @property
    def columns(self) -> int:
        """Number of physical columns."""
        return self.right - self.left + 1

    @property
    def rows(self) -> int:
        """Number of CLB rows."""
        return self.top - self.bottom + 1

    def overlaps(self, other: "Rect") -> bool:
        """Whether both share at least one column and row."""
        return (
            self.left <= other.right
            and other.left <= self.right
            and self.bottom <= other.top
            and other.bottom <= self.top
        )

    def contains(self, other: "Rect") -> bool:
        """Whether ``other`` lies wholly inside."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.bottom <= other.bottom
            and other.top <= self.top
        )

    def shared(self, other: "Rect") -> "Rect":
        """Return what both cover, of rectangles that overlap."""
        left, right = max(self.left, other.left), min(self.right, other.right)
        return Rect(left, max(self.bottom, other.bottom), right, min(self.top, other.top))

    def as_tuple(self) -> tuple[int, int, int, int]:
        """Return ``(left, bottom, right, top)``, the order of rectangles in arrays."""
        return self.left, self.bottom, self.right, self.top


def bounding_box(rects: Sequence[Rect]) -> Rect:
    """Return the least rectangle around one or more others."""
    return Rect(
        min(rect.left for rect in rects),
        min(rect.bottom for rect in rects),
        max(rect.right for rect in rects),
        max(rect.top for rect in rects),
    )
