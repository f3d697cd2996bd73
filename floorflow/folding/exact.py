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

The Lagrangian relaxation (`lagrangian`) bounds it, finds foldings, proves most cases by itself and strikes out nearly
all options; 1- and 2-exchanges (`local_search`) improve what it met. Enumeration (`label_setting`) below a rising limit
settles the rest; where there is too much to enumerate, because several resources bind at once, `branching` does. If
that reaches its limit the bound is what was proven until then.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.balance import joinable
from floorflow.folding.branching import branch_and_bound
from floorflow.folding.dominance import ReducedProblem, reduce_by_dominance, restricted_to
from floorflow.folding.label_setting import MOST_LABELS, cheapest_below
from floorflow.folding.lagrangian import FINENESS, Knapsack, LagrangianBound, lagrangian_bound, rows_within_cost
from floorflow.folding.local_search import LocalSearch
from floorflow.folding.pricing import Pricing, group_by_interface
from floorflow.folding.problem import (
    RATIO,
    FoldingAnswer,
    FoldingInfeasible,
    FoldingProblem,
    FoldingSolution,
    FoldingUnknown,
    first_index_to_try,
    shortest_interval,
)
from floorflow.folding.selection import Evaluator
from floorflow.folding.variable_elimination import FORBIDDEN
from floorflow.resources import RESOURCE_NAMES
from floorflow.stats import SolveStats, Status

Array = NDArray[np.int64]

FIRST_STEP = 1e-4
"""Share of the bound by which the first limit lies above it."""
STEP_GROWTH = 3
"""Factor by which the limit's distance grows with every step."""
MOST_OPEN = 6000
"""Parts left by branching times groups beyond which they are not looked into."""
NARROWED = 2
"""Times that the rows of such a part are narrowed down before."""
ABOUT_AS_SLOW = (2, 8, 32)
"""Times that a layer may be faster than it must be where a first folding of balanced rates is sought."""
MOST_BALANCED = 20_000
"""Rows in all groups up to which balanced rates are sought everywhere where none are found there."""
IMPROVED = 6
"""Foldings of the relaxation next to which better ones are looked for."""


def least_scarce(
    problem: FoldingProblem,
    interval_cycles: int,
    *,
    prove: bool = True,
    branch: bool = True,
    known: Sequence[int] | None = None,
    most_labels: int = MOST_LABELS,
) -> FoldingAnswer:
    """Return the least scarce folding with no engine above ``interval_cycles``, or the proof that none exists.

    Without ``prove`` the first folding within the budget will do; its ``stats`` say how far it may be from the least.
    Without ``branch`` nothing is branched: a folding that is not proven by then will do, and none found is unknown.
    ``known``: the rows of a folding within interval and budget, if one is known. ``most_labels`` end an enumeration.
    """
    search = _search_of(problem, interval_cycles, most_labels)
    if not isinstance(search, _Search):
        return search
    if known is not None:
        search.know(tuple(known))
    return search.run(prove=prove, branch=branch)


