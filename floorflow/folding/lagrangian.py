"""The Lagrangian bound of a folding: a price on each resource instead of its limit.

With prices p >= 0 on the five resources, the least of  cost(x) + p (use(x) - budget)  over all foldings x is a lower
bound on the cost of every folding within the budget, and `pricing` finds it exactly. The best prices are sought by
cutting planes; every folding met on the way that keeps the budget is a candidate answer. Prices are integers, so that
bounds are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.cutting_planes import Cut, CuttingPlanes
from floorflow.folding.pricing import Mask, Pricing
from floorflow.folding.variable_elimination import FORBIDDEN

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

FINENESS = 1024
"""Steps of a price for each unit of cost's own weights."""
STEPS = 60
"""Prices tried at most."""
CLOSE = 1e-6
"""Relative distance of the bound to the best bound possible at which the search for prices ends."""
MOST_SUM = FORBIDDEN >> 4
"""What the priced use of one resource may sum to, so that sums stay below FORBIDDEN."""


@dataclass(frozen=True)
class Terms:
    """What is asked: the cost of a unit of each resource, the budget, and the choices, whose rows stand in one line."""

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

    def whole(self, prices: Floats) -> Array:
        """Turn the prices of whole budgets, in units of cost, into integers a unit of each resource."""
        each = np.rint(prices / np.maximum(self.budget, 1) * FINENESS)
        return self.allowed(np.minimum(each, MOST_SUM).astype(np.int64))

    def allowed(self, prices: Array) -> Array:
        """Return the prices, none below 0 nor so high that sums would overflow."""
        return np.clip(prices, 0, MOST_SUM // np.maximum(self.pricing.most_use, 1))

    def budgets(self, prices: Array) -> Floats:
        """Turn them back."""
        return np.asarray(prices * np.maximum(self.budget, 1) / FINENESS)

    def cut(self, selection: Array) -> Cut:
        """Return what one choice says of the bound."""
        use = self.pricing.total(selection)
        return Cut(selection, float(use @ self.weights), (use - self.budget) / np.maximum(self.budget, 1))


@dataclass(frozen=True)
class Relaxed:
    """What the relaxation found: ``bound`` on the cost; ``selection`` and ``cost`` of the best folding within budget.

    ``infeasible``: proof that there is none. ``prices`` are those of the bound, in units of cost / FINENESS; ``met``
    are all choices that were best at some prices, the last one last.
    """

    bound: int
    infeasible: bool
    selection: Array | None
    cost: int
    prices: Array
    met: tuple[Cut, ...]


def relax(terms: Terms, start: Array | None = None, *, first: bool = False) -> Relaxed:
    """Bound the least cost under the budget and look for foldings within it.

    ``start`` are the prices to try first, none if not given; ``first`` ends the search with the first such folding.
    """
    return _Search(terms).run(np.zeros(5, dtype=np.int64) if start is None else terms.allowed(start), first=first)


def within(terms: Terms, prices: Array, cost: int) -> Mask:
    """Mark the rows that a folding of at most ``cost`` may use, by these prices."""
    both = (FINENESS * terms.weights + prices)[None]
    limit = FINENESS * cost + int(prices @ terms.budget)
    return np.asarray(terms.pricing.margins(terms.pricing.row_prices(both), both)[0] <= limit)


class _Search:
    """One search for prices."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.bound, self.prices = -1, np.zeros(5, dtype=np.int64)
        self.best: Array | None = None
        self.cost = terms.dearest + 1
        self.met: dict[bytes, Cut] = {}
        self.planes = CuttingPlanes(5, terms.most_bound)

    def run(self, trial: Array, *, first: bool) -> Relaxed:
        if first and trial.any():
            # So that there is a bound worth the name even if these prices lead to a folding at once.
            self._try(np.zeros_like(trial))
        for step in range(STEPS):
            self._try(trial)
            if self.bound > self.terms.dearest or (first and self.best is not None) or self.bound >= self.cost:
                break
            top = self.planes.ceiling()
            if top.bound - self.bound <= CLOSE * max(1.0, abs(top.bound)):
                break
            # Halfway between the best prices and the model's: the model alone swings from corner to corner.
            far = step == 0 and not trial.any()
            trial = self.terms.whole(top.prices if far else (self.terms.budgets(self.prices) + top.prices) / 2)
        infeasible = self.bound > self.terms.dearest
        return Relaxed(self.bound, infeasible, self.best, self.cost, self.prices, tuple(self.met.values()))

    def _try(self, prices: Array) -> None:
        terms = self.terms
        both = (FINENESS * terms.weights + prices)[None]
        totals, choices = terms.pricing.least(terms.pricing.row_prices(both), both)
        least, selection = int(totals[0]), choices[0]
        bound = -((int(prices @ terms.budget) - least) // FINENESS)
        if least >= FORBIDDEN:
            bound = terms.dearest + 1
        if bound > self.bound:
            self.bound, self.prices = bound, prices
        cut = terms.cut(selection)
        self.met[selection.tobytes()] = cut
        # With cut edges the answer's true cost is above the sum that bounds it; the cut must hold the sum.
        slack = (least - FINENESS * int(cut.cost) - int(prices @ terms.pricing.total(selection))) / FINENESS
        self.planes.add(Cut(selection, cut.cost + min(0.0, slack), cut.excess))
        if cut.keeps_limits and cut.cost < self.cost and least < FORBIDDEN:
            self.best, self.cost = selection, int(cut.cost)
