"""Method ``metis``: recursive bipartition and refinement."""

from collections.abc import Mapping

from floorflow.partition.arrays import arrays_of, heuristic
from floorflow.partition.metis import recursive_bipartition
from floorflow.partition.problem import Limits, PartitionAnswer, PartitionProblem


def solve(
    problem: PartitionProblem,
    limits: Limits,  # noqa: ARG001  (every method's signature)
    seed: int,
    start: Mapping[str, int] | None = None,  # noqa: ARG001
) -> PartitionAnswer:
    """Bisect recursively and refine."""
    arrays = arrays_of(problem)
    return heuristic(arrays, recursive_bipartition(arrays, seed), "metis")