class FeasibilityOracle:
    """Whether there is a folding within an interval, asked for many: the prices of one are where the next starts.

    ``start``: `prices` of an oracle for a like problem, to begin with.
    """

    def __init__(self, problem: FoldingProblem, start: Array | None = None) -> None:
        self.problem = problem
        self._answers: dict[int, FoldingAnswer] = {}
        self._searches: dict[int, _Search] = {}
        self._prices = start

    @property
    def prices(self) -> Array | None:
        """Those of the relaxation at the last interval, a unit of each resource; None if none was asked for."""
        return self._prices

    @property
    def unit_costs(self) -> Array | None:
        """What a unit of each resource costs at these prices: if no folding costs less than the budget, none fits."""
        weights, _ = self.problem.cost_weights()
        return None if self._prices is None else FINENESS * weights + self._prices

    def __call__(self, interval_cycles: int) -> FoldingAnswer:
        """Return the first folding met, with its distance from the least scarce, or the proof that none exists."""
        known = self._answers.get(interval_cycles)
        return self._probe(interval_cycles) if known is None else known

    def quick(self, interval_cycles: int) -> FoldingAnswer:
        """Return the same where the relaxation and exchanges tell it; else that it is unknown."""
        known = self._answers.get(interval_cycles)
        return self._probe(interval_cycles, quick=True) if known is None else known

    def shortest(self, accepts: Callable[[FoldingAnswer], bool]) -> int | None:
        """Return the shortest interval, in cycles, whose answer is accepted; None if that of the longest is not."""
        intervals = self.problem.intervals()
        index = shortest_interval(intervals, lambda i: accepts(self(i)), first_index_to_try(self.problem), ratio=RATIO)
        return None if index is None else intervals[index]

    def least_scarce(self, interval_cycles: int) -> FoldingAnswer:
        """Return the least scarce folding within an interval; where one was met, the search goes on from it."""
        answer = self(interval_cycles)
        if isinstance(answer, FoldingInfeasible) or interval_cycles not in self._searches:
            return answer
        search = self._searches[interval_cycles]
        return search.run(prove=True, start=search.prices)

    def _probe(self, interval_cycles: int, *, quick: bool = False) -> FoldingAnswer:
        search = self._searches.get(interval_cycles) or _search_of(self.problem, interval_cycles)
        if not isinstance(search, _Search):
            self._answers[interval_cycles] = search
            return search
        self._searches[interval_cycles] = search
        answer = search.run(prove=False, start=self._prices, branch=not quick)
        self._prices = self._prices if search.prices is None else search.prices
        if not isinstance(answer, FoldingUnknown) or not quick:
            self._answers[interval_cycles] = answer
        return answer


