"""Links between FPGAs: a chain of equal boards, and the way of a stream from one slot to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from floorflow.target.board import BoardLink

SlotPositions = Mapping[str, tuple[int, int]]
"""For each slot's name the FPGA's number in the chain and the SLR's number in that FPGA, both from 0."""


@dataclass(frozen=True)
class Link:
    """A link between two neighbouring FPGAs; ``source`` and ``target`` are the slots of its two ends.

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
class Hop:
    """A part of the way between two slots: a run of SLR boundaries inside one FPGA, or one link.

    ``hops`` is the number of boundaries crossed, 1 for a link; ``link`` is the link's name, None for a run.
    """

    kind: Literal["sll", "link"]
    source: str
    target: str
    hops: int
    link: str | None


def chain(link: BoardLink | None, count: int) -> tuple[Link, ...]:
    """Return the links ``fpga0-fpga1``, ``fpga1-fpga2``, ... of ``count`` FPGAs; none without a kind of link."""
    if link is None:
        return ()
    return tuple(
        Link(
            name=f"{near}-{far}",
            kind=link.kind,
            source=f"{near}.{link.slr}",
            target=f"{far}.{link.slr}",
            gbps=link.gbps,
            latency_us=link.latency_us,
            assumed=link.assumed,
        )
        for near, far in pairwise(f"fpga{number}" for number in range(count))
    )


def way(positions: SlotPositions, links: Sequence[Link], source: str, target: str) -> tuple[Hop, ...]:
    """Return the one way from slot to slot, in order; empty if they are the same.

    ``links[i]`` joins FPGA ``i`` and FPGA ``i + 1``. An unknown slot raises KeyError.
    """
    first, last = positions[source][0], positions[target][0]
    forward = first <= last
    here, hops = source, list[Hop]()
    for link in links[first:last] if forward else reversed(links[last:first]):
        near, far = (link.source, link.target) if forward else (link.target, link.source)
        hops += _run(positions, here, near)
        hops.append(Hop("link", near, far, 1, link.name))
        here = far
    return (*hops, *_run(positions, here, target))


def _run(positions: SlotPositions, source: str, target: str) -> tuple[Hop, ...]:
    """Return the run of SLR boundaries between two slots of one FPGA; nothing if they are the same."""
    crossed = abs(positions[source][1] - positions[target][1])
    return (Hop("sll", source, target, crossed, None),) if crossed else ()
