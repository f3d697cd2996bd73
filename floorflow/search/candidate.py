"""A candidate design at one interval: the stages from folding to partition run in a row, as a pure function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import networkx as nx

from floorflow.backends.finn.rates.problem import RouteDelay
from floorflow.backends.finn.specialise import specialised
from floorflow.channels import Channel, ChannelCosts, PartialPlacement, Way, connect
from floorflow.channels.cost_allocation import engine_charges, module_resources, modules_between
from floorflow.dataflow.model import Dataflow, FoldedDataflow
from floorflow.dataflow.modules import Module, Wire, cluster, joins_without_cycle, merge, module_of
from floorflow.folding import FoldingProblem, FoldingSolution
from floorflow.hardware import Board, Platform, RouteStep, max_pblocks, supply_outside_keep_outs
from floorflow.partition import (
    LINK_WEIGHT,
    Edge,
    ModuleStream,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    SlotCapacity,
    partition,
)
from floorflow.request import Request, scaled_down
from floorflow.resources import Resources, largest_share, total
from floorflow.search.fifo_sizing import FullRate, full_rate
from floorflow.stats import SolveStats, Status

ASSIGNMENT_ROUNDS = 4
"""Rounds of partition and deeper FIFOs at what it crosses."""


@dataclass(frozen=True)
class PlanningContext:
    """What stays the same for all candidates of a run.

    Engines of ``dataflow`` and ``problem`` are named as FINN itself chooses hls and rtl; those of a design as its
    folding chooses.
    """

    dataflow: Dataflow
    platform: Platform
    request: Request
    costs: ChannelCosts
    problem: FoldingProblem
    pblock_capacities: Mapping[str, tuple[Resources, ...]]
    """What the largest pblocks of each slot hold, at the allowed fill."""

    needs: dict[str, FullRate] = field(default_factory=dict, compare=False, repr=False)
    """What full rate needs of FIFOs, by folding: worked out once for each."""

    @property
    def board(self) -> Board:
        """The board of every FPGA."""
        return self.platform.fpgas[0].board

    @cached_property
    def limits(self) -> dict[str, Resources]:
        """Limit of every slot."""
        return slot_limits(self.platform, self.request)


@dataclass(frozen=True)
class Candidate:
    """A folded, connected, clustered and partitioned network. ``slot_of`` maps modules to slot names."""

    folding: FoldingSolution
    folded: FoldedDataflow
    modules: tuple[Module, ...]
    channels: tuple[Channel, ...]
    demands: Mapping[str, Resources]
    slot_of: Mapping[str, str]
    partition: PartitionSolution
    problem: PartitionProblem

    @property
    def interval_cycles(self) -> int:
        """Initiation interval."""
        return self.folding.interval_cycles


def slot_limits(platform: Platform, request: Request) -> dict[str, Resources]:
    """Return what the design may use of each slot: cap x available, and no more than its pblocks can hold together."""
    limits = {}
    for fpga in platform.fpgas:
        for slot in fpga.slots:
            drawable = scaled_down(supply_outside_keep_outs(fpga.device, slot), request.fill)
            limits[slot.name] = scaled_down(slot.available, request.cap).least(drawable)
    return limits


def largest_pblocks(platform: Platform, request: Request) -> dict[str, tuple[Resources, ...]]:
    """Return what the largest pblocks of each slot hold: fill x supply."""
    pairs = [(fpga.device, slot) for fpga in platform.fpgas for slot in fpga.slots]
    return {slot.name: tuple(scaled_down(r, request.fill) for r in max_pblocks(device, slot)) for device, slot in pairs}


def longest_interval(platform: Platform, request: Request) -> int | None:
    """Return the longest interval that reaches ``--fps``, or None if no rate was asked for."""
    return None if request.fps is None else int(platform.clock_mhz * 1e6 / (request.fps * (1 - 1e-6)))


def complete(
    context: PlanningContext, folding: FoldingSolution, tightened: Mapping[str, float] | None = None
) -> Candidate | PartitionFailure:
    """Run connect, cluster and partition on one folding.

    ``tightened`` scales the limit of single slots (a remedy when placement failed there).
    """
    folded = folded_by(context, folding)
    first = connect(folded, context.costs)
    wires = [
        Wire(c.stream.source, c.stream.target, c.width_bits)
        for c in first
        if not (c.stream.from_host or c.stream.to_host)
    ]
    pblock_capacities = [
        place.limit.least(room) for place in _slot_capacities(context) for room in place.pblock_capacities
    ]
    modules = cluster(
        folded.dataflow, wires, engine_charges(folded, first), context.request.granularity, pblock_capacities
    )
    candidate = assign(context, folding, modules, tightened)
    if context.request.granularity == "slot" and isinstance(candidate, Candidate):
        return by_slot(context, candidate, sorted(set(candidate.slot_of.values())), keep=1)
    return candidate


def folded_by(context: PlanningContext, folding: FoldingSolution) -> FoldedDataflow:
    """Return the engines as a folding has them: their kinds, and FINN's names of these."""
    return specialised(FoldedDataflow(context.dataflow, folding.options))


