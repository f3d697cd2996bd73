"""Who pays for what: channels to modules, crossing registers to slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from floorflow.channels.realise import Channel
from floorflow.dataflow.model import FoldedDataflow
from floorflow.dataflow.modules import Module, module_of
from floorflow.resources import Resources, total


def engine_charges(folded: FoldedDataflow, channels: Sequence[Channel]) -> dict[str, Resources]:
    """Return each engine's resources with the FIFOs and converters that stand beside it."""
    charges = {name: option.resources for name, option in folded.options.items()}
    for channel in channels:
        charges[channel.fifo_engine] += channel.fifo_resources
        if channel.converter is not None:
            charges[channel.converter_engine] += channel.converter_resources
    return charges


def module_resources(
    modules: Sequence[Module], folded: FoldedDataflow, channels: Sequence[Channel]
) -> dict[str, Resources]:
    """Return the sum of each module's engines and of the FIFOs and converters that it holds."""
    charges = engine_charges(folded, channels)
    return {module.name: total(charges[engine] for engine in module.engines) for module in modules}


def crossing_shares(channel: Channel, slots_on_way: Sequence[str], stages_a_boundary: int) -> dict[str, Resources]:
    """Share the crossing registers of one channel between the slots that it passes.

    ``slots_on_way`` runs from lower to upper slot. Each boundary has ``stages_a_boundary`` stages of one flip-flop
    a wire; the two slots at it share them evenly and the lower one takes the odd stage.
    """
    shares: dict[str, Resources] = {}
    lower_stages = -(-stages_a_boundary // 2)
    for lower, upper in pairwise(slots_on_way):
        for slot, stages in ((lower, lower_stages), (upper, stages_a_boundary - lower_stages)):
            shares[slot] = shares.get(slot, Resources()) + Resources(ff=stages * channel.sll_wires)
    return shares


def modules_between(modules: Sequence[Module], channels: Sequence[Channel]) -> Mapping[str, tuple[str, str]]:
    """Map each channel's name to its two modules; a host end stays as it is."""
    home = module_of(modules)
    return {
        c.name: (home.get(c.stream.source, c.stream.source), home.get(c.stream.target, c.stream.target))
        for c in channels
    }
