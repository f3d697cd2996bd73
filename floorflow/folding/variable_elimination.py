"""Variable elimination: the cheapest choice for every node of a graph with prices on nodes and edges, node by node.

A node is eliminated by a table over its neighbours: for each of their choices the least of its own. Networks are
nearly chains, so tables stay small. Where one would not (dense concatenations), edges are cut: each choice of one
end then pays the least of what the edge may cost, which keeps the answer a lower bound.

Numpy's calls cost more than the sums, so one elimination answers for many prices: tables have a last axis of k cases.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Pair = tuple[int, int]
Array = NDArray[np.int64]

LARGEST_TABLE = 400_000
"""Entries of the largest table before edges are cut."""
FORBIDDEN = 1 << 57
"""Stands for the price of what must not be chosen. No sum below it is one; sums end at it, so that none overflows."""
MOST_ADDED = 32
"""Prices, each FORBIDDEN at most, that are added up before the sum is cut off."""


@dataclass(frozen=True)
class Step:
    """The elimination of one node: ``scope`` is the node and then its neighbours, in order of their elimination."""

    node: int
    scope: tuple[int, ...]
    edges: tuple[Pair, ...]
    """Edges whose first eliminated end is the node."""
    children: tuple[int, ...]
    """Positions of the steps whose tables this one takes up; the end of a part that no edge joins is one too."""


@dataclass(frozen=True)
class Fit:
    """How tables over some nodes, (..., k), are laid out in the order of a scope, with length 1 for its other nodes."""

    axes: tuple[int, ...] | None
    """The order of a table's axes; None if it has them in that order."""
    shape: tuple[int, ...]

    def __call__(self, table: Array) -> Array:
        """Lay out a table."""
        return (table if self.axes is None else table.transpose(self.axes)).reshape(self.shape)


@dataclass(frozen=True)
class _Layout:
    """How what one step takes up fits its own table: worked out once, for it is asked for in every sum."""

    own: Fit
    edges: tuple[Fit, ...]
    children: tuple[Fit, ...]
    outside: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    """For each child the axes of this step's table that it does not have, and the order in which it has the others."""


