"""Simulated annealing as SAMO has it: change one engine at random; accept what is worse ever less often.

Source: Montgomerie-Corcoran et al., SAMO (2022), the published schedule: the temperature falls by 2% a step over three
decades. It is scaled to the cost, which the paper leaves to the user, and the best state seen is the answer, not
the last. A change is carried on to neighbours that must match it.
"""

import math
import random

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.folding.selection import Evaluator
from floorflow.papers.samo.matching import matched

Array = NDArray[np.int64]

COOLING = 0.98
DECADES = 3
"""Orders of magnitude from the first temperature to the last."""
HOTTEST = 0.1
"""First temperature, as a share of the start's energy."""
LEAST_MOVES = 10
"""Moves a step; as many as there are groups if those are more."""
SCARCITY_SHARE = 1e-3
"""Weight of scarcity beside the logarithm of the interval, where the shortest is sought."""
EXCESS_WEIGHT = 10.0
"""Energy of one whole budget too much, in energies of the start."""


def solve(
    problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0
) -> FoldingSolution | FoldingInfeasible | FoldingUnknown:
    """Anneal the scarcity within an interval; without one, the interval, and the scarcity at it.

    Proves nothing, except that a group has no row that is fast enough.
    """
    rows = problem.rows_within(problem.intervals()[-1] if interval_cycles is None else interval_cycles)
    if not all(part.size for part in rows):
        return FoldingInfeasible(None)
    walk = _Walk(Evaluator(problem), rows, random.Random(seed), shortest=interval_cycles is None)
    steps = math.ceil(DECADES * math.log(10) / -math.log(COOLING))
    moves = max(LEAST_MOVES, len(rows))
    temperature = HOTTEST
    for _ in range(steps):
        for _ in range(moves):
            walk.move(temperature)
        temperature *= COOLING
    if walk.best is None:
        return FoldingUnknown()
    return walk.evaluator.solution(walk.best_selection, "annealing", "heuristic")


class _Walk:
    """A random walk over selections; energies are in units of the start's."""

    def __init__(
        self, evaluator: Evaluator, rows: list[Array], random_numbers: random.Random, *, shortest: bool
    ) -> None:
        self.evaluator, self.rows, self.random, self.shortest = evaluator, rows, random_numbers, shortest
        self.selection = [
            int(part[np.lexsort((part, evaluator.cost(alone[part]), -group.cycles[part]))[0]])
            for group, part, alone in zip(evaluator.problem.groups, rows, evaluator.alone, strict=True)
        ]
        self.weights = evaluator.problem.cost_weights()[0].astype(float)
        self.per_budget = 1 / np.maximum(evaluator.budget, 1)
        self.cycles = evaluator.cycles(self.selection)
        self.use = evaluator.use(self.selection)
        self.unit = max(1.0, self._cost(self.use))
        self.slowest = max(self.cycles)
        self.energy = self._energy(self.use, self.slowest)
        self.best: tuple[float, float] | None = None
        self.best_selection: list[int] = []
        self._remember()

    def move(self, temperature: float) -> None:
        """Change one group to another row, or stay."""
        group = self.random.randrange(len(self.rows))
        row = int(self.random.choice(self.rows[group]))
        old = self.selection[group]
        if row == old:
            return
        pair = self.evaluator.around(group, np.array([old, row]), self.selection)
        use = self.use - pair[0] + pair[1]
        cycles = int(self.evaluator.problem.groups[group].cycles[row])
        slowest = max(cycles, *(c for g, c in enumerate(self.cycles) if g != group), 0)
        new = [*self.selection[:group], row, *self.selection[group + 1 :]]
        if (pair[1] >= UNBUILDABLE).any() and not (pair[0] >= UNBUILDABLE).any():
            carried = matched(self.evaluator, self.rows, self.selection, group, row)
            if carried is None:
                return
            new, use = carried, self.evaluator.use(carried)
            slowest = max(self.evaluator.cycles(new))
        energy = self._energy(use, slowest)
        worse = energy - self.energy
        if worse > 0 and self.random.random() >= math.exp(-worse / temperature):
            return
        self.selection, self.cycles = new, self.evaluator.cycles(new)
        self.use, self.energy = use, energy
        self._remember()

    def _cost(self, use: Array) -> float:
        return float(use @ self.weights)

    def _energy(self, use: Array, slowest: int) -> float:
        excess = float((np.maximum(use - self.evaluator.budget, 0) * self.per_budget).sum())
        scarcity = self._cost(use) / self.unit
        aim = math.log(slowest / self.slowest) + SCARCITY_SHARE * scarcity if self.shortest else scarcity
        return aim + EXCESS_WEIGHT * excess

    def _remember(self) -> None:
        """Keep the selection if it is within the budget and the best so far."""
        if (self.use > self.evaluator.budget).any():
            return
        merit = (float(max(self.cycles)) if self.shortest else 0.0, self._cost(self.use))
        if self.best is None or merit < self.best:
            self.best, self.best_selection = merit, list(self.selection)
