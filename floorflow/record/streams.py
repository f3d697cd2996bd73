"""Channels, crossings and loads in the form that plan.json holds, and the longest streams of an FPGA."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from floorflow.channels import Channel
from floorflow.channels.cost_allocation import modules_between
from floorflow.channels.realise import balance_of
from floorflow.dataflow.modules import module_of
from floorflow.facts import ChannelEntry
from floorflow.facts.channel import LongStreamEntry
from floorflow.facts.link_kernels import SPARE_WORDS, WORD_BITS, link_stream
from floorflow.facts.link_rates import LinkDirection
from floorflow.facts.partition import BoundaryRegisters, CrossingEntry, FarStreamEntry, LoadEntry
from floorflow.hardware import Fpga, RouteStep
from floorflow.hardware.reach import comfortable_tiles, reach_tiles
from floorflow.rates import LinkPace
from floorflow.record.part import Part, PhaseRun
from floorflow.search.candidate.members import parts_of
from floorflow.search.candidate.slot_problem import channel_routes, channel_steps, crossing_resources
from floorflow.technology import WAIT_CYCLES, way_us

LISTED = 5
"""Longest streams that the plan lists of an FPGA."""


def channels(part: Part) -> list[ChannelEntry]:
    """Return every realised stream of a network."""
    home = module_of(part.candidate.modules)
    return [_channel(part, channel, route, home) for channel, route in _routes(part)]


def _routes(part: Part) -> Iterator[tuple[Channel, tuple[RouteStep, ...]]]:
    """Yield every channel with what it passes, in order."""
    candidate = part.candidate
    ends = modules_between(candidate.modules, candidate.channels)
    for channel in candidate.channels:
        yield channel, channel_steps(part.context, candidate.slot_of, ends[channel.name])


def _channel(part: Part, channel: Channel, route: Sequence[RouteStep], home: Mapping[str, str]) -> ChannelEntry:
    stream, slices = channel.stream, part.candidate.slices
    return ChannelEntry.of(
        channel,
        name=part.channel_name(channel.name),
        source=part.id(stream.source),
        source_port=stream.source_port,
        target=part.id(stream.target),
        target_port=stream.target_port,
        converter_module=part.module(home[channel.converter_engine]) if channel.converter else None,
        fifo_depth=channel.fifo_depth_words,
        fifo_needed=channel.needed_words,
        fifo_module=part.module(home[channel.fifo_engine]),
        crossing_registers=sum(crossing.registers for step in route for crossing in step.crossings),
        crossing_slots=[slot for step in route for slot in step.register_slots],
        slices=slices.count(channel.name),
        slice_slots=slices.slots.get(channel.name, ()),
        slices_left_out=slices.left_out.get(channel.name, 0),
        link=",".join(step.link for step in route if step.link is not None) or None,
        crossing_resources=crossing_resources(part.context, channel, route),
        slice_resources=slices.shares(channel.name),
    )


def waiting_bits(part: Part) -> int:
    """Return the bits of FIFOs that wait for streams over longer routes; none where depths are not the plan's."""
    candidate, context = part.candidate, part.context
    if not any(channel.needed_words for channel in candidate.channels):
        return 0
    routes = channel_routes(context, candidate.modules, candidate.channels, candidate.slot_of)
    found = [balance_of(each, routes) for each in parts_of(candidate.folded, context.together)]
    return sum(int(each.stats.objective or 0) for each in found)


def crossings(part: Part) -> list[CrossingEntry]:
    """Return what every channel of a network passes: runs of SLR boundaries and links, in order."""
    return [
        CrossingEntry(**where, width_bits=channel.width_bits, gbps=_gbps(channel, part), kind=step.kind)
        for channel, step, where in _steps(part)
    ]


def far_streams(part: Part) -> list[FarStreamEntry]:
    """Return the streams that cross several SLR boundaries one after the other, with their registers at each."""
    names = {(b.lower, b.upper): b.name for b in part.context.platform.boundaries}
    return [
        FarStreamEntry(**where, registers=_registers(channel, step, names))
        for channel, step, where in _steps(part)
        if step.link is None and step.hops > 1
    ]


def _steps(part: Part) -> Iterator[tuple[Channel, RouteStep, dict[str, Any]]]:
    """Yield each step of every channel, with the words by which the plan says which stream it is and where it goes."""
    for channel, route in _routes(part):
        name = part.channel_name(channel.name)
        for step in route:
            yield channel, step, {"channel": name, "source": step.source, "target": step.target, "hops": step.hops}


