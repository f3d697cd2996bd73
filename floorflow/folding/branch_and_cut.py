"""Folding by branch and cut (SCIP), where several resources bind at once and there is too much to enumerate.

The model is that of `exact`, with one change that makes it small: rows with the same prices towards a neighbour are one
class, and the pair variables y stand for pairs of classes.

SCIP works in floating point: what it finds is checked in integers; what it excludes, it excludes but for 1e-6 of the
budget and of the cost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from floorflow.folding.candidates import Candidates
from floorflow.folding.labels import Enumerated

Array = NDArray[np.int64]

SETTINGS = (
    "limits/nodes = 100",  # then it is given up
    "limits/gap = 0",
    "separating/maxroundsroot = 3",  # more rounds of cuts take longer than the nodes they save
    # With these, presolving lost the optimum of a model of 15 variables (tests/folding/test_branch_and_cut.py).
    "misc/allowweakdualreds = FALSE",
    "misc/allowstrongdualreds = FALSE",
    "presolving/sparsify/maxrounds = 0",
)
TOLERANCE = 1e-6
"""Relative error of SCIP's bounds."""
COST_SCALE = 1e4
"""What the largest cost allowed becomes."""
MOST_PAIRS = 8_000
"""Pair variables beyond which the root's linear programme alone would take too long."""


def branch_and_cut(choices: Candidates, weights: Array, budget: Array, most: int, *, first: bool = False) -> Enumerated:
    """Look for the cheapest choice within the budget that costs at most ``most``; the ``first`` one will do."""
    model = _Model(choices, weights, budget, most)
    if model.pairs > MOST_PAIRS:
        return Enumerated(None, complete=False)
    return model.solve(first=first)


class _Model:
    """Variables x of rows and y of pairs of classes."""

    def __init__(self, choices: Candidates, weights: Array, budget: Array, most: int) -> None:
        self.choices, self.weights, self.budget, self.most = choices, weights, budget, most
        self.solver = pywraplp.Solver.CreateSolver("SCIP")
        self.x = [[self.solver.BoolVar("") for _ in range(rows.size)] for rows in choices.rows]
        self.pairs = 0
        amounts = [use.astype(np.float64) for use in choices.use]
        variables = [(row, use) for row, use in zip(self.x, amounts, strict=True)]
        for pair, table in choices.pairs.items():
            variables += self._joined(pair, table, amounts)
        for row in self.x:
            self._sum_is(row, None)
        self._limits(variables)

    def _joined(
        self, pair: tuple[int, int], table: Array, amounts: Sequence[NDArray[np.float64]]
    ) -> list[tuple[list[pywraplp.Variable], NDArray[np.float64]]]:
        """Add y for the classes of two neighbours; where one has a single class, the other's rows pay alone."""
        sides = []
        for axis in (0, 1):
            lines = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
            _, kept, member = np.unique(lines, axis=0, return_index=True, return_inverse=True)
            table = table.take(kept, axis=axis)
            sides.append(member.reshape(-1))
        if 1 in table.shape[:2]:
            axis = 1 if table.shape[0] == 1 else 0
            amounts[pair[axis]][:] += table.reshape(-1, 5)[sides[axis]]
            return []
        shape = table.shape[:2]
        y = [[self.solver.NumVar(0.0, 1.0, "") for _ in range(shape[1])] for _ in range(shape[0])]
        self.pairs += shape[0] * shape[1]
        for number, line in enumerate(y):
            self._sum_is(line, [self.x[pair[0]][row] for row in np.flatnonzero(sides[0] == number)])
        for number, column in enumerate(zip(*y, strict=True)):
            self._sum_is(list(column), [self.x[pair[1]][row] for row in np.flatnonzero(sides[1] == number)])
        return [([v for line in y for v in line], table.reshape(-1, 5).astype(np.float64))]

    def _sum_is(self, variables: Sequence[pywraplp.Variable], others: Sequence[pywraplp.Variable] | None) -> None:
        """Let a sum be that of other variables, or 1."""
        total = 1.0 if others is None else 0.0
        row = self.solver.Constraint(total, total)
        for variable in variables:
            row.SetCoefficient(variable, 1.0)
        for variable in others or ():
            row.SetCoefficient(variable, -1.0)

    def _limits(self, variables: Sequence[tuple[list[pywraplp.Variable], NDArray[np.float64]]]) -> None:
        # Budgets stay in integers, with half a unit of room for SCIP's rounding; the cost's are too large for that.
        shares_of = np.column_stack([np.eye(5), self.weights * (COST_SCALE / max(1, self.most))])
        limits = np.append(self.budget + 0.5, COST_SCALE * (1 + TOLERANCE))
        rows = [self.solver.Constraint(-self.solver.infinity(), limit) for limit in limits.tolist()]
        objective = self.solver.Objective()
        for names, use in variables:
            for variable, shares in zip(names, (use @ shares_of).tolist(), strict=True):
                for row, share in zip(rows, shares, strict=True):
                    if share:
                        row.SetCoefficient(variable, share)
                objective.SetCoefficient(variable, shares[-1])
        objective.SetMinimization()

    def solve(self, *, first: bool) -> Enumerated:
        settings = [*SETTINGS, "limits/solutions = 1"] if first else SETTINGS
        self.solver.SetSolverSpecificParametersAsString("\n".join(settings))
        status = self.solver.Solve()
        if status == pywraplp.Solver.INFEASIBLE:
            return Enumerated(None, complete=True)
        bound = int(self.solver.Objective().BestBound() / COST_SCALE * max(1, self.most) * (1 - TOLERANCE))
        if status not in {pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE}:
            return Enumerated(None, complete=False)
        picks = tuple(int(np.argmax([x.solution_value() for x in row])) for row in self.x)
        use = self.choices.total(picks)
        if (use > self.budget).any() or int(use @ self.weights) > self.most:
            return Enumerated(None, complete=False, bound=bound)
        return Enumerated(picks, status == pywraplp.Solver.OPTIMAL, bound)
