"""The longest streams beside what one cycle reaches over, and the register slices that cut them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floorflow.facts.text import table, wrapped
from floorflow.facts.values import Amount, PlanModel


class LongStreamEntry(PlanModel):
    """A long stream: columns and rows from end to end, and from one register to the next at the most.

    ``unsliced_tiles``: the latter without slices; ``way_tiles``: with the planned ``slices``. One cycle reaches over
    ``reach_tiles``.
    """

    channel: str
    tiles: float
    unsliced_tiles: float
    way_tiles: float
    reach_tiles: float
    slices: Amount

    def built_tiles(self, *, slices_built: bool) -> float:
        """Return columns and rows from one register to the next at the most, with the slices that are built."""
        return self.way_tiles if slices_built else self.unsliced_tiles

    @property
    def count(self) -> str:
        """The slices in words."""
        return f"{self.slices} slice{'s' * (self.slices > 1)}"

    def reach_at(self, clock_mhz: float) -> str:
        """Return how far a cycle reaches, in words."""
        return f"a cycle at {clock_mhz:g} MHz reaches over about {self.reach_tiles:,.0f}"


def longest_streams(
    listed: Mapping[str, Sequence[LongStreamEntry]], count: int, clock_mhz: float, likely: str, *, slices_built: bool
) -> list[str]:
    """Return the longest streams of each FPGA: end to end, from register to register, and the slices that cut them.

    ``count``: all slices of the phase; ``likely``: which clock is likely.
    """
    streams = [(fpga, stream) for fpga, rows in listed.items() for stream in rows]
    if not streams:
        return []
    sliced = "with slices" if slices_built else "with slices, which are missing"
    rows = [("FPGA", "tiles", "without slices", sliced, "slices", "channel")]
    rows += [
        (fpga, f"{s.tiles:,.0f}", f"{s.unsliced_tiles:,.0f}", f"{s.way_tiles:,.0f}", str(s.slices), s.channel)
        for fpga, s in streams
    ]
    all_of_them = f"{count:,} register slice{'s' * (count > 1)} in all, those for streams that meet long ones included"
    slices = all_of_them if count else "no register slices"
    ends = "tiles are columns and rows from end to end, then from one register to the next at the most"
    return [*wrapped([f"{streams[0][1].reach_at(clock_mhz)}; {likely}", ends, slices]), *table(rows)]


def summarised(listed: Sequence[LongStreamEntry], clock_mhz: float, likely: str, *, slices_built: bool) -> list[str]:
    """Return a line on the longest stream of all, and one on each other that is listed and needs slices."""
    long = [row for row in listed if row.unsliced_tiles > row.reach_tiles]
    rows = long or sorted(listed, key=lambda row: -row.unsliced_tiles)[:1]
    first = [f"; {row.reach_at(clock_mhz)}; {likely}" for row in rows[:1]]
    return [_line(row, slices_built=slices_built) + "".join(first * (row is rows[0])) for row in rows]


def _line(row: LongStreamEntry, *, slices_built: bool) -> str:
    tiles = f"{row.channel}: {row.unsliced_tiles:,.0f} columns and rows"
    if not row.slices:
        return tiles
    return f"{tiles}, {row.way_tiles:,.0f} with {row.count}" + ("" if slices_built else " (missing)")
