"""Method ``greedy``: what `auto` starts from, the best of several constructions, without improving it."""

from __future__ import annotations

from dataclasses import replace

from floorflow.placement.effort import Limits
from floorflow.placement.methods import auto
from floorflow.placement.problem import PlacementFailure, PlacementProblem, PlacementSolution


def solve(problem: PlacementProblem, limits: Limits, seed: int) -> PlacementSolution | PlacementFailure:
    """Construct a layout."""
    answer = auto.solve(problem, replace(limits, improve_rounds=0, tight_rounds=0, polish_work=0.0, complete_limit=0), seed)
    return replace(answer, stats=replace(answer.stats, method=answer.stats.method.replace("auto", "greedy")))
