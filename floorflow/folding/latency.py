"""The folding of least latency: the fewest cycles along the longest path, under the budget.

A Lagrangian bound (`latency_bound`) strikes out most rows and meets good foldings; CP-SAT looks for better ones among
the rows nearest to the bound, then among all that could be better, which closes the proof. Its model:

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

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from floorflow.folding.exact import least_scarce
from floorflow.folding.latency_bound import EngineGraph, LatencyBound, bound_latency, engine_graph_of, row_bounds
from floorflow.folding.pricing import InterfaceClasses, group_by_interface
from floorflow.folding.problem import FoldingAnswer, FoldingProblem, FoldingSolution, Rows
from floorflow.folding.variable_elimination import Pair
from floorflow.solver import run_cpsat
from floorflow.stats import SolveStats, Status

Array = NDArray[np.int64]
Weighted = tuple[list[cp_model.IntVar], list[int]]
"""Variables and their factors: a sum."""


def solve_latency(
    classes: InterfaceClasses,
    graph: EngineGraph,
    budget: Array,
    *,
    within: tuple[int, int],
    known: Sequence[int],
) -> tuple[tuple[int, ...] | None, int]:
    """Look for the folding of least latency, ``within`` a least and a most; ``known`` is one that has the most.

    Return the best selection found, positions in the rows, and a proven bound on the latency: above the most if there
    is none, the least if nothing was proven.
    """
    least, most = within
    model = _Model(classes, graph, budget, least, most)
    model.hint(known)
    status, solver = run_cpsat(model.model, 0, DETERMINISTIC_LIMIT, linearization_level=2)
    if status == cp_model.INFEASIBLE:
        return None, most + 1
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, least
    selection = tuple([solver.boolean_value(x) for x in row].index(True) for row in model.rows)
    return selection, max(least, ceil(solver.best_objective_bound - 1e-6))


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


SHARES = (0.0002, 0.002)
"""Shares by which a row may be above the bound to be looked at first."""
LAST_MET = 20
"""Foldings met last by the bound whose rows are looked at as well."""
MOST_ROWS = 3_000
"""Rows that CP-SAT looks at together at most."""
DETERMINISTIC_LIMIT = 1.0
"""CP-SAT's deterministic time units (about seconds) for each part."""


def least_latency(problem: FoldingProblem, interval_cycles: int, most_rows: int = MOST_ROWS) -> FoldingAnswer:
    """Return the folding of least latency with no engine above ``interval_cycles``, or the proof that none exists.

    CP-SAT looks at no more than ``most_rows`` rows together.
    """
    scarce = least_scarce(problem, interval_cycles, prove=False)
    if not isinstance(scarce, FoldingSolution):
        return scarce
    return _Search(problem, interval_cycles, problem.rows_of(scarce), most_rows).run()


class _Search:
    """One search: the best rows so far, their latency and the bound, in cycles."""

    def __init__(self, problem: FoldingProblem, interval_cycles: int, first: Rows, most_rows: int) -> None:
        self.problem, self.graph = problem, engine_graph_of(problem)
        self.budget = np.array(problem.budget.as_tuple(), dtype=np.int64)
        self.rows, self.latency, self.most_rows = first, self._latency(first), most_rows
        # No engine of a better folding takes longer than all of this one.
        cap = min(interval_cycles, self.latency)
        self.keep = [
            rows[(group.use[rows] <= self.budget).all(axis=1)]
            for group, rows in zip(problem.groups, problem.rows_within(cap), strict=True)
        ]
        self.bound = 0

    def run(self) -> FoldingSolution:
        classes = group_by_interface(self.problem, self.keep)
        bounded = bound_latency(classes, self.graph, self.budget, self.latency)
        self.bound = min(bounded.bound, self.latency)
        self._take(classes, bounded.selection)
        method = "lagrange"
        if self.bound < self.latency:
            method = "lagrange+cpsat"
            self._close(classes, bounded)
        return self._solution(method)

    def _close(self, classes: InterfaceClasses, bounded: LatencyBound) -> None:
        """Search rows ever farther from the bound; all that could be better prove the rest."""
        bounds_of_rows = row_bounds(classes, self.budget, bounded.prices)
        met = [np.unique(column) for column in zip(*bounded.met[-LAST_MET:], strict=True)]
        for share in (*SHARES, None):
            if self.bound >= self.latency:
                return
            reach = self.latency - 1 if share is None else min(self.latency - 1, self.bound * (1 + share))
            near = [np.flatnonzero(bounds <= reach * bounded.prices.scale) for bounds in bounds_of_rows]
            if share is not None:
                near = [np.union1d(a, b) for a, b in zip(near, met, strict=True)]
            keep = [rows[positions] for rows, positions in zip(classes.rows, near, strict=True)]
            if sum(rows.size for rows in keep) > self.most_rows:
                return
            self._solve_model(keep, proves=reach == self.latency - 1)

    def _solve_model(self, keep: Sequence[Array], *, proves: bool) -> None:
        # The best folding so far goes along, as what to start from.
        with_best = [np.union1d(rows, [row]) for rows, row in zip(keep, self.rows, strict=True)]
        classes = group_by_interface(self.problem, with_best)
        known = [int(np.flatnonzero(held == row)[0]) for held, row in zip(classes.rows, self.rows, strict=True)]
        within = (self.bound, self.latency)
        selection, bound = solve_latency(classes, self.graph, self.budget, within=within, known=known)
        self._take(classes, selection)
        if proves:
            self.bound = min(self.latency, max(self.bound, bound))

    def _take(self, classes: InterfaceClasses, selection: Sequence[int] | None) -> None:
        if selection is not None:
            rows = tuple(int(held[position]) for held, position in zip(classes.rows, selection, strict=True))
            if self._latency(rows) < self.latency:
                self.rows, self.latency = rows, self._latency(rows)

    def _latency(self, rows: Rows) -> int:
        groups = zip(self.problem.groups, rows, strict=True)
        return self.graph.longest(np.concatenate([group.engine_cycles[row] for group, row in groups]))

    def _solution(self, method: str) -> FoldingSolution:
        chosen = group_by_interface(self.problem, [np.array([row]) for row in self.rows])
        status: Status = "optimal" if self.bound >= self.latency else "feasible"
        stats = SolveStats(method, status, float(self.latency), float(self.bound))
        return self.problem.solution(self.rows, chosen.resources([0] * len(self.rows)), stats)


def fold_at_interval(
    problem: FoldingProblem, interval_cycles: int, *, prove: bool = True, branch: bool = True
) -> FoldingAnswer:
    """Return the best folding with no engine above ``interval_cycles``, or the proof that none exists.

    Best is the least scarce one, or that of least latency if the problem has ``paths``. Without ``prove`` the first
    folding within the budget will do; its ``stats`` are of its scarcity. Without ``branch`` nothing is branched:
    what is not proven by then will do, and where none is found that is not known.
    """
    if problem.paths is None or not prove:
        return least_scarce(problem, interval_cycles, prove=prove, branch=branch)
    return least_latency(problem, interval_cycles)