def assign(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    tightened: Mapping[str, float] | None = None,
) -> Candidate | PartitionFailure:
    """Partition given modules; FIFO depths follow from what the channels turn out to cross.

    The bound that the design reports is of the problem with shallow FIFOs everywhere and all of each slot's limit:
    whatever an assignment crosses, it can cost no less.
    """
    folded = folded_by(context, folding)
    home = module_of(modules)
    ways: dict[str, Way] = {}
    bound: float | None = None
    failure = PartitionFailure("crossing FIFOs do not fit beside their modules", proven=False)
    # FIFOs at crossings are deeper, which changes demands, which may move modules: a few rounds settle it.
    for _ in range(ASSIGNMENT_ROUNDS):
        placed_so_far = PartialPlacement(home, ways, context.platform.clock_mhz, least_words(context, folded))
        channels = connect(folded, context.costs, placed_so_far)
        demands = module_resources(modules, folded, channels)
        problem = partition_problem(context, modules, demands, channels, interval_cycles=folding.interval_cycles)
        answer = partition(problem, "auto", context.request.effort, context.request.seed)
        if isinstance(answer, PartitionFailure):
            return answer
        bound = answer.stats.bound if bound is None else bound
        if tightened:
            problem = replace(problem, slots=tuple(_tightened(slot, tightened) for slot in problem.slots))
            answer = partition(problem, "auto", context.request.effort, context.request.seed)
            if isinstance(answer, PartitionFailure):
                return replace(answer, proven=False)
        answer = _against(answer, problem.cost(answer.slot_of), bound)
        candidate = _settle(context, folding, modules, channels, answer)
        if candidate.problem.is_legal(answer.slot_of):
            return candidate
        needed = _ways(context, modules, channels, candidate.slot_of)
        ways = {n: _longer(ways.get(n, Way()), needed.get(n, Way())) for n in (ways | needed)}
    return failure


def least_words(context: PlanningContext, folded: FoldedDataflow) -> Mapping[str, int]:
    """Return the FIFO depths, by channel, that the full rate needs; with --keep-folding no less than the model's.

    By FINN's own costs FIFOs are FINN's to size: where they are deep it asks for UltraRAM, on any part.
    """
    depths = _full_rate_depths(context, folded) if context.request.costs != "finn" else {}
    if not context.request.keep_folding:
        return depths
    kept = {c.name: c.stream.kept_fifo_depth(c.width_bits) for c in connect(folded, context.costs)}
    return {name: max(words, depths.get(name, 0)) for name, words in kept.items()}


def _full_rate_depths(context: PlanningContext, folded: FoldedDataflow) -> Mapping[str, int]:
    key = repr([(option.kind, option.folding, option.cycles) for option in folded.options.values()])
    if key not in context.needs:
        context.needs[key] = full_rate(folded)
    return context.needs[key].depths


def route_delays(context: PlanningContext, candidate: Candidate) -> dict[str, RouteDelay]:
    """Return the cycles that registers and links add to channels, there and back."""
    ways = _ways(context, candidate.modules, candidate.channels, candidate.slot_of)
    cycles = {name: way.cycles(context.platform.clock_mhz) for name, way in ways.items()}
    return {name: RouteDelay(each, each) for name, each in cycles.items()}


