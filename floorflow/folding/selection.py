"""What rows and selections of them use, streams included: of one group alone, of pairs of neighbours, of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE, Coupling
from floorflow.folding.problem import FoldingProblem, FoldingSolution
from floorflow.folding.variable_elimination import Pair
from floorflow.stats import SolveStats, Status

Array = NDArray[np.int64]


def own_use(problem: FoldingProblem, rows: Sequence[Array]) -> list[Array]:
    """Return what some rows of each group use with the streams that no neighbour has a say in, (n_g, 5) each."""
    use = [group.use[some] for group, some in zip(problem.groups, rows, strict=True)]
    for c in problem.couplings:
        if c.source == c.target:
            own = rows[c.source]
            use[c.source] = use[c.source] + c.use[c.source_class[own], c.target_class[own]]
    return use


def absorb_one_sided(problem: FoldingProblem, rows: Sequence[Array]) -> tuple[list[Array], tuple[Coupling, ...]]:
    """Return what some rows of each group use with the streams that one end alone decides, and the other streams.

    One end decides where all rows that the other has left are alike to the stream. Where one of its prices exceeds the
    budget by itself, or no hardware can join the ends, the stream is kept apart.
    """
    use, left = own_use(problem, rows), []
    most = stream_limit(problem)
    for c in between_groups(problem.couplings):
        source, target = c.source_class[rows[c.source]], c.target_class[rows[c.target]]
        if not (_alike(source) or _alike(target)) or (c.use[source][:, target] > most).any():
            left.append(c)
        elif _alike(source):
            use[c.target] = use[c.target] + c.use[source[0], target]
        else:
            use[c.source] = use[c.source] + c.use[source, target[0]]
    return use, tuple(left)


def stream_limit(problem: FoldingProblem) -> Array:
    """Return what a stream may use at most, (5,): the budget, or less than what stands for what cannot be built."""
    return np.minimum(np.array(problem.budget.as_tuple(), dtype=np.int64), UNBUILDABLE - 1)


def _alike(classes: Array) -> bool:
    return classes.size > 0 and bool((classes == classes[0]).all())


def between_groups(couplings: Sequence[Coupling]) -> tuple[Coupling, ...]:
    """Return the streams between two groups."""
    return tuple(c for c in couplings if c.source != c.target)


def pair_prices(couplings: Sequence[Coupling], rows: Sequence[Array]) -> Mapping[Pair, Array]:
    """Return the prices between neighbours, (n_g, n_h, 5) for g < h, by some rows of each; parallel streams add up."""
    pairs: dict[Pair, Array] = {}
    for c in between_groups(couplings):
        price = c.use[np.ix_(c.source_class[rows[c.source]], c.target_class[rows[c.target]])]
        if c.source > c.target:
            price = price.swapaxes(0, 1)
        pair = (min(c.source, c.target), max(c.source, c.target))
        pairs[pair] = pairs[pair] + price if pair in pairs else price
    return pairs


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
