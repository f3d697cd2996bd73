"""The graph of a platform's slots, and the one route finder on it, for partition, search, record and rates alike.

Slots are their positions in the platform's order. Nothing is assumed of the graph: an FPGA's slots need not be a chain,
and links may make rings. ``floorflow check`` derives routes with its own code.

A stream over b boundaries of one FPGA passes b (b - 1) / 2 pairs of them, which make it dear or are forbidden. With one
unit of cost for each boundary and one for each pair a wire costs b (b + 1) / 2, as `boundaries_cost` has it.

What a stream pays where it leaves its slot (wires, flip-flops, cycles, words of FIFO and cost) is a `Crossing`.
Everything that the price of an SLR boundary depends on stands here and in the board's file (``crossing_registers``,
``sll_wires``); channels, partition and rates take it from there. ``floorflow check`` has its own formulas.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations, groupby, pairwise
from math import ceil
from typing import Literal

import networkx as nx

from floorflow.hardware.board import Board
from floorflow.resources import Resources
from floorflow.technology import WAIT_CYCLES, way_us

BOUNDARY_COST, LINK_COST = 1, 10
"""Cost of a wire over one SLR boundary and over a link: what FINN's own partitioner charges for Ethernet."""
HANDSHAKE_WIRES = 2
"""Wires of a stream besides its data: valid and ready."""
FLIP_FLOP = Resources(ff=1)
"""What a wire takes of a register stage that is planned, for somebody to make."""
FIFO = Resources(lut=1, ff=2)
"""What it takes where that is a FIFO of two words: measured are width + 4 LUT and 2 x width + 4 FF (docs/clock.md)."""
SLICE_STAGES = 4
"""Cycles of AMD's axis_register_slice over one SLR boundary: three in its RTL, one more so that both sides have two.

Read in axis_register_slice v1.1 (its "Multi SLR Crossing", one crossing, no further stages), not measured: the source's
side has a register a bit, the destination's one and a FIFO of shift registers with a register behind it, 2 LUT and 2 FF
a bit. Priced as FIFOs are, two stages on each side: 2 LUT and 4 FF a wire, whichever way the stream goes.
"""


def boundaries_cost(hops: int) -> int:
    """Cost of a wire over so many SLR boundaries one after the other in an FPGA: it grows faster than their number."""
    return BOUNDARY_COST * hops * (hops + 1) // 2


