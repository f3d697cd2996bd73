"""What a stream pays where it leaves its slot: wires, flip-flops, cycles, words of FIFO and cost.

Everything that the price of an SLR boundary depends on stands here and in the board's file (``crossing_registers``,
``sll_wires``); channels, partition and rates take it from a `Crossing`. ``floorflow check`` has its own formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

from floorflow.hardware.board import Board

BOUNDARY_COST, LINK_COST = 1, 10
"""Cost of a wire over one SLR boundary and over a link: what FINN's own partitioner charges for Ethernet."""
HANDSHAKE_WIRES = 2
"""Wires of a stream besides its data: valid and ready."""


def boundaries_cost(hops: int) -> int:
    """Cost of a wire over so many SLR boundaries one after the other in an FPGA: it grows faster than their number."""
    return BOUNDARY_COST * hops * (hops + 1) // 2


def padded_width_bits(width_bits: int) -> int:
    """Round up to whole bytes, as AXI streams are on wires."""
    return -(-width_bits // 8) * 8


def stream_wires(width_bits: int) -> int:
    """Wires of a stream across a boundary, and flip-flops of each register stage there."""
    return padded_width_bits(width_bits) + HANDSHAKE_WIRES


@dataclass(frozen=True, slots=True)
class Crossing:
    """One SLR boundary, or one link between FPGAs, made from its board.

    ``wires`` is how many SLLs a boundary has, ``gbps`` what a link carries in each direction; None: no limit.
    ``registers`` flip-flop stages stand in every wire; a word takes ``cycles`` there, and `ready` or a credit as many
    back. A link's ``latency_cycles`` are those cycles before they are rounded up. One wire over it costs ``cost``.
    """

    kind: Literal["sll", "link"]
    wires: int | None = None
    registers: int = 0
    cycles: int = 0
    gbps: float | None = None
    latency_us: float = 0.0
    latency_cycles: float = 0.0
    cost: int = BOUNDARY_COST

    @property
    def register_shares(self) -> tuple[int, int]:
        """Register stages in the lower and in the upper slot, which share them evenly: the lower has the odd one."""
        upper = self.registers // 2
        return self.registers - upper, upper

    def words_in_flight(self, words_per_frame: int, interval_cycles: int) -> int:
        """Words by which the receiver's FIFO is deeper: those that arrive before the sender knows to stop.

        Over a boundary a word may come every cycle of the way there and back; a link carries the channel's mean rate.
        """
        if self.kind == "sll":
            return 2 * self.cycles
        return ceil(2 * self.latency_cycles * words_per_frame / interval_cycles - 1e-9)


def boundary_crossing(board: Board, wires: int | None = None) -> Crossing:
    """Return the crossing of an SLR boundary with so many wires: each register stage takes a cycle."""
    return Crossing("sll", wires, board.crossing_registers, board.crossing_registers)


def link_crossing(gbps: float, latency_us: float, clock_mhz: float) -> Crossing:
    """Return the crossing of a link between boards whose design runs at ``clock_mhz``."""
    latency_cycles = latency_us * clock_mhz
    cycles = ceil(latency_cycles - 1e-9)
    return Crossing(
        "link", None, 0, cycles, gbps=gbps, latency_us=latency_us, latency_cycles=latency_cycles, cost=LINK_COST
    )


@dataclass(frozen=True, slots=True)
class Route:
    """What lies between the two ends of a channel: the crossings, in order; none inside a slot."""

    crossings: tuple[Crossing, ...] = ()

    @property
    def cycles(self) -> int:
        """Cycles that a word takes, and those that `ready` or a credit takes back."""
        return sum(crossing.cycles for crossing in self.crossings)

    @property
    def latency_us(self) -> float:
        """Time over all links."""
        return sum(crossing.latency_us for crossing in self.crossings)

    def words_in_flight(self, words_per_frame: int, interval_cycles: int) -> int:
        """Words by which the receiver's FIFO is deeper, see `Crossing.words_in_flight`."""
        return sum(crossing.words_in_flight(words_per_frame, interval_cycles) for crossing in self.crossings)

    def longer(self, other: Route) -> Route:
        """Return a route at least as long as both, over boundaries as over links."""
        return Route(_longest("sll", self, other) + _longest("link", self, other))


def _longest(kind: Literal["sll", "link"], *routes: Route) -> tuple[Crossing, ...]:
    """Return the crossings of one kind on that route on which they take longest."""
    parts = (tuple(crossing for crossing in route.crossings if crossing.kind == kind) for route in routes)
    return max(parts, key=lambda crossings: (sum(c.latency_us for c in crossings), sum(c.cycles for c in crossings)))
