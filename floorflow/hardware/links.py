"""Links between FPGAs: how equal boards are joined, and the route of a stream from one slot to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args

from floorflow.assets import Topology
from floorflow.hardware.board import BoardLink
from floorflow.hardware.crossing import Crossing

SlotPositions = Mapping[str, tuple[int, int]]
"""For each slot's name the FPGA's number and the SLR's number in that FPGA, both from 0."""

FpgaRoutes = Mapping[tuple[int, int], tuple[int, ...]]
"""For each pair of FPGAs the numbers of those that a stream passes from the first to the second, both included."""

TOPOLOGIES: tuple[Topology, ...] = get_args(Topology)


@dataclass(frozen=True)
class Link:
    """A link between two FPGAs; ``source`` and ``target`` are the slots of its two ends, the lower FPGA first.

    It carries ``gbps`` Gb/s in each direction at the same time. ``assumed``: bandwidth and latency are guesses.
    """

    name: str
    kind: str
    source: str
    target: str
    gbps: float
    latency_us: float
    assumed: bool


@dataclass(frozen=True, slots=True)
class RouteStep:
    """A part of the route between two slots: a run of SLR boundaries inside one FPGA, or one link.

    ``crossings`` are the boundaries crossed, or the link; ``link`` is the link's name, None for a run.
    """

    kind: Literal["sll", "link"]
    source: str
    target: str
    crossings: tuple[Crossing, ...]
    link: str | None

    @property
    def hops(self) -> int:
        """Number of boundaries crossed, 1 for a link."""
        return len(self.crossings)


def joined(topology: Topology, count: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of FPGAs that a link joins, the lower number first; neighbours come before others.

    A ring is a chain whose last FPGA is joined to the first, in a star FPGA 0 is joined to every other one.
    """
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
    return next((count - 1 for count in range(2, most + 1) if _degree(topology, count) > max_links), most)


def _degree(topology: Topology, count: int) -> int:
    """Return how many links end at the FPGA with the most."""
    ends = [number for pair in joined(topology, count) for number in pair]
    return max(ends.count(number) for number in range(count))


def make_links(link: BoardLink | None, topology: Topology, count: int) -> tuple[Link, ...]:
    """Return the links ``fpga0-fpga1``, ... of ``count`` FPGAs; none without a kind of link."""
    if link is None:
        return ()
    return tuple(
        Link(
            name=f"fpga{near}-fpga{far}",
            kind=link.kind,
            source=f"fpga{near}.{link.slr}",
            target=f"fpga{far}.{link.slr}",
            gbps=link.gbps,
            latency_us=link.latency_us,
            assumed=link.assumed,
        )
        for near, far in joined(topology, count)
    )


def shortest_routes(positions: SlotPositions, links: Sequence[Link]) -> FpgaRoutes:
    """Return the route between any two FPGAs: the fewest links; of several that whose FPGAs have the lowest numbers.

    Numbers are compared from the stream's source on. FPGAs that no links join have no route.
    """
    near: dict[int, list[int]] = {number: [] for number, _ in positions.values()}
    for link in links:
        a, b = positions[link.source][0], positions[link.target][0]
        near[a].append(b)
        near[b].append(a)
    return {(route[0], route[-1]): route for first in sorted(near) for route in _routes_from(first, near)}


def _routes_from(first: int, near: Mapping[int, Sequence[int]]) -> list[tuple[int, ...]]:
    """Search breadth first, lower numbers first, so that the first route to reach an FPGA is the one wanted."""
    found: list[tuple[int, ...]] = [(first,)]
    seen = {first}
    for route in found:  # grows while it is walked
        for number in sorted(near[route[-1]]):
            if number not in seen:
                seen.add(number)
                found.append((*route, number))
    return found


@dataclass(frozen=True)
class RouteFinder:
    """The route between any two slots of a platform.

    ``links`` go by the numbers of the two FPGAs that they join, ``crossings`` by the names of the two slots that they
    join: lower and upper at an SLR boundary, source and target of a link.
    """

    positions: SlotPositions
    links: Mapping[frozenset[int], Link]
    fpga_routes: FpgaRoutes
    crossings: Mapping[tuple[str, str], Crossing]

    def steps(self, source: str, target: str) -> tuple[RouteStep, ...]:
        """Return the steps from slot to slot, in order; none if they are the same. An unknown slot raises KeyError."""
        here, steps = source, list[RouteStep]()
        for first, second in pairwise(self.fpga_routes[self.positions[source][0], self.positions[target][0]]):
            link = self.links[frozenset((first, second))]
            near, far = (link.source, link.target) if first < second else (link.target, link.source)
            steps += self._run(here, near)
            steps.append(RouteStep("link", near, far, (self.crossings[link.source, link.target],), link.name))
            here = far
        return (*steps, *self._run(here, target))

    def _run(self, source: str, target: str) -> tuple[RouteStep, ...]:
        """Return the run of SLR boundaries between two slots of one FPGA; nothing if they are the same."""
        if source == target:
            return ()
        fpga, (low, high) = self.positions[source][0], sorted(self.positions[slot][1] for slot in (source, target))
        passed = [self._slot_at[fpga, level] for level in range(low, high + 1)]
        crossings = [self.crossings[pair] for pair in pairwise(passed)]
        if self.positions[source][1] > self.positions[target][1]:
            crossings.reverse()
        return (RouteStep("sll", source, target, tuple(crossings), None),)

    @cached_property
    def _slot_at(self) -> Mapping[tuple[int, int], str]:
        return {position: name for name, position in self.positions.items()}
