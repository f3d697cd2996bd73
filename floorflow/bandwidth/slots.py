"""A schedule as slots of the memory: what the hardware scheduler's table holds.

Source: f-CNN^x, section III-D and eq. 7. Engines are served in turn; in each round an engine has a whole number of
slots, a burst each, so that its bandwidth is ``slots / slots in a round`` of the memory's. Shares are rounded up; where
the sum would exceed a round the schedule as a whole is slowed down first, by as little as is enough.
"""

from dataclasses import dataclass
from itertools import count
from math import ceil

from floorflow.bandwidth.problem import TOLERANCE, BandwidthProblem, BandwidthSchedule

ROUNDS = (64, 128, 256, 512, 1024, 2048, 4096)
"""Slots in a round that are tried."""
MOST_STRETCH = 0.01
"""Of a period by rounding: a longer round is taken before."""
BURST_BEATS = 1024


@dataclass(frozen=True)
class SlotEntry:
    """An entry of the table: one network's subgraph, or a part of it, from one time to another."""

    network: int
    run: int
    start_us: float
    end_us: float
    traffic_bytes: float
    slots: int


@dataclass(frozen=True)
class SlotTable:
    """All entries, by network and time, for rounds of so many slots; ``period_us`` is that of the entries."""

    slots_total: int
    period_us: float
    entries: tuple[SlotEntry, ...]


def in_slots(problem: BandwidthProblem, schedule: BandwidthSchedule) -> SlotTable:
    """Return the table with the shortest round that lengthens the period by no more than `MOST_STRETCH`."""
    for total in ROUNDS:
        table = slotted(problem, schedule, total)
        if table.period_us <= schedule.period_us * (1 + MOST_STRETCH):
            break
    return table


def slotted(problem: BandwidthProblem, schedule: BandwidthSchedule, total: int) -> SlotTable:
    """Return the table for a round of so many slots; at least one for each network."""
    pieces = [
        (number, run, piece, piece.speed * float(problem.demands[number][run]) / problem.bytes_per_us)
        for number, runs in enumerate(schedule.runs)
        for run, of_run in enumerate(runs)
        for piece in of_run
    ]
    moments: dict[float, list[tuple[int, float]]] = {}
    for number, _, piece, share in pieces:
        moments.setdefault(piece.start_us, []).append((number, share))
        moments.setdefault(piece.end_us, []).append((number, -share))
    together = _together(moments)
    stretch = max((_stretch(shares, total) for shares in together), default=1.0)
    entries = tuple(
        SlotEntry(
            number,
            run,
            piece.start_us * stretch,
            piece.end_us * stretch,
            piece.work_us * float(problem.demands[number][run]),
            _slots(share, total, stretch),
        )
        for number, run, piece, share in pieces
    )
    return SlotTable(total, schedule.period_us * stretch, entries)


def _together(moments: dict[float, list[tuple[int, float]]]) -> set[tuple[float, ...]]:
    """Return the shares that are in use at the same time, each combination once."""
    running: list[float] = []
    found: set[tuple[float, ...]] = set()
    for at in sorted(moments):
        for _, share in moments[at]:
            if share < 0:
                running.remove(-share)
            else:
                running.append(share)
        found.add(tuple(sorted(running)))
    return found


def _slots(share: float, total: int, stretch: float) -> int:
    return max(1, ceil(share * total / stretch * (1 - TOLERANCE)))


def _stretch(shares: tuple[float, ...], total: int) -> float:
    """Return the least slow-down with which shares, rounded up to slots, are within a round."""
    stretch = 1.0
    for _ in count():
        slots = [_slots(share, total, stretch) for share in shares]
        if sum(slots) <= total or all(n == 1 for n in slots):
            return stretch
        # The next stretch at which one share needs a slot less.
        stretch = min(s * total / (n - 1) for s, n in zip(shares, slots, strict=True) if n > 1)
    raise AssertionError
