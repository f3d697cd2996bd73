"""Simulated annealing of the partition that knows resources and what tables carry: incumbents for the cut model.

Single groups move to other slots. What exceeds a limit is priced by its share of it; the price rises while limits are
exceeded and falls while they are kept, so that the way leads along the edge of what is legal. Counted moves end it, and
what it comes to depends on the seed and the arguments alone.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf
from random import Random

import numpy as np

from floorflow.partition.arrays import UNLIMITED, Integers
from floorflow.partition.cuts.arrays import CutArrays
from floorflow.stats import count

MOVE_S = 5e-6
"""Work of a move that is looked at."""
_SEGMENT = 200
"""Moves after which temperature and price change."""
_HOTTEST, _COLDEST = 2.0, 0.02
"""Temperatures at the start and the end, in costs of a mean stream between slots next to each other."""
_PRICE, _LEAST, _MOST = 0.1, 0.01, 20.0
"""Price of exceeding one limit by the whole limit, in costs of all streams: at first, at least and at most."""
_RISE, _FALL = 1.02, 0.985
_LEGAL = 1e-7
"""Excess that rounding may leave."""


@dataclass(frozen=True)
class Annealer:
    """The arrays as lists, which single moves read faster."""

    arrays: CutArrays

    @cached_property
    def distance(self) -> list[list[float]]:
        """(S, S) mean cost of a wire there and back."""
        return ((self.arrays.distance + self.arrays.distance.T) / 2).tolist()  # type: ignore[no-any-return]

    @cached_property
    def tolls(self) -> list[list[float]]:
        """(S, S) mean cost of a stream there and back, beside its wires."""
        return ((self.arrays.tolls + self.arrays.tolls.T) / 2).tolist()  # type: ignore[no-any-return]

    @cached_property
    def neighbours(self) -> list[list[tuple[int, int, int, int]]]:
        """For each group, others that it has streams with, the wires to them and from them, and the streams."""
        found: list[dict[int, list[int]]] = [{} for _ in self.arrays.groups]
        ends = zip(self.arrays.source.tolist(), self.arrays.target.tolist(), strict=True)
        amounts = zip(self.arrays.wires.tolist(), self.arrays.amounts["streams"].tolist(), strict=True)
        for (a, b), (wires, streams) in zip(ends, amounts, strict=True):
            for one, other, way in ((a, b, 0), (b, a, 1)):
                between = found[one].setdefault(other, [0, 0, 0])
                between[way] += wires
                between[2] += streams
        return [[(other, *between) for other, between in near.items()] for near in found]  # type: ignore[misc]

    @cached_property
    def toll(self) -> float:
        """The least that a stream pays over a link, 0 where none does."""
        return min((toll for row in self.tolls for toll in row if toll > 0), default=0.0)

    @cached_property
    def choices(self) -> list[list[int]]:
        """Slots of each group."""
        return [np.flatnonzero(row).tolist() for row in self.arrays.takes]

    @cached_property
    def free(self) -> list[int]:
        """Groups with a choice."""
        return [g for g, slots in enumerate(self.choices) if len(slots) > 1]

    @cached_property
    def shares(self) -> list[list[list[float]]]:
        """(G, S, r) needs as shares of the slot's limit, of resources that some slot could have too little of."""
        most = self.arrays.need.max(axis=1).sum(axis=0)
        least = self.arrays.limit.min(axis=0)
        scarce = [r for r in range(len(most)) if least[r] < min(most[r], UNLIMITED)]
        shares = self.arrays.need[:, :, scarce] / np.maximum(self.arrays.limit[:, scarce], 1)
        return shares.tolist()  # type: ignore[no-any-return]

    @cached_property
    def limits(self) -> list[tuple[list[list[int]], int]]:
        """Limits of wires: how often (S, S) a stream counts, and the amounts."""
        found = []
        for limit in self.arrays.limits:
            if limit.of == "wires":
                times = self.arrays.tables[list(limit.tables)].sum(axis=0)
                found.append((np.maximum(times, times.T).tolist(), limit.most))
        if self.arrays.forbidden:
            found.append((self.arrays.too_far.astype(int).tolist(), 0))
        return found

    @cached_property
    def is_exact(self) -> bool:
        """Whether moves know all limits: those of registers, bits and streams are looked at where all else is kept."""
        return not (self.arrays.registers.any() or any(limit.of != "wires" for limit in self.arrays.limits))

    def key(self, assignment: Integers) -> tuple[float, int]:
        """Return what an assignment (G,) is compared by: excess over limits, then cost."""
        return self.arrays.excess(assignment), self.arrays.cost(assignment)

    def anneal(
        self, moves: int, seed: int, start: Integers | None = None, heat: float = 1.0, enough: float = -inf
    ) -> Integers:
        """Return the best assignment (G,) met; never a worse one than ``start``.

        ``heat`` scales the temperature at the start; without ``start`` groups begin anywhere. A legal assignment that
        costs ``enough`` ends the walk.
        """
        random = Random(seed)
        slots = [random.choice(choice) for choice in self.choices] if start is None else start.tolist()
        walk = Walk(self, slots)
        count(MOVE_S * moves)
        walk.run(moves if self.free else 0, random, heat, enough)
        found = [np.array(one, dtype=np.int64) for one in (walk.best, walk.slots) if one is not None]
        return min([*([] if start is None else [start]), *found], key=self.key)