@dataclass(frozen=True)
class Elimination:
    """An order of elimination for a graph; ``cut`` edges are relaxed."""

    sizes: tuple[int, ...]
    steps: tuple[Step, ...]
    cut: tuple[Pair, ...]

    @cached_property
    def largest_table(self) -> int:
        """Entries of the largest table of one case."""
        return max((math.prod(self.sizes[n] for n in step.scope) for step in self.steps), default=1)

    def least(self, nodes: Sequence[Array], edges: Mapping[Pair, Array]) -> tuple[Array, Array]:
        """Return for each of k cases the least sum (a lower bound if edges were cut) and a choice that has it.

        ``nodes[n]`` is (size of n, k), ``edges[a, b]`` (size of a, size of b, k); the answers are (k,) and (k, nodes).
        """
        tables, _, total = self._forward(nodes, edges)
        if total.size == 1:
            return total, self._choice([table[..., 0] for table in tables])[None]
        case = np.arange(total.size)
        selection = np.zeros((len(self.sizes), total.size), dtype=np.int64)
        for step, table in zip(reversed(self.steps), reversed(tables), strict=True):
            line: tuple[Array | slice, ...] = (slice(None), *(selection[n] for n in step.scope[1:]), case)
            lines = table[line]
            selection[step.node] = lines.argmin(axis=0)
        return total, selection.T

    def _choice(self, tables: Sequence[Array]) -> Array:
        """Return the choice that has the least sum in the tables of one case."""
        selection = [0] * len(self.sizes)
        for step, table in zip(reversed(self.steps), reversed(tables), strict=True):
            line: tuple[int | slice, ...] = (slice(None), *[selection[n] for n in step.scope[1:]])
            selection[step.node] = int(table[line].argmin())
        return np.array(selection, dtype=np.int64)

    def min_marginals(self, nodes: Sequence[Array], edges: Mapping[Pair, Array]) -> list[Array]:
        """Return the min-marginals: for each choice of each node the least sum with it, (size of the node, k)."""
        min_marginals: list[Array] = [np.empty(0, dtype=np.int64)] * len(self.sizes)
        for step, (table, outside) in zip(self.steps, self.bounds(nodes, edges), strict=True):
            min_marginals[step.node] = (table + outside).reshape(table.shape[0], -1, table.shape[-1]).min(axis=1)
        return min_marginals

    def bounds(self, nodes: Sequence[Array], edges: Mapping[Pair, Array]) -> list[tuple[Array, Array]]:
        """Return for each step, over its scope: the least sum of all below it, and that of all the rest.

        The last axis is the case; in the second the first has length 1 for the step's own node.
        """
        tables, messages, total = self._forward(nodes, edges)
        outside: dict[int, Array] = {}
        # From the last step back: what lies outside a step is its parent's table without the step's own share.
        for position in range(len(self.steps) - 1, -1, -1):
            step, table, layout = self.steps[position], tables[position], self._layouts[position]
            if position not in outside:
                outside[position] = (total - messages[position])[None]
            whole = table + outside[position]
            for child, fit, (others, order) in zip(step.children, layout.children, layout.outside, strict=True):
                outside[child] = (whole - fit(messages[child])).min(axis=others).transpose(order)[None]
        return [(table, outside[position]) for position, table in enumerate(tables)]

    def _forward(self, nodes: Sequence[Array], edges: Mapping[Pair, Array]) -> tuple[list[Array], list[Array], Array]:
        """Return every step's table before its node is minimised out, the same after, and the sum over all."""
        extra = _cut_prices(self.cut, edges)
        tables: list[Array] = []
        messages: list[Array] = []
        for step, layout in zip(self.steps, self._layouts, strict=True):
            own = nodes[step.node] if step.node not in extra else nodes[step.node] + extra[step.node]
            table = layout.own(own)
            parts = [fit(edges[pair]) for pair, fit in zip(step.edges, layout.edges, strict=True)]
            parts += [fit(messages[child]) for child, fit in zip(step.children, layout.children, strict=True)]
            for added, part in enumerate(parts, start=1):
                table = table + part
                if added % MOST_ADDED == 0:
                    table = np.minimum(table, FORBIDDEN)
            tables.append(table)
            message = np.minimum.reduce(table, axis=0)
            messages.append(np.minimum(message, FORBIDDEN, out=message))
        return tables, messages, messages[-1] if messages else np.zeros(1, dtype=np.int64)

    @cached_property
    def _layouts(self) -> tuple[_Layout, ...]:
        return tuple(
            _Layout(
                fit_of((step.node,), step.scope, self.sizes),
                tuple(fit_of(pair, step.scope, self.sizes) for pair in step.edges),
                tuple(fit_of(self.steps[child].scope[1:], step.scope, self.sizes) for child in step.children),
                tuple(_rest_of(step.scope, self.steps[child].scope[1:]) for child in step.children),
            )
            for step in self.steps
        )


def plan_elimination(sizes: Sequence[int], edges: Iterable[Pair], largest_table: int = LARGEST_TABLE) -> Elimination:
    """Plan an elimination, smallest table first; cut edges until every table is small enough."""
    left = set(edges)
    cut: list[Pair] = []
    while True:
        scopes, offender = _order(sizes, left, largest_table)
        if offender is None:
            break
        widest = max((p for p in left if offender in p), key=lambda p: (sizes[p[0]] * sizes[p[1]], p), default=None)
        widest = widest or max(left, key=lambda p: (sizes[p[0]] * sizes[p[1]], p))
        left.remove(widest)
        cut.append(widest)
    return Elimination(tuple(sizes), _steps(scopes, left), tuple(sorted(cut)))