def _registers(channel: Channel, step: RouteStep, names: Mapping[tuple[str, str], str]) -> list[BoundaryRegisters]:
    """Return a channel's registers at each SLR boundary of a step."""
    return [
        BoundaryRegisters(
            boundary=names[joint],
            stages=crossing.registers,
            flip_flops=crossing.registers * channel.sll_wires * crossing.of_a_wire.ff,
        )
        for joint, crossing in zip(step.joints, step.crossings, strict=True)
        if crossing.kind == "sll"
    ]


def _gbps(channel: Channel, part: Part) -> float:
    return channel.wire_bits_per_frame * part.frames_per_s_of(channel.stream.source) / 1e9


def loads(run: PhaseRun) -> list[LoadEntry]:
    """Return the use of every SLR boundary and of every link in each direction, by all networks together."""
    platform = run.context.platform
    wires = {(b.lower, b.upper): 0 for b in platform.boundaries}
    gbps = {pair: 0.0 for k in platform.links for pair in ((k.source, k.target), (k.target, k.source))}
    for part in run.wholes:
        for channel, route in _routes(part):
            for step in route:
                if step.link is not None:
                    gbps[step.source, step.target] += _gbps(channel, part)
                    continue
                for pair in step.joints:
                    wires[pair] += channel.sll_wires
    boundaries = [
        LoadEntry(name=b.name, kind=b.kind, use=wires[b.lower, b.upper], capacity=b.wires) for b in platform.boundaries
    ]
    fpga_of = {slot.name: slot.fpga for slot in platform.slots}
    capacity = {(k.source, k.target): k.payload_gbps for k in platform.links}
    links = [
        LoadEntry(
            name=f"{fpga_of[a]}>{fpga_of[b]}",
            kind="link",
            use=use,
            capacity=capacity.get((a, b), capacity.get((b, a), 0.0)),
        )
        for (a, b), use in gbps.items()
    ]
    return [*boundaries, *links]


def link_paces(run: PhaseRun) -> dict[str, LinkPace]:
    """Return what links with kernels do to each stream, by its name in the plan; all networks share them."""
    platform, over, frames = run.context.platform, defaultdict[tuple[str, str, str], dict[str, float]](dict), {}
    known = {link.name: link for link in platform.links if platform.has_kernels(link)}
    for part in run.wholes:
        for channel, route in _routes(part):
            for step in (one for one in route if one.link in known):
                name = part.channel_name(channel.name)
                over[step.link or "", step.source, step.target][name] = _gbps(channel, part)
                frames[name] = channel.width_bits, channel.words_per_frame
    found: dict[str, LinkPace] = {}
    for (link, *_), rates in over.items():
        own = known[link]
        kernels = {name: link_stream(name, frames[name][0], rate, own.latency_us) for name, rate in rates.items()}
        direction = LinkDirection(link, own.gbps, own.latency_us, platform.clock_mhz, kernels, rates)
        way = ceil(way_us(own.latency_us) * platform.clock_mhz)
        for name, one in kernels.items():
            words = (one.words - SPARE_WORDS) * WORD_BITS // one.bits
            pace = LinkPace(direction.frame_cycles(name, frames[name][1]), words, way, WAIT_CYCLES)
            # Of several links on a way the slowest has its pace, and the least room counts.
            before = found.get(name, pace)
            cycles = max(before.frame_cycles, pace.frame_cycles)
            found[name] = LinkPace(cycles, min(before.words, words), max(before.way_cycles, way), WAIT_CYCLES)
    return found


def longest_streams(parts: Sequence[Part], fpga: Fpga) -> list[LongStreamEntry]:
    """Return the longest streams of an FPGA: those that should have slices first, then by their way without any."""
    entries = [entry for part in parts for entry in _long_streams(part, fpga)]
    return sorted(entries, key=lambda row: (row.way_tiles <= row.comfortable_tiles, -row.unsliced_tiles))[:LISTED]


def _long_streams(part: Part, fpga: Fpga) -> list[LongStreamEntry]:
    slices, clock_mhz = part.candidate.slices, part.context.platform.clock_mhz
    most = comfortable_tiles(clock_mhz)
    own = {slot.name for slot in fpga.slots}
    return [
        LongStreamEntry(
            channel=part.channel_name(name),
            tiles=placed.way.tiles,
            unsliced_tiles=placed.way.longest_tiles,
            way_tiles=placed.way.longest_with(slices.count(name)),
            reach_tiles=reach_tiles(clock_mhz),
            comfortable_tiles=most,
            slices=slices.count(name),
        )
        for name, placed in slices.ways.items()
        if placed.slots[0] in own and placed.way.tiles
    ]
