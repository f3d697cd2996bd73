"""From one folding to a candidate: connect, cluster and partition, as pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from floorflow.channels import PartialPlacement, connect
from floorflow.channels.cost_allocation import engine_charges, module_resources
from floorflow.dataflow.modules import Module, Wire, cluster, module_of
from floorflow.errors import Refusal, unproven
from floorflow.folding import FoldingSolution
from floorflow.hardware import Route
from floorflow.partition import (
    PartitionFailure,
    PartitionSolution,
    SlotCapacity,
)
from floorflow.resources import scaled_down
from floorflow.search.candidate import Candidate, folded_by, least_words, realised
from floorflow.search.context import PlanningContext
from floorflow.search.merging import by_slot
from floorflow.search.slot_problem import channel_routes, partition_problem, slot_capacities
from floorflow.stats import SolveStats, Status


def complete(
    context: PlanningContext, folding: FoldingSolution, tightened: Mapping[str, float] | None = None
) -> Candidate | PartitionFailure:
    """Run connect, cluster and partition on one folding.

    ``tightened`` scales the limit of single slots (a repair when placement failed there).
    """
    folded = folded_by(context, folding)
    first = connect(folded, context.costs)
    wires = [
        Wire(c.stream.source, c.stream.target, c.width_bits)
        for c in first
        if not (c.stream.from_outside or c.stream.to_outside)
    ]
    pblock_capacities = [
        slot.limit.least(capacity) for slot in slot_capacities(context) for capacity in slot.pblock_capacities
    ]
    modules = cluster(
        folded.dataflow, wires, engine_charges(folded, first), context.request.granularity, pblock_capacities
    )
    candidate = assign(context, folding, modules, tightened)
    if context.request.granularity == "slot" and isinstance(candidate, Candidate):
        return by_slot(context, candidate, sorted(set(candidate.slot_of.values())), keep=1)
    return candidate


def assign(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    tightened: Mapping[str, float] | None = None,
) -> Candidate | PartitionFailure:
    """Partition given modules; FIFO depths follow from what the channels turn out to cross.

    The bound that the candidate reports is of the problem with shallow FIFOs everywhere and all of each slot's limit:
    whatever an assignment crosses, it can cost no less.
    """
    folded = folded_by(context, folding)
    owner = module_of(modules)
    routes: dict[str, Route] = {}
    bound: float | None = None
    failure = PartitionFailure((Refusal("crossing FIFOs"),))
    # FIFOs at crossings are deeper, which changes demands, which may move modules: a few rounds settle it.
    for _ in range(context.search_limits.assignment_rounds):
        placed_so_far = PartialPlacement(owner, routes, least_words(context, folded))
        channels = connect(folded, context.costs, placed_so_far)
        demands = module_resources(modules, folded, channels)
        problem = partition_problem(context, modules, demands, channels, interval_cycles=folding.interval_cycles)
        answer = context.solvers.partition(problem)
        if isinstance(answer, PartitionFailure):
            return answer
        bound = answer.stats.bound if bound is None else bound
        if tightened:
            problem = replace(problem, slots=tuple(_tightened(slot, tightened) for slot in problem.slots))
            answer = context.solvers.partition(problem)
            if isinstance(answer, PartitionFailure):
                return replace(answer, refusals=unproven(answer.refusals))
        answer = _against(answer, problem.cost(answer.slot_of), bound)
        candidate = realised(context, folding, modules, channels, answer)
        if candidate.problem.is_legal(answer.slot_of):
            return candidate
        needed = channel_routes(context, modules, channels, candidate.slot_of)
        routes = {n: routes.get(n, Route()).longer(needed.get(n, Route())) for n in (routes | needed)}
    return failure


def _tightened(slot: SlotCapacity, shares: Mapping[str, float]) -> SlotCapacity:
    share = shares.get(slot.name, 1.0)
    return replace(slot, limit=scaled_down(slot.limit, dict.fromkeys(slot.limit.as_dict(), share)))


def _against(answer: PartitionSolution, cost: int, bound: float | None) -> PartitionSolution:
    """Hold an answer's cost against the bound of the first, loosest problem."""
    unproven: Status = "heuristic" if answer.stats.status == "heuristic" else "feasible"
    status: Status = "optimal" if bound is not None and cost <= bound else unproven
    return replace(answer, stats=SolveStats(answer.stats.method, status, float(cost), bound))
