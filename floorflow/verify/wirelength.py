"""Wires of one FPGA: from pblock to pblock, and from pblocks to the ports of the host and of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from floorflow.verify.ends import is_outside
from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.phase_facts import PhaseFacts


@dataclass(frozen=True, slots=True)
class Wire:
    """A channel on an FPGA: its width, and column and row of the middles of what it ends at."""

    width_bits: int
    first: tuple[float, float]
    second: tuple[float, float]

    @property
    def tiles(self) -> float:
        """Return columns and rows between its ends."""
        return sum(abs(one - other) for one, other in zip(self.first, self.second, strict=True))


def wires_on(phase: PhaseFacts, board: Board, fpga: str, areas: Mapping[str, Rectangle]) -> Iterator[Wire]:
    """Yield the channels of the FPGA's pblocks, whose boxes are given by module.

    A channel that has an end in none of the pblocks goes to a port; without a pblock at either end it does not count.
    """
    for channel in phase.channels:
        homes = [phase.module_of.get(channel[end]) for end in ("source", "target")]
        ends = [
            areas.get(str(home)) or port_of(phase, board, fpga, channel[end], enters=end == "source")
            for home, end in zip(homes, ("source", "target"), strict=True)
        ]
        inside = homes[0] == homes[1] or not any(home in areas for home in homes)
        if not inside and ends[0] and ends[1]:
            yield Wire(channel["width_bits"], ends[0].middle, ends[1].middle)


def port_of(phase: PhaseFacts, board: Board, fpga: str, end: str, *, enters: bool) -> Rectangle | None:
    """Return the port through which a channel's end outside the FPGA's pblocks is reached; None if it is unknown."""
    slot = phase.slot_of_end(end, enters=enters)
    if slot is None or slot.fpga != fpga:
        return board.link_port if slot else None
    return board.host_port if is_outside(end) else None
