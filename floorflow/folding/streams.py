"""What streams add to the rows of a problem: to one group's rows alone, or to pairs of rows of neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling
from floorflow.folding.elimination import Pair
from floorflow.folding.problem import FoldingProblem

Array = NDArray[np.int64]


def own_use(problem: FoldingProblem, rows: Sequence[Array]) -> list[Array]:
    """Return what some rows of each group use with the streams that no neighbour has a say in, (n_g, 5) each."""
    use = [group.use[kept] for group, kept in zip(problem.groups, rows, strict=True)]
    for c in problem.couplings:
        if c.source == c.target:
            kept = rows[c.source]
            use[c.source] = use[c.source] + c.use[c.source_class[kept], c.target_class[kept]]
    return use


def between(couplings: Sequence[Coupling]) -> tuple[Coupling, ...]:
    """Return the streams between two groups."""
    return tuple(c for c in couplings if c.source != c.target)


def pair_prices(couplings: Sequence[Coupling], rows: Sequence[Array]) -> Mapping[Pair, Array]:
    """Return the prices between neighbours, (n_g, n_h, 5) for g < h, by some rows of each; parallel streams add up."""
    pairs: dict[Pair, Array] = {}
    for c in between(couplings):
        price = c.use[np.ix_(c.source_class[rows[c.source]], c.target_class[rows[c.target]])]
        if c.source > c.target:
            price = price.swapaxes(0, 1)
        pair = (min(c.source, c.target), max(c.source, c.target))
        pairs[pair] = pairs[pair] + price if pair in pairs else price
    return pairs
