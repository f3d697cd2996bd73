"""The partition of a candidate stated on the platform, and what a pblock has to hold.

A pblock has room for its module by the errors of its estimates, and by the rule on hard pblocks. Order of authority:
the user's fill of a resource, the confidence, the rule on hard pblocks. Where a slot has no room for that, a pblock
may be as full as `Request.fullest_fill` allows, as long as it is as likely to hold its module as is asked.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from floorflow.backends.backend import Costs
from floorflow.channels import Channel
from floorflow.channels.cost_allocation import crossing_shares, modules_between, port_charges
from floorflow.dataflow.bands import CROSSING, LESS, MORE, UncertainSum, estimate_of, uncertain_sum
from floorflow.dataflow.model import FoldedDataflow, renamings
from floorflow.dataflow.modules import Module, module_of
from floorflow.folding.problem import FoldingSolution
from floorflow.hardware import Device, Route, RouteStep, free_cells
from floorflow.partition.problem import ModuleStream, PartitionProblem, SlotCapacity
from floorflow.placement.rectangles.area import least_cells
from floorflow.placement.rectangles.candidate_rectangles import supply_at
from floorflow.request import Request, limits_of
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, scaled_down
from floorflow.search.candidate.context import PlanningContext, fpga_order
from floorflow.search.candidate.given_pblocks import by_module

LINK_STREAM_COST, LINK_WIRE_COST = 100_000, 90
"""What a stream over a link, and each of its wires, costs there beside the crossing cost: more than crossings ever do.

A link's core takes 12,000 LUT, a microsecond and a cable; so streams over links are fewest first, then narrowest.
"""
Use = Mapping[str, Resources]
"""Estimates by kind."""


def module_uses(
    modules: Sequence[Module],
    folded: FoldedDataflow,
    channels: Sequence[Channel],
    costs: Costs,
    measured: Collection[str] = (),
) -> dict[str, Use]:
    """Return what each module needs, by the kinds of its engines, FIFOs and converters.

    What was ``measured`` (engines) is as sure as what is decided, so it counts as crossing registers do.
    """
    uses: dict[str, dict[str, Resources]] = {module.name: defaultdict(lambda: ZERO) for module in modules}
    owner = module_of(modules)
    for engine in folded.dataflow.engines:
        use, option = uses[owner[engine.name]], folded.options[engine.name]
        use[CROSSING if engine.name in measured else engine.kind] += option.resources
        for kind, doubt in zip((LESS, MORE), costs.doubt(engine, option), strict=True):
            if doubt != ZERO and engine.name not in measured:
                use[kind] += doubt
    for channel in channels:
        uses[owner[channel.fifo_engine]][costs.fifo_kind] += channel.fifo_resources
        if channel.converter is not None:
            uses[owner[channel.converter_engine]][channel.converter] += channel.converter_resources
    for name, ports in port_charges(modules, channels).items():
        if ports != ZERO:
            uses[name][CROSSING] += ports
    return {name: dict(use) for name, use in uses.items()}


def measured_engines(context: PlanningContext, folding: FoldingSolution, folded: FoldedDataflow) -> Collection[str]:
    """Return the engines, by the names that their kinds give them, that are folded as they were measured."""
    if not context.measured.engines:
        return ()
    names = renamings(context.dataflow, folded.dataflow)
    return {names[name] for name in context.measured.among(folding.options)}


def is_sized_hard(request: Request, device: Device) -> bool:
    """Whether pblocks on a die are to be hard if that can be: as asked for, else where there are several SLRs."""
    return request.constraint_style == "hard" or (request.constraint_style == "auto" and len(device.slrs) > 1)


def judged_outcome(context: PlanningContext, use: Use) -> UncertainSum:
    """Return what a module may turn out to need of the resources on which its likelihood to fit is judged.

    None is where no confidence is sought, or the cost model knows no error; nor one whose fill the user gave.
    """
    if context.request.confidence_sought is None or not context.costs.has_bands:
        return UncertainSum({})
    given = context.request.fill.as_dict()
    return uncertain_sum(use, context.costs.band, [name for name in RESOURCE_NAMES if name not in given])


def fullest_supply(request: Request, demand: Resources) -> Resources:
    """Return the least supply with which a rectangle may hold a module at all."""
    return supply_at(demand, request.fullest_fill)


def roomy_supply(context: PlanningContext, device: Device, use: Use) -> Resources:
    """Return the least supply with which a pblock has the room that its module should have."""
    request, demand = context.request, estimate_of(use)
    hard = is_sized_hard(request, device)

    def wanted() -> Resources:
        least = supply_at(demand, request.hard_fill(demand.lut) if hard else request.fullest_fill)
        outcome, confidence = judged_outcome(context, use), request.confidence_sought
        return least if confidence is None or not outcome.moments else outcome.supply(least, confidence)

    return context.memo.once(wanted, hard, sorted(use.items()), request, context.costs)


def least_supply(context: PlanningContext, device: Device, use: Use, *, tight: bool) -> Resources:
    """Return the least supply of a module's rectangle: with the room that it should have, or as full as can be."""
    return _tight_supply(context, use) if tight else roomy_supply(context, device, use)


