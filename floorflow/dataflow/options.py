"""Engines whose foldings are tied, with every joint folding that they may have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Option


@dataclass(frozen=True)
class OptionGroup:
    """Engines that must be folded together, usually one; each row holds an option for each of them.

    A depthwise window and the engine behind it are tied: the window's SIMD is that engine's PE.
    """

    engines: tuple[str, ...]
    rows: tuple[tuple[Option, ...], ...]

    @cached_property
    def engine_cycles(self) -> NDArray[np.int64]:
        """Cycles a frame of each engine in each row, (n_rows, n_engines)."""
        return np.array([[option.cycles for option in row] for row in self.rows], dtype=np.int64)

    @cached_property
    def engine_use(self) -> NDArray[np.int64]:
        """Resources of each engine in each row in the order of RESOURCE_NAMES, (n_rows, n_engines, 5)."""
        amounts = [[option.resources.as_tuple() for option in row] for row in self.rows]
        return np.array(amounts, dtype=np.int64).reshape(len(self.rows), len(self.engines), 5)

    @cached_property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles a frame of each row's slowest engine, (n_rows,)."""
        return np.asarray(self.engine_cycles.max(axis=1))

    @cached_property
    def use(self) -> NDArray[np.int64]:
        """Summed resources of each row, (n_rows, 5)."""
        return np.asarray(self.engine_use.sum(axis=1))

    def renamed(self, engines: tuple[str, ...]) -> OptionGroup:
        """Return the same rows for other engines; the arrays are shared, for networks repeat their blocks."""
        return self._sharing(engines, self.rows, slice(None))

    def subset(self, keep: NDArray[np.bool_]) -> OptionGroup:
        """Return the marked rows only."""
        if keep.all():
            return self
        return self._sharing(self.engines, tuple(self.rows[i] for i in np.flatnonzero(keep)), keep)

    def _sharing(
        self, engines: tuple[str, ...], rows: tuple[tuple[Option, ...], ...], part: slice | NDArray[np.bool_]
    ) -> OptionGroup:
        other = OptionGroup(engines, rows)
        arrays = {name: getattr(self, name)[part] for name in ("engine_cycles", "engine_use", "cycles", "use")}
        # Where cached_property keeps its values.
        vars(other).update(arrays)
        return other

    @property
    def name(self) -> str:
        """The engines' names, for messages."""
        return " + ".join(self.engines)


UNBUILDABLE = 10**8
"""Stands in every resource of a `Coupling` for a pair of foldings that no hardware can join: more than any platform."""


@dataclass(frozen=True)
class Coupling:
    """What one stream costs (converter and FIFO), by the rows that the groups at its ends take.

    ``source`` and ``target`` are positions of groups, equal for a stream inside a group or with an end at the host.
    Rows with equal port widths share a class: ``use[source_class[r], target_class[s]]`` are the resources.
    """

    source: int
    target: int
    source_class: NDArray[np.int64]
    """(n_source_rows,)"""
    target_class: NDArray[np.int64]
    """(n_target_rows,)"""
    use: NDArray[np.int64]
    """(n_source_classes, n_target_classes, 5)"""
