"""Method ``exact``: CP-SAT on all slots at once, with no other start than the one given."""

from collections.abc import Mapping

from floorflow.partition.arrays import arrays_of
from floorflow.partition.exact import solve as solve_exactly
from floorflow.partition.infeasibility import explain_infeasibility
from floorflow.partition.methods.auto import Best, finished
from floorflow.partition.problem import Limits, PartitionAnswer, PartitionProblem


def solve(
    problem: PartitionProblem, limits: Limits, seed: int, start: Mapping[str, int] | None = None
) -> PartitionAnswer:
    """Run CP-SAT from the start given, if any."""
    best = Best(arrays_of(problem), origin="cpsat")
    hint = None if start is None else best.arrays.as_array(start)
    outcome = solve_exactly(problem, best.arrays, hint, seed, limits.work)
    if outcome.status == "infeasible":
        return explain_infeasibility(problem, seed, limits.work * limits.reason)
    best.assignment, best.bound = outcome.assignment, outcome.bound
    return finished(problem, best, seed, limits)
