"""Contiguous assignment by dynamic programming over the ideals of the module graph.

The slots are visited in an order in which every subtree of the tree of slots is consecutive; each slot takes the
difference of two consecutive ideals. What lies before an edge is then an interval of the order: where the slots form a
path its cut depends on one ideal, and what a slot is passed by, from one boundary of an FPGA to the next, on two: where
streams cross one boundary at most, the best assignment along the path is found. Where more are allowed, pairs of
boundaries further apart are not counted on the way; where FPGAs hang off the path by one slot, the cut also depends on
the ideal at which the hanging part began, and each ideal remembers its best history only. Then the answer is legal but
need not be the best contiguous one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from floorflow.partition.arrays import SHARE_SCALE, Floats, Integers, ProblemArrays
from floorflow.partition.fm import is_legal
from floorflow.partition.ideals import ideals
from floorflow.partition.problem import PartitionProblem
from floorflow.resources import RESOURCE_NAMES

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
    adjacent: list[dict[int, int]] = [{} for _ in problem.slots]
    for index, edge in enumerate(problem.edges):
        adjacent[edge.a][edge.b] = adjacent[edge.b][edge.a] = index
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


_KEY_SCALE = 2 * SHARE_SCALE

_NEVER = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class _Lattice:
    """Ideals (N, M) and the pairs (P,) of an inner and an outer ideal whose difference may fit a slot."""

    arrays: ProblemArrays
    members: Integers
    inner: Integers
    outer: Integers

    @cached_property
    def demand(self) -> Integers:
        """(P, 5) demand of what lies between the two ideals of a pair."""
        sums = self.members @ self.arrays.demand
        return np.asarray(sums[self.outer] - sums[self.inner])

    @cached_property
    def _by_slot(self) -> dict[bytes, tuple[Integers, Integers]]:
        return {}

    def _of_slot(self, slot: int) -> tuple[Integers, Integers]:
        """Return the indices of pairs that fit a slot before registers, and the share of it that each pair (P,) fills.

        Slots that are alike share the arrays.
        """
        arrays = self.arrays
        limit, takes, cells = arrays.limit[slot], arrays.takes[:, slot], arrays.cells[:, slot]
        most_cells = int(arrays.most_cells[slot])
        like = limit.tobytes() + takes.tobytes() + cells.tobytes() + most_cells.to_bytes(8, "little")
        if like not in self._by_slot:
            refused = self.members @ (~takes).astype(np.int64)
            fits = refused[self.outer] == refused[self.inner]
            share = np.zeros(len(self.inner), dtype=np.int64)
            area = self.members @ cells
            needs = [*self.demand.T, area[self.outer] - area[self.inner]]
            for r, (need, most) in enumerate(zip(needs, [*limit.tolist(), most_cells], strict=True)):
                fits &= need <= most
                if not len(RESOURCE_NAMES) <= r < len(limit):  # lying alone is no fullness
                    np.maximum(share, -(-SHARE_SCALE * need // max(1, most)), out=share)
            self._by_slot[like] = np.flatnonzero(fits), share
        return self._by_slot[like]

    def fitting(self, slot: int) -> Integers:
        """Return the indices of pairs whose difference fits a slot before registers."""
        return self._of_slot(slot)[0]

    def share(self, slot: int) -> Integers:
        """(P,) largest share of the slot's limits that each pair fills before registers, in millionths."""
        return self._of_slot(slot)[1]

    @cached_property
    def nested(self) -> tuple[Floats, Floats, Floats]:
        """Wires (N, N), what is carried out and in (2, N, N) between ideal B (column) and the larger ideal A (row)."""
        carried = [self._cut(amounts) for amounts in self.arrays.carried]
        out, into = np.stack([cut[1] for cut in carried]), np.stack([cut[2] for cut in carried])
        return self._cut(self.arrays.wires)[0], out, into

    def _cut(self, amounts: Integers) -> tuple[Floats, Floats, Floats]:
        hosted = np.pad(self.members, ((0, 0), (0, 2))).astype(float)
        source, target = hosted[:, self.arrays.source], hosted[:, self.arrays.target]
        crossed = (source * amounts) @ target.T
        own = np.diagonal(crossed)
        both = own[:, None] + own[None, :] - crossed - crossed.T
        sent, received = source @ amounts, target @ amounts
        out = sent[:, None] - sent[None, :] - both
        into = received[:, None] - received[None, :] - both
        return out + into, out, into

    def through(self, inner_hosts: Integers, outer_hosts: Integers, amounts: Integers) -> Floats:
        """(N, N) amounts between ideal B (column) and all that is outside the larger ideal A (row).

        The host's ends (2,) that lie with either ideal are given.
        """
        count = len(self.members)
        near = np.hstack([self.members, np.broadcast_to(inner_hosts, (count, 2))]).astype(np.float32)
        far = 1 - np.hstack([self.members, np.broadcast_to(outer_hosts, (count, 2))]).astype(np.float32)
        source, target = self.arrays.source, self.arrays.target
        forth = far[:, target] @ (near[:, source] * amounts).T
        return np.asarray(forth + far[:, source] @ (near[:, target] * amounts).T)

    def prefix(self, hosts: Integers) -> tuple[Floats, Floats, Floats]:
        """Wires (N,), what is carried out and in (2, N) of each ideal with the host's ends (2,) on its side."""
        side = np.hstack([self.members, np.broadcast_to(hosts, (len(self.members), 2))])
        source, target = side[:, self.arrays.source], side[:, self.arrays.target]
        out, into = source > target, source < target
        carried = self.arrays.carried.T.astype(float)
        return (out | into) @ self.arrays.wires.astype(float), (out @ carried).T, (into @ carried).T


