"""A platform: FPGAs as slots with what is available in each, and the wires and links between them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Literal

from floorflow.hardware.board import Board
from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.links import Link
from floorflow.hardware.ports import host_port, link_port
from floorflow.hardware.slot_graph import (
    Crossing,
    Edge,
    Route,
    RouteStep,
    SlotGraph,
    between_halves,
    boundary_crossing,
    link_crossing,
    route_steps,
)
from floorflow.hardware.slots import Infrastructure, Slot
from floorflow.resources import Resources, total
from floorflow.technology import Technology, has_kernels


@dataclass(frozen=True)
class SllBoundary:
    """Wires between two neighbouring slots, given by name: SLLs, or long wires between the halves of an SLR."""

    lower: str
    upper: str
    wires: int
    kind: Literal["sll", "half"] = "sll"

    @property
    def name(self) -> str:
        """Name of the boundary."""
        return f"{self.lower}-{self.upper}"


@dataclass(frozen=True)
class Fpga:
    """One FPGA of a platform."""

    name: str
    board: Board
    device: Device
    slots: tuple[Slot, ...]
    host_slot: str
    """Where the host's streams enter and leave."""

    @property
    def host_port(self) -> Rect:
        """Where in that slot the host's streams enter and leave."""
        return host_port(self.board, self.device)

    @property
    def link_port(self) -> Rect | None:
        """Where streams to and from other FPGAs leave and enter; None if the board has no link."""
        return link_port(self.board, self.device)


@dataclass(frozen=True)
class Platform:
    """FPGAs, the wires between their slots, the links between them, infrastructure, and where all this comes from.

    Boards may differ. ``files`` maps paths such as ``boards/alveo-u250.yaml`` to the verbatim text. ``described``: a
    platform file says which FPGAs there are, so there is no other number of them.
    """

    name: str
    fpgas: tuple[Fpga, ...]
    boundaries: tuple[SllBoundary, ...]
    links: tuple[Link, ...]
    infrastructure: tuple[Infrastructure, ...]
    files: Mapping[str, str]
    described: bool = False
    asked_mhz: float | None = None
    """Clock in MHz that was asked for instead of the boards'."""
    crossing_fifos: bool = False
    """Whether what is planned at SLR boundaries are FIFOs, which the back end's tool builds, not bare registers."""
    crossing_slices: bool = False
    """Whether they are AMD's register slices, which a script of the plan is to insert."""

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All slots, FPGA by FPGA, each from the bottom SLR upwards."""
        return tuple(slot for fpga in self.fpgas for slot in fpga.slots)

    @property
    def silicon(self) -> Resources:
        """Raw silicon of all slots."""
        return total(slot.capacity for slot in self.slots)

    @property
    def clock_mhz(self) -> float:
        """Clock of the design in MHz."""
        return self.asked_mhz or self.own_mhz()

    def own_mhz(self, alveo_mhz: float = inf) -> float:
        """Return the clock unless one is asked for: the lowest of the boards', Alveo cards at most at ``alveo_mhz``."""
        boards = [fpga.board for fpga in self.fpgas]
        return min(min(board.clock_mhz, alveo_mhz) if board.is_alveo else board.clock_mhz for board in boards)

    @property
    def technology(self) -> Technology:
        """What engines may use: they are made once, whatever FPGA they come to lie in, so UltraRAM only if all have it.

        A FIFO of thousands of words, for one, is built in UltraRAM where the part has any, and the price is the same
        wherever it lies.
        """
        found = [fpga.device.technology for fpga in self.fpgas]
        return replace(found[0], has_uram=all(technology.has_uram for technology in found))

    @property
    def most_fpgas(self) -> int:
        """How many FPGAs such a platform can have."""
        return len(self.fpgas) if self.described else self.fpgas[0].board.max_fpgas

    @property
    def host_in_slot(self) -> str:
        """Name of the slot where the host's streams enter: in the first FPGA."""
        return self.fpgas[0].host_slot

    @property
    def host_out_slot(self) -> str:
        """Name of the slot where the streams to the host leave: in the last FPGA."""
        return self.fpgas[-1].host_slot

    def has_kernels(self, link: Link) -> bool:
        """Whether a link is of those with kernels at their ends."""
        return has_kernels(link.kind, (fpga.board.part for fpga in self.fpgas))

    @cached_property
    def fpga_of(self) -> Mapping[str, Fpga]:
        """The FPGA of each slot, by the slot's name."""
        return {slot.name: fpga for fpga in self.fpgas for slot in fpga.slots}

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {slot.name: position for position, slot in enumerate(self.slots)}

    @cached_property
    def graph(self) -> SlotGraph:
        """The slots, by their positions in `slots`, and what joins them: all SLR boundaries, then all links."""
        index = self._index
        boundaries = (
            Edge(
                index[b.lower],
                index[b.upper],
                between_halves(b.wires)
                if b.kind == "half"
                else boundary_crossing(
                    self.fpga_of[b.lower].board, b.wires, fifos=self.crossing_fifos, slices=self.crossing_slices
                ),
                b.name,
            )
            for b in self.boundaries
        )
        links = (
            Edge(
                index[k.source],
                index[k.target],
                link_crossing(k.payload_gbps, k.latency_us, self.clock_mhz, kernels=self.has_kernels(k)),
                k.name,
            )
            for k in self.links
        )
        return SlotGraph(len(index), (*boundaries, *links))

    @cached_property
    def crossings(self) -> Mapping[tuple[str, str], Crossing]:
        """What lies between two slots that are joined: a boundary by lower and upper slot, a link by its two ends."""
        names = tuple(self._index)
        return {(names[edge.a], names[edge.b]): edge.crossing for edge in self.graph.edges}

    def route_steps(self, source: str, target: str) -> tuple[RouteStep, ...]:
        """Return the one route between two slots, in order: runs of SLR boundaries inside an FPGA, and single links.

        See `SlotGraph.route`. It is empty from a slot to itself; an unknown slot raises KeyError.
        """
        return tuple(route_steps(self.graph, tuple(self._index), self._index[source], self._index[target]))

    def route(self, source: str, target: str) -> Route:
        """Return what a stream passes between two slots, boundary by boundary and link by link."""
        return Route(tuple(crossing for step in self.route_steps(source, target) for crossing in step.crossings))
