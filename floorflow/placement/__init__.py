"""Rectangles (pblocks) for the modules of one FPGA, each inside the slot that it was assigned to."""

from __future__ import annotations

from floorflow.errors import InputError
from floorflow.placement.area import least_cells
from floorflow.placement.effort import LIMITS
from floorflow.placement.methods import METHODS
from floorflow.placement.problem import (
    Effort,
    Pin,
    PlacedModule,
    PlacementFailure,
    PlacementProblem,
    PlacementSolution,
    Wire,
    hpwl_of,
)
from floorflow.placement.slicing import pack_slot


def place(problem: PlacementProblem, method: str = "auto", seed: int = 0) -> PlacementSolution | PlacementFailure:
    """Place the modules of one FPGA; equal problem, method and seed give an equal answer.

    Raises
    ------
    InputError
        If the method is unknown.

    """
    if method not in METHODS:
        raise InputError(f"placement method is '{method}', expected one of {', '.join(sorted(METHODS))}")
    return METHODS[method](problem, LIMITS[problem.effort], seed)


__all__ = [
    "METHODS",
    "Effort",
    "Pin",
    "PlacedModule",
    "PlacementFailure",
    "PlacementProblem",
    "PlacementSolution",
    "Wire",
    "hpwl_of",
    "least_cells",
    "pack_slot",
    "place",
]
