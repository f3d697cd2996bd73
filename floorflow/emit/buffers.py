"""What a phase reads from the board's memory and leaves there: ``buffers.json``, for whoever writes the host's side."""

import json
from collections.abc import Iterator
from typing import Any

from floorflow.facts import ChannelEntry, PhaseEntry, Plan
from floorflow.facts.schedule import ScheduleEntry

SCHEMA = "floorflow-buffers/1"


def buffers(plan: Plan, number: int) -> str | None:
    """Return the file of a phase, None where the plan has no schedule.

    Each word begins at a whole byte. A buffer holds the whole batch: it lies in memory from the phase that stores it
    to the last one that loads it.
    """
    schedule = plan.schedule
    if schedule is None:
        return None
    phase = plan.phases[number]
    told = [*rows(plan, phase, schedule)]
    content = {
        "schema": SCHEMA,
        "phase": phase.name,
        **_in_region(phase),
        "batch": schedule.batch,
        "loads": [row for side, row in told if side == "source"],
        "stores": [row for side, row in told if side == "target"],
        "gbps": moved_gbps(plan, phase),
        "memory_gbps": schedule.memory_gbps,
    }
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _in_region(phase: PhaseEntry) -> dict[str, Any]:
    """Return where a phase is loaded and after which other, nothing where the device is loaded as a whole."""
    if phase.region is None:
        return {}
    return {"region": phase.region, "loads_after": phase.loads_after, "bitstream": f"{phase.name}.bit"}


def moved_gbps(plan: Plan, phase: PhaseEntry) -> float:
    """Return what a phase moves to and from memory while it runs."""
    clock_mhz = plan.summary.clock_mhz
    intervals = {part.network: part.interval_cycles for part in phase.networks}
    only = next(iter(intervals))
    return sum(
        channel.bits_per_frame * clock_mhz / intervals[end.network or only] / 1e3
        for channel in phase.channels
        for end in channel.ends
        if end.outside in ("host", "memory")
    )


def rows(plan: Plan, phase: PhaseEntry, schedule: ScheduleEntry) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a phase loads (``source``) and stores (``target``), a buffer each."""
    for channel in phase.channels:
        for side, end, text in zip(("source", "target"), channel.ends, (channel.source, channel.target), strict=True):
            if end.outside in ("host", "memory"):
                yield side, _row(plan, channel, side, text, schedule.batch)


def _row(plan: Plan, channel: ChannelEntry, side: str, buffer: str, batch: int) -> dict[str, Any]:
    """Return a buffer at one end of a channel; ``phases`` are those at its other end."""
    other = "target" if side == "source" else "source"
    return {
        "buffer": buffer,
        "channel": channel.name,
        "width_bits": channel.width_bits,
        "words_per_frame": channel.words_per_frame,
        "bytes_per_batch": batch * channel.words_per_frame * -(-channel.width_bits // 8),
        "phases": [p.name for p in plan.phases if any(getattr(c, other) == buffer for c in p.channels)],
    }
