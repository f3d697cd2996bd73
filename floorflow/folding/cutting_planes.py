"""The highest Lagrangian bound that the choices met so far allow, and the prices for it: a small linear programme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

DEAREST = 1e3
"""All of a limit is never priced higher than so many times the highest cost of interest."""


@dataclass(frozen=True)
class Cut:
    """A choice met: no bound is above ``cost`` + prices @ ``excess``, which is in units of each limit's ``size``."""

    picks: Array
    cost: float
    excess: Floats

    @property
    def keeps_limits(self) -> bool:
        """Whether the choice exceeds none."""
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


def ceiling(cuts: Sequence[Cut], most: float) -> Ceiling:
    """Return the highest bound, at most ``most``, and its prices."""
    solver = pywraplp.Solver.CreateSolver("CLP")
    bound = solver.NumVar(-solver.infinity(), 1.0, "")
    prices = [solver.NumVar(0.0, DEAREST, "") for _ in cuts[0].excess]
    rows = []
    for cut in cuts:
        row = solver.Constraint(-solver.infinity(), cut.cost / most)
        row.SetCoefficient(bound, 1.0)
        for price, much in zip(prices, cut.excess.tolist(), strict=True):
            if much:
                row.SetCoefficient(price, -much)
        rows.append(row)
    solver.Maximize(bound)
    solver.Solve()
    return Ceiling(
        bound.solution_value() * most,
        np.array([price.solution_value() for price in prices]) * most,
        np.array([row.dual_value() for row in rows]),
    )
