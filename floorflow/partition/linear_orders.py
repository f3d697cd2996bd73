"""Linear orders: those in which contiguous assignments visit the slots of a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorflow.partition.arrays import Integers
from floorflow.partition.problem import PartitionProblem

_MAX_ORDERS = 8


@dataclass(frozen=True)
class LinearOrder:
    """Slots of a rooted tree, children before parents, every subtree in a row.

    For each position: ``parent_edge`` (None at the root, the last), ``children`` positions, ``start`` where its
    subtree begins, and ``hosts`` (2,): 1 where its subtree holds the host's input and output. ``reverse``: the slots
    are filled from the outputs of the network to its inputs.
    """

    slots: tuple[int, ...]
    parent_edge: tuple[int | None, ...]
    children: tuple[tuple[int, ...], ...]
    start: tuple[int, ...]
    hosts: tuple[Integers, ...]
    reverse: bool = False


def linear_orders(problem: PartitionProblem) -> list[LinearOrder]:
    """Return orders along paths of the tree that run from leaf to leaf over both slots of the host.

    A tree that is itself a path is visited from either end; else from the input's end, filled forwards and backwards.
    """
    adjacent = _neighbours(problem)
    leaves = [slot for slot, edges in enumerate(adjacent) if len(edges) <= 1]
    if len(problem.slots) == 1:
        return [_order(problem, adjacent, 0, 0, reverse=False)]
    orders = []
    for first in leaves:
        for root in leaves:
            path = _path(adjacent, first, root)
            if first == root or not {problem.host_in, problem.host_out} <= set(path):
                continue
            if path.index(problem.host_in) > path.index(problem.host_out):
                continue
            orders += [_order(problem, adjacent, first, root, reverse=backwards) for backwards in (False, True)]
    if len(leaves) == 2:
        orders = [order for order in orders if not order.reverse]
    return orders[:_MAX_ORDERS]


def _neighbours(problem: PartitionProblem) -> list[dict[int, int]]:
    """For each slot, the slots next to it and the edge to each."""
    adjacent: list[dict[int, int]] = [{} for _ in problem.slots]
    for index, edge in enumerate(problem.edges):
        adjacent[edge.a][edge.b] = adjacent[edge.b][edge.a] = index
    return adjacent


def _path(adjacent: list[dict[int, int]], start: int, end: int) -> list[int]:
    came_from = {start: start}
    for slot in (queue := [start]):
        for other in adjacent[slot]:
            if other not in came_from:
                came_from[other] = slot
                queue.append(other)
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _order(
    problem: PartitionProblem, adjacent: list[dict[int, int]], first: int, root: int, *, reverse: bool
) -> LinearOrder:
    spine = set(_path(adjacent, first, root))
    if reverse:  # from the outputs: the same tree from its other end
        first, root = root, first
    slots: list[int] = []
    edges: list[int | None] = []
    children: list[tuple[int, ...]] = []
    start: list[int] = []

    def visit(slot: int, parent: int | None) -> int:
        began = len(slots)
        below = sorted((n for n in adjacent[slot] if n != parent), key=lambda n: (n not in spine, n))
        done = tuple(visit(child, slot) for child in below)
        slots.append(slot)
        edges.append(None if parent is None else adjacent[slot][parent])
        children.append(done)
        start.append(began)
        return len(slots) - 1

    visit(root, None)
    ends = (problem.host_in, problem.host_out)
    hosts = tuple(np.array([end in slots[start[p] : p + 1] for end in ends], dtype=np.int64) for p in range(len(slots)))
    return LinearOrder(tuple(slots), tuple(edges), tuple(children), tuple(start), hosts, reverse)
