"""FINN's SetFolding with its limit on the width of weights raised until it binds no more."""

from __future__ import annotations

from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.set_folding import rules_of
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Dataflow
from floorflow.folding.methods import FoldingMethod
from floorflow.search.fold_methods.finn import finn_method

WIDE_WEIGHTS = 10_000
"""FINN's ``mvau_wwidth_max``."""


def solve(dataflow: Dataflow, costs: CostTable, finn: FinnVersion) -> FoldingMethod:
    """Return SetFolding without that limit."""
    return finn_method(dataflow, costs, rules_of(finn, WIDE_WEIGHTS))
