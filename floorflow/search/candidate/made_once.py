"""Modules of a candidate that are to be made once: which are alike, what is made equal in them, windows alike."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from floorflow.channels import Channel, ChannelCosts, with_styles
from floorflow.channels.implementations import Circuits, held_alike, likenesses
from floorflow.channels.realise import with_depths
from floorflow.dataflow.model import FoldedDataflow
from floorflow.dataflow.modules import Module
from floorflow.search.candidate.context import PlanningContext


def in_logic(context: PlanningContext, folded: FoldedDataflow) -> dict[str, str]:
    """Return which constants become part of the logic of engines, by name; those that do."""
    later = context.request.reuse != "no"
    found = {
        engine.name: context.backend.in_logic(engine, folded.options[engine.name], written_later=later)
        for engine in folded.dataflow.engines
    }
    return {name: constants for name, constants in found.items() if constants}


def made_equal(
    context: PlanningContext, folded: FoldedDataflow, modules: Sequence[Module], channels: Sequence[Channel]
) -> tuple[Channel, ...]:
    """Return channels whose FIFOs are equal in all modules that are alike: as deep as the deepest, in its memory."""
    costs: ChannelCosts = context.costs
    by_name = {channel.name: channel for channel in channels}
    depths = {channel.name: channel.fifo_depth_words for channel in channels}
    styles = {channel.name: channel.fifo_style for channel in channels}
    for names in held_alike(Circuits(modules, folded, channels, {})):
        deepest = max((by_name[name] for name in names), key=lambda channel: channel.fifo_depth_words)
        for name in names:
            depths[name], styles[name] = deepest.fifo_depth_words, deepest.fifo_style
    return with_styles(with_depths(channels, costs, depths), costs, styles)


def made_once(
    context: PlanningContext, folded: FoldedDataflow, modules: Sequence[Module], channels: Sequence[Channel]
) -> list[tuple[str, ...]]:
    """Return the groups of modules that one circuit can be, by name, if there are to be any."""
    if context.request.reuse == "no":
        return []
    groups: Mapping[str, list[str]] = defaultdict(list)
    for likeness in likenesses(Circuits(modules, folded, channels, in_logic(context, folded))):
        groups[likeness.implementation].append(likeness.module)
    return [tuple(group) for group in groups.values() if len(group) > 1]
