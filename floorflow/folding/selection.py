"""What a selection of rows uses, how fast it is, and the answer that it makes: what the published methods share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling
from floorflow.folding.coupling_prices import between_groups, own_use
from floorflow.folding.problem import FoldingProblem, FoldingSolution
from floorflow.stats import SolveStats, Status

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Evaluator:
    """Adds up resources; a ``selection`` holds an index into each group's rows."""

    problem: FoldingProblem

    @cached_property
    def alone(self) -> tuple[Array, ...]:
        """Resources of each group's rows with the streams that no neighbour has a say in, (n_rows, 5) each."""
        return tuple(own_use(self.problem, [np.arange(len(group.rows)) for group in self.problem.groups]))

    @cached_property
    def between_groups(self) -> tuple[Coupling, ...]:
        """The streams between two groups."""
        return between_groups(self.problem.couplings)

    @cached_property
    def _at(self) -> tuple[tuple[Coupling, ...], ...]:
        """The streams between two groups that end at each group."""
        return tuple(
            tuple(c for c in self.between_groups if g in (c.source, c.target)) for g in range(len(self.problem.groups))
        )

    def at(self, group: int) -> tuple[Coupling, ...]:
        """Return the streams between a group and others."""
        return self._at[group]

    @cached_property
    def budget(self) -> Array:
        """The budget, (5,)."""
        return np.array(self.problem.budget.as_tuple(), dtype=np.int64)

    def use(self, selection: Sequence[int]) -> Array:
        """Return what a selection uses, (5,)."""
        alone = sum((use[row] for use, row in zip(self.alone, selection, strict=True)), np.zeros(5, dtype=np.int64))
        prices = (
            c.use[c.source_class[selection[c.source]], c.target_class[selection[c.target]]] for c in self.between_groups
        )
        return np.asarray(sum(prices, alone))

    def around(self, group: int, rows: Array, selection: Sequence[int]) -> Array:
        """Return what rows of one group use with all their streams, (n_rows, 5), while the other rows stay."""
        use = self.alone[group][rows]
        for c in self._at[group]:
            if c.source == group:
                use = use + c.use[c.source_class[rows], c.target_class[selection[c.target]]]
            else:
                use = use + c.use[c.source_class[selection[c.source]], c.target_class[rows]]
        return use

    def excess(self, use: Array) -> NDArray[np.float64]:
        """Return by how many budgets an amount, (..., 5), exceeds the budget, summed over the resources."""
        return np.asarray((np.maximum(use - self.budget, 0) / np.maximum(self.budget, 1)).sum(axis=-1))

    def cost(self, use: Array) -> Array:
        """Return the scarcity of amounts, (..., 5), in the problem's integer scale."""
        return np.asarray(use @ self.problem.cost_weights()[0])

    def cycles(self, selection: Sequence[int]) -> list[int]:
        """Return the cycles of each group."""
        return [int(group.cycles[row]) for group, row in zip(self.problem.groups, selection, strict=True)]

    def solution(
        self, selection: Sequence[int], method: str, status: Status, bound: int | None = None
    ) -> FoldingSolution:
        """Return the answer; ``bound`` is on the cost, in the problem's integer scale."""
        use, scale = self.use(selection), self.problem.cost_weights()[1]
        stats = SolveStats(method, status, int(self.cost(use)) / scale, None if bound is None else bound / scale)
        return self.problem.solution(selection, use, stats)