def _tightened(slot: SlotCapacity, shares: Mapping[str, float]) -> SlotCapacity:
    share = shares.get(slot.name, 1.0)
    return replace(slot, limit=scaled_down(slot.limit, dict.fromkeys(slot.limit.as_dict(), share)))


def _against(answer: PartitionSolution, cost: int, bound: float | None) -> PartitionSolution:
    """Hold an answer's cost against the bound of the first, loosest problem."""
    status: Status = "optimal" if bound is not None and cost <= bound else "feasible"
    return replace(answer, stats=SolveStats(answer.stats.method, status, float(cost), bound))


def _settle(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    streams: Sequence[Channel],
    answer: PartitionSolution,
) -> Candidate:
    """Give every channel the FIFO that its way needs, and charge the modules for it.

    ``streams`` are the same channels with FIFOs of any depth.
    """
    folded = folded_by(context, folding)
    names = list(context.limits)
    slot_of = {module: names[slot] for module, slot in answer.slot_of.items()}
    ways = _ways(context, modules, streams, slot_of)
    placed_so_far = PartialPlacement(module_of(modules), ways, context.platform.clock_mhz, least_words(context, folded))
    channels = connect(folded, context.costs, placed_so_far)
    demands = module_resources(modules, folded, channels)
    problem = partition_problem(context, modules, demands, channels, interval_cycles=folding.interval_cycles)
    return Candidate(folding, folded, tuple(modules), channels, demands, slot_of, answer, problem)


def by_slot(
    context: PlanningContext, candidate: Candidate, slots: Sequence[str], keep: int
) -> Candidate | PartitionFailure:
    """Merge neighbouring modules of ``slots`` until at most ``keep`` are left in each; the assignment stays."""
    modules, slot_of = candidate.modules, dict(candidate.slot_of)
    for slot in slots:
        while len(inside := {m.name for m in modules if slot_of[m.name] == slot}) > keep:
            pair = _smallest_pair(inside, modules, candidate, context.limits[slot])
            if pair is None:
                return PartitionFailure(f"no two modules of {slot} can merge without a cycle", proven=False)
            modules = merge(modules, pair, candidate.folded.dataflow)
            slot_of = {m.name: slot_of.get(m.name, slot) for m in modules}
    return _remerged(context, candidate, modules, slot_of)


def merge_groups(
    context: PlanningContext, candidate: Candidate, groups: Collection[Collection[str]]
) -> Candidate | PartitionFailure:
    """Merge modules of one slot by groups of names; the assignment stays."""
    modules, slot_of = candidate.modules, dict(candidate.slot_of)
    for group in groups:
        if len(group) > 1:
            slot = slot_of[min(group)]
            modules = merge(modules, sorted(group), candidate.folded.dataflow)
            slot_of = {m.name: slot_of.get(m.name, slot) for m in modules}
    if not nx.is_directed_acyclic_graph(_module_graph(modules, candidate.channels)):
        return PartitionFailure("merged modules depend on each other in a cycle", proven=False)
    return _remerged(context, candidate, modules, slot_of)


def merges_without_cycle(candidate: Candidate) -> Callable[[Collection[str]], bool]:
    """Return a test whether modules, by name, can become one: no way between two of them leads through another."""
    graph = _module_graph(candidate.modules, candidate.channels)
    after = {name: nx.descendants(graph, name) for name in graph}
    before = {name: nx.ancestors(graph, name) for name in graph}

    def allowed(group: Collection[str]) -> bool:
        between = set().union(*(after[name] for name in group)) & set().union(*(before[name] for name in group))
        return between <= set(group)

    return allowed


def _module_graph(modules: Sequence[Module], channels: Sequence[Channel]) -> nx.DiGraph:
    """Return which modules, and ends at the host, feed which others."""
    graph = nx.DiGraph(pair for pair in modules_between(modules, channels).values() if pair[0] != pair[1])
    graph.add_nodes_from(module.name for module in modules)
    return graph


