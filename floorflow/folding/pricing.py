"""The cheapest selections at prices on the resources, for many prices at once.

Rows of one interface class show their neighbours equal widths of ports: they cost the same converters and FIFOs
whatever the neighbours choose. So at given prices only the cheapest of a class counts, and the elimination runs over
classes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.selection import absorb_one_sided, pair_prices, stream_limit
from floorflow.folding.variable_elimination import FORBIDDEN, LARGEST_TABLE, Elimination, Pair, plan_elimination
from floorflow.stats import count

Array = NDArray[np.int64]


@dataclass(frozen=True)
class InterfaceClasses:
    """Rows to choose from, those of a class next to each other.

    ``rows[g]`` are indices into the group's rows; ``use[g]`` is (n_g, 5), with the streams that the group alone decides
    (`selection.absorb_one_sided`); ``cycles[g]`` is (n_g, engines); ``begins[g]`` says where each class begins;
    ``pairs[g, h]`` with g < h is (classes of g, classes of h, 5), and ``barred[g, h]`` marks those that exceed the
    budget by themselves, or that no hardware can join; they count 0 in ``pairs``.
    """

    rows: tuple[Array, ...]
    use: tuple[Array, ...]
    cycles: tuple[Array, ...]
    begins: tuple[Array, ...]
    pairs: Mapping[Pair, Array]
    barred: Mapping[Pair, NDArray[np.bool_]]

    @cached_property
    def class_of(self) -> tuple[Array, ...]:
        """Class of each row, (n_g,)."""
        spans = (
            (begins, np.diff(begins, append=rows.size)) for begins, rows in zip(self.begins, self.rows, strict=True)
        )
        return tuple(np.repeat(np.arange(begins.size), lengths) for begins, lengths in spans)

    @cached_property
    def elimination(self) -> Elimination:
        """The elimination of all groups by their classes; `pricing` has one of those that have neighbours."""
        return plan_elimination([begins.size for begins in self.begins], self.pairs)

    def resources(self, selection: Sequence[int]) -> Array:
        """Return what one selection uses, (5,), but for barred pairs; ``selection`` are positions in ``rows``."""
        classes = self.classes_of(selection)
        alone = sum((use[row] for use, row in zip(self.use, selection, strict=True)), np.zeros(5, dtype=np.int64))
        return alone + sum((use[classes[a], classes[b]] for (a, b), use in self.pairs.items()), np.zeros_like(alone))

    def classes_of(self, selection: Sequence[int]) -> list[int]:
        """Return the class of each selected row."""
        return [int(class_of[row]) for class_of, row in zip(self.class_of, selection, strict=True)]

    def barred_pairs(self, selection: Sequence[int]) -> int:
        """Return how many barred pairs one selection has."""
        classes = self.classes_of(selection)
        return sum(bool(barred[classes[a], classes[b]]) for (a, b), barred in self.barred.items())

    def engine_cycles(self, selection: Sequence[int]) -> Array:
        """Return the cycles of every engine, group by group."""
        return np.concatenate([cycles[row] for cycles, row in zip(self.cycles, selection, strict=True)])


def group_by_interface(problem: FoldingProblem, keep: Sequence[Array]) -> InterfaceClasses:
    """Sort the rows in ``keep``, indices for each group, by class."""
    own_use, streams = absorb_one_sided(problem, keep)
    ends: list[list[Array]] = [[] for _ in problem.groups]
    for c in streams:
        ends[c.source].append(c.source_class)
        ends[c.target].append(c.target_class)
    rows, use, begins = [], [], []
    for group_rows, own, port_classes in zip(keep, own_use, ends, strict=True):
        order, begin = _sort_by_class(group_rows, [port_class[group_rows] for port_class in port_classes])
        rows.append(group_rows[order])
        use.append(own[order])
        begins.append(begin)
    cycles = (group.engine_cycles[row] for group, row in zip(problem.groups, rows, strict=True))
    # The first row of each class tells its prices.
    pairs = pair_prices(streams, [row[begin] for row, begin in zip(rows, begins, strict=True)])
    most = stream_limit(problem)
    barred: dict[Pair, NDArray[np.bool_]] = {pair: np.any(use > most, axis=2) for pair, use in pairs.items()}
    pairs = {pair: np.where(barred[pair][:, :, None], 0, use) for pair, use in pairs.items()}
    return InterfaceClasses(tuple(rows), tuple(use), tuple(cycles), tuple(begins), pairs, barred)


def _sort_by_class(group_rows: Array, port_classes: Sequence[Array]) -> tuple[Array, Array]:
    """Return the order of the rows by the classes of all their ports, and where each combination begins."""
    order = np.lexsort((group_rows, *reversed(port_classes)))
    new = np.zeros(group_rows.size, dtype=bool)
    new[:1] = True
    for port_class in port_classes:
        new[1:] |= np.diff(port_class[order]) != 0
    return order, np.flatnonzero(new)


PRICED_S, PRICE_S = 3e-4, 1e-7
"""Work of finding the least sums at some prices, and of each price of a row."""

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
