"""Words that FIFOs hold because ways take time: those on the way itself, and on shorter branches into a join."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from floorflow.dataflow.model import Dataflow

BOUNDARY_CYCLES = 2
"""Cycles that the registers of an SLR boundary take in each direction."""


@dataclass(frozen=True)
class Way:
    """What lies between the two ends of a channel: SLR boundaries, and links with their latencies."""

    boundaries: int = 0
    link_latencies_us: tuple[float, ...] = ()

    def cycles(self, clock_mhz: float) -> int:
        """Return the cycles that a word takes, and those that `ready` or a credit takes back."""
        links = sum(ceil(latency_us * clock_mhz - 1e-9) for latency_us in self.link_latencies_us)
        return BOUNDARY_CYCLES * self.boundaries + links


def words_on_ways(dataflow: Dataflow, ways: Mapping[str, Way], clock_mhz: float) -> dict[str, int]:
    """Return how many words more each FIFO may hold than it would without ways, by channel.

    Ways delay a schedule of the pipeline: each engine starts later by the longest sum of them before it. A FIFO then
    keeps its words for as much longer as its reader is delayed more than its writer, and until their places are
    known to be free again; at most a word comes in each of these cycles.
    """
    late: dict[str, int] = {}
    for engine in dataflow.engines:
        arriving = [s for s in dataflow.streams if s.target == engine.name]
        late[engine.name] = max(
            (late.get(s.source, 0) + _cycles(ways, s.channel, clock_mhz) for s in arriving), default=0
        )
    more = {}
    for stream in dataflow.streams:
        back, source = _cycles(ways, stream.channel, clock_mhz), late.get(stream.source, 0)
        more[stream.channel] = late.get(stream.target, source + back) - source + back
    return more


def _cycles(ways: Mapping[str, Way], channel: str, clock_mhz: float) -> int:
    return ways[channel].cycles(clock_mhz) if channel in ways else 0
