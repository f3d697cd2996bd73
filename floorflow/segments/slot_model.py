"""The model that `slot_relaxation` asks CP-SAT about: first for any solution, then for one with few crossings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from floorflow.segments.hops import Hops
from floorflow.solver import run_cpsat

Array = NDArray[np.int64]
Flags = NDArray[np.bool_]
Term = tuple[cp_model.IntVar, int]


@dataclass(frozen=True)
class Rows:
    """What the rows of a group use: in each of its units, (n_rows, 5) each, and wherever it lies, (n_rows, 5).

    ``barred`` marks the slots in which a unit may not lie with a row, (n_rows, n_slots) each; empty: none are.
    """

    in_unit: Mapping[int, Array]
    anywhere: Array
    barred: Mapping[int, Flags] = field(default_factory=dict)

    def undominated(self) -> "Rows":
        """Leave out rows that use no less of anything than another, and may lie nowhere else."""
        kept = undominated(np.concatenate([*self.in_unit.values(), self.anywhere, *self.barred.values()], axis=1))
        barred = {unit: rows[kept] for unit, rows in self.barred.items()}
        return Rows({unit: use[kept] for unit, use in self.in_unit.items()}, self.anywhere[kept], barred)

    def fit(self, unit: int, slot: int, limit: Array) -> list[int]:
        """Return the rows with which a unit fits a slot by itself."""
        fit = (self.in_unit[unit] <= limit).all(axis=1)
        if unit in self.barred:
            fit &= ~self.barred[unit][:, slot]
        return [int(row) for row in np.flatnonzero(fit)]


@dataclass(frozen=True)
class Crossings:
    """What an assignment costs: for each stream its weight times what lies between the slots of its ends.

    ``sides``: slots that something divides from all others, and what crossing it costs. ``pairs``: two disjoint sets of
    slots, and what a stream between them costs besides. An end that is no engine of the problem is the host's.
    """

    streams: Sequence[tuple[str, str, int]]
    """Source, target, weight."""
    sides: Sequence[tuple[frozenset[int], int]]
    pairs: Sequence[tuple[frozenset[int], frozenset[int], int]] = ()
    host_in: int = 0
    host_out: int = 0

    def between(self, a: int, b: int) -> int:
        """Return what a unit of weight costs between two slots."""
        crossed = sum(price for side, price in self.sides if (a in side) != (b in side))
        ways = ((a, b), (b, a))
        apart = (price for one, other, price in self.pairs if any(x in one and y in other for x, y in ways))
        return crossed + sum(apart)

    def cost(self, slot_of: Mapping[str, int]) -> int:
        """Return the cost of an assignment."""
        ends = ((slot_of.get(s, self.host_in), slot_of.get(t, self.host_out), w) for s, t, w in self.streams)
        return sum(weight * self.between(a, b) for a, b, weight in ends)


@dataclass(frozen=True)
class SlotModelAnswer:
    """What the solver says: the slot of each unit, None where it met no solution; ``infeasible`` is proven."""

    slot_of_unit: tuple[int, ...] | None
    infeasible: bool
    cost: int
    work: float


class SlotModel:
    """One row for each group, one slot for each unit, within the limits, (n_slots, 5)."""

    def __init__(self, units: int, limits: Array, groups: Sequence[Rows]) -> None:
        self.model, self.limits = cp_model.CpModel(), limits
        self.inside = [[self.model.new_bool_var("") for _ in limits] for _ in range(units)]
        for places in self.inside:
            self.model.add_exactly_one(places)
        self.in_slot: list[list[list[Term]]] = [[[] for _ in range(5)] for _ in limits]
        self.anywhere: list[list[Term]] = [[] for _ in range(5)]
        for group in groups:
            self._add_group(group)
        self._add_limits()

    def solve(self, work: float, crossings: Crossings | None, unit_of: Mapping[str, int]) -> SlotModelAnswer:
        """Look for a solution; with ``crossings`` go on from it to a nearer one with what is left of the work."""
        status, solver = run_cpsat(self.model, 0, work, linearization_level=2)
        spent = float(solver.response_proto.deterministic_time)
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return SlotModelAnswer(None, status == cp_model.INFEASIBLE, 0, spent)
        if crossings is None:
            return SlotModelAnswer(self._slots(solver), infeasible=False, cost=0, work=spent)
        for index in range(len(self.model.proto.variables)):
            variable = self.model.get_bool_var_from_proto_index(index)
            self.model.add_hint(variable, solver.boolean_value(variable))
        first = self._slots(solver)
        self._minimise(crossings, unit_of)

        def crossed(slots: Sequence[int]) -> int:
            return crossings.cost({name: slots[unit] for name, unit in unit_of.items()})

        status, nearer = run_cpsat(self.model, 0, max(work - spent, work / 2), linearization_level=2)
        spent += float(nearer.response_proto.deterministic_time)
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return SlotModelAnswer(first, infeasible=False, cost=crossed(first), work=spent)
        slots = self._slots(nearer)
        return SlotModelAnswer(slots, infeasible=False, cost=crossed(slots), work=spent)

    def least(self, slot: int, resource: int, low: int, work: float) -> tuple[int | None, bool, float]:
        """Return the least limit from ``low`` on with which there is a solution, if it is proven, and the work.

        All that the model was made with must allow more.
        """
        high, others = int(self.limits[slot, resource]), int(self.limits[:, resource].sum())
        amount = self.model.new_int_var(low, high, "")
        self.model.add(_sum(self.in_slot[slot][resource]) <= amount)
        if self.anywhere[resource]:
            everything = [term for place in self.in_slot for term in place[resource]]
            self.model.add(_sum(self.anywhere[resource] + everything) <= amount + others - high)
        self.model.minimize(amount)
        status, solver = run_cpsat(self.model, 0, work, linearization_level=2)
        found = int(solver.value(amount)) if status in {cp_model.OPTIMAL, cp_model.FEASIBLE} else None
        return found, status == cp_model.OPTIMAL, float(solver.response_proto.deterministic_time)

    def _slots(self, solver: cp_model.CpSolver) -> tuple[int, ...]:
        return tuple(next(s for s, here in enumerate(places) if solver.boolean_value(here)) for places in self.inside)

    def _add_group(self, rows: Rows) -> None:
        """Add the rows of a group: one is taken, and what it has in a unit lies where the unit does."""
        taken = [self.model.new_bool_var("") for _ in rows.anywhere]
        self.model.add_exactly_one(taken)
        _count(self.anywhere, taken, rows.anywhere)
        for unit, use in rows.in_unit.items():
            for slot, limit in enumerate(self.limits):
                fit = rows.fit(unit, slot, limit)
                both = [self.model.new_bool_var("") for _ in fit]
                for row, here in zip(fit, both, strict=True):
                    self.model.add_implication(here, taken[row])
                self.model.add(cp_model.LinearExpr.sum(both) == self.inside[unit][slot])
                _count(self.in_slot[slot], both, use[fit])

    def _add_limits(self) -> None:
        """Add the limits of all slots, and of the platform where something may lie anywhere."""
        for slot, limit in zip(self.in_slot, self.limits.tolist(), strict=True):
            for terms, most in zip(slot, limit, strict=True):
                self.model.add(_sum(terms) <= most)
        for resource, terms in enumerate(self.anywhere):
            if terms:
                everything = [term for slot in self.in_slot for term in slot[resource]]
                self.model.add(_sum(terms + everything) <= int(self.limits[:, resource].sum()))

    def keep_near(self, hops: Hops, streams: Iterable[tuple[str, str]], unit_of: Mapping[str, int]) -> None:
        """Forbid streams between slots that they may not join."""
        for source, target in sorted({(unit_of.get(a, -1), unit_of.get(b, -1)) for a, b in streams}):
            if source == target:
                continue
            from_, to = self._places(source, hops.host_in), self._places(target, hops.host_out)
            for one, other, reach in ((from_, to, hops.behind), (to, from_, hops.before)):
                for slot, here in enumerate(one):
                    near = reach((slot,))
                    if len(near) < len(other):
                        self.model.add(_within(other, near) >= here)

    def keep_apart(self, units: Iterable[int]) -> None:
        """Forbid that two of the units lie in one slot; a unit that is named twice lies nowhere."""
        for places in zip(*(self.inside[unit] for unit in units), strict=True):
            self.model.add(cp_model.LinearExpr.sum(list(places)) <= 1)

    def _places(self, unit: int, host: int) -> Sequence[Any]:
        """Return whether a unit lies in each slot, as variables; as constants of an end at the host."""
        at_host: Sequence[Any] = [int(slot == host) for slot in range(len(self.limits))]
        return self.inside[unit] if unit >= 0 else at_host

    def _minimise(self, crossings: Crossings, unit_of: Mapping[str, int]) -> None:
        weights: Counter[tuple[int, int]] = Counter()
        for source, target, weight in crossings.streams:
            weights[unit_of.get(source, -1), unit_of.get(target, -1)] += weight
        crossed: list[Term] = []
        for (one_end, other_end), weight in weights.items():
            if one_end == other_end:
                continue
            from_, to = self._places(one_end, crossings.host_in), self._places(other_end, crossings.host_out)
            for side, price in crossings.sides:
                here, there = _within(from_, side), _within(to, side)
                across = self.model.new_bool_var("")
                self.model.add(across >= here - there)
                self.model.add(across >= there - here)
                crossed.append((across, weight * price))
            for one, other, price in crossings.pairs:
                both = self.model.new_bool_var("")
                self.model.add(both >= _within(from_, one) + _within(to, other) - 1)
                self.model.add(both >= _within(from_, other) + _within(to, one) - 1)
                crossed.append((both, weight * price))
        self.model.minimize(_sum(crossed))


def _within(places: Sequence[Any], slots: frozenset[int]) -> Any:
    """Return whether a unit lies in one of these slots, as an expression or a constant."""
    return sum(places[slot] for slot in sorted(slots))


def _count(sums: Sequence[list[Term]], variables: Sequence[cp_model.IntVar], use: Array) -> None:
    """Add the amounts, (n, 5), of variables to the terms of each resource."""
    for resource, terms in enumerate(sums):
        terms.extend(_terms(variables, use[:, resource]))


def _terms(variables: Sequence[cp_model.IntVar], amounts: Array) -> Iterator[Term]:
    return ((variable, amount) for variable, amount in zip(variables, amounts.tolist(), strict=True) if amount)


def _sum(terms: Sequence[Term]) -> cp_model.LinearExpr:
    return cp_model.LinearExpr.weighted_sum([variable for variable, _ in terms], [amount for _, amount in terms])


def undominated(costs: Array) -> Array:
    """Return the positions of rows of costs, (n, k), that no other row keeps below in all; of equal ones the first."""
    kept: list[int] = []
    for row in np.lexsort((np.arange(len(costs)), costs.sum(axis=1))).tolist():
        if not kept or not (costs[kept] <= costs[row]).all(axis=1).any():
            kept.append(row)
    return np.array(sorted(kept), dtype=np.int64)
