"""The exact folding: at a given interval the least scarcity under the budget, and the shortest feasible interval.

At a fixed interval every engine may use any option with no more cycles. If the engines' individually least scarce
options together meet the budget, they are the optimum and the sum is its own proof. Otherwise it is a
multiple-choice knapsack with five resources, solved by CP-SAT:

    variables    x[e, o]  engine e uses option o
    constraints  one_option[e]: sum_o x[e, o] = 1
                 budget[r]:     sum_{e,o} use[e, o, r] x[e, o] <= budget[r]
    objective    min sum_{e,o} scarcity[e, o] x[e, o]      (exact integers)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ortools.sat.python import cp_model

from floorflow.dataflow.model import Option
from floorflow.errors import LimitError
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution
from floorflow.resources import RESOURCE_NAMES, total
from floorflow.stats import SolveStats

Answer = FoldingSolution | FoldingInfeasible

DETERMINISTIC_LIMIT = 20.0
"""CP-SAT's deterministic time units (about seconds) for one interval; ends in `LimitError`."""


def fold_at_interval(problem: FoldingProblem, interval_cycles: int) -> Answer:
    """Return the least scarce folding with no engine above ``interval_cycles``, or the proof that none exists.

    Raises
    ------
    LimitError
        If the solver stopped at its deterministic limit without an answer.

    """
    choices = [_undominated(e.options, interval_cycles) for e in problem.engines]
    if not all(choices):
        return FoldingInfeasible(None)
    infeasible = _least_sums(choices, problem)
    if infeasible is not None:
        return infeasible
    weights, scale = problem.scarcity_weights()
    picked = [min(options, key=lambda o: (_cost(o, weights), o.cycles)) for options in choices]
    if total(o.resources for o in picked).fits(problem.budget):
        cost = sum(_cost(o, weights) for o in picked)
        return _solution(problem, picked, "exact", cost / scale, cost / scale)
    return _solve(problem, choices, weights, scale)


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


def _cost(option: Option, weights: tuple[int, ...]) -> int:
    return sum(w * use for w, use in zip(weights, option.resources.as_tuple(), strict=True))


def _undominated(options: Sequence[Option], interval_cycles: int) -> list[Option]:
    """Drop options that are too slow, and those that another one beats in every resource."""
    kept: list[Option] = []
    fast = [o for o in options if o.cycles <= interval_cycles]
    for option in sorted(fast, key=lambda o: (sum(o.resources.as_tuple()), o.resources.as_tuple(), o.cycles)):
        if not any(other.resources.fits(option.resources) for other in kept):
            kept.append(option)
    return kept


def _least_sums(choices: list[list[Option]], problem: FoldingProblem) -> FoldingInfeasible | None:
    """Prove infeasibility by one resource alone: the sum of every engine's least use of it."""
    least = [sum(column) for column in zip(*(_least(options) for options in choices), strict=True)]
    for name, need, limit in zip(RESOURCE_NAMES, least, problem.budget.as_tuple(), strict=True):
        if need > limit:
            return FoldingInfeasible(name, need, limit)
    return None


def _least(options: list[Option]) -> list[int]:
    return [min(column) for column in zip(*(o.resources.as_tuple() for o in options), strict=True)]


def _solve(problem: FoldingProblem, choices: list[list[Option]], weights: tuple[int, ...], scale: int) -> Answer:
    model = cp_model.CpModel()
    # Variables and one_option[e].
    picks = [[model.new_bool_var("") for _ in options] for options in choices]
    for row in picks:
        model.add_exactly_one(row)
    flat = [(x, o) for row, options in zip(picks, choices, strict=True) for x, o in zip(row, options, strict=True)]
    # budget[r].
    for index, limit in enumerate(problem.budget.as_tuple()):
        model.add(sum(o.resources.as_tuple()[index] * x for x, o in flat) <= limit)
    # Objective.
    model.minimize(sum(_cost(o, weights) * x for x, o in flat))

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = DETERMINISTIC_LIMIT
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return FoldingInfeasible(None)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise LimitError("the folding solver reached its limit without an answer", hint="try --effort best")
    picked = [
        options[[bool(solver.value(x)) for x in row].index(True)] for row, options in zip(picks, choices, strict=True)
    ]
    cost = sum(_cost(o, weights) for o in picked)
    bound = cost if status == cp_model.OPTIMAL else solver.best_objective_bound
    return _solution(problem, picked, "exact/cpsat", cost / scale, bound / scale)


def _solution(
    problem: FoldingProblem, picked: list[Option], method: str, objective: float, bound: float
) -> FoldingSolution:
    names = [engine.name for engine in problem.engines]
    status = "optimal" if bound >= objective else "feasible"
    return FoldingSolution(
        options=dict(zip(names, picked, strict=True)),
        interval_cycles=max(o.cycles for o in picked),
        resources=total(o.resources for o in picked),
        stats=SolveStats(method, "optimal" if status == "optimal" else "feasible", objective, bound),
    )
