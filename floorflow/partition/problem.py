"""The partition problem and its answers, as values.

SLRs share boundaries of SLL wires, FPGAs are joined by links between two of their slots: a graph of slots. A stream
between modules in two slots passes the one route between them on it, the platform's (`SlotGraph.route`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from types import MappingProxyType

import networkx as nx

from floorflow.errors import Refusal, sentence
from floorflow.hardware.slot_graph import DirectedEdge, Edge, SlotGraph
from floorflow.resources import ZERO, Resources, total
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class SlotCapacity:
    """A slot with what the design may use of it.

    ``pblock_capacities`` are the contents of the largest pblocks that can be drawn in it, at the allowed fill; a
    module must fit one of them. Empty: no such rule.
    """

    name: str
    limit: Resources
    pblock_capacities: tuple[Resources, ...] = ()

    def takes(self, demand: Resources) -> bool:
        """Whether a single module of that demand fits the limit and some pblock."""
        return demand.fits(self.limit) and (
            not self.pblock_capacities or any(demand.fits(capacity) for capacity in self.pblock_capacities)
        )


@dataclass(frozen=True)
class ModuleStream:
    """A realised channel between two modules; ``source`` or ``target`` is None where the host sends or receives.

    ``wires`` is what it uses of every boundary that it crosses: padded width + 2.
    """

    name: str
    source: str | None
    target: str | None
    wires: int
    bits_per_frame: int = 0


@dataclass(frozen=True)
class SharedLimit:
    """What several edges carry together at most, in wires: a row boundary of a grid of slots is one for each column."""

    edges: tuple[int, ...]
    wires: int
    name: str = ""


@dataclass(frozen=True)
class PartitionProblem:
    """Modules with demands, the streams between them, and slots with what joins them.

    ``host_in`` and ``host_out`` index the slots where the host's streams enter and leave. Links carry
    ``frames_per_s`` frames of each stream; at 0 they are never full. ``cells`` are, by module and slot, those of the
    module's least legal rectangle there (None: there is none); the cells of a slot's modules keep ``area_share`` of
    its ``free_cells``. Without ``cells`` there is no rule of area; a module that they do not name takes none.
    ``barred`` are slots, by position, in which a module may not lie for another reason. No stream crosses more than
    ``max_hops`` SLR boundaries one after the other in an FPGA (None: any number); ``fpgas`` say which boundaries are of
    one, as `SlotGraph` takes them. ``order``: the number of each slot's FPGA, from which no stream goes to one of a
    lower number; without it streams go to and fro. Over each link it passes a stream costs ``link_stream_cost`` more
    than its wires, and each of these ``link_wire_cost`` more than `SlotGraph.cost` has it. ``link_streams``: how many
    streams a link carries in one direction at most (None: any number). The modules of each group of ``together`` share
    a slot, no two of one of ``apart`` do.

    Method `cuts` alone knows the rest. ``demands_in`` has the demand of a module in each slot, where that depends on
    the slot, in place of the one in ``demands``. ``shared`` are limits over several edges.
    """

    demands: Mapping[str, Resources]
    streams: tuple[ModuleStream, ...]
    slots: tuple[SlotCapacity, ...]
    edges: tuple[Edge, ...]
    host_in: int
    host_out: int
    frames_per_s: float = 0.0
    cells: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)
    free_cells: tuple[int, ...] = ()
    area_share: float = 1.0
    barred: Mapping[str, frozenset[int]] = field(default_factory=dict)
    max_hops: int | None = None
    fpgas: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    link_stream_cost: int = 0
    link_wire_cost: int = 0
    link_streams: int | None = None
    demands_in: Mapping[str, tuple[Resources, ...]] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()
    shared: tuple[SharedLimit, ...] = ()

    def __post_init__(self) -> None:
        rows = [self.free_cells, *self.cells.values()] if self.cells else []
        if any(len(row) != len(self.slots) for row in rows):
            raise ValueError("cells of modules and free cells must be given for each slot")
        if any(len(row) != len(self.slots) for row in self.demands_in.values()):
            raise ValueError("demands that depend on the slot must be given for each slot")

    @property
    def is_plain(self) -> bool:
        """Whether every method can state it: a tree of slots, and none of what only `cuts` knows."""
        return self.is_tree and not (self.demands_in or self.together or self.shared)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """All modules, those that share a slot together, by the first of each."""
        graph = nx.Graph()
        graph.add_nodes_from(self.demands)
        for group in self.together:
            nx.add_path(graph, group)
        order = {name: index for index, name in enumerate(self.demands)}
        found = [tuple(sorted(group, key=order.__getitem__)) for group in nx.connected_components(graph)]
        return tuple(sorted(found, key=lambda group: order[group[0]]))

    def demand(self, module: str, slot: int) -> Resources:
        """Return what a module needs in a slot."""
        return self.demands_in[module][slot] if module in self.demands_in else self.demands[module]

    def least_demand(self, module: str) -> Resources:
        """Return the least of each resource that a module needs in a slot."""
        first, *others = self.demands_in.get(module) or (self.demands[module],)
        for other in others:
            first = first.least(other)
        return first

    @cached_property
    def most_cells(self) -> tuple[int | None, ...]:
        """How many cells the modules of each slot may take; None where there is no rule."""
        if not self.cells:
            return (None,) * len(self.slots)
        return tuple(floor(self.area_share * free + 1e-9) for free in self.free_cells)

    def cells_in(self, module: str, slot: int) -> int | None:
        """Return the cells that a module takes in a slot; None if no rectangle there holds it."""
        return self.cells[module][slot] if module in self.cells else 0

    def takes(self, module: str, slot: int) -> bool:
        """Whether a module alone may lie in a slot, and fits it: its limits, some pblock and its area."""
        if slot in self.barred.get(module, ()):
            return False
        cells, most = self.cells_in(module, slot), self.most_cells[slot]
        has_room = cells is not None and (most is None or cells <= most)
        return has_room and self.slots[slot].takes(self.demand(module, slot))

    @property
    def is_tree(self) -> bool:
        """Whether there is one route only between any two slots."""
        return self.graph.is_tree

    @property
    def beyond(self) -> tuple[frozenset[int], ...]:
        """The slots on the ``b`` side of each edge. Raises ValueError if the edges do not make the slots a tree."""
        return self.graph.beyond

    def ends(self, stream: ModuleStream, slot_of: Mapping[str, int]) -> tuple[int, int]:
        """Return the slots where a stream starts and ends."""
        source = self.host_in if stream.source is None else slot_of[stream.source]
        return source, self.host_out if stream.target is None else slot_of[stream.target]

    @cached_property
    def graph(self) -> SlotGraph:
        """The slots as the route finder knows them."""
        return SlotGraph(len(self.slots), self.edges, self.fpgas)

    def _directed_edges(self, stream: ModuleStream, slot_of: Mapping[str, int]) -> tuple[DirectedEdge, ...]:
        return self.graph.route(*self.ends(stream, slot_of))

    def route(self, stream: ModuleStream, slot_of: Mapping[str, int]) -> tuple[int, ...]:
        """Return the edges that a stream passes, by ascending index."""
        return tuple(sorted(k for k, _ in self._directed_edges(stream, slot_of)))

    def hops(self, stream: ModuleStream, slot_of: Mapping[str, int]) -> int:
        """Return how many SLR boundaries a stream crosses one after the other in an FPGA, at most."""
        return self.graph.hops(*self.ends(stream, slot_of))

    def too_far(self, slot_of: Mapping[str, int]) -> tuple[ModuleStream, ...]:
        """Return the streams that cross more SLR boundaries one after the other than is allowed."""
        most = self.max_hops
        return () if most is None else tuple(s for s in self.streams if self.hops(s, slot_of) > most)

    def goes_back(self, source: int, target: int) -> bool:
        """Whether a stream between two slots goes to an earlier FPGA, which it must not."""
        return bool(self.order) and self.order[source] > self.order[target]

    def back(self, slot_of: Mapping[str, int]) -> tuple[ModuleStream, ...]:
        """Return the streams that go to an earlier FPGA, where none may."""
        return tuple(s for s in self.streams if self.goes_back(*self.ends(s, slot_of)))

    def cost(self, slot_of: Mapping[str, int]) -> int:
        """Crossing cost, and what streams pay more over links."""
        return self.crossing_cost(slot_of) + self.paid_on_links(slot_of)

    def crossing_cost(self, slot_of: Mapping[str, int]) -> int:
        """Wires times what each costs on its route, over all streams: see `SlotGraph.cost`."""
        return sum(s.wires * self.graph.cost(*self.ends(s, slot_of)) for s in self.streams)

    def paid_on_links(self, slot_of: Mapping[str, int]) -> int:
        """Return what streams and their wires pay over links beside the crossing cost."""
        passed = ((s, self.graph.links_between(*self.ends(s, slot_of))) for s in self.streams)
        return sum(links * (self.link_stream_cost + self.link_wire_cost * s.wires) for s, links in passed)

    def of_crossings(self, stats: SolveStats, slot_of: Mapping[str, int]) -> SolveStats:
        """Return what is known of the crossing cost of an assignment: its bound is of those that pay as much on links.

        Of these none costs less in all than the bound on the whole cost.
        """
        paid = self.paid_on_links(slot_of)
        objective = None if stats.objective is None else stats.objective - paid
        return replace(stats, objective=objective, bound=None if stats.bound is None else max(0.0, stats.bound - paid))

    def loads(self, slot_of: Mapping[str, int]) -> tuple[int, ...]:
        """Wires over each edge."""
        use = [0] * len(self.edges)
        for stream in self.streams:
            for k in self.route(stream, slot_of):
                use[k] += stream.wires
        return tuple(use)

    def link_bits(self, slot_of: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
        """Bits a frame over each edge, from ``a`` to ``b`` and from ``b`` to ``a``."""
        return self._both_ways(slot_of, lambda stream: stream.bits_per_frame)

    def streams_over(self, slot_of: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
        """Streams over each edge, from ``a`` to ``b`` and from ``b`` to ``a``."""
        return self._both_ways(slot_of, lambda _: 1)

    def over_links(self, slot_of: Mapping[str, int]) -> tuple[tuple[tuple[int, int], int], ...]:
        """Streams each way, and wires, over each link."""
        rows = zip(self.edges, self.streams_over(slot_of), self.loads(slot_of), strict=True)
        return tuple((streams, wires) for edge, streams, wires in rows if edge.crossing.kind == "link")

    def _both_ways(
        self, slot_of: Mapping[str, int], amount: Callable[[ModuleStream], int]
    ) -> tuple[tuple[int, int], ...]:
        use = [[0, 0] for _ in self.edges]
        for stream in self.streams:
            for k, there in self._directed_edges(stream, slot_of):
                use[k][not there] += amount(stream)
        return tuple((forth, back) for forth, back in use)

    def allowed_bits(self, edge: Edge) -> int | None:
        """Return how many bits a frame a link can carry in each direction; None if any number."""
        if edge.crossing.gbps is None or self.frames_per_s == 0:
            return None
        return int(Fraction(edge.crossing.gbps) * 10**9 / Fraction(self.frames_per_s))

    def allowed_streams(self, edge: Edge) -> int | None:
        """Return how many streams an edge can carry in each direction; None if any number."""
        return self.link_streams if edge.crossing.kind == "link" else None

    def slot_demands(self, slot_of: Mapping[str, int]) -> tuple[Resources, ...]:
        """Demand of each slot: its modules and its share of the crossing registers."""
        demands = [
            total(self.demand(name, index) for name in self.demands if slot_of[name] == index)
            for index in range(len(self.slots))
        ]
        for edge, wires in zip(self.edges, self.loads(slot_of), strict=True):
            for slot, registers in edge.registers.items():
                demands[slot] += registers.times(wires)
        return tuple(demands)

    def slot_cells(self, slot_of: Mapping[str, int]) -> tuple[int, ...]:
        """Cells of the least rectangles of each slot's modules, added up; a module without a rectangle counts none."""
        cells = [0] * len(self.slots)
        for name in self.demands:
            cells[slot_of[name]] += self.cells_in(name, slot_of[name]) or 0
        return tuple(cells)

    def is_legal(self, slot_of: Mapping[str, int]) -> bool:
        """Whether all limits hold, groups lie together or apart, and no stream goes too far or back."""
        tied = all(len({slot_of[name] for name in group}) == 1 for group in self.together)
        tied = tied and all(len({slot_of[name] for name in group}) == len(group) for group in self.apart)
        if not tied or not all(self.takes(name, slot_of[name]) for name in self.demands):
            return False
        if self.too_far(slot_of) or self.back(slot_of):
            return False
        taken = zip(self.slot_cells(slot_of), self.most_cells, strict=True)
        if any(most is not None and cells > most for cells, most in taken):
            return False
        if not all(d.fits(s.limit) for d, s in zip(self.slot_demands(slot_of), self.slots, strict=True)):
            return False
        loads, bits, streams = self.loads(slot_of), self.link_bits(slot_of), self.streams_over(slot_of)
        for k, edge in enumerate(self.edges):
            most = edge.crossing.wires, self.allowed_bits(edge), self.allowed_streams(edge)
            carried = loads[k], max(bits[k]), max(streams[k])
            if any(limit is not None and use > limit for use, limit in zip(carried, most, strict=True)):
                return False
        return all(sum(loads[k] for k in limit.edges) <= limit.wires for limit in self.shared)


