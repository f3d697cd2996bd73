"""The exact folding: at a given interval the least scarcity under the budget, and the shortest feasible interval.

At a fixed interval every group of tied engines may use any option with no more cycles. What remains is a
multiple-choice knapsack with five resources and with prices on pairs of neighbours:

    variables    x[g, o]        group g uses option o
                 y[g, o, h, q]  neighbours g and h use options o and q
    constraints  one_option[g]: sum_o x[g, o] = 1
                 pair[g, o, h]: sum_q y[g, o, h, q] = x[g, o]          (and the same for h)
                 budget[r]:     sum_{g,o} use[g, o, r] x[g, o]
                                + sum_{g,o,h,q} use[g, o, h, q, r] y[g, o, h, q] <= budget[r]
    objective    min the same sums weighted by scarcity                (exact integers)

A Lagrangian relaxation (`relaxation`) bounds it, finds foldings, proves most cases by itself and strikes out nearly
all options. Enumeration (`labels`) below a rising limit settles the rest; where there is too much to enumerate, CP-SAT
on this model looks for a good folding, and the bound is what was proven until then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from floorflow.cpsat import new_solver
from floorflow.folding.candidates import Candidates, candidates
from floorflow.folding.elimination import Elimination
from floorflow.folding.labels import cheapest_below
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.folding.relaxation import Relaxed, relax, within
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.stats import SolveStats, Status

Answer = FoldingSolution | FoldingInfeasible | FoldingUnknown
Array = NDArray[np.int64]

FIRST_STEP = 1e-4
"""Share of the bound by which the first limit of the enumeration lies above it."""
STEP_GROWTH = 3
"""Factor by which the limit's distance grows with every step."""
DETERMINISTIC_LIMIT = 1.0
"""CP-SAT's deterministic time units (about seconds) for one interval; ends in `FoldingUnknown`."""


def least_scarce(problem: FoldingProblem, interval_cycles: int, *, prove: bool = True) -> Answer:
    """Return the least scarce folding with no engine above ``interval_cycles``, or the proof that none exists.

    Without ``prove`` the first folding within the budget will do; its ``stats`` say how far it may be from the least.
    """
    choices = candidates(problem, interval_cycles)
    if choices is None:
        return FoldingInfeasible(None)
    weights, scale = problem.scarcity_weights()
    budget = np.array(problem.budget.as_tuple(), dtype=np.int64)
    relaxed = relax(choices, weights, budget, first=not prove)
    if relaxed.infeasible:
        return _short(problem, choices, relaxed.plan)
    answer = _Answer(problem, choices, scale)
    if relaxed.picks is not None and (not prove or relaxed.bound >= relaxed.cost):
        return answer.solution(relaxed.picks, relaxed.bound, "exact")
    return _solve(answer, relaxed, weights, budget)


def shortest_interval(
    intervals: Sequence[int], feasible: Callable[[int], bool], start: int = 0, tries: int | None = None
) -> int | None:
    """Search ascending ``intervals`` for the first for which ``feasible`` holds, as if it were monotone.

    ``start`` is an index below which nothing need be tried; the answer is expected near it. If it is not there, the
    last interval tells whether there is one, steps double from the start, and what lies between is bisected, in at
    most so many ``tries``. Returns the least index for which ``feasible`` was seen to hold, None if the last one fails.
    """
    low, high, step = start, len(intervals) - 1, 1
    if start > high:
        return None
    if feasible(intervals[start]):
        return start
    if start == high or not feasible(intervals[high]):
        return None
    while high - low > 1 and tries != 0:
        tries = None if tries is None else tries - 1
        at = low + step if low + step < high else (low + high) // 2
        if feasible(intervals[at]):
            high, step = at, len(intervals)
        else:
            low, step = at, 2 * step
    return high


@dataclass(frozen=True)
class _Answer:
    """Turns picked rows into a solution."""

    problem: FoldingProblem
    choices: Candidates
    scale: int

    def cost(self, picks: Sequence[int]) -> int:
        return int(self.choices.total(picks) @ self.problem.scarcity_weights()[0])

    def solution(self, picks: Sequence[int], bound: int, method: str) -> FoldingSolution:
        use = self.choices.total(picks)
        cost = self.cost(picks)
        options = {
            name: option
            for group, rows, pick in zip(self.problem.groups, self.choices.rows, picks, strict=True)
            for name, option in zip(group.engines, group.rows[int(rows[pick])], strict=True)
        }
        status: Status = "optimal" if bound >= cost else "feasible"
        return FoldingSolution(
            options=options,
            interval_cycles=max(option.cycles for option in options.values()),
            resources=Resources(*(int(amount) for amount in use)),
            budget=self.problem.budget,
            stats=SolveStats(method, status, cost / self.scale, min(bound, cost) / self.scale),
        )


