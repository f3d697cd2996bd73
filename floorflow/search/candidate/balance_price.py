"""What balanced rates cost: what folding could do at the least, or at the most, were they not asked for."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingSolution, fold_at_interval
from floorflow.search.candidate.context import PlanningContext


@dataclass(frozen=True)
class WithoutBalance:
    """Bounds on the folding, under all of the budget, of rates that are not balanced.

    ``bound_cycles``: of the interval, None where the shortest is not sought; ``folding_bound``: of what folding
    minimises at the plan's interval, None where it is not known.
    """

    bound_cycles: int | None
    folding_bound: float | None


def without_balance(context: PlanningContext, interval_cycles: int) -> WithoutBalance | None:
    """Return what no balance would allow, None where no rates were balanced."""
    if not context.problem.is_balanced:
        return None
    free, goal = context.problem.without_balance, context.request.goal
    shortest = None
    if goal == "throughput":
        shortest = FeasibilityOracle(free).shortest(lambda answer: not isinstance(answer, FoldingInfeasible))
    longest = free.intervals()[-1] if goal == "latency" else interval_cycles
    answer = fold_at_interval(free, longest)
    return WithoutBalance(shortest, answer.stats.bound if isinstance(answer, FoldingSolution) else None)
