"""Folding as an integer programme, where several resources bind at once and there is too much to enumerate.

The model is that of `exact`, with one change that makes it small: rows with the same prices towards a neighbour are one
class, and the pair variables y stand for pairs of classes.

CP-SAT proves: it calculates in integers. SCIP is quicker to find some folding; it works in floating point and its
presolving has lost optima (tests/folding), so that nothing is taken for proven by it, and what it finds is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from floorflow.cpsat import new_solver
from floorflow.folding.candidates import Candidates, Pair
from floorflow.folding.labels import Enumerated

Array = NDArray[np.int64]

DETERMINISTIC_LIMIT = 2.0
"""CP-SAT's deterministic time units (about seconds) for one limit on the cost."""
SCIP_SETTINGS = "limits/nodes = 100\nlimits/solutions = 1\nseparating/maxroundsroot = 3"
MOST_PAIRS = 8000
"""Pair variables beyond which SCIP's root would take too long."""


@dataclass(frozen=True)
class Joint:
    """The prices between two neighbours by classes, (n_a, n_b, 5), and the class of each row of both."""

    pair: Pair
    classes: tuple[Array, Array]
    table: Array


def cheapest(choices: Candidates, weights: Array, budget: Array, most: int) -> Enumerated:
    """Look for the cheapest choice within the budget that costs at most ``most``, by CP-SAT."""
    use, joints = compact(choices)
    model = cp_model.CpModel()
    x = [[model.new_bool_var("") for _ in amounts] for amounts in use]
    for row in x:
        model.add_exactly_one(row)
    terms, amounts = [variable for row in x for variable in row], [*use]
    for joint in joints:
        y = [[model.new_bool_var("") for _ in line] for line in joint.table]
        for lines, node, classes in zip((y, zip(*y, strict=True)), joint.pair, joint.classes, strict=True):
            for number, line in enumerate(lines):
                model.add(sum(line) == sum(x[node][row] for row in np.flatnonzero(classes == number)))
        terms += [variable for line in y for variable in line]
        amounts.append(joint.table.reshape(-1, 5))
    matrix = np.concatenate(amounts)
    for resource, limit in enumerate(budget.tolist()):
        model.add(cp_model.LinearExpr.weighted_sum(terms, matrix[:, resource].tolist()) <= limit)
    cost = cp_model.LinearExpr.weighted_sum(terms, (matrix @ weights).tolist())
    model.add(cost <= most)
    model.minimize(cost)
    solver = new_solver(0, DETERMINISTIC_LIMIT)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Enumerated(None, complete=status == cp_model.INFEASIBLE)
    picks = tuple([bool(solver.value(variable)) for variable in row].index(True) for row in x)
    return Enumerated(picks, complete=status == cp_model.OPTIMAL)


def some_choice(choices: Candidates, weights: Array, budget: Array, most: int) -> Enumerated:
    """Look for any choice within the budget that costs at most ``most``, by SCIP; complete if none, with proof."""
    use, joints = compact(choices)
    if sum(joint.table.shape[0] * joint.table.shape[1] for joint in joints) <= MOST_PAIRS:
        picks = _Scip(use, joints, weights, budget, most).solve()
        if picks is not None:
            total = choices.total(picks)
            if (total <= budget).all() and int(total @ weights) <= most:
                return Enumerated(picks, complete=False)
    return cheapest(choices, weights, budget, most)


def compact(choices: Candidates) -> tuple[list[Array], list[Joint]]:
    """Return what each row uses, and the prices between neighbours by classes.

    Where one end has a single class, the rows of the other pay alone.
    """
    use, joints = [amounts.copy() for amounts in choices.use], []
    for pair, prices in choices.pairs.items():
        table, classes = prices, []
        for axis in (0, 1):
            lines = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
            _, kept, member = np.unique(lines, axis=0, return_index=True, return_inverse=True)
            table = table.take(kept, axis=axis)
            classes.append(member.reshape(-1))
        if 1 in table.shape[:2]:
            payer = 1 if table.shape[0] == 1 else 0
            use[pair[payer]] += table.reshape(-1, 5)[classes[payer]]
        else:
            joints.append(Joint(pair, (classes[0], classes[1]), table))
    return use, joints


class _Scip:
    """The model in SCIP; budget and cost are scaled to 1."""

    def __init__(self, use: Sequence[Array], joints: Sequence[Joint], weights: Array, budget: Array, most: int) -> None:
        self.solver = pywraplp.Solver.CreateSolver("SCIP")
        units = np.append(np.maximum(budget, 1), max(1, most))
        self.shares_of = np.column_stack([np.eye(5), weights]) / units
        # Half a unit of room for rounding.
        limits = (np.append(budget, most) + 0.5) / units
        self.limits = [self.solver.Constraint(-self.solver.infinity(), limit) for limit in limits.tolist()]
        self.x = [[self.solver.BoolVar("") for _ in amounts] for amounts in use]
        for row, amounts in zip(self.x, use, strict=True):
            self._sum_is(row, ())
            self._pay(row, amounts)
        for joint in joints:
            self._join(joint)
        self.solver.Objective().SetMinimization()

    def solve(self) -> tuple[int, ...] | None:
        self.solver.SetSolverSpecificParametersAsString(SCIP_SETTINGS)
        if self.solver.Solve() not in {pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE}:
            return None
        return tuple(int(np.argmax([x.solution_value() for x in row])) for row in self.x)

    def _join(self, joint: Joint) -> None:
        y = [[self.solver.NumVar(0.0, 1.0, "") for _ in line] for line in joint.table]
        for lines, node, classes in zip((y, zip(*y, strict=True)), joint.pair, joint.classes, strict=True):
            for number, line in enumerate(lines):
                self._sum_is(line, [self.x[node][row] for row in np.flatnonzero(classes == number)])
        self._pay([variable for line in y for variable in line], joint.table.reshape(-1, 5))

    def _sum_is(self, variables: Sequence[pywraplp.Variable], others: Sequence[pywraplp.Variable]) -> None:
        """Let a sum be that of other variables, 1 if there are none."""
        total = 0.0 if others else 1.0
        row = self.solver.Constraint(total, total)
        for variable in variables:
            row.SetCoefficient(variable, 1.0)
        for variable in others:
            row.SetCoefficient(variable, -1.0)

    def _pay(self, variables: Sequence[pywraplp.Variable], amounts: Array) -> None:
        for variable, shares in zip(variables, (amounts @ self.shares_of).tolist(), strict=True):
            for limit, share in zip(self.limits, shares, strict=True):
                if share:
                    limit.SetCoefficient(variable, share)
            self.solver.Objective().SetCoefficient(variable, shares[-1])
