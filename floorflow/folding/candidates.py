"""The foldings worth choosing from at one interval: fast enough, and never beaten whatever the neighbours choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling
from floorflow.folding.elimination import Pair
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.streams import between, own_use, pair_prices, settled

Array = NDArray[np.int64]

ROUNDS = 3
"""Rounds of domination: a row dropped from one group can make rows of its neighbours comparable."""
BLOCK = 32
"""Rows compared with all others at once: many, so that numpy's calls do not count; few, so that most work is needed."""


@dataclass(frozen=True)
class Candidates:
    """Rows left of each group, and resources as a pairwise sum: of each row, and of each pair of rows of neighbours.

    ``rows[g]`` are indices into the group's rows; ``use[g]`` is (n_g, 5), with the streams that are not among
    ``couplings``: those inside the group or to the host.
    """

    rows: tuple[Array, ...]
    use: tuple[Array, ...]
    couplings: tuple[Coupling, ...]

    @cached_property
    def pairs(self) -> Mapping[Pair, Array]:
        """Prices between neighbours: ``pairs[g, h]`` with g < h is (n_g, n_h, 5)."""
        return pair_prices(self.couplings, self.rows)

    def total(self, picks: Sequence[int]) -> Array:
        """Return the resources of one choice, (5,); ``picks`` are positions in ``rows``."""
        alone = sum((use[pick] for use, pick in zip(self.use, picks, strict=True)), np.zeros(5, dtype=np.int64))
        return alone + sum((use[picks[a], picks[b]] for (a, b), use in self.pairs.items()), np.zeros_like(alone))


def candidates_among(problem: FoldingProblem, rows: Sequence[Array]) -> Candidates:
    """Return some rows of each group as candidates, with all that one end of a stream decides in ``use``."""
    use, streams = settled(problem, rows)
    return Candidates(tuple(rows), tuple(use), streams)


def candidates(problem: FoldingProblem, interval_cycles: int) -> Candidates | None:
    """Return the rows worth choosing from, or None if some group has none that is fast enough."""
    fast = problem.rows_within(interval_cycles)
    if not all(rows.size for rows in fast):
        return None
    longs: list[list[Coupling]] = [[] for _ in problem.groups]
    for coupling in between(problem.couplings):
        longs[coupling.source].append(coupling)
        longs[coupling.target].append(coupling)
    use = own_use(problem, fast)
    known: dict[tuple[bytes, ...], Array] = {}
    for _ in range(ROUNDS):
        before = sum(rows.size for rows in fast)
        for group in range(len(fast)):
            seen = [_seen_from(group, coupling, fast) for coupling in longs[group]]
            # Networks repeat their blocks: equal groups among equal neighbours are judged once.
            key = (use[group].tobytes(), *(part.tobytes() for pair in seen for part in pair))
            if key not in known:
                known[key] = _undominated(use[group], seen)
            kept = known[key]
            fast[group], use[group] = fast[group][kept], use[group][kept]
        if sum(rows.size for rows in fast) == before:
            break
    return Candidates(tuple(fast), tuple(use), problem.couplings)


def _undominated(use: Array, streams: Sequence[tuple[Array, Array]]) -> Array:
    """Return positions of the rows that no other beats in every resource, whichever rows the neighbours take."""
    # dearer[r, b, a]: the most that class b can cost more of resource r than class a.
    dearer = [(price[:, None] - price[None, :]).max(axis=2).transpose(2, 0, 1) for _, price in streams]
    resources = [r for r in range(5) if np.ptp(use[:, r]) or any(table[r].any() for table in dearer)]
    left = np.lexsort((np.arange(len(use)), use.sum(axis=1)))
    kept: list[int] = []
    while left.size:
        block = left[:BLOCK]
        beats = np.ones((block.size, left.size), dtype=np.bool_)
        for resource in resources:
            switched = np.add.outer(use[block, resource], -use[left, resource])
            for (own, _), table in zip(streams, dearer, strict=True):
                switched += table[resource][np.ix_(own[block], own[left])]
            beats &= switched <= 0
        open_ = np.ones(left.size, dtype=np.bool_)
        for position, row in enumerate(block):
            if open_[position]:
                kept.append(int(row))
                open_ &= ~beats[position]
        # A row that is kept beats itself.
        left = left[open_]
    return np.sort(np.array(kept))


def _seen_from(group: int, coupling: Coupling, rows: Sequence[Array]) -> tuple[Array, Array]:
    """Return the classes of the group's rows and the price table (n_own, n_neighbour, 5), both of what is left."""
    if group == coupling.source:
        own, other, table = coupling.source_class, coupling.target_class[rows[coupling.target]], coupling.use
    else:
        own, other = coupling.target_class, coupling.source_class[rows[coupling.source]]
        table = coupling.use.swapaxes(0, 1)
    left, compact = np.unique(own[rows[group]], return_inverse=True)
    return compact, table[left][:, np.unique(other)]
