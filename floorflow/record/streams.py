"""Channels, crossings and loads in the form that plan.json holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from floorflow.channels import Channel
from floorflow.channels.cost_allocation import crossing_shares, modules_between
from floorflow.dataflow.modules import module_of
from floorflow.hardware import Hop
from floorflow.record.values import amounts
from floorflow.resources import ZERO, Resources
from floorflow.schema import ChannelEntry, CrossingEntry, LoadEntry
from floorflow.search.candidate import Design, Setting, hops_of


def channels(setting: Setting, design: Design) -> list[ChannelEntry]:
    """Return every realised stream."""
    ends = modules_between(design.modules, design.channels)
    home = module_of(design.modules)
    return [_channel(setting, c, hops_of(setting, design.slot_of, ends[c.name]), home) for c in design.channels]


def _channel(setting: Setting, channel: Channel, way: Sequence[Hop], home: Mapping[str, str]) -> ChannelEntry:
    stream, stages = channel.stream, setting.board.crossing_registers
    shares = _crossing_resources(setting, channel, way)
    return ChannelEntry(
        name=channel.name,
        source=stream.source,
        source_port=stream.source_port,
        target=stream.target,
        target_port=stream.target_port,
        width_bits=channel.width_bits,
        words_per_frame=channel.words_per_frame,
        source_width_bits=channel.source_width_bits,
        target_width_bits=channel.target_width_bits,
        converter=channel.converter,
        converter_module=home[channel.converter_engine] if channel.converter else None,
        fifo_depth=channel.fifo_depth_words,
        fifo_needed=channel.needed_words,
        fifo_module=home[channel.fifo_engine],
        crossing_registers=stages * sum(hop.hops for hop in way if hop.link is None),
        link=",".join(hop.link for hop in way if hop.link is not None) or None,
        resources=amounts(channel.fifo_resources + channel.converter_resources),
        converter_resources=amounts(channel.converter_resources),
        fifo_resources=amounts(channel.fifo_resources),
        crossing_resources={slot: amounts(share) for slot, share in shares.items()},
    )


def _crossing_resources(setting: Setting, channel: Channel, way: Sequence[Hop]) -> dict[str, Resources]:
    """Sum the registers of all runs of SLR boundaries on the way, by slot."""
    shares: dict[str, Resources] = {}
    for hop in way:
        if hop.link is None:
            run = crossing_shares(channel, _slots_of_run(setting, hop), setting.board.crossing_registers)
            shares = {slot: shares.get(slot, ZERO) + run.get(slot, ZERO) for slot in (shares | run)}
    return shares


def _slots_of_run(setting: Setting, hop: Hop) -> list[str]:
    """Slots of one FPGA that a run touches, from the lowest to the highest."""
    names = [slot.name for slot in setting.platform.slots]
    low, high = sorted((names.index(hop.source), names.index(hop.target)))
    return names[low : high + 1]


def crossings(setting: Setting, design: Design, frames_per_s: float) -> list[CrossingEntry]:
    """Return what every channel passes: runs of SLR boundaries and links, in order."""
    ends = modules_between(design.modules, design.channels)
    return [
        CrossingEntry(
            channel=channel.name,
            source=hop.source,
            target=hop.target,
            width_bits=channel.width_bits,
            gbps=_gbps(channel, frames_per_s),
            hops=hop.hops,
            kind=hop.kind,
        )
        for channel in design.channels
        for hop in hops_of(setting, design.slot_of, ends[channel.name])
    ]


def _gbps(channel: Channel, frames_per_s: float) -> float:
    return channel.stream.elements * channel.stream.element_bits * frames_per_s / 1e9


def loads(setting: Setting, design: Design, frames_per_s: float) -> list[LoadEntry]:
    """Return the use of every SLR boundary and of every link in each direction."""
    ends = modules_between(design.modules, design.channels)
    wires = {(b.lower, b.upper): 0 for b in setting.platform.boundaries}
    gbps = {pair: 0.0 for k in setting.platform.links for pair in ((k.source, k.target), (k.target, k.source))}
    for channel in design.channels:
        for hop in hops_of(setting, design.slot_of, ends[channel.name]):
            if hop.link is not None:
                gbps[hop.source, hop.target] += _gbps(channel, frames_per_s)
                continue
            run = _slots_of_run(setting, hop)
            for pair in pairwise(run):
                wires[pair] += channel.sll_wires
    capacity = {(k.source, k.target): k.gbps for k in setting.platform.links}
    boundaries = [
        LoadEntry(name=f"{b.lower}-{b.upper}", kind="sll", use=wires[b.lower, b.upper], capacity=b.wires)
        for b in setting.platform.boundaries
    ]
    links = [
        LoadEntry(name=_direction(a, b), kind="link", use=use, capacity=capacity.get((a, b), capacity.get((b, a), 0.0)))
        for (a, b), use in gbps.items()
    ]
    return [*boundaries, *links]


def _direction(source: str, target: str) -> str:
    return f"{source.split('.', maxsplit=1)[0]}>{target.split('.', maxsplit=1)[0]}"
