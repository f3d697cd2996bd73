"""What shares interconnect on a die, and the rectangles that sites cover.

7 series: INT columns stand back to back, INT_L at even columns of the die and INT_R at odd ones, so that columns 2n and
2n + 1 share interconnect. UltraScale+: an INT column serves the column on either side (UG909).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.hardware.geometry import Device, Rectangle, Sites, runs

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

    device: Device

    @cached_property
    def _pairs(self) -> list[Pair]:
        device = self.device
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
        rows, logic = self.device.rows_by_column(sites, free=False), self.device.logic_rows
        kinds = {kind for kind, _ in sites}
        for inside in sorted(rows):
            for pair in self._by_column.get(inside, ()):
                outside = pair.left + pair.right - inside
                if not rows[inside] & pair.rows or rows.get(outside, 0) & pair.rows:
                    continue
                held = self.device.legend_at(outside, pair.region).get("sites", {}).keys()
                if logic.get(outside, 0) & pair.rows and kinds & held:
                    yield Split(inside, outside, pair.region)

    def snapped(self, sites: Sites) -> Sites:
        """Return what snapping leaves: no site whose partner across the interconnect is not there (UG909)."""
        rows = self.device.rows_by_column(sites)
        left = dict(sites)
        while True:
            lost = self._odd(rows)
            if not lost:
                return left
            left = self._within(left, {column: mask & ~lost.get(column, 0) for column, mask in rows.items()})
            rows = self.device.rows_by_column(left)

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
        return self.device.rows_by_column(self.device.all_sites)

    def _within(self, sites: Sites, rows: Rows) -> Sites:
        """Return the sites of tiles that lie wholly in some rows of their columns."""
        found: Sites = {}
        for (kind, x), mask in sites.items():
            spans = runs(rows.get(self.device.raw["site_columns"][kind][x], 0))
            kept = sum(mask & self.device.y_mask(kind, low, high) for low, high in spans)
            if kept:
                found[kind, x] = kept
        return found


def boxes(device: Device, sites: Sites) -> list[Rectangle]:
    """Return the rectangles that sites cover, columns without sites for logic between covered ones included."""
    rows = device.rows_by_column(sites)
    filled = _filled(device, rows)
    boxes: list[Rectangle] = []
    columns = sorted(column for column, mask in filled.items() if mask)
    start = 0
    for place, column in enumerate(columns):
        after = columns[place + 1] if place + 1 < len(columns) else None
        if after != column + 1 or filled[after] != filled[column]:
            boxes += [Rectangle(columns[start], low, column, high) for low, high in runs(filled[column])]
            start = place + 1
    return boxes


def _filled(device: Device, rows: dict[int, int]) -> dict[int, int]:
    """Fill, where a column has no sites for logic, what is covered on both sides of it."""
    if not rows:
        return {}
    first, last = min(rows), max(rows)
    whole = (1 << device.rows) - 1
    from_left = _carried(device, range(first, last + 1), rows, whole)
    from_right = _carried(device, range(last, first - 1, -1), rows, whole)
    return {
        column: rows.get(column, 0) | (from_left[column] & from_right[column] & ~device.logic_rows.get(column, 0))
        for column in range(first, last + 1)
    }


def _carried(device: Device, columns: range, rows: dict[int, int], whole: int) -> dict[int, int]:
    """Return for each column the rows that the nearest column with sites for logic on one side covers."""
    carried, found = 0, {}
    for column in columns:
        found[column] = carried
        logic = device.logic_rows.get(column, 0)
        carried = (carried & (whole ^ logic)) | rows.get(column, 0)
    return found
