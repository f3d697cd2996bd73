"""One die: its columns, clock regions and sites, and how much a rectangle holds.

Positions are physical columns (0 is the left-most) and CLB rows (0 is the lowest; a SLICE's Y is its row).
The facts come from ``platforms/devices/<part>.yaml``; ``floorflow.hardware.device_file`` reads them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from floorflow.hardware.geometry import Rect
from floorflow.hardware.grid import IntArray, PrefixSums, SiteMask, Tile, cell_kinds, tile_counts
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.technology import Architecture, Technology, technology_of


@dataclass(frozen=True)
class Slr:
    """A super logic region: CLB rows ``bottom..top``, inclusive."""

    name: str
    bottom: int
    top: int


@dataclass(frozen=True)
class SiteType:
    """How the sites of one type are numbered.

    ``columns[x]`` is the physical column of the sites with that X; ``rows[y]`` the Y range of clock-region row
    ``y``, or None. A tile is ``across`` x ``up`` sites. Y counts down from the top of the clock region: the last
    number of a row belongs to its top tile (HBM parts have no DSP in the lowest 15 rows of the die).
    """

    name: str
    columns: tuple[int, ...]
    rows: tuple[tuple[int, int] | None, ...]
    tile_rows: int
    across: int
    up: int


@dataclass(frozen=True, eq=False)
class Device:
    """A die's geometry. ``layouts`` has one string a clock-region row, bottom to top, a character a column."""

    part: str
    die: str
    architecture: Architecture
    rows_per_clock_region: int
    clock_region_columns: tuple[tuple[int, int], ...]
    layouts: tuple[str, ...]
    legend: Mapping[str, Tile]
    slrs: tuple[Slr, ...]
    site_types: Mapping[str, SiteType]
    sll_wires: tuple[int, ...]
    """Wires of each boundary between neighbouring SLRs, bottom to top."""
    confidence: Mapping[str, str] = field(default_factory=dict)
    """How sure its source is of a fact, in words."""

    @property
    def technology(self) -> Technology:
        """Family facts that cost models need."""
        return technology_of(self.part)

    @property
    def column_count(self) -> int:
        """Number of physical columns."""
        return len(self.layouts[0])

    @property
    def clock_region_rows(self) -> int:
        """Number of clock-region rows."""
        return len(self.layouts)

    @property
    def row_count(self) -> int:
        """Number of CLB rows."""
        return self.clock_region_rows * self.rows_per_clock_region

    @property
    def bounds(self) -> Rect:
        """The whole die."""
        return Rect(0, 0, self.column_count - 1, self.row_count - 1)

    @property
    def row_step(self) -> int:
        """Legal pblocks start at multiples of this many rows, so that no hard block's tile is cut."""
        return max(tile.tile_rows for char, tile in self.legend.items() if any(char in text for text in self.layouts))

    def clock_region(self, x: int, y: int) -> Rect:
        """Return the bounds of clock region ``X<x>Y<y>``."""
        left, right = self.clock_region_columns[x]
        bottom = y * self.rows_per_clock_region
        return Rect(left, bottom, right, bottom + self.rows_per_clock_region - 1)

    def slr_region(self, name: str) -> Rect:
        """Return the bounds of an SLR; an unknown name raises KeyError."""
        for slr in self.slrs:
            if slr.name == name:
                return Rect(0, slr.bottom, self.column_count - 1, slr.top)
        raise KeyError(name)

    @cached_property
    def units(self) -> tuple[tuple[int, int], ...]:
        """Runs of columns that no pblock edge may cut: an interconnect column and both its neighbours.

        On UltraScale+ an INT column serves the columns on its left and on its right (UG909, programmable units). On
        7-series every CLB has its own and layouts show none: each column is a unit.
        """
        joined = {
            edge
            for layout in self.layouts
            for column, char in enumerate(layout)
            if self.legend[char].kind == "interconnect"
            for edge in (column, column + 1)
        }
        starts = [column for column in range(self.column_count) if column == 0 or column not in joined]
        return tuple((start, end - 1) for start, end in pairwise([*starts, self.column_count]))

    @cached_property
    def fabric(self) -> SiteMask:
        """Where there is fabric, not the processor or nothing: (clock-region rows, columns) bool.

        A column beside an interconnect column is fabric with it: on UltraScale+ the processor's interface is one.
        """
        open_tiles = np.array([[not self.legend[char].is_closed for char in layout] for layout in self.layouts])
        found = open_tiles.copy()
        for start, end in self.units:
            found[:, start : end + 1] = open_tiles[:, start : end + 1].any(axis=1, keepdims=True)
        return found

    def cut_to_fabric(self, rect: Rect) -> Rect:
        """Return a legal rectangle without the columns and rows at its edges that hold no fabric, and all its sites."""
        rows = slice(rect.bottom // self.rows_per_clock_region, rect.top // self.rows_per_clock_region + 1)
        inside = self.fabric[rows, rect.left : rect.right + 1]
        columns, regions = np.flatnonzero(inside.any(axis=0)), np.flatnonzero(inside.any(axis=1))
        if not columns.size:
            return rect
        first, last = int(columns[0]) + rect.left, int(columns[-1]) + rect.left
        left = min((edge for edge in self.left_edges.tolist() if first <= edge <= last), default=rect.left)
        right = max((edge for edge in self.right_edges.tolist() if left <= edge <= last), default=rect.right)
        low, high = (int(regions[at]) + rows.start for at in (0, -1))
        bottom = max(rect.bottom, low * self.rows_per_clock_region)
        return Rect(left, bottom, right, min(rect.top, (high + 1) * self.rows_per_clock_region - 1))

    @cached_property
    def _usable_units(self) -> tuple[tuple[int, int], ...]:
        """Units in which some row has logic or a hard block."""
        usable = {p for site_type in self.site_types.values() if site_type.name != "LAGUNA" for p in site_type.columns}
        return tuple((start, end) for start, end in self.units if usable.intersection(range(start, end + 1)))

    @cached_property
    def left_edges(self) -> IntArray:
        """Columns at which a pblock may start, ascending: (n,) int."""
        return np.array([start for start, _ in self._usable_units], dtype=np.int64)

    @cached_property
    def right_edges(self) -> IntArray:
        """Columns at which a pblock may end, ascending: (n,) int."""
        return np.array([end for _, end in self._usable_units], dtype=np.int64)

    @cached_property
    def cell_kinds(self) -> IntArray:
        """Numbers that are equal where column and row of a tile are of one kind: (rows, columns) int."""
        return cell_kinds(self.layouts, self.legend, self.rows_per_clock_region)

    @cached_property
    def row_boundaries(self) -> IntArray:
        """What lies above each row: 1 clock spine, 2 edge of a clock region, 3 edge of an SLR, else 0: (rows,) int."""
        rows = self.rows_per_clock_region
        above = np.arange(1, self.row_count + 1) % rows
        found = np.where(above == rows // 2, 1, 0)
        found[above == 0] = 2
        found[[slr.top for slr in self.slrs]] = 3
        return found

    def counts(self, name: str, pitch: int) -> IntArray:
        """Return how many of a site type or resource each tile of ``pitch`` rows holds: (tiles, columns) int."""
        return tile_counts(self.layouts, self.legend, self.rows_per_clock_region, pitch, name)

    @cached_property
    def site_tiles(self) -> Mapping[str, IntArray]:
        """For each site type, the tile in which each Y lies, counted from the bottom of the die: (Y numbers,) int."""
        return {name: self._tiles_of(site_type) for name, site_type in self.site_types.items()}

    def _tiles_of(self, site_type: SiteType) -> IntArray:
        per_region = self.rows_per_clock_region // site_type.tile_rows
        tiles: list[int] = []
        for y, span in enumerate(site_type.rows):
            if span is not None:
                count = (span[1] - span[0] + 1) // site_type.up
                tiles += range((y + 1) * per_region - count, (y + 1) * per_region)
        return np.repeat(np.array(tiles, dtype=np.int64), site_type.up)

    @cached_property
    def site_masks(self) -> Mapping[str, SiteMask]:
        """For each site type, which sites exist: (Y numbers, X numbers) bool."""
        return {
            name: (self.counts(name, kind.tile_rows) > 0)[np.ix_(self.site_tiles[name], np.array(kind.columns))]
            for name, kind in self.site_types.items()
        }

    @cached_property
    def _resource_sums(self) -> PrefixSums:
        return self._sums_of(RESOURCE_NAMES)

    @cached_property
    def _site_sums(self) -> PrefixSums:
        return self._sums_of(tuple(self.site_types))

    def _sums_of(self, names: Sequence[str]) -> PrefixSums:
        pitches = [self._pitch_of(name) for name in names]
        return PrefixSums.of([self.counts(*each) for each in zip(names, pitches, strict=True)], pitches)

    def _pitch_of(self, name: str) -> int:
        """Return the rows of the tiles that hold a site type or resource."""
        holders = (tile for tile in self.legend.values() if name in tile.resources or name in tile.sites)
        return max((tile.tile_rows for tile in holders), default=self.rows_per_clock_region)

    def resources_of(self, rects: IntArray) -> IntArray:
        """Return what each rectangle holds.

        Parameters
        ----------
        rects
            (n, 4) int: left, bottom, right, top, inclusive; what lies outside the die holds nothing.

        Returns
        -------
        (n, 5) int, in the order of `RESOURCE_NAMES`.

        """
        return self._resource_sums.inside(rects)

    def resources(self, rect: Rect) -> Resources:
        """Return what a rectangle holds; hard blocks count only if their tile is wholly inside."""
        amounts = self.resources_of(np.array([rect.as_tuple()], dtype=np.int64))[0]
        return Resources(*(int(amount) for amount in amounts))

    def sites(self, rect: Rect) -> dict[str, int]:
        """Return how many sites of each type a rectangle holds, LAGUNA included; types with none are left out."""
        counts = self._site_sums.inside(np.array([rect.as_tuple()], dtype=np.int64))[0].tolist()
        return {name: count for name, count in zip(self.site_types, counts, strict=True) if count}
