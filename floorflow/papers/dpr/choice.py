"""One option of each layer of an interval: the least total cycles within limits on resources, by CP-SAT.

A multiple-choice knapsack. Options that cannot fit beside the least of the other layers are dropped first.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from floorflow.papers.dpr.problem import Ints
from floorflow.solver import run_cpsat

WORK_LIMIT = 8.0
"""CP-SAT's units of work for one choice; the hardest of a network of 18 engines took 0.2."""
AREA_STEPS = 1_000_000
"""Of a whole resource: how finely areas of equal costs are told apart."""
LARGEST = 2**60


@dataclass(frozen=True, eq=False)
class Options:
    """The options of an interval's layers, one after another: ``start`` is where each layer's begin."""

    cost: Ints
    """(n,), what is minimised."""
    use: Ints
    """(n, n_resources)."""
    number: Ints
    """(n,), the row in the layer's own table."""
    start: Ints

    @property
    def layer(self) -> Ints:
        """The layer of each option."""
        return np.repeat(np.arange(len(self.start)), np.diff(np.append(self.start, len(self.cost))))

    def kept(self, keep: NDArray[np.bool_]) -> "Options | None":
        """Return the options that are marked; None if a layer has none left."""
        counts = np.add.reduceat(keep, self.start)
        if not counts.all():
            return None
        start = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        return Options(self.cost[keep], self.use[keep], self.number[keep], start)


@dataclass(frozen=True)
class Choice:
    """The total cost, its resources and the option of each layer by its number."""

    cost: int
    use: tuple[int, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class BoundedChoice:
    """A choice, if one was found, and the proven bound of its cost: infinite where it is proven that there is none."""

    choice: Choice | None
    bound: float


NOTHING = BoundedChoice(None, inf)


def fits_alone(options: Options, limits: Ints) -> Options | None:
    """Return the options that fit beside the least that the other layers need of each resource; None: proven unfit."""
    while True:
        least = np.minimum.reduceat(options.use, options.start, axis=0)
        room = limits - least.sum(axis=0)
        if (room < 0).any():
            return None
        keep = (options.use - least[options.layer] <= room).all(axis=1)
        if keep.all():
            return options
        left = options.kept(keep)
        if left is None:
            return None
        options = left


def fitting(options: Options, limits: Ints) -> BoundedChoice:
    """Return some choice within the limits, whatever its cost; without one an infinite bound is the proof."""
    left = fits_alone(options, limits)
    if left is None:
        return NOTHING
    return _Model(left, limits).answer(proven=0.0)


def cheapest(options: Options, limits: Ints, most: float, area: Ints, *, enough: int = 0) -> BoundedChoice:
    """Return the least cost within the limits, if it is at most ``most``; of equal ones that of least area.

    ``area``, (n_resources,), is what the device has: the area of a choice is the sum of its shares of them. Costs up
    to ``enough`` count as equal.
    """
    left = fits_alone(options, limits)
    if left is None:
        return NOTHING
    dearest = int(np.maximum.reduceat(left.cost, left.start).sum())
    if min(most, dearest) < int(np.minimum.reduceat(left.cost, left.start).sum()):
        return NOTHING
    model = _Model(left, limits)
    model.minimise(int(min(most, dearest)), enough, area)
    return model.answer()


class _Model:
    """A choice within limits as CP-SAT takes it."""

    def __init__(self, options: Options, limits: Ints) -> None:
        self.options, self.model = options, cp_model.CpModel()
        self.taken = [self.model.new_bool_var("") for _ in range(len(options.cost))]
        for first, behind in zip(options.start, np.append(options.start[1:], len(options.cost)), strict=True):
            self.model.add_exactly_one(self.taken[first:behind])
        most = np.maximum.reduceat(options.use, options.start, axis=0).sum(axis=0)
        for column in np.flatnonzero(most > limits).tolist():
            self.model.add(self._sum(options.use[:, column]) <= int(limits[column]))
        self.cost_step = 1

    def _sum(self, amounts: Ints) -> cp_model.LinearExpr:
        return cp_model.LinearExpr.weighted_sum(self.taken, amounts.tolist())

    def minimise(self, most: int, enough: int, area: Ints) -> None:
        """Minimise the cost, of which all up to ``enough`` count as equal, then the area."""
        cost = self.model.new_int_var(min(enough, most), most, "")
        self.model.add(cost >= self._sum(self.options.cost))
        shares = (self.options.use / np.maximum(area, 1)).sum(axis=1)
        largest = float(np.maximum.reduceat(shares, self.options.start).sum())
        steps = min(AREA_STEPS, LARGEST // int((largest + 1) * (most + 1)) - 1)
        in_steps = np.rint(shares * steps).astype(np.int64)
        self.cost_step = int(np.maximum.reduceat(in_steps, self.options.start).sum()) + 1
        self.model.minimize(self.cost_step * cost + self._sum(in_steps))

    def answer(self, proven: float | None = None) -> BoundedChoice:
        """Return what CP-SAT finds, and its bound of the cost unless another is ``proven``."""
        status, solver = run_cpsat(self.model, seed=0, deterministic_limit=WORK_LIMIT)
        if status == cp_model.INFEASIBLE:
            return NOTHING
        bound = max(0, int(np.floor(solver.best_objective_bound))) // self.cost_step if proven is None else proven
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return BoundedChoice(None, bound)
        at = np.array([number for number, one in enumerate(self.taken) if solver.boolean_value(one)], dtype=np.int64)
        options, cost = self.options, int(self.options.cost[at].sum())
        use = tuple(int(amount) for amount in options.use[at].sum(axis=0))
        return BoundedChoice(Choice(cost, use, tuple(int(number) for number in options.number[at])), bound)
