"""What reconfigurable, snapping and routing-contained pblocks must keep to at their edges (UG909)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from floorflow.verify.hardware.geometry import FREE_SITE_TYPES, Device, Sites, difference
from floorflow.verify.hardware.interconnect import Interconnect, is_series_7
from floorflow.verify.xdc.findings import ERROR, NOTE, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Pblock


@dataclass(frozen=True)
class EdgeJudge:
    """Judges the edges of pblocks on one die."""

    device: Device
    floorplan: Floorplan
    shell_pblocks: frozenset[str]
    findings: Findings

    def judge(self, blocks: list[Pblock]) -> None:
        """Judge every pblock whose edges matter, and of 7 series what frames two share."""
        dynamic = [block for block in blocks if self.floorplan.is_reconfigurable(block)]
        for block in blocks:
            is_dynamic, snaps = self.floorplan.is_reconfigurable(block), self._snaps(block)
            if not block.sites:
                continue
            severity = ERROR if is_dynamic and not snaps else ""
            if is_dynamic or snaps or self._is_shut(block):
                self._interconnect(block, severity, loses=snaps or self._in_snapping(block))
            if is_dynamic or snaps:
                self._tiles(block, severity)
            if is_dynamic or block.is_set("RESET_AFTER_RECONFIG"):
                self._regions(block)
        if is_series_7(self.device):
            self._frames(dynamic)

    def _snaps(self, block: Pblock) -> bool:
        return self.floorplan.snaps(block, self.device)

    def _is_shut(self, block: Pblock) -> bool:
        """Whether its routes or cells are kept apart from others', so that both halves of a pair are wanted.

        On 7 series each column has interconnect of its own; that back-to-back columns stay together only DFX asks for.
        """
        if is_series_7(self.device):
            return False
        shut = block.is_hard or any(block.is_set(name) for name in ("CONTAIN_ROUTING", "EXCLUDE_PLACEMENT"))
        return shut or self._in_snapping(block)

    def _in_snapping(self, block: Pblock) -> bool:
        """Whether a parent snaps, as those of shells do."""
        above = self.floorplan.pblocks
        return any(
            name in self.shell_pblocks or (name in above and self._snaps(above[name]))
            for name in self.floorplan.ancestors(block.name)
        )

    @cached_property
    def _wires(self) -> Interconnect:
        return Interconnect(self.device)

    def _interconnect(self, block: Pblock, severity: str, *, loses: bool) -> None:
        """Find columns of the pblock without the one that shares their interconnect."""
        splits = list(self._wires.splits(block.sites))
        if splits:
            first = min(splits, key=lambda one: (one.region, min(one.inside, one.outside)))
            found = (
                f"{self._name(first.inside, first.region)} in the pblock and "
                f"{self._name(first.outside, first.region)} not; {len(splits)} such places, a clock region each"
            )
            expected = f"both columns of a pair, or none{'; Vivado drops the odd half' if loses else ''}"
            plain = not loses and not block.is_set("CONTAIN_ROUTING")
            severity = severity or (NOTE if plain else "")
            place = block.shape_place
            self.findings.add("interconnect-split", place, found, expected, pblock=block.name, severity=severity)

    @cached_property
    def _region_rows(self) -> list[int]:
        height = self.device.region_rows
        count = len(self.device.raw["clock_region_layouts"])
        return [((1 << height) - 1) << (region * height) for region in range(count)]

    def _name(self, column: int, region: int) -> str:
        positions = self.device.raw["site_columns"]
        kinds = self.device.legend_at(column, region).get("sites", {})
        return next(f"{kind}_X{positions[kind].index(column)}" for kind in sorted(kinds) if column in positions[kind])

    def _tiles(self, block: Pblock, severity: str) -> None:
        """Find tiles of several rows of which the area of the SLICE ranges holds some rows only."""
        slices = self.device.rows_by_column({key: mask for key, mask in block.sites.items() if key[0] == "SLICE"})
        if not slices:
            return
        cut = []
        for kind, ladders in self.device.ladders.items():
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
        for ladder in self.device.ladders[kind]:
            bottom = ladder.top_row + 1 - ladder.tiles * ladder.height
            if bottom < row <= ladder.top_row:
                return (ladder.top_row + 1 - row) % ladder.height == 0
        return True

    def _regions(self, block: Pblock) -> None:
        """RESET_AFTER_RECONFIG on 7 series wants whole clock regions from bottom to top."""
        if not (is_series_7(self.device) and block.is_set("RESET_AFTER_RECONFIG")):
            return
        height = self.device.region_rows
        slices = self.device.rows_by_column({key: mask for key, mask in block.sites.items() if key[0] == "SLICE"})
        loose = [row for row in self._edges(slices) if row % height]
        if loose:
            place, found = block.shape_place, f"an edge at row {loose[0]}"
            expected = f"edges at multiples of {height} rows"
            self.findings.add("clock-region-alignment", place, found, expected, pblock=block.name)

    def _frames(self, dynamic: list[Pblock]) -> None:
        frames = {block.name: set(self._frames_of(block.sites)) for block in dynamic}
        for first, second in combinations(dynamic, 2):
            self.floorplan.work.charge(len(frames[first.name]), first.place.line)
            both = frames[first.name] & frames[second.name]
            if both and difference(second.sites, first.sites):
                column, region = min(both)
                found = f"{second.name} and {first.name} share column {column} of clock-region row {region}"
                self.findings.add("frame-shared", second.shape_place, found, "columns of its own", pblock=second.name)

    def _frames_of(self, sites: Sites) -> Iterator[tuple[int, int]]:
        for column, rows in self.device.rows_by_column(sites).items():
            for region, mask in enumerate(self._region_rows):
                if rows & mask:
                    yield column, region
