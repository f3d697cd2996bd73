"""The rows of every group by state: what its neighbours see of them, the widths of its ports.

Rows of one state cost the same converters and FIFOs whatever the neighbours choose, so at given prices only the
cheapest of a state counts, and tables between neighbours need an entry for each pair of states, not of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.coupling_prices import most_of_a_stream, pair_prices, settled
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.variable_elimination import Elimination, Pair, elimination

Array = NDArray[np.int64]


@dataclass(frozen=True)
class States:
    """Rows to choose from, those of a state next to each other.

    ``rows[g]`` are indices into the group's rows; ``use[g]`` is (n_g, 5), with the streams that the group alone decides
    (`streams.settled`); ``cycles[g]`` is (n_g, engines); ``begins[g]`` says where each state begins; ``pairs[g, h]``
    with g < h is (states of g, states of h, 5), and ``barred[g, h]`` marks those that exceed the budget by themselves,
    or that no hardware can join; they count 0 in ``pairs``.
    """

    rows: tuple[Array, ...]
    use: tuple[Array, ...]
    cycles: tuple[Array, ...]
    begins: tuple[Array, ...]
    pairs: Mapping[Pair, Array]
    barred: Mapping[Pair, NDArray[np.bool_]]

    @cached_property
    def state_of(self) -> tuple[Array, ...]:
        """State of each row, (n_g,)."""
        spans = (
            (begins, np.diff(begins, append=rows.size)) for begins, rows in zip(self.begins, self.rows, strict=True)
        )
        return tuple(np.repeat(np.arange(begins.size), lengths) for begins, lengths in spans)

    @cached_property
    def plan(self) -> Elimination:
        """The elimination of all groups by their states; `pricing` has one of those that have neighbours."""
        return elimination([begins.size for begins in self.begins], self.pairs)

    def resources(self, selection: Sequence[int]) -> Array:
        """Return what one choice uses, (5,), but for barred pairs; ``selection`` are positions in ``rows``."""
        states = self.states_of(selection)
        alone = sum((use[pick] for use, pick in zip(self.use, selection, strict=True)), np.zeros(5, dtype=np.int64))
        return alone + sum((use[states[a], states[b]] for (a, b), use in self.pairs.items()), np.zeros_like(alone))

    def states_of(self, selection: Sequence[int]) -> list[int]:
        """Return the state of each pick."""
        return [int(state[pick]) for state, pick in zip(self.state_of, selection, strict=True)]

    def barred_pairs(self, selection: Sequence[int]) -> int:
        """Return how many barred pairs one choice has."""
        states = self.states_of(selection)
        return sum(bool(barred[states[a], states[b]]) for (a, b), barred in self.barred.items())

    def engine_cycles(self, selection: Sequence[int]) -> Array:
        """Return the cycles of every engine, group by group."""
        return np.concatenate([cycles[pick] for cycles, pick in zip(self.cycles, selection, strict=True)])


def states(problem: FoldingProblem, keep: Sequence[Array]) -> States:
    """Sort the rows in ``keep``, indices for each group, by state."""
    decided, streams = settled(problem, keep)
    ends: list[list[Array]] = [[] for _ in problem.groups]
    for c in streams:
        ends[c.source].append(c.source_class)
        ends[c.target].append(c.target_class)
    rows, use, begins = [], [], []
    for kept, own, classes in zip(keep, decided, ends, strict=True):
        order, begin = _by_state(kept, [seen[kept] for seen in classes])
        rows.append(kept[order])
        use.append(own[order])
        begins.append(begin)
    cycles = (group.engine_cycles[row] for group, row in zip(problem.groups, rows, strict=True))
    # The first row of each state tells its prices.
    pairs = pair_prices(streams, [row[begin] for row, begin in zip(rows, begins, strict=True)])
    most = most_of_a_stream(problem)
    barred: dict[Pair, NDArray[np.bool_]] = {pair: np.any(use > most, axis=2) for pair, use in pairs.items()}
    pairs = {pair: np.where(barred[pair][:, :, None], 0, use) for pair, use in pairs.items()}
    return States(tuple(rows), tuple(use), tuple(cycles), tuple(begins), pairs, barred)


def _by_state(kept: Array, classes: Sequence[Array]) -> tuple[Array, Array]:
    """Return the order of the rows by their classes, and where each combination begins."""
    order = np.lexsort((kept, *reversed(classes)))
    new = np.zeros(kept.size, dtype=bool)
    new[:1] = True
    for seen in classes:
        new[1:] |= np.diff(seen[order]) != 0
    return order, np.flatnonzero(new)