def _tight_supply(context: PlanningContext, use: Use) -> Resources:
    least, outcome = fullest_supply(context.request, estimate_of(use)), judged_outcome(context, use)
    if not context.holds_pblocks or not outcome.moments:
        return least
    # A rule on hard pblocks gives way, the confidence does not.
    confidence = context.confidence or 0.0
    return context.memo.once(
        lambda: outcome.supply(least, confidence), "tight", sorted(use.items()), context.request, context.costs
    )


def has_room(context: PlanningContext, device: Device, use: Use) -> Callable[[Resources], bool]:
    """Return a test whether a supply gives a module the room that it should have."""
    request, demand = context.request, estimate_of(use)
    fill = request.hard_fill(demand.lut) if is_sized_hard(request, device) else request.fullest_fill
    outcome, confidence = judged_outcome(context, use), request.confidence_sought or 0.0

    def holds(supply: Resources) -> bool:
        return demand.fits(scaled_down(supply, fill)) and outcome.likelihood(supply.as_dict()) >= confidence

    return holds


def partition_problem(
    context: PlanningContext,
    modules: Sequence[Module],
    demands: Mapping[str, Resources],
    channels: Sequence[Channel],
    *,
    folded: FoldedDataflow,
) -> PartitionProblem:
    """State the assignment of a folded network's modules to the slots of the platform."""
    platform = context.platform
    names = [slot.name for slot in platform.slots]
    longest, weights = _frames(context, folded)
    renamed, owner = renamings(context.dataflow, folded.dataflow), module_of(modules)
    homes = {engine: owner[name] for engine, name in renamed.items()}
    joined = ({homes[engine]: None for engine in group} for group in context.wishes.joined(()))
    return PartitionProblem(
        demands=dict(demands),
        streams=_streams(modules, channels, weights),
        slots=slot_capacities(context),
        edges=platform.graph.edges,
        host_in=names.index(platform.host_in_slot),
        host_out=names.index(platform.host_out_slot),
        frames_per_s=platform.clock_mhz * 1e6 / longest,
        barred=_barred(context, modules, folded),
        max_hops=context.max_hops,
        order=fpga_order(context),
        link_stream_cost=LINK_STREAM_COST,
        link_wire_cost=LINK_WIRE_COST,
        together=tuple(tuple(group) for group in joined if len(group) > 1),
        apart=tuple(tuple(homes[engine] for engine in group) for group in context.wishes.apart),
        link_streams=context.link_streams,
    )


def _frames(context: PlanningContext, folded: FoldedDataflow) -> tuple[int, Mapping[str, Fraction]]:
    """Return the longest interval of all networks, and the frames of each that pass in it, by what names begin with."""
    if context.together is None:
        return folded.interval_cycles, {"": Fraction(1)}
    parts = zip(context.together.members, context.together.parts(folded), strict=True)
    intervals = {member.prefix: part.interval_cycles for member, part in parts}
    longest = max(intervals.values())
    return longest, {prefix: Fraction(longest, own) for prefix, own in intervals.items()}


def _barred(context: PlanningContext, modules: Sequence[Module], folded: FoldedDataflow) -> dict[str, frozenset[int]]:
    """Return the slots in which an engine of a module takes more than one may, or that its stated pblock is not in.

    Modules that may lie in every slot are left out.
    """
    limits, found = context.engine_limits, {}
    earlier = {new: old for old, new in renamings(context.dataflow, folded.dataflow).items()}
    stated = by_module(context.stated, modules, earlier)
    for module in modules:
        uses = [(earlier[engine], folded.options[engine].resources) for engine in module.engines]
        home = stated[module.name].slot if module.name in stated else None
        slots = [
            i
            for i, slot in enumerate(context.limits)
            if home not in (None, slot) or any(limits.bars(*use, slot) for use in uses)
        ]
        if slots:
            found[module.name] = frozenset(slots)
    return found


