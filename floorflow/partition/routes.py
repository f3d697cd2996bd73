"""What joins slots, and the shortest ways between them where links make rings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal


@dataclass(frozen=True)
class Edge:
    """What joins slots ``a`` and ``b``: an SLR boundary, ``a`` the lower SLR, or a link between two FPGAs.

    ``wires`` is the number of SLLs, ``gbps`` what a link carries in each direction; None: no limit. One wire over the
    edge costs ``weight``.
    """

    a: int
    b: int
    kind: Literal["sll", "link"]
    wires: int | None = None
    gbps: float | None = None
    weight: int = 1
    name: str = ""


DirectedEdge = tuple[int, bool]
"""An edge by its index, and whether it is passed from ``a`` to ``b``."""


def shortest_routes(slots: int, edges: Sequence[Edge]) -> Mapping[tuple[int, int], tuple[DirectedEdge, ...]]:
    """Return the way between any two joined slots: fewest links, then fewest boundaries, then lowest slot numbers."""
    near: dict[int, list[tuple[int, DirectedEdge]]] = {slot: [] for slot in range(slots)}
    for k, edge in enumerate(edges):
        near[edge.a].append((edge.b, (k, True)))
        near[edge.b].append((edge.a, (k, False)))
    return {
        (source, target): route
        for source in range(slots)
        for target, route in _routes_from(source, near, edges).items()
    }


def _routes_from(
    source: int, near: Mapping[int, Sequence[tuple[int, DirectedEdge]]], edges: Sequence[Edge]
) -> dict[int, tuple[DirectedEdge, ...]]:
    """Settle slots in the order of links, boundaries and slots passed."""
    found: dict[int, tuple[DirectedEdge, ...]] = {}
    waiting: list[tuple[int, int, tuple[int, ...], tuple[DirectedEdge, ...]]] = [(0, 0, (source,), ())]
    while waiting:
        links, boundaries, passed, route = heappop(waiting)
        if passed[-1] in found:
            continue
        found[passed[-1]] = route
        for slot, step in near[passed[-1]]:
            if slot not in found:
                link = edges[step[0]].kind == "link"
                heappush(waiting, (links + link, boundaries + (not link), (*passed, slot), (*route, step)))
    return found
