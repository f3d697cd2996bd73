"""From one folding to a candidate: connect, cluster and partition, as pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from floorflow.channels import Channel, PartialPlacement
from floorflow.channels.cost_allocation import engine_charges, module_resources
from floorflow.dataflow.model import FoldedDataflow, renamings
from floorflow.dataflow.modules import Module, Wire, cluster, module_of
from floorflow.errors import Refusal, unproven
from floorflow.folding import FoldingSolution
from floorflow.hardware import Route
from floorflow.partition import PartitionFailure, PartitionProblem, PartitionSolution, SlotCapacity, worst
from floorflow.resources import scaled_down, shortfall, total
from floorflow.search.candidate.candidate import Candidate, connected, folded_by, in_styles, least_words, realised
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.merging import by_slot
from floorflow.search.candidate.pblock_sizes import measured_engines, module_uses
from floorflow.search.candidate.slot_problem import channel_routes, partition_problem, with_areas
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class Unassigned:
    """Why the modules of a folding got no slots.

    ``closest``: the slots of the assignment that exceeds limits least, if there is one, by engine, with the names that
    engines have before their kinds are chosen.
    """

    failure: PartitionFailure
    closest: Mapping[str, str] | None = None


def complete(
    context: PlanningContext,
    folding: FoldingSolution,
    tightened: Mapping[str, float] | None = None,
    slot_of: Mapping[str, str] | None = None,
) -> Candidate | Unassigned:
    """Run connect, cluster and partition on one folding.

    ``tightened`` scales the limit of single slots (a repair when placement failed there). ``slot_of`` are the slots for
    which engines were folded, by their names before that: modules then end at slots, and partition starts from there.
    """
    folded = folded_by(context, folding)
    renamed = renamings(context.dataflow, folded.dataflow)
    slots = {renamed[engine]: slot for engine, slot in (slot_of or {}).items()}
    modules = clustered(context, folded, slots)
    start = {module.name: slots[module.engines[0]] for module in modules} if slots else None
    candidate = assign(context, folding, modules, tightened=tightened, start=start)
    if context.request.granularity == "slot" and isinstance(candidate, Candidate):
        candidate = by_slot(context, candidate, sorted(set(candidate.slot_of.values())), keep=1)
    if isinstance(candidate, Candidate):
        return candidate
    return Unassigned(candidate, _closest(context, candidate, modules, renamed))


def _closest(
    context: PlanningContext, failure: PartitionFailure, modules: Sequence[Module], renamed: Mapping[str, str]
) -> Mapping[str, str] | None:
    """Return the slots of engines in the assignment of a failure."""
    if failure.closest is None:
        return None
    names, earlier = list(context.limits), {new: old for old, new in renamed.items()}
    slots = failure.closest
    return {earlier[engine]: names[slots[m.name]] for m in modules for engine in m.engines}


def clustered(context: PlanningContext, folded: FoldedDataflow, slot_of: Mapping[str, str]) -> tuple[Module, ...]:
    """Return the modules of a folded network; with ``slot_of``, by engine, none lies in two slots."""
    first = connected(context, folded)
    wires = [
        Wire(c.stream.source, c.stream.target, c.width_bits)
        for c in first
        if not (c.stream.from_outside or c.stream.to_outside)
    ]
    capacities = [
        limit.least(held) for slot, limit in context.limits.items() for held in context.pblock_capacities[slot]
    ]
    charges = engine_charges(folded, first)
    return cluster(folded.dataflow, wires, charges, context.request.granularity, capacities, slot_of=slot_of)


def assign(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    *,
    tightened: Mapping[str, float] | None = None,
    start: Mapping[str, str] | None = None,
    area_share: float | None = None,
    tight: bool = False,
    prove: bool = False,
) -> Candidate | PartitionFailure:
    """Partition given modules; FIFO depths follow from what the channels turn out to cross.

    ``start`` are slots, by module, to begin from. Without ``prove`` the first legal answer will do. ``area_share``: the
    share of a slot's free cells that the least rectangles of its modules may fill; ``tight``: these are as full as can
    be. The bound that the candidate reports is of the problem that was solved last.
    """
    folded = folded_by(context, folding)
    owner, least = module_of(modules), least_words(context, folded)
    measured = measured_engines(context, folding, folded)
    routes: dict[str, Route] = {}
    channels: Sequence[Channel] = ()
    failure = PartitionFailure((Refusal("crossing FIFOs"),))
    names = list(context.limits)
    begin = None if start is None else {module: names.index(slot) for module, slot in start.items()}
    # FIFOs at crossings are deeper, which changes demands, which may move modules: a few rounds settle it.
    for _ in range(context.search_limits.assignment_rounds):
        channels = _before_partition(context, folded, PartialPlacement(owner, routes, least), start)
        demands = module_resources(modules, folded, channels)
        problem = partition_problem(context, modules, demands, channels, folded=folded)
        harder = _harder(problem, tightened or {})
        if area_share is not None:
            uses = module_uses(modules, folded, channels, context.costs, measured)
            harder = with_areas(context, harder, area_share, uses, tight=tight)
        answer = context.solvers.partition(harder, begin, prove)
        if isinstance(answer, PartitionFailure):
            # Of other limits than the slots' own nothing is proven.
            failure = answer if harder == problem else replace(answer, refusals=unproven(answer.refusals))
            break
        answer = _told(answer, area_share)
        candidate = realised(context, folding, modules, channels, answer)
        if candidate.problem.is_legal(answer.slot_of):
            return candidate
        failure = overfull(candidate)
        needed = channel_routes(context, modules, channels, candidate.slot_of)
        routes = {n: routes.get(n, Route()).longer(needed.get(n, Route())) for n in (routes | needed)}
    began = None if area_share is not None else _as_it_began(context, folding, modules, channels, begin)
    if began is None:
        return failure
    # Where slots were folded for themselves, what each lacks is what counts, not how near another assignment comes.
    return began if began.problem.is_legal(began.partition.slot_of) else overfull(began)


def _told(answer: PartitionSolution, area_share: float | None) -> PartitionSolution:
    """Return the answer with a method that tells for which rule of area its bound holds."""
    if area_share is None:
        return answer
    method = f"{answer.stats.method}, areas at most {area_share:.0%}"
    return replace(answer, stats=replace(answer.stats, method=method))


def improved(context: PlanningContext, candidate: Candidate) -> Candidate:
    """Return the cheapest assignment that is found from the candidate's own, held against its bound.

    The least rectangles of a slot's modules fill at most the first of the limits' shares that can be kept: as they
    should be, else as full as can be.
    """
    shares = context.search_limits.area_shares
    for share, tight in (*((share, False) for share in shares), *((share, True) for share in shares), (None, True)):
        again = partial(assign, context, area_share=share, tight=tight)
        start = again(candidate.folding, candidate.modules, start=candidate.slot_of)
        if isinstance(start, Candidate):
            better = again(start.folding, start.modules, start=start.slot_of, prove=True)
            return better if isinstance(better, Candidate) else start
    return candidate


def _before_partition(
    context: PlanningContext, folded: FoldedDataflow, known: PartialPlacement, start: Mapping[str, str] | None
) -> tuple[Channel, ...]:
    """Realise the channels with FIFOs in what the slots to begin from can spare, or all slots together."""
    if start is not None:
        return in_styles(context, folded, known, {e: start[m] for e, m in known.module_of.items()}, context.limits)
    everywhere = dict.fromkeys(known.module_of, "")
    return in_styles(context, folded, known, everywhere, {"": total(context.limits.values())})


def _as_it_began(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    channels: Sequence[Channel],
    begin: Mapping[str, int] | None,
) -> Candidate | None:
    """Return the candidate with the assignment that partition began from, be it legal or not; None without one."""
    if begin is None or not channels:
        return None
    answer = PartitionSolution(begin, SolveStats("segments", "heuristic"))
    candidate = realised(context, folding, modules, channels, answer)
    stats = SolveStats("segments", "heuristic", float(candidate.problem.cost(begin)))
    return replace(candidate, partition=replace(answer, stats=stats))


def as_before(context: PlanningContext, folding: FoldingSolution) -> Candidate | None:
    """Return a folding with the modules and slots of the plan to stay near; None if they do not go with it."""
    folded, before = folded_by(context, folding), context.previous
    modules = before.clustered(folded.options)
    if not modules or not {before.slot_of.get(module.name) for module in modules} <= context.limits.keys():
        return None
    names = list(context.limits)
    begin = {module.name: names.index(before.slot_of[module.name]) for module in modules}
    known = PartialPlacement(module_of(modules), {}, least_words(context, folded))
    channels = _before_partition(context, folded, known, before.slot_of)
    found = _as_it_began(context, folding, modules, channels, begin)
    if found is None or not found.problem.is_legal(begin):
        return None
    stats = replace(found.partition.stats, method="as in the plan to stay near")
    return replace(found, partition=replace(found.partition, stats=stats))


def overfull(candidate: Candidate) -> PartitionFailure:
    """Say which slots hold more than their limits; where none does, what else is exceeded most.

    Where nothing is, FIFOs at crossings move modules for ever.
    """
    refusals, slot_of = [], candidate.partition.slot_of
    demands = candidate.problem.slot_demands(slot_of)
    for slot, demand in zip(candidate.problem.slots, demands, strict=True):
        needs, limits = demand.as_dict(), slot.limit.as_dict()
        refusals += [Refusal("slot", r, slot.name, needs[r], limits[r]) for r in shortfall(demand, slot.limit)]
    other = worst(candidate.problem, slot_of) or Refusal("crossing FIFOs")
    return PartitionFailure(tuple(refusals) or (other,), closest=slot_of)


def _harder(problem: PartitionProblem, tightened: Mapping[str, float]) -> PartitionProblem:
    """Return the problem with tighter limits of single slots."""
    return replace(problem, slots=tuple(_tightened(slot, tightened) for slot in problem.slots))


def _tightened(slot: SlotCapacity, shares: Mapping[str, float]) -> SlotCapacity:
    share = shares.get(slot.name, 1.0)
    return replace(slot, limit=scaled_down(slot.limit, dict.fromkeys(slot.limit.as_dict(), share)))
