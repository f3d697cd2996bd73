"""The foldings of every part that may be in a folding of least area, its inner streams included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling
from floorflow.folding.coupling_prices import stream_limit
from floorflow.folding.part_tables import GroupRows, PartTable, Thinning
from floorflow.folding.problem import FoldingProblem

Array = NDArray[np.int64]


@dataclass(frozen=True)
class AreaPart:
    """Engines that get one pblock in a slot; ``cells_per_unit`` of each resource, (5,), see `cells_per_unit`."""

    engines: tuple[str, ...]
    cells_per_unit: tuple[float, ...]
    slot: str = ""


@dataclass(frozen=True)
class Charges:
    """Who pays for what: ``parts`` of a problem, in which every engine is in one of them."""

    problem: FoldingProblem
    parts: Sequence[AreaPart]

    @cached_property
    def part_of(self) -> dict[str, int]:
        """Number of each engine's part."""
        return {engine: number for number, part in enumerate(self.parts) for engine in part.engines}

    @cached_property
    def cells_per_unit(self) -> NDArray[np.float64]:
        """Cells that hold one unit of each resource, (n_parts, 5)."""
        return np.array([part.cells_per_unit for part in self.parts], dtype=np.float64)

    def parts_of(self, groups: Iterable[int]) -> tuple[int, ...]:
        """Return the parts in which the engines of groups are."""
        return tuple(sorted({self.part_of[engine] for g in groups for engine in self.problem.groups[g].engines}))

    def payer(self, c: Coupling) -> int:
        """Return the part that pays for a stream: its producer's."""
        return self.part_of[self.problem.groups[c.source].engines[-1]]

    def own_use(self, group: int, rows: Array, parts: Sequence[int]) -> Array:
        """Return what rows of a group use in each of some parts, (n_rows, n_parts, 5)."""
        own = self.problem.groups[group]
        use = np.zeros((len(rows), len(parts), 5), dtype=np.int64)
        for position, engine in enumerate(own.engines):
            use[:, parts.index(self.part_of[engine])] += own.engine_use[rows, position]
        return use

    def tied_groups(self) -> list[list[int]]:
        """Return the groups of each part, in order; parts in which one group has engines are taken together."""
        graph = nx.Graph()
        for number, group in enumerate(self.problem.groups):
            nx.add_star(graph, [number, *(("part", self.part_of[engine]) for engine in group.engines)])
        together = (sorted(n for n in each if isinstance(n, int)) for each in nx.connected_components(graph))
        return sorted(together)


def part_foldings(
    charges: Charges, rows: Sequence[Array], thinning: Thinning
) -> Iterator[tuple[tuple[int, ...], PartTable]]:
    """Yield parts, by number, mostly one, and their foldings over some rows of each group; none if nothing is possible.

    ``thinning`` is of a whole part: each engine that joins it has its share of the tolerance.
    """
    for groups in charges.tied_groups():
        parts = charges.parts_of(groups)
        table = PartTable.empty(charges.cells_per_unit[list(parts)])
        each = replace(thinning, tolerance=thinning.tolerance / len(groups))
        for group in groups:
            table = table.joined(GroupRows(group, rows[group], charges.own_use(group, rows[group], parts)))
            table = _with_streams(charges, table, group, parts)
            table = table.reduced(_seen_from_outside(charges.problem, table), each)
        yield parts, table


def ends_of(c: Coupling) -> tuple[tuple[int, Array], tuple[int, Array]]:
    """Return the groups at both ends of a stream with the classes of their rows."""
    return (c.source, c.source_class), (c.target, c.target_class)


def _with_streams(charges: Charges, table: PartTable, group: int, parts: Sequence[int]) -> PartTable:
    """Charge the streams between the group that joined last and those in the table; drop what cannot be joined."""
    inside, most = set(table.groups), stream_limit(charges.problem)
    for c in charges.problem.couplings:
        if group in (c.source, c.target) and {c.source, c.target} <= inside:
            source, target = (table.classes(*end) for end in ends_of(c))
            price = c.use[source, target]
            buildable = np.flatnonzero((price <= most).all(axis=1))
            table = table.take(buildable).charged(parts.index(charges.payer(c)), price[buildable])
    return table


def _seen_from_outside(problem: FoldingProblem, table: PartTable) -> list[Array]:
    """Return the classes of the foldings at the streams to groups that are not in the table."""
    inside = set(table.groups)
    crossing = (c for c in problem.couplings if len({c.source, c.target} & inside) == 1 and c.source != c.target)
    return [table.classes(*end) for c in crossing for end in ends_of(c) if end[0] in inside]
