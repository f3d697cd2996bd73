"""The partition methods by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from floorflow.partition.exact import exact
from floorflow.partition.metis import recursive_bipartition
from floorflow.partition.problem import PartitionFailure, PartitionProblem, PartitionSolution
from floorflow.stats import SolveStats

Answer = PartitionSolution | PartitionFailure

DETERMINISTIC_LIMITS = {"fast": 0.5, "default": 4.0, "best": 60.0}
"""CP-SAT deterministic time units by effort."""


def partition(problem: PartitionProblem, method: str = "auto", effort: str = "default", seed: int = 0) -> Answer:
    """Assign every module to a slot with the method of that name."""
    return METHODS[method](problem, DETERMINISTIC_LIMITS[effort], seed)


def _auto(problem: PartitionProblem, limit: float, seed: int) -> Answer:
    """METIS starts the exact model; the statistics say whether METIS found a start at all."""
    start = recursive_bipartition(problem, seed)
    answer = exact(problem, start, seed, limit)
    if isinstance(answer, PartitionFailure):
        return answer
    method = "metis+cpsat" if start is not None else "cpsat (METIS found no legal start)"
    found = answer.stats
    return PartitionSolution(answer.slot_of, SolveStats(method, found.status, found.objective, found.bound))


def _metis(problem: PartitionProblem, limit: float, seed: int) -> Answer:  # noqa: ARG001  (registered signature)
    slot_of = recursive_bipartition(problem, seed)
    if slot_of is None:
        return PartitionFailure("METIS recursive bipartition found no legal assignment", proven=False)
    return PartitionSolution(slot_of, SolveStats("metis", "heuristic", float(problem.cost(slot_of))))


def _exact(problem: PartitionProblem, limit: float, seed: int) -> Answer:
    return exact(problem, None, seed, limit)


METHODS: Mapping[str, Callable[[PartitionProblem, float, int], Answer]] = {
    "auto": _auto,
    "exact": _exact,
    "metis": _metis,
}