class _Search:
    """One search: the best rows so far, their cost, the bound on it and the prices of the relaxation."""

    def __init__(self, problem: FoldingProblem, reduced: ReducedProblem, most_labels: int = MOST_LABELS) -> None:
        self.problem, self.reduced, self.most_labels = problem, reduced, most_labels
        self.weights, self.scale = problem.cost_weights()
        self.budget = np.array(problem.budget.as_tuple(), dtype=np.int64)
        self.rows: tuple[int, ...] | None = None
        self.use = self.budget
        # No folding within the budget costs more than the budget itself.
        self.bound, self.cost = 0, int(self.weights @ self.budget) + 1
        self.prices: Array | None = None

    def know(self, rows: tuple[int, ...]) -> None:
        """Take note of a folding."""
        self._keep(rows, Evaluator(self.problem).use(rows))

    def follow(self, other: "_Search", bound: int) -> None:
        """Take over what another search among fewer rows found, and a bound on all."""
        self.rows, self.use, self.cost, self.bound = other.rows, other.use, other.cost, bound

    def run(self, *, prove: bool, start: Array | None = None, branch: bool = True) -> FoldingAnswer:
        if self._done(prove=prove):
            return self._answer("exact")
        knapsack = self._knapsack(self.reduced.rows)
        lagrangian = lagrangian_bound(knapsack, start, first=not prove)
        self.bound, self.prices = max(self.bound, lagrangian.bound), lagrangian.prices
        if lagrangian.infeasible:
            return _shortest_resource(knapsack)
        if lagrangian.selection is not None:
            self._take(knapsack, lagrangian.selection)
        if self._done(prove=prove):
            return self._answer("exact")
        local_search = LocalSearch(knapsack)
        for cut in lagrangian.cuts[::-1][:IMPROVED]:
            improved = local_search.run(cut.selection, lagrangian.prices)
            if improved is not None:
                self._take(knapsack, improved)
        if self._done(prove=prove) or (prove and self._enumerate(knapsack, lagrangian)):
            return self._answer("exact")
        if branch and not (self.problem.is_balanced and knapsack.pricing.elimination.cut):
            return self._branch(knapsack, lagrangian, prove=prove)
        return FoldingUnknown() if self.rows is None else self._answer("exact/relaxation")

    def _knapsack(self, rows: Sequence[Array]) -> Knapsack:
        return Knapsack(Pricing(group_by_interface(self.problem, rows)), self.weights, self.budget)

    def _done(self, *, prove: bool) -> bool:
        return self.rows is not None and (not prove or self.bound >= self.cost)

    def _take(self, knapsack: Knapsack, selection: Array) -> None:
        self._keep(knapsack.pricing.rows_of(selection), knapsack.pricing.total(selection))

    def _keep(self, rows: tuple[int, ...], use: Array) -> None:
        if int(use @ self.weights) < self.cost:
            self.rows, self.use, self.cost = rows, use, int(use @ self.weights)

    def _enumerate(self, knapsack: Knapsack, lagrangian: LagrangianBound) -> bool:
        """Look at all foldings below a limit that rises until one is found; False if they are too many."""
        step = max(1, int(self.bound * FIRST_STEP))
        while self.bound < self.cost:
            most = min(self.bound + step, self.cost - 1)
            if not self._look_below(knapsack, lagrangian.prices, most):
                return False
            self.bound, step = most + 1, step * STEP_GROWTH
        return True

    def _look_below(self, knapsack: Knapsack, prices: Array, most: int) -> bool:
        """Look at all foldings of at most a cost; False if they are too many."""
        near = knapsack.pricing.masked_rows(rows_within_cost(knapsack, prices, most))
        if not all(rows.size for rows in near):
            return True
        _, complete = self._enumerated(near, prices, most)
        return complete

    def _enumerated(self, rows: Sequence[Array], prices: Array, most: int) -> tuple[tuple[int, ...] | None, bool]:
        """Look at all foldings of some rows of at most a cost; return the best one's, and whether all were seen."""
        reduced = restricted_to(self.problem, rows)
        cheapest = cheapest_below(reduced, self.weights, self.budget, prices, most, most_labels=self.most_labels)
        if cheapest.selection is None:
            return None, cheapest.complete
        best = tuple(int(rows[position]) for rows, position in zip(reduced.rows, cheapest.selection, strict=True))
        self._keep(best, reduced.total(cheapest.selection))
        return best, cheapest.complete

    def _branch(self, knapsack: Knapsack, lagrangian: LagrangianBound, *, prove: bool) -> FoldingAnswer:
        """Split what is left, and split again."""
        near = knapsack.pricing.masked_rows(rows_within_cost(knapsack, lagrangian.prices, self.cost - 1))
        if not all(rows.size for rows in near):
            self.bound = self.cost
            return self._answer("exact")
        smaller = self._knapsack(near)
        lagrangian = lagrangian_bound(smaller, lagrangian.prices)
        branched = branch_and_bound(smaller, lagrangian, self.cost, self._enumerated, first=not prove)
        if branched.selection is not None:
            self._take(smaller, branched.selection)
        self.bound = max(self.bound, branched.bound)
        few = len(branched.open_parts) * len(self.problem.groups) <= MOST_OPEN
        if prove and few and all(self._close_part(*part) for part in branched.open_parts):
            self.bound = self.cost
        if self.rows is None and self.bound <= smaller.dearest:
            return FoldingUnknown()
        return self._answer("exact/branching")

    def _close_part(self, rows: Sequence[Array], prices: Array) -> bool:
        """Look at all foldings of a part that branching left, for it holds nothing much better; False if too many."""
        for _ in range(NARROWED):
            if not all(part.size for part in rows):
                return True
            knapsack = self._knapsack(rows)
            lagrangian = lagrangian_bound(knapsack, prices)
            if lagrangian.bound >= self.cost:
                return True
            prices = lagrangian.prices
            rows = knapsack.pricing.masked_rows(rows_within_cost(knapsack, prices, self.cost - 1))
        return self._look_below(knapsack, prices, self.cost - 1)

    def _answer(self, method: str) -> FoldingSolution | FoldingInfeasible:
        """Return the best rows with what is proven; none means that there are none."""
        if self.rows is None:
            return FoldingInfeasible(None)
        status: Status = "optimal" if self.bound >= self.cost else "feasible"
        stats = SolveStats(method, status, self.cost / self.scale, min(self.bound, self.cost) / self.scale)
        return self.problem.solution(self.rows, self.use, stats)


