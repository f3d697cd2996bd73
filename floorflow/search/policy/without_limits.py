"""What the limits on single engines cost: the folding bound without them, where it is proven."""

from __future__ import annotations

from floorflow.folding import FoldingProblem, FoldingSolution
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.engine_limits import PRODUCTS
from floorflow.search.candidate.findings import LimitOption, WithoutLimits
from floorflow.search.candidate.progress import SILENT
from floorflow.search.interval.highest_rate import shortest_possible
from floorflow.search.interval.state import SearchState


def without_limits(context: PlanningContext, bound_cycles: int) -> WithoutLimits | None:
    """Return the folding bound without limits on engines, and which of them it takes; None where it is not proven.

    ``bound_cycles``: the bound under the limits.
    """
    limits = context.engine_limits
    if context.problem is context.unlimited:
        return None
    free = _proven_bound(context, context.unlimited)
    if free is None or free >= bound_cycles:
        return None if free is None else WithoutLimits(bound_cycles, ())
    shares = tuple(name for name in limits.names if name != PRODUCTS)
    lifted: tuple[tuple[LimitOption, tuple[str, ...]], ...] = (
        ("max_products", (PRODUCTS,)),
        ("max_engine_share", shares),
    )
    for option, names in lifted:
        if _proven_bound(context, context.within(limits.without(names)).problem) == free:
            return WithoutLimits(free, (option,))
    return WithoutLimits(free, ("max_products", "max_engine_share"))


def _proven_bound(context: PlanningContext, problem: FoldingProblem) -> int | None:
    """Return the shortest interval that a folding of a problem has; None if solvers leave it open."""
    run = SearchState(context, SILENT).among(problem)
    intervals, index = shortest_possible(run)
    bound = intervals[index]
    if not run.is_feasible(bound) or not isinstance(run.oracle(bound), FoldingSolution):
        return None
    below = intervals[index - 1] if index else None
    return bound if below is None or not run.is_feasible(below) else None
