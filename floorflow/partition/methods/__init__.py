"""Partition methods by name, a file for each; a new one is a new file with ``solve(problem, limits, seed)``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from floorflow.errors import Refusal, unproven
from floorflow.partition.effort import LIMITS, Limits
from floorflow.partition.infeasibility import obviously_infeasible
from floorflow.partition.problem import PartitionAnswer, PartitionFailure, PartitionProblem, spanning_tree
from floorflow.stats import Method, SolveStats, methods_in

METHODS: Mapping[str, Method[PartitionProblem, Limits, PartitionAnswer]] = methods_in("partition/methods")


def partition(
    problem: PartitionProblem, method: str = "auto", effort: str | Limits = "default", seed: int = 0
) -> PartitionAnswer:
    """Assign every module to a slot with the method of that name.

    The methods know trees of slots. Where links make rings they work on a tree of them, on which nothing is proven of
    the whole, and the answer is then priced on the shortest routes.
    """
    limits = LIMITS[effort] if isinstance(effort, str) else effort
    infeasibility = obviously_infeasible(problem)
    if infeasibility is not None:
        return infeasibility
    if problem.is_tree:
        return METHODS[method](problem, limits, seed)
    return _on_shortest_routes(problem, METHODS[method](spanning_tree(problem), limits, seed))


def _on_shortest_routes(problem: PartitionProblem, answer: PartitionAnswer) -> PartitionAnswer:
    if isinstance(answer, PartitionFailure):
        return replace(answer, refusals=(Refusal("tree of links"), *unproven(answer.refusals)))
    if not problem.is_legal(answer.slot_of):
        return PartitionFailure((Refusal("shortest routes"),))
    stats = SolveStats(f"{answer.stats.method} on a tree of the links", "feasible", float(problem.cost(answer.slot_of)))
    return replace(answer, stats=stats)
