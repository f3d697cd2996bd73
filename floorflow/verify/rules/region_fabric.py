"""What of a die a region may have, what its frames weigh, and what a phase in it may be built on.

On UltraScale+ what is joined by interconnect columns is one programmable unit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.hardware.boards import Board, Boards
from floorflow.verify.hardware.geometry import Device, Rectangle
from floorflow.verify.hardware.interconnect import JOINING, is_series_7, partners
from floorflow.verify.plan_records import PlanRecord, RegionRecord

LOGIC = ("clb", "dsp", "bram", "uram")
NEVER = ("PS7", "PS8", "no fabric")
"""How descriptions begin of what no region may lie over: the processor, and where there is nothing."""
SERIES_7_FRAMES = {"clb": 36, "dsp": 28, "bram": 28 + 128, "other": 36}
PLUS_FRAMES = {"clb": 16, "dsp": 8, "bram": 6 + 256, "uram": 9, "interconnect": 76, "laguna": 16, "other": 12}
"""Frames of a column in one row of clock regions, with those of a BRAM's contents."""
FRAME_WORDS = {True: 101, False: 93}
"""Words of a frame, on 7 series or not."""
PADDING, COMMANDS = 4, 583
"""Frames of padding in a row of clock regions, and words of commands."""


@dataclass(frozen=True)
class Fabric:
    """A die as regions see it."""

    device: Device

    @property
    def is_series_7(self) -> bool:
        """Whether clock regions are 50 rows high."""
        return is_series_7(self.device)

    def _kind(self, column: int, row: int) -> str:
        return str(self.device.legend_at(column, row)["kind"])

    def _is_plain(self, column: int, row: int) -> bool:
        """Whether a column is logic or interconnect over all of a row of clock regions."""
        entry = self.device.legend_at(column, row)
        return entry["kind"] == JOINING or (entry["kind"] in LOGIC and not entry.get("first_row"))

    def partners(self, column: int) -> range:
        """Return the columns that share interconnect with one, itself among them."""
        return partners(self.device, column)

    def may_edge(self, column: int, rows: range) -> bool:
        """Whether all that shares interconnect with a column is logic in all of some rows."""
        return all(self._is_plain(other, row) for other in self.partners(column) for row in rows)

    def owns(self, column: int, row: int) -> bool:
        """Whether a region that lies over a column has what is in it.

        Snapping takes a programmable unit of UltraScale+ whole or not at all.
        """
        if self._kind(column, row) not in (*LOGIC, JOINING):
            return False
        return self.is_series_7 or all(self._is_plain(other, row) for other in self.partners(column))

    def never(self, area: Rectangle) -> list[tuple[int, int]]:
        """Return columns and rows of clock regions with the processor or nothing inside a rectangle."""
        return [
            (column, row)
            for row in self.device.regions_in(area)
            for column in range(area.left, area.right + 1)
            if str(self.device.legend_at(column, row).get("description", "")).startswith(NEVER)
        ]

    def has_gap(self, area: Rectangle) -> bool:
        """Whether something inside a rectangle is neither logic nor interconnect."""
        rows = self.device.regions_in(area)
        return not all(self._is_plain(column, row) for row in rows for column in range(area.left, area.right + 1))

    def owned(self, area: Rectangle) -> set[tuple[int, int]]:
        """Return the columns, by rows of clock regions, that a region over a rectangle has."""
        rows = self.device.regions_in(area)
        found = {(column, row) for row in rows for column in range(area.left, area.right + 1) if self.owns(column, row)}
        return {(c, r) for c, r in found if self.is_series_7 or all((p, r) in found for p in self.partners(c))}

    def supply(self, owned: set[tuple[int, int]], area: Rectangle) -> dict[str, int]:
        """Count what owned columns hold inside a rectangle."""
        height, total = self.device.region_rows, dict[str, int]()
        for column, row in owned:
            bottom, top = max(area.bottom, row * height), min(area.top, (row + 1) * height - 1)
            for name, amount in self.device.resources(Rectangle(column, bottom, column, top)).items():
                total[name] = total.get(name, 0) + amount
        return total

    def frames(self, area: Rectangle) -> int:
        """Return the frames of a rectangle."""
        counts = SERIES_7_FRAMES if self.is_series_7 else PLUS_FRAMES
        rows = self.device.regions_in(area)
        return sum(
            counts.get(self._kind(column, row), 0) for row in rows for column in range(area.left, area.right + 1)
        )

    def bitstream_bytes(self, area: Rectangle) -> int:
        """Return the most bytes that loading a rectangle takes."""
        frames = self.frames(area) + PADDING * len(self.device.regions_in(area))
        return 4 * (frames * FRAME_WORDS[self.is_series_7] + COMMANDS)


def region_of(plan: PlanRecord, phase: PhaseFacts) -> RegionRecord | None:
    """Return the region that a phase is loaded into; None if it has none, or one that the plan does not have."""
    stated = plan.get("reconfigurable")
    regions = stated["regions"] if stated else []
    return next((region for region in regions if region["name"] == phase.raw.get("region")), None)


def confined_boards(plan: PlanRecord, phase: PhaseFacts, boards: Boards) -> dict[str, Board]:
    """Return the boards with all kept free for a phase that is not of its region."""
    region = region_of(plan, phase)
    if region is None or region["fpga"] not in boards:
        return dict(boards)
    board = boards[region["fpga"]]
    free = list(map(Rectangle.of, region["owned"]))
    return {**boards, region["fpga"]: replace(board, kept_free=tuple(_others(board.device.whole, free)))}


def confined_phase(plan: PlanRecord, phase: PhaseFacts) -> PhaseFacts:
    """Return a phase whose slot has no more available than its region."""
    region = region_of(plan, phase)
    if region is None or region["slot"] not in phase.slots:
        return phase
    slot = phase.slots[region["slot"]]
    available = {name: min(amount, slot.entry["capacity"].get(name, 0)) for name, amount in region["supply"].items()}
    inside = replace(slot, entry={**slot.entry, "available": available})
    return replace(phase, slots={**phase.slots, slot.name: inside})


def _others(whole: Rectangle, free: list[Rectangle]) -> Iterator[Rectangle]:
    """Yield all that is not free, each run of columns in each band of rows by itself."""
    edges = sorted({whole.bottom, whole.top + 1} | {area.bottom for area in free} | {area.top + 1 for area in free})
    bands = [(low, high - 1) for low, high in pairwise(edges) if low <= whole.top]
    for bottom, top in bands:
        taken = {
            column
            for area in free
            if area.bottom <= bottom and top <= area.top
            for column in range(area.left, area.right + 1)
        }
        start = None
        for column in range(whole.left, whole.right + 2):
            outside = column <= whole.right and column not in taken
            if outside and start is None:
                start = column
            elif not outside and start is not None:
                yield Rectangle(start, bottom, column - 1, top)
                start = None