@dataclass(frozen=True)
class PartitionSolution:
    """Slot index of every module; ``stats.objective`` is its `PartitionProblem.cost`."""

    slot_of: Mapping[str, int]
    stats: SolveStats


@dataclass(frozen=True)
class PartitionFailure:
    """Why there is no assignment for these modules.

    ``short`` is what all slots together lack of each resource, if that is the reason. ``closest`` gives the slot of
    every module, by position, in the assignment that was found to exceed limits least, if one was looked for.
    """

    refusals: tuple[Refusal, ...]
    short: Resources = ZERO
    closest: Mapping[str, int] | None = None

    @property
    def proven(self) -> bool:
        """Whether no assignment can exist."""
        return all(refusal.proven for refusal in self.refusals)

    def __str__(self) -> str:
        return sentence(*self.refusals)


PartitionAnswer = PartitionSolution | PartitionFailure


def as_one(problem: PartitionProblem) -> PartitionProblem:
    """Return the problem in which what shares a slot is one module, called as its first: a legal answer is the same.

    A slot takes such a module if it takes each of its parts.
    """
    first = {name: group[0] for group in problem.groups for name in group}
    slots, cells = (
        range(len(problem.slots)),
        problem.cells
        and {
            group[0]: tuple(_summed(problem, group, slot) for slot in range(len(problem.slots)))
            for group in problem.groups
        },
    )
    ends = ((s, s.source and first[s.source], s.target and first[s.target]) for s in problem.streams)
    return replace(
        problem,
        demands={group[0]: total(problem.demands[name] for name in group) for group in problem.groups},
        demands_in={
            group[0]: tuple(total(problem.demand(name, slot) for name in group) for slot in slots)
            for group in problem.groups
            if not problem.demands_in.keys().isdisjoint(group)
        },
        streams=tuple(replace(s, source=source, target=target) for s, source, target in ends),
        slots=tuple(replace(slot, pblock_capacities=()) for slot in problem.slots),
        cells=cells,
        barred={
            group[0]: frozenset(slot for slot in slots if not all(problem.takes(name, slot) for name in group))
            for group in problem.groups
        },
        together=(),
        apart=tuple(tuple(first[name] for name in group) for group in problem.apart),
    )


