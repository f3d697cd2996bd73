"""FINN's SetFolding as folding methods: its answer to a target; memories stay as the engines have them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from floorflow.backends.finn.folding.set_folding import Rules, rules_of, set_folding
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes, Dataflow

WIDE_WEIGHTS = 10_000
"""FINN's ``mvau_wwidth_max`` of ``finn-wide``: so large that it binds no more."""
FINN_MAIN = Rules()


def proposed(dataflow: Dataflow, interval_cycles: int, rules: Rules = FINN_MAIN) -> Mapping[str, Attributes]:
    """Return SetFolding's answer to the target that just allows an interval."""
    target = interval_cycles if rules.target_is_enough else interval_cycles + 1
    return set_folding(dataflow, target, rules)


def rules_by_method(finn: FinnVersion) -> Mapping[str, Rules]:
    """Return how each method folds, by its name."""
    return MappingProxyType({"finn": rules_of(finn), "finn-wide": rules_of(finn, WIDE_WEIGHTS)})
