"""Channels, crossings and loads in the form that plan.json holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floorflow.channels import Channel
from floorflow.channels.cost_allocation import crossing_shares, modules_between
from floorflow.dataflow.modules import module_of
from floorflow.facts import BoundaryRegisters, ChannelEntry, CrossingEntry, FarStreamEntry, LoadEntry
from floorflow.hardware import RouteStep
from floorflow.record.part import Part, PhaseRun
from floorflow.record.values import amounts
from floorflow.resources import ZERO, Resources
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.slot_problem import channel_steps


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
    stream, shares = channel.stream, _crossing_resources(part.context, channel, route)
    return ChannelEntry(
        name=part.channel_name(channel.name),
        source=part.id(stream.source),
        source_port=stream.source_port,
        target=part.id(stream.target),
        target_port=stream.target_port,
        width_bits=channel.width_bits,
        words_per_frame=channel.words_per_frame,
        source_width_bits=channel.source_width_bits,
        target_width_bits=channel.target_width_bits,
        converter=channel.converter,
        converter_module=part.module(home[channel.converter_engine]) if channel.converter else None,
        fifo_depth=channel.fifo_depth_words,
        fifo_needed=channel.needed_words,
        fifo_style=channel.fifo_style,
        fifo_module=part.module(home[channel.fifo_engine]),
        crossing_registers=sum(crossing.registers for step in route for crossing in step.crossings),
        slices=part.candidate.slices.count(channel.name),
        slice_slots=list(part.candidate.slices.slots.get(channel.name, ())),
        slices_left_out=part.candidate.slices.left_out.get(channel.name, 0),
        link=",".join(step.link for step in route if step.link is not None) or None,
        resources=amounts(channel.fifo_resources + channel.converter_resources),
        converter_resources=amounts(channel.converter_resources),
        fifo_resources=amounts(channel.fifo_resources),
        crossing_resources={slot: amounts(share) for slot, share in shares.items()},
        slice_resources={slot: amounts(share) for slot, share in part.candidate.slices.shares(channel.name).items()},
    )


def _crossing_resources(context: PlanningContext, channel: Channel, route: Sequence[RouteStep]) -> dict[str, Resources]:
    """Sum the registers of all runs of SLR boundaries on the route, by slot."""
    shares: dict[str, Resources] = {}
    for step in route:
        if step.link is None:
            run = crossing_shares(channel, step.joints, context.platform.crossings)
            shares = {slot: shares.get(slot, ZERO) + run.get(slot, ZERO) for slot in (shares | run)}
    return shares


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
            boundary=names[joint], stages=crossing.registers, flip_flops=crossing.registers * channel.sll_wires
        )
        for joint, crossing in zip(step.joints, step.crossings, strict=True)
    ]


def _gbps(channel: Channel, part: Part) -> float:
    stream = channel.stream
    return stream.elements * stream.element_bits * part.frames_per_s_of(stream.source) / 1e9


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
        LoadEntry(name=b.name, kind="sll", use=wires[b.lower, b.upper], capacity=b.wires) for b in platform.boundaries
    ]
    fpga_of = {slot.name: slot.fpga for slot in platform.slots}
    capacity = {(k.source, k.target): k.gbps for k in platform.links}
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
