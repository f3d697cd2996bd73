"""The rows of every group by interface class: what its neighbours see of them, the widths of its ports.

Rows of one class cost the same converters and FIFOs whatever the neighbours choose, so at given prices only the
cheapest of a class counts, and tables between neighbours need an entry for each pair of classes, not of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.coupling_prices import absorb_one_sided, pair_prices, stream_limit
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.variable_elimination import Elimination, Pair, plan_elimination

Array = NDArray[np.int64]


@dataclass(frozen=True)
class InterfaceClasses:
    """Rows to choose from, those of a class next to each other.

    ``rows[g]`` are indices into the group's rows; ``use[g]`` is (n_g, 5), with the streams that the group alone decides
    (`coupling_prices.absorb_one_sided`); ``cycles[g]`` is (n_g, engines); ``begins[g]`` says where each class begins;
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
