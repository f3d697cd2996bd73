"""The folding of least latency as a CP-SAT model, over rows that the bound has left.

variables    x[g, o]        group g uses row o
             z[g, s]        its row has state s
             y[g, s, h, t]  neighbours g and h have states s and t
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

from floorflow.folding.interface_classes import States
from floorflow.folding.longest_path import Paths
from floorflow.folding.variable_elimination import Pair
from floorflow.solver import run_cpsat

Array = NDArray[np.int64]
Weighted = tuple[list[cp_model.IntVar], list[int]]
"""Variables and their factors: a sum."""


@dataclass(frozen=True)
class Settled:
    """CP-SAT's answer: the best picks found (positions in the rows), and a proven bound on the latency."""

    selection: tuple[int, ...] | None
    bound: int


def settle(
    choices: States, paths: Paths, budget: Array, *, within: tuple[int, int], known: Sequence[int] | None, limit: float
) -> Settled:
    """Look for the folding of least latency, ``within`` a least and a most.

    ``known`` are picks of one that has the most. ``bound`` is above the most if there is none, the least if nothing
    was proven. ``limit`` is deterministic time.
    """
    least, most = within
    model = _Model(choices, paths, budget, least, most)
    if known is not None:
        model.hint(known)
    status, solver = run_cpsat(model.model, 0, limit, linearization_level=2)
    if status == cp_model.INFEASIBLE:
        return Settled(None, most + 1)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Settled(None, least)
    selection = tuple([solver.boolean_value(x) for x in row].index(True) for row in model.rows)
    return Settled(selection, max(least, ceil(solver.best_objective_bound - 1e-6)))


class _Model:
    """The model while it is built."""

    def __init__(self, choices: States, paths: Paths, budget: Array, least: int, most: int) -> None:
        self.choices, self.paths, self.model = choices, paths, cp_model.CpModel()
        self.rows = [self._bools(rows.size) for rows in choices.rows]
        for row in self.rows:
            self.model.add_exactly_one(row)
        self.states = [self._states(group) for group in range(len(self.rows))]
        self.both: dict[Pair, list[list[cp_model.IntVar]]] = {}
        self.starts: dict[int, cp_model.IntVar] = {}
        self.terms: list[tuple[list[cp_model.IntVar], Array]] = list(zip(self.rows, choices.use, strict=True))
        for pair, use in choices.pairs.items():
            self._pair(pair, use)
        self._budget(budget)
        self.latency = self.model.new_int_var(least, most, "latency")
        self._latency(most)
        self.model.minimize(self.latency)

    def hint(self, selection: Sequence[int]) -> None:
        """Start from a choice within the budget."""
        at = self.choices.states_of(selection)
        chosen = [row[pick] for row, pick in zip(self.rows, selection, strict=True)]
        chosen += [states[state] for states, state in zip(self.states, at, strict=True)]
        chosen += [table[at[a]][at[b]] for (a, b), table in self.both.items()]
        ones = {variable.index for variable in chosen}
        kinds = [*self.rows, *self.states, *(line for table in self.both.values() for line in table)]
        for variable in {v.index: v for variables in kinds for v in variables}.values():
            self.model.add_hint(variable, variable.index in ones)
        done = self.paths.done(self.choices.engine_cycles(selection))
        for engine, start in self.starts.items():
            self.model.add_hint(start, max(done[source] for source in self.paths.before[engine]))
        self.model.add_hint(self.latency, max(done))

    def _bools(self, count: int) -> list[cp_model.IntVar]:
        return [self.model.new_bool_var("") for _ in range(count)]

    def _states(self, group: int) -> list[cp_model.IntVar]:
        """Return a variable for each state of a group; a state with one row is that row."""
        held = np.split(np.array(self.rows[group], dtype=object), self.choices.begins[group][1:])
        found = []
        for rows in held:
            if len(rows) == 1:
                found.append(rows[0])
            else:
                found.append(self.model.new_bool_var(""))
                self.model.add(sum(rows) == found[-1])
        return found

    def _pair(self, pair: Pair, use: Array) -> None:
        """Charge what two neighbours' states cost, and bar those that cannot be."""
        first, second = (self.states[group] for group in pair)
        barred = self.choices.barred[pair]
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
        done: list[Weighted] = [([], [])] * len(own)
        for engine in self.paths.order:
            before = self.paths.before[engine]
            start: Weighted = done[before[0]] if before else ([], [])
            if len(before) > 1:
                self.starts[engine] = self.model.new_int_var(0, most, "")
                start = ([self.starts[engine]], [1])
                for source in before:
                    self.model.add(_sum(done[source]) <= self.starts[engine])
            done[engine] = (start[0] + own[engine][0], start[1] + own[engine][1])
            if not self.paths.after[engine]:
                self.model.add(_sum(done[engine]) <= self.latency)

    def _cycles(self) -> list[Weighted]:
        """Return each engine's cycles as a sum over the rows of its group."""
        return [
            (row, cycles[:, engine].tolist())
            for row, cycles in zip(self.rows, self.choices.cycles, strict=True)
            for engine in range(cycles.shape[1])
        ]


def _sum(terms: Weighted) -> cp_model.LinearExprT:
    return cp_model.LinearExpr.weighted_sum(*terms)
