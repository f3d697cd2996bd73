"""Pairs of SLR boundaries of one FPGA: what makes a stream over several of them dear, or forbids it.

A stream over b boundaries passes b (b - 1) / 2 pairs of them. With one unit of cost for each boundary and one for each
pair a wire costs b (b + 1) / 2, as `floorflow.hardware.crossing.boundaries_cost` has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from floorflow.hardware.slot_graph import SlotGraph


@dataclass(frozen=True)
class BoundaryPair:
    """Two SLR boundaries of one FPGA, as edges.

    ``outer`` are the slots on either side of both: behind the first, and behind the second, seen from between them.
    ``allowed``: whether a stream may cross both.
    """

    first: int
    second: int
    outer: tuple[frozenset[int], frozenset[int]]
    allowed: bool

    def is_passed(self, source: int, target: int) -> bool:
        """Whether a stream between two slots crosses both."""
        one, other = self.outer
        return (source in one and target in other) or (source in other and target in one)


def boundary_pairs(graph: SlotGraph, max_hops: int | None) -> tuple[BoundaryPair, ...]:
    """Return the pairs of a tree; of those that no stream may cross both only the nearest, which imply the rest."""
    found = []
    numbered = [(k, fpga) for k, fpga in enumerate(graph.fpga_of_edge) if fpga >= 0]
    for (j, fpga), (k, other) in combinations(numbered, 2):
        if fpga != other:
            continue
        outer = _behind(graph, j, k), _behind(graph, k, j)
        ends = [(graph.edges[j].a, graph.edges[j].b), (graph.edges[k].a, graph.edges[k].b)]
        near, far = (next(slot for slot in pair if slot in side) for pair, side in zip(ends, outer, strict=True))
        apart = graph.boundaries_passed(near, far)[fpga]
        if max_hops is None or apart <= max_hops + 1:
            found.append(BoundaryPair(j, k, outer, max_hops is None or apart <= max_hops))
    return tuple(found)


def _behind(graph: SlotGraph, edge: int, other: int) -> frozenset[int]:
    """Return the slots on that side of an edge on which the other edge is not."""
    side = graph.beyond[edge]
    return side if graph.edges[other].a not in side else frozenset(range(graph.slots)) - side