def padded_width_bits(width_bits: int) -> int:
    """Round up to whole bytes, as AXI streams are on wires."""
    return -(-width_bits // 8) * 8


def stream_wires(width_bits: int) -> int:
    """Wires of a stream across a boundary."""
    return padded_width_bits(width_bits) + HANDSHAKE_WIRES


LEAST_WEIGHT = 64
"""Wires that the narrowest stream counts for in the wirelength: it misses the clock as a wide one does. Half of the
streams between modules of CNV and MobileNet have no more."""


def stream_weight(width_bits: int) -> int:
    """Wires that a stream counts for in the wirelength: those that it has, or ``LEAST_WEIGHT``."""
    return max(stream_wires(width_bits), LEAST_WEIGHT)


@dataclass(frozen=True, slots=True)
class Crossing:
    """One SLR boundary, the line between the halves of an SLR, or one link between FPGAs, made from its board.

    Over the line between halves a wire costs as much as over a boundary, as slots side by side do in AutoBridge's sum,
    but it has no registers, takes no cycle and makes no stretch of boundaries longer.

    ``wires`` is how many SLLs a boundary has, ``gbps`` what streams have of a link in each direction; None: no limit.
    ``registers`` stages stand in every wire, ``fifos``: each a FIFO of two words, which the back end's tool builds, or
    ``slices``: part of AMD's register slice, which a script of the plan is to insert; a word takes ``cycles`` there,
    and `ready` or a credit as many back. A link's ``latency_cycles`` are those cycles before they are rounded up. One
    wire over it costs ``cost``.
    """

    kind: Literal["sll", "half", "link"]
    wires: int | None = None
    registers: int = 0
    cycles: int = 0
    gbps: float | None = None
    latency_us: float = 0.0
    latency_cycles: float = 0.0
    cost: int = BOUNDARY_COST
    fifos: bool = False
    slices: bool = False

    @property
    def of_a_wire(self) -> Resources:
        """What each stage takes for each wire."""
        return FIFO if self.fifos or self.slices else FLIP_FLOP

    @property
    def register_shares(self) -> tuple[int, int]:
        """Register stages in the lower and in the upper slot, which share them evenly: the lower has the odd one."""
        upper = self.registers // 2
        return self.registers - upper, upper

    def words_in_flight(self, words_per_frame: int, interval_cycles: int) -> int:
        """Words by which the receiver's FIFO is deeper: those that arrive before the sender knows to stop.

        Over a boundary a word may come every cycle of the way there and back; a link carries the channel's mean rate.
        """
        if self.kind != "link":
            return 2 * self.cycles
        return ceil(2 * self.latency_cycles * words_per_frame / interval_cycles - 1e-9)


def boundary_crossing(board: Board, wires: int | None = None, *, fifos: bool = False, slices: bool = False) -> Crossing:
    """Return the crossing of an SLR boundary with so many wires: each register stage takes a cycle."""
    stages = stages_at_boundary(board, fifos=fifos, slices=slices)
    return Crossing("sll", wires, stages, stages, fifos=fifos, slices=slices)


def stages_at_boundary(board: Board, *, fifos: bool, slices: bool = False) -> int:
    """Return the board's register stages; where they are FIFOs, and there are any, one stands on each side at least.

    A single register can be a pair of Laguna's with half of it on each side; a FIFO lies in one SLR, and leaves the
    wire that crosses to whatever drives it from the other. A register slice has those of its RTL.
    """
    if slices and board.crossing_registers:
        return SLICE_STAGES
    return max(2, board.crossing_registers) if fifos and board.crossing_registers else board.crossing_registers


def between_halves(wires: int) -> Crossing:
    """Return the line between the halves of an SLR, over which so many long wires go."""
    return Crossing("half", wires)


def link_crossing(gbps: float, latency_us: float, clock_mhz: float, *, kernels: bool = False) -> Crossing:
    """Return the crossing of a link between boards whose design runs at ``clock_mhz``; ``kernels`` stand at its ends.

    These have credits of their own for what is under way, so that no FIFO need be deeper for the time in them; but what
    meets a stream behind them has to wait as much longer.
    """
    latency_cycles = latency_us * clock_mhz
    cycles = ceil(latency_cycles - 1e-9)
    if kernels:
        cycles = ceil(way_us(latency_us) * clock_mhz - 1e-9) + WAIT_CYCLES
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

    def longer(self, other: "Route") -> "Route":
        """Return a route at least as long as both, over boundaries as over links."""
        return Route(_longest("sll", self, other) + _longest("link", self, other))


def _longest(kind: Literal["sll", "link"], *routes: Route) -> tuple[Crossing, ...]:
    """Return the crossings of one kind on that route on which they take longest."""
    parts = (tuple(crossing for crossing in route.crossings if crossing.kind == kind) for route in routes)
    return max(parts, key=lambda crossings: (sum(c.latency_us for c in crossings), sum(c.cycles for c in crossings)))


@dataclass(frozen=True)
class Edge:
    """What joins slots ``a`` and ``b``: SLR boundary, ``a`` the lower SLR, or link, ``a`` on the FPGA that comes first.

    ``crossing`` says what passing it takes: its wires or Gb/s, cycles, and cost.
    """

    a: int
    b: int
    crossing: Crossing
    name: str = ""

    @property
    def registers(self) -> dict[int, Resources]:
        """What the register stages take of each slot for every wire over the edge."""
        shares = zip((self.a, self.b), self.crossing.register_shares, strict=True)
        return {slot: self.crossing.of_a_wire.times(stages) for slot, stages in shares}


DirectedEdge = tuple[int, bool]
"""An edge by its index, and whether it is passed from ``a`` to ``b``."""


@dataclass(frozen=True)
class SlotGraph:
    """So many slots, and the edges that join them.

    ``fpgas``: by edge, a number that the SLR boundaries of one FPGA share, -1 for a link. Empty: those that boundaries
    join are of one FPGA.
    """

    slots: int
    edges: tuple[Edge, ...]
    fpgas: tuple[int, ...] = ()

    @cached_property
    def fpga_of_edge(self) -> tuple[int, ...]:
        """For each edge the number that it shares with the boundaries of the same FPGA; -1 for a link."""
        if self.fpgas:
            return self.fpgas
        graph = nx.Graph((edge.a, edge.b) for edge in self.edges if edge.crossing.kind != "link")
        fpga_of = {slot: min(joined) for joined in nx.connected_components(graph) for slot in joined}
        return tuple(fpga_of[edge.a] if edge.crossing.kind == "sll" else -1 for edge in self.edges)

    @property
    def is_tree(self) -> bool:
        """Whether there is one route only between any two slots."""
        return len(self.edges) == self.slots - 1

    @cached_property
    def beyond(self) -> tuple[frozenset[int], ...]:
        """The slots on the ``b`` side of each edge. Raises ValueError if the edges do not make the slots a tree."""
        if not self.is_tree:
            raise ValueError(f"{self.slots} slots need {self.slots - 1} edges, found {len(self.edges)}")
        return tuple(self._side(index) for index in range(len(self.edges)))

    def _side(self, removed: int) -> frozenset[int]:
        found, seen = [self.edges[removed].b], {self.edges[removed].b}
        for slot in found:
            for index, edge in enumerate(self.edges):
                if index != removed and slot in (edge.a, edge.b):
                    new = {edge.a, edge.b} - seen
                    seen |= new
                    found += new
        if self.edges[removed].a in seen:
            raise ValueError(f"the edges between slots make a ring at {self.edges[removed].name or removed}")
        return frozenset(seen)

    def spanning_tree(self) -> "SlotGraph":
        """Return the graph with only those edges that close no ring with earlier ones."""
        group = list(range(self.slots))
        tree, fpgas = [], []
        for edge, fpga in zip(self.edges, self.fpga_of_edge, strict=True):
            a, b = group[edge.a], group[edge.b]
            if a != b:
                tree.append(edge)
                fpgas.append(fpga)
                group = [a if other == b else other for other in group]
        return SlotGraph(self.slots, tuple(tree), tuple(fpgas))

    def boundaries_passed(self, source: int, target: int) -> Mapping[int, int]:
        """Return how many SLR boundaries the route between two slots passes, by FPGA."""
        passed = Counter(self.fpga_of_edge[k] for k, _ in self.route(source, target))
        del passed[-1]
        return passed

    def hops(self, source: int, target: int) -> int:
        """Return how many SLR boundaries a stream between two slots crosses one after the other in an FPGA, at most.

        Where it passes a link it ends at the link's core, and another stretch begins behind it.
        """
        return max(self.boundaries_passed(source, target).values(), default=0)

    def cost(self, source: int, target: int) -> int:
        """Return what one wire between two slots costs: stretches of boundaries, and links."""
        passed = (self.edges[k].crossing for k, _ in self.route(source, target))
        stretches = sum(boundaries_cost(hops) for hops in self.boundaries_passed(source, target).values())
        return stretches + sum(crossing.cost for crossing in passed if crossing.kind != "sll")

    def links_between(self, source: int, target: int) -> int:
        """Return how many links the route between two slots passes."""
        return sum(self.edges[k].crossing.kind == "link" for k, _ in self.route(source, target))

    def route(self, source: int, target: int) -> tuple[DirectedEdge, ...]:
        """Return the one route between two slots; none from a slot to itself. KeyError if no edges lead there.

        It passes the fewest links; of several such the fewest SLR boundaries; then the slots that come first, compared
        from the source on.
        """
        if source not in self._found:
            self._found[source] = self._routes_from(source)
        return self._found[source][target]

    def slots_on(self, source: int, route: tuple[DirectedEdge, ...]) -> tuple[int, ...]:
        """Return the slots on a route, its source and its target included."""
        return (source, *(self.edges[k].b if forth else self.edges[k].a for k, forth in route))

    @cached_property
    def _found(self) -> dict[int, dict[int, tuple[DirectedEdge, ...]]]:
        return {}

    @cached_property
    def _near(self) -> Mapping[int, list[tuple[int, DirectedEdge]]]:
        near: dict[int, list[tuple[int, DirectedEdge]]] = {slot: [] for slot in range(self.slots)}
        for k, edge in enumerate(self.edges):
            near[edge.a].append((edge.b, (k, True)))
            near[edge.b].append((edge.a, (k, False)))
        return near

    def _routes_from(self, source: int) -> dict[int, tuple[DirectedEdge, ...]]:
        """Settle slots in the order of links, boundaries and slots passed (Dijkstra's algorithm)."""
        found: dict[int, tuple[DirectedEdge, ...]] = {}
        waiting: list[tuple[int, int, tuple[int, ...], tuple[DirectedEdge, ...]]] = [(0, 0, (source,), ())]
        while waiting:
            links, boundaries, passed, route = heappop(waiting)
            if passed[-1] in found:
                continue
            found[passed[-1]] = route
            for slot, step in self._near[passed[-1]]:
                if slot not in found:
                    link = self.edges[step[0]].crossing.kind == "link"
                    heappush(waiting, (links + link, boundaries + (not link), (*passed, slot), (*route, step)))
        return found


@dataclass(frozen=True, slots=True)
class RouteStep:
    """A part of the route between two slots: a run of SLR boundaries inside one FPGA, or of halves, or one link.

    ``crossings`` are the boundaries crossed, or the link; ``link`` is the link's name, None for a run. ``joints`` name
    the two slots of each crossing as the platform does: lower and upper at a boundary, source and target of a link.
    """

    kind: Literal["sll", "half", "link"]
    source: str
    target: str
    crossings: tuple[Crossing, ...]
    link: str | None
    joints: tuple[tuple[str, str], ...]

    @property
    def hops(self) -> int:
        """Number of SLR boundaries crossed, 1 for a link."""
        return sum(crossing.kind != "half" for crossing in self.crossings)

    @property
    def register_slots(self) -> tuple[str, ...]:
        """The slot of each register stage, in the order in which a word passes them."""
        found: list[str] = []
        place = self.source
        for pair, crossing in zip(self.joints, self.crossings, strict=True):
            stages = [*zip(pair, crossing.register_shares, strict=True)]
            place = next(slot for slot in pair if slot != place)
            found += [slot for slot, count in sorted(stages, key=lambda each: each[0] == place) for _ in range(count)]
        return tuple(found)


def route_steps(graph: SlotGraph, names: Sequence[str], source: int, target: int) -> Iterator[RouteStep]:
    """Yield the steps from slot to slot, in order; ``names`` are those of the graph's slots."""
    route = graph.route(source, target)
    passed = [
        (graph.edges[k], ends) for (k, _), ends in zip(route, pairwise(graph.slots_on(source, route)), strict=True)
    ]
    # Links stay single: each has a name of its own, boundaries of a run share the empty one.
    for _, run in groupby(passed, key=lambda step: step[0].name if step[0].crossing.kind == "link" else ""):
        edges, ends = zip(*run, strict=True)
        yield RouteStep(
            max((edge.crossing.kind for edge in edges), key=("half", "sll", "link").index),
            names[ends[0][0]],
            names[ends[-1][1]],
            tuple(edge.crossing for edge in edges),
            edges[0].name if edges[0].crossing.kind == "link" else None,
            tuple((names[edge.a], names[edge.b]) for edge in edges),
        )


@dataclass(frozen=True)
class BoundaryPair:
    """Two SLR boundaries of one FPGA, as edges.

    ``outer`` are the slots on either side of both: behind the first, and behind the second, seen from between them.
    ``allowed``: whether a stream may cross both.
    """

    first: int
    second: int
    outer: tuple[frozenset[int], frozenset[int]]
    allowed: bool

    def is_passed(self, source: int, target: int) -> bool:
        """Whether a stream between two slots crosses both."""
        one, other = self.outer
        return (source in one and target in other) or (source in other and target in one)


def boundary_pairs(graph: SlotGraph, max_hops: int | None) -> tuple[BoundaryPair, ...]:
    """Return the pairs of a tree; of those that no stream may cross both only the nearest, which imply the rest."""
    found = []
    numbered = [(k, fpga) for k, fpga in enumerate(graph.fpga_of_edge) if fpga >= 0]
    for (j, fpga), (k, other) in combinations(numbered, 2):
        if fpga != other:
            continue
        outer = _behind(graph, j, k), _behind(graph, k, j)
        ends = [(graph.edges[j].a, graph.edges[j].b), (graph.edges[k].a, graph.edges[k].b)]
        near, far = (next(slot for slot in pair if slot in side) for pair, side in zip(ends, outer, strict=True))
        apart = graph.boundaries_passed(near, far)[fpga]
        if max_hops is None or apart <= max_hops + 1:
            found.append(BoundaryPair(j, k, outer, max_hops is None or apart <= max_hops))
    return tuple(found)


def _behind(graph: SlotGraph, edge: int, other: int) -> frozenset[int]:
    """Return the slots on that side of an edge on which the other edge is not."""
    side = graph.beyond[edge]
    return side if graph.edges[other].a not in side else frozenset(range(graph.slots)) - side
