"""Vivado's site ranges: their spelling, the sites and rectangles that they cover, and whether they exist."""

from __future__ import annotations

import re
from dataclasses import dataclass

from floorflow.verify.hardware.geometry import Device, Rectangle, Sites


@dataclass(frozen=True, slots=True)
class SiteRange:
    """A Vivado range ``KIND_XaYb:KIND_XcYd``."""

    kind: str
    left: int
    bottom: int
    right: int
    top: int

    @property
    def rows(self) -> int:
        """Bit mask over Y."""
        return ((1 << (self.top - self.bottom + 1)) - 1) << self.bottom


_NUMBER = "(0|[1-9][0-9]{0,4})"
_SITE = f"([A-Z0-9]+)_X{_NUMBER}Y{_NUMBER}"
_RANGE = re.compile(f"{_SITE}:{_SITE}")
"""Vivado's own spelling: ASCII digits without leading zeros."""


def parse_range(text: str) -> SiteRange | None:
    """Read a range; None unless it is lower-left:upper-right of one site type."""
    match = _RANGE.fullmatch(text)
    if match is None or match.group(1) != match.group(4):
        return None
    left, bottom, right, top = (int(match.group(i)) for i in (2, 3, 5, 6))
    return SiteRange(match.group(1), left, bottom, right, top) if left <= right and bottom <= top else None


def sites_of_range(device: Device, span: SiteRange) -> Sites:
    """Return the sites of the die that a range covers; holes inside it are harmless."""
    columns = ((span.kind, x) for x in range(span.left, span.right + 1))
    masks = {column: device.all_sites.get(column, 0) & span.rows for column in columns}
    return {column: mask for column, mask in masks.items() if mask}


def clock_region_rectangle(device: Device, span: SiteRange) -> Rectangle:
    """Return the rectangle of ``CLOCKREGION_XaYb:CLOCKREGION_XcYd``."""
    columns = device.raw["clock_regions"]["columns"]
    rows = device.region_rows
    return Rectangle(columns[span.left][0], span.bottom * rows, columns[span.right][1], (span.top + 1) * rows - 1)


def _row_span(device: Device, span: SiteRange) -> tuple[int, int]:
    """Return the CLB rows from the lowest to the highest site of a range, whole tiles."""
    lowest, highest = device.rows, -1
    for (kind, x), mask in sites_of_range(device, span).items():
        column = device.raw["site_columns"][kind][x]
        for region in range(len(device.raw["clock_region_layouts"])):
            run = device.tiles(column, region, device.whole)
            for tile in run.rectangles(column) if run else ():
                widens = tile.bottom < lowest or tile.top > highest
                if widens and device.column_mask(kind, column, tile) & mask:
                    lowest, highest = min(lowest, tile.bottom), max(highest, tile.top)
    return lowest, highest


def rectangle_of_range(device: Device, span: SiteRange) -> Rectangle:
    """Return the rectangle from the first to the last column and row of a range."""
    if span.kind == "CLOCKREGION":
        return clock_region_rectangle(device, span)
    columns = device.raw["site_columns"][span.kind]
    if span.kind == "SLICE":  # the Y of a SLICE is its CLB row
        return Rectangle(columns[span.left], span.bottom, columns[span.right], span.top)
    bottom, top = _row_span(device, span)
    return Rectangle(columns[span.left], bottom, columns[span.right], top)


def exists(device: Device, kind: str, x: int, y: int) -> bool:
    """Whether the die has the site."""
    return bool(device.all_sites.get((kind, x), 0) >> y & 1)


def within_device(device: Device, span: SiteRange) -> bool:
    """Whether the corners of a range lie within the numbering of the die (holes allowed)."""
    masks = [mask for (kind, _), mask in device.all_sites.items() if kind == span.kind]
    columns = len(device.raw["site_columns"].get(span.kind, []))
    return bool(masks) and span.right < columns and span.top < max(mask.bit_length() for mask in masks)
