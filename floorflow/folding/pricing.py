"""The cheapest rows at given prices on the resources, for many prices at once.

Rows of one state (`states`) are alike to their neighbours, so the elimination runs over states, and each state stands
for its cheapest row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.folding.interface_classes import States
from floorflow.folding.variable_elimination import FORBIDDEN, Elimination, Pair, elimination

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Pricing:
    """A choice of rows with all of them in one line: positions 0 to ``size`` - 1, group after group.

    *Prices* are (k, 5): the cost of a unit of each resource in each of k cases. *Row prices* are (k, size).
    """

    def __init__(self, states: States) -> None:
        self.states = states
        self.use: Array = np.concatenate(states.use)
        """Resources of each row, (size, 5)."""
        self.size = len(self.use)
        sizes = [rows.size for rows in states.rows]
        self.begins: Array = np.cumsum([0, *sizes])
        """Position of each group's first row, and ``size``."""
        self.group: Array = np.repeat(np.arange(len(sizes)), sizes)
        """Group of each row, (size,)."""
        counts = [begins.size for begins in states.begins]
        self._state_begins = np.cumsum([0, *counts])
        self._group_of_state = np.repeat(np.arange(len(counts)), counts)
        self.tied: Array = np.unique(np.array(list(states.pairs), dtype=np.int64))
        """Groups that have neighbours."""
        self._has_no_neighbours = np.isin(np.arange(len(counts)), self.tied, invert=True)
        self._is_tied = np.isin(self._group_of_state, self.tied)
        place = {group: at for at, group in enumerate(self.tied.tolist())}
        self._tied_pairs = {(place[a], place[b]): use.shape[:2] for (a, b), use in states.pairs.items()}
        self.plan: Elimination = elimination([counts[group] for group in place], self._tied_pairs)
        """The elimination of those groups."""
        self._first_rows = np.concatenate([b + at for b, at in zip(states.begins, self.begins, strict=False)])
        self._state_of = np.concatenate([of + at for of, at in zip(states.state_of, self._state_begins, strict=False)])

    @cached_property
    def most_use(self) -> Array:
        """At least as much of each resource as any choice can use, (5,)."""
        alone = sum((use.max(axis=0) for use in self.states.use), np.zeros(5, dtype=np.int64))
        return np.asarray(sum((use.max(axis=(0, 1)) for use in self.states.pairs.values()), alone))

    def row_prices(self, prices: Array) -> Array:
        """Return the price of each row without what it shares with its neighbours, (k, size)."""
        return prices @ self.use.T

    def least(self, rows: Array, prices: Array) -> tuple[Array, Array]:
        """Return for row prices and prices the least sums, (k,), and picks that have them, (k, groups), as positions.

        A sum of FORBIDDEN or more means that there is no choice.
        """
        cheapest = self._cheapest(rows)
        total, states = self.plan.least(self._nodes(cheapest), self._edges(prices))
        alone, sums = self._alone(cheapest)
        # A group without neighbours takes any of its cheapest states.
        chosen = cheapest == alone[:, self._group_of_state]
        chosen[:, self._is_tied] = False
        chosen[np.arange(len(rows))[:, None], states + self._state_begins[:-1][self.tied]] = True
        # The first row of each group in such a state that costs no more than the state.
        is_it = chosen[:, self._state_of] & (np.minimum(rows, FORBIDDEN) == cheapest[:, self._state_of])
        place = np.where(is_it, np.arange(self.size), self.size)
        return total + sums, np.minimum.reduceat(place, self.begins[:-1], axis=1)

    def margins(self, rows: Array, prices: Array) -> Array:
        """Return for each row the least sum with it, (k, size)."""
        cheapest = self._cheapest(rows)
        alone, sums = self._alone(cheapest)
        margins = cheapest - alone[:, self._group_of_state]
        if self.tied.size:
            tied = self.plan.margins(self._nodes(cheapest), self._edges(prices))
            least = tied[0].min(axis=1)
            margins[:, self._is_tied] = np.concatenate(tied, axis=1) - least[:, None]
            sums = sums + least
        return np.asarray((margins + sums[:, None] - cheapest)[:, self._state_of] + rows)

    def total(self, selection: Array) -> Array:
        """Return what one choice uses, (5,), more than any budget if a pair is barred; ``selection`` are positions."""
        state = self._state_of[selection] - self._state_begins[:-1]
        ends, width, begins = self._pair_places
        places = begins + state[ends[:, 0]] * width + state[ends[:, 1]]
        return np.asarray(self.use[selection].sum(axis=0) + self._pair_use[0][places].sum(axis=0))

    def rows_of(self, selection: Array) -> tuple[int, ...]:
        """Return the picked row of each group, as an index into the group's rows."""
        places = (selection - self.begins[:-1]).tolist()
        return tuple(int(rows[place]) for rows, place in zip(self.states.rows, places, strict=True))

    def picks_of(self, rows: Sequence[int]) -> Array:
        """Return the positions of one row of each group."""
        found = [int(np.flatnonzero(held == row)[0]) for held, row in zip(self.states.rows, rows, strict=True)]
        return np.array(found) + self.begins[:-1]

    def kept(self, mask: Mask) -> list[Array]:
        """Return the marked rows of each group, as indices into the group's rows."""
        return [rows[part] for rows, part in zip(self.states.rows, np.split(mask, self.begins[1:-1]), strict=True)]

    def _cheapest(self, rows: Array) -> Array:
        """Return the cheapest row of each state, (k, states)."""
        return np.minimum(np.minimum.reduceat(rows, self._first_rows, axis=1), FORBIDDEN)

    def _alone(self, cheapest: Array) -> tuple[Array, Array]:
        """Return the least of every group by itself, (k, groups), and its sum over those that have no neighbours."""
        least = np.minimum.reduceat(cheapest, self._state_begins[:-1], axis=1)
        own = least[:, self._has_no_neighbours]
        sums = np.where((own >= FORBIDDEN).any(axis=1), FORBIDDEN, np.where(own < FORBIDDEN, own, 0).sum(axis=1))
        return least, sums

    def _nodes(self, cheapest: Array) -> list[Array]:
        """Return the states of the groups that have neighbours, group by group."""
        return [cheapest[:, self._state_begins[group] : self._state_begins[group + 1]] for group in self.tied.tolist()]

    def _edges(self, prices: Array) -> dict[Pair, Array]:
        """Return the prices of pairs of states, by positions in ``tied``."""
        both = prices @ self._pair_use[0].T
        both[:, self._pair_use[1]] = FORBIDDEN
        edges, at = {}, 0
        for pair, shape in self._tied_pairs.items():
            entries = shape[0] * shape[1]
            edges[pair] = both[:, at : at + entries].reshape(-1, *shape)
            at += entries
        return edges

    @cached_property
    def _pair_places(self) -> tuple[Array, Array, Array]:
        """Return the groups of each pair, (pairs, 2), the states of the second, and where its prices begin."""
        shapes = np.array([use.shape[:2] for use in self.states.pairs.values()], dtype=np.int64).reshape(-1, 2)
        ends = np.array(list(self.states.pairs), dtype=np.int64).reshape(-1, 2)
        entries = shapes.prod(axis=1)
        return ends, shapes[:, 1], np.cumsum(entries) - entries

    @cached_property
    def _pair_use(self) -> tuple[Array, Mask]:
        """Resources of all pairs of states, (pairs, 5), and which are barred."""
        use = [
            np.where(self.states.barred[pair][..., None], UNBUILDABLE, use).reshape(-1, 5)
            for pair, use in self.states.pairs.items()
        ]
        barred = [self.states.barred[pair].reshape(-1) for pair in self.states.pairs]
        empty, none = np.zeros((0, 5), dtype=np.int64), np.zeros(0, dtype=np.bool_)
        return np.concatenate([empty, *use]), np.concatenate([none, *barred])
