"""What reconfigurable, snapping and routing-contained pblocks must keep to at their edges (UG909)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from floorflow.verify.hardware.geometry import FREE_SITE_TYPES, Sites, difference
from floorflow.verify.hardware.grid import Grid
from floorflow.verify.xdc.findings import ERROR, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Pblock

JOINING = "interconnect"


@dataclass(frozen=True)
class EdgeJudge:
    """Judges the edges of pblocks on one die."""

    grid: Grid
    floorplan: Floorplan
    findings: Findings

    def judge(self, blocks: list[Pblock]) -> None:
        """Judge every pblock whose edges matter, and of 7 series what frames two share."""
        dynamic = [block for block in blocks if self.floorplan.is_reconfigurable(block)]
        for block in blocks:
            is_dynamic = block in dynamic
            if not block.sites or not (is_dynamic or block.snaps or block.is_set("CONTAIN_ROUTING")):
                continue
            severity = ERROR if is_dynamic and not block.snaps else ""
            self._interconnect(block, severity)
            if is_dynamic or block.snaps:
                self._tiles(block, severity)
            if is_dynamic or block.is_set("RESET_AFTER_RECONFIG"):
                self._regions(block)
        if self._is_series_7:
            self._frames(dynamic)

    @cached_property
    def _is_series_7(self) -> bool:
        """Whether configuration frames are as high as clock regions: so on 7 series, whose device files say it."""
        return "DSP48" in self.grid.device.raw["site_columns"] and "DSP48E2" not in self.grid.device.raw["site_columns"]

    def _interconnect(self, block: Pblock, severity: str) -> None:
        """Find columns on one side of an interconnect column alone (UltraScale+: both sides share it)."""
        if self._is_series_7:
            return
        rows = self.grid.rows_by_column(block.sites, free=False)
        kinds = {kind for kind, _ in block.sites}
        near = sorted({side for column in rows for side in (column - 1, column + 1)})
        split = [
            (region, column)
            for column in near
            for region, mask in self._pairs.get(column, ())
            if self._parts(region, column, mask, rows, kinds)
        ]
        if split:
            region, column = split[0]
            inside, outside = (column - 1, column + 1) if rows.get(column - 1) else (column + 1, column - 1)
            found = (
                f"{self._name(inside, region)} in the pblock and {self._name(outside, region)} not; "
                f"{len(split)} such places, a clock region each"
            )
            lost = "; Vivado drops the odd half" if block.snaps else ""
            place, expected = block.shape_place, f"both columns of a pair, or none{lost}"
            self.findings.add("interconnect-split", place, found, expected, pblock=block.name, severity=severity)

    @cached_property
    def _pairs(self) -> dict[int, list[tuple[int, int]]]:
        """By interconnect column, the rows of clock regions, with their CLB rows, in which logic is on both sides."""
        device, logic = self.grid.device, self.grid.logic_rows
        found: dict[int, list[tuple[int, int]]] = {}
        for column in range(1, device.columns - 1):
            for region, mask in enumerate(self._region_rows):
                sides = (logic.get(column - 1, 0) & mask, logic.get(column + 1, 0) & mask)
                if all(sides) and device.legend_at(column, region)["kind"] == JOINING:
                    found.setdefault(column, []).append((region, mask))
        return found

    @cached_property
    def _region_rows(self) -> list[int]:
        """The CLB rows of each row of clock regions, as masks."""
        height = self.grid.device.region_rows
        count = len(self.grid.device.raw["clock_region_layouts"])
        return [((1 << height) - 1) << (region * height) for region in range(count)]

    def _parts(self, region: int, column: int, mask: int, rows: dict[int, int], kinds: set[str]) -> bool:
        left, right = (bool(rows.get(side, 0) & mask) for side in (column - 1, column + 1))
        if left == right:
            return False
        outside = column + 1 if left else column - 1
        # A type that the pblock does not name at all is told as unconstrained.
        return bool(kinds & self.grid.device.legend_at(outside, region).get("sites", {}).keys())

    def _name(self, column: int, region: int) -> str:
        positions = self.grid.device.raw["site_columns"]
        kinds = self.grid.device.legend_at(column, region).get("sites", {})
        return next(f"{kind}_X{positions[kind].index(column)}" for kind in sorted(kinds) if column in positions[kind])

    def _tiles(self, block: Pblock, severity: str) -> None:
        """Find tiles of several rows of which the area of the SLICE ranges holds some rows only."""
        slices = self.grid.rows_by_column({key: mask for key, mask in block.sites.items() if key[0] == "SLICE"})
        if not slices:
            return
        cut = []
        for kind, ladders in self.grid.ladders.items():
            if kind in FREE_SITE_TYPES or not any(own == kind for own, _ in block.sites):
                continue
            height = max(ladder.height for ladder in ladders)
            if height > 1:
                cut += [(kind, row) for row in self._edges(slices) if not self._starts(kind, row)]
        if cut:
            kind, row = cut[0]
            found = f"an edge at row {row} of {kind} tiles"
            expected = f"an edge between {kind} tiles"
            self.findings.add("tile-split", block.shape_place, found, expected, pblock=block.name, severity=severity)

    @staticmethod
    def _edges(slices: dict[int, int]) -> list[int]:
        edges = set()
        for mask in set(slices.values()):
            edges.add((mask & -mask).bit_length() - 1)
            edges.add(mask.bit_length())
        return sorted(edges)

    def _starts(self, kind: str, row: int) -> bool:
        """Whether a tile of a type begins at a row, or the die ends there, or none is in these rows."""
        for ladder in self.grid.ladders[kind]:
            bottom = ladder.top_row + 1 - ladder.tiles * ladder.height
            if bottom < row <= ladder.top_row:
                return (ladder.top_row + 1 - row) % ladder.height == 0
        return True

    def _regions(self, block: Pblock) -> None:
        """RESET_AFTER_RECONFIG on 7 series wants whole clock regions from bottom to top."""
        if not (self._is_series_7 and block.is_set("RESET_AFTER_RECONFIG")):
            return
        height = self.grid.device.region_rows
        slices = self.grid.rows_by_column({key: mask for key, mask in block.sites.items() if key[0] == "SLICE"})
        loose = [row for row in self._edges(slices) if row % height]
        if loose:
            place, found = block.shape_place, f"an edge at row {loose[0]}"
            expected = f"edges at multiples of {height} rows"
            self.findings.add("clock-region-alignment", place, found, expected, pblock=block.name)

    def _frames(self, dynamic: list[Pblock]) -> None:
        frames = {block.name: set(self._frames_of(block.sites)) for block in dynamic}
        for first, second in combinations(dynamic, 2):
            both = frames[first.name] & frames[second.name]
            if both and difference(second.sites, first.sites):
                column, region = min(both)
                found = f"{second.name} and {first.name} share column {column} of clock-region row {region}"
                self.findings.add("frame-shared", second.shape_place, found, "columns of its own", pblock=second.name)

    def _frames_of(self, sites: Sites) -> Iterator[tuple[int, int]]:
        for column, rows in self.grid.rows_by_column(sites).items():
            for region, mask in enumerate(self._region_rows):
                if rows & mask:
                    yield column, region
