"""A die counted column by column from its YAML file: which sites exist, what a rectangle and a range hold.

The file (schema ``floorflow-device/1``) gives one character a physical column for each row of clock regions. Sites are
kept as one bit mask over Y for each site type and X, so that sets of sites are compared with ``&`` and ``|``.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from floorflow.verify.records import RESOURCE_NAMES, Record, RectangleRecord

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

    @classmethod
    def of(cls, entry: RectangleRecord) -> "Rectangle":
        """Read a rectangle of a file."""
        return cls(*(entry[side] for side in ("left", "bottom", "right", "top")))

    @property
    def middle(self) -> tuple[float, float]:
        """Column and row of its middle."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def overlaps(self, other: "Rectangle") -> bool:
        """Whether the two share a column and a row."""
        across = self.left <= other.right and other.left <= self.right
        return across and self.bottom <= other.top and other.bottom <= self.top

    def around(self, other: "Rectangle") -> "Rectangle":
        """Return the least rectangle that holds both."""
        lower = min(self.left, other.left), min(self.bottom, other.bottom)
        return Rectangle(*lower, max(self.right, other.right), max(self.top, other.top))


@dataclass(frozen=True, slots=True)
class Ladder:
    """Tiles of one site type in a row of clock regions, counted from its top: ``up`` sites in ``height`` rows each."""

    top_row: int
    top_y: int
    tiles: int
    height: int
    up: int


@dataclass(frozen=True)
class Device:
    """One die, with tables made once of rows of CLBs and Y numbers of sites, each from the other."""

    raw: Record
    _y_masks: dict[tuple[str, int, int], int] = field(default_factory=dict)
    _row_masks: dict[tuple[str, int], int] = field(default_factory=dict)

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

    def regions_in(self, area: Rectangle) -> range:
        """Rows of clock regions that the rectangle touches."""
        return range(area.bottom // self.region_rows, area.top // self.region_rows + 1)

    def resources(self, area: Rectangle) -> dict[str, int]:
        """Count the five resources inside a rectangle."""
        return self.resources_of(self.sites(area))

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

    @cached_property
    def ladders(self) -> dict[str, list[Ladder]]:
        """For each site type its ladders, bottom to top."""
        return {kind: list(self._ladders(kind)) for kind in self.raw["site_columns"]}

    def _ladders(self, kind: str) -> Iterator[Ladder]:
        columns = self.raw["site_columns"][kind]
        for region, spread in enumerate(self.raw["site_rows"][kind]):
            entries = (self.legend_at(column, region) for column in columns)
            held = next((entry for entry in entries if entry.get("sites", {}).get(kind)), None)
            if spread is None or held is None:
                continue
            column = next(column for column in columns if self.legend_at(column, region) is held)
            up = held["sites"][kind] // columns.count(column)
            count = (spread[1] + 1 - spread[0]) // up
            yield Ladder((region + 1) * self.region_rows - 1, spread[1], count, held["tile_rows"], up)

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
        """Return every site inside a rectangle; a tile counts only if it lies wholly inside."""
        found: Sites = {}
        for kind, positions in self.raw["site_columns"].items():
            window = self.y_mask(kind, area.bottom, area.top)
            for x, column in enumerate(positions):
                if area.left <= column <= area.right:
                    mask = self.all_sites.get((kind, x), 0) & window
                    if mask:
                        found[kind, x] = mask
        return found

    def rows_by_column(self, sites: Sites, *, free: bool = True) -> dict[int, int]:
        """Return the CLB rows that sites take in each physical column; without ``free`` only of sites for logic."""
        rows: dict[int, int] = {}
        for (kind, x), mask in sites.items():
            if free or kind not in FREE_SITE_TYPES:
                column = self.raw["site_columns"][kind][x]
                rows[column] = rows.get(column, 0) | self.row_mask(kind, mask)
        return rows

    @cached_property
    def logic_rows(self) -> dict[int, int]:
        """The CLB rows of each physical column in which there are sites for logic."""
        return self.rows_by_column(self.all_sites, free=False)

    @cached_property
    def whole(self) -> Rectangle:
        """The whole die."""
        return Rectangle(0, 0, self.columns - 1, self.rows - 1)

    @cached_property
    def all_sites(self) -> Sites:
        """Every site of the die."""
        found: Sites = {}
        for kind, positions in self.raw["site_columns"].items():
            across = Counter(positions)
            for x, column in enumerate(positions):
                mask = self._column_sites(kind, column, across[column])
                if mask:
                    found[kind, x] = mask
        return found

    def _column_sites(self, kind: str, column: int, across: int) -> int:
        """Return the Y numbers of a kind's sites in a column of which each tile has so many side by side."""
        mask = 0
        for region, spread in enumerate(self.raw["site_rows"][kind]):
            entry = self.legend_at(column, region)
            per_tile, height = entry.get("sites", {}).get(kind, 0), entry.get("tile_rows")
            if spread is not None and per_tile and height:
                count = (self.region_rows - entry.get("first_row", 0)) // height * (per_tile // across)
                # Numbering is aligned to the top of a clock region: holes lie at the bottom.
                mask |= ((1 << count) - 1) << (spread[1] + 1 - count)
        return mask


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
