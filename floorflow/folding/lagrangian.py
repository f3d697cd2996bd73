"""The Lagrangian bound of a folding: a price on each resource instead of its limit.

With prices p >= 0 on the five resources, the least of  cost(x) + p (use(x) - budget)  over all foldings x is a lower
bound on the cost of every folding within the budget, and `pricing` finds it exactly. The best prices are sought by
cutting planes, the highest bound that the selections met so far allow: a small linear programme. Every folding met on
the way that keeps the budget is a candidate answer. Prices are integers, so that bounds are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from floorflow.folding.pricing import Mask, Pricing
from floorflow.folding.variable_elimination import FORBIDDEN
from floorflow.solver import linear_solver
from floorflow.stats import count

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

PLANES_S = 1e-4
"""Work of a solve."""
DEAREST = 1e3
"""All of a limit is never priced higher than so many times the highest cost of interest."""


@dataclass(frozen=True)
class Cut:
    """A selection met: no bound is above ``cost`` + prices @ ``excess``, which is in units of each limit's ``size``."""

    selection: Array
    cost: float
    excess: Floats

    @property
    def keeps_limits(self) -> bool:
        """Whether the selection exceeds none."""
        return bool((self.excess <= 0).all())


@dataclass(frozen=True)
class Ceiling:
    """The highest ``bound`` under all cuts, the prices of each whole limit there, and the weights of the cuts.

    Weights that sum to 1 blend the cuts to the relaxation's fractional answer; a smaller sum means that the prices, and
    with them the bound, could rise without end.
    """

    bound: float
    prices: Floats
    weights: Floats


class CuttingPlanes:
    """The programme, which grows by a row a cut and is solved from where it was."""

    def __init__(self, limits: int, most: float, cuts: Sequence[Cut] = ()) -> None:
        """Start with a price for each of so many limits; no bound above ``most`` is of interest."""
        self.most = most
        self.solver = linear_solver()
        self.bound = self.solver.NumVar(-self.solver.infinity(), 1.0, "")
        self.prices = [self.solver.NumVar(0.0, DEAREST, "") for _ in range(limits)]
        self.rows: list[pywraplp.Constraint] = []
        self.solver.Maximize(self.bound)
        for cut in cuts:
            self.add(cut)

    def add(self, cut: Cut) -> None:
        """Take one more cut into account."""
        row = self.solver.Constraint(-self.solver.infinity(), cut.cost / self.most)
        row.SetCoefficient(self.bound, 1.0)
        for price, much in zip(self.prices, cut.excess.tolist(), strict=True):
            if much:
                row.SetCoefficient(price, -much)
        self.rows.append(row)

    def ceiling(self) -> Ceiling:
        """Return the highest bound and its prices; a bound of minus infinity if the solver fails."""
        count(PLANES_S)
        if self.solver.Solve() != pywraplp.Solver.OPTIMAL:
            return Ceiling(-np.inf, np.zeros(len(self.prices)), np.zeros(len(self.rows)))
        return Ceiling(
            self.bound.solution_value() * self.most,
            np.array([price.solution_value() for price in self.prices]) * self.most,
            np.array([row.dual_value() for row in self.rows]),
        )


FINENESS = 1024
"""Steps of a price for each unit of cost's own weights."""
STEPS = 60
"""Prices tried at most."""
CLOSE = 1e-6
"""Relative distance of the bound to the best bound possible at which the search for prices ends."""
MOST_SUM = FORBIDDEN >> 4
"""What the priced use of one resource may sum to, so that sums stay below FORBIDDEN."""


