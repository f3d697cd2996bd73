"""Method ``cpsat``: what `auto` finds, then CP-SAT over every legal rectangle of however many modules.

For small sets: up to seven or so it proves which layout is best; of more it may find a shorter one.
"""

from dataclasses import replace

from floorflow.placement.methods import auto
from floorflow.placement.problem import Limits, PlacementFailure, PlacementProblem, PlacementSolution

WORK = 60.0
"""Deterministic seconds of CP-SAT."""


def solve(problem: PlacementProblem, limits: Limits, seed: int) -> PlacementSolution | PlacementFailure:
    """Place all modules."""
    if problem.draft:
        return auto.solve(problem, limits, seed)
    wide = replace(
        limits,
        complete_work=WORK,
        complete_modules=len(problem.modules),
        proof_work=WORK,
        ordered_modules=max(limits.ordered_modules, len(problem.modules)),
        ordered_work=max(limits.ordered_work, WORK / 6),
    )
    found = auto.solve(problem, wide, seed)
    return replace(found, stats=replace(found.stats, method=found.stats.method.replace("auto", "cpsat", 1)))
