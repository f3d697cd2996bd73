"""Small values in the form that plan.json holds."""

from __future__ import annotations

from floorflow.dataflow.model import AttributeValue
from floorflow.plan import Amounts, Stats
from floorflow.resources import Resources
from floorflow.stats import SolveStats


def amounts(resources: Resources) -> Amounts:
    """Return an amount of each resource."""
    return Amounts(**resources.as_dict())


def statistics(stats: SolveStats) -> Stats:
    """Return a solver's statement."""
    return Stats.model_validate(stats.as_dict())


def plain(value: AttributeValue) -> int | str | list[int]:
    """Return an attribute with tuples as lists."""
    return list(value) if isinstance(value, tuple) else value
