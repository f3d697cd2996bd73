"""Method ``annealing``: SAMO's Algorithm 1 at the published temperatures, as thousandths of the cost."""

from __future__ import annotations

from dataclasses import replace

from floorflow.papers.samo.annealing import SCALED, answer
from floorflow.papers.samo.problem import ScheduleAnswer, ScheduleProblem

MOVES_A_NODE, MOST_MOVES = 2, 120
"""Moves at each temperature: more where there is more to move, up to a limit."""


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return the best state that one run meets; proves nothing."""
    moves = min(max(SCALED.moves, MOVES_A_NODE * len(problem.nodes)), MOST_MOVES)
    return answer(problem, replace(SCALED, moves=moves), seed, "annealing")
