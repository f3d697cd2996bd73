"""Method ``cuts``: slots as 0/1 vectors over cuts, exact on any graph of slots and with limits that no other knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from floorflow.errors import Refusal
from floorflow.partition.arrays import arrays_of
from floorflow.partition.cuts.search import CutSearch, cut_search
from floorflow.partition.dp import contiguous
from floorflow.partition.infeasibility import explain_infeasibility, worst
from floorflow.partition.metis import bipartitioned
from floorflow.partition.problem import (
    Limits,
    PartitionAnswer,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    plain_tree,
)
from floorflow.stats import SolveStats, Status


def solve(
    problem: PartitionProblem, limits: Limits, seed: int, start: Mapping[str, int] | None = None
) -> PartitionAnswer:
    """Begin with METIS, dp and annealing; bound cuts alone and jointly; then solve all of them."""
    search = cut_search(problem, limits.work, seed)
    for origin, slot_of in _starts(problem, seed, start).items():
        search.offer(search.arrays.as_array(slot_of), origin)
    search.run()
    if search.infeasible:
        return _refused(problem, search, seed, limits)
    if search.best is None or not search.is_legal:
        closest = None if search.best is None else search.arrays.as_mapping(search.best)
        refusal = None if closest is None else worst(problem, closest)
        return PartitionFailure((refusal or Refusal("partition limit"),), closest=closest)
    slot_of = search.arrays.as_mapping(search.best)
    cost, bound = problem.cost(slot_of), -(-search.bound // search.arrays.scale)
    status: Status = "optimal" if cost <= bound else "feasible"
    return PartitionSolution(slot_of, SolveStats(f"cuts ({search.origin})", status, float(cost), float(min(cost, bound))))


def _starts(problem: PartitionProblem, seed: int, start: Mapping[str, int] | None) -> dict[str, Mapping[str, int]]:
    """Return assignments to begin from, by who made them, legal or not: on a tree of the slots."""
    arrays = arrays_of(plain_tree(problem))
    starts = {} if start is None else {"given": start}
    ordered = contiguous(plain_tree(problem), arrays)[0]
    if ordered is not None:
        starts["dp"] = arrays.as_mapping(ordered)
    return starts | {"metis": arrays.as_mapping(bipartitioned(arrays, seed))}


def _refused(problem: PartitionProblem, search: CutSearch, seed: int, limits: Limits) -> PartitionFailure:
    """Say why there is no legal assignment, and what comes closest."""
    closest = None if search.best is None else search.arrays.as_mapping(search.best)
    if problem.is_plain:
        return replace(explain_infeasibility(problem, seed, limits.work * limits.reason), closest=closest)
    refusal = None if closest is None else worst(problem, closest)
    return PartitionFailure((replace(refusal or Refusal("each slot"), proven=True),), closest=closest)
