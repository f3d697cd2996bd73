"""The orders in which contiguous assignments visit the slots of a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorflow.partition.arrays import Integers
from floorflow.partition.problem import PartitionProblem

_MAX_ORDERS = 8


@dataclass(frozen=True)
class SlotOrder:
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


def slot_orders(problem: PartitionProblem) -> list[SlotOrder]:
    """Return orders along paths of the tree that run from leaf to leaf over both slots of the host.

    A tree that is itself a path is visited from either end; else from the input's end, filled forwards and backwards.
    """
    near = _neighbours(problem)
    leaves = [slot for slot, edges in enumerate(near) if len(edges) <= 1]
    if len(problem.slots) == 1:
        return [_order(problem, near, 0, 0, reverse=False)]
    found = []
    for first in leaves:
        for root in leaves:
            path = _path(near, first, root)
            if first == root or not {problem.host_in, problem.host_out} <= set(path):
                continue
            if path.index(problem.host_in) > path.index(problem.host_out):
                continue
            found += [_order(problem, near, first, root, reverse=backwards) for backwards in (False, True)]
    if len(leaves) == 2:
        found = [order for order in found if not order.reverse]
    return found[:_MAX_ORDERS]


def _neighbours(problem: PartitionProblem) -> list[dict[int, int]]:
    """For each slot, the slots next to it and the edge to each."""
    near: list[dict[int, int]] = [{} for _ in problem.slots]
    for index, edge in enumerate(problem.edges):
        near[edge.a][edge.b] = near[edge.b][edge.a] = index
    return near


def _path(near: list[dict[int, int]], start: int, end: int) -> list[int]:
    came_from = {start: start}
    for slot in (queue := [start]):
        for other in near[slot]:
            if other not in came_from:
                came_from[other] = slot
                queue.append(other)
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _order(problem: PartitionProblem, near: list[dict[int, int]], first: int, root: int, *, reverse: bool) -> SlotOrder:
    spine = set(_path(near, first, root))
    if reverse:  # the way from the outputs: the same tree from its other end
        first, root = root, first
    slots: list[int] = []
    edges: list[int | None] = []
    children: list[tuple[int, ...]] = []
    start: list[int] = []

    def visit(slot: int, parent: int | None) -> int:
        began = len(slots)
        below = sorted((n for n in near[slot] if n != parent), key=lambda n: (n not in spine, n))
        done = tuple(visit(child, slot) for child in below)
        slots.append(slot)
        edges.append(None if parent is None else near[slot][parent])
        children.append(done)
        start.append(began)
        return len(slots) - 1

    visit(root, None)
    ends = (problem.host_in, problem.host_out)
    hosts = tuple(np.array([end in slots[start[p] : p + 1] for end in ends], dtype=np.int64) for p in range(len(slots)))
    return SlotOrder(tuple(slots), tuple(edges), tuple(children), tuple(start), hosts, reverse)