class Walk:
    """One walk: slots of groups, what they use and carry, cost and excess, and the cheapest legal ``best`` so far."""

    def __init__(self, annealer: Annealer, slots: list[int]) -> None:
        self.annealer, self.slots = annealer, slots
        self.best: list[int] | None = None
        self.best_cost = inf
        everything = list(zip(range(len(slots)), slots, strict=True))
        kinds = len(annealer.shares[0][0])
        self.use = [[0.0] * kinds for _ in annealer.distance]
        for group, slot in everything:
            for r, share in enumerate(annealer.shares[group][slot]):
                self.use[slot][r] += share
        pairs = [(slots[a], slots[b], sent) for a, _ in everything for b, sent, *_ in annealer.neighbours[a]]
        self.loads: list[float] = [sum(wires * times[a][b] for a, b, wires in pairs) for times, _ in annealer.limits]
        costs = (
            (sent + received) * annealer.distance[a][slots[b]] + streams * annealer.tolls[a][slots[b]]
            for g, a in everything
            for b, sent, received, streams in annealer.neighbours[g]
        )
        self.cost = sum(costs) / 2
        self.excess = sum(max(0.0, share - 1) for slot in self.use for share in slot)
        self.excess += sum(_over(load, most) for load, (_, most) in zip(self.loads, annealer.limits, strict=True))

    def run(self, moves: int, random: Random, heat: float, enough: float) -> None:
        """Look at so many moves, ever colder, until the best costs ``enough``."""
        annealer, draw = self.annealer, random.random
        free, choices, slots = annealer.free, annealer.choices, self.slots
        wires, streams = float(annealer.arrays.wires.sum()), float(annealer.arrays.amounts["streams"].sum())
        nearest = min((d for row in annealer.distance for d in row if d > 0), default=1.0)
        mean, toll = nearest * wires / max(1, len(annealer.arrays.wires)), annealer.toll
        temperature = max(mean, toll) * _HOTTEST * heat
        cooling = (mean * _COLDEST / temperature) ** (_SEGMENT / max(1, moves))
        whole = wires * nearest + streams * toll
        price = _PRICE * whole
        for number in range(moves):
            if number % _SEGMENT == 0:
                temperature *= cooling
                price *= _RISE if self.excess > _LEGAL else _FALL
                price = min(max(price, _LEAST * whole), _MOST * whole)
                if self.best_cost <= enough:
                    break
            group = free[int(draw() * len(free))]
            choice = choices[group]
            slot = choice[int(draw() * len(choice))]
            if slot == slots[group]:
                continue
            cost, excess, loads = self._change(group, slot)
            worse = cost + price * excess
            if worse <= 0 or draw() < exp(-worse / temperature):
                self._move(group, slot, cost, excess, loads)

    def _change(self, group: int, slot: int) -> tuple[float, float, list[float]]:
        """Return what a move adds to cost, excess and loads."""
        annealer, slots = self.annealer, self.slots
        left, near = slots[group], annealer.neighbours[group]
        excess, shares = 0.0, annealer.shares[group]
        for used, more, left_used, less in zip(self.use[slot], shares[slot], self.use[left], shares[left], strict=True):
            if used + more > 1:
                excess += used + more - 1 if used <= 1 else more
            if left_used > 1:
                excess -= left_used - 1 if left_used - less <= 1 else less
        loads = []
        for load, (times, most) in zip(self.loads, annealer.limits, strict=True):
            there_times, here_times, added = times[slot], times[left], 0.0
            for other, sent, received, _ in near:
                place = slots[other]
                added += sent * (there_times[place] - here_times[place])
                if received:
                    added += received * (times[place][slot] - times[place][left])
            loads.append(added)
            if added:
                excess += _over(load + added, most) - _over(load, most)
        return self._cost_change(group, slot), excess, loads

    def _cost_change(self, group: int, slot: int) -> float:
        annealer, slots, cost = self.annealer, self.slots, 0.0
        left, near = slots[group], annealer.neighbours[group]
        there, here = annealer.distance[slot], annealer.distance[left]
        toll_there, toll_here = annealer.tolls[slot], annealer.tolls[left]
        for other, sent, received, streams in near:
            place = slots[other]
            cost += (sent + received) * (there[place] - here[place])
            cost += streams * (toll_there[place] - toll_here[place])
        return cost

    def _move(self, group: int, slot: int, cost: float, excess: float, loads: list[float]) -> None:
        shares, left = self.annealer.shares[group], self.slots[group]
        self.slots[group] = slot
        self.use[slot] = [used + more for used, more in zip(self.use[slot], shares[slot], strict=True)]
        self.use[left] = [used - less for used, less in zip(self.use[left], shares[left], strict=True)]
        self.loads = [load + added for load, added in zip(self.loads, loads, strict=True)]
        self.cost += cost
        self.excess += excess
        if self.cost < self.best_cost - _LEGAL and self.excess < _LEGAL:
            self._keep()

    def _keep(self) -> None:
        """Keep the assignment as the best, if those limits hold, too, that moves do not know."""
        annealer = self.annealer
        if annealer.is_exact or annealer.arrays.excess(np.array(self.slots, dtype=np.int64)) == 0:
            self.best, self.best_cost = self.slots.copy(), self.cost


def _over(load: float, most: int) -> float:
    return (load - most) / (most or 1) if load > most else 0.0
