"""Ways between slots whose links make rings: the shortest ones, and the tree on which assignments are searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floorflow.partition.problem import Edge, PartitionProblem

Passage = tuple[int, bool]
"""An edge by its index, and whether it is passed from ``a`` to ``b``."""


def shortest_ways(slots: int, edges: Sequence[Edge]) -> Mapping[tuple[int, int], tuple[Passage, ...]]:
    """Return the way between any two joined slots: fewest links, then fewest boundaries, then lowest slot numbers."""
    near: dict[int, list[tuple[int, Passage]]] = {slot: [] for slot in range(slots)}
    for k, edge in enumerate(edges):
        near[edge.a].append((edge.b, (k, True)))
        near[edge.b].append((edge.a, (k, False)))
    return {(source, target): way for source in range(slots) for target, way in _ways_from(source, near, edges).items()}


def _ways_from(
    source: int, near: Mapping[int, Sequence[tuple[int, Passage]]], edges: Sequence[Edge]
) -> dict[int, tuple[Passage, ...]]:
    """Settle slots in the order of links, boundaries and slots passed."""
    found: dict[int, tuple[Passage, ...]] = {}
    waiting: list[tuple[int, int, tuple[int, ...], tuple[Passage, ...]]] = [(0, 0, (source,), ())]
    while waiting:
        links, boundaries, passed, way = heappop(waiting)
        if passed[-1] in found:
            continue
        found[passed[-1]] = way
        for slot, passage in near[passed[-1]]:
            if slot not in found:
                link = edges[passage[0]].kind == "link"
                heappush(waiting, (links + link, boundaries + (not link), (*passed, slot), (*way, passage)))
    return found


def spanning_tree(problem: PartitionProblem) -> PartitionProblem:
    """Return the problem with only those edges that close no ring with earlier ones.

    Every assignment that is legal there uses links that exist; whether it stays legal on the shortest ways has to be
    looked up.
    """
    group = list(range(len(problem.slots)))
    kept = []
    for edge in problem.edges:
        a, b = group[edge.a], group[edge.b]
        if a != b:
            kept.append(edge)
            group = [a if other == b else other for other in group]
    return replace(problem, edges=tuple(kept))
