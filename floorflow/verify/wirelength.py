"""Wire length of one FPGA: from pblock to pblock, and from pblocks to the ports of the host and of links."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.verify.ends import is_outside
from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.phase_facts import PhaseFacts


def wire_length(phase: PhaseFacts, board: Board, fpga: str, areas: Mapping[str, Rectangle]) -> float:
    """Sum width x distance between middles over the channels of the FPGA's pblocks, whose boxes are given by module.

    A channel that has an end in none of the pblocks goes to a port; without a pblock at either end it does not count.
    """
    total = 0.0
    for channel in phase.channels:
        homes = [phase.module_of.get(channel[end]) for end in ("source", "target")]
        ends = [
            areas.get(str(home)) or port_of(phase, board, fpga, channel[end], enters=end == "source")
            for home, end in zip(homes, ("source", "target"), strict=True)
        ]
        inside = homes[0] == homes[1] or not any(home in areas for home in homes)
        if not inside and ends[0] and ends[1]:
            total += channel["width_bits"] * _distance(ends[0], ends[1])
    return total


def port_of(phase: PhaseFacts, board: Board, fpga: str, end: str, *, enters: bool) -> Rectangle | None:
    """Return the port through which a channel's end outside the FPGA's pblocks is reached; None if it is unknown."""
    slot = phase.slot_of_end(end, enters=enters)
    if slot is None or slot.fpga != fpga:
        return board.link_port if slot else None
    return board.host_port if is_outside(end) else None


def _distance(first: Rectangle, second: Rectangle) -> float:
    """Return the Manhattan distance between the middles of two rectangles, in columns and rows."""
    across = (first.left + first.right) / 2 - (second.left + second.right) / 2
    along = (first.bottom + first.top) / 2 - (second.bottom + second.top) / 2
    return abs(across) + abs(along)
