"""Rows of CLBs and Y numbers of sites, each from the other, and the sites of a rectangle, from tables made once a die.

What `Device.sites` counts tile by tile; floorplans of tens of thousands of pblocks need it at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from floorflow.verify.hardware.geometry import FREE_SITE_TYPES, Device, Rectangle, SiteColumn, Sites
from floorflow.verify.hardware.ranges import SiteRange, clock_region_rectangle, sites_of_range


@dataclass(frozen=True, slots=True)
class Ladder:
    """Tiles of one site type in a row of clock regions, counted from its top: ``up`` sites in ``height`` rows each."""

    top_row: int
    top_y: int
    tiles: int
    height: int
    up: int


@dataclass(frozen=True)
class Grid:
    """A die with tables."""

    device: Device
    _y_masks: dict[tuple[str, int, int], int] = field(default_factory=dict)
    _row_masks: dict[tuple[str, int], int] = field(default_factory=dict)

    @cached_property
    def ladders(self) -> dict[str, list[Ladder]]:
        """For each site type its ladders, bottom to top."""
        return {kind: list(self._ladders(kind)) for kind in self.device.raw["site_columns"]}

    def _ladders(self, kind: str) -> Iterator[Ladder]:
        device = self.device
        columns = device.raw["site_columns"][kind]
        for region, spread in enumerate(device.raw["site_rows"][kind]):
            entries = [(column, device.legend_at(column, region)) for column in dict.fromkeys(columns)]
            held = [(column, entry) for column, entry in entries if entry.get("sites", {}).get(kind)]
            if spread is None or not held:
                continue
            column, entry = held[0]
            up = entry["sites"][kind] // columns.count(column)
            count = (spread[1] + 1 - spread[0]) // up
            yield Ladder((region + 1) * device.region_rows - 1, spread[1], count, entry["tile_rows"], up)

    def y_mask(self, kind: str, bottom: int, top: int) -> int:
        """Return the Y numbers of all tiles that lie wholly inside some CLB rows."""
        key = kind, bottom, top
        if key not in self._y_masks:
            mask = 0
            for ladder in self.ladders[kind]:
                first = max(0, -((top - ladder.top_row) // ladder.height))
                last = min(ladder.tiles, (ladder.top_row + 1 - bottom) // ladder.height)
                if last > first:
                    mask |= ((1 << (last - first) * ladder.up) - 1) << (ladder.top_y + 1 - last * ladder.up)
            self._y_masks[key] = mask
        return self._y_masks[key]

    def row_mask(self, kind: str, sites: int) -> int:
        """Return the CLB rows of all tiles that have one of the sites."""
        key = kind, sites
        if key not in self._row_masks:
            mask = 0
            for ladder in self.ladders[kind]:
                tile, rows = (1 << ladder.up) - 1, (1 << ladder.height) - 1
                for number in range(ladder.tiles):
                    if sites & (tile << (ladder.top_y + 1 - (number + 1) * ladder.up)):
                        mask |= rows << (ladder.top_row + 1 - (number + 1) * ladder.height)
            self._row_masks[key] = mask
        return self._row_masks[key]

    def sites(self, area: Rectangle) -> Sites:
        """Return every site inside a rectangle, as `Device.sites` does."""
        found: Sites = {}
        for kind, positions in self.device.raw["site_columns"].items():
            window = self.y_mask(kind, area.bottom, area.top)
            for x, column in enumerate(positions):
                if area.left <= column <= area.right:
                    mask = self.device.all_sites.get((kind, x), 0) & window
                    if mask:
                        found[kind, x] = mask
        return found

    def column(self, where: SiteColumn) -> int:
        """Return the physical column of a column of sites."""
        kind, x = where
        return int(self.device.raw["site_columns"][kind][x])

    def sites_of(self, spans: Iterable[SiteRange]) -> Sites:
        """Return what some ranges add up to; ranges of clock regions hold every type."""
        found: Sites = {}
        for span in spans:
            if span.kind == "CLOCKREGION":
                add_to(found, self.sites(clock_region_rectangle(self.device, span)))
            else:
                add_to(found, sites_of_range(self.device, span))
        return found

    def rows_by_column(self, sites: Sites, *, free: bool = True) -> dict[int, int]:
        """Return the CLB rows that sites take in each physical column; without ``free`` only of sites for logic."""
        rows: dict[int, int] = {}
        for (kind, x), mask in sites.items():
            if free or kind not in FREE_SITE_TYPES:
                column = self.column((kind, x))
                rows[column] = rows.get(column, 0) | self.row_mask(kind, mask)
        return rows

    @cached_property
    def logic_rows(self) -> dict[int, int]:
        """The CLB rows of each physical column in which there are sites for logic."""
        return self.rows_by_column(self.device.all_sites, free=False)

    def boxes(self, sites: Sites) -> list[Rectangle]:
        """Return the rectangles that sites cover, columns without sites for logic between covered ones included."""
        rows = self.rows_by_column(sites)
        filled = self._filled(rows)
        boxes: list[Rectangle] = []
        columns = sorted(column for column, mask in filled.items() if mask)
        start = 0
        for place, column in enumerate(columns):
            after = columns[place + 1] if place + 1 < len(columns) else None
            if after != column + 1 or filled[after] != filled[column]:
                boxes += [Rectangle(columns[start], low, column, high) for low, high in runs(filled[column])]
                start = place + 1
        return boxes

    def _filled(self, rows: dict[int, int]) -> dict[int, int]:
        """Fill, where a column has no sites for logic, what is covered on both sides of it."""
        if not rows:
            return {}
        first, last = min(rows), max(rows)
        whole = (1 << self.device.rows) - 1
        from_left = self._carried(range(first, last + 1), rows, whole)
        from_right = self._carried(range(last, first - 1, -1), rows, whole)
        return {
            column: rows.get(column, 0) | (from_left[column] & from_right[column] & ~self.logic_rows.get(column, 0))
            for column in range(first, last + 1)
        }

    def _carried(self, columns: range, rows: dict[int, int], whole: int) -> dict[int, int]:
        """Return for each column the rows that the nearest column with sites for logic on one side covers."""
        carried, found = 0, {}
        for column in columns:
            found[column] = carried
            logic = self.logic_rows.get(column, 0)
            carried = (carried & (whole ^ logic)) | rows.get(column, 0)
        return found


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """Yield first and last of each run of set bits, from the lowest."""
    at = 0
    while mask:
        skip = (mask & -mask).bit_length() - 1
        mask >>= skip
        length = (~mask & (mask + 1)).bit_length() - 1
        yield at + skip, at + skip + length - 1
        mask >>= length
        at += skip + length


def add_to(found: Sites, more: Sites) -> None:
    """Add sites to those found so far."""
    for key, mask in more.items():
        found[key] = found.get(key, 0) | mask


def take_from(found: Sites, less: Sites) -> Sites:
    """Take sites away from those found so far; return those that were there."""
    taken: Sites = {}
    for key, mask in less.items():
        there = found.get(key, 0) & mask
        if there:
            taken[key] = there
            found[key] &= ~mask
            if not found[key]:
                del found[key]
    return taken
