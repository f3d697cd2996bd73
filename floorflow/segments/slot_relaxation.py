"""Whether engines can lie on slots at an interval: large ones whole and in one slot each, small ones spread at will.

A *unit* is what must lie in one slot: an engine, or several that the caller wants together. With z[u, s] for "unit u
lies in slot s", and x[g, o, u, s] for "group g takes row o, and what it has in unit u lies in slot s",

    one slot     sum_s z[u, s] = 1
    one row      sum_o x[g, o, u, s] = z[u, s]          (for each unit that the group has engines in)
    tied rows    sum_s x[g, o, u, s] = sum_s x[g, o, v, s]          (for units u, v of one group)
    slot         sum of use[g, o, u] x[g, o, u, s] <= limit[s]
    platform     sum over all slots, with the streams between units, <= sum of limits

are linear. z and x are whole numbers for units that need a good part of a slot; for all others they need not be. What a
stream costs depends on both its ends; what each end adds whatever the other does is counted, in the slot where both
ends are in one unit. So every plan is a solution, and where there is none there is no plan.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE, Coupling
from floorflow.folding import FoldingProblem
from floorflow.resources import Resources
from floorflow.solver import LinearModel, run_highs

Array = NDArray[np.int64]

LARGE = 0.05
"""Share of the roomiest slot from which on a unit is kept whole."""
TOLERANCE = 1e-6
"""Share by which limits are widened, so that a solver's rounding never makes a plan look impossible."""


@dataclass(frozen=True)
class Assigned:
    """A point of the relaxation; ``slot_of_engine`` has for each engine the slot that holds most of it."""

    slot_of_engine: Mapping[str, int]


@dataclass(frozen=True)
class Impossible:
    """Proof that no assignment of units to slots meets the interval."""


@dataclass(frozen=True)
class NotKnown:
    """The solver reached its limit."""


@dataclass(frozen=True)
class _Part:
    """What a group has in one unit: ``use`` is (n_rows, 5), with the streams that lie inside."""

    group: int
    unit: int
    use: Array


class SlotRelaxation:
    """The relaxation of one folding problem on slots with these limits; ``together`` are engines that share a slot."""

    def __init__(
        self, problem: FoldingProblem, limits: Sequence[Resources], together: Sequence[Collection[str]] = ()
    ) -> None:
        self.problem = problem
        self.limits: Array = np.array([limit.as_tuple() for limit in limits], dtype=np.int64)
        self.units = _units(problem, together)
        position = {engine: unit for unit, engines in enumerate(self.units) for engine in engines}
        self.units_of = [tuple(position[engine] for engine in group.engines) for group in problem.groups]
        """The unit of each engine of each group."""

    def at(self, interval_cycles: int, nodes: int) -> Assigned | Impossible | NotKnown:
        """Return what is known of an interval after so many nodes of branch and bound."""
        rows = self.problem.rows_within(interval_cycles)
        streams = self._streams(rows)
        if streams is None:
            return Impossible()
        rows, inside, between = streams
        return _Model(self, self._parts(rows, inside), between).solve(nodes)

    @cached_property
    def alone_in_unit(self) -> tuple[int | None, ...]:
        """The unit of each group that lies in one; None for those that lie in several."""
        return tuple(units[0] if len(set(units)) == 1 else None for units in self.units_of)

    def _streams(self, rows: Sequence[Array]) -> tuple[list[Array], list[Array], list[Array]] | None:
        """Return the rows that can be built, and what their streams add in their unit and on the platform, (n, 5) each.

        None if some group has no such row.
        """
        rows = list(rows)
        while all(some.size for some in rows):
            inside = [np.zeros((some.size, 5), dtype=np.int64) for some in rows]
            between = [np.zeros((some.size, 5), dtype=np.int64) for some in rows]
            for c in self.problem.couplings:
                unit = self.alone_in_unit[c.source]
                place = inside if unit is not None and unit == self.alone_in_unit[c.target] else between
                for group, least in _least_of_ends(c, rows):
                    place[group] += least
            built = [((a < UNBUILDABLE) & (b < UNBUILDABLE)).all(axis=1) for a, b in zip(inside, between, strict=True)]
            if all(some.all() for some in built):
                return rows, inside, between
            rows = [some[kept] for some, kept in zip(rows, built, strict=True)]
        return None

    def _parts(self, rows: Sequence[Array], inside: Sequence[Array]) -> list[list[_Part]]:
        """Return the parts of each group, at least one."""
        parts = []
        for number, (group, units) in enumerate(zip(self.problem.groups, self.units_of, strict=True)):
            use = group.engine_use[rows[number]]
            # What lies inside is there only if all engines are in one unit.
            parts.append(
                [
                    _Part(number, unit, use[:, np.array(units) == unit].sum(axis=1) + inside[number])
                    for unit in sorted(set(units))
                ]
            )
        return parts


def _units(problem: FoldingProblem, together: Sequence[Collection[str]]) -> tuple[tuple[str, ...], ...]:
    """Return all engines in units: those that are wanted together, and each other one."""
    known = {engine for group in problem.groups for engine in group.engines}
    wanted = [tuple(sorted(known & set(engines))) for engines in together]
    shared = {engine for unit in wanted for engine in unit}
    return (*filter(None, wanted), *((engine,) for engine in sorted(known - shared)))


