"""The cheapest selections at prices on the resources, for many prices at once.

Rows of one interface class are alike to their neighbours, so the elimination runs over classes, and each class stands
for its cheapest row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.folding.interface_classes import InterfaceClasses
from floorflow.folding.variable_elimination import FORBIDDEN, LARGEST_TABLE, Elimination, Pair, plan_elimination
from floorflow.stats import count

PRICED_S, PRICE_S = 3e-4, 1e-7
"""Work of finding the least sums at some prices, and of each price of a row."""

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Pricing:
    """Rows to select from, all of them in one line: positions 0 to ``size`` - 1, group after group.

    *Prices* are (k, 5): the cost of a unit of each resource in each of k cases. *Row prices* are (k, size).
    """

    def __init__(self, classes: InterfaceClasses, largest_table: int = LARGEST_TABLE) -> None:
        self.classes = classes
        self.use: Array = np.concatenate(classes.use)
        """Resources of each row, (size, 5)."""
        self.size = len(self.use)
        sizes = [rows.size for rows in classes.rows]
        self.begins: Array = np.cumsum([0, *sizes])
        """Position of each group's first row, and ``size``."""
        self.group: Array = np.repeat(np.arange(len(sizes)), sizes)
        """Group of each row, (size,)."""
        counts = [begins.size for begins in classes.begins]
        self._class_begins = np.cumsum([0, *counts])
        self._group_of_class = np.repeat(np.arange(len(counts)), counts)
        self.tied: Array = np.unique(np.array(list(classes.pairs), dtype=np.int64))
        """Groups that have neighbours."""
        self._has_no_neighbours = np.isin(np.arange(len(counts)), self.tied, invert=True)
        self._is_tied = np.isin(self._group_of_class, self.tied)
        position = {group: at for at, group in enumerate(self.tied.tolist())}
        self._tied_pairs = {(position[a], position[b]): use.shape[:2] for (a, b), use in classes.pairs.items()}
        self.elimination: Elimination = plan_elimination(
            [counts[group] for group in position], self._tied_pairs, largest_table
        )
        """The elimination of those groups."""
        self._first_rows = np.concatenate([b + at for b, at in zip(classes.begins, self.begins, strict=False)])
        self._class_of = np.concatenate([of + at for of, at in zip(classes.class_of, self._class_begins, strict=False)])

    @cached_property
    def most_use(self) -> Array:
        """At least as much of each resource as any selection can use, (5,)."""
        alone = sum((use.max(axis=0) for use in self.classes.use), np.zeros(5, dtype=np.int64))
        return np.asarray(sum((use.max(axis=(0, 1)) for use in self.classes.pairs.values()), alone))

    def row_prices(self, prices: Array) -> Array:
        """Return the price of each row without what it shares with its neighbours, (k, size)."""
        return prices @ self.use.T

    def least(self, rows: Array, prices: Array) -> tuple[Array, Array]:
        """Return for row prices and prices the least sums, (k,), and selections that have them, (k, groups).

        A selection holds positions. A sum of FORBIDDEN or more means that there is none.
        """
        count(PRICED_S + PRICE_S * rows.size)
        cheapest = self._cheapest(rows)
        total, classes = self.elimination.least(self._nodes(cheapest), self._edges(prices))
        alone, sums = self._alone(cheapest)
        # A group without neighbours takes any of its cheapest classes.
        chosen = cheapest == alone[:, self._group_of_class]
        chosen[:, self._is_tied] = False
        chosen[np.arange(len(rows))[:, None], classes + self._class_begins[:-1][self.tied]] = True
        # The first row of each group in such a class that costs no more than the class.
        is_it = chosen[:, self._class_of] & (np.minimum(rows, FORBIDDEN) == cheapest[:, self._class_of])
        position = np.where(is_it, np.arange(self.size), self.size)
        return total + sums, np.minimum.reduceat(position, self.begins[:-1], axis=1)

    def min_marginals(self, rows: Array, prices: Array) -> Array:
        """Return for each row the least sum with it, (k, size)."""
        count(PRICED_S + PRICE_S * rows.size)
        cheapest = self._cheapest(rows)
        alone, sums = self._alone(cheapest)
        min_marginals = cheapest - alone[:, self._group_of_class]
        if self.tied.size:
            tied = self.elimination.min_marginals(self._nodes(cheapest), self._edges(prices))
            least = tied[0].min(axis=0)
            min_marginals[:, self._is_tied] = (np.concatenate(tied) - least).T
            sums = sums + least
        return np.asarray((min_marginals + sums[:, None] - cheapest)[:, self._class_of] + rows)

    def total(self, selection: Array) -> Array:
        """Return what a selection (positions) uses, (5,), more than any budget if a pair is barred."""
        class_ = self._class_of[selection] - self._class_begins[:-1]
        ends, width, begins = self._pair_positions
        positions = begins + class_[ends[:, 0]] * width + class_[ends[:, 1]]
        return np.asarray(self.use[selection].sum(axis=0) + self._pair_use[0][positions].sum(axis=0))

    def rows_of(self, selection: Array) -> tuple[int, ...]:
        """Return the selected row of each group, as an index into the group's rows."""
        positions = (selection - self.begins[:-1]).tolist()
        return tuple(int(rows[position]) for rows, position in zip(self.classes.rows, positions, strict=True))

    def selection_of(self, rows: Sequence[int]) -> Array:
        """Return the positions of one row of each group."""
        positions = [int(np.flatnonzero(held == row)[0]) for held, row in zip(self.classes.rows, rows, strict=True)]
        return np.array(positions) + self.begins[:-1]

    def masked_rows(self, mask: Mask) -> list[Array]:
        """Return the marked rows of each group, as indices into the group's rows."""
        spans = pairwise(self.begins.tolist())
        return [rows[mask[begin:end]] for rows, (begin, end) in zip(self.classes.rows, spans, strict=True)]

    def _cheapest(self, rows: Array) -> Array:
        """Return the price of the cheapest row of each class, (k, classes)."""
        return np.minimum(np.minimum.reduceat(rows, self._first_rows, axis=1), FORBIDDEN)

    def _alone(self, cheapest: Array) -> tuple[Array, Array]:
        """Return the least of every group by itself, (k, groups), and its sum over those that have no neighbours."""
        least = np.minimum.reduceat(cheapest, self._class_begins[:-1], axis=1)
        own = least[:, self._has_no_neighbours]
        sums = np.where((own >= FORBIDDEN).any(axis=1), FORBIDDEN, np.where(own < FORBIDDEN, own, 0).sum(axis=1))
        return least, sums

    def _nodes(self, cheapest: Array) -> list[Array]:
        """Return the prices of the classes of groups that have neighbours, group by group, (classes, k) each."""
        by_class = np.ascontiguousarray(cheapest.T)
        return [by_class[begin:end] for begin, end in self._class_spans]

    def _edges(self, prices: Array) -> dict[Pair, Array]:
        """Return the prices of pairs of classes, (classes, classes, k), by positions in ``tied``."""
        both = self._pair_use[0] @ prices.T
        both[self._pair_use[1]] = FORBIDDEN
        edges, at = {}, 0
        for pair, shape in self._tied_pairs.items():
            entries = shape[0] * shape[1]
            edges[pair] = both[at : at + entries].reshape(*shape, -1)
            at += entries
        return edges

    @cached_property
    def _class_spans(self) -> list[tuple[int, int]]:
        """Where the classes of each group that has neighbours begin and end."""
        return [(int(self._class_begins[group]), int(self._class_begins[group + 1])) for group in self.tied.tolist()]

    @cached_property
    def _pair_positions(self) -> tuple[Array, Array, Array]:
        """Return the groups of each pair, (pairs, 2), how many classes the second has, and where its prices begin."""
        shapes = np.array([use.shape[:2] for use in self.classes.pairs.values()], dtype=np.int64).reshape(-1, 2)
        ends = np.array(list(self.classes.pairs), dtype=np.int64).reshape(-1, 2)
        entries = shapes.prod(axis=1)
        return ends, shapes[:, 1], np.cumsum(entries) - entries

    @cached_property
    def _pair_use(self) -> tuple[Array, Mask]:
        """Resources of all pairs of classes, (pairs, 5), and which are barred."""
        use = [
            np.where(self.classes.barred[pair][..., None], UNBUILDABLE, use).reshape(-1, 5)
            for pair, use in self.classes.pairs.items()
        ]
        barred = [self.classes.barred[pair].reshape(-1) for pair in self.classes.pairs]
        empty, none = np.zeros((0, 5), dtype=np.int64), np.zeros(0, dtype=np.bool_)
        return np.concatenate([empty, *use]), np.concatenate([none, *barred])