def _search_of(
    problem: FoldingProblem, interval_cycles: int, most_labels: int = MOST_LABELS
) -> _Search | FoldingInfeasible | FoldingUnknown:
    """Return the search at an interval; or the answer where there is nothing to search for."""
    if problem.is_balanced:
        return _balanced(problem, interval_cycles)
    reduced = reduce_by_dominance(problem, interval_cycles)
    return FoldingInfeasible(None) if reduced is None else _Search(problem, reduced, most_labels)


def _balanced(problem: FoldingProblem, interval_cycles: int) -> _Search | FoldingInfeasible | FoldingUnknown:
    """Return the search for a folding of balanced rates, among rows that no cheap bound rules out.

    Layers of many speeds dominate one another hardly ever, and bars between them make the relaxation large. But a
    folding of layers that are about as slow as the interval allows is found soon, and what may be better than that by
    the relaxation without bars, which bounds the balanced problem too, is most often little.
    """
    rows = problem.rows_within(interval_cycles)
    if not all(some.size for some in rows):
        return FoldingInfeasible(None)
    free, (weights, _) = problem.without_balance, problem.cost_weights()
    budget = np.array(problem.budget.as_tuple(), dtype=np.int64)
    knapsack = Knapsack(Pricing(group_by_interface(free, rows)), weights, budget)
    lagrangian = lagrangian_bound(knapsack)
    if lagrangian.infeasible:
        return _shortest_resource(knapsack)
    known = _about_as_slow(problem, rows)
    if known is None:
        few = sum(some.size for some in rows) <= MOST_BALANCED
        return _Search(problem, restricted_to(problem, rows)) if few else FoldingUnknown()
    near = rows_within_cost(knapsack, lagrangian.prices, known.cost - 1)
    better = joinable(problem.couplings, knapsack.pricing.masked_rows(near))
    if not all(some.size for some in better):
        better = [some[:0] for some in rows]
    with_known = [np.union1d(some, [row]) for some, row in zip(better, known.rows or (), strict=True)]
    search = _Search(problem, restricted_to(problem, with_known))
    search.follow(known, lagrangian.bound)
    return search


def _about_as_slow(problem: FoldingProblem, rows: Sequence[Array]) -> _Search | None:
    """Return the search that found a balanced folding of layers about as slow as they may be; None if none did."""
    tied = {group for c in problem.couplings if c.only_bars for group in (c.source, c.target)}
    for factor in ABOUT_AS_SLOW:
        slow = list(rows)
        for group in tied:
            cycles = problem.groups[group].cycles[rows[group]]
            slow[group] = rows[group][cycles * factor >= cycles.max()]
        slow = joinable(problem.couplings, slow)
        few = factor == ABOUT_AS_SLOW[0] or sum(some.size for some in slow) <= MOST_BALANCED
        if few and all(some.size for some in slow):
            search = _Search(problem, restricted_to(problem, slow))
            if isinstance(search.run(prove=True, branch=False), FoldingSolution):
                return search
    return None


def _shortest_resource(knapsack: Knapsack) -> FoldingInfeasible:
    """Name the first resource whose least possible sum exceeds the budget, if there is one."""
    prices = np.eye(len(RESOURCE_NAMES), dtype=np.int64)
    needs, _ = knapsack.pricing.least(knapsack.pricing.row_prices(prices), prices)
    for name, need, limit in zip(RESOURCE_NAMES, needs.tolist(), knapsack.budget.tolist(), strict=True):
        if limit < need < FORBIDDEN:
            return FoldingInfeasible(name, need, limit)
    return FoldingInfeasible(None)