def _remerged(
    context: PlanningContext, candidate: Candidate, modules: Sequence[Module], slot_of: Mapping[str, str]
) -> Candidate | PartitionFailure:
    """Return the design with merged modules in the same slots."""
    index = {place.name: i for i, place in enumerate(candidate.problem.slots)}
    placed = {name: index[slot] for name, slot in slot_of.items()}
    stats = replace(
        candidate.partition.stats, method=f"{candidate.partition.stats.method.split(',')[0]}, modules merged"
    )
    merged = _settle(context, candidate.folding, modules, candidate.channels, PartitionSolution(placed, stats))
    if not merged.problem.is_legal(placed):
        return PartitionFailure("merged modules exceed a limit", proven=False)
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


def partition_problem(
    context: PlanningContext,
    modules: Sequence[Module],
    demands: Mapping[str, Resources],
    channels: Sequence[Channel],
    *,
    interval_cycles: int,
) -> PartitionProblem:
    """State the assignment of modules to the slots of the platform."""
    platform = context.platform
    names = [slot.name for slot in platform.slots]
    return PartitionProblem(
        demands=dict(demands),
        streams=_streams(modules, channels),
        slots=_slot_capacities(context),
        edges=_edges(platform, names),
        host_in=names.index(platform.host_in_slot),
        host_out=names.index(platform.host_out_slot),
        register_stages=context.board.crossing_registers,
        frames_per_s=platform.clock_mhz * 1e6 / interval_cycles,
    )


def _slot_capacities(context: PlanningContext) -> tuple[SlotCapacity, ...]:
    """Return the slots with what the design may use of them."""
    places = []
    for name, limit in context.limits.items():
        held = context.pblock_capacities[name]
        if context.request.granularity == "slot" and held:
            # All of a slot becomes one pblock, so the slot holds no more than its largest room.
            limit = limit.least(max(held, key=lambda room: (room.lut, room.as_tuple())))  # noqa: PLW2901
        places.append(SlotCapacity(name, limit, held))
    return tuple(places)


def _edges(platform: Platform, names: Sequence[str]) -> tuple[Edge, ...]:
    """SLR boundaries and links between slots, as positions in ``names``."""
    place = {name: index for index, name in enumerate(names)}
    boundaries = (
        Edge(place[b.lower], place[b.upper], "sll", wires=b.wires, name=f"{b.lower}-{b.upper}")
        for b in platform.boundaries
    )
    links = (
        Edge(place[k.source], place[k.target], "link", gbps=k.gbps, weight=LINK_WEIGHT, name=k.name)
        for k in platform.links
    )
    return (*boundaries, *links)


def slot_demands(candidate: Candidate) -> dict[str, Resources]:
    """Return the demand of every slot, crossing registers included."""
    demands = candidate.problem.slot_demands(candidate.partition.slot_of)
    return {place.name: demand for place, demand in zip(candidate.problem.slots, demands, strict=True)}


def _streams(modules: Sequence[Module], channels: Sequence[Channel]) -> tuple[ModuleStream, ...]:
    ends = modules_between(modules, channels)
    return tuple(
        ModuleStream(
            name=c.name,
            source=None if c.stream.from_host else ends[c.name][0],
            target=None if c.stream.to_host else ends[c.name][1],
            wires=c.sll_wires,
            bits_per_frame=c.stream.elements * c.stream.element_bits,
        )
        for c in channels
    )


def hops_of(context: PlanningContext, slot_of: Mapping[str, str], ends: tuple[str, str]) -> tuple[RouteStep, ...]:
    """Return the way of a channel between two modules; an end at the host lies in the platform's host slots."""
    source = slot_of.get(ends[0], context.platform.host_in_slot)
    target = slot_of.get(ends[1], context.platform.host_out_slot)
    return context.platform.way(source, target)


def _ways(
    context: PlanningContext, modules: Sequence[Module], channels: Sequence[Channel], slot_of: Mapping[str, str]
) -> dict[str, Way]:
    latency_us = {link.name: link.latency_us for link in context.platform.links}
    ways = {}
    for name, ends in modules_between(modules, channels).items():
        hops = hops_of(context, slot_of, ends)
        if hops:
            boundaries = sum(step.hops for step in hops if step.link is None)
            ways[name] = Way(boundaries, tuple(latency_us[step.link] for step in hops if step.link is not None))
    return ways


def _longer(a: Way, b: Way) -> Way:
    return Way(max(a.boundaries, b.boundaries), max(a.link_latencies_us, b.link_latencies_us, key=sum))
