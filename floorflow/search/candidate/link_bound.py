"""What links forbid whatever the plan: the least that a frame must send between the host's two slots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import networkx as nx

from floorflow.dataflow.model import Dataflow, Stream
from floorflow.errors import Refusal
from floorflow.hardware import Platform


@dataclass(frozen=True)
class LinkBound:
    """A link between the FPGAs of the host's input and output, the bits a frame that must pass it, and its rate."""

    link: str
    bits_per_frame: int
    gbps: float
    clock_mhz: float

    @property
    def interval_cycles(self) -> int:
        """Shortest initiation interval at which the link carries them."""
        return ceil(self.bits_per_frame * self.clock_mhz / (self.gbps * 1e3) * (1 - 1e-9))

    def load_gbps(self, interval_cycles: int) -> float:
        """Return what the bits make at an interval."""
        return self.bits_per_frame * self.clock_mhz / (interval_cycles * 1e3)

    def refusal(self, interval_cycles: int) -> Refusal:
        """Return why an interval is too short for the link."""
        bits = f"{self.bits_per_frame:,} bits a frame"
        load = self.load_gbps(interval_cycles)
        return Refusal("link", "Gb/s", self.link, load, self.gbps, proven=True, names=(bits,))


def link_bound(
    dataflow: Dataflow, platform: Platform, weight: Callable[[Stream], Fraction] = lambda _: Fraction(1)
) -> LinkBound | None:
    """Return the link that limits the interval most, or None where none must be passed.

    ``weight``: how many frames of a stream pass in an interval, one unless networks of several rates share the links.

    Every assignment cuts the network between its input and its output at each link that every route between the host's
    slots passes; by max-flow and min-cut no cut has fewer bits. Links of rings can be gone round, and bound nothing.
    """
    steps = platform.route_steps(platform.host_in_slot, platform.host_out_slot)
    passed = {step.link for step in steps if step.link is not None} & _without_a_way_round(platform)
    if not passed:
        return None
    slowest = min((link for link in platform.links if link.name in passed), key=lambda link: (link.gbps, link.name))
    return LinkBound(slowest.name, _narrowest_cut_bits(dataflow, weight), slowest.gbps, platform.clock_mhz)


def _without_a_way_round(platform: Platform) -> set[str]:
    """Return the links without which some FPGAs would not be joined."""
    ends = {
        frozenset(platform.fpga_of[slot].name for slot in (link.source, link.target)): link.name
        for link in platform.links
    }
    return {ends[frozenset(pair)] for pair in nx.bridges(nx.Graph(tuple(pair) for pair in ends))}


def _narrowest_cut_bits(dataflow: Dataflow, weight: Callable[[Stream], Fraction]) -> int:
    """Return the fewest bits a frame over all cuts between the host's streams in and out."""
    bits: Counter[tuple[str, str]] = Counter()
    for stream in dataflow.streams:
        source = "host in" if stream.from_outside else stream.source
        target = "host out" if stream.to_outside else stream.target
        bits[source, target] += floor(stream.elements * stream.element_bits * weight(stream))
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(((a, b, amount) for (a, b), amount in bits.items()), weight="capacity")
    return int(nx.minimum_cut_value(graph, "host in", "host out"))
