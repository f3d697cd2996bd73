"""What joins slots, and the shortest routes between them where links make rings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from floorflow.hardware import Crossing


@dataclass(frozen=True)
class Edge:
    """What joins slots ``a`` and ``b``: an SLR boundary, ``a`` the lower SLR, or a link between two FPGAs.

    ``crossing`` says what passing it takes.
    """

    a: int
    b: int
    crossing: Crossing
    name: str = ""

    @property
    def stages(self) -> dict[int, int]:
        """Register stages of every wire over the edge, by slot."""
        return dict(zip((self.a, self.b), self.crossing.register_shares, strict=True))


DirectedEdge = tuple[int, bool]
"""An edge by its index, and whether it is passed from ``a`` to ``b``."""


def shortest_routes(slots: int, edges: Sequence[Edge]) -> Mapping[tuple[int, int], tuple[DirectedEdge, ...]]:
    """Return the route between any two joined slots: fewest links, then fewest boundaries, then lowest slot numbers."""
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
                link = edges[step[0]].crossing.kind == "link"
                heappush(waiting, (links + link, boundaries + (not link), (*passed, slot), (*route, step)))
    return found
