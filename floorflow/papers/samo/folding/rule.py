"""The rule of SAMO: start unfolded, then widen the slowest engine again and again, by the least resources.

Source: Montgomerie-Corcoran et al., SAMO (2022), the rule-based optimiser, for one partition. Two changes: what is
least is the scarcity, converters and FIFOs of the neighbours included, and a start that exceeds the budget (a memory
too deep, ports that cannot be joined) is repaired first instead of giving up. As there, a change is carried on to
neighbours that must match it.
"""

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown
from floorflow.folding.selection import Evaluator
from floorflow.papers.samo.matching import matched

Array = NDArray[np.int64]

REPAIR_ROUNDS = 8
"""Times that every group may be changed to bring a start under the budget."""


def solve(
    problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0
) -> FoldingSolution | FoldingInfeasible | FoldingUnknown:
    """Widen the slowest engine until the interval is reached; without one, until nothing more fits.

    Proves nothing, except that a group has no row that is fast enough. ``seed`` is not used.
    """
    del seed
    longest = problem.intervals()[-1]
    target = 0 if interval_cycles is None else interval_cycles
    if interval_cycles is not None and not all(rows.size for rows in problem.rows_within(interval_cycles)):
        return FoldingInfeasible(None)
    climb = _Climb(Evaluator(problem), problem.rows_within(longest))
    if not all(rows.size for rows in climb.rows):
        return FoldingInfeasible(None)
    climb.start()
    if not climb.repair():
        return FoldingUnknown()
    while max(climb.cycles) > target and climb.widen():
        pass
    if interval_cycles is not None and max(climb.cycles) > interval_cycles:
        return FoldingUnknown()
    return climb.evaluator.solution(climb.selection, "rule", "heuristic")


class _Climb:
    """One climb from the narrowest folding."""

    def __init__(self, evaluator: Evaluator, rows: list[Array]) -> None:
        self.evaluator, self.rows = evaluator, rows
        self.selection: list[int] = []
        self.cycles: list[int] = []

    def start(self) -> None:
        """Take each group's slowest row, the least scarce of equals."""
        for group, rows, alone in zip(self.evaluator.problem.groups, self.rows, self.evaluator.alone, strict=True):
            order = np.lexsort((rows, self.evaluator.cost(alone[rows]), -group.cycles[rows]))
            self.selection.append(int(rows[order[0]]))
        self.cycles = self.evaluator.cycles(self.selection)
        self.use = self.evaluator.use(self.selection)

    def repair(self) -> bool:
        """Change rows, group by group, while that brings the selection closer to the budget; say whether it is met."""
        for _ in range(REPAIR_ROUNDS):
            before = float(self.evaluator.excess(self.use))
            for group, rows in enumerate(self.rows):
                if not (self.use > self.evaluator.budget).any():
                    return True
                after = self._after(group, rows)
                order = np.lexsort((rows, self.evaluator.cost(after), self.evaluator.excess(after)))
                self._set(group, int(rows[order[0]]))
            if float(self.evaluator.excess(self.use)) >= before:
                break
        return not (self.use > self.evaluator.budget).any()

    def widen(self) -> bool:
        """Give the slowest group the row that is faster by the least resources; say whether one fits."""
        slowest = int(np.argmax(self.cycles))
        rows = self.rows[slowest]
        faster = rows[self.evaluator.problem.groups[slowest].cycles[rows] < self.cycles[slowest]]
        after = self._after(slowest, faster)
        fits = (after <= self.evaluator.budget).all(axis=1)
        if not fits.any():
            return self._widen_with_neighbours(slowest, faster)
        rows, after = faster[fits], after[fits]
        self._set(slowest, int(rows[np.lexsort((rows, self.evaluator.cost(after)))[0]]))
        return True

    def _widen_with_neighbours(self, slowest: int, faster: Array) -> bool:
        """Do so where streams need equal foldings: those around it change with it, none as slow as it was."""
        rows = [
            rows[group.cycles[rows] < self.cycles[slowest]]
            for group, rows in zip(self.evaluator.problem.groups, self.rows, strict=True)
        ]
        found = [matched(self.evaluator, rows, self.selection, slowest, int(row)) for row in faster]
        uses = [(self.evaluator.use(each), each) for each in found if each is not None]
        fitting = [(int(self.evaluator.cost(use)), each) for use, each in uses if (use <= self.evaluator.budget).all()]
        if not fitting:
            return False
        self.selection = min(fitting)[1]
        self.cycles, self.use = self.evaluator.cycles(self.selection), self.evaluator.use(self.selection)
        return True

    def _after(self, group: int, rows: Array) -> Array:
        """Return what the whole selection uses with each of the rows, (n_rows, 5)."""
        now = self.evaluator.around(group, np.array([self.selection[group]]), self.selection)
        return np.asarray(self.use - now + self.evaluator.around(group, rows, self.selection))

    def _set(self, group: int, row: int) -> None:
        self.use = self._after(group, np.array([row]))[0]
        self.selection[group] = row
        self.cycles[group] = int(self.evaluator.problem.groups[group].cycles[row])
