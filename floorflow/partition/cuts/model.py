"""The partition as a mixed-integer programme over cuts and other tables, for HiGHS.

variables    x[g, s]     group g lies in slot s, where it may
             t[g, A]     sum of x[g, s] over the slots s of A, a side of a cut or of a rectangle
             v[p, a, b]  streams from group a to group b pass table p; both ways are one variable where the table has no
                         direction
constraints  v[p, a, b] >= t[a, A] + t[b, B] - 1  for each rectangle (A, B) of p; of a cut that is v >= |t[a] - t[b]|
             t[a, A] + t[b, B] <= 1               for each rectangle of a table that no stream may pass
             use of a slot's resources            by its groups and the registers of what passes, at most its limit
             wires, bits or streams over tables   at most what they carry
             cost over some tables                at least what is known of it
objective    min sum of (price x wires + toll x streams) x v

Where an end of a stream has one slot only, v is no variable but t of the other end. HiGHS presolves the rest. All
columns are declared whole, though t and v follow from x: on models that mix them the presolve of HiGHS (in OR-Tools
9.15; reported for 1.14, too) was seen to cut the optimum off, and all take longer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from floorflow.partition.arrays import UNLIMITED, Flags, Integers
from floorflow.partition.cuts.arrays import Amount, CutArrays
from floorflow.partition.cuts.metric import Slots, rectangles
from floorflow.solver import LinearModel, run_highs

_TOLERANCE = 1e-6
_NODES = 1e8
"""Nodes of branch and bound for a unit of work, times the square of the choices: a node of more takes longer."""
_ALL_OF, _SHARE = 1.0, 0.2
"""Work of which a solve may take all, and its share of what there is beyond that: it is one of many."""


def choices(takes: Flags) -> int:
    """Return how many slots all groups (G, S) with a choice have together: as many columns x are there."""
    slots = takes.sum(axis=1)
    return int(slots[slots > 1].sum())


def nodes_for(arrays: CutArrays, work: float) -> int:
    """Return the nodes of branch and bound that some work allows."""
    allowed = min(work, _ALL_OF + _SHARE * (work - _ALL_OF))
    return max(1, int(_NODES * allowed / max(1, choices(arrays.takes)) ** 2))


@dataclass(frozen=True)
class Terms:
    """A sum of columns with coefficients, and a constant."""

    of: Mapping[int, float] = field(default_factory=dict)
    constant: float = 0.0

    def plus(self, other: "Terms", times: float = 1.0) -> "Terms":
        """Return this and so many times another."""
        summed = dict(self.of)
        for column, coefficient in other.of.items():
            summed[column] = summed.get(column, 0.0) + times * coefficient
        return Terms(summed, self.constant + times * other.constant)


_ONE = Terms(constant=1.0)


@dataclass(frozen=True)
class KnownCost:
    """Every legal assignment costs at least ``least``, in parts of 1 / scale, on these tables together."""

    tables: tuple[int, ...]
    least: int


@dataclass(frozen=True)
class CutAnswer:
    """What HiGHS found: a legal assignment (G,) if any, and a lower bound of its cost in parts of 1 / scale."""

    assignment: Integers | None
    bound: int
    infeasible: bool = False


class CutModel:
    """The programme of one problem, built by adding. ``impossible``: a row without columns is violated."""

    def __init__(self, arrays: CutArrays, known: Sequence[KnownCost] = ()) -> None:
        self.arrays, self.linear, self.impossible = arrays, LinearModel(), False
        self.slots_of = [tuple(np.flatnonzero(row).tolist()) for row in arrays.takes]
        self.columns = {
            (g, slot): self.linear.column(upper=1.0, whole=True)
            for g, slots in enumerate(self.slots_of)
            for slot in slots
            if len(slots) > 1
        }
        self._sides: dict[tuple[int, Slots], Terms] = {}
        self._passing: dict[tuple[int, int, int], Terms] = {}
        self._loads: dict[tuple[int, Amount], Terms] = {}
        self._rectangles = [rectangles(table) for table in arrays.tables]
        self._both_ways = [bool((table == table.T).all()) for table in arrays.tables]
        everywhere = frozenset(range(len(arrays.limit)))
        for g, slots in enumerate(self.slots_of):
            if len(slots) != 1:
                self._row(self._sum_over(g, everywhere), 1.0, 1.0)
        self._keep_resources()
        for limit in arrays.limits:
            self._row(self._sum_of_loads(limit.tables, limit.of), upper=limit.most)
        self._keep_apart()
        for cost in known:
            self._row(self._cost_over(cost.tables), lower=cost.least)

    def minimise(self) -> float:
        """Make the cost of all streams the objective; return its constant."""
        cost = self._cost_over(range(len(self.arrays.tables)))
        for column, coefficient in cost.of.items():
            self.linear.costs[column] = coefficient
        return cost.constant

    def read(self, values: Sequence[float]) -> Integers:
        """Return the assignment (G,) of a point."""
        found = [slots[0] if slots else 0 for slots in self.slots_of]
        for (g, slot), column in self.columns.items():
            if values[column] > 0.5:
                found[g] = slot
        return np.array(found, dtype=np.int64)

    def hint(self, assignment: Integers) -> dict[int, float]:
        """Return the values of columns that say an assignment (G,)."""
        return {column: float(assignment[g] == slot) for (g, slot), column in self.columns.items()}

    def _row(self, terms: Terms, lower: float = -inf, upper: float = inf) -> None:
        lower, upper = lower - terms.constant, upper - terms.constant
        largest = max(map(abs, terms.of.values()), default=0.0)
        if largest:  # coefficients of rows are at most 1, which keeps HiGHS' tolerances small against amounts
            row = [(column, coefficient / largest) for column, coefficient in terms.of.items()]
            self.linear.row(row, lower / largest, upper / largest)
        elif lower > _TOLERANCE or upper < -_TOLERANCE:
            self.impossible = True

    def _is_in(self, group: int, slot: int) -> Terms:
        if (group, slot) in self.columns:
            return Terms({self.columns[group, slot]: 1.0})
        return _ONE if slot in self.slots_of[group] else Terms()

    def _sum_over(self, group: int, slots: Slots) -> Terms:
        found = Terms()
        for slot in self.slots_of[group]:
            if slot in slots:
                found = found.plus(self._is_in(group, slot))
        return found

    def _side(self, group: int, slots: Slots) -> Terms:
        """Return t: whether a group lies in one of some slots, a column of its own where those are several."""
        inside = frozenset(self.slots_of[group]) & slots
        outside = frozenset(self.slots_of[group]) - slots
        if not inside or not outside:
            return _ONE if inside else Terms()
        if self.slots_of[group][0] in inside:  # both sides are one column
            return _ONE.plus(self._side(group, outside), -1.0)
        if (group, inside) not in self._sides:
            terms = self._sum_over(group, inside)
            if len(inside) > 1:
                column = self.linear.column(upper=1.0, whole=True)
                self._row(terms.plus(Terms({column: 1.0}), -1.0), 0.0, 0.0)
                terms = Terms({column: 1.0})
            self._sides[group, inside] = terms
        return self._sides[group, inside]

    def _passes(self, table: int, source: int, target: int) -> Terms:
        """Return v: whether streams between two groups pass a table."""
        if self._both_ways[table] and source > target:
            source, target = target, source
        pairs = self.arrays.tables[table]
        if len(self.slots_of[source]) == 1:
            return self._side(target, frozenset(np.flatnonzero(pairs[self.slots_of[source][0]]).tolist()))
        if len(self.slots_of[target]) == 1:
            return self._side(source, frozenset(np.flatnonzero(pairs[:, self.slots_of[target][0]]).tolist()))
        key = table, source, target
        if key not in self._passing:
            self._passing[key] = Terms({self.linear.column(upper=1.0, whole=True): 1.0})
            for both in self._on_rectangles(table, source, target):
                self._row(self._passing[key].plus(both, -1.0), lower=-1.0)
        return self._passing[key]

    def _on_rectangles(self, table: int, source: int, target: int) -> list[Terms]:
        """Return for each rectangle that both may reach the sum of the sides they are on: 2 if they pass there."""
        sides = ((self._side(source, one), self._side(target, other)) for one, other in self._rectangles[table])
        return [one.plus(other) for one, other in sides if (one.of or one.constant) and (other.of or other.constant)]

    def _load(self, table: int, kind: Amount = "wires") -> Terms:
        """Return the wires, bits or streams over a table."""
        if (table, kind) not in self._loads:
            arrays, summed, constant = self.arrays, dict[int, float](), 0.0
            ends = zip(arrays.source.tolist(), arrays.target.tolist(), arrays.amounts[kind], strict=True)
            for source, target, amount in ends:
                passing = self._passes(table, source, target)
                constant += float(amount) * passing.constant
                for column, coefficient in passing.of.items():
                    summed[column] = summed.get(column, 0.0) + float(amount) * coefficient
            self._loads[table, kind] = Terms(summed, constant)
        return self._loads[table, kind]

    def _sum_of_loads(self, tables: Sequence[int], kind: Amount) -> Terms:
        found = Terms()
        for table in tables:
            found = found.plus(self._load(table, kind))
        return found

    def _cost_over(self, tables: Sequence[int]) -> Terms:
        cost = Terms()
        for table in tables:
            if self.arrays.price[table]:
                cost = cost.plus(self._load(table), float(self.arrays.price[table]))
            if self.arrays.toll[table]:
                cost = cost.plus(self._load(table, "streams"), float(self.arrays.toll[table]))
        return cost

    def _keep_resources(self) -> None:
        arrays = self.arrays
        for slot, limits in enumerate(arrays.limit.tolist()):
            for r, most in enumerate(limits):
                if most >= UNLIMITED:
                    continue
                need = {self.columns[g, s]: float(arrays.need[g, s, r]) for g, s in self.columns if s == slot}
                fixed = sum(arrays.need[g, slot, r] for g, slots in enumerate(self.slots_of) if slots == (slot,))
                use = Terms(need, float(fixed))
                for table in np.flatnonzero(arrays.registers[:, slot, r]).tolist():
                    use = use.plus(self._load(table), float(arrays.registers[table, slot, r]))
                self._row(use, upper=most)

    def _keep_apart(self) -> None:
        for table in self.arrays.forbidden:
            for source, target in zip(self.arrays.source.tolist(), self.arrays.target.tolist(), strict=True):
                for both in self._on_rectangles(table, source, target):
                    self._row(both, upper=1.0)


def solve_cuts(
    arrays: CutArrays,
    work: float,
    *,
    known: Sequence[KnownCost] = (),
    start: Integers | None = None,
    any_legal: bool = False,
) -> CutAnswer:
    """Minimise the cost within so much work, in nodes of branch and bound, or look for ``any_legal`` assignment.

    ``start`` (G,) is a hint; ``known`` costs hold of every legal assignment.
    """
    model = CutModel(arrays, known)
    if model.impossible or not all(model.slots_of):
        return CutAnswer(None, 0, infeasible=True)
    constant = 0.0 if any_legal else model.minimise()
    hint = None if start is None else model.hint(start)
    gap = 0.0 if any_legal else arrays.step * (1 - _TOLERANCE)
    answer = run_highs(model.linear, nodes_for(arrays, work), absolute_gap=gap, hint=hint, tree_only=True)
    if answer.infeasible:
        return CutAnswer(None, 0, infeasible=True)
    found = None if answer.values is None else model.read(answer.values.tolist())
    # HiGHS keeps rows within a tolerance: what it calls legal is looked at again in whole numbers.
    if found is not None and arrays.excess(found):
        found = None
    if any_legal or answer.bound == -inf:
        bound = 0
    elif found is not None and answer.optimal:
        bound = arrays.cost(found)
    else:
        bound = arrays.whole_steps(answer.bound + constant)
    return CutAnswer(found, bound)
