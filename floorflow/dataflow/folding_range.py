"""What the foldings of each engine range over: legal parallelism, intervals, and the least of each resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.dataflow.options import OptionGroup, OptionTable
from floorflow.resources import Resources


@dataclass(frozen=True)
class FoldingRange:
    """The legal foldings of one engine in its place among the others.

    ``parallelism``: ascending values of each attribute of the kind that says how parallel it is. ``least`` holds the
    least of each resource over all foldings: together they may be less than any one of them takes.
    """

    parallelism: Mapping[str, tuple[int, ...]]
    fastest_cycles: int
    slowest_cycles: int
    least: Resources


def folding_ranges(groups: Iterable[OptionGroup], attributes: Sequence[str]) -> dict[str, FoldingRange]:
    """Return the range of every engine by its name; ``attributes`` say how parallel a folding is."""
    return {name: _range(group.options_of(name), attributes) for group in groups for name in group.engines}


def _range(options: OptionTable, attributes: Sequence[str]) -> FoldingRange:
    columns = {name: np.unique(options.attribute(name, 0)).tolist() for name in attributes}
    parallelism = {name: tuple(values) for name, values in columns.items() if values != [0]}
    cycles = options.cycles
    return FoldingRange(parallelism, int(cycles.min()), int(cycles.max()), Resources(*options.use.min(axis=1).tolist()))
