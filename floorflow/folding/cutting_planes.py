"""The highest Lagrangian bound that the selections met so far allow, and its prices: a small linear programme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

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
