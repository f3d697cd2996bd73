"""What a pblock has to hold: room for its module by the errors of its estimates, and by the rule on hard pblocks.

Order of authority: the user's fill of a resource, the confidence, the rule on hard pblocks. Where a slot has no room
for that, a pblock may be as full as `Request.fullest_fill` allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from floorflow.backends.backend import Costs
from floorflow.channels import Channel
from floorflow.dataflow.bands import CROSSING, LESS, MORE, Outcome, estimate_of, outcome_of
from floorflow.dataflow.model import FoldedDataflow, renamings
from floorflow.dataflow.modules import Module, module_of
from floorflow.folding import FoldingSolution
from floorflow.hardware import Device
from floorflow.placement import supply_at
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, scaled_down
from floorflow.search.candidate.context import PlanningContext

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


def judged_outcome(context: PlanningContext, use: Use) -> Outcome:
    """Return what a module may turn out to need of the resources on which its likelihood to fit is judged.

    None is where no confidence is sought, or the cost model knows no error; nor one whose fill the user gave.
    """
    if context.request.confidence_sought is None or not context.costs.has_bands:
        return Outcome({})
    given = context.request.fill.as_dict()
    return outcome_of(use, context.costs.band, [name for name in RESOURCE_NAMES if name not in given])


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
    if tight:
        return fullest_supply(context.request, estimate_of(use))
    return roomy_supply(context, device, use)


def has_room(context: PlanningContext, device: Device, use: Use) -> Callable[[Resources], bool]:
    """Return a test whether a supply gives a module the room that it should have."""
    request, demand = context.request, estimate_of(use)
    fill = request.hard_fill(demand.lut) if is_sized_hard(request, device) else request.fullest_fill
    outcome, confidence = judged_outcome(context, use), request.confidence_sought or 0.0

    def holds(supply: Resources) -> bool:
        return demand.fits(scaled_down(supply, fill)) and outcome.likelihood(supply.as_dict()) >= confidence

    return holds
