"""The folding of least latency: the fewest cycles along the longest path, under the budget.

A Lagrangian bound (`latency_bound`) strikes out most rows and meets good foldings; CP-SAT (`latency_model`) looks for
better ones among the rows nearest to the bound, then among all that could be better, which closes the proof.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.exact import FoldingAnswer, least_scarce
from floorflow.folding.interface_classes import InterfaceClasses, group_by_interface
from floorflow.folding.latency_bound import LatencyBound, bound_latency, row_bounds
from floorflow.folding.latency_model import solve_latency
from floorflow.folding.longest_path import engine_graph_of
from floorflow.folding.problem import FoldingProblem, FoldingSolution
from floorflow.stats import SolveStats, Status

Array = NDArray[np.int64]
Rows = tuple[int, ...]
"""An index into the rows of each group."""

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
    return _Search(problem, interval_cycles, _rows_of(problem, scarce), most_rows).run()


def _rows_of(problem: FoldingProblem, folding: FoldingSolution) -> Rows:
    return tuple(group.rows.index(tuple(folding.options[name] for name in group.engines)) for group in problem.groups)


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
        answer = solve_latency(classes, self.graph, self.budget, within=within, known=known, limit=DETERMINISTIC_LIMIT)
        self._take(classes, answer.selection)
        if proves:
            self.bound = min(self.latency, max(self.bound, answer.bound))

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
