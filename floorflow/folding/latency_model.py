"""The folding of least latency as a CP-SAT model, over rows that the bound has left.

variables    x[g, o]        group g uses row o
             z[g, s]        its row is of interface class s
             y[g, s, h, t]  the rows of neighbours g and h are of classes s and t
             start[e]       cycle in which engine e may start, where several streams meet
constraints  one_row[g]:    sum_o x[g, o] = 1,  sum_{o in s} x[g, o] = z[g, s]
             pair[g, s, h]: sum_t y[g, s, h, t] = z[g, s]            (and the same for h), barred pairs 0
             budget[r]:     sum of use[r] over x and y <= budget[r]
             after[e, f]:   start[f] >= start[e] + cycles of e       for each stream from e to f
objective    min latency >= start[e] + cycles of e for every e
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from floorflow.folding.interface_classes import InterfaceClasses
from floorflow.folding.longest_path import EngineGraph
from floorflow.folding.variable_elimination import Pair
from floorflow.solver import run_cpsat

Array = NDArray[np.int64]
Weighted = tuple[list[cp_model.IntVar], list[int]]
"""Variables and their factors: a sum."""


@dataclass(frozen=True)
class LatencySolution:
    """CP-SAT's answer: the best selection found (positions in the rows), and a proven bound on the latency."""

    selection: tuple[int, ...] | None
    bound: int


def solve_latency(
    classes: InterfaceClasses,
    graph: EngineGraph,
    budget: Array,
    *,
    within: tuple[int, int],
    known: Sequence[int] | None,
    limit: float,
) -> LatencySolution:
    """Look for the folding of least latency, ``within`` a least and a most.

    ``known`` is the selection of one that has the most. ``bound`` is above the most if there is none, the least if
    nothing was proven. ``limit`` is deterministic time.
    """
    least, most = within
    model = _Model(classes, graph, budget, least, most)
    if known is not None:
        model.hint(known)
    status, solver = run_cpsat(model.model, 0, limit, linearization_level=2)
    if status == cp_model.INFEASIBLE:
        return LatencySolution(None, most + 1)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return LatencySolution(None, least)
    selection = tuple([solver.boolean_value(x) for x in row].index(True) for row in model.rows)
    return LatencySolution(selection, max(least, ceil(solver.best_objective_bound - 1e-6)))


class _Model:
    """The model while it is built."""

    def __init__(self, classes: InterfaceClasses, graph: EngineGraph, budget: Array, least: int, most: int) -> None:
        self.classes, self.graph, self.model = classes, graph, cp_model.CpModel()
        self.rows = [self._bools(rows.size) for rows in classes.rows]
        for row in self.rows:
            self.model.add_exactly_one(row)
        self.in_class = [self._class_variables(group) for group in range(len(self.rows))]
        self.both: dict[Pair, list[list[cp_model.IntVar]]] = {}
        self.starts: dict[int, cp_model.IntVar] = {}
        self.terms: list[tuple[list[cp_model.IntVar], Array]] = list(zip(self.rows, classes.use, strict=True))
        for pair, use in classes.pairs.items():
            self._pair(pair, use)
        self._budget(budget)
        self.latency = self.model.new_int_var(least, most, "latency")
        self._latency(most)
        self.model.minimize(self.latency)

    def hint(self, selection: Sequence[int]) -> None:
        """Start from a selection within the budget."""
        chosen_classes = self.classes.classes_of(selection)
        chosen = [row[position] for row, position in zip(self.rows, selection, strict=True)]
        chosen += [of_class[class_] for of_class, class_ in zip(self.in_class, chosen_classes, strict=True)]
        chosen += [table[chosen_classes[a]][chosen_classes[b]] for (a, b), table in self.both.items()]
        ones = {variable.index for variable in chosen}
        variables = [*self.rows, *self.in_class, *(line for table in self.both.values() for line in table)]
        for variable in {v.index: v for group in variables for v in group}.values():
            self.model.add_hint(variable, variable.index in ones)
        finish_cycles = self.graph.finish_cycles(self.classes.engine_cycles(selection))
        for engine, start in self.starts.items():
            self.model.add_hint(start, max(finish_cycles[source] for source in self.graph.before[engine]))
        self.model.add_hint(self.latency, max(finish_cycles))

    def _bools(self, count: int) -> list[cp_model.IntVar]:
        return [self.model.new_bool_var("") for _ in range(count)]

    def _class_variables(self, group: int) -> list[cp_model.IntVar]:
        """Return a variable for each class of a group; a class with one row is that row."""
        held = np.split(np.array(self.rows[group], dtype=object), self.classes.begins[group][1:])
        variables = []
        for rows in held:
            if len(rows) == 1:
                variables.append(rows[0])
            else:
                variables.append(self.model.new_bool_var(""))
                self.model.add(sum(rows) == variables[-1])
        return variables

    def _pair(self, pair: Pair, use: Array) -> None:
        """Charge what two neighbours' classes cost, and bar those that cannot be joined."""
        first, second = (self.in_class[group] for group in pair)
        barred = self.classes.barred[pair]
        if not barred.any() and (use == use[:1, :1]).all():
            # Whatever is chosen costs the same.
            self.terms.append(([self.model.new_constant(1)], use[0, 0][None]))
            return
        both = self.both[pair] = [self._bools(len(second)) for _ in first]
        for z, line in zip(first, both, strict=True):
            self.model.add(sum(line) == z)
        for z, column in zip(second, zip(*both, strict=True), strict=True):
            self.model.add(sum(column) == z)
        for a, b in np.argwhere(barred).tolist():
            self.model.add(both[a][b] == 0)
        self.terms.append(([y for line in both for y in line], use.reshape(-1, 5)))

    def _budget(self, budget: Array) -> None:
        variables = [variable for row, _ in self.terms for variable in row]
        use = np.concatenate([amounts for _, amounts in self.terms])
        for resource, limit in enumerate(budget.tolist()):
            self.model.add(cp_model.LinearExpr.weighted_sum(variables, use[:, resource].tolist()) <= limit)

    def _latency(self, most: int) -> None:
        """Let every engine start when those before it are done, and the latency end behind all of them."""
        own = self._cycles()
        finish_cycles: list[Weighted] = [([], [])] * len(own)
        for engine in self.graph.order:
            before = self.graph.before[engine]
            start: Weighted = finish_cycles[before[0]] if before else ([], [])
            if len(before) > 1:
                self.starts[engine] = self.model.new_int_var(0, most, "")
                start = ([self.starts[engine]], [1])
                for source in before:
                    self.model.add(_sum(finish_cycles[source]) <= self.starts[engine])
            finish_cycles[engine] = (start[0] + own[engine][0], start[1] + own[engine][1])
            if not self.graph.after[engine]:
                self.model.add(_sum(finish_cycles[engine]) <= self.latency)

    def _cycles(self) -> list[Weighted]:
        """Return each engine's cycles as a sum over the rows of its group."""
        return [
            (row, cycles[:, engine].tolist())
            for row, cycles in zip(self.rows, self.classes.cycles, strict=True)
            for engine in range(cycles.shape[1])
        ]


def _sum(terms: Weighted) -> cp_model.LinearExprT:
    return cp_model.LinearExpr.weighted_sum(*terms)
