"""Presolve by dominance: the rows at one interval that are fast enough, and never beaten whatever neighbours choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.selection import absorb_one_sided, between_groups, own_use, pair_prices
from floorflow.folding.variable_elimination import Pair
from floorflow.resources import RESOURCE_NAMES

Array = NDArray[np.int64]

ROUNDS = 3
"""Rounds of domination: a row dropped from one group can make rows of its neighbours comparable."""
BLOCK = 32
"""Rows compared with all others at once: many, so that numpy's calls do not count; few, so that most work is needed."""


@dataclass(frozen=True)
class ReducedProblem:
    """The problem over some rows of each group; resources are a sum over rows and over pairs of neighbours' rows.

    ``rows[g]`` are indices into the group's rows; ``use[g]`` is (n_g, 5), with all streams that are not among
    ``couplings``.
    """

    rows: tuple[Array, ...]
    use: tuple[Array, ...]
    couplings: tuple[Coupling, ...]

    @cached_property
    def pairs(self) -> Mapping[Pair, Array]:
        """Prices between neighbours: ``pairs[g, h]`` with g < h is (n_g, n_h, 5)."""
        return pair_prices(self.couplings, self.rows)

    def total(self, selection: Sequence[int]) -> Array:
        """Return the resources of one selection, (5,); ``selection`` are positions in ``rows``."""
        alone = sum((use[row] for use, row in zip(self.use, selection, strict=True)), np.zeros(5, dtype=np.int64))
        return alone + sum(
            (use[selection[a], selection[b]] for (a, b), use in self.pairs.items()), np.zeros_like(alone)
        )


def restricted_to(problem: FoldingProblem, rows: Sequence[Array]) -> ReducedProblem:
    """Return the problem over some rows of each group, with all that one end of a stream decides in ``use``."""
    use, streams = absorb_one_sided(problem, rows)
    return ReducedProblem(tuple(rows), tuple(use), streams)


def reduce_by_dominance(
    problem: FoldingProblem, interval_cycles: int, counted: Sequence[Array] | None = None
) -> ReducedProblem | None:
    """Return the problem over its undominated rows, or None if some group has none that is fast enough.

    ``counted``, (n_rows,) of each group, is a number of which an undominated row has no more than another either.
    """
    fast = problem.rows_within(interval_cycles)
    if not all(rows.size for rows in fast):
        return None
    search = _Domination(problem, fast, counted)
    for _ in range(ROUNDS):
        if not search.round():
            break
    use = tuple(each[:, : len(RESOURCE_NAMES)] for each in search.use)
    return ReducedProblem(tuple(search.rows), use, between_groups(problem.couplings))


class _Domination:
    """The rows left of each group while dominated ones are dropped."""

    def __init__(self, problem: FoldingProblem, rows: list[Array], counted: Sequence[Array] | None) -> None:
        self.rows, self.use = rows, own_use(problem, rows)
        if counted is not None:
            counts = zip(self.use, counted, rows, strict=True)
            self.use = [np.column_stack([use, numbers[some]]) for use, numbers, some in counts]
        self.ends: list[list[_End]] = [[] for _ in problem.groups]
        for c in between_groups(problem.couplings):
            source, target = _End(c.source_class, c.use), _End(c.target_class, c.use.swapaxes(0, 1))
            source.far, target.far = target, source
            self.ends[c.source].append(source)
            self.ends[c.target].append(target)
        for rows_left, ends in zip(rows, self.ends, strict=True):
            for end in ends:
                end.update(rows_left)
        self.compared_with: list[list[bytes] | None] = [None] * len(rows)
        """What each group's neighbours had left when its rows were last compared."""
        self.known = problem.memo if counted is None else {}

    def round(self) -> bool:
        """Drop what is dominated in every group; return whether there was any."""
        dropped = False
        for group, ends in enumerate(self.ends):
            neighbours = [end.far.left.tobytes() for end in ends]
            if neighbours == self.compared_with[group]:
                # To compare them again would drop none.
                continue
            self.compared_with[group] = neighbours
            rows_left = self._filtered(group, [end.prices_left() for end in ends])
            if rows_left.size < self.rows[group].size:
                dropped = True
                self.rows[group], self.use[group] = self.rows[group][rows_left], self.use[group][rows_left]
                for end in ends:
                    end.update(self.rows[group])
        return dropped

    def _filtered(self, group: int, prices_left: Sequence[tuple[Array, Array]]) -> Array:
        """Return the rows that are not dominated; equal groups among equal neighbours are compared once."""
        key = (self.use[group].tobytes(), *(part.tobytes() for pair in prices_left for part in pair))
        if key not in self.known:
            self.known[key] = _undominated(self.use[group], prices_left)
        return self.known[key]


class _End:
    """One end of a stream between two groups, and what the group at it has left."""

    far: "_End"

    def __init__(self, classes: Array, use: Array) -> None:
        """``classes`` of all rows of the group; ``use`` is (classes at this end, classes at the far end, 5)."""
        self.classes, self.use = classes, use

    def update(self, rows: Array) -> None:
        """See which classes these rows have."""
        classes = self.classes[rows]
        present = np.zeros(self.classes.max() + 1, dtype=np.bool_)
        present[classes] = True
        self.left, self.compact = np.flatnonzero(present), np.cumsum(present)[classes] - 1

    def prices_left(self) -> tuple[Array, Array]:
        """Return the classes of the rows left and their prices, (n_near, n_far, 5), both of what is left."""
        return self.compact, self.use[self.left][:, self.far.left]


def _undominated(use: Array, streams: Sequence[tuple[Array, Array]]) -> Array:
    """Return positions of the rows that no other beats in every resource, whichever rows the neighbours take."""
    # dearer[r, b, a]: the most that class b can cost more of resource r than class a.
    dearer = [(price[:, None] - price[None, :]).max(axis=2).transpose(2, 0, 1) for _, price in streams]
    priced = [r for r in range(len(RESOURCE_NAMES)) if any(table[r].any() for table in dearer)]
    columns = [c for c in range(use.shape[1]) if np.ptp(use[:, c]) or c in priced]
    left = np.lexsort((np.arange(len(use)), use.sum(axis=1)))
    undominated: list[int] = []
    while left.size:
        block = left[:BLOCK]
        beats = np.ones((block.size, left.size), dtype=np.bool_)
        for column in columns:
            switched = np.add.outer(use[block, column], -use[left, column])
            for (own, _), table in zip(streams, dearer, strict=True):
                if column in priced:
                    switched += table[column][np.ix_(own[block], own[left])]
            beats &= switched <= 0
        open_ = np.ones(left.size, dtype=np.bool_)
        for position, row in enumerate(block):
            if open_[position]:
                undominated.append(int(row))
                open_ &= ~beats[position]
        # A row that is left beats itself.
        left = left[open_]
    return np.sort(np.array(undominated))
