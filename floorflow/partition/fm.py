"""Fiduccia-Mattheyses passes over whole assignments: every move of a module to a slot is priced exactly at once.

In a pass each module moves at most once, always by the best move that is left even if it makes things worse, and the
best assignment on the way is kept. Overfull slots, boundaries and links are priced by the share by which they exceed
their limit, so the same passes repair an illegal assignment and improve a legal one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from floorflow.partition.arrays import FF, UNLIMITED, Floats, Integers, Tables

_PATIENCE = 16
"""Moves without a better assignment after which a pass ends."""

_MAX_PASSES = 12

_MAX_WORK = 15_000_000
"""Loads after moves (modules x slots x edges) that one improvement looks at, about a second."""

_SOFT, _HARD = 0.3, 100.0
"""Price of exceeding one limit by the whole limit, in costs of all wires over the whole platform."""

Key = tuple[float, float, float]
"""What is compared: excess over limits, then cost, then fullness of the fullest slot."""


@dataclass(frozen=True)
class Neighbourhood:
    """Sums that stay the same while modules move; wires and bits (M, M + 2) between a module and every end."""

    tables: Tables

    @cached_property
    def wires(self) -> Floats:
        """(M, M + 2) wires between a module and any end, in either direction."""
        table = self.tables.between(self.tables.wires)
        return np.asarray((table + table.T)[: len(self.tables.names)])

    @cached_property
    def bits(self) -> tuple[Floats, Floats]:
        """(M, M + 2) bits a frame from a module and to a module."""
        table, count = self.tables.between(self.tables.bits), len(self.tables.names)
        return table[:count], table.T[:count]

    @cached_property
    def links(self) -> Integers:
        """(K,) edges with a limit on bits."""
        return np.flatnonzero(self.tables.most_bits < UNLIMITED)

    @cached_property
    def scale(self) -> float:
        """Cost of all wires from one end of the platform to the other."""
        return float(self.tables.wires.sum() * self.tables.distance.max(initial=1) + 1)

    def key(self, place: Integers) -> Key:
        """Return what an assignment (M,) is judged by; its excess is 0 if it is legal."""
        use, load, there, back = self._state(place)
        excess = float(_over(use, self.tables.limit).sum() + self._edge_excess(load, there, back))
        excess += float((~self.tables.takes[np.arange(len(place)), place]).sum())
        shares = use / np.maximum(self.tables.limit, 1)
        return excess, float(load @ self.tables.weight), float(shares.max(initial=0.0))

    def _state(self, place: Integers) -> tuple[Floats, Floats, Floats, Floats]:
        """Return use (S, 5), registers included, wires over each edge (E,), bits over each link either way (K,)."""
        tables = self.tables
        spots = np.concatenate([place, tables.hosts])
        source, target = tables.beyond[spots[tables.source]], tables.beyond[spots[tables.target]]
        load = tables.wires @ (source != target)
        source, target = source[:, self.links], target[:, self.links]
        there, back = tables.bits @ (source < target), tables.bits @ (source > target)
        use = np.zeros(tables.limit.shape)
        np.add.at(use, place, tables.demand)
        use[:, FF] += load @ tables.stages
        return use, load.astype(float), there.astype(float), back.astype(float)

    def _edge_excess(self, load: Floats, there: Floats, back: Floats) -> Floats:
        most = self.tables.most_bits[self.links]
        bits = (_over(there, most) + _over(back, most)).sum(axis=-1)
        return np.asarray(_over(load, self.tables.most_wires).sum(axis=-1) + bits)

    def after_moves(self, place: Integers) -> tuple[Floats, Floats]:
        """Return excess and cost (M, S) after moving each module to each slot."""
        tables, modules = self.tables, np.arange(len(place))
        use, load, there, back = self._state(place)
        spots = tables.beyond[np.concatenate([place, tables.hosts])].astype(float)  # (M + 2, E)
        here, to = tables.beyond[place].astype(float), tables.beyond[None].astype(float)
        loads = _shifted(load, here, to, self.wires @ spots, self.wires @ (1 - spots))
        spots, here, to = spots[:, self.links], here[:, self.links], to[..., self.links]
        sent, received = self.bits
        theres = _shifted(there, here, to, sent @ spots, received @ (1 - spots))
        backs = _shifted(back, here, to, received @ spots, sent @ (1 - spots))
        excess = self._edge_excess(loads, theres, backs) + (~tables.takes)
        excess += (~tables.takes[modules, place]).sum() - (~tables.takes[modules, place])[:, None]
        excess += self._resource_excess(place, use, load, loads)
        return excess, np.asarray(loads @ tables.weight)

    def _resource_excess(self, place: Integers, use: Floats, load: Floats, loads: Floats) -> Floats:
        """(M, S) excess over resources of all slots; only flip-flops change in slots that a move does not name."""
        tables, modules = self.tables, np.arange(len(place))
        others = [r for r in range(use.shape[1]) if r != FF]
        limit, demand = tables.limit[:, others], tables.demand[:, others]
        now = _over(use[:, others], limit).sum(axis=1)
        left = _over(use[place][:, others] - demand, limit[place]).sum(axis=1) - now[place]
        joined = _over(use[None][:, :, others] + demand[:, None], limit[None]).sum(axis=2) - now
        excess = np.asarray(now.sum() + left[:, None] + joined)
        excess[modules, place] = now.sum()
        flops = np.broadcast_to(use[:, FF] - load @ tables.stages, (*excess.shape, len(use))) + loads @ tables.stages
        slots = np.arange(len(use))
        flops[modules, :, place] -= tables.demand[:, FF, None]
        flops[:, slots, slots] += tables.demand[:, FF, None]
        return np.asarray(excess + _over(flops, tables.limit[:, FF]).sum(axis=2))


def improve(tables: Tables, place: Integers) -> Integers:
    """Return the best assignment that passes from ``place`` reach; never a worse one."""
    around = Neighbourhood(tables)
    best, key = place, around.key(place)
    fruitless, steps = 0, _MAX_WORK // max(1, len(place) * tables.beyond.size)
    for number in range(_MAX_PASSES):
        price = around.scale * (_HARD if number % 2 == 0 else _SOFT)
        found, found_key, steps = _walk(around, best, key, price, steps)
        fruitless = 0 if found_key < key else fruitless + 1
        best, key = found, found_key
        if fruitless == 2 or steps <= 0:
            break
    return best


def is_legal(tables: Tables, place: Integers) -> bool:
    """Whether an assignment (M,) exceeds nothing."""
    return Neighbourhood(tables).key(place)[0] == 0


def _walk(around: Neighbourhood, place: Integers, key: Key, price: float, steps: int) -> tuple[Integers, Key, int]:
    """Return the best assignment of one pass, its key, and how many of the ``steps`` allowed are left."""
    best, now, since = place, place.copy(), 0
    free = np.ones(len(place), dtype=bool)
    while free.any() and since < _PATIENCE and steps > 0:
        steps -= 1
        excess, cost = around.after_moves(now)
        score = price * excess + cost
        score[~free] = np.inf
        score[np.arange(len(now)), now] = np.inf
        module, slot = divmod(int(np.argmin(score)), score.shape[1])
        if score[module, slot] == np.inf:
            break
        now[module], free[module], since = slot, False, since + 1
        if (reached := around.key(now)) < key:
            best, key, since = now.copy(), reached, 0
    return best, key, steps


def _over(use: Floats, limit: Integers) -> Floats:
    return np.asarray(np.maximum(use - limit, 0) / np.maximum(limit, 1))


def _shifted(load: Floats, here: Floats, to: Floats, if_near: Floats, if_beyond: Floats) -> Floats:
    """(M, S, E) loads after each move: a module adds ``if_near`` to an edge on its a side, else ``if_beyond``."""
    rest = load - np.where(here > 0, if_beyond, if_near)
    return np.asarray(rest[:, None] + np.where(to > 0, if_beyond[:, None], if_near[:, None]))
