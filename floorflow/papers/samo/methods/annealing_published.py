"""Method ``annealing-published``: SAMO's Algorithm 1 as its section V states it."""

from floorflow.papers.samo.methods.annealing import PUBLISHED, answer
from floorflow.papers.samo.problem import ScheduleAnswer, ScheduleProblem


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return the best state that one run meets; proves nothing."""
    return answer(problem, PUBLISHED, seed, "annealing-published")
