"""Method ``annealing``: SAMO's Algorithm 1 at the published temperatures, as thousandths of the cost."""

from __future__ import annotations

from floorflow.schedule.annealing import SCALED, answer
from floorflow.schedule.problem import ScheduleAnswer, ScheduleProblem


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return the best state that one run meets; proves nothing."""
    return answer(problem, SCALED, seed, "annealing")
