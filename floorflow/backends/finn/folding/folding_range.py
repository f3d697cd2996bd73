"""What the foldings of each engine range over: legal parallelism, intervals, and the least of each resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import OptionTable
from floorflow.resources import Resources

PARALLELISM = ("PE", "SIMD")


@dataclass(frozen=True)
class FoldingRange:
    """The legal foldings of one engine in its place among the others.

    ``parallelism``: values of PE and SIMD, ascending, of those that the kind has. ``least`` holds the least of each
    resource over all foldings: together they may be less than any one of them takes.
    """

    parallelism: Mapping[str, tuple[int, ...]]
    fastest_cycles: int
    slowest_cycles: int
    least: Resources


def folding_ranges(dataflow: Dataflow, costs: CostTable) -> dict[str, FoldingRange]:
    """Return the range of every engine by its name, in the order of the engines.

    Raises
    ------
    InputError
        If the foldings of a kind of engine are not known.
    InfeasibleError
        If an engine has no legal folding.

    """
    groups = {name: group for group in costs.groups(dataflow) for name in group.engines}
    return {engine.name: _range(groups[engine.name].options_of(engine.name)) for engine in dataflow.engines}


def _range(options: OptionTable) -> FoldingRange:
    columns = {name: np.unique(options.attribute(name, 0)).tolist() for name in PARALLELISM}
    parallelism = {name: tuple(values) for name, values in columns.items() if values != [0]}
    cycles = options.cycles
    return FoldingRange(parallelism, int(cycles.min()), int(cycles.max()), Resources(*options.use.min(axis=1).tolist()))
