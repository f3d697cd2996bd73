"""Links between FPGAs, and how equal boards are joined by them."""

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from math import isqrt
from typing import get_args

from floorflow.assets import Topology
from floorflow.resources import Resources

TOPOLOGIES: tuple[Topology, ...] = get_args(Topology)


@dataclass(frozen=True)
class Link:
    """A link between two FPGAs; ``source`` and ``target`` are the slots of its two ends, the lower FPGA first.

    It carries ``gbps`` Gb/s in each direction at the same time, of which streams have ``payload_gbps``: ``overhead``
    bits of protocol go with each of theirs, so that several streams can share the link. ``assumed``: bandwidth and
    latency are guesses. ``reliable``: nothing that is sent is ever lost.
    """

    name: str
    kind: str
    source: str
    target: str
    gbps: float
    latency_us: float
    assumed: bool
    reliable: bool = True
    overhead: float = 0.0

    @property
    def payload_gbps(self) -> float:
        """Gb/s in each direction that are left to streams."""
        return self.gbps / (1 + self.overhead)


@dataclass(frozen=True)
class LinkWithCores:
    """A link, and the logic that stands at each of its ends; None if there is none."""

    link: Link
    core: Resources | None


def joined(topology: Topology, count: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of FPGAs that a link joins, the lower number first; neighbours come before others.

    A ring is a chain whose last FPGA is joined to the first, in a star FPGA 0 is joined to every other one. A mesh is
    as wide as it is high, or one wider; its numbers run to and fro, so that each FPGA is joined to the next.
    """
    if topology == "mesh":
        columns = max(1, isqrt(count - 1) + 1)
        steps = (2 * (columns - lower % columns) - 1 for lower in range(count))
        up = ((lower, lower + step) for lower, step in enumerate(steps) if 1 < step < count - lower)
        return (*((lower, lower + 1) for lower in range(count - 1)), *up)
    if topology == "star":
        return tuple((0, other) for other in range(1, count))
    most = count - 1 if topology == "full" else 1
    pairs = tuple((lower, lower + step) for step in range(1, most + 1) for lower in range(count - step))
    return (*pairs, (0, count - 1)) if topology == "ring" and count > 2 else pairs


def most_fpgas(topology: Topology, max_links: int | None, most: int) -> int:
    """Return how many FPGAs of ``most`` can be joined if each can end ``max_links`` links (None: any number)."""
    most = min(most, 2) if topology == "pair" else most
    if max_links is None:
        return most
    degrees = {count: Counter(chain(*joined(topology, count))) for count in range(2, most + 1)}
    return next((count - 1 for count, ends in degrees.items() if max(ends.values()) > max_links), most)
