"""Method ``cuts``: slots as 0/1 vectors over cuts, exact on any graph of slots and with limits that no other knows."""

from collections.abc import Mapping
from dataclasses import replace

from floorflow.errors import Refusal
from floorflow.partition.arrays import arrays_of
from floorflow.partition.bounds import fpga_first
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
    for origin, slot_of in _starts(problem, seed, limits, start).items():
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
    return PartitionSolution(
        slot_of, SolveStats(f"cuts ({search.origin})", status, float(cost), float(min(cost, bound)))
    )


def _starts(
    problem: PartitionProblem, seed: int, limits: Limits, start: Mapping[str, int] | None
) -> dict[str, Mapping[str, int]]:
    """Return assignments to begin from, by who made them, legal or not: on a tree of the slots."""
    tree = plain_tree(problem)
    arrays = arrays_of(tree)
    starts = {} if start is None else {"given": start}
    found = {"dp": contiguous(tree, arrays)[0], "metis": bipartitioned(arrays, seed)}
    found["links first"] = fpga_first(tree, arrays, seed, limits.work * limits.fpgas)
    return starts | {name: arrays.as_mapping(one) for name, one in found.items() if one is not None}


def _refused(problem: PartitionProblem, search: CutSearch, seed: int, limits: Limits) -> PartitionFailure:
    """Say why there is no legal assignment, and what comes closest."""
    closest = None if search.best is None else search.arrays.as_mapping(search.best)
    return replace(explain_infeasibility(problem, seed, limits.work * limits.reason), closest=closest)
