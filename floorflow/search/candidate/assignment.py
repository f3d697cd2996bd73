"""From one folding to a candidate: connect, cluster and partition, as pure functions; modules that merge."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import networkx as nx

from floorflow.channels import Channel, PartialPlacement
from floorflow.channels.cost_allocation import engine_charges, module_resources, modules_between
from floorflow.dataflow.model import FoldedDataflow, renamings
from floorflow.dataflow.modules import Joined, Module, Wire, cluster, joins_without_cycle, merge, module_of
from floorflow.errors import Refusal, unproven
from floorflow.folding.problem import FoldingSolution
from floorflow.hardware import Route
from floorflow.partition.infeasibility import worst
from floorflow.partition.problem import PartitionFailure, PartitionProblem, PartitionSolution
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, largest_share, scaled_down, shortfall, total
from floorflow.search.candidate.candidate import (
    Candidate,
    connected,
    folded_by,
    in_styles,
    least_words,
    naming_of,
    realised,
)
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.link_charges import link_charges
from floorflow.search.candidate.slot_problem import (
    beside,
    channel_routes,
    limits_beside,
    measured_engines,
    module_uses,
    partition_problem,
    with_areas,
)
from floorflow.stats import SolveStats


def by_slot(
    context: PlanningContext, candidate: Candidate, slots: Sequence[str], keep: int
) -> Candidate | PartitionFailure:
    """Merge neighbouring modules of ``slots`` until at most ``keep`` are left in each; the assignment stays.

    Where granularity is ``slot``, all of a slot become one, neighbours or not: they may feed each other in a ring then.
    """
    modules, slot_of = candidate.modules, dict(candidate.slot_of)
    if context.request.granularity == "slot":
        return merge_groups(context, candidate, [[m for m in slot_of if slot_of[m] == slot] for slot in slots])
    naming = naming_of(context, candidate.folded)
    for slot in slots:
        while len(inside := {m.name for m in modules if slot_of[m.name] == slot}) > keep:
            pair = _smallest_pair(inside, modules, candidate, context.limits[slot])
            if pair is None:
                return PartitionFailure((Refusal("merge", place=slot),))
            modules = merge(modules, pair, naming)
            slot_of = {m.name: slot_of.get(m.name, slot) for m in modules}
    return _remerged(context, candidate, modules, slot_of)


def merge_groups(
    context: PlanningContext, candidate: Candidate, groups: Collection[Collection[str]]
) -> Candidate | PartitionFailure:
    """Merge modules of one slot by groups of names; the assignment stays."""
    modules, slot_of = candidate.modules, dict(candidate.slot_of)
    naming = naming_of(context, candidate.folded)
    for group in groups:
        if len(group) > 1:
            slot = slot_of[min(group)]
            modules = merge(modules, sorted(group), naming)
            slot_of = {m.name: slot_of.get(m.name, slot) for m in modules}
    if crowded_rings(modules, slot_of, candidate.channels):
        return PartitionFailure((Refusal("merged cycle"),))
    return _remerged(context, candidate, modules, slot_of)


def join_slots(context: PlanningContext, candidate: Candidate, why: Mapping[str, str]) -> Candidate:
    """Make all modules of each of some slots one, whose pblock is what the slot has free, and say why, by slot.

    It may feed itself over other slots.
    """
    modules, joined = candidate.modules, [own for own in candidate.joined if own.slot not in why]
    slot_of, naming = dict(candidate.slot_of), naming_of(context, candidate.folded)
    for slot, reason in why.items():
        inside = sorted(name for name, place in slot_of.items() if place == slot)
        engine = next(m.engines[0] for m in modules if m.name in inside)
        modules = merge(modules, inside, naming)
        slot_of = {m.name: slot_of.get(m.name, slot) for m in modules}
        joined.append(Joined(module_of(modules)[engine], tuple(inside), slot, reason))
    index = {s.name: i for i, s in enumerate(candidate.problem.slots)}
    answer = PartitionSolution({name: index[place] for name, place in slot_of.items()}, candidate.partition.stats)
    return realised(context, candidate.folding, modules, candidate.channels, answer, joined=tuple(joined))


def crowded_rings(
    modules: Sequence[Module], slot_of: Mapping[str, str], channels: Sequence[Channel]
) -> tuple[str, ...]:
    """Return the slots of modules that feed each other in a ring and are not alone there: only whole slots may."""
    held = Counter(slot_of.values())
    graph = _module_graph(modules, channels)
    graph.remove_nodes_from([name for name in list(graph) if held[slot_of.get(name, "")] == 1])
    rings = (ring for ring in nx.strongly_connected_components(graph) if len(ring) > 1)
    return tuple(sorted({slot_of[name] for ring in rings for name in ring}))


def merges_without_cycle(candidate: Candidate) -> Callable[[Collection[str]], bool]:
    """Return a test whether modules, by name, can become one: no path between two of them leads through another.

    They are of one network.
    """
    graph = _module_graph(candidate.modules, candidate.channels)
    after = {name: nx.descendants(graph, name) for name in graph}
    before = {name: nx.ancestors(graph, name) for name in graph}

    engine_of = {module.name: module.engines[0] for module in candidate.modules}
    networks = candidate.folded.dataflow.networks

    def may_merge(group: Collection[str]) -> bool:
        if len({next((n for n in networks if engine_of[name].startswith(f"{n}/")), "") for name in group}) > 1:
            return False
        between = set().union(*(after[name] for name in group)) & set().union(*(before[name] for name in group))
        return between <= set(group)

    return may_merge


def _module_graph(modules: Sequence[Module], channels: Sequence[Channel]) -> nx.DiGraph:
    """Return which modules, and ends at the host, feed which others."""
    graph = nx.DiGraph(pair for pair in modules_between(modules, channels).values() if pair[0] != pair[1])
    graph.add_nodes_from(module.name for module in modules)
    return graph


def _remerged(
    context: PlanningContext, candidate: Candidate, modules: Sequence[Module], slot_of: Mapping[str, str]
) -> Candidate | PartitionFailure:
    """Return the candidate with merged modules in the same slots."""
    index = {slot.name: i for i, slot in enumerate(candidate.problem.slots)}
    placed = {name: index[slot] for name, slot in slot_of.items()}
    stats = replace(
        candidate.partition.stats, method=f"{candidate.partition.stats.method.split(',')[0]}, modules merged"
    )
    merged = realised(context, candidate.folding, modules, candidate.channels, PartitionSolution(placed, stats))
    if not merged.problem.is_legal(placed):
        return PartitionFailure((Refusal("merged limit"),))
    return merged


def _smallest_pair(
    inside: Collection[str], modules: Sequence[Module], candidate: Candidate, limit: Resources
) -> tuple[str, str] | None:
    """Return the two neighbours of a slot whose union is smallest, wide streams first; None if all close a cycle."""
    ends = modules_between(modules, candidate.channels)
    graph = _module_graph(modules, candidate.channels)
    size = {
        m.name: total(candidate.folded.options[e].resources for e in m.engines) for m in modules if m.name in inside
    }
    pairs = sorted(
        (largest_share(size[a] + size[b], limit), -channel.width_bits, a, b)
        for channel in candidate.channels
        for a, b in [ends[channel.name]]
        if a != b and a in inside and b in inside
    )
    return next(((a, b) for *_, a, b in pairs if joins_without_cycle(graph, a, b)), None)


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
    share: float = 1.0,
    slot_of: Mapping[str, str] | None = None,
    *,
    stay: bool = False,
) -> Candidate | Unassigned:
    """Run connect, cluster and partition on one folding, within a share of each slot's limit.

    ``slot_of`` are the slots for which engines were folded, by their names before that: modules then end at slots, and
    partition starts from there, or they ``stay`` there.
    """
    folded = folded_by(context, folding)
    renamed = renamings(context.dataflow, folded.dataflow)
    slots = {renamed[engine]: slot for engine, slot in (slot_of or {}).items()}
    modules = clustered(context, folded, slots)
    start = {module.name: slots[module.engines[0]] for module in modules} if slots else None
    if stay and start is not None:
        candidate = _where_folded(context, folding, modules, start)
    else:
        candidate = assign(context, folding, modules, share=share, start=start)
    if context.request.granularity == "slot" and isinstance(candidate, Candidate):
        candidate = by_slot(context, candidate, sorted(set(candidate.slot_of.values())), keep=1)
    if isinstance(candidate, Candidate):
        return candidate
    closest, names, earlier = candidate.closest, list(context.limits), {new: old for old, new in renamed.items()}
    if closest is None:
        return Unassigned(candidate)
    return Unassigned(candidate, {earlier[e]: names[closest[m.name]] for m in modules for e in m.engines})


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
    renamed = renamings(context.dataflow, folded.dataflow)
    keys = {renamed[engine]: key for engine, key in context.wishes.keys.items()}
    # Where slots are not known yet, what may lie in different ones is not one module.
    apart = slot_of or keys
    naming = naming_of(context, folded)
    granularity, joins_apart = context.request.granularity, context.joins_apart
    return cluster(naming, wires, charges, granularity, capacities, slot_of=apart, joins_apart=joins_apart)


def assign(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    *,
    share: float = 1.0,
    start: Mapping[str, str] | None = None,
    area_share: float | None = None,
    tight: bool = False,
    prove: bool = False,
) -> Candidate | PartitionFailure:
    """Partition given modules within a share of limits; FIFO depths follow from what the channels turn out to cross.

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
    kernels: dict[str, Resources] = {}
    # FIFOs at crossings are deeper, which changes demands, which may move modules: a few rounds settle it.
    for _ in range(context.search_limits.assignment_rounds):
        channels = _before_partition(context, folded, PartialPlacement(owner, routes, least), start, kernels)
        demands = module_resources(modules, folded, channels)
        problem = partition_problem(context, modules, demands, channels, folded=folded)
        if start is not None:
            kernels = _most(kernels, link_charges(context, folded, modules, channels, start))
        harder = _harder(beside(context, problem, kernels), share)
        if area_share is not None:
            uses = module_uses(modules, folded, channels, context.costs, measured)
            harder = with_areas(context, harder, area_share, uses, tight=tight)
        answer = context.solvers.partition(harder, begin, prove)
        if isinstance(answer, PartitionFailure):
            # Of other limits than the slots' own nothing is proven.
            failure = answer if harder == problem else replace(answer, refusals=unproven(answer.refusals))
            break
        answer = _named_for_limits(answer, area_share, kernels)
        candidate = realised(context, folding, modules, channels, answer)
        if candidate.problem.is_legal(answer.slot_of):
            return candidate
        failure = overfull(candidate)
        kernels = _most(kernels, candidate.link_kernels)
        needed = channel_routes(context, modules, channels, candidate.slot_of)
        routes = {n: routes.get(n, Route()).longer(needed.get(n, Route())) for n in (routes | needed)}
    if area_share is not None or begin is None or not channels:
        return failure
    began = _as_it_began(context, folding, modules, channels, begin)
    # Where slots were folded for themselves, what each lacks is what counts, not how near another assignment comes.
    return began if began.problem.is_legal(began.partition.slot_of) else overfull(began)


