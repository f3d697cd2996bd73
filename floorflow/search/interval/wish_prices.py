"""What each wish for slots costs: the partition solved with all of them and without one, and the bound on the interval.

Modules, foldings and FIFOs are those of the plan; a wish that costs rate shows in the bound alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import starmap

from floorflow.partition import PartitionProblem, PartitionSolution
from floorflow.resources import largest_share
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import PlanningContext, cap_limits
from floorflow.search.candidate.findings import PricedWishes, WishPrice
from floorflow.search.candidate.preparing import with_wishes
from floorflow.search.candidate.slot_problem import partition_problem
from floorflow.search.candidate.wishes import Wish
from floorflow.search.interval.state import SearchState

MOST_PRICED = 1_000
"""Modules times boundaries and links, and lines, up to which each line is priced: it takes a solve."""


def priced_wishes(run: SearchState, candidate: Candidate, bound_cycles: int | None) -> PricedWishes | None:
    """Price every wish of a plan, None where there are none; ``bound_cycles``: the folding bound, if rate is sought."""
    lines, context = run.context.wishes.lines, run.context_of(candidate)
    if not lines:
        return None
    size = len(candidate.modules) * len(candidate.problem.edges) * len(lines)
    if size > MOST_PRICED:
        return PricedWishes(None, 0.0, tuple(WishPrice(line) for line in lines))
    with run.progress.stage("partition"):
        run.progress.note("what each wish costs")
        start = {module: list(context.limits).index(slot) for module, slot in candidate.slot_of.items()}
        of_all = _solved(context, candidate, start)
        if of_all is None:
            return PricedWishes(None, 0.0, tuple(WishPrice(line) for line in lines))
        found = [_price(run, candidate, line, of_all[1], bound_cycles) for line in lines]
    return PricedWishes(of_all[1].stats, _fullest(context, *of_all), tuple(found))


def _price(
    run: SearchState, candidate: Candidate, line: Wish, start: PartitionSolution, bound_cycles: int | None
) -> WishPrice:
    free = with_wishes(run.context_of(candidate), run.context.wishes.without(line))
    solved = _solved(free, candidate, start.slot_of)
    if solved is None:
        return WishPrice(line)
    bound = None if bound_cycles is None else _bound(run, line, bound_cycles, candidate.interval_cycles)
    return WishPrice(line, solved[1].stats, _fullest(free, *solved), bound)


def _solved(
    context: PlanningContext, candidate: Candidate, start: Mapping[str, int]
) -> tuple[PartitionProblem, PartitionSolution] | None:
    """Assign the plan's modules under the wishes of a context, from a start; None if nothing is found."""
    problem = partition_problem(
        context, candidate.modules, candidate.demands, candidate.channels, folded=candidate.folded
    )
    if not problem.is_legal(start):
        return None  # register slices took what was left
    answer = context.solvers.partition(problem, start, True)  # noqa: FBT003  (a function's place has no name)
    return (problem, answer) if isinstance(answer, PartitionSolution) else None


def _fullest(context: PlanningContext, problem: PartitionProblem, answer: PartitionSolution) -> float:
    """Return the largest share of a slot's cap, as the plan's fullness is told."""
    return max(
        starmap(largest_share, zip(problem.slot_demands(answer.slot_of), cap_limits(context).values(), strict=True))
    )


def _bound(run: SearchState, line: Wish, bound_cycles: int, interval: int) -> int:
    """Return an interval below which there is no plan without a wish, at most the plan's own."""
    if bound_cycles >= interval:
        return interval
    free = SearchState(with_wishes(run.context, run.context.wishes.without(line)), run.progress)
    intervals = free.context.problem.intervals()
    below = intervals[: bisect_right(intervals, interval)]
    return free.find_joint_bound(below, bisect_left(below, bound_cycles)).interval_cycles or interval
