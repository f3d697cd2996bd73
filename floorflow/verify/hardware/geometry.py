"""A die counted column by column from its YAML file: which sites exist, what a rectangle and a range hold.

The file (schema ``floorflow-device/1``) gives one character a physical column for each row of clock regions. Sites are
kept as one bit mask over Y for each site type and X, so that sets of sites are compared with ``&`` and ``|``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.records import RESOURCE_NAMES, Record

SiteColumn = tuple[str, int]
"""A site type and an X number."""

Sites = dict[SiteColumn, int]
"""For each site column a bit mask over Y."""

DEVICE_SCHEMA = "floorflow-device/1"

FREE_SITE_TYPES = ("LAGUNA",)
"""Site types that hold no logic of a module and that a pblock therefore need not list."""

RESOURCE_OF_SITE = {"RAMB18": "BRAM18", "URAM288": "URAM", "DSP48E2": "DSP", "DSP48": "DSP"}
"""Resource of which one site is one unit; a RAMB36 is its two RAMB18."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Physical columns ``left..right`` and CLB rows ``bottom..top``, inclusive."""

    left: int
    bottom: int
    right: int
    top: int

    @property
    def middle(self) -> tuple[float, float]:
        """Column and row of its middle."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def overlaps(self, other: Rectangle) -> bool:
        """Whether the two share a column and a row."""
        across = self.left <= other.right and other.left <= self.right
        return across and self.bottom <= other.top and other.bottom <= self.top

    def around(self, other: Rectangle) -> Rectangle:
        """Return the least rectangle that holds both."""
        lower = min(self.left, other.left), min(self.bottom, other.bottom)
        return Rectangle(*lower, max(self.right, other.right), max(self.top, other.top))


@dataclass(frozen=True, slots=True)
class TileRun:
    """The tiles of one column in one row of clock regions that lie wholly inside a rectangle.

    Tiles are numbered from the bottom: ``first``, ``first + 1``, ..., ``count`` of the ``in_region`` that there are.
    """

    bottom: int
    height: int
    first: int
    count: int
    in_region: int

    def rectangles(self, column: int) -> list[Rectangle]:
        """Return each tile's rectangle."""
        bottoms = range(self.bottom, self.bottom + self.count * self.height, self.height)
        return [Rectangle(column, bottom, column, bottom + self.height - 1) for bottom in bottoms]


