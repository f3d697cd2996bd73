"""Which columns of a die share interconnect, and what an edge of a pblock that parts them costs.

7 series: INT columns stand back to back, INT_L at even columns of the die and INT_R at odd ones, so that columns 2n
and 2n + 1 share interconnect. UltraScale+: an INT column serves the column on either side (UG909).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.hardware.geometry import Device, Sites
from floorflow.verify.hardware.grid import Grid, runs

JOINING = "interconnect"
"""Kind of column that belongs together with both its neighbours."""
Rows = dict[int, int]
"""CLB rows, as a mask, by physical column."""


def is_series_7(device: Device) -> bool:
    """Whether clock regions are 50 rows high."""
    return device.region_rows == 50


def partners(device: Device, column: int) -> range:
    """Return the columns that share interconnect with one, itself among them."""
    if is_series_7(device):
        # The outermost columns are those of I/O and clock managers: nothing of a region is there.
        return range(column & ~1, (column | 1) + 1)
    first = last = column
    while first > 0 and _joined(device, first - 1, first):
        first -= 1
    while last + 1 < device.columns and _joined(device, last, last + 1):
        last += 1
    return range(first, last + 1)


def _joined(device: Device, left: int, right: int) -> bool:
    rows = range(len(device.raw["clock_region_layouts"]))
    return any(device.legend_at(column, row)["kind"] == JOINING for row in rows for column in (left, right))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns that share interconnect in a row of clock regions, and the CLB rows of that."""

    left: int
    right: int
    region: int
    rows: int


@dataclass(frozen=True, slots=True)
class Split:
    """A pair of which a pblock has one column and not the other."""

    inside: int
    outside: int
    region: int


@dataclass(frozen=True)
class Interconnect:
    """The pairs of one die."""

    grid: Grid

    @cached_property
    def _pairs(self) -> list[Pair]:
        device = self.grid.device
        height, count = device.region_rows, len(device.raw["clock_region_layouts"])
        masks = [((1 << height) - 1) << (region * height) for region in range(count)]
        if is_series_7(device):
            even = range(0, device.columns - 1, 2)
            return [Pair(left, left + 1, region, mask) for left in even for region, mask in enumerate(masks)]
        return [
            Pair(column - 1, column + 1, region, mask)
            for column in range(1, device.columns - 1)
            for region, mask in enumerate(masks)
            if device.legend_at(column, region)["kind"] == JOINING
        ]

    @cached_property
    def _by_column(self) -> dict[int, list[Pair]]:
        found: dict[int, list[Pair]] = {}
        for pair in self._pairs:
            found.setdefault(pair.left, []).append(pair)
            found.setdefault(pair.right, []).append(pair)
        return found

    def splits(self, sites: Sites) -> Iterator[Split]:
        """Yield pairs with sites for logic on both sides, of which one side alone has sites of the pblock.

        A type that the pblock does not name at all is left out: it is told as unconstrained.
        """
        rows, logic = self.grid.rows_by_column(sites, free=False), self.grid.logic_rows
        kinds = {kind for kind, _ in sites}
        for inside in sorted(rows):
            for pair in self._by_column.get(inside, ()):
                outside = pair.left + pair.right - inside
                if not rows[inside] & pair.rows or rows.get(outside, 0) & pair.rows:
                    continue
                held = self.grid.device.legend_at(outside, pair.region).get("sites", {}).keys()
                if logic.get(outside, 0) & pair.rows and kinds & held:
                    yield Split(inside, outside, pair.region)

    def snapped(self, sites: Sites) -> Sites:
        """Return what snapping leaves: no site whose partner across the interconnect is not there (UG909)."""
        rows = self.grid.rows_by_column(sites)
        left = dict(sites)
        while True:
            lost = self._odd(rows)
            if not lost:
                return left
            left = self._within(left, {column: mask & ~lost.get(column, 0) for column, mask in rows.items()})
            rows = self.grid.rows_by_column(left)

    def _odd(self, rows: Rows) -> Rows:
        """Return rows of columns whose partner has sites there that the pblock has not."""
        lost: Rows = {}
        for column, mask in rows.items():
            for pair in self._by_column.get(column, ()):
                other = pair.left + pair.right - column
                odd = mask & pair.rows & self._all_rows.get(other, 0) & ~rows.get(other, 0)
                if odd:
                    lost[column] = lost.get(column, 0) | odd
        return lost

    @cached_property
    def _all_rows(self) -> Rows:
        return self.grid.rows_by_column(self.grid.device.all_sites)

    def _within(self, sites: Sites, rows: Rows) -> Sites:
        """Return the sites of tiles that lie wholly in some rows of their columns."""
        found: Sites = {}
        for (kind, x), mask in sites.items():
            spans = runs(rows.get(self.grid.column((kind, x)), 0))
            kept = sum(mask & self.grid.y_mask(kind, low, high) for low, high in spans)
            if kept:
                found[kind, x] = kept
        return found
