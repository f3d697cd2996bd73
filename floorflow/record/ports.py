"""Ports of the modules of an FPGA, and the Laguna columns of what crosses its SLR boundaries, as the plan has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from floorflow.channels.cost_allocation import modules_between
from floorflow.facts import ColumnWires, PlacedPortEntry, SllColumnsEntry
from floorflow.hardware import Fpga, Rect, bounding_box, stream_wires
from floorflow.hardware.routing import laguna_columns
from floorflow.placement import Pin
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
from floorflow.record.part import Part, PhaseRun
from floorflow.search.candidate.placing import stream_ends
from floorflow.search.candidate.slot_problem import channel_steps


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
        for channel, *ends in stream_ends(part.context, part.candidate, self.fpga, here):
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
        return [
            PlacedPortEntry(
                channel=port.stream, direction=port.direction, side=port.side, first=port.first, last=port.last
            )
            for port in self.placed[module].ports
        ]

    def sll_columns(self) -> list[SllColumnsEntry]:
        """Return the Laguna columns of each stream at each SLR boundary that it crosses here, bottom to top."""
        names = {b.lower: b.name for b in self.run.context.platform.boundaries}
        found = []
        for slot, where in zip(self.fpga.slots, laguna_columns(self.fpga.board, self.fpga.device), strict=False):
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
        """Yield the streams that cross the boundary above a slot."""
        candidate = part.candidate
        ends = modules_between(candidate.modules, candidate.channels)
        for channel in candidate.channels:
            steps = channel_steps(part.context, candidate.slot_of, ends[channel.name])
            if any(step.link is None and lower == joint[0] for step in steps for joint in step.joints):
                stream = self.streams[part.channel_name(channel.name)]
                a, b = (end_point(stream, direction, self.boxes, self._points) for direction in ("out", "in"))
                yield BoundaryCrossing(stream.name, stream_wires(channel.width_bits), a, b)