def _named_for_limits(
    answer: PartitionSolution, area_share: float | None, kernels: Mapping[str, Resources]
) -> PartitionSolution:
    """Return the answer with a method that tells for which rule of area, beside which link kernels, its bound holds."""
    told = ["beside link kernels"] if kernels else []
    told += [] if area_share is None else [f"areas at most {area_share:.0%}"]
    return replace(answer, stats=replace(answer.stats, method=", ".join([answer.stats.method, *told])))


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


def _where_folded(
    context: PlanningContext, folding: FoldingSolution, modules: Sequence[Module], slot_of: Mapping[str, str]
) -> Candidate | PartitionFailure:
    """Return the candidate with its modules in given slots, or what these are short of."""
    folded, names = folded_by(context, folding), list(context.limits)
    known = PartialPlacement(module_of(modules), {}, least_words(context, folded))
    channels = _before_partition(context, folded, known, slot_of, {})
    begin = {module: names.index(slot) for module, slot in slot_of.items()}
    found = _as_it_began(context, folding, modules, channels, begin)
    return found if found.problem.is_legal(begin) else overfull(found)


def _before_partition(
    context: PlanningContext,
    folded: FoldedDataflow,
    known: PartialPlacement,
    start: Mapping[str, str] | None,
    kernels: Mapping[str, Resources],
) -> tuple[Channel, ...]:
    """Realise the channels with FIFOs in what the slots to begin from can spare, or all slots together."""
    if start is not None:
        places = {engine: start[module] for engine, module in known.module_of.items()}
        return in_styles(context, folded, known, places, limits_beside(context, kernels))
    everywhere = dict.fromkeys(known.module_of, "")
    return in_styles(context, folded, known, everywhere, {"": total(context.limits.values())})


def _as_it_began(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    channels: Sequence[Channel],
    begin: Mapping[str, int],
) -> Candidate:
    """Return the candidate with the assignment that partition began from, be it legal or not."""
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
    found = _where_folded(context, folding, modules, {m.name: before.slot_of[m.name] for m in modules})
    if isinstance(found, PartitionFailure):
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


def _most(one: Mapping[str, Resources], other: Mapping[str, Resources]) -> dict[str, Resources]:
    """Return the more that is taken of each slot."""
    return {slot: one.get(slot, ZERO).most(other.get(slot, ZERO)) for slot in {**one, **other}}


def _harder(problem: PartitionProblem, share: float) -> PartitionProblem:
    """Return the problem with a share of each slot's limit."""
    shares = dict.fromkeys(RESOURCE_NAMES, share)
    slots = (replace(slot, limit=scaled_down(slot.limit, shares)) for slot in problem.slots)
    return replace(problem, slots=tuple(slots))
