"""The longest streams of an FPGA, and what is to be said of the register slices that they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floorflow.channels.slices import PlacedWay
from floorflow.errors import some
from floorflow.facts import ChannelEntry, LongStreamEntry, PhaseEntry
from floorflow.hardware import Fpga
from floorflow.hardware.reach import reach_tiles
from floorflow.record.part import Part

LISTED = 5


def longest_streams(part: Part, fpga: Fpga) -> list[LongStreamEntry]:
    """Return the longest streams of an FPGA: those beyond one cycle's reach first, then by their way without slices."""
    slices, reach = part.candidate.slices, reach_tiles(part.context.platform.clock_mhz)
    own = {slot.name for slot in fpga.slots}
    ways = [(name, way, way.way.longest_with(slices.count(name))) for name, way in slices.ways.items()]
    here = [each for each in ways if each[1].slots[0] in own and each[1].way.tiles]
    here.sort(key=lambda each: (each[2] <= reach, -each[1].way.longest_tiles))
    return [_entry(part, name, way, tiles) for name, way, tiles in here[:LISTED]]


def _entry(part: Part, name: str, way: PlacedWay, way_tiles: float) -> LongStreamEntry:
    return LongStreamEntry(
        channel=part.channel_name(name),
        tiles=way.way.tiles,
        unsliced_tiles=way.way.longest_tiles,
        way_tiles=way_tiles,
        reach_tiles=reach_tiles(part.context.platform.clock_mhz),
        slices=part.candidate.slices.count(name),
    )


def slice_warnings(phase: PhaseEntry, tool: str) -> Iterator[str]:
    """Say which slices the tool does not build, and which streams have none for lack of room."""
    sliced = [channel for channel in phase.channels if channel.slices]
    if sliced and not phase.slices_built:
        count = sum(channel.slices for channel in sliced)
        yield (
            f"register slices are missing: {tool} builds none from what is written, and {count} on {_streams(sliced)} "
            f"{'are' if count > 1 else 'is'} planned; without them a word may take longer than a cycle there"
        )
    short = [channel for channel in phase.channels if channel.slices_left_out]
    if short:
        told = f"{_streams(short)} longer than one cycle's reach {'have' if len(short) > 1 else 'has'} none"
        yield f"register slices are missing: {told}, for want of room or of kernels that hold them: {_named(short)}"


def _streams(channels: Sequence[ChannelEntry]) -> str:
    return f"{len(channels)} stream{'s' * (len(channels) > 1)}"


def _named(channels: Sequence[ChannelEntry]) -> str:
    return some([f"{channel.name} ({channel.slices_left_out} needed)" for channel in channels])
