"""The partition problem as arrays, for the methods that look at many assignments at once.

M modules, S slots, E edges, L streams. Index M stands for the host's input and M + 1 for its output, which lie in
fixed slots; streams with the same two ends are one, streams from a module to itself none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.errors import Refusal
from floorflow.hardware.slot_graph import BoundaryPair, boundary_pairs
from floorflow.partition.problem import PartitionAnswer, PartitionFailure, PartitionProblem, PartitionSolution
from floorflow.resources import RESOURCE_NAMES
from floorflow.stats import SolveStats

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

UNLIMITED = 2**52
"""Stands for no limit: above every load, and exact in double precision."""

HOP_LIMIT = 10
"""Stands for a limit where hops too many are softened: each counts as a tenth of a limit."""
SHARE_SCALE = 1_000_000
"""Fullness of a slot is compared in millionths of its limit."""

FF = RESOURCE_NAMES.index("FF")


@dataclass(frozen=True)
class ProblemArrays:
    """Arrays of one problem.

    ``demand`` (M, R) and ``limit`` (S, R) amounts, those of the `RESOURCE_NAMES` first, then one for each set of
    modules of which a slot holds one at most; ``cells`` (M, S) of modules and ``most_cells`` (S,); ``takes``
    (M, S) whether a slot takes a module; ``source``, ``target`` (L,) ends of streams with ``wires`` (L,) and
    ``carried`` (2, L): bits a frame, and how many are one here; ``beyond`` (S, E) 1 if a slot lies on the ``b`` side of
    an edge; ``weight`` and ``toll`` (what a wire and a stream cost over it alone), ``most_wires`` (E,) of edges,
    ``most_carried`` (2, E) in each direction; ``registers`` (E, S, R) what those of an edge take of a slot for each
    wire; ``hosts`` the host's two slots; ``distance`` and ``tolls`` (S, S) cost of a wire and a stream between two;
    ``too_many`` (S, S) hops between them above what a stream may cross, and `HOP_LIMIT` more where it goes to an
    earlier FPGA, which it may not; ``order`` (S,) the number of each slot's FPGA if none may, else all 0; ``pairs`` of
    boundaries of one FPGA.
    """

    names: tuple[str, ...]
    demand: Integers
    limit: Integers
    cells: Integers
    most_cells: Integers
    takes: Flags
    source: Integers
    target: Integers
    wires: Integers
    carried: Integers
    beyond: Integers
    weight: Integers
    toll: Integers
    most_wires: Integers
    most_carried: Integers
    registers: Integers
    hosts: Integers
    distance: Integers
    tolls: Integers
    too_many: Integers
    order: Integers
    pairs: tuple[BoundaryPair, ...]

    @cached_property
    def registered(self) -> tuple[int, ...]:
        """The resources that registers take: flip-flops, and LUTs where they are FIFOs."""
        return tuple(r for r in range(self.limit.shape[1]) if r == FF or self.registers[:, :, r].any())

    def holds(self, members: Sequence[int]) -> Flags:
        """(S,) whether a slot takes all of these modules together, crossing registers left out."""
        chosen = list(members)
        within_limits = (self.demand[chosen].sum(axis=0) <= self.limit).all(axis=1)
        within_area = self.cells[chosen].sum(axis=0) <= self.most_cells
        return np.asarray(within_limits & within_area & self.takes[chosen].all(axis=0))

    def flow_matrix(self, amounts: Integers) -> Floats:
        """(M + 2, M + 2) sums of wires or bits from one end (row) to another (column)."""
        count = len(self.names) + 2
        table = np.zeros((count, count))
        table[self.source, self.target] = amounts
        return table

    def cost(self, assignment: Integers) -> int:
        """Cost of an assignment (M,) of modules to slots."""
        end_slots = np.concatenate([assignment, self.hosts])
        source, target = end_slots[self.source], end_slots[self.target]
        return int(self.distance[source, target] @ self.wires + self.tolls[source, target] @ self.carried[1])

    def hops_too_many(self, assignment: Integers) -> int:
        """Hops of merged streams above what each may have, and ways back, of an assignment (M,)."""
        end_slots = np.concatenate([assignment, self.hosts])
        return int(self.too_many[end_slots[self.source], end_slots[self.target]].sum())

    def as_mapping(self, assignment: Integers) -> dict[str, int]:
        """Return module name to slot index."""
        return {name: int(slot) for name, slot in zip(self.names, assignment, strict=True)}

    def as_array(self, slot_of: Mapping[str, int]) -> Integers:
        """(M,) slot index of every module."""
        return np.array([slot_of[name] for name in self.names], dtype=np.int64)


def arrays_of(problem: PartitionProblem) -> ProblemArrays:
    """Return the arrays of a problem."""
    names = tuple(problem.demands)
    pairs, wires, carried = _merged_streams(problem, {name: i for i, name in enumerate(names)})
    apart = len(problem.apart)
    columns = len(RESOURCE_NAMES) + apart
    registers = np.zeros((len(problem.edges), len(problem.slots), columns), dtype=np.int64)
    for k, edge in enumerate(problem.edges):
        for slot, amount in edge.registers.items():
            registers[k, slot, : len(RESOURCE_NAMES)] = amount.as_tuple()
    beyond = [[s in side for side in problem.beyond] for s in range(len(problem.slots))]
    distance, tolls, too_many = _between_slots(problem)
    links = np.array([edge.crossing.kind == "link" for edge in problem.edges], dtype=np.int64)
    costs = np.array([edge.crossing.cost for edge in problem.edges], dtype=np.int64)
    most = [(problem.allowed_bits(edge), problem.allowed_streams(edge)) for edge in problem.edges]
    return ProblemArrays(
        names=names,
        demand=_integers(
            [
                (*need.as_tuple(), *(group.count(name) for group in problem.apart))
                for name, need in problem.demands.items()
            ],
            columns,
        ),
        limit=_integers([(*slot.limit.as_tuple(), *[1] * apart) for slot in problem.slots], columns),
        cells=_cells(problem, names),
        most_cells=np.array([_capped(most) for most in problem.most_cells], dtype=np.int64),
        takes=_takes(problem),
        source=pairs[:, 0],
        target=pairs[:, 1],
        wires=wires,
        carried=carried,
        beyond=np.array(beyond, dtype=np.int64),
        weight=costs + problem.link_wire_cost * links,
        toll=problem.link_stream_cost * links,
        most_wires=np.array([_capped(edge.crossing.wires) for edge in problem.edges], dtype=np.int64),
        most_carried=_integers([(_capped(bits), _capped(streams)) for bits, streams in most], 2).T,
        registers=registers,
        hosts=np.array([problem.host_in, problem.host_out], dtype=np.int64),
        distance=distance,
        tolls=tolls,
        too_many=too_many,
        order=np.array(problem.order or [0] * len(problem.slots), dtype=np.int64),
        pairs=boundary_pairs(problem.graph, problem.max_hops),
    )


def _between_slots(problem: PartitionProblem) -> tuple[Integers, Integers, Integers]:
    """Return (S, S) what a wire and a stream cost between two slots, by how much its way is too long, or goes back."""
    slots, graph = range(len(problem.slots)), problem.graph
    most = UNLIMITED if problem.max_hops is None else problem.max_hops
    links = _integers([tuple(graph.links_between(a, b) for b in slots) for a in slots], len(slots))
    distance = _integers([tuple(graph.cost(a, b) for b in slots) for a in slots], len(slots))
    too_many = [
        tuple(max(0, graph.hops(a, b) - most) + HOP_LIMIT * problem.goes_back(a, b) for b in slots) for a in slots
    ]
    distance += problem.link_wire_cost * links
    return distance, problem.link_stream_cost * links, _integers(too_many, len(slots))


def _takes(problem: PartitionProblem) -> Flags:
    rows = [[problem.takes(name, slot) for slot in range(len(problem.slots))] for name in problem.demands]
    return np.array(rows, dtype=bool).reshape(len(problem.demands), len(problem.slots))


def _cells(problem: PartitionProblem, names: Sequence[str]) -> Integers:
    """(M, S) cells; 0 where a module has no rectangle, for no slot takes it there."""
    slots = range(len(problem.slots))
    return _integers([tuple(problem.cells_in(name, slot) or 0 for slot in slots) for name in names], len(slots))


def _capped(amount: int | None) -> int:
    return UNLIMITED if amount is None else min(amount, UNLIMITED)


def _integers(rows: list[tuple[int, ...]], columns: int) -> Integers:
    return np.array(rows, dtype=np.int64).reshape(len(rows), columns)


def _merged_streams(problem: PartitionProblem, index: Mapping[str, int]) -> tuple[Integers, Integers, Integers]:
    """Return ends (L, 2), wires (L,), bits and number (2, L) of the streams, those with equal ends added up."""
    sums: dict[tuple[int, int], list[int]] = {}
    for stream in problem.streams:
        source = len(index) if stream.source is None else index[stream.source]
        target = len(index) + 1 if stream.target is None else index[stream.target]
        if source != target:
            amounts = sums.setdefault((source, target), [0, 0, 0])
            for place, amount in enumerate((stream.wires, stream.bits_per_frame, 1)):
                amounts[place] += amount
    summed = _integers([(wires, bits, number) for wires, bits, number in sums.values()], 3).T
    return _integers(list(sums), 2), summed[0], summed[1:]


def heuristic(arrays: ProblemArrays, assignment: Integers | None, method: str) -> PartitionAnswer:
    """Return an assignment about which nothing is proven, or say that there is none."""
    if assignment is None:
        return PartitionFailure((Refusal("partition method", names=(method,)),))
    return PartitionSolution(
        arrays.as_mapping(assignment), SolveStats(method, "heuristic", float(arrays.cost(assignment)))
    )
