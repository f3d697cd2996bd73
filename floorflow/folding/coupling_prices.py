"""What streams add to the rows of a problem: to one group's rows alone, or to pairs of rows of neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE, Coupling
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.variable_elimination import Pair

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
