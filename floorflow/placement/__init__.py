"""Pblocks for the modules of one FPGA, each inside the slot that it was assigned to."""

from dataclasses import replace

from floorflow.errors import InputError, Refusal
from floorflow.placement.alike import place_alike
from floorflow.placement.congestion import RoutingMap
from floorflow.placement.construction.slicing import pack_slot
from floorflow.placement.fixed import around, at_home, fixed_regions, stayed, together, whole_slots, with_fixed, without
from floorflow.placement.growth import HasRoom, cut_to_fabric, grown
from floorflow.placement.methods import METHODS
from floorflow.placement.problem import (
    LIMITS,
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
from floorflow.placement.rectangles.area import least_cells
from floorflow.placement.rectangles.candidate_rectangles import supply_at
from floorflow.placement.staying import place_near
from floorflow.stats import SolveStats


def place(problem: PlacementProblem, method: str = "auto", seed: int = 0) -> PlacementSolution | PlacementFailure:
    """Place the modules of one FPGA; equal problem, method and seed give an equal answer.

    Each gets a rectangle, but one that has a slot to itself and fits none there gets all that is free of it. Fixed ones
    get theirs; with ``previous`` rectangles as few of the others leave them as can be.

    Raises InputError if the method is unknown, or a fixed rectangle can be no pblock.
    """
    if method not in METHODS:
        raise InputError(f"placement method is '{method}', expected one of {', '.join(sorted(METHODS))}")
    fixed = fixed_regions(problem)
    if isinstance(fixed, Refusal):
        return PlacementFailure(fixed, SolveStats(method, "infeasible"))
    rest = around(problem, fixed) if fixed else problem
    regions = whole_slots(rest)
    others = _placed(without(rest, regions) if regions else rest, method, seed)
    if isinstance(others, PlacementFailure):
        return others
    found = together(rest, regions, others) if regions else others
    return with_fixed(problem, fixed, found) if fixed else found


def _placed(problem: PlacementProblem, method: str, seed: int) -> PlacementSolution | PlacementFailure:
    """Place modules of which each gets a rectangle: near where they were, if they were anywhere."""
    limits = LIMITS[problem.effort]
    if problem.previous and problem.draft:
        near, _ = place_near(problem, limits, seed, None)
        return near or METHODS[method](problem, limits, seed)
    # Pblocks that had grown may be longer than those that a search takes: no hints for one from scratch.
    found = METHODS[method](replace(problem, hints={}) if problem.previous else problem, limits, seed)
    if isinstance(found, PlacementSolution) and problem.alike and not problem.draft:
        return place_alike(problem, limits, seed, found)
    if not problem.previous or isinstance(found, PlacementFailure):
        return found
    return place_near(problem, limits, seed, found)[0] or found
