"""Method ``cpsat``: what `auto` finds, then CP-SAT over every legal rectangle that a shorter layout could be made of.

For small sets: where many rectangles stay, it improves the layout over those nearest to it, and the bound is as before.
"""

from __future__ import annotations

from dataclasses import replace

from floorflow.placement.effort import Limits
from floorflow.placement.methods import auto
from floorflow.placement.problem import PlacementFailure, PlacementProblem, PlacementSolution

RECTANGLES = 40_000
"""Rectangles of all modules, up to which CP-SAT sees every one."""
WORK = 60.0
"""Deterministic seconds of CP-SAT."""


def solve(problem: PlacementProblem, limits: Limits, seed: int) -> PlacementSolution | PlacementFailure:
    """Place all modules."""
    if problem.draft:
        return auto.solve(problem, limits, seed)
    wide = replace(
        limits,
        complete_limit=RECTANGLES,
        complete_work=WORK,
        complete_modules=len(problem.modules),
        polish_work=max(limits.polish_work, WORK / 6),
        polish_candidates=max(limits.polish_candidates, 300),
    )
    return auto.solve(problem, wide, seed)
