"""Rectangles to Vivado's site ranges and back.

A pblock lists every site type that occurs inside its rectangles, because Vivado leaves logic of an unlisted type
unconstrained (UG906). The corners of a range must exist; holes inside it (Laguna columns, the processor) are harmless.
LAGUNA sites are never listed: they belong to pblocks made for crossing flip-flops.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from floorflow.errors import PlatformError
from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.grid import IntArray, SiteMask
from floorflow.resources import Resources

PBLOCK_SITES = ("SLICE", "DSP48", "DSP48E2", "RAMB18", "RAMB36", "URAM288")
"""Site types of pblocks, in the order in which Vivado writes them."""

_CORNER = re.compile(r"([A-Z][A-Z0-9]*)_X(\d{1,6})Y(\d{1,6})")


@dataclass(frozen=True, slots=True)
class SiteBox:
    """Sites, or clock regions, X ``left..right`` and Y ``bottom..top`` of one type, inclusive."""

    site: str
    left: int
    bottom: int
    right: int
    top: int

    def __str__(self) -> str:
        return f"{self.site}_X{self.left}Y{self.bottom}:{self.site}_X{self.right}Y{self.top}"


@dataclass(frozen=True, slots=True)
class _Row:
    """The existing sites of one Y inside a rectangle: they lie within X ``left..right``, ends included."""

    y: int
    left: int
    right: int


def ranges(device: Device, *rects: Rect) -> tuple[str, ...]:
    """Return the site ranges of everything in disjoint rectangles: few, and with corners that exist.

    On xcku5p columns 21..56 and rows 60..179 give ``("SLICE_X9Y60:SLICE_X27Y179",
    "DSP48E2_X1Y24:DSP48E2_X3Y71", "RAMB18_X1Y24:RAMB18_X2Y71", "RAMB36_X1Y12:RAMB36_X2Y35")``.
    """
    names = [name for name in PBLOCK_SITES if name in device.site_types]
    return tuple(str(box) for name in names for rect in rects for box in _boxes(name, list(_rows(device, name, rect))))


def anchor(device: Device, *rects: Rect) -> str:
    """Return the lowest, then leftmost SLICE in rectangles; ValueError if they hold none."""
    lowest = [row for rect in rects for row in [next(_rows(device, "SLICE", rect), None)] if row is not None]
    if not lowest:
        raise ValueError(f"{', '.join(map(str, rects))} hold no SLICE")
    first = min(lowest, key=lambda row: (row.y, row.left))
    return f"SLICE_X{first.left}Y{first.y}"


def _rows(device: Device, name: str, rect: Rect) -> Iterator[_Row]:
    """Yield the rows of existing sites in a rectangle, from bottom to top; rows without any are left out."""
    mask = sites_inside(device, name, rect)
    for y in np.flatnonzero(mask.any(axis=1)).tolist():
        existing = np.flatnonzero(mask[y])
        yield _Row(y, int(existing[0]), int(existing[-1]))


def sites_inside(device: Device, name: str, rect: Rect) -> SiteMask:
    """Return the existing sites of a type whose tiles lie wholly in a rectangle: (Y numbers, X numbers) bool."""
    kind = device.site_types[name]
    columns, lowest = np.array(kind.columns), device.site_tiles[name] * kind.tile_rows
    in_rows = (lowest >= rect.bottom) & (lowest + kind.tile_rows - 1 <= rect.top)
    in_columns = (columns >= rect.left) & (columns <= rect.right)
    found: SiteMask = np.outer(in_rows, in_columns) & device.site_masks[name]
    return found


def _boxes(name: str, rows: list[_Row]) -> Iterator[SiteBox]:
    """Yield boxes from bottom to top, each as tall as it can be without a corner in a hole."""
    start = 0
    while start < len(rows):
        end = _tallest(rows, start)
        first = rows[start]
        yield SiteBox(name, first.left, first.y, first.right, rows[end].y)
        start = end + 1


def _tallest(rows: list[_Row], start: int) -> int:
    """Return the last row of the tallest box from row ``start`` that has existing corners and misses no site."""
    first, best = rows[start], start
    for index in range(start, len(rows)):
        row = rows[index]
        if row.left < first.left or row.right > first.right:
            break
        if row.left == first.left and row.right == first.right:
            best = index
    return best


def parse_range(device: Device, text: str) -> SiteBox:
    """Read ``SLICE_X0Y0:SLICE_X9Y9``, one site, or ``CLOCKREGION_X0Y0:CLOCKREGION_X3Y3``.

    PlatformError if the text is no range, or a corner does not exist on the device.
    """
    corners = [_CORNER.fullmatch(part) for part in text.split(":")]
    matches = [corner for corner in corners if corner is not None]
    if len(matches) != len(corners) or len(corners) > 2 or matches[0][1] != matches[-1][1]:
        raise PlatformError(f"'{text}' is no site range; expected for example SLICE_X0Y0:SLICE_X9Y9")
    box = SiteBox(matches[0][1], *(int(corner[group]) for corner in (matches[0], matches[-1]) for group in (2, 3)))
    if box.left > box.right or box.bottom > box.top:
        raise PlatformError(f"'{text}': the first corner must be the lower left one")
    for x, y in ((box.left, box.bottom), (box.left, box.top), (box.right, box.bottom), (box.right, box.top)):
        if not _exists(device, box.site, x, y):
            near = " and ".join(_nearest(device, box.site, x, y))
            there = f"; there are {near}" if near else ""
            raise PlatformError(f"'{text}': {device.part} has no {box.site}_X{x}Y{y}{there}")
    return box


def _exists(device: Device, name: str, x: int, y: int) -> bool:
    if name == "CLOCKREGION":
        return x < len(device.clock_region_columns) and y < device.clock_region_rows
    mask = device.site_masks.get(name)
    return mask is not None and y < mask.shape[0] and x < mask.shape[1] and bool(mask[y, x])


def _nearest(device: Device, name: str, x: int, y: int) -> list[str]:
    """Return the sites on both sides of one that a row of sites lacks: Laguna tiles or the shell's stand there."""
    mask = device.site_masks.get(name)
    if mask is None or y >= mask.shape[0] or x >= mask.shape[1]:
        return []
    beside = np.flatnonzero(mask[y])
    return [f"{name}_X{side[at]}Y{y}" for side, at in ((beside[beside < x], -1), (beside[beside > x], 0)) if len(side)]


