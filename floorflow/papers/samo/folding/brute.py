"""Brute force: every combination of rows. What all other methods are measured against, where it can be had."""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown, TooMany
from floorflow.folding.selection import Evaluator

Array = NDArray[np.int64]

MOST_COMBINATIONS = 10**6
"""More are not tried."""
_CHUNK = 1 << 15


def combinations(problem: FoldingProblem, interval_cycles: int | None = None) -> int:
    """Return how many selections of rows there are within an interval, whatever they use."""
    return prod(rows.size for rows in problem.rows_within(_longest(problem, interval_cycles)))


def solve(
    problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0
) -> FoldingSolution | FoldingInfeasible | FoldingUnknown:
    """Return the least scarce folding within an interval; without one, the shortest interval's least scarce.

    Of equals the first in the order of rows. Gives up at once on more than `MOST_COMBINATIONS`. ``seed`` is not used.
    """
    del seed
    rows = problem.rows_within(_longest(problem, interval_cycles))
    count = prod(part.size for part in rows)
    if count > MOST_COMBINATIONS:
        reason = f"{count:.1e} combinations are more than {MOST_COMBINATIONS:.0e}, which brute tries"
        return TooMany(reason, count, MOST_COMBINATIONS)
    search = _Search(problem, rows, shortest=interval_cycles is None)
    for first in range(0, count, _CHUNK):
        search.try_all(np.arange(first, min(first + _CHUNK, count)))
    return search.answer()


def _longest(problem: FoldingProblem, interval_cycles: int | None) -> int:
    return problem.intervals()[-1] if interval_cycles is None else interval_cycles


class _Search:
    """The best combination so far: by interval if it shall be the shortest, then by cost."""

    def __init__(self, problem: FoldingProblem, rows: Sequence[Array], *, shortest: bool) -> None:
        self.evaluator, self.rows, self.shortest = Evaluator(problem), rows, shortest
        self.best: tuple[int, int] | None = None
        self.selection: list[int] = []

    def try_all(self, numbers: Array) -> None:
        """Try the combinations of these numbers, the last group's row changing fastest."""
        indices = np.unravel_index(numbers, [part.size for part in self.rows])
        selection = [part[index] for part, index in zip(self.rows, indices, strict=True)]
        groups = self.evaluator.problem.groups
        use = np.sum([alone[row] for alone, row in zip(self.evaluator.alone, selection, strict=True)], axis=0)
        for c in self.evaluator.between_groups:
            use = use + c.use[c.source_class[selection[c.source]], c.target_class[selection[c.target]]]
        cycles = np.max([group.cycles[row] for group, row in zip(groups, selection, strict=True)], axis=0)
        legal = np.flatnonzero((use <= self.evaluator.budget).all(axis=1))
        if not legal.size:
            return
        interval, cost = cycles[legal] if self.shortest else np.zeros_like(legal), self.evaluator.cost(use[legal])
        first = np.lexsort((legal, cost, interval))[0]
        merit = int(interval[first]), int(cost[first])
        if self.best is None or merit < self.best:
            self.best, self.selection = merit, [int(row[legal[first]]) for row in selection]

    def answer(self) -> FoldingSolution | FoldingInfeasible:
        if self.best is None:
            return FoldingInfeasible(None)
        return self.evaluator.solution(self.selection, "brute", "optimal", self.best[1])
