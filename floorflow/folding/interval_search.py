"""The shortest interval for which something holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from floorflow.folding.problem import FoldingProblem

RATIO = 1.2
"""By which steps between intervals begin to grow where each is tried quickly."""


def shortest_interval(
    intervals: Sequence[int],
    feasible: Callable[[int], bool],
    start: int = 0,
    tries: int | None = None,
    ratio: float | None = None,
    *,
    within: float = 0.0,
) -> int | None:
    """Search ascending ``intervals`` for the first for which ``feasible`` holds, as if it were monotone.

    ``start`` is an index below which nothing need be tried; the answer is expected near it. If it is not there, the
    last interval tells whether there is one, steps grow from the start, and what lies between is bisected, in at
    most so many ``tries`` and until the answer is ``within`` so small a share of what fails. Steps are of 1, 2, 4, ...
    intervals, or by the ``ratio``, its square, that one's square, ...
    Returns the least index for which ``feasible`` was seen to hold, None if the last one fails.
    """
    low, high, step, growing = start, len(intervals) - 1, 1, True
    if start > high:
        return None
    if feasible(intervals[start]):
        return start
    if start == high or not feasible(intervals[high]):
        return None
    while high - low > 1 and tries != 0 and intervals[high] > (1 + within) * intervals[low]:
        tries = None if tries is None else tries - 1
        at = high
        if growing:
            at = low + step if ratio is None else bisect_left(intervals, intervals[low] * ratio**step, low + 1)
        if at >= high:
            growing, at = False, (low + high) // 2
        if feasible(intervals[at]):
            growing, high = False, at
        else:
            low, step = at, 2 * step
    return high


def first_index_to_try(problem: FoldingProblem) -> int:
    """Return the index of the first of the problem's intervals that need be tried."""
    return min(problem.first_possible(problem.intervals()), len(problem.intervals()) - 1)
