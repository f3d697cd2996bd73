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
does (`integer`), and if that reaches its limit the bound is what was proven until then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.candidates import Candidates, candidates
from floorflow.folding.elimination import Elimination
from floorflow.folding.integer import cheapest, some_choice
from floorflow.folding.labels import cheapest_below
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.folding.relaxation import Relaxed, relax, within
from floorflow.resources import RESOURCE_NAMES
from floorflow.stats import SolveStats, Status

Answer = FoldingSolution | FoldingInfeasible | FoldingUnknown
Array = NDArray[np.int64]

FIRST_STEP = 1e-4
"""Share of the bound by which the first limit lies above it."""
STEP_GROWTH = {"exact": 3, "exact/cpsat": 10}
"""Factor by which the limit's distance grows with every step of the enumeration, and of CP-SAT."""


def least_scarce(problem: FoldingProblem, interval_cycles: int, *, prove: bool = True) -> Answer:
    """Return the least scarce folding with no engine above ``interval_cycles``, or the proof that none exists.

    Without ``prove`` the first folding within the budget will do; its ``stats`` say how far it may be from the least.
    """
    choices = candidates(problem, interval_cycles)
    if choices is None:
        return FoldingInfeasible(None)
    weights, scale = problem.cost_weights()
    budget = np.array(problem.budget.as_tuple(), dtype=np.int64)
    relaxed = relax(choices, weights, budget, first=not prove)
    if relaxed.infeasible:
        return _short(problem, choices, relaxed.plan)
    answer = _Answer(problem, choices, scale)
    if relaxed.picks is not None and (not prove or relaxed.bound >= relaxed.cost):
        return answer.solution(relaxed.picks, relaxed.bound, "exact")
    return _solve(answer, relaxed, weights, budget, prove=prove)


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
        return int(self.choices.total(picks) @ self.problem.cost_weights()[0])

    def solution(self, picks: Sequence[int], bound: int, method: str) -> FoldingSolution:
        cost = self.cost(picks)
        status: Status = "optimal" if bound >= cost else "feasible"
        rows = [int(rows[pick]) for rows, pick in zip(self.choices.rows, picks, strict=True)]
        stats = SolveStats(method, status, cost / self.scale, min(bound, cost) / self.scale)
        return self.problem.solution(rows, self.choices.total(picks), stats)


def _short(problem: FoldingProblem, choices: Candidates, plan: Elimination) -> FoldingInfeasible:
    """Name the first resource whose least possible sum exceeds the budget, if there is one."""
    for resource, (name, limit) in enumerate(zip(RESOURCE_NAMES, problem.budget.as_tuple(), strict=True)):
        alone = [use[:, resource] for use in choices.use]
        need, _ = plan.least(alone, {pair: use[:, :, resource] for pair, use in choices.pairs.items()})
        if need > limit:
            return FoldingInfeasible(name, need, limit)
    return FoldingInfeasible(None)


def _solve(answer: _Answer, relaxed: Relaxed, weights: Array, budget: Array, *, prove: bool) -> Answer:
    """Settle what the relaxation left open: look at all foldings below a limit that rises until one is found."""
    choices, picks, cost = answer.choices, relaxed.picks, min(relaxed.cost, int(weights @ budget) + 1)
    bound, step = relaxed.bound, max(1, int(relaxed.bound * FIRST_STEP))
    method: Literal["exact", "exact/cpsat"] = "exact"
    while bound < cost:
        most = min(bound + step, cost - 1)
        keep = within(choices, weights, budget, relaxed, most)
        if all(mask.any() for mask in keep):
            left = choices.restricted(keep)
            found = cheapest_below(left, weights, budget, relaxed.prices, most) if method == "exact" else None
            if found is None or not found.complete:
                if method == "exact" and not prove:
                    # Any folding will do, so that no limit helps.
                    method, step = "exact/cpsat", cost
                    continue
                method = "exact/cpsat"
                found = (cheapest if prove else some_choice)(left, weights, budget, most)
            if found.picks is not None:
                better = tuple(int(np.flatnonzero(mask)[pick]) for mask, pick in zip(keep, found.picks, strict=True))
                if answer.cost(better) < cost:
                    picks, cost = better, answer.cost(better)
            if not found.complete and picks is None and prove:
                # The proof is beyond reach: at least some folding.
                return _solve(answer, relaxed, weights, budget, prove=False)
            if not found.complete:
                return FoldingUnknown() if picks is None else answer.solution(picks, bound, method)
        bound, step = most + 1, step * STEP_GROWTH[method]
    return FoldingInfeasible(None) if picks is None else answer.solution(picks, cost, method)
