"""The least full folding at an interval, and the least scarce one that is as good as that.

*Fullness*, the scale of a budget that a folding x keeps, is  max_r use_r(x) / budget_r: first its least is sought, then
the least scarcity among the foldings whose fullness exceeds it by at most `EXCESS` of it. What is cheap by the sum of
its shares may fill one resource to its limit and leave another empty; nobody would build that while there is a choice.

Weights w >= 0 a unit of each resource bound the scale: no folding has one below the least of  w use(x) / w budget,
which `pricing` finds exactly. The best weights are sought by cutting planes; what is met on the way is improved by
exchanges towards a budget that is a little above the bound. What is left between bound and answer the exact solver
closes where it can, on budgets below the answer: with these weights as costs the relaxation leaves little of the
problem.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import floor

import numpy as np
from numpy.typing import NDArray

from floorflow.folding import label_setting
from floorflow.folding.dominance import reduce_by_dominance
from floorflow.folding.exact import least_scarce
from floorflow.folding.lagrangian import FINENESS, Knapsack, rows_within_cost
from floorflow.folding.local_search import LocalSearch
from floorflow.folding.pricing import Pricing, group_by_interface
from floorflow.folding.problem import FoldingAnswer, FoldingInfeasible, FoldingProblem, FoldingSolution, Rows
from floorflow.folding.selection import Evaluator
from floorflow.folding.variable_elimination import FORBIDDEN
from floorflow.resources import Resources
from floorflow.solver import linear_solver
from floorflow.stats import SolveStats, Status

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

STEPS = 40
"""Weights tried at most."""
CLOSE = 1e-4
"""Relative distance between the bound and the highest one possible at which better weights are no more sought."""
MOST_SUM = FORBIDDEN >> 6
"""What weighted sums come to at most, times `FINENESS`."""
IMPROVED = 3
"""Foldings that are improved."""
TARGETS = tuple(2.0**power for power in range(-9, -2))
"""Shares by which the budget that exchanges seek to keep is above the bound: the first that they can keep counts."""
HALVINGS = 2
"""Times that the distance between that and the last that they could not is halved."""
MOST_ROUNDS = 40
"""Times that the exact solver is asked for a folding of a lower scale."""


@dataclass
class LeastScale:
    """A search for the folding of least scale: what was met, by rows, and the scale that none is below.

    ``pricing`` is over the rows that may be best. Resources of which the budget has nothing must not be used.
    """

    problem: FoldingProblem
    pricing: Pricing
    low: Fraction = Fraction(0)
    scale_of: dict[Rows, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        have = np.where(self.per_budget > 0, 1.0, 0.0)
        self._shares: Floats = have / max(1.0, have.sum())
        self.weights: Array = self._weights(self._shares)
        self._selections: dict[Rows, Array] = {}

    @cached_property
    def budget(self) -> Array:
        """The budget, (5,)."""
        return np.array(self.problem.budget.as_tuple(), dtype=np.int64)

    @cached_property
    def per_budget(self) -> Floats:
        """One over the budget, 0 where it has nothing, (5,)."""
        return np.where(self.budget > 0, 1 / np.maximum(self.budget, 1), 0.0)

    @property
    def high(self) -> Fraction | float:
        """The least scale of a folding met; infinite where none was."""
        return min(self.scale_of.values(), default=float("inf"))

    @property
    def best(self) -> Rows:
        """The folding of least scale that was met, the first in the order of rows; there must be one."""
        return min(self.scale_of, key=lambda rows: (self.scale_of[rows], rows))

    @property
    def is_proven(self) -> bool:
        """Whether nothing is left between bound and answer."""
        return self.low >= self.high

    def add(self, rows: Rows, use: Array) -> None:
        """Take note of a folding and what it uses."""
        scale = scale_of(use.tolist(), self.budget.tolist())
        if scale is not None:
            self.scale_of[rows] = scale

    def know(self, folding: FoldingSolution) -> None:
        """Take note of a folding of the problem."""
        self.add(self.problem.rows_of(folding), np.array(folding.resources.as_tuple(), dtype=np.int64))

    def raise_bound(self) -> bool:
        """Raise the bound by cutting planes; False if there is no folding at all, whatever the scale."""
        shares, seen = self._shares, list[Floats]()
        for _ in range(STEPS):
            used = self._try(shares, seen)
            if used is None:
                return False
            seen.append(used)
            ceiling, wanted = _best_shares(seen)
            if min(ceiling, float(self.high)) - float(self.low) <= CLOSE * max(ceiling, 1e-9):
                break
            # Halfway between the best shares and the model's: the model alone swings from corner to corner.
            shares = (self._shares + wanted) / 2 if len(seen) > 1 else wanted
        return True

    def _try(self, shares: Floats, seen: Sequence[Floats]) -> Floats | None:
        """Bound by these shares; return the use over budget of the folding that has the bound, None if none exists."""
        weights = self._weights(shares)
        totals, selections = self.pricing.least(self.pricing.row_prices(weights[None]), weights[None])
        if int(totals[0]) >= FORBIDDEN:
            return None
        worth = int(weights @ self.budget)
        bound = Fraction(int(totals[0]), worth) if worth else Fraction(0)
        if bound > self.low or not seen:
            self.low, self._shares, self.weights = max(bound, self.low), shares, weights
        use = self.pricing.total(selections[0])
        self._met(selections[0])
        return np.asarray(use * self.per_budget)

    def _weights(self, shares: Floats) -> Array:
        """Return whole weights a unit of each resource, of which the whole budget is worth these shares."""
        each = np.maximum(shares, 0.0) * self.per_budget
        most = max(1.0, float(each @ np.minimum(self.pricing.most_use, FORBIDDEN)))
        return np.rint(each * (MOST_SUM / FINENESS / most)).astype(np.int64)

    def _met(self, selection: Array) -> None:
        rows = self.pricing.rows_of(selection)
        self.add(rows, self.pricing.total(selection))
        if rows in self.scale_of:
            self._selections[rows] = selection

    def improve(self) -> None:
        """Exchange rows of the best foldings met until they keep a budget little above the bound."""
        search = LocalSearch(Knapsack(self.pricing, self.weights, self.budget))
        failed = 0.0
        for above in TARGETS:
            if self._exchanged(search, above):
                self._between(search, failed, above)
                return
            failed = above

    def _between(self, search: LocalSearch, failed: float, above: float) -> None:
        """Halve the distance between a share above the bound that could not be kept and one that could."""
        for _ in range(HALVINGS):
            middle = (failed + above) / 2
            failed, above = (failed, middle) if self._exchanged(search, middle) else (middle, above)

    def _exchanged(self, search: LocalSearch, above: float) -> bool:
        """Look for a folding that exchanges bring below a share above the bound; whether there is one now."""
        scale = float(self.low) * (1 + above)
        if scale >= self.high:
            return True
        search.seek(np.floor(self.budget * scale).astype(np.int64))
        for rows in sorted(self._selections, key=lambda rows: (self.scale_of[rows], rows))[:IMPROVED]:
            found = search.run(self._selections[rows], np.zeros(5, dtype=np.int64))
            if found is not None:
                self._met(found)
                return True
        return False

    def open_groups(self) -> int:
        """Return how many groups have a choice left that a folding of a lower scale may take."""
        if not isinstance(self.high, Fraction):
            return len(self.pricing.classes.rows)
        below = np.array(just_below(self.problem.budget, self.high).as_tuple(), dtype=np.int64)
        none = np.zeros(5, dtype=np.int64)
        near = rows_within_cost(Knapsack(self.pricing, self.weights, below), none, int(self.weights @ below))
        return sum(rows.size > 1 for rows in self.pricing.masked_rows(near))

    def close(self, interval_cycles: int, *, branch: bool) -> None:
        """Ask the exact solver for foldings of a lower scale, until there is none or it cannot tell."""
        worth = int(self.weights @ self.budget)
        for _ in range(MOST_ROUNDS):
            high = self.high
            if self.low >= high or not isinstance(high, Fraction):
                return
            below = replace(
                self.problem, budget=just_below(self.problem.budget, high), weights=tuple(self.weights.tolist())
            )
            answer = least_scarce(below, interval_cycles, branch=branch)
            if isinstance(answer, FoldingInfeasible):
                self.low = high
            if not isinstance(answer, FoldingSolution):
                return
            self.know(answer)
            # Whatever has a lower scale weighs no less than the lightest that does.
            self.low = max(self.low, min(high, Fraction(int(answer.stats.bound or 0), max(1, worth))))
            if answer.stats.status != "optimal":
                return


def scale_of(use: Iterable[int], budget: Iterable[int]) -> Fraction | None:
    """Return the largest use over budget, exactly; None if something is used of which the budget has nothing."""
    pairs = [(need, have) for need, have in zip(use, budget, strict=True) if need]
    if any(not have for _, have in pairs):
        return None
    return max((Fraction(need, have) for need, have in pairs), default=Fraction(0))


def within(budget: Resources, scale: Fraction) -> Resources:
    """Return the most that a folding of at most a scale may use."""
    return Resources(*(floor(scale * have) for have in budget.as_tuple()))


def just_below(budget: Resources, scale: Fraction) -> Resources:
    """Return the most that a folding of a lower scale may use."""
    return Resources(*(max(0, -floor(-scale * have) - 1) for have in budget.as_tuple()))


def _best_shares(seen: Sequence[Floats]) -> tuple[float, Floats]:
    """Return the highest bound that the foldings met so far allow, and the shares for it."""
    solver = linear_solver()
    bound = solver.NumVar(0.0, solver.infinity(), "")
    shares = [solver.NumVar(0.0, 1.0, "") for _ in seen[0]]
    whole = solver.Constraint(1.0, 1.0)
    for share in shares:
        whole.SetCoefficient(share, 1.0)
    for used in seen:
        row = solver.Constraint(-solver.infinity(), 0.0)
        row.SetCoefficient(bound, 1.0)
        for share, much in zip(shares, used, strict=True):
            row.SetCoefficient(share, -float(much))
    solver.Maximize(bound)
    solver.Solve()
    return float(bound.solution_value()), np.array([share.solution_value() for share in shares])


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
    known = problem.rows_of(full)
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