def _short(problem: FoldingProblem, choices: Candidates, plan: Elimination) -> FoldingInfeasible:
    """Name the first resource whose least possible sum exceeds the budget, if there is one."""
    for resource, (name, limit) in enumerate(zip(RESOURCE_NAMES, problem.budget.as_tuple(), strict=True)):
        alone = [use[:, resource] for use in choices.use]
        need, _ = plan.least(alone, {pair: use[:, :, resource] for pair, use in choices.pairs.items()})
        if need > limit:
            return FoldingInfeasible(name, need, limit)
    return FoldingInfeasible(None)


def _solve(answer: _Answer, relaxed: Relaxed, weights: Array, budget: Array) -> Answer:
    """Settle what the relaxation left open: enumerate all foldings below a limit that rises until one is found."""
    choices, picks, cost = answer.choices, relaxed.picks, min(relaxed.cost, int(weights @ budget) + 1)
    bound, step = relaxed.bound, max(1, int(relaxed.bound * FIRST_STEP))
    while bound < cost:
        most = min(bound + step, cost - 1)
        keep = within(choices, weights, budget, relaxed, most)
        if all(mask.any() for mask in keep):
            found = cheapest_below(choices.restricted(keep), weights, budget, relaxed.prices, most)
            if not found.complete:
                return _search(answer, replace(relaxed, picks=picks, cost=cost, bound=bound), weights, budget)
            if found.picks is not None:
                better = tuple(int(np.flatnonzero(mask)[pick]) for mask, pick in zip(keep, found.picks, strict=True))
                if answer.cost(better) < cost:
                    picks, cost = better, answer.cost(better)
        bound, step = most + 1, step * STEP_GROWTH
    return FoldingInfeasible(None) if picks is None else answer.solution(picks, cost, "exact")


def _search(answer: _Answer, relaxed: Relaxed, weights: Array, budget: Array) -> Answer:
    """Look for a good folding by CP-SAT where there are too many to enumerate."""
    choices, picks, cost = answer.choices, relaxed.picks, relaxed.cost
    columns = zip(choices.rows, zip(*relaxed.met, strict=True), strict=True)
    met = [np.isin(np.arange(rows.size), column) for rows, column in columns]
    for keep in (met, within(choices, weights, budget, relaxed, cost - 1)):
        found = _cpsat(choices, keep, weights, budget, cost - 1)
        if found.picks is not None:
            picks, cost = found.picks, answer.cost(found.picks)
            break
    if picks is None:
        return FoldingInfeasible(None) if found.exhausted else FoldingUnknown()
    return answer.solution(picks, max(relaxed.bound, cost if found.exhausted and keep is not met else 0), "exact/cpsat")


@dataclass(frozen=True)
class _Settled:
    """CP-SAT's answer: the best picks found, and whether the search was exhausted."""

    picks: tuple[int, ...] | None
    exhausted: bool


def _cpsat(
    choices: Candidates, keep: Sequence[NDArray[np.bool_]], weights: Array, budget: Array, most: int
) -> _Settled:
    """Look for the cheapest choice among the marked rows that costs at most ``most``."""
    if not all(mask.any() for mask in keep):
        return _Settled(None, exhausted=True)
    model, rows = _model(choices.restricted(keep), weights, budget, most)
    solver = new_solver(0, DETERMINISTIC_LIMIT)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return _Settled(None, exhausted=status == cp_model.INFEASIBLE)
    chosen = ([bool(solver.value(x)) for x in row].index(True) for row in rows)
    picks = tuple(int(np.flatnonzero(mask)[pick]) for mask, pick in zip(keep, chosen, strict=True))
    return _Settled(picks, exhausted=status == cp_model.OPTIMAL)


def _model(
    choices: Candidates, weights: Array, budget: Array, most: int
) -> tuple[cp_model.CpModel, list[list[cp_model.IntVar]]]:
    model = cp_model.CpModel()
    # Variables x[g, o] and one_option[g].
    rows = [[model.new_bool_var("") for _ in range(count.size)] for count in choices.rows]
    for row in rows:
        model.add_exactly_one(row)
    terms = [x for row in rows for x in row]
    use = list(choices.use)
    # Variables y[g, o, h, q] and pair[g, o, h].
    for (a, b), table in choices.pairs.items():
        both = [[model.new_bool_var("") for _ in rows[b]] for _ in rows[a]]
        for x, line in zip(rows[a], both, strict=True):
            model.add(sum(line) == x)
        for x, column in zip(rows[b], zip(*both, strict=True), strict=True):
            model.add(sum(column) == x)
        terms += [y for line in both for y in line]
        use.append(table.reshape(-1, 5))
    matrix = np.concatenate(use)
    # budget[r], and the cost to beat.
    for resource, limit in enumerate(budget.tolist()):
        model.add(cp_model.LinearExpr.weighted_sum(terms, matrix[:, resource].tolist()) <= limit)
    cost = cp_model.LinearExpr.weighted_sum(terms, (matrix @ weights).tolist())
    model.add(cost <= most)
    model.minimize(cost)
    return model, rows
