"""Method ``dp``: the best contiguous assignment."""

from collections.abc import Mapping

from floorflow.partition.arrays import arrays_of, heuristic
from floorflow.partition.dp import contiguous
from floorflow.partition.problem import Limits, PartitionAnswer, PartitionProblem


def solve(
    problem: PartitionProblem,
    limits: Limits,  # noqa: ARG001  (every method's signature)
    seed: int,  # noqa: ARG001
    start: Mapping[str, int] | None = None,  # noqa: ARG001
) -> PartitionAnswer:
    """Assign contiguously, at the best."""
    arrays = arrays_of(problem)
    assignment, shortened = contiguous(problem, arrays)
    return heuristic(arrays, assignment, "dp over a choice of ideals" if shortened else "dp")
