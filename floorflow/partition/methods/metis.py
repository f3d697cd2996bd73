"""Method ``metis``: recursive bipartition and refinement."""

from __future__ import annotations

from floorflow.partition.arrays import arrays_of, heuristic
from floorflow.partition.effort import Limits
from floorflow.partition.metis import recursive_bipartition
from floorflow.partition.problem import PartitionAnswer, PartitionProblem


def solve(problem: PartitionProblem, limits: Limits, seed: int) -> PartitionAnswer:  # noqa: ARG001  (every method's signature)
    """Bisect recursively and refine."""
    arrays = arrays_of(problem)
    return heuristic(arrays, recursive_bipartition(arrays, seed), "metis")