def range_rect(device: Device, text: str) -> Rect:
    """Return the columns and CLB rows that a range spans, from its first tile to its last.

    PlatformError as `parse_range`.
    """
    box = parse_range(device, text)
    if box.site == "CLOCKREGION":
        lower, upper = device.clock_region(box.left, box.bottom), device.clock_region(box.right, box.top)
        return Rect(lower.left, lower.bottom, upper.right, upper.top)
    kind, tiles = device.site_types[box.site], device.site_tiles[box.site]
    bottom, top = int(tiles[box.bottom]) * kind.tile_rows, (int(tiles[box.top]) + 1) * kind.tile_rows - 1
    return Rect(kind.columns[box.left], bottom, kind.columns[box.right], top)


def parse_ranges(device: Device, texts: Iterable[str]) -> dict[str, SiteMask]:
    """Return which existing sites ranges name, (Y numbers, X numbers) bool for each type that they do.

    A clock-region range names the sites of every type in it, LAGUNA included; a site named twice counts once.
    PlatformError as `parse_range`.
    """
    named: dict[str, SiteMask] = {}
    for text in texts:
        box = parse_range(device, text)
        if box.site == "CLOCKREGION":
            rect = range_rect(device, text)
            parts = {name: sites_inside(device, name, rect) for name in device.site_types}
        else:
            parts = {box.site: np.zeros_like(device.site_masks[box.site])}
            parts[box.site][box.bottom : box.top + 1, box.left : box.right + 1] = True
        for name, part in parts.items():
            named[name] = named.get(name, np.zeros_like(part)) | (part & device.site_masks[name])
    return {name: mask for name, mask in sorted(named.items()) if mask.any()}


def count_sites(masks: Mapping[str, SiteMask]) -> dict[str, int]:
    """Return how many sites of each type are named."""
    return {name: int(mask.sum()) for name, mask in masks.items()}


def resources_of_sites(device: Device, masks: Mapping[str, SiteMask]) -> Resources:
    """Return what the named sites hold; a RAMB36 and its two RAMB18 are the same two blocks."""
    block_ram = np.zeros_like(device.site_masks["RAMB18"])
    if "RAMB36" in masks:
        block_ram |= np.repeat(masks["RAMB36"], 2, axis=0)
    if "RAMB18" in masks:
        block_ram |= masks["RAMB18"]
    return Resources(
        lut=_weight(device, masks, "SLICE", "LUT"),
        ff=_weight(device, masks, "SLICE", "FF"),
        bram18=int(block_ram.sum()),
        uram=_weight(device, masks, "URAM288", "URAM"),
        dsp=_weight(device, masks, "DSP48", "DSP") + _weight(device, masks, "DSP48E2", "DSP"),
    )


def _weight(device: Device, masks: Mapping[str, SiteMask], name: str, resource: str) -> int:
    """Return how much of a resource the named sites of one type hold: each an equal part of its tile."""
    if name not in masks:
        return 0
    kind = device.site_types[name]
    y, x = np.nonzero(masks[name])
    tiles: IntArray = device.counts(resource, kind.tile_rows)[device.site_tiles[name][y], np.array(kind.columns)[x]]
    return int(tiles.sum()) // (kind.across * kind.up)
