"""What a picture needs to know of one FPGA's silicon, taken from the Platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from floorflow.errors import InputError
from floorflow.view.box import Box, Point, outside

if TYPE_CHECKING:
    from floorflow.hardware.device import Device
    from floorflow.hardware.geometry import Rect
    from floorflow.hardware.grid import Tile
    from floorflow.hardware.platform import Platform

FABRIC, HARD = "logic", "IO, transceivers, hard blocks"
ABSENT = "processor or no fabric: no sites there"
_KINDS = {
    "clb": FABRIC,
    "interconnect": FABRIC,
    "bram": "BRAM",
    "dsp": "DSP",
    "uram": "URAM",
    "laguna": "Laguna",
}


@dataclass(frozen=True)
class Die:
    """One FPGA in grid units: x in physical columns, y in CLB rows, both from the lower left corner.

    ``kinds`` holds one tuple for each row of clock regions, bottom first, with the kind of each column;
    ``column_bounds`` the first and last column of each column of clock regions; ``static`` what the shell
    occupies; ``reserved`` what the board's infrastructure occupies, by name; ``slots`` their regions, by name.
    """

    column_count: int
    row_count: int
    rows_per_clock_region: int
    height_over_width: float
    column_bounds: tuple[tuple[int, int], ...]
    slrs: tuple[tuple[str, Box], ...]
    kinds: tuple[tuple[str, ...], ...]
    static: tuple[Box, ...]
    reserved: tuple[tuple[str, Box], ...]
    slots: Mapping[str, Box]

    @property
    def proportion(self) -> float:
        """Height over width as drawn: the die's own, within limits that suit a screen."""
        return min(max(self.height_over_width, 0.7), 1.8)

    @property
    def kinds_present(self) -> set[str]:
        """The kinds of columns that there are."""
        return {kind for row in self.kinds for kind in row}

    def columns_of(self, kind: str) -> list[Box]:
        """Return the boxes of a kind of column, each as high as it is of that kind."""
        tops = [min(self.rows_per_clock_region * number, self.row_count) for number in range(len(self.kinds) + 1)]
        boxes = []
        for column, kinds in enumerate(zip(*self.kinds, strict=True)):
            for is_kind, rows in groupby(enumerate(kinds), key=lambda row: row[1] == kind):
                numbers = [number for number, _ in rows]
                if is_kind:
                    boxes.append(Box(column, tops[numbers[0]], column + 1, tops[numbers[-1] + 1]))
        return boxes

    def slr_at(self, row: float) -> str:
        """Return the SLR that a row lies in."""
        return next(name for name, slr in self.slrs if slr.bottom <= row < slr.top)


@dataclass(frozen=True)
class Frame:
    """Where a die lies on its sheet, in points, and how many columns and rows it has."""

    die: Box
    columns: int
    rows: int

    @classmethod
    def of(cls, die: Die, left: float, top: float, width: float, height: float | None = None) -> Frame:
        """Return where a die lies whose upper left corner is there; it is as high as it is drawn unless stated."""
        height = width * die.proportion if height is None else height
        return cls(Box(left, top - height, left + width, top), die.column_count, die.row_count)

    def point(self, x: float, y: float) -> Point:
        """Take a point from grid units to points."""
        return self.die.left + x * self.die.width / self.columns, self.die.bottom + y * self.die.height / self.rows

    def place(self, box: Box) -> Box:
        """Take a box from grid units to points."""
        return Box(*self.point(box.left, box.bottom), *self.point(box.right, box.top))


def die_of(platform: Platform, fpga: str) -> Die:
    """Take one FPGA's silicon from the platform.

    Raises InputError if the platform has no FPGA of that name.
    """
    device = next((item.device for item in platform.fpgas if item.name == fpga), None)
    if device is None:
        known = ", ".join(item.name for item in platform.fpgas)
        raise InputError(f"platform '{platform.name}' has no FPGA '{fpga}'; it has: {known}", hint="name one of these")
    regions = {slot.name: box_of(slot.region) for slot in platform.slots if slot.fpga == fpga}
    reserved = tuple(
        (item.name, box_of(item.reserved))
        for item in platform.infrastructure
        if item.reserved is not None and item.slot in regions
    )
    return silicon_of(device, _static(platform, fpga, device), reserved, regions)


def silicon_of(
    device: Device,
    static: tuple[Box, ...] = (),
    reserved: tuple[tuple[str, Box], ...] = (),
    slots: Mapping[str, Box] | None = None,
) -> Die:
    """Take the silicon of a die, with what is said of areas on it."""
    return Die(
        column_count=device.column_count,
        row_count=device.row_count,
        rows_per_clock_region=device.rows_per_clock_region,
        height_over_width=_proportion(device),
        column_bounds=tuple(device.clock_region_columns),
        slrs=tuple((slr.name, box_of(device.slr_region(slr.name))) for slr in device.slrs),
        kinds=tuple(tuple(_kind(char, device.legend[char]) for char in layout) for layout in device.layouts),
        static=static,
        reserved=reserved,
        slots=slots or {},
    )


def box_of(rect: Rect) -> Box:
    """Return the box around a rectangle of whole columns and rows, both inclusive."""
    return Box(rect.left, rect.bottom, rect.right + 1, rect.top + 1)


def _proportion(device: Device) -> float:
    """Return height over width: a column is about 1.2 rows wide, on 7-series, where it holds its INT, 2.2."""
    column_width_rows = 2.2 if device.architecture == "7series" else 1.2
    return device.row_count / (device.column_count * column_width_rows)


def _kind(char: str, tile: Tile) -> str:
    """Return the kind of a column as the key names it; ``.`` and ``s`` are the device files' holes and PS."""
    return _KINDS.get(tile.kind, ABSENT if char in ".s" else HARD)


def _static(platform: Platform, fpga: str, device: Device) -> tuple[Box, ...]:
    """Return what the shell keeps: the die outside the slots' regions, and keep-outs that no infrastructure has."""
    slots = [slot for slot in platform.slots if slot.fpga == fpga]
    reserved = {item.reserved for item in platform.infrastructure}
    keep_outs = tuple(box_of(rect) for slot in slots for rect in slot.keep_outs if rect not in reserved)
    return outside(box_of(device.bounds), tuple(box_of(slot.region) for slot in slots)) + keep_outs
