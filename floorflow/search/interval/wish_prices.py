"""What each wish for slots costs: the partition solved with all of them and without one, and the bound on the interval.

Modules, foldings and FIFOs are those of the plan; a wish that costs rate shows in the bound alone.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import starmap

from floorflow.dataflow.model import renamings
from floorflow.facts.partition import WishEntry, WishesEntry, WithoutWishEntry
from floorflow.partition import PartitionProblem, PartitionSolution
from floorflow.resources import largest_share
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import PlanningContext, cap_limits
from floorflow.search.candidate.preparing import with_wishes
from floorflow.search.candidate.slot_problem import partition_problem
from floorflow.search.candidate.wishes import Wish
from floorflow.search.interval.state import SearchState

MOST_PRICED = 1_000
"""Modules times boundaries and links, and lines, up to which each line is priced: it takes a solve."""


def priced_wishes(run: SearchState, candidate: Candidate, bound_cycles: int | None) -> WishesEntry:
    """Price every wish of a plan; ``bound_cycles``: the folding bound, if the highest rate is sought."""
    context, told = run.context_of(candidate), without_prices(run, candidate)
    if len(candidate.modules) * len(candidate.problem.edges) * len(told.lines) > MOST_PRICED:
        return told
    with run.progress.stage("partition"):
        run.progress.note("what each wish costs")
        start = {module: list(context.limits).index(slot) for module, slot in candidate.slot_of.items()}
        of_all = _solved(context, candidate, start)
        if of_all is None:
            return told
        pairs = zip(told.lines, context.wishes.lines, strict=True)
        lines = [
            entry.model_copy(update={"without": _without(run, candidate, line, of_all[1], bound_cycles)})
            for entry, line in pairs
        ]
    return WishesEntry.of(of_all[1], fullness=_fullest(context, *of_all), lines=lines)


def without_prices(run: SearchState, candidate: Candidate) -> WishesEntry:
    """Return the wishes alone, with the names that engines have in the plan."""
    names = renamings(run.context.dataflow, candidate.folded.dataflow)
    lines = [
        WishEntry.of(
            line,
            engines=[names[engine] for engine in line.engines],
            slots=sorted(line.slots) if line.places else [],
            without=None,
        )
        for line in run.context.wishes.lines
    ]
    return WishesEntry(stats=None, fullness=None, lines=lines)


def _without(
    run: SearchState, candidate: Candidate, line: Wish, start: PartitionSolution, bound_cycles: int | None
) -> WithoutWishEntry | None:
    free = with_wishes(run.context_of(candidate), run.context.wishes.without(line))
    solved = _solved(free, candidate, start.slot_of)
    if solved is None:
        return None
    bound = None if bound_cycles is None else _bound(run, line, bound_cycles, candidate.interval_cycles)
    return WithoutWishEntry.of(solved[1], fullness=_fullest(free, *solved), bound_cycles=bound)


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
