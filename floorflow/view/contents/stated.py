"""What the picture of anybody's floorplan shows: pblocks as files state them, and where findings are."""

from __future__ import annotations

from dataclasses import dataclass, field

from floorflow.view.sheet.geometry import Box


@dataclass(frozen=True)
class StatedPblock:
    """One pblock: its number in the order of creation, the boxes of its sites in grid units, its fill in words.

    ``style`` is ``hard`` or ``soft``, ``severity`` that of its gravest finding, empty without one.
    """

    number: int
    name: str
    boxes: tuple[Box, ...]
    style: str
    fill: str
    severity: str

    @property
    def box(self) -> Box:
        """The largest of its boxes, where it is labelled."""
        return max(self.boxes, key=lambda box: box.width * box.height)


@dataclass(frozen=True)
class StatedFinding:
    """One finding as a line, and the boxes of the die where it is, if it is anywhere."""

    severity: str
    text: str
    boxes: tuple[Box, ...] = field(default_factory=tuple)


@dataclass(frozen=True)
class StatedFloorplan:
    """Everything that the picture shows beside the die."""

    title: str
    subtitle: str
    pblocks: tuple[StatedPblock, ...]
    findings: tuple[StatedFinding, ...]
    static: tuple[Box, ...]
    reserved: tuple[tuple[str, Box], ...]