def contiguous(problem: PartitionProblem, arrays: ProblemArrays) -> tuple[Integers | None, bool]:
    """Return the cheapest contiguous assignment (M,) found, or None, and whether ideals had to be left out."""
    members, shortened = ideals(arrays)
    best: tuple[int, Integers] | None = None
    lattice: dict[bool, _Lattice] = {}
    for order in linear_orders(problem):
        if order.reverse not in lattice:
            lattice[order.reverse] = _lattice(1 - members[::-1] if order.reverse else members, arrays)
        found = _best_along(order, lattice[order.reverse])
        if found is None or not is_legal(arrays, found[1]):
            continue
        fullness = found[0] % _KEY_SCALE
        key = arrays.cost(found[1]) * _KEY_SCALE + fullness
        if best is None or key < best[0]:
            best = key, found[1]
    return (None if best is None else best[1]), shortened


def _lattice(members: Integers, arrays: ProblemArrays) -> _Lattice:
    sums = members @ arrays.demand
    most = arrays.limit.max(axis=0)
    overlap = members.astype(np.float32) @ members.T.astype(np.float32)
    fits = overlap == members.sum(axis=1)  # row: outer, column: inner
    for r in range(sums.shape[1]):
        fits &= sums[:, None, r] - sums[None, :, r] <= most[r]
    outer, inner = np.nonzero(fits)
    return _Lattice(arrays, members, inner, outer)


@dataclass
class _Labels:
    """Best chain to each ideal (N,): key = cost x scale + fullness; ``history[q]`` the ideal before position q."""

    key: Integers
    history: Integers


def _best_along(order: LinearOrder, lattice: _Lattice) -> tuple[int, Integers] | None:
    """Return key and assignment of the best chain from the empty to the full set of modules."""
    count, last = len(order.slots), len(lattice.members) - 1
    labels = _Labels(np.full(last + 1, _NEVER), np.zeros((0, last + 1), dtype=np.int64))
    labels.key[0] = 0
    for position in range(count):
        labels = _step(order, position, labels, lattice)
    if labels.key[last] >= _NEVER:
        return None
    ideals_passed = np.append(labels.history[:, last], last)
    assignment = np.zeros(lattice.members.shape[1], dtype=np.int64)
    for position, slot in enumerate(order.slots):
        assignment[lattice.members[ideals_passed[position + 1]] > lattice.members[ideals_passed[position]]] = slot
    return int(labels.key[last]), assignment


