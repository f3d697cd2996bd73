"""Method ``annealing-code``: the schedule of SAMO's code."""

from floorflow.papers.samo.methods.annealing import CODED, answer
from floorflow.papers.samo.problem import ScheduleAnswer, ScheduleProblem


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return the best state that one run meets; proves nothing."""
    return answer(problem, CODED, seed, "annealing-code")
