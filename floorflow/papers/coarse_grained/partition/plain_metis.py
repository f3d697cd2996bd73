"""Method ``plain-metis``: recursive bipartition alone, as the paper has it, for comparison.

Parts are not refined, and no module moves after the mapping of parts to slots.
"""

from collections.abc import Mapping

import numpy as np

from floorflow.partition.arrays import Integers, ProblemArrays, arrays_of, heuristic
from floorflow.partition.fm import is_legal
from floorflow.partition.metis import assign_parts, module_graph, split
from floorflow.partition.problem import Limits, PartitionAnswer, PartitionProblem


def solve(
    problem: PartitionProblem,
    limits: Limits,  # noqa: ARG001  (every method's signature)
    seed: int,
    start: Mapping[str, int] | None = None,  # noqa: ARG001
) -> PartitionAnswer:
    """Bisect recursively as the paper has it."""
    arrays = arrays_of(problem)
    return heuristic(arrays, _bisected(arrays, seed), "metis without refinement")


def _bisected(arrays: ProblemArrays, seed: int) -> Integers | None:
    if not len(arrays.names):
        return np.zeros(0, dtype=np.int64)
    if not arrays.takes.any(axis=1).all():
        return None
    graph = module_graph(arrays)
    parts = split([tuple(range(len(arrays.names)))], graph, seed)
    if not all(graph.fits(part) for part in parts):
        return None
    assignment = assign_parts(parts, arrays)
    return assignment if is_legal(arrays, assignment) else None
