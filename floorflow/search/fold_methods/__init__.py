"""Folding methods that need to know the engines, a file for each, whose ``solve`` makes the method for a dataflow."""

from __future__ import annotations

from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Dataflow
from floorflow.folding.methods import METHODS, FoldingMethod
from floorflow.stats import methods_in


def methods_of(dataflow: Dataflow, costs: CostTable, finn: FinnVersion = "main") -> dict[str, FoldingMethod]:
    """Return every folding method by name, those among them that need to know the engines on these."""
    made = methods_in("search/fold_methods")
    return {**METHODS, **{name: make(dataflow, costs, finn) for name, make in made.items()}}
