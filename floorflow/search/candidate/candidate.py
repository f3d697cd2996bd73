"""A candidate: a folded, connected, clustered and partitioned network, as a value."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from types import MappingProxyType

from floorflow.channels import Channel, PartialPlacement, choose_styles, connect, with_styles
from floorflow.channels.cost_allocation import engine_charges, module_resources
from floorflow.channels.slices import Slices
from floorflow.dataflow.bands import CROSSING
from floorflow.dataflow.fifo import SLICE_WORDS
from floorflow.dataflow.model import FoldedDataflow
from floorflow.dataflow.modules import Joined, Module, Naming, module_of
from floorflow.dataflow.options import OptionGroup
from floorflow.folding.problem import FoldingSolution
from floorflow.hardware import Route
from floorflow.partition.problem import PartitionProblem, PartitionSolution
from floorflow.rates import LinkPace, RouteDelay
from floorflow.rates.fifo_sizing import full_rate
from floorflow.resources import ZERO, Resources, scarcity
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.link_charges import link_charges
from floorflow.search.candidate.made_once import made_equal
from floorflow.search.candidate.members import parts_of
from floorflow.search.candidate.slot_problem import (
    Use,
    beside,
    channel_routes,
    channel_steps,
    crossing_resources,
    limits_beside,
    measured_engines,
    module_uses,
    partition_problem,
)

NO_LINKS: Mapping[str, LinkPace] = MappingProxyType({})


@dataclass(frozen=True)
class Candidate:
    """A folded, connected, clustered and partitioned network. ``slot_of`` maps modules to slot names.

    ``joined``: modules that share a pblock because rectangles of their own did not fit.
    """

    folding: FoldingSolution
    folded: FoldedDataflow
    modules: tuple[Module, ...]
    channels: tuple[Channel, ...]
    demands: Mapping[str, Resources]
    slot_of: Mapping[str, str]
    partition: PartitionSolution
    problem: PartitionProblem
    joined: tuple[Joined, ...] = ()
    fifo_slack: float = 0
    narrowed: Mapping[str, Resources] | None = None
    """The limits of slots that it was made within, where these were less than allowed."""
    slices: Slices = field(default_factory=Slices)
    """Register slices, known once it is placed."""
    link_kernels: Mapping[str, Resources] = field(default_factory=dict)
    """What link kernels take of slots: infrastructure, of which the cap is no share."""

    @property
    def interval_cycles(self) -> int:
        """Initiation interval of the engines."""
        return self.folding.interval_cycles

    @property
    def kept_cycles(self) -> int:
        """Interval that FIFOs are deep enough for: longer by ``fifo_slack`` than that of the engines."""
        return ceil(self.interval_cycles * (1 + self.fifo_slack))


def slots_of_engines(context: PlanningContext, candidate: Candidate) -> dict[str, str]:
    """Return the slot of each engine, by its name before its kind was chosen."""
    homes = module_of(candidate.modules)
    pairs = zip(context.dataflow.engines, candidate.folded.dataflow.engines, strict=True)
    return {engine.name: candidate.slot_of[homes[own.name]] for engine, own in pairs}


def folded_by(context: PlanningContext, folding: FoldingSolution) -> FoldedDataflow:
    """Return the engines as a folding has them: their kinds, and the names of these."""
    if context.together is not None:
        return context.together.finished(folding.options)
    return context.backend.finished(FoldedDataflow(context.dataflow, folding.options))


def naming_of(context: PlanningContext, folded: FoldedDataflow) -> Naming:
    """Return what modules are called: by what their engines need without FIFOs, which the slots decide."""
    options, silicon = folded.options, context.platform.silicon
    shares = {engine: scarcity(option.resources, silicon) for engine, option in options.items()}
    return Naming(folded.dataflow, shares, context.previous.names)


def connected(
    context: PlanningContext, folded: FoldedDataflow, known: PartialPlacement | None = None
) -> tuple[Channel, ...]:
    """Realise every stream, those of each network by its own interval."""
    parts = parts_of(folded, context.together)
    return tuple(channel for part in parts for channel in connect(part, context.costs, known))


def least_words(context: PlanningContext, folded: FoldedDataflow) -> Mapping[str, int]:
    """Return the FIFO depths, by channel, that the full rate needs; with --keep-folding no less than the model's.

    Where the tool sizes FIFOs when it builds, the full rate is left to it, or they are what its sizing is foreseen to
    set, if that is asked for.
    """
    parts = parts_of(folded, context.together) if context.costs.sizes_fifos else ()
    depths = {name: words for part in parts for name, words in _full_rate_depths(context, part).items()}
    if not context.request.keep_folding:
        return depths
    return {channel.name: kept_words(channel, depths) for channel in connected(context, folded)}


def kept_words(channel: Channel, depths: Mapping[str, int]) -> int:
    """Return the depth that the model gives a FIFO, 0 if none, but no less than what is known to be needed.

    Where the full rate's is not known that is what waits at a join, for the model's may be no more than a default.
    """
    words = channel.stream.kept_fifo_depth(channel.width_bits)
    least = channel.fifo_depth_words if words else 0
    return max(words, depths.get(channel.name, least))


def _full_rate_depths(context: PlanningContext, folded: FoldedDataflow) -> Mapping[str, int]:
    slack, costs, backend = context.fifo_slack, context.costs, context.backend

    def depths() -> Mapping[str, int]:
        found = full_rate(folded, slack=slack, known=backend).depths
        return costs.tool_depths(folded, found, backend) if costs.tool_sizes_fifos and found else found

    return context.memo.once(depths, folded, slack, costs, backend)


def uses_of(context: PlanningContext, candidate: Candidate) -> Mapping[str, Use]:
    """Return what each module needs, by kind."""
    folded = candidate.folded
    measured = measured_engines(context, candidate.folding, folded)
    return module_uses(candidate.modules, folded, candidate.channels, context.costs, measured)


def route_delays(
    context: PlanningContext, candidate: Candidate, paces: Mapping[str, LinkPace] = NO_LINKS
) -> dict[str, RouteDelay]:
    """Return the cycles that registers, links and slices add to channels, there and back, and links that are slow."""
    routes = channel_routes(context, candidate.modules, candidate.channels, candidate.slot_of)
    cycles = {c.name: routes.get(c.name, Route()).cycles + candidate.slices.count(c.name) for c in candidate.channels}
    slow = {name: pace for name, pace in paces.items() if pace.frame_cycles}
    return {name: RouteDelay(count, count, slow.get(name)) for name, count in cycles.items() if count}


def words_held(candidate: Candidate, paces: Mapping[str, LinkPace] = NO_LINKS) -> dict[str, int]:
    """Return the words that each channel holds between its ends: those of its FIFO, of its slices and of its links.

    A slow link has its FIFO beside the channel's.
    """
    slices = candidate.slices
    held = {c.name: c.fifo_depth_words + SLICE_WORDS * slices.count(c.name) for c in candidate.channels}
    return held | {name: held[name] + pace.words for name, pace in paces.items() if not pace.frame_cycles}


def realised(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    streams: Sequence[Channel],
    answer: PartitionSolution,
    *,
    joined: tuple[Joined, ...] = (),
) -> Candidate:
    """Give every channel the FIFO that its route needs, in the memory that its slot can spare, and charge the modules.

    ``streams`` are the same channels with FIFOs of any depth.
    """
    folded = folded_by(context, folding)
    names = list(context.limits)
    slot_of = {module: names[slot] for module, slot in answer.slot_of.items()}
    routes = channel_routes(context, modules, streams, slot_of)
    owner = module_of(modules)
    slots = {engine: slot_of[module] for engine, module in owner.items()}
    known = PartialPlacement(owner, routes, least_words(context, folded))
    kernels = link_charges(context, folded, modules, streams, slot_of)
    channels = in_styles(context, folded, known, slots, limits_beside(context, kernels))
    if context.request.reuse != "no":
        channels = made_equal(context, folded, modules, channels)
    demands = module_resources(modules, folded, channels)
    problem = beside(context, partition_problem(context, modules, demands, channels, folded=folded), kernels)
    slack = context.fifo_slack
    own = (tuple(modules), channels, demands, slot_of, answer, problem, joined, slack, context.narrowed)
    return Candidate(folding, folded, *own, link_kernels=kernels)


def in_styles(
    context: PlanningContext,
    folded: FoldedDataflow,
    known: PartialPlacement,
    place_of: Mapping[str, str],
    limits: Mapping[str, Resources],
) -> tuple[Channel, ...]:
    """Realise the channels, each FIFO in the memory that is least scarce where its engine lies.

    ``place_of`` maps engines to places, ``limits`` these to what the design may use of them. Where places are slots,
    registers at their boundaries take of them first.
    """
    channels = connected(context, folded, known)
    free = dict(limits)
    for engine, need in engine_charges(folded, [replace(c, fifo_resources=ZERO) for c in channels]).items():
        free[place_of[engine]] -= need
    for channel in channels if limits.keys() == context.limits.keys() else ():
        route = channel_steps(context, place_of, (channel.stream.source, channel.stream.target))
        for slot, need in crossing_resources(context, channel, route).items():
            free[slot] -= need
    styles = choose_styles(channels, context.costs, place_of, free, context.scarcity_prices)
    return with_styles(channels, context.costs, styles)


def slot_demands(candidate: Candidate) -> dict[str, Resources]:
    """Return the demand of every slot, crossing registers and register slices included."""
    demands = candidate.problem.slot_demands(candidate.partition.slot_of)
    slices = candidate.slices.demands()
    pairs = zip(candidate.problem.slots, demands, strict=True)
    return {place.name: demand + slices.get(place.name, ZERO) for place, demand in pairs}


def slot_uses(context: PlanningContext, candidate: Candidate) -> dict[str, dict[str, Resources]]:
    """Return what each slot holds, by kind: modules, slices, and crossing registers and link kernels, sure ones."""
    uses: dict[str, dict[str, Resources]] = {slot: defaultdict(lambda: ZERO) for slot in context.limits}
    for module, own in uses_of(context, candidate).items():
        for kind, need in own.items():
            uses[candidate.slot_of[module]][kind] += need
    inside = dict.fromkeys(uses, ZERO)
    for module, slot in candidate.slot_of.items():
        inside[slot] += candidate.demands[module]
    slices = candidate.slices.demands()
    for slot, demand in slot_demands(candidate).items():
        uses[slot][CROSSING] += demand - inside[slot] - slices.get(slot, ZERO)
        uses[slot][CROSSING] += candidate.link_kernels.get(slot, ZERO)
        uses[slot][context.costs.fifo_kind] += slices.get(slot, ZERO)
    return {slot: dict(use) for slot, use in uses.items()}


def written_by_host(context: PlanningContext, candidate: Candidate) -> tuple[str, ...]:
    """Return the engines of a candidate that the host has to write."""
    options = candidate.folded.options
    rows = [(e, OptionGroup((e.name,), ((options[e.name],),))) for e in candidate.folded.dataflow.engines]
    return tuple(e.name for e, row in rows if context.backend.host_writes(e, row.options_of(e.name)).any())


def latency_us(context: PlanningContext, candidate: Candidate) -> float:
    """Return the critical path: engine cycles summed along the longest path, and the latency of links on it."""
    clock_mhz = context.platform.clock_mhz
    routes = channel_routes(context, candidate.modules, candidate.channels, candidate.slot_of)
    done_us: dict[str, float] = {}
    latest_us = 0.0
    order = {engine.name: i for i, engine in enumerate(candidate.folded.dataflow.engines)}
    for channel in sorted(candidate.channels, key=lambda c: order.get(c.stream.source, -1)):
        source, target = channel.stream.source, channel.stream.target
        arrival_us = done_us.get(source, 0.0) + routes.get(channel.name, Route()).latency_us
        if target in order:
            cycles_us = candidate.folded.options[target].cycles / clock_mhz
            done_us[target] = max(done_us.get(target, 0.0), arrival_us + cycles_us)
        latest_us = max(latest_us, arrival_us)
    return max(latest_us, *done_us.values())
