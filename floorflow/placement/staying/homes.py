"""Which modules can stay where they were, and which did."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.hardware.geometry import Rect
from floorflow.placement.fixed import what_is_illegal, what_is_short
from floorflow.placement.problem import PlacedModule, PlacementProblem, PlacementSolution


def at_home(problem: PlacementProblem) -> tuple[str, ...]:
    """Return the modules that can stay in their previous rectangles, which hold them and clash with nothing."""
    homes: dict[str, Rect] = {}
    for module in problem.modules:
        rect = problem.previous.get(module.name)
        if rect is not None and _holds(problem, module, rect) and not any(map(rect.overlaps, homes.values())):
            homes[module.name] = rect
    return tuple(homes)


def stayed(previous: Mapping[str, Rect], found: PlacementSolution) -> tuple[str, ...]:
    """Return the modules that have exactly the rectangle that they had."""
    return tuple(name for name, region in found.regions.items() if region == (previous.get(name),))


def _holds(problem: PlacementProblem, module: PlacedModule, rect: Rect) -> bool:
    slot = problem.slot_of[module.slot]
    return not what_is_illegal(problem, slot, rect) and what_is_short(problem, module, rect) is None
