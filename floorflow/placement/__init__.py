"""Pblocks for the modules of one FPGA, each inside the slot that it was assigned to."""

from __future__ import annotations

from floorflow.errors import InputError
from floorflow.placement.area import least_cells
from floorflow.placement.candidate_rectangles import supply_at
from floorflow.placement.congestion import RoutingMap
from floorflow.placement.effort import LIMITS
from floorflow.placement.growth import HasRoom, grown
from floorflow.placement.methods import METHODS
from floorflow.placement.problem import (
    Effort,
    Pin,
    PlacedModule,
    PlacementFailure,
    PlacementProblem,
    PlacementSolution,
    Region,
    Terms,
    Weights,
    Wire,
    hpwl_of,
)
from floorflow.placement.slicing import pack_slot
from floorflow.placement.whole_slots import together, whole_slots, without


def place(problem: PlacementProblem, method: str = "auto", seed: int = 0) -> PlacementSolution | PlacementFailure:
    """Place the modules of one FPGA; equal problem, method and seed give an equal answer.

    Each gets a rectangle, but one that has a slot to itself and fits none there gets all that is free of it.

    Raises
    ------
    InputError
        If the method is unknown.

    """
    if method not in METHODS:
        raise InputError(f"placement method is '{method}', expected one of {', '.join(sorted(METHODS))}")
    regions = whole_slots(problem)
    others: PlacementSolution | PlacementFailure
    others = METHODS[method](without(problem, regions) if regions else problem, LIMITS[problem.effort], seed)
    return together(problem, regions, others) if regions and isinstance(others, PlacementSolution) else others


__all__ = [
    "METHODS",
    "Effort",
    "HasRoom",
    "Pin",
    "PlacedModule",
    "PlacementFailure",
    "PlacementProblem",
    "PlacementSolution",
    "Region",
    "RoutingMap",
    "Terms",
    "Weights",
    "Wire",
    "grown",
    "hpwl_of",
    "least_cells",
    "pack_slot",
    "place",
    "supply_at",
]
