"""Who pays for what: channels to modules, crossing registers to slots."""

from collections.abc import Iterable, Mapping, Sequence

from floorflow.channels.realise import Channel
from floorflow.dataflow.model import FoldedDataflow
from floorflow.dataflow.modules import Module, module_of
from floorflow.hardware import Crossing
from floorflow.resources import ZERO, Resources, total


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
    """Return the sum of each module's engines, of the FIFOs and converters that it holds, and of its ports."""
    charges, ports = engine_charges(folded, channels), port_charges(modules, channels)
    return {m.name: ports[m.name] + total(charges[engine] for engine in m.engines) for m in modules}


def port_charges(modules: Sequence[Module], channels: Sequence[Channel]) -> dict[str, Resources]:
    """Return what each module takes for the ports of streams that enter or leave it."""
    charges = {module.name: ZERO for module in modules}
    between = modules_between(modules, channels)
    for channel in channels:
        source, target = between[channel.name]
        for module in (source, target):
            if source != target and module in charges:
                charges[module] += channel.port_resources
    return charges


def crossing_shares(
    channel: Channel, boundaries: Iterable[tuple[str, str]], crossings: Mapping[tuple[str, str], Crossing]
) -> dict[str, Resources]:
    """Share the crossing registers of one channel between the slots of one FPGA that it passes.

    ``boundaries`` and ``crossings`` go by lower and upper slot.
    """
    shares: dict[str, Resources] = {}
    for pair in boundaries:
        for slot, stages in zip(pair, crossings[pair].register_shares, strict=True):
            shares[slot] = shares.get(slot, ZERO) + crossings[pair].of_a_wire.times(stages * channel.sll_wires)
    return shares


def modules_between(modules: Sequence[Module], channels: Sequence[Channel]) -> Mapping[str, tuple[str, str]]:
    """Map each channel's name to its two modules; a host end stays as it is."""
    home = module_of(modules)
    return {
        c.name: (home.get(c.stream.source, c.stream.source), home.get(c.stream.target, c.stream.target))
        for c in channels
    }