@dataclass(frozen=True)
class Device:
    """One die."""

    raw: Record

    @property
    def columns(self) -> int:
        """Number of physical columns."""
        return len(next(iter(self.raw["layouts"].values())))

    @cached_property
    def region_rows(self) -> int:
        """CLB rows of a clock region."""
        return int(self.raw["rows_per_clock_region"])

    @property
    def rows(self) -> int:
        """Number of CLB rows."""
        return self.region_rows * len(self.raw["clock_region_layouts"])

    def slr_rows(self, number: int) -> tuple[int, int]:
        """First and last CLB row of an SLR."""
        first, last = self.raw["slrs"][number]["clock_region_rows"]
        return first * self.region_rows, (last + 1) * self.region_rows - 1

    def slr_rectangle(self, number: int) -> Rectangle:
        """Everything on an SLR."""
        bottom, top = self.slr_rows(number)
        return Rectangle(0, bottom, self.columns - 1, top)

    @cached_property
    def slr_sites(self) -> list[Sites]:
        """Every site of each SLR."""
        return [self.sites(self.slr_rectangle(number)) for number in range(len(self.raw["slrs"]))]

    @cached_property
    def slr_resources(self) -> list[dict[str, int]]:
        """Silicon of each SLR."""
        return [self.resources(self.slr_rectangle(number)) for number in range(len(self.raw["slrs"]))]

    def contains(self, area: Rectangle) -> bool:
        """Whether the rectangle is not empty and lies on the die."""
        return area.left <= area.right < self.columns and area.bottom <= area.top < self.rows

    def legend_at(self, column: int, region: int) -> Record:
        """Legend entry of a column in a row of clock regions."""
        layout = self.raw["layouts"][self.raw["clock_region_layouts"][region]]
        entry: Record = self.raw["legend"][layout[column]]
        return entry

    def has_fabric(self, column: int, row: int) -> bool:
        """Whether there is fabric at a column and CLB row: not the processor, nor nothing at all.

        The interface of UltraScale+'s processor is reached over the interconnect column beside it.
        """
        region = row // self.region_rows
        if not self.legend_at(column, region).get("description", "").startswith(("PS", "no fabric")):
            return True
        beside = (other for other in (column - 1, column + 1) if 0 <= other < self.columns)
        return any(self.legend_at(other, region)["kind"] == "interconnect" for other in beside)

    def tiles(self, column: int, region: int, area: Rectangle) -> TileRun | None:
        """Return the tiles of a column in a row of clock regions that lie wholly inside the rectangle, if any."""
        entry = self.legend_at(column, region)
        height = entry.get("tile_rows")
        if not height:
            return None
        rows = self.region_rows
        lowest = region * rows + entry.get("first_row", 0)
        in_region = ((region + 1) * rows - lowest) // height
        first = max(0, -((lowest - area.bottom) // height))
        last = min(in_region, (area.top + 1 - lowest) // height)
        return TileRun(lowest + first * height, height, first, last - first, in_region) if last > first else None

    def regions_in(self, area: Rectangle) -> range:
        """Rows of clock regions that the rectangle touches."""
        return range(area.bottom // self.region_rows, area.top // self.region_rows + 1)

    def resources(self, area: Rectangle) -> dict[str, int]:
        """Count the five resources inside a rectangle, column by column."""
        total = dict.fromkeys(RESOURCE_NAMES, 0)
        for region in self.regions_in(area):
            for column in range(area.left, area.right + 1):
                run = self.tiles(column, region, area)
                if run is None:
                    continue
                for name, amount in self.legend_at(column, region).get("resources", {}).items():
                    if name in total:
                        total[name] += run.count * amount
        return total

    def resources_of(self, sites: Sites) -> dict[str, int]:
        """Count the five resources of some sites; RAMB36 count by their RAMB18."""
        total = dict.fromkeys(RESOURCE_NAMES, 0)
        luts, flops = self._slice_resources
        for (kind, _), mask in sites.items():
            if kind == "SLICE":
                total["LUT"] += luts * mask.bit_count()
                total["FF"] += flops * mask.bit_count()
            elif kind in RESOURCE_OF_SITE:
                total[RESOURCE_OF_SITE[kind]] += mask.bit_count()
        return total

    @cached_property
    def _slice_resources(self) -> tuple[int, int]:
        """LUT and FF of one SLICE; the same for all SLICEs of a die."""
        for entry in self.raw["legend"].values():
            slices = entry.get("sites", {}).get("SLICE")
            if slices:
                return entry["resources"]["LUT"] // slices, entry["resources"]["FF"] // slices
        return 0, 0

    def sites(self, area: Rectangle) -> Sites:
        """Return every site inside a rectangle; a tile counts only if it lies wholly inside."""
        found: Sites = {}
        for kind, positions in self.raw["site_columns"].items():
            for x, column in enumerate(positions):
                if area.left <= column <= area.right:
                    mask = self.column_mask(kind, column, area)
                    if mask:
                        found[(kind, x)] = mask
        return found

    def column_mask(self, kind: str, column: int, area: Rectangle) -> int:
        """Return the bit mask over Y of the sites of one kind that a column has inside a rectangle."""
        across = self.raw["site_columns"][kind].count(column)
        mask = 0
        for region in self.regions_in(area):
            spread = self.raw["site_rows"][kind][region]
            per_tile = self.legend_at(column, region).get("sites", {}).get(kind, 0)
            run = self.tiles(column, region, area)
            if spread is None or not per_tile or run is None:
                continue
            up = per_tile // across
            # Numbering is aligned to the top of a clock region: holes lie at the bottom.
            lowest = spread[1] + 1 - (run.in_region - run.first) * up
            mask |= ((1 << run.count * up) - 1) << lowest
        return mask

    @cached_property
    def whole(self) -> Rectangle:
        """The whole die."""
        return Rectangle(0, 0, self.columns - 1, self.rows - 1)

    @cached_property
    def all_sites(self) -> Sites:
        """Every site of the die."""
        return self.sites(self.whole)


def union(first: Sites, second: Sites) -> Sites:
    """Sites of either."""
    return {key: first.get(key, 0) | second.get(key, 0) for key in sorted({*first, *second})}


def difference(first: Sites, second: Sites) -> Sites:
    """Sites of the first that the second lacks."""
    left = {key: mask & ~second.get(key, 0) for key, mask in first.items()}
    return {key: mask for key, mask in left.items() if mask}


def shared(first: Sites, second: Sites) -> Sites:
    """Sites of both."""
    both = {key: mask & second[key] for key, mask in first.items() if key in second}
    return {key: mask for key, mask in both.items() if mask}


def describe(sites: Sites) -> str:
    """Name how many sites there are and one of them."""
    if not sites:
        return "no site"
    kind, x = min(sites)
    mask = sites[(kind, x)]
    lowest = (mask & -mask).bit_length() - 1
    return f"{sum(mask.bit_count() for mask in sites.values())} sites such as {kind}_X{x}Y{lowest}"


def anchor_of(sites: Sites) -> str | None:
    """Return the lowest, then leftmost SLICE; None if there is none."""
    slices = [((mask & -mask).bit_length() - 1, x) for (kind, x), mask in sites.items() if kind == "SLICE"]
    if not slices:
        return None
    y, x = min(slices)
    return f"SLICE_X{x}Y{y}"