def _step(order: LinearOrder, position: int, labels: _Labels, lattice: _Lattice) -> _Labels:
    """Let the slot at this position take what lies between the ideals of each pair."""
    arrays, slot = lattice.arrays, order.slots[position]
    fitting = lattice.fitting(slot)
    fitting = fitting[labels.key[lattice.inner[fitting]] < _NEVER]
    inner, outer = lattice.inner[fitting], lattice.outer[fitting]
    registers = _owed(order, position, labels, lattice)[inner]  # (P, 5)
    charge = np.zeros(len(fitting), dtype=np.int64)
    legal = np.ones(len(fitting), dtype=bool)
    edge = order.parent_edge[position]
    if edge is not None:
        wires, out, into = _cut(order, position, labels, lattice, (inner, outer))
        within = (np.maximum(out, into) <= arrays.most_carried[:, edge, None]).all(axis=0)
        legal = (wires <= arrays.most_wires[edge]) & within
        registers = registers + np.outer(wires, arrays.registers[edge, slot])
        charge = (wires * arrays.weight[edge] + (out + into)[1] * arrays.toll[edge]).astype(np.int64)
    share = lattice.share(slot)[fitting]
    for r in arrays.registered:
        need, most = lattice.demand[fitting, r] + registers[:, r].astype(np.int64), int(arrays.limit[slot, r])
        legal &= need <= most
        share = np.maximum(share, -(-SHARE_SCALE * need // max(1, most)))
    if (passed := _passed(order, position, lattice)) is not None:
        amounts, allowed = passed
        legal &= allowed | (amounts[outer, inner] == 0)
        charge += allowed * amounts[outer, inner].astype(np.int64)
    inner, outer = inner[legal], outer[legal]
    cost, full = np.divmod(labels.key[inner], _KEY_SCALE)
    key = (cost + charge[legal]) * _KEY_SCALE + np.maximum(full, share[legal])
    return _best_per_ideal(key, inner, outer, labels)


def _best_per_ideal(key: Integers, inner: Integers, outer: Integers, labels: _Labels) -> _Labels:
    """Keep the best pair for each outer ideal; pairs come sorted by outer ideal."""
    best = np.full(len(labels.key), _NEVER)
    source = np.zeros(len(labels.key), dtype=np.int64)
    if len(key):
        starts = np.flatnonzero(np.diff(outer, prepend=-1))
        best[outer[starts]] = np.minimum.reduceat(key, starts)
        winners = np.flatnonzero(key == best[outer])[::-1]
        source[outer[winners]] = inner[winners]  # the first winner is written last
    return _Labels(best, np.vstack([labels.history[:, source], source]))


def _cut(
    order: LinearOrder, position: int, labels: _Labels, lattice: _Lattice, pairs: tuple[Integers, Integers]
) -> tuple[Floats, Floats, Floats]:
    """Wires (P,), what is carried out and in (2, P) over the edge from a slot to its parent, for pairs of ideals."""
    inner, outer = pairs
    start = order.start[position]
    if start == 0:
        wires, out, into = lattice.prefix(order.hosts[position])
        return wires[outer], out[:, outer], into[:, outer]
    before = inner if start == position else labels.history[start, inner]
    wires, out, into = lattice.nested
    return wires[outer, before], out[:, outer, before], into[:, outer, before]


def _passed(order: LinearOrder, position: int, lattice: _Lattice) -> tuple[Floats, bool] | None:
    """(N, N) wires that pass this position's slot, inner ideal (column) to outer (row), and whether they may.

    None where its neighbours on the path are not joined to it by boundaries of one FPGA.
    """
    parent, arrays = order.parent_edge[position], lattice.arrays
    if position == 0 or order.start[position] or order.children[position] != (position - 1,):
        return None
    edges = {order.parent_edge[position - 1], parent}
    pair = next((pair for pair in arrays.pairs if {pair.first, pair.second} == edges), None)
    if pair is None:
        return None
    hosts = order.hosts[position - 1], order.hosts[position]
    amounts = arrays.wires if pair.allowed else np.ones_like(arrays.wires)
    return lattice.through(*hosts, amounts), pair.allowed


def _owed(order: LinearOrder, position: int, labels: _Labels, lattice: _Lattice) -> Floats:
    """(N, 5) what registers of the edges to its children take of this position's slot, by the ideal before it."""
    count = len(lattice.members)
    owed = np.zeros((count, lattice.demand.shape[1]))
    for child in order.children[position]:
        edge = order.parent_edge[child]
        of_a_wire = lattice.arrays.registers[edge, order.slots[position]]
        if not of_a_wire.any():
            continue
        end = np.arange(count) if child + 1 == position else labels.history[child + 1]
        if order.start[child] == 0:
            owed += np.outer(lattice.prefix(order.hosts[child])[0][end], of_a_wire)
        else:
            owed += np.outer(lattice.nested[0][end, labels.history[order.start[child]]], of_a_wire)
    return owed
