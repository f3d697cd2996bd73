"""The route between two slots as people read it: runs of SLR boundaries inside an FPGA, and single links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from floorflow.hardware.crossing import Crossing
from floorflow.hardware.slot_graph import SlotGraph


@dataclass(frozen=True, slots=True)
class RouteStep:
    """A part of the route between two slots: a run of SLR boundaries inside one FPGA, or one link.

    ``crossings`` are the boundaries crossed, or the link; ``link`` is the link's name, None for a run. ``joints`` name
    the two slots of each crossing as the platform does: lower and upper at a boundary, source and target of a link.
    """

    kind: Literal["sll", "link"]
    source: str
    target: str
    crossings: tuple[Crossing, ...]
    link: str | None
    joints: tuple[tuple[str, str], ...]

    @property
    def hops(self) -> int:
        """Number of boundaries crossed, 1 for a link."""
        return len(self.crossings)


def route_steps(graph: SlotGraph, names: Sequence[str], source: int, target: int) -> Iterator[RouteStep]:
    """Yield the steps from slot to slot, in order; ``names`` are those of the graph's slots."""
    route = graph.route(source, target)
    passed = [
        (graph.edges[k], ends) for (k, _), ends in zip(route, pairwise(graph.slots_on(source, route)), strict=True)
    ]
    # Links stay single: each has a name of its own, boundaries of a run share the empty one.
    for _, run in groupby(passed, key=lambda step: step[0].name if step[0].crossing.kind == "link" else ""):
        edges, ends = zip(*run, strict=True)
        yield RouteStep(
            edges[0].crossing.kind,
            names[ends[0][0]],
            names[ends[-1][1]],
            tuple(edge.crossing for edge in edges),
            edges[0].name if edges[0].crossing.kind == "link" else None,
            tuple((names[edge.a], names[edge.b]) for edge in edges),
        )
