"""Method ``exact``: the optimum over all cuts and foldings, with proof.

A dynamic program over cuts on bounds of all segments; the segments of its best path are solved, their bounds become
exact, those of longer ones rise, and the program runs again. When all segments of the best path are solved it is the
optimum, for all other paths were judged by lower bounds.
"""

from __future__ import annotations

import numpy as np

from floorflow.errors import LimitError
from floorflow.papers.samo.intervals import SegmentIntervals
from floorflow.papers.samo.problem import Design, ScheduleAnswer, ScheduleProblem
from floorflow.segments.cheapest_path import cheapest_path
from floorflow.stats import SolveStats


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return the design of least cost, or the proof that there is none. ``seed`` is not used.

    Where folding reaches its limit within a partition there is no design, and the bound is what was proven by then.
    """
    del seed
    intervals = SegmentIntervals(problem)
    run_us = np.append([problem.microseconds(cycles) for cycles in problem.levels.tolist()], np.inf)
    while True:
        cost, path = cheapest_path(run_us[intervals.lowest], problem.reconfiguration_us)
        if path is None:
            return ScheduleAnswer(None, SolveStats("exact", "infeasible"))
        open_ = [segment for segment in path if not intervals.is_known(*segment)]
        if not open_:
            return _answer(problem, intervals, path, cost)
        try:
            for segment in open_:
                intervals.shortest(*segment)
        except LimitError as error:
            return ScheduleAnswer(None, SolveStats("exact", "heuristic", None, cost), str(error))


def _answer(
    problem: ScheduleProblem, intervals: SegmentIntervals, path: list[tuple[int, int]], cost: float
) -> ScheduleAnswer:
    cuts = tuple(problem.borders[b] - 1 for _, b in path[:-1])
    rows = tuple(number for segment in path for number in intervals.shortest(*segment).numbers)
    return ScheduleAnswer(Design(cuts, rows), SolveStats("exact", "optimal", cost, cost))
