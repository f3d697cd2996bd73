"""The floorplan of each FPGA as the plan has it: pblocks, ports, wires, and what the constraint files say of a slot.

What is asked for holds, but a pblock over all that is free of a slot is never hard, and where there is one SLR none is
assigned. ``auto``: on one die soft pblocks, or nothing if one pblock has most of what lies there; on several SLRs hard
pblocks where each has the room that it should have and covers no more than part of its slot, else the SLR alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from floorflow.channels.cost_allocation import modules_between
from floorflow.dataflow.bands import uncertain_sum
from floorflow.facts.constraint import SlotStyle
from floorflow.facts.floorplan import (
    ColumnWires,
    FloorplanEntry,
    PblockEntry,
    PlacedPortEntry,
    PlacementTerms,
    RoutingMapEntry,
    SllColumnsEntry,
)
from floorflow.facts.values import RectangleEntry
from floorflow.hardware import Device, Fpga, Rect, Slot, anchor, bounding_box, free_cells, ranges, stream_wires
from floorflow.hardware.routing import BIN_TILES, laguna_columns
from floorflow.placement import Pin, Region, RoutingMap
from floorflow.placement.crossing_columns import BoundaryCrossing, crossing_columns
from floorflow.placement.ports import (
    ModulePorts,
    Points,
    PortStream,
    end_point,
    fabric_edges,
    length_of,
    place_ports,
    points_of,
)
from floorflow.record.part import Part, PhaseRun, uses_of_part
from floorflow.record.streams import longest_streams
from floorflow.request import MOST_OF_FPGA, MOST_OF_SLOT, Request
from floorflow.resources import total
from floorflow.search.candidate.placing import stream_ends
from floorflow.search.candidate.slot_problem import Use, channel_steps, has_room

_DIGITS = 6


def floorplan(fpga: Fpga, run: PhaseRun) -> FloorplanEntry:
    """Return the floorplan of an FPGA."""
    placement, ports = run.placements[fpga.name], FpgaPorts(fpga, run)
    return FloorplanEntry.of(
        placement,
        pblocks={
            part.module(name): _pblock(name, use, ports, part, placement.regions[part.module(name)])
            for part in run.wholes
            for name, use in uses_of_part(part).items()
            if part.module(name) in placement.regions
        },
        port_length=ports.length,
        sll_columns=ports.sll_columns(),
        longest=longest_streams(run.wholes, fpga),
        weights=PlacementTerms.of(run.context.request.place_weights),
        terms=PlacementTerms.of(placement.terms),
        congestion=_routing_map(placement.routing, fpga.device),
    )


def _pblock(module: str, use: Use, ports: "FpgaPorts", part: Part, region: Region) -> PblockEntry:
    fpga, costs, place = ports.fpga, part.context.costs, part.candidate.slot_of[module]
    device, name = fpga.device, part.module(module)
    supply = total(device.resources(rect) for rect in region)
    (slot,) = (slot for slot in fpga.slots if slot.name == place)
    is_whole = sum(rect.columns * rect.rows for rect in region) == free_cells(device, slot)
    return PblockEntry.of(
        ports.placed[name],
        slot=place,
        rectangles=region,
        ranges=ranges(device, *region),
        anchor=anchor(device, *region),
        demand=part.candidate.demands[module],
        supply=supply,
        likelihood=uncertain_sum(use, costs.band).told(supply.as_dict()) if costs.has_bands else None,
        short=not is_whole and not has_room(part.context, device, use)(supply),
        ports=ports.entries(name),
    )


def constraint_styles(request: Request, fpga: Fpga, pblocks: Mapping[str, PblockEntry]) -> dict[str, SlotStyle]:
    """Return the style of each slot of an FPGA with these pblocks."""
    if request.constraint_style == "auto" and len(fpga.device.slrs) == 1:
        style: SlotStyle = "none" if _has_one_for_most(pblocks) else "soft"
        return {slot.name: style for slot in fpga.slots}
    return {
        slot.name: _style(request, fpga, slot, [entry for entry in pblocks.values() if entry.slot == slot.name])
        for slot in fpga.slots
    }


def _has_one_for_most(pblocks: Mapping[str, PblockEntry]) -> bool:
    luts = [entry.demand.LUT for entry in pblocks.values()]
    return max(luts, default=0) > MOST_OF_FPGA * sum(luts)


def _style(request: Request, fpga: Fpga, slot: Slot, pblocks: list[PblockEntry]) -> SlotStyle:
    free = free_cells(fpga.device, slot)
    covered = [entry.cells for entry in pblocks]
    asked = request.constraint_style
    if asked == "slr":
        return "slr" if len(fpga.device.slrs) > 1 else "none"
    if asked == "auto":
        holds = all(area <= MOST_OF_SLOT * free for area in covered) and not any(entry.short for entry in pblocks)
        return "hard" if holds else "slr"
    return "soft" if asked == "hard" and free in covered else asked


def _routing_map(routing: RoutingMap, device: Device) -> RoutingMapEntry:
    """Return the map, rounded to whole bit-tiles; of equal peaks the leftmost of the lowest."""
    demand, carried = routing.demand.T, routing.carried.T
    row, column = np.unravel_index(int(np.round(carried, _DIGITS).argmax()), demand.shape)
    left, bottom = int(column) * BIN_TILES, int(row) * BIN_TILES
    right, top = (
        min(low + BIN_TILES, end) - 1 for low, end in ((left, device.column_count), (bottom, device.row_count))
    )
    return RoutingMapEntry(
        unit="bit-tiles",
        bin_columns=BIN_TILES,
        bin_rows=BIN_TILES,
        capacity=float(routing.capacity.max()),
        peak=round(routing.peak, _DIGITS),
        peak_at=RectangleEntry(left=left, bottom=bottom, right=right, top=top),
        mean=round(routing.mean, _DIGITS),
        over=routing.over,
        demand=[" ".join(map(str, bins)) for bins in np.rint(demand).astype(int).tolist()],
    )


@dataclass(frozen=True)
class FpgaPorts:
    """The ports of one FPGA's modules in a phase; modules and streams go by the plan's names."""

    fpga: Fpga
    run: PhaseRun

    @cached_property
    def boxes(self) -> dict[str, Rect]:
        """The least rectangle around each module."""
        return {name: bounding_box(region) for name, region in self.run.placements[self.fpga.name].regions.items()}

    @cached_property
    def streams(self) -> dict[str, PortStream]:
        """Every stream of the phase with its ends as this FPGA sees them."""
        return {stream.name: stream for part in self.run.wholes for stream in self._streams(part)}

    def _streams(self, part: Part) -> Iterator[PortStream]:
        here = {m.name for m in part.candidate.modules if part.module(m.name) in self.boxes}
        # Streams of a copy end where it has the host.
        own = next(fpga for fpga in part.context.platform.fpgas if fpga.name == self.fpga.name)
        for channel, *ends in stream_ends(part.context, part.candidate, own, here):
            source, target = (end if isinstance(end, Pin) else part.module(end) for end in ends)
            yield PortStream(part.channel_name(channel.name), source, target, channel.width_bits)

    @cached_property
    def placed(self) -> dict[str, ModulePorts]:
        """The ports by module."""
        regions = self.run.placements[self.fpga.name].regions
        edges = {name: fabric_edges(self.fpga.device, box, regions[name]) for name, box in self.boxes.items()}
        return place_ports(self.boxes, [*self.streams.values()], edges)

    @cached_property
    def _points(self) -> Points:
        return points_of(self.boxes, self.placed)

    @property
    def length(self) -> float:
        """Bits times columns and rows from port to port."""
        return length_of(self.boxes, [*self.streams.values()], self.placed)

    def entries(self, module: str) -> list[PlacedPortEntry]:
        """Return the ports of a module."""
        return [PlacedPortEntry.of(port, channel=port.stream) for port in self.placed[module].ports]

    def sll_columns(self) -> list[SllColumnsEntry]:
        """Return the Laguna columns of each stream at each SLR boundary that it crosses here, bottom to top."""
        names = {b.lower: b.name for b in self.run.context.platform.boundaries if b.kind == "sll"}
        found, below = [], [slot for slot in self.fpga.slots if slot.name in names]
        for slot, where in zip(below, laguna_columns(self.fpga.board, self.fpga.device), strict=True):
            over = [one for part in self.run.wholes for one in self._crossing(part, slot.name)]
            if not over:
                continue
            columns = crossing_columns(over, where.row2, where.columns, where.wires_per_column)
            found += [
                SllColumnsEntry(
                    channel=one.stream,
                    boundary=names[slot.name],
                    columns=[ColumnWires(column=k, wires=n) for k, n in sorted(columns[one.stream].items())],
                )
                for one in over
            ]
        return found

    def _crossing(self, part: Part, lower: str) -> Iterator[BoundaryCrossing]:
        candidate = part.candidate
        ends = modules_between(candidate.modules, candidate.channels)
        for channel in candidate.channels:
            steps = channel_steps(part.context, candidate.slot_of, ends[channel.name])
            if any(step.link is None and lower == joint[0] for step in steps for joint in step.joints):
                stream = self.streams[part.channel_name(channel.name)]
                a, b = (end_point(stream, direction, self.boxes, self._points) for direction in ("out", "in"))
                yield BoundaryCrossing(stream.name, stream_wires(channel.width_bits), a, b)