def slot_capacities(context: PlanningContext) -> tuple[SlotCapacity, ...]:
    """Return the slots with what the design may use of them.

    A module must fit a rectangle only if modules may not be joined: else all of a slot can become one pblock.
    """
    kept = context.request.keep_granularity
    return tuple(
        SlotCapacity(name, limit, context.pblock_capacities[name] if kept else ())
        for name, limit in context.limits.items()
    )


def beside(context: PlanningContext, problem: PartitionProblem, taken: Mapping[str, Resources]) -> PartitionProblem:
    """Return the problem with the limits of what infrastructure leaves that takes so much more of slots."""
    left = limits_beside(context, taken)
    return replace(problem, slots=tuple(replace(s, limit=s.limit.least(left[s.name])) for s in problem.slots))


def limits_beside(context: PlanningContext, taken: Mapping[str, Resources]) -> Mapping[str, Resources]:
    """Return what a design may use of every slot, where infrastructure takes so much more."""
    left = caps_beside(context, taken) if taken else {}
    return {slot: limit.least(left.get(slot, limit)) for slot, limit in context.limits.items()}


def caps_beside(context: PlanningContext, taken: Mapping[str, Resources]) -> dict[str, Resources]:
    """Return cap x available of every slot, of which infrastructure takes so much more."""
    left = {s.name: (s.available - taken.get(s.name, ZERO)).most(ZERO) for s in context.platform.slots}
    return {name: limits_of(context.request, available) for name, available in left.items()}


def with_areas(
    context: PlanningContext, problem: PartitionProblem, share: float, uses: Mapping[str, Use], *, tight: bool
) -> PartitionProblem:
    """Return the problem with a limit on areas: a slot's least rectangles fill at most that share of its cells.

    ``uses`` is what modules need, by kind; ``tight``: their rectangles are as full as can be, not as they should be.
    """
    pairs = [(fpga.device, slot) for fpga in context.platform.fpgas for slot in fpga.slots]
    cells = {
        name: tuple(
            least_cells(device, slot, least_supply(context, device, use, tight=tight), {}) for device, slot in pairs
        )
        for name, use in uses.items()
    }
    free = tuple(free_cells(device, slot) for device, slot in pairs)
    return replace(problem, cells=cells, free_cells=free, area_share=share)


def _streams(
    modules: Sequence[Module], channels: Sequence[Channel], weights: Mapping[str, Fraction]
) -> tuple[ModuleStream, ...]:
    """Return the channels as partition sees them; ``weights``: the frames of each network that count as one."""
    ends = modules_between(modules, channels)
    frames = {c.name: next(w for prefix, w in weights.items() if c.stream.source.startswith(prefix)) for c in channels}
    return tuple(
        ModuleStream(
            name=c.name,
            source=None if c.stream.from_outside else ends[c.name][0],
            target=None if c.stream.to_outside else ends[c.name][1],
            wires=c.sll_wires,
            bits_per_frame=ceil(c.wire_bits_per_frame * frames[c.name]),
        )
        for c in channels
    )


def channel_steps(context: PlanningContext, slot_of: Mapping[str, str], ends: tuple[str, str]) -> tuple[RouteStep, ...]:
    """Return the steps of a channel's route between two modules; an end at the host lies in the host's slots."""
    return context.platform.route_steps(*channel_slots(context, slot_of, ends))


def channel_routes(
    context: PlanningContext, modules: Sequence[Module], channels: Sequence[Channel], slot_of: Mapping[str, str]
) -> dict[str, Route]:
    """Return what lies between the ends of every channel that leaves its slot, by the channel's name."""
    pairs = {name: channel_slots(context, slot_of, ends) for name, ends in modules_between(modules, channels).items()}
    return {name: context.platform.route(*pair) for name, pair in pairs.items() if pair[0] != pair[1]}


def crossing_resources(context: PlanningContext, channel: Channel, route: Sequence[RouteStep]) -> dict[str, Resources]:
    """Sum the registers of all runs of SLR boundaries on a channel's route, by slot."""
    shares: dict[str, Resources] = {}
    for step in route:
        if step.link is None:
            run = crossing_shares(channel, step.joints, context.platform.crossings)
            shares = {slot: shares.get(slot, ZERO) + run.get(slot, ZERO) for slot in (shares | run)}
    return shares


def channel_slots(context: PlanningContext, slot_of: Mapping[str, str], ends: tuple[str, str]) -> tuple[str, str]:
    """Return the slots of a channel's two modules; an end at the host lies in the platform's host slots."""
    platform = context.platform
    return slot_of.get(ends[0], platform.host_in_slot), slot_of.get(ends[1], platform.host_out_slot)
