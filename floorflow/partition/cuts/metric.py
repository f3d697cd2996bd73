"""The distance of slots as weighted cuts, and all else that a stream passes as tables over pairs of slots.

A cut is a set of slots; its weight counts between any two slots that it separates. The edge of a tree is one; a grid
has one for each line between rows or columns; a ring one for each way to halve it; a full mesh one for each card.
All these distances are sums of cuts exactly, and the weights are found by a linear programme over each part of the
graph that no single slot holds together. Of other graphs the cuts count as much as they can, and the rest is tables.

A table (S, S) has 1 where a stream from the first slot to the second passes something. Its rectangles, sets of sources
with all their targets, are what the model states: a stream passes if its source is in one and its target in the other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import lcm

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from floorflow.hardware.slot_graph import BOUNDARY_COST, SlotGraph
from floorflow.solver import LinearModel, run_highs

Slots = frozenset[int]
Table = NDArray[np.bool_]
Distance = NDArray[np.int64]

_MOST_SUBSETS = 10
"""Slots of a part of the graph up to which all its cuts are tried; of larger ones the halves between two slots."""
_LARGEST_DENOMINATOR = 60
"""Weights of cuts are fractions, 1/2 in rings and stars."""
_FEW = 1e-3
"""How much less a cut of more slots counts, so that a mesh is cut card by card."""


@dataclass(frozen=True)
class Cut:
    """The slots beyond a cut, without slot 0, and what it costs a wire to be cut."""

    beyond: Slots
    weight: Fraction

    def table(self, slots: int) -> Table:
        """(S, S) whether it separates two slots."""
        side = np.isin(np.arange(slots), list(self.beyond))
        return np.asarray(side[:, None] != side[None])


def rectangles(table: Table) -> tuple[tuple[Slots, Slots], ...]:
    """Return sets of sources with the targets that all of them have, of a table (S, S)."""
    sources: dict[Slots, list[int]] = {}
    for source, row in enumerate(table):
        if row.any():
            sources.setdefault(frozenset(np.flatnonzero(row).tolist()), []).append(source)
    return tuple((frozenset(found), targets) for targets, found in sources.items())


@dataclass(frozen=True)
class SlotMetric:
    """What a graph of slots makes of streams, as tables (S, S).

    ``forth`` and ``back`` by edge: whether it is passed from ``a`` to ``b``, and from ``b`` to ``a``. ``cuts`` with
    their weights; ``prices`` are all that a wire pays, each with its table: those of cuts, one for each two boundaries
    of an FPGA on its way, and what cuts do not explain.
    """

    forth: tuple[Table, ...]
    back: tuple[Table, ...]
    cuts: tuple[Cut, ...]
    prices: tuple[tuple[Fraction, Table], ...]

    def passes(self, edge: int) -> Table:
        """(S, S) whether a stream passes an edge."""
        return self.forth[edge] | self.back[edge]


def slot_metric(graph: SlotGraph) -> SlotMetric:
    """Take a graph of slots apart."""
    forth, back = _both_ways(graph)
    passes = [a | b for a, b in zip(forth, back, strict=True)]
    costs = [BOUNDARY_COST if e.crossing.kind == "sll" else e.crossing.cost for e in graph.edges]
    straight = np.zeros((graph.slots, graph.slots), dtype=np.int64)
    for cost, table in zip(costs, passes, strict=True):
        straight += cost * table
    distance = np.minimum(straight, straight.T)
    joined = nx.Graph((edge.a, edge.b) for edge in graph.edges)
    cuts = []
    for part in sorted(sorted(part) for part in nx.biconnected_components(joined)):
        hanging = _hanging(joined, part)
        weights = _weights(distance[np.ix_(part, part)])
        for side, weight in weights:
            beyond = frozenset(slot for position in side for slot in hanging[position])
            cuts.append(Cut(beyond if 0 not in beyond else frozenset(range(graph.slots)) - beyond, weight))
    prices = [(cut.weight, cut.table(graph.slots)) for cut in cuts]
    prices += _levels(_unexplained(straight, cuts))
    # Two boundaries of one FPGA on the way cost a wire one more: b of them b (b + 1) / 2.
    pairs = combinations([(k, fpga) for k, fpga in enumerate(graph.fpga_of_edge) if fpga >= 0], 2)
    both = [passes[j] & passes[k] for (j, one), (k, other) in pairs if one == other]
    prices += [(Fraction(BOUNDARY_COST), table) for table in both if table.any()]
    return SlotMetric(tuple(forth), tuple(back), tuple(cuts), tuple(prices))


def _both_ways(graph: SlotGraph) -> tuple[list[Table], list[Table]]:
    forth, back = ([np.zeros((graph.slots, graph.slots), dtype=bool) for _ in graph.edges] for _ in range(2))
    for source in range(graph.slots):
        for target in range(graph.slots):
            for k, there in graph.route(source, target):
                (forth if there else back)[k][source, target] = True
    return forth, back


def _hanging(joined: nx.Graph, part: Sequence[int]) -> list[Slots]:
    """Return for each slot of a part the slots that hang from it, itself included."""
    apart = joined.copy()
    apart.remove_edges_from(list(joined.subgraph(part).edges))
    return [frozenset(nx.node_connected_component(apart, slot)) for slot in part]


def _weights(distance: Distance) -> list[tuple[Slots, Fraction]]:
    """Return cuts of the slots of a part, by position, and weights that explain the most of a distance (n, n)."""
    count = len(distance)
    sides = list(_subsets(count) if count <= _MOST_SUBSETS else _halves(distance))
    model = LinearModel()
    for side in sides:
        few = min(len(side), count - len(side))
        model.column(cost=-len(side) * (count - len(side)) + _FEW * few)
    for a, b in combinations(range(count), 2):
        model.row([(k, 1.0) for k, side in enumerate(sides) if (a in side) != (b in side)], upper=float(distance[a, b]))
    values = run_highs(model, 1).values
    if values is None:
        return []
    weights = [Fraction(float(value)).limit_denominator(_LARGEST_DENOMINATOR) for value in values]
    found = [(side, weight) for side, weight in zip(sides, weights, strict=True) if weight > 0]
    # Rounding must not make a distance longer than it is; then the tables explain all.
    fits = all(
        sum(weight for side, weight in found if (a in side) != (b in side)) <= int(distance[a, b])
        for a, b in combinations(range(count), 2)
    )
    return found if fits else []


def _subsets(count: int) -> Iterable[Slots]:
    """Return one side of each cut of so many slots, the one without the first."""
    for size in range(1, count):
        yield from map(frozenset, combinations(range(1, count), size))


def _halves(distance: Distance) -> Iterable[Slots]:
    """Return single slots, and those that are nearer to one slot than to another."""
    count = len(distance)
    sides = [frozenset([slot]) for slot in range(count)]
    for a in range(count):
        for b in range(count):
            nearer = frozenset(np.flatnonzero(distance[a] < distance[b]).tolist())
            sides += [nearer] if a != b else []
    everything = frozenset(range(count))
    return dict.fromkeys(everything - side if 0 in side else side for side in sides)


def _unexplained(straight: Distance, cuts: Sequence[Cut]) -> list[list[Fraction]]:
    """(S, S) what the cuts leave of a distance."""
    rest = [[Fraction(int(value)) for value in row] for row in straight]
    for cut in cuts:
        for a, b in zip(*np.nonzero(cut.table(len(straight))), strict=True):
            rest[a][b] -= cut.weight
    return rest


def _levels(rest: Sequence[Sequence[Fraction]]) -> list[tuple[Fraction, Table]]:
    """Return tables with prices that add up to what is left."""
    steps = sorted({value for row in rest for value in row} | {Fraction(0)})
    return [
        (upper - lower, np.array([[value >= upper for value in row] for row in rest], dtype=bool))
        for lower, upper in pairwise(steps)
    ]


def common_scale(prices: Iterable[Fraction]) -> int:
    """Return what makes all prices whole."""
    return lcm(*(price.denominator for price in prices), 1)
