"""The longest streams of a phase beside what one cycle reaches over, and the clock that is likely."""

from __future__ import annotations

from floorflow.emit.tables import table, wrapped
from floorflow.facts import LongStreamEntry, PhaseEntry, Plan
from floorflow.hardware.reach import reach_tiles


def way_tiles(phase: PhaseEntry, row: LongStreamEntry) -> float:
    """Return columns and rows from one register to the next at the most, with the slices that are built."""
    return row.way_tiles if phase.slices_built else row.unsliced_tiles


def longest_streams(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return the longest streams of each FPGA: end to end, from register to register, and the slices that cut them."""
    sliced = "with slices" if phase.slices_built else "with slices, which are missing"
    rows = [("FPGA", "tiles", "without slices", sliced, "slices", "channel")]
    rows += [
        (name, f"{s.tiles:,.0f}", f"{s.unsliced_tiles:,.0f}", f"{s.way_tiles:,.0f}", str(s.slices), s.channel)
        for name, floorplan in phase.floorplan.items()
        for s in floorplan.longest
    ]
    if len(rows) == 1:
        return []
    count = sum(channel.slices for channel in phase.channels)
    all_of_them = f"{count:,} register slice{'s' * (count > 1)} in all, those for streams that meet long ones included"
    slices = all_of_them if count else "no register slices"
    ends = "tiles are columns and rows from end to end, then from one register to the next at the most"
    return [*wrapped([f"{_reach(plan)}; {_likely_clock(phase)}", ends, slices]), *table(rows)]


def summarised(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return a line on the longest stream of all, and one on each other that is listed and needs slices."""
    reach = reach_tiles(plan.options.clock_mhz)
    rows = [row for floorplan in phase.floorplan.values() for row in floorplan.longest]
    long = [row for row in rows if row.unsliced_tiles > reach]
    told = long or sorted(rows, key=lambda row: -row.unsliced_tiles)[:1]
    return [_told(phase, row) + (f"; {_reach(plan)}; {_likely_clock(phase)}" * (row is told[0])) for row in told]


def _told(phase: PhaseEntry, row: LongStreamEntry) -> str:
    tiles = f"{row.channel}: {row.unsliced_tiles:,.0f} columns and rows"
    slices = f"{row.slices} slice{'s' * (row.slices > 1)}"
    if not row.slices:
        return tiles
    return f"{tiles}, {row.way_tiles:,.0f} with {slices}" + ("" if phase.slices_built else " (missing)")


def _reach(plan: Plan) -> str:
    at = plan.options.clock_mhz
    return f"a cycle at {at:g} MHz reaches over about {reach_tiles(at):,.0f}"


def _likely_clock(phase: PhaseEntry) -> str:
    """Say which clock is likely after routing, the lowest of all networks', or that none is known."""
    known = [part.estimates.likely_clock for part in phase.networks if part.estimates.likely_clock is not None]
    if not known:
        return "no likely clock is known"
    slowest = min(known, key=lambda likely: likely.low_mhz)
    return f"likely clock {slowest.low_mhz:g} to {slowest.high_mhz:g} MHz"