def plan_sweep(sizes: Sequence[int], edges: Iterable[Pair]) -> Elimination:
    """Plan an elimination from the first node to the last, so that partial choices grow at one end only."""
    near: list[set[int]] = [set() for _ in sizes]
    for a, b in edges:
        near[min(a, b)].add(max(a, b))
    scopes = []
    for node in range(len(sizes)):
        later = sorted(near[node])
        scopes.append((node, *later))
        if later:
            near[later[0]] |= set(later[1:])
        entries = sizes[node]
        for other in later:
            entries *= sizes[other]
        if entries > LARGEST_TABLE:
            return plan_elimination(sizes, edges)
    return Elimination(tuple(sizes), _steps(scopes, edges), ())


def _order(sizes: Sequence[int], edges: Iterable[Pair], largest_table: int) -> tuple[list[tuple[int, ...]], int | None]:
    """Return each node with the neighbours it has left, in order; and the first node whose table is too large."""
    near: list[set[int]] = [set() for _ in sizes]
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    weight = [_entries(node, near, sizes) for node in range(len(sizes))]
    waiting = [(entries, node) for node, entries in enumerate(weight)]
    heapify(waiting)
    scopes: list[tuple[int, ...]] = []
    while waiting:
        entries, node = heappop(waiting)
        if entries != weight[node]:
            # Its table has changed since, or it is eliminated.
            continue
        if entries > largest_table:
            return [], node
        scopes.append((node, *sorted(near[node])))
        weight[node] = 0
        for other in near[node]:
            near[other] |= near[node] - {other}
            near[other].discard(node)
        for other in near[node]:
            weight[other] = _entries(other, near, sizes)
            heappush(waiting, (weight[other], other))
    position_of = {scope[0]: position for position, scope in enumerate(scopes)}
    return [(node, *sorted(rest, key=position_of.__getitem__)) for node, *rest in scopes], None


def _entries(node: int, near: Sequence[set[int]], sizes: Sequence[int]) -> int:
    entries = sizes[node]
    for other in near[node]:
        entries *= sizes[other]
    return entries


def _steps(scopes: Sequence[tuple[int, ...]], edges: Iterable[Pair]) -> tuple[Step, ...]:
    position_of = {scope[0]: position for position, scope in enumerate(scopes)}
    owned: list[list[Pair]] = [[] for _ in scopes]
    for a, b in sorted(edges):
        owned[min(position_of[a], position_of[b])].append((a, b))
    children: list[list[int]] = [[] for _ in scopes]
    for position, scope in enumerate(scopes):
        if len(scope) > 1:
            children[position_of[scope[1]]].append(position)
    # Parts that no edge joins follow each other, so that there is one sum.
    ends = [position for position, scope in enumerate(scopes) if len(scope) == 1]
    for end, following in pairwise(ends):
        children[following].append(end)
    return tuple(
        Step(scope[0], scope, tuple(owned[position]), tuple(children[position]))
        for position, scope in enumerate(scopes)
    )


def _cut_prices(cut: Sequence[Pair], edges: Mapping[Pair, Array]) -> dict[int, Array]:
    prices: dict[int, Array] = {}
    for pair in cut:
        least = edges[pair].min(axis=1)
        prices[pair[0]] = prices[pair[0]] + least if pair[0] in prices else least
    return prices


def fit_of(nodes: Sequence[int], scope: Sequence[int], sizes: Sequence[int]) -> Fit:
    """Return how tables over ``nodes`` fit those over ``scope``."""
    axes = [nodes.index(n) for n in scope if n in nodes]
    order = None if axes == sorted(axes) else (*axes, len(axes))
    return Fit(order, (*(sizes[n] if n in nodes else 1 for n in scope), -1))


def _rest_of(scope: Sequence[int], wanted: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    others = tuple(axis for axis, n in enumerate(scope) if n not in wanted)
    shared = [n for n in scope if n in wanted]
    return others, (*(shared.index(n) for n in wanted), len(shared))
