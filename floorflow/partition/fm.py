"""Fiduccia-Mattheyses passes over whole assignments: every move of a module to a slot is priced exactly at once.

In a pass each module moves at most once, always by the best move that is left even if it makes things worse, and the
best assignment met is the answer. Overfull slots, boundaries and links are priced by the share by which they exceed
their limit, and streams by hops too many, so the same passes repair an illegal assignment and improve a legal one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from floorflow.partition.arrays import HOP_LIMIT, UNLIMITED, Floats, Integers, ProblemArrays
from floorflow.resources import RESOURCE_NAMES
from floorflow.stats import count

MOVED_S = 3e-4
"""Work of a move."""
_PATIENCE = 16
"""Moves without a better assignment after which a pass ends."""

_MAX_PASSES = 12

_MAX_WORK = 15_000_000
"""Loads after moves (modules x slots x edges) that one improvement looks at, about a second."""

_SOFT, _HARD = 0.3, 100.0
"""Price of exceeding one limit by the whole limit, in costs of all wires over the whole platform."""

_HOP = 1 / HOP_LIMIT
"""Excess of one hop too many."""

Key = tuple[float, float, float]
"""What is compared: excess over limits, then cost, then fullness of the fullest slot."""


@dataclass(frozen=True)
class MoveEvaluator:
    """Prices assignments and moves; wires and bits (M, M + 2) between a module and every end are summed once."""

    arrays: ProblemArrays

    @cached_property
    def wires(self) -> Floats:
        """(M, M + 2) wires between a module and any end, in either direction."""
        table = self.arrays.flow_matrix(self.arrays.wires)
        return np.asarray((table + table.T)[: len(self.arrays.names)])

    @cached_property
    def flows(self) -> tuple[Floats, Floats]:
        """(K, M, M + 2) what limits are of, bits a frame or streams, from a module and to a module."""
        count = len(self.arrays.names)
        tables = np.stack([self.arrays.flow_matrix(amounts) for amounts in self.arrays.carried])[self.limited[0]]
        return tables[:, :count], tables.swapaxes(1, 2)[:, :count]

    @cached_property
    def streams(self) -> tuple[Floats, Floats]:
        """(M, M + 2) merged streams from a module and to a module."""
        table, count = self.arrays.flow_matrix(np.ones_like(self.arrays.wires)), len(self.arrays.names)
        return table[:count], table.T[:count]

    @cached_property
    def numbers(self) -> Floats:
        """(M, M + 2) streams between a module and any end, in either direction."""
        table = self.arrays.flow_matrix(self.arrays.carried[1])
        return np.asarray((table + table.T)[: len(self.arrays.names)])

    @cached_property
    def limited(self) -> tuple[Integers, Integers]:
        """(K,) what is limited, bits or streams, and over which edge."""
        kinds, edges = np.nonzero(self.arrays.most_carried < UNLIMITED)
        return kinds, edges

    @cached_property
    def scale(self) -> float:
        """Cost of all wires from one end of the platform to the other."""
        tolls = self.arrays.carried[1].sum() * self.arrays.tolls.max(initial=0)
        return float(self.arrays.wires.sum() * self.arrays.distance.max(initial=1) + tolls + 1)

    def key(self, assignment: Integers) -> Key:
        """Return what an assignment (M,) is compared by; its excess is 0 if it is legal."""
        use, load, forward, backward = self._sums(assignment)
        excess = float(_over(use, self.arrays.limit).sum() + self._edge_excess(load, forward, backward))
        excess += float((~self.arrays.takes[np.arange(len(assignment)), assignment]).sum())
        area, most = self._area(assignment), self.arrays.most_cells
        excess += float(_over(area, most).sum()) + _HOP * self.arrays.hops_too_many(assignment)
        shares = (use / np.maximum(self.arrays.limit, 1))[:, : len(RESOURCE_NAMES)]
        fullest = max(shares.max(initial=0.0), (area / np.maximum(most, 1)).max())
        return excess, float(self.arrays.cost(assignment)), float(fullest)

    def _area(self, assignment: Integers) -> Floats:
        """(S,) cells that the modules of each slot take."""
        area = np.zeros(len(self.arrays.most_cells))
        np.add.at(area, assignment, self.arrays.cells[np.arange(len(assignment)), assignment])
        return area

    def _sums(self, assignment: Integers) -> tuple[Floats, Floats, Floats, Floats]:
        """Return use (S, 5), registers included, wires over each edge (E,), what is limited either way (K,)."""
        arrays = self.arrays
        end_slots = np.concatenate([assignment, arrays.hosts])
        source, target = arrays.beyond[end_slots[arrays.source]], arrays.beyond[end_slots[arrays.target]]
        load = arrays.wires @ (source != target)
        kinds, edges = self.limited
        source, target, amounts = source[:, edges], target[:, edges], arrays.carried[kinds].T
        forward, backward = (amounts * (source < target)).sum(axis=0), (amounts * (source > target)).sum(axis=0)
        use = np.zeros(arrays.limit.shape)
        np.add.at(use, assignment, arrays.demand)
        use += np.tensordot(load, arrays.registers, 1)
        return use, load.astype(float), forward.astype(float), backward.astype(float)

    def _edge_excess(self, load: Floats, forward: Floats, backward: Floats) -> Floats:
        most = self.arrays.most_carried[self.limited]
        carried = (_over(forward, most) + _over(backward, most)).sum(axis=-1)
        return np.asarray(_over(load, self.arrays.most_wires).sum(axis=-1) + carried)

    def after_moves(self, assignment: Integers) -> tuple[Floats, Floats]:
        """Return excess and cost (M, S) after moving each module to each slot."""
        arrays, modules = self.arrays, np.arange(len(assignment))
        use, load, forward, backward = self._sums(assignment)
        end_slots = arrays.beyond[np.concatenate([assignment, arrays.hosts])].astype(float)  # (M + 2, E)
        side, new_side = arrays.beyond[assignment].astype(float), arrays.beyond[None].astype(float)
        loads = _shifted(load, side, new_side, self.wires @ end_slots, self.wires @ (1 - end_slots))
        edges = self.limited[1]
        end_slots, side, new_side = end_slots[:, edges], side[:, edges], new_side[..., edges]
        sent, received = self.flows
        forwards = _shifted(forward, side, new_side, _to(sent, end_slots), _to(received, 1 - end_slots))
        backwards = _shifted(backward, side, new_side, _to(received, end_slots), _to(sent, 1 - end_slots))
        excess = self._edge_excess(loads, forwards, backwards) + (~arrays.takes)
        excess += (~arrays.takes[modules, assignment]).sum() - (~arrays.takes[modules, assignment])[:, None]
        excess += self._resource_excess(assignment, use, load, loads) + self._area_excess(assignment)
        sent, received = self.streams
        more = self._change(assignment, sent, arrays.too_many.T) + self._change(assignment, received, arrays.too_many)
        excess += _HOP * (arrays.hops_too_many(assignment) + more)
        change = self._change(assignment, self.wires, arrays.distance)
        return excess, arrays.cost(assignment) + change + self._change(assignment, self.numbers, arrays.tolls)

    def _change(self, assignment: Integers, amounts: Floats, between: Integers) -> Floats:
        """(M, S) what each move adds to the sum of amounts (M, M + 2) x ``between`` (S, S), the other end first."""
        if not between.any():
            return np.zeros((len(assignment), len(between)))
        sums = amounts @ between[np.concatenate([assignment, self.arrays.hosts])]
        return np.asarray(sums - sums[np.arange(len(assignment)), assignment][:, None])

    def _resource_excess(self, assignment: Integers, use: Floats, load: Floats, loads: Floats) -> Floats:
        """(M, S) excess over resources of all slots; only registers change in slots that a move does not name."""
        arrays, modules = self.arrays, np.arange(len(assignment))
        others = [r for r in range(use.shape[1]) if r not in arrays.registered]
        limit, demand = arrays.limit[:, others], arrays.demand[:, others]
        current = _over(use[:, others], limit).sum(axis=1)
        left = _over(use[assignment][:, others] - demand, limit[assignment]).sum(axis=1) - current[assignment]
        joined = _over(use[None][:, :, others] + demand[:, None], limit[None]).sum(axis=2) - current
        excess = np.asarray(current.sum() + left[:, None] + joined)
        excess[modules, assignment] = current.sum()
        slots = np.arange(len(use))
        for r in arrays.registered:
            registers = arrays.registers[:, :, r]
            uses = np.broadcast_to(use[:, r] - load @ registers, (*excess.shape, len(use))) + loads @ registers
            uses[modules, :, assignment] -= arrays.demand[:, r, None]
            uses[:, slots, slots] += arrays.demand[:, r, None]
            excess = np.asarray(excess + _over(uses, arrays.limit[:, r]).sum(axis=2))
        return excess

    def _area_excess(self, assignment: Integers) -> Floats:
        """(M, S) excess over the area of all slots after each move."""
        arrays, area, modules = self.arrays, self._area(assignment), np.arange(len(assignment))
        over = _over(area, arrays.most_cells)
        left = _over(area[assignment] - arrays.cells[modules, assignment], arrays.most_cells[assignment])
        joined = _over(area[None] + arrays.cells, arrays.most_cells[None]) - over
        excess = np.asarray(over.sum() + (left - over[assignment])[:, None] + joined)
        excess[modules, assignment] = over.sum()
        return excess


def fm_refine(arrays: ProblemArrays, assignment: Integers) -> Integers:
    """Return the best assignment that passes from ``assignment`` reach; never a worse one."""
    evaluator = MoveEvaluator(arrays)
    best, key = assignment, evaluator.key(assignment)
    fruitless, steps = 0, _MAX_WORK // max(1, len(assignment) * arrays.beyond.size)
    for number in range(_MAX_PASSES):
        price = evaluator.scale * (_HARD if number % 2 == 0 else _SOFT)
        reached_best, reached_key, steps = _pass(evaluator, best, key, price, steps)
        fruitless = 0 if reached_key < key else fruitless + 1
        best, key = reached_best, reached_key
        if fruitless == 2 or steps <= 0:
            break
    return best


def is_legal(arrays: ProblemArrays, assignment: Integers) -> bool:
    """Whether an assignment (M,) exceeds nothing."""
    return MoveEvaluator(arrays).key(assignment)[0] == 0


def _pass(
    evaluator: MoveEvaluator, assignment: Integers, key: Key, price: float, steps: int
) -> tuple[Integers, Key, int]:
    """Return the best assignment of one pass, its key, and how many of the ``steps`` allowed are left."""
    best, current, since = assignment, assignment.copy(), 0
    free = np.ones(len(assignment), dtype=bool)
    while free.any() and since < _PATIENCE and steps > 0:
        steps -= 1
        count(MOVED_S)
        excess, cost = evaluator.after_moves(current)
        score = price * excess + cost
        score[~free] = np.inf
        score[np.arange(len(current)), current] = np.inf
        module, slot = divmod(int(np.argmin(score)), score.shape[1])
        if score[module, slot] == np.inf:
            break
        current[module], free[module], since = slot, False, since + 1
        if (reached := evaluator.key(current)) < key:
            best, key, since = current.copy(), reached, 0
    return best, key, steps


def _over(use: Floats, limit: Integers) -> Floats:
    return np.asarray(np.maximum(use - limit, 0) / np.maximum(limit, 1))


def _to(flows: Floats, ends: Floats) -> Floats:
    """(M, K) flows (K, M, M + 2) of each module to those ends (M + 2, K) that are marked."""
    return np.asarray(np.einsum("kme,ek->mk", flows, ends))


def _shifted(load: Floats, side: Floats, new_side: Floats, if_near: Floats, if_beyond: Floats) -> Floats:
    """(M, S, E) loads after each move: a module adds ``if_near`` to an edge on its a side, else ``if_beyond``."""
    rest = load - np.where(side > 0, if_beyond, if_near)
    return np.asarray(rest[:, None] + np.where(new_side > 0, if_beyond[:, None], if_near[:, None]))
