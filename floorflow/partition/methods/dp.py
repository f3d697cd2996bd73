"""Method ``dp``: the best contiguous assignment."""

from __future__ import annotations

from floorflow.partition.arrays import arrays_of, heuristic
from floorflow.partition.dp import contiguous
from floorflow.partition.effort import Limits
from floorflow.partition.problem import PartitionAnswer, PartitionProblem


def solve(problem: PartitionProblem, limits: Limits, seed: int) -> PartitionAnswer:  # noqa: ARG001  (every method's signature)
    """Assign contiguously, at the best."""
    arrays = arrays_of(problem)
    assignment, shortened = contiguous(problem, arrays)
    return heuristic(arrays, assignment, "dp over a choice of ideals" if shortened else "dp")