@dataclass(frozen=True)
class Knapsack:
    """A multiple-choice knapsack: the cost of a unit of each resource, the budget, and the rows, in one line."""

    pricing: Pricing
    weights: Array
    budget: Array

    @property
    def dearest(self) -> int:
        """The cost of the whole budget: no folding within it costs more."""
        return int(np.dot(self.weights, self.budget))

    @property
    def most_bound(self) -> float:
        """A bound that is above every cost of interest."""
        return max(1.0, float(self.dearest)) * 1.05

    def unit_prices(self, prices: Floats) -> Array:
        """Turn the prices of whole budgets, in units of cost, into integers a unit of each resource."""
        each = np.rint(prices / np.maximum(self.budget, 1) * FINENESS)
        return self.clipped(np.minimum(each, MOST_SUM).astype(np.int64))

    def clipped(self, prices: Array) -> Array:
        """Return the prices, none below 0 nor so high that sums would overflow."""
        return np.clip(prices, 0, MOST_SUM // np.maximum(self.pricing.most_use, 1))

    def budget_prices(self, prices: Array) -> Floats:
        """Turn integers a unit of each resource back into the prices of whole budgets."""
        return np.asarray(prices * np.maximum(self.budget, 1) / FINENESS)

    def cut(self, selection: Array) -> Cut:
        """Return what one selection says of the bound."""
        use = self.pricing.total(selection)
        return Cut(selection, float(use @ self.weights), (use - self.budget) / np.maximum(self.budget, 1))


@dataclass(frozen=True)
class LagrangianBound:
    """The ``bound`` on the cost, and ``selection`` and ``cost`` of the best folding met within the budget.

    ``infeasible``: proof that there is none. ``prices`` are those of the bound, in units of cost / FINENESS; ``cuts``
    are of all selections that were best at some prices, the last one last.
    """

    bound: int
    infeasible: bool
    selection: Array | None
    cost: int
    prices: Array
    cuts: tuple[Cut, ...]


def lagrangian_bound(knapsack: Knapsack, start: Array | None = None, *, first: bool = False) -> LagrangianBound:
    """Bound the least cost under the budget and look for foldings within it.

    ``start`` are the prices to try first, none if not given; ``first`` ends the search with the first such folding.
    """
    return _Search(knapsack).run(np.zeros(5, dtype=np.int64) if start is None else knapsack.clipped(start), first=first)


def rows_within_cost(knapsack: Knapsack, prices: Array, cost: int) -> Mask:
    """Mark the rows that a folding of at most ``cost`` may use, by these prices."""
    both = (FINENESS * knapsack.weights + prices)[None]
    limit = FINENESS * cost + int(prices @ knapsack.budget)
    return np.asarray(knapsack.pricing.min_marginals(knapsack.pricing.row_prices(both), both)[0] <= limit)


class _Search:
    """One search for prices."""

    def __init__(self, knapsack: Knapsack) -> None:
        self.knapsack = knapsack
        self.bound, self.prices = -1, np.zeros(5, dtype=np.int64)
        self.best: Array | None = None
        self.cost = knapsack.dearest + 1
        self.cuts: dict[bytes, Cut] = {}
        self.planes = CuttingPlanes(5, knapsack.most_bound)

    def run(self, trial: Array, *, first: bool) -> LagrangianBound:
        if first and trial.any():
            # So that there is a bound worth the name even if these prices lead to a folding at once.
            self._try(np.zeros_like(trial))
        for step in range(STEPS):
            self._try(trial)
            if self.bound > self.knapsack.dearest or (first and self.best is not None) or self.bound >= self.cost:
                break
            top = self.planes.ceiling()
            if top.bound - self.bound <= CLOSE * max(1.0, abs(top.bound)):
                break
            # Halfway between the best prices and the model's: the model alone swings from corner to corner.
            far = step == 0 and not trial.any()
            trial = self.knapsack.unit_prices(
                top.prices if far else (self.knapsack.budget_prices(self.prices) + top.prices) / 2
            )
        infeasible = self.bound > self.knapsack.dearest
        return LagrangianBound(self.bound, infeasible, self.best, self.cost, self.prices, tuple(self.cuts.values()))

    def _try(self, prices: Array) -> None:
        knapsack = self.knapsack
        both = (FINENESS * knapsack.weights + prices)[None]
        totals, selections = knapsack.pricing.least(knapsack.pricing.row_prices(both), both)
        least, selection = int(totals[0]), selections[0]
        bound = -((int(prices @ knapsack.budget) - least) // FINENESS)
        if least >= FORBIDDEN:
            bound = knapsack.dearest + 1
        if bound > self.bound:
            self.bound, self.prices = bound, prices
        cut = knapsack.cut(selection)
        self.cuts[selection.tobytes()] = cut
        # With cut edges the answer's true cost is above the sum that bounds it; the cut must hold the sum.
        slack = (least - FINENESS * int(cut.cost) - int(prices @ knapsack.pricing.total(selection))) / FINENESS
        self.planes.add(Cut(selection, cut.cost + min(0.0, slack), cut.excess))
        if cut.keeps_limits and cut.cost < self.cost and least < FORBIDDEN:
            self.best, self.cost = selection, int(cut.cost)
