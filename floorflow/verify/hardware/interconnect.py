"""What shares interconnect on a die, the rectangles that sites cover, and the free floor of a slot.

7 series: INT columns stand back to back, INT_L at even columns of the die and INT_R at odd ones, so that columns 2n and
2n + 1 share interconnect. UltraScale+: an INT column serves the column on either side (UG909).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from floorflow.verify.hardware.geometry import FREE_SITE_TYPES, Device, Rectangle, Sites, runs

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


def units(device: Device) -> list[tuple[int, int]]:
    """Return first and last column of what no edge may cut, from left to right, where logic or a hard block is."""
    joined = set()
    for region in range(len(device.raw["clock_region_layouts"])):
        for column in range(device.columns):
            if device.legend_at(column, region)["kind"] == JOINING:
                joined |= {column, column + 1}
    starts = [column for column in range(device.columns) if column == 0 or column not in joined]
    columns_of = device.raw["site_columns"]
    useful = {column for kind in columns_of if kind not in FREE_SITE_TYPES for column in columns_of[kind]}
    whole = [(first, after - 1) for first, after in pairwise([*starts, device.columns])]
    return [(first, last) for first, last in whole if useful.intersection(range(first, last + 1))]


def row_step(device: Device) -> int:
    """Return the rows of the tallest tile on the die: pblocks start and end at multiples of them."""
    used = {sign for name in device.raw["clock_region_layouts"] for sign in device.raw["layouts"][name]}
    return max(int(device.raw["legend"][sign].get("tile_rows", 1)) for sign in used)


@dataclass(frozen=True)
class Floor:
    """The free floor of one slot, from its first row to its last, counted from the raw die.

    ``keep_outs`` are those of its board.

    No edge of a pblock cuts an interconnect column off its neighbours, nor a tile of the tallest kind; what touches a
    keep-out is not free (docs/plan.md, *Free cells*).
    """

    device: Device
    rows: tuple[int, int]
    keep_outs: Sequence[Rectangle]

    @cached_property
    def _units(self) -> list[tuple[int, int]]:
        return units(self.device)

    @cached_property
    def _bands(self) -> list[tuple[int, int]]:
        step, (bottom, top) = row_step(self.device), self.rows
        return [(row, row + step - 1) for row in range(-(-bottom // step) * step, top + 2 - step, step)]

    @cached_property
    def free_cells(self) -> int:
        """Columns times rows of all that a pblock of several rectangles can cover."""
        return sum((top - bottom + 1) * self._free_columns(bottom, top) for bottom, top in self._bands)

    def _free_columns(self, bottom: int, top: int) -> int:
        """Return the columns of the widest clear runs of units in some rows."""
        runs: list[tuple[int, int]] = []
        for first, last in self._units:
            if not self._clear(Rectangle(first, bottom, last, top), ()):
                continue
            if runs and self._clear(Rectangle(runs[-1][0], bottom, last, top), ()):
                runs[-1] = (runs[-1][0], last)
            else:
                runs.append((first, last))
        return sum(last - first + 1 for first, last in runs)

    def _clear(self, area: Rectangle, others: Iterable[Rectangle]) -> bool:
        return not any(area.overlaps(other) for other in (*self.keep_outs, *others))

    def around(self, area: Rectangle, others: Sequence[Rectangle]) -> Iterator[Rectangle]:
        """Yield, of each span of rows, the widest rectangle around an area that is clear of keep-outs and others."""
        for bottom, _ in self._bands:
            for _, top in self._bands:
                tall = Rectangle(area.left, bottom, area.right, top)
                if bottom <= area.bottom and top >= area.top and self._clear(tall, others):
                    yield self._widened(tall, others)

    def _widened(self, area: Rectangle, others: Sequence[Rectangle]) -> Rectangle:
        for first, _ in reversed([unit for unit in self._units if unit[0] < area.left]):
            wider = Rectangle(first, area.bottom, area.right, area.top)
            if not self._clear(wider, others):
                break
            area = wider
        for _, last in [unit for unit in self._units if unit[1] > area.right]:
            wider = Rectangle(area.left, area.bottom, last, area.top)
            if not self._clear(wider, others):
                break
            area = wider
        return area
