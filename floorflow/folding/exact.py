"""The exact folding: at a given interval the least scarcity under the budget, and the shortest feasible interval.

At a fixed interval every group of tied engines may use any option with no more cycles. If the groups' individually
least scarce options together meet the budget, they are the optimum and the sum is its own proof. Otherwise it is a
multiple-choice knapsack with five resources, solved by CP-SAT:

    variables    x[g, o]  group g uses option o
    constraints  one_option[g]: sum_o x[g, o] = 1
                 budget[r]:     sum_{g,o} use[g, o, r] x[g, o] <= budget[r]
    objective    min sum_{g,o} scarcity[g, o] x[g, o]      (exact integers)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from floorflow.cpsat import new_solver
from floorflow.dataflow.model import Option
from floorflow.dataflow.options import OptionGroup
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.resources import RESOURCE_NAMES, total
from floorflow.stats import SolveStats

Answer = FoldingSolution | FoldingInfeasible | FoldingUnknown

DETERMINISTIC_LIMIT = 20.0
"""CP-SAT's deterministic time units (about seconds) for one interval; ends in `FoldingUnknown`."""


@dataclass(frozen=True)
class _Choice:
    """The rows of one group that are fast enough: indices, resource use (n, 5) and integer scarcity (n,)."""

    group: OptionGroup
    index: NDArray[np.int64]
    use: NDArray[np.int64]
    cost: NDArray[np.int64]

    def options(self, row: int) -> dict[str, Option]:
        return dict(zip(self.group.engines, self.group.rows[int(self.index[row])], strict=True))


def fold_at_interval(problem: FoldingProblem, interval_cycles: int) -> Answer:
    """Return the least scarce folding with no engine above ``interval_cycles``, or the proof that none exists."""
    weights, scale = problem.scarcity_weights()
    choices = [_fast_enough(group, interval_cycles, weights) for group in problem.groups]
    if not all(choice.index.size for choice in choices):
        return FoldingInfeasible(None)
    least = sum(choice.use.min(axis=0) for choice in choices)
    for name, need, limit in zip(RESOURCE_NAMES, least, problem.budget.as_tuple(), strict=True):
        if need > limit:
            return FoldingInfeasible(name, int(need), limit)
    # Ties go to the slower option (options are sorted by cycles): never faster than needed.
    rows = [int(np.flatnonzero(choice.cost == choice.cost.min())[-1]) for choice in choices]
    use = sum(choice.use[row] for choice, row in zip(choices, rows, strict=True))
    if (use <= problem.budget.as_tuple()).all():
        cost = sum(int(choice.cost.min()) for choice in choices)
        return _solution(choices, rows, SolveStats("exact", "optimal", cost / scale, cost / scale))
    return _solve(problem, [_undominated(choice) for choice in choices], scale)


def shortest_interval(intervals: Sequence[int], feasible: Callable[[int], bool], start: int = 0) -> int | None:
    """Bisect ascending ``intervals`` for the first for which ``feasible`` holds, as if it were monotone.

    ``start`` is an index below which nothing need be tried. Returns the index, or None if the last one fails.
    """
    if start >= len(intervals) or not feasible(intervals[-1]):
        return None
    low, high = start, len(intervals) - 1
    while low < high:
        middle = (low + high) // 2
        if feasible(intervals[middle]):
            high = middle
        else:
            low = middle + 1
    return low


def _fast_enough(group: OptionGroup, interval_cycles: int, weights: NDArray[np.int64]) -> _Choice:
    index = np.flatnonzero(group.cycles <= interval_cycles)
    use = group.use[index]
    return _Choice(group, index, use, use @ weights)


def _undominated(choice: _Choice) -> _Choice:
    """Drop options that another one beats in every resource."""
    order = np.lexsort((*choice.use.T, choice.use.sum(axis=1)))
    kept: list[int] = []
    for row in order:
        if not kept or not (choice.use[kept] <= choice.use[row]).all(axis=1).any():
            kept.append(int(row))
    return _Choice(choice.group, choice.index[kept], choice.use[kept], choice.cost[kept])


def _solve(problem: FoldingProblem, choices: list[_Choice], scale: int) -> Answer:
    model = cp_model.CpModel()
    # Variables and one_option[g].
    picks = [[model.new_bool_var("") for _ in choice.index] for choice in choices]
    for row in picks:
        model.add_exactly_one(row)
    flat = [x for row in picks for x in row]
    # budget[r].
    for resource, limit in enumerate(problem.budget.as_tuple()):
        use = np.concatenate([choice.use[:, resource] for choice in choices])
        model.add(cp_model.LinearExpr.weighted_sum(flat, use.tolist()) <= limit)
    # Objective.
    model.minimize(cp_model.LinearExpr.weighted_sum(flat, np.concatenate([c.cost for c in choices]).tolist()))

    solver = new_solver(0, DETERMINISTIC_LIMIT)
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return FoldingInfeasible(None)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return FoldingUnknown()
    rows = [[bool(solver.value(x)) for x in row].index(True) for row in picks]
    cost = sum(int(choice.cost[row]) for choice, row in zip(choices, rows, strict=True))
    if status == cp_model.OPTIMAL:
        return _solution(choices, rows, SolveStats("exact/cpsat", "optimal", cost / scale, cost / scale))
    bound = solver.best_objective_bound / scale
    return _solution(choices, rows, SolveStats("exact/cpsat", "feasible", cost / scale, bound))


def _solution(choices: list[_Choice], rows: list[int], stats: SolveStats) -> FoldingSolution:
    picked = {name: o for c, row in zip(choices, rows, strict=True) for name, o in c.options(row).items()}
    return FoldingSolution(
        options=picked,
        interval_cycles=max(option.cycles for option in picked.values()),
        resources=total(option.resources for option in picked.values()),
        stats=stats,
    )
