"""Small values in the form that plan.json holds."""

from __future__ import annotations

from typing import cast

from floorflow.dataflow.model import AttributeValue
from floorflow.facts import Amounts, RectangleEntry, Stats
from floorflow.facts import AttributeValue as PlanAttribute
from floorflow.hardware import Rect
from floorflow.resources import Resources
from floorflow.stats import SolveStats


def amounts(resources: Resources) -> Amounts:
    """Return an amount of each resource."""
    return Amounts(**resources.as_dict())


def rectangle(rect: Rect) -> RectangleEntry:
    """Return the sides of a rectangle."""
    return RectangleEntry(left=rect.left, bottom=rect.bottom, right=rect.right, top=rect.top)


def statistics(stats: SolveStats) -> Stats:
    """Return a solver's statement."""
    return Stats.model_validate(stats.as_dict())


def plain(value: AttributeValue) -> PlanAttribute:
    """Return an attribute with tuples as lists."""
    return cast("PlanAttribute", list(value)) if isinstance(value, tuple) else value