def _least_of_ends(c: Coupling, rows: Sequence[Array]) -> list[tuple[int, Array]]:
    """Return for the groups at a stream's ends what their rows add to its price at least; sums are no more than it."""
    source, target = c.source_class[rows[c.source]], c.target_class[rows[c.target]]
    if c.source == c.target:
        return [(c.source, c.use[source, target])]
    sources, targets = np.unique(source), np.unique(target)
    by_source = c.use[:, targets].min(axis=1)
    left = (c.use[sources] - by_source[sources][:, None]).min(axis=0)
    return [(c.source, by_source[source]), (c.target, left[target])]


def undominated(costs: Array) -> Array:
    """Return the positions of rows of costs, (n, k), that no other row keeps below in all; of equal ones the first."""
    kept: list[int] = []
    for row in np.lexsort((np.arange(len(costs)), costs.sum(axis=1))).tolist():
        if not kept or not (costs[kept] <= costs[row]).all(axis=1).any():
            kept.append(row)
    return np.array(sorted(kept), dtype=np.int64)


class _Model:
    """The linear model at one interval."""

    def __init__(self, relaxation: SlotRelaxation, parts: Sequence[Sequence[_Part]], between: Sequence[Array]) -> None:
        self.relaxation, self.limits = relaxation, relaxation.limits
        self.parts, self.between = [], []
        for group_parts, streams in zip(parts, between, strict=True):
            kept = undominated(np.concatenate([*(part.use for part in group_parts), streams], axis=1))
            self.parts.append([_Part(part.group, part.unit, part.use[kept]) for part in group_parts])
            self.between.append(streams[kept])
        self.size = self._least_shares()
        self.model = LinearModel()
        self.capacity: list[list[list[tuple[int, float]]]] = [[[] for _ in range(5)] for _ in self.limits]
        self.platform: list[list[tuple[int, float]]] = [[] for _ in range(5)]

    def solve(self, nodes: int) -> Assigned | Impossible | NotKnown:
        """Build the model and run it."""
        large, slots = self.size >= LARGE, range(len(self.limits))
        inside = [[self.model.column(upper=1.0, whole=bool(some)) for _ in slots] for some in large]
        for columns in inside:
            self.model.row(((column, 1.0) for column in columns), 1.0, 1.0)
        for group_parts, streams in zip(self.parts, self.between, strict=True):
            self._add_group(group_parts, streams, inside, large)
        for terms in (*(terms for slot in self.capacity for terms in slot), *self.platform):
            self.model.row(terms, upper=1.0 + TOLERANCE)
        self._order_equal_slots(inside, large)
        answer = run_highs(self.model, nodes)
        if answer.values is None:
            return Impossible() if answer.infeasible else NotKnown()
        most = [int(np.argmax(answer.values[columns])) for columns in inside]
        return Assigned({e: slot for unit, slot in zip(self.relaxation.units, most, strict=True) for e in unit})

    def _least_shares(self) -> NDArray[np.float64]:
        """Return for each unit the least share of the roomiest slot that it takes, (n_units,)."""
        roomiest = np.maximum(self.limits.max(axis=0), 1)
        sizes = np.zeros((len(self.relaxation.units), 5))
        for part in (part for group_parts in self.parts for part in group_parts):
            sizes[part.unit] += part.use.min(axis=0) / roomiest
        shares: NDArray[np.float64] = sizes.max(axis=1)
        for part in (part for group_parts in self.parts for part in group_parts):
            shares[part.unit] = max(shares[part.unit], float((part.use / roomiest).max(axis=1).min()))
        return shares

    def _add_group(
        self, parts: Sequence[_Part], streams: Array, inside: Sequence[Sequence[int]], large: NDArray[np.bool_]
    ) -> None:
        """Add the columns of one group, and what they use."""
        by_row: list[list[list[int]]] = []
        for part in parts:
            rows: list[list[int]] = [[] for _ in streams]
            for slot, limit in enumerate(self.limits):
                fits = np.flatnonzero((part.use <= limit).all(axis=1)).tolist()
                columns = [self.model.column(upper=1.0, whole=bool(large[part.unit])) for _ in fits]
                taken = [(inside[part.unit][slot], -1.0), *((column, 1.0) for column in columns)]
                self.model.row(taken, 0.0, 0.0)
                for row, column in zip(fits, columns, strict=True):
                    rows[row].append(column)
                    self._use(column, part.use[row], slot)
            by_row.append(rows)
        for row, use in enumerate(streams):
            for column in by_row[0][row]:
                self._use(column, use)
        for one, other in pairwise(by_row):
            for mine, theirs in zip(one, other, strict=True):
                self.model.row([*((column, 1.0) for column in mine), *((column, -1.0) for column in theirs)], 0.0, 0.0)

    def _use(self, column: int, use: Array, slot: int | None = None) -> None:
        """Count what a column uses, of its slot if it has one and of the platform."""
        total = np.maximum(self.limits.sum(axis=0), 1)
        for resource in np.flatnonzero(use).tolist():
            self.platform[resource].append((column, float(use[resource] / total[resource])))
            if slot is not None:
                share = float(use[resource] / max(self.limits[slot, resource], 1))
                self.capacity[slot][resource].append((column, share))

    def _order_equal_slots(self, inside: Sequence[Sequence[int]], large: NDArray[np.bool_]) -> None:
        """Of equal slots the one with the largest unit comes first, and so on: all orders are alike."""
        order = [int(unit) for unit in np.argsort(-self.size, kind="stable") if large[unit]]
        for slot, limit in enumerate(self.limits):
            before = [other for other in range(slot) if (self.limits[other] == limit).all()][-1:]
            for position, unit in enumerate(order if before else ()):
                earlier = ((inside[other][before[0]], -1.0) for other in order[:position])
                self.model.row([(inside[unit][slot], 1.0), *earlier], upper=0.0)
