"""The least full folding at an interval, and the least scarce one that is as good as that.

*Fullness* is the largest use over budget of any resource (`least_scale`): first its least is sought, then the least
scarcity among the foldings whose fullness exceeds it by at most `EXCESS` of it. What is cheap by the sum of its shares
may fill one resource to its limit and leave another empty; nobody would build that while there is a choice.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from floorflow.folding import label_setting
from floorflow.folding.dominance import reduce_by_dominance
from floorflow.folding.exact import FoldingAnswer, least_scarce
from floorflow.folding.interface_classes import group_by_interface
from floorflow.folding.least_scale import LeastScale, rows_of, scale_of, within
from floorflow.folding.pricing import Pricing
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution
from floorflow.folding.selection import Evaluator
from floorflow.resources import Resources
from floorflow.stats import SolveStats, Status

EXCESS = Fraction(1, 100)
"""Share of the least fullness by which the fullness of the least scarce folding may exceed it."""
SMALL = 300
"""Rows left in all groups up to which everything between bound and answer is looked at."""
FEW_OPEN = 25
"""Groups with a choice left up to which enumeration is tried where there are more,"""
NEARLY = 0.0005
"""and the share of the answer between it and the bound up to which it is tried whatever is left."""
BALANCED_STEP, ROUND = Fraction(1, 200), 10**6
"""Share of the answer at which halving ends where rates are balanced, and the finest shares that it tries."""
MOST_LABELS = 2_000
"""Labels that end an enumeration for the least scarcity: so near the limits of several resources it seldom succeeds."""


def least_full(problem: FoldingProblem, interval_cycles: int) -> FoldingAnswer:
    """Return the folding of least fullness with no engine above ``interval_cycles``, or the proof that none exists.

    ``stats`` are of its fullness: shares of the budget.
    """
    if problem.is_balanced:
        return _balanced(problem, interval_cycles)
    search = _bounded(problem, interval_cycles)
    if search is None:
        return FoldingInfeasible(None)
    if search.scale_of:
        search.improve()
    if search.high > 1:
        # Hard at the limits: any folding there will do to go on from.
        first = least_scarce(problem, interval_cycles, prove=False)
        if not isinstance(first, FoldingSolution):
            return first
        search.know(first)
    small = search.pricing.size <= SMALL
    nearly = search.high - search.low <= NEARLY * search.high
    if not search.is_proven and (small or nearly or search.open_groups() <= FEW_OPEN):
        search.close(interval_cycles, branch=small)
    return _solution(search)


def _bounded(problem: FoldingProblem, interval_cycles: int) -> LeastScale | None:
    """Return a search that knows a bound; None if some group has no folding that is fast enough."""
    reduced = reduce_by_dominance(problem, interval_cycles)
    if reduced is None:
        return None
    search = LeastScale(problem, Pricing(group_by_interface(problem, reduced.rows)))
    search.raise_bound()
    return search


def _balanced(problem: FoldingProblem, interval_cycles: int) -> FoldingAnswer:
    """Halve the distance between a balanced folding and the bound on all, which holds for the balanced too."""
    best = least_scarce(problem, interval_cycles, prove=False)
    free = _bounded(problem.without_balance, interval_cycles)
    if not isinstance(best, FoldingSolution) or free is None:
        return best
    low = open_at = min(free.low, Fraction(1))
    high = fullness(best.resources, problem.budget)
    while high > low and high - open_at > BALANCED_STEP * high:
        # Rounded, or the fractions grow with every step.
        middle = ((open_at + high) / 2).limit_denominator(ROUND)
        answer = least_scarce(problem.with_budget(within(problem.budget, middle)), interval_cycles, prove=False)
        if isinstance(answer, FoldingSolution):
            best, high = answer, fullness(answer.resources, problem.budget)
        else:
            low = middle if low == open_at and isinstance(answer, FoldingInfeasible) else low
            open_at = middle
    low = min(low, high)
    status: Status = "optimal" if low == high else "feasible"
    return replace(best, budget=problem.budget, stats=SolveStats("halving", status, float(high), float(low)))


def least_scarce_of_least_full(problem: FoldingProblem, interval_cycles: int, *, branch: bool = True) -> FoldingAnswer:
    """Return the least scarce folding whose fullness exceeds the least by at most `EXCESS`; ``budget`` says which do.

    ``fullness`` is told of the first step, ``stats`` of the second; without ``branch`` that may be a little off.
    """
    full = least_full(problem, interval_cycles)
    if not isinstance(full, FoldingSolution):
        return full
    budget = nearly_as_full(problem, full)
    known = rows_of(problem, full)
    labels = label_setting.MOST_LABELS if branch else MOST_LABELS
    answer = least_scarce(problem.with_budget(budget), interval_cycles, branch=branch, known=known, most_labels=labels)
    return replace(answer, fullness=full.stats) if isinstance(answer, FoldingSolution) else answer


def nearly_as_full(problem: FoldingProblem, folding: FoldingSolution, excess: Fraction = EXCESS) -> Resources:
    """Return what a folding may use whose fullness exceeds that of a given one by at most a share of it."""
    return within(problem.budget, min(Fraction(1), fullness(folding.resources, problem.budget) * (1 + excess)))


def fullness(use: Resources, limits: Resources) -> Fraction:
    """Return the largest use over limit of any resource; 2 if something is used of which there is nothing."""
    scale = scale_of(use.as_tuple(), limits.as_tuple())
    return Fraction(2) if scale is None else scale


def _solution(search: LeastScale) -> FoldingSolution:
    status: Status = "optimal" if search.is_proven else "feasible"
    answer = Evaluator(search.problem).solution(search.best, "least scale", status)
    high, low = search.scale_of[search.best], min(search.low, search.scale_of[search.best])
    return replace(answer, stats=SolveStats("least scale", status, float(high), float(low)))
