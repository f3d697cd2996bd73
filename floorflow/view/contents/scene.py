"""What the pictures show: modules in dataflow order, streams between them, use of slots, boundaries and links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.resources import RESOURCE_NAMES
from floorflow.view.contents.module_contents import Contents
from floorflow.view.contents.outside_ends import OutsideEnd
from floorflow.view.sheet.geometry import Box


@dataclass(frozen=True)
class ModuleView:
    """One module with a pblock. ``number`` counts in dataflow order over all FPGAs, from 1.

    ``boxes``, in grid units, do not overlap; ``fill`` is demand over supply of the pblock for the resources that it
    holds. ``style``: how its slot is constrained.
    """

    number: int
    name: str
    slot: str
    boxes: tuple[Box, ...]
    contents: Contents
    lut: int
    fill: Mapping[str, float]
    style: str

    @property
    def box(self) -> Box:
        """The largest of its boxes: where it is labelled, and streams end."""
        return max(self.boxes, key=lambda box: box.width * box.height)

    @property
    def tightest(self) -> str:
        """The resource that fills the pblock most."""
        return max(RESOURCE_NAMES, key=lambda name: self.fill.get(name, 0.0))


@dataclass(frozen=True)
class PortView:
    """Where streams enter or leave an FPGA by a link: at ``slot``, all of them together at ``gbps``."""

    name: str
    """``from fpga0`` or ``to fpga2``."""
    slot: str
    at_left: bool
    """Whether the neighbour comes earlier in the chain, which is drawn from left to right."""
    gbps: float


@dataclass(frozen=True)
class RegionView:
    """A reconfigurable region: all of it, the parts that belong to it, and whether the phase is loaded into it."""

    name: str
    box: Box
    boxes: tuple[Box, ...]
    here: bool


@dataclass(frozen=True)
class SllView:
    """Where a stream crosses the upper boundary of an SLR: the middle of a Laguna column, in grid units."""

    slr: str
    x: float


@dataclass(frozen=True)
class EdgePort:
    """A port of a module: ``first..last`` in grid units along a side, and where that side is."""

    side: str
    edge: float
    first: float
    last: float

    @property
    def point(self) -> tuple[float, float]:
        """Its middle, on the edge."""
        along = (self.first + self.last) / 2
        return (self.edge, along) if self.side in ("left", "right") else (along, self.edge)


@dataclass(frozen=True)
class StreamView:
    """All streams of an FPGA from one end to another: modules, ports to links, or texts of ends outside.

    ``ports`` (at source and target, None where there is none) and ``slls``, in order, are those of the widest.
    """

    source: str
    target: str
    width_bits: int
    ahead: int
    """By how many modules in dataflow order the target lies after the source; 0 if an end is elsewhere."""
    ports: tuple[EdgePort | None, EdgePort | None] = (None, None)
    slls: tuple[SllView, ...] = ()
    slices: int = 0
    """Register slices, the most that one of them has."""
    longest: bool = False
    """Whether none of the FPGA's streams goes further from port to port."""


@dataclass(frozen=True)
class CrossingView:
    """A stream between two slots, as the plan lists it; ``ends`` are module numbers or texts of ends outside."""

    ends: tuple[str, str]
    source: str
    target: str
    width_bits: int
    gbps: float
    by_link: bool


@dataclass(frozen=True)
class Use:
    """A share of what is available and the most that the cap allows."""

    share: float
    limit: float


@dataclass(frozen=True)
class SlotView:
    """One slot: use of each resource that it has, the numbers of its modules, and what else lies there.

    ``label`` is what it is called beside its FPGA, ``style`` how it is constrained.
    """

    name: str
    label: str
    slr: str
    use: Mapping[str, Use]
    modules: tuple[int, ...]
    outside: tuple[OutsideEnd, ...]
    """The ends outside the engines that lie here."""
    infrastructure: tuple[tuple[str, int], ...]
    """(name, LUT) of the board's own logic."""
    style: str


@dataclass(frozen=True)
class NetworkView:
    """A line of the legend of networks, for plans of several: ``modules`` are the first and last number of its own."""

    number: int
    """Place among the plan's networks, from 0: it gives the colours of its modules."""
    name: str
    modules: tuple[int, int] | None
    rate: str


@dataclass(frozen=True)
class LongestView:
    """A channel's length in columns and rows from middle to middle, its register slices, and what one cycle reaches."""

    channel: str
    tiles: float
    slices: int
    reach_tiles: float


@dataclass(frozen=True)
class Scene:
    """Everything the plan says about one FPGA in one phase."""

    fpga: str
    title: str
    subtitle: str
    networks: tuple[NetworkView, ...]
    """Empty where the plan has one: then the subtitle says its rate."""
    parallelism: str
    """What the numbers of core engines count: names joined by a multiplication sign, or nothing."""
    modules: tuple[ModuleView, ...]
    streams: tuple[StreamView, ...]
    ports: tuple[PortView, ...]
    crossings: tuple[CrossingView, ...]
    slots: tuple[SlotView, ...]
    outside: Mapping[str, OutsideEnd]
    """By its text, each end outside the engines that a stream of this FPGA has."""
    host_port: Box
    """Where streams from and to ends outside enter and leave, in grid units."""
    link_port: Box | None
    """Where streams over links enter and leave."""
    note: str = ""
    """What the board's file leaves open, and is taken for granted."""
    regions: tuple[RegionView, ...] = ()
    """Those of this FPGA, that of the phase and others."""
    edge_ports: tuple[EdgePort, ...] = ()
    """The ports of all modules."""
    longest: LongestView | None = None
    """The stream whose registers lie furthest apart; None where the plan knows none."""


@dataclass(frozen=True)
class BoundaryView:
    """A boundary between two slots: its SLL wires, used and there, and the streams over it."""

    name: str
    lower: str
    upper: str
    use_wires: float
    capacity_wires: float
    down: tuple[CrossingView, ...]
    up: tuple[CrossingView, ...]


@dataclass(frozen=True)
class DirectionView:
    """One direction of a link: its load, and the streams that it carries."""

    use_gbps: float
    streams: tuple[CrossingView, ...]


@dataclass(frozen=True)
class LinkView:
    """A link between two slots of different FPGAs; ``gbps`` is its capacity in each direction."""

    name: str
    kind: str
    source: str
    target: str
    fpgas: tuple[str, str]
    """Of source and target."""
    gbps: float
    latency_us: float
    assumed: bool
    forward: DirectionView
    backward: DirectionView


@dataclass(frozen=True)
class SlotChainView:
    """All FPGAs of a plan, in the order of the chain, with what lies between their slots."""

    title: str
    subtitle: str
    networks: tuple[NetworkView, ...]
    """Empty where the plan has one: then the subtitle says its rate."""
    fpgas: tuple[tuple[str, tuple[SlotView, ...]], ...]
    """(name, slots from the top down)."""
    boards: Mapping[str, str]
    """The board of each FPGA where they differ; empty where all are alike."""
    boundaries: tuple[BoundaryView, ...]
    links: tuple[LinkView, ...]
    module_names: tuple[str, ...]
    """In dataflow order: number 1 comes first."""
