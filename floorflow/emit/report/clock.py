"""Rates at clocks that a build may end at, and what makes the plan hard to close."""

from __future__ import annotations

from floorflow.emit.closing import clock_rates, closing
from floorflow.emit.report.rates import by_network
from floorflow.emit.tables import rate, table
from floorflow.facts import PhaseEntry, PhaseNetworkEntry, Plan


def clocks(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return the frame rate of each network by clock; the plan's own is marked."""
    return by_network(plan, phase, _clocks)


def _clocks(part: PhaseNetworkEntry) -> list[str]:
    e = part.estimates
    likely = e.likely_clock
    lines = [f"{e.clock_mhz:g} MHz is assumed: whether a build reaches it shows after routing"]
    if likely is not None:
        path = f"{likely.engine}: {likely.path}" if likely.engine else likely.path
        clock = f"likely clock {likely.low_mhz:g} to {likely.high_mhz:g} MHz after routing"
        lines.append(f"{clock} ({e.clock_mhz:g} asked for); slowest path: {path}")
    rows = [("at MHz", "frames/s", "")]
    rows += [(f"{mhz:g}", rate(fps), "assumed" if mhz == e.clock_mhz else "") for mhz, fps in clock_rates(e)]
    return [*lines, *table(rows)]


def hard_to_close(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return what is fullest, largest, longest and crosses most, beside what would be comfortable."""
    rows = [("", "where", "found", "comfortable", "what gets there")]
    rows += [
        (item.what, item.where, item.found, item.comfortable, item.way if item.is_hard else "comfortable")
        for item in closing(plan, phase)
    ]
    return table(rows, left=4)
