"""Scheduling methods by name, a file for each: ``solve(problem, seed)``."""

from collections.abc import Mapping
from typing import Protocol

from floorflow.papers.samo.problem import ScheduleAnswer, ScheduleProblem
from floorflow.stats import methods_in


class ScheduleMethod(Protocol):
    """A way to cut a network into partitions and to fold them: equal arguments give an equal answer."""

    def __call__(self, problem: ScheduleProblem, seed: int = 0, /) -> ScheduleAnswer:
        """Return a design, or why there is none."""


def schedule_methods() -> Mapping[str, ScheduleMethod]:
    """Return all methods by name."""
    return methods_in("papers/samo")
