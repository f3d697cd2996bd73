"""The Lagrangian bound of a folding: a price on each resource instead of its limit.

With prices p >= 0 on the five resources, the least of  scarcity(x) + p (use(x) - budget)  over all foldings x is a
lower bound on the scarcity of every folding within the budget, and `elimination` finds it exactly. The best prices
are sought by cutting planes; every folding met on the way that keeps the budget is a candidate answer. Prices are
integers, so that bounds are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from floorflow.folding.candidates import Candidates, Pair
from floorflow.folding.elimination import Elimination, elimination

Array = NDArray[np.int64]

FINENESS = 1024
"""Steps of a price for each unit of scarcity's own weights."""
STEPS = 60
"""Prices tried at most."""
CLOSE = 1e-6
"""Relative distance of the bound to the best bound possible at which the search for prices ends."""


@dataclass(frozen=True)
class Relaxed:
    """What the relaxation found: ``bound`` on the cost, ``picks`` and ``cost`` of the best folding within the budget.

    ``infeasible``: proof that there is none. ``prices`` are those of the bound, in units of cost / FINENESS; ``met``
    are all choices that were best at some prices.
    """

    bound: int
    infeasible: bool
    picks: tuple[int, ...] | None
    cost: int
    prices: Array
    met: tuple[tuple[int, ...], ...]
    plan: Elimination


@dataclass
class _Master:
    """The cutting-plane model: the highest bound that the foldings met so far allow, and the prices for it."""

    budget: Array
    cutoff: float
    costs: list[float] = field(default_factory=list)
    excess: list[NDArray[np.float64]] = field(default_factory=list)

    def add(self, cost: float, use: Array) -> None:
        self.costs.append(cost)
        self.excess.append((use - self.budget) / np.maximum(self.budget, 1))

    def solve(self) -> tuple[float, NDArray[np.float64]]:
        """Return the bound and the prices (a budget's worth of each resource, as cost)."""
        solver = pywraplp.Solver.CreateSolver("CLP")
        bound = solver.NumVar(-solver.infinity(), 1.0, "")
        prices = [solver.NumVar(0.0, 1e4, "") for _ in self.budget]
        for cost, excess in zip(self.costs, self.excess, strict=True):
            row = solver.Constraint(-solver.infinity(), cost / self.cutoff)
            row.SetCoefficient(bound, 1.0)
            for price, much in zip(prices, excess, strict=True):
                row.SetCoefficient(price, -float(much))
        solver.Maximize(bound)
        solver.Solve()
        return bound.solution_value() * self.cutoff, np.array([p.solution_value() for p in prices]) * self.cutoff


def relax(choices: Candidates, weights: Array, budget: Array, *, first: bool = False) -> Relaxed:
    """Bound the least cost (use @ weights) under the budget and look for foldings within it.

    ``first`` ends the search with the first such folding.
    """
    return _Search(choices, weights, budget).run(first=first)


class _Search:
    """One search for prices."""

    def __init__(self, choices: Candidates, weights: Array, budget: Array) -> None:
        self.choices, self.weights, self.budget = choices, weights, budget
        self.plan = elimination([rows.size for rows in choices.rows], choices.pairs)
        # No folding within the budget costs more than the budget itself.
        self.dearest = int(weights @ budget)
        self.bound, self.prices = -1, np.zeros(5, dtype=np.int64)
        self.best: tuple[int, ...] | None = None
        self.met: dict[tuple[int, ...], None] = {}
        self.cost = self.dearest + 1

    def run(self, *, first: bool) -> Relaxed:
        master = _Master(self.budget, max(1.0, float(self.dearest)) * 1.05)
        prices = np.zeros(5)
        for _ in range(STEPS):
            self._try(np.rint(prices / np.maximum(self.budget, 1) * FINENESS).astype(np.int64), master)
            if self.bound > self.dearest or (first and self.best is not None) or self.bound >= self.cost:
                break
            ceiling, wanted = master.solve()
            if ceiling - self.bound <= CLOSE * max(1.0, abs(ceiling)):
                break
            # Halfway between the best prices and the model's: the model alone swings from corner to corner.
            best = self.prices * np.maximum(self.budget, 1) / FINENESS
            prices = (best + wanted) / 2 if len(master.costs) > 1 else wanted
        infeasible = self.bound > self.dearest
        return Relaxed(self.bound, infeasible, self.best, self.cost, self.prices, tuple(self.met), self.plan)

    def _try(self, prices: Array, master: _Master) -> None:
        nodes, edges = priced(self.choices, self.weights, prices)
        least, picks = self.plan.least(nodes, edges)
        bound = -((int(prices @ self.budget) - least) // FINENESS)
        if bound > self.bound:
            self.bound, self.prices = bound, prices
        self.met[picks] = None
        use = self.choices.total(picks)
        cost = int(use @ self.weights)
        # With cut edges the answer's true cost is above the sum that bounds it; the cut must hold the sum.
        slack = (least - FINENESS * cost - int(prices @ use)) / FINENESS
        master.add(cost + min(0.0, slack), use)
        if (use <= self.budget).all() and cost < self.cost:
            self.best, self.cost = picks, cost


def priced(choices: Candidates, weights: Array, prices: Array) -> tuple[list[Array], dict[Pair, Array]]:
    """Return what each row and each pair of rows costs at the prices, in cost / FINENESS."""
    both = FINENESS * weights + prices
    return [use @ both for use in choices.use], {pair: use @ both for pair, use in choices.pairs.items()}


def within(
    choices: Candidates, weights: Array, budget: Array, relaxed: Relaxed, cost: int
) -> Sequence[NDArray[np.bool_]]:
    """Mark the rows that a folding of at most ``cost`` may use, by the relaxation's prices."""
    nodes, edges = priced(choices, weights, relaxed.prices)
    limit = FINENESS * cost + int(relaxed.prices @ budget)
    return [margin <= limit for margin in relaxed.plan.margins(nodes, edges)]