def _summed(problem: PartitionProblem, group: tuple[str, ...], slot: int) -> int | None:
    """Return the cells that modules take together in a slot; None where one has no rectangle there."""
    cells = [problem.cells_in(name, slot) for name in group]
    return None if None in cells else sum(each or 0 for each in cells)


def plain_tree(problem: PartitionProblem) -> PartitionProblem:
    """Return what every method can state of a problem: only edges that close no ring with earlier ones, least demands.

    Every assignment that is legal there uses links that exist; whether it stays legal on the shortest routes, with
    groups together and under all limits, has to be looked up.
    """
    tree = problem.graph.spanning_tree()
    least = {name: problem.least_demand(name) for name in problem.demands}
    return replace(problem, demands=least, edges=tree.edges, fpgas=tree.fpgas, demands_in={}, together=(), shared=())


@dataclass(frozen=True)
class Limits:
    """``work`` is in CP-SAT's deterministic units (one to three seconds each); the shares are of it.

    What is not needed is not used. Sizes are modules times edges: up to ``small`` CP-SAT alone is tried first, up to
    ``whole`` it gets all slots (above that it would find nothing), up to ``walked`` the annealer walks
    from any start to a legal one (above that only from a near one), up to ``large`` slots are evened out. Up to
    ``few`` slots of all modules together the cut model is tried where nothing else proves an answer.
    Shares: ``quick`` small problems at once, ``legal`` the phase of least excess, ``bound`` cuts alone and jointly,
    ``full`` all slots, ``cuts`` the cut model, ``fpgas`` links first, ``windows`` local search, ``first`` that where
    only a first answer is asked for (not ``prove``), ``even`` evening out, ``reason`` each trial of why not.
    """

    work: float
    small: int = 200
    whole: int = 300
    walked: int = 1_000
    large: int = 4_000
    few: int = 200
    quick: float = 0.1
    legal: float = 0.5
    bound: float = 8.0
    full: float = 3.0
    cuts: float = 0.25
    fpgas: float = 2.0
    windows: float = 1.5
    first: float = 0.3
    even: float = 0.02
    reason: float = 0.1
    prove: bool = True


LIMITS: Mapping[str, Limits] = MappingProxyType({"fast": Limits(0.3), "default": Limits(1.0), "best": Limits(20.0)})
