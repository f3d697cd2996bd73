"""Register slices of a placed candidate: for the streams that are longer than one cycle's reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from floorflow.channels import Channel
from floorflow.channels.cost_allocation import modules_between
from floorflow.channels.slices import PlacedWay, SlicedStream, Slices, register_slices
from floorflow.hardware import Fpga, Rect, bounding_box
from floorflow.hardware.reach import Way, reach_tiles
from floorflow.placement import PlacementSolution
from floorflow.search.candidate.candidate import Candidate, slot_demands
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.placing import unbuildable
from floorflow.search.candidate.slot_problem import channel_slots
from floorflow.search.interval.fullness import cap_limits

Boxes = Mapping[str, tuple[str, Rect]]
"""FPGA and box of each module that has a pblock."""


def with_slices(
    context: PlanningContext, candidate: Candidate, placements: Mapping[str, PlacementSolution]
) -> Candidate:
    """Return the candidate with slices on its long streams, as far as its slots hold them within their caps.

    Where the back end's tool cannot build them in several SLRs, streams over SLR boundaries get none.
    """
    ways = placed_ways(context, candidate, placements)
    found = replace(candidate, slices=replace(_slices(context, candidate, ways), ways=ways))
    if not found.slices.slots or unbuildable(context, found) is None:
        return found
    inside = {name: way for name, way in ways.items() if len({*way.slots}) == 1}
    kept = _slices(context, candidate, inside)
    reach = reach_tiles(context.platform.clock_mhz)
    dropped = {name: way.way.slices(reach) for name, way in ways.items() if name not in inside}
    left_out = dict(kept.left_out) | {name: count for name, count in dropped.items() if count}
    return replace(candidate, slices=replace(kept, left_out=left_out, ways=ways))


def _slices(context: PlanningContext, candidate: Candidate, ways: Mapping[str, PlacedWay]) -> Slices:
    demands = slot_demands(candidate)
    free = {slot: limit - demands[slot] for slot, limit in cap_limits(context).items()}
    streams = [_stream(context, channel, ways.get(channel.name)) for channel in candidate.channels]
    return register_slices(streams, reach_tiles(context.platform.clock_mhz), free)


def _stream(context: PlanningContext, channel: Channel, way: PlacedWay | None) -> SlicedStream:
    known = channel.needed_words > 0
    return SlicedStream(
        channel.name,
        channel.stream.source,
        channel.stream.target,
        channel.fifo_depth_words - channel.needed_words if known else None,
        context.costs.slice_resources(channel.width_bits),
        way,
    )


def placed_ways(
    context: PlanningContext, candidate: Candidate, placements: Mapping[str, PlacementSolution]
) -> dict[str, PlacedWay]:
    """Return the way of every stream between two pblocks of an FPGA, or a pblock and the host's port, by channel.

    One inside a pblock is of no length: it may need slices for others that it meets.
    """
    boxes = {
        module: (fpga, bounding_box(region))
        for fpga, placed in placements.items()
        for module, region in placed.regions.items()
    }
    return dict(_ways(context, candidate, boxes))


def _ways(context: PlanningContext, candidate: Candidate, boxes: Boxes) -> Iterator[tuple[str, PlacedWay]]:
    fpgas = context.platform.fpgas
    ends = modules_between(candidate.modules, candidate.channels)
    for channel in candidate.channels:
        stream, pair = channel.stream, ends[channel.name]
        source = _port(fpgas[0]) if stream.from_outside else boxes.get(pair[0])
        target = _port(fpgas[-1]) if stream.to_outside else boxes.get(pair[1])
        if source is not None and target is not None and source[0] == target[0]:
            slots = channel_slots(context, candidate.slot_of, pair)
            yield channel.name, _way(context, slots, _middle(source[1]), _middle(target[1]))


def _way(
    context: PlanningContext, slots: tuple[str, str], source: tuple[float, float], target: tuple[float, float]
) -> PlacedWay:
    """Return a way with the registers at the SLR boundaries between its ends; without any it is of one part."""
    regions = {slot.name: slot.region for slot in context.platform.slots}
    steps = context.platform.route_steps(*slots)
    pairs = [zip(step.joints, step.crossings, strict=True) for step in steps]
    joints = [joint for pair in pairs for joint, crossing in pair if crossing.registers]
    rows = [(regions[lower].top + regions[upper].bottom) / 2 for lower, upper in joints]
    passed = {slot for joint in joints for slot in joint} if joints else {slots[0]}
    upwards = tuple(sorted(passed, key=lambda slot: regions[slot].bottom))
    return PlacedWay(Way.between(source, target, rows), upwards, rises=source[1] <= target[1])


def _port(fpga: Fpga) -> tuple[str, Rect]:
    return fpga.name, fpga.host_port


def _middle(box: Rect) -> tuple[float, float]:
    return (box.left + box.right) / 2, (box.bottom + box.top) / 2
