"""METIS recursive bipartition with refinement: parts that fit a slot each, then the parts on the tree of slots.

Follows the coarse-grained floorplanning paper's recursion with its stopping rule made sound: start with one part;
while some part fits no slot and slots are left, bisect the heaviest such part. If a bad part is left, boundary modules
move from it to neighbours that take them (split refinement); then parts whose union fits a slot merge, along the
heaviest edge (merge refinement), and a slot freed so bisects a bad part again. METIS balances one weight a vertex, the
largest share of any limited resource (pymetis has no multi-constraint). Few parts are put on slots exactly, more along
the dataflow and by exchanges.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import perm

import numpy as np
import pymetis

from floorflow.partition.arrays import Flags, Floats, Integers, ProblemArrays
from floorflow.partition.fm import MoveEvaluator, fm_refine, is_legal
from floorflow.partition.ideals import dataflow_ranks

_WEIGHT_SCALE = 10_000

Part = tuple[int, ...]


@dataclass(frozen=True)
class ModuleGraph:
    """Wires (M, M) between modules, with each module's smallest share of a slot (M,)."""

    arrays: ProblemArrays
    wires: Floats
    share: Floats

    def fits(self, part: Sequence[int]) -> bool:
        """Whether some slot takes all of the part's modules."""
        return bool(self.arrays.holds(part).any())

    def weight(self, part: Sequence[int]) -> float:
        """Sum of shares."""
        return float(self.share[list(part)].sum())

    def wires_to(self, module: int, part: Sequence[int]) -> float:
        """Wires between a module and a part."""
        return float(self.wires[module, list(part)].sum())


def recursive_bipartition(arrays: ProblemArrays, seed: int) -> Integers | None:
    """Return a legal slot index for every module (M,), or None if the heuristic finds none."""
    if not len(arrays.names):
        return np.zeros(0, dtype=np.int64)
    if not arrays.takes.any(axis=1).all():
        return None
    assignment = bipartitioned(arrays, seed)
    return assignment if is_legal(arrays, assignment) else None


def bipartitioned(arrays: ProblemArrays, seed: int) -> Integers:
    """Return the assignment (M,) of least excess over the limits, then cost, that refinement reaches."""
    graph = module_graph(arrays)
    parts = split([tuple(range(len(arrays.names)))], graph, seed)
    evaluator = MoveEvaluator(arrays)
    choices = [assign_parts(parts, arrays), assign_parts(_refined(parts, graph, seed), arrays)]
    return fm_refine(arrays, min(choices, key=evaluator.key))


def module_graph(arrays: ProblemArrays) -> ModuleGraph:
    """Return the modules with the wires between them."""
    count = len(arrays.names)
    directed = arrays.flow_matrix(arrays.wires)[:count, :count]
    need, limit = arrays.demand[:, None].astype(float), arrays.limit[None].astype(float)
    of_resources = np.where(need > 0, need / np.maximum(limit, 1e-9), 0.0).max(axis=2)
    of_area = arrays.cells / np.maximum(arrays.most_cells, 1)
    share = np.where(arrays.takes, np.maximum(of_resources, of_area), 1.0).min(axis=1)
    return ModuleGraph(arrays, directed + directed.T, np.minimum(share, 1.0))


def split(parts: list[Part], graph: ModuleGraph, seed: int) -> list[Part]:
    """Bisect the heaviest part that fits no slot until all fit or as many parts as slots are there."""
    parts = list(parts)
    while len(parts) < len(graph.arrays.limit):
        bad = [part for part in parts if not graph.fits(part) and len(part) > 1]
        if not bad:
            break
        heaviest = max(bad, key=lambda part: (graph.weight(part), part))
        position = parts.index(heaviest)
        parts[position : position + 1] = _bisect(heaviest, graph, seed)
    return parts


def _refined(parts: list[Part], graph: ModuleGraph, seed: int) -> list[Part]:
    """Alternate split and merge refinement until a whole round changes nothing."""
    for _ in range(len(graph.arrays.limit)):
        before = parts
        parts = _merge_refinement(_split_refinement(parts, graph), graph)
        parts = split(parts, graph, seed)
        if sorted(parts) == sorted(before):
            break
    return parts


def _split_refinement(parts: list[Part], graph: ModuleGraph) -> list[Part]:
    """Move modules from parts that fit no slot to neighbouring parts that take them, best gain in cut wires first."""
    members = [set(part) for part in parts]
    for index, bad in enumerate(members):
        while len(bad) > 1 and not graph.fits(sorted(bad)):
            moves = [
                (
                    graph.wires_to(module, sorted(bad)) - graph.wires_to(module, sorted(other)),
                    -graph.share[module],
                    module,
                    k,
                )
                for module in sorted(bad)
                for k, other in enumerate(members)
                if k != index and graph.wires_to(module, sorted(other)) and graph.fits(sorted(other | {module}))
            ]
            if not moves:
                break
            _, _, module, k = min(moves)
            bad.remove(module)
            members[k].add(module)
    return [tuple(sorted(part)) for part in members]


def _merge_refinement(parts: list[Part], graph: ModuleGraph) -> list[Part]:
    """Merge the two parts with the most wires between them while the union of some pair fits a slot."""
    parts = list(parts)
    while True:
        membership = np.zeros((len(parts), len(graph.wires)))
        for index, part in enumerate(parts):
            membership[index, list(part)] = 1
        cut = np.tril(membership @ graph.wires @ membership.T, -1)
        order = sorted((-float(cut[i, j]), int(i), int(j)) for i, j in zip(*np.nonzero(cut), strict=True))
        pair = next(((i, j) for _, i, j in order if graph.fits((*parts[i], *parts[j]))), None)
        if pair is None:
            return parts
        union = tuple(sorted((*parts[pair[0]], *parts[pair[1]])))
        parts = [part for k, part in enumerate(parts) if k not in pair] + [union]


def _bisect(part: Part, graph: ModuleGraph, seed: int) -> list[Part]:
    inside = graph.wires[np.ix_(part, part)]
    starts, neighbours, edge_weights = [0], [], []
    for row in inside:
        near = np.flatnonzero(row)
        neighbours += [int(n) for n in near]
        edge_weights += [int(row[n]) for n in near]
        starts.append(len(neighbours))
    answer = pymetis.part_graph(
        2,
        adjacency=pymetis.CSRAdjacency(starts, neighbours),
        vweights=[max(1, round(_WEIGHT_SCALE * float(graph.share[module]))) for module in part],
        eweights=edge_weights,
        recursive=True,
        options=pymetis.Options(seed=seed),
    )
    halves = [tuple(n for n, side in zip(part, answer[1], strict=True) if side == which) for which in (0, 1)]
    if not all(halves):  # METIS may leave one side empty on tiny graphs
        halves = [part[: len(part) // 2], part[len(part) // 2 :]]
    return halves


_MAX_PERMUTATIONS = 50_000
"""As many maps of parts to slots are priced at once; 8 parts on 8 slots are 40,320."""

_MAX_EVALUATED = 100
"""Cheapest maps that are compared by all limits, boundaries and links included."""

_MAX_SWEEPS = 4


def assign_parts(parts: Sequence[Sequence[int]], arrays: ProblemArrays) -> Integers:
    """Return a slot for each module (M,), each part in a slot of its own; of the least excess, then cost, found."""
    part_of = np.zeros(len(arrays.names), dtype=np.int64)
    for index, part in enumerate(parts):
        part_of[list(part)] = index
    # (parts, S) whether a slot takes a whole part
    fits = np.array([arrays.holds(part) for part in parts], dtype=bool)
    evaluator = MoveEvaluator(arrays)
    if perm(len(arrays.limit), len(parts)) <= _MAX_PERMUTATIONS:
        maps = _cheapest_maps(part_of, fits, arrays)
        return min((slots[part_of] for slots in maps), key=evaluator.key)
    return _improved_by_exchanges(_along_dataflow(part_of, fits, arrays), part_of, evaluator)


def _quotient(part_of: Integers, count: int, arrays: ProblemArrays) -> Integers:
    """(parts + 2, parts + 2) wires from part to part, the host's input and output last."""
    ends = np.concatenate([part_of, [count, count + 1]])
    quotient = np.zeros((count + 2, count + 2), dtype=np.int64)
    np.add.at(quotient, (ends[arrays.source], ends[arrays.target]), arrays.wires)
    return quotient


def _cheapest_maps(part_of: Integers, fits: Flags, arrays: ProblemArrays) -> Integers:
    """Return maps of parts to slots: the most parts in slots that take them, then the cheapest."""
    count = len(fits)
    maps = np.array(list(permutations(range(len(arrays.limit)), count)), dtype=np.int64)
    end_slots = np.hstack([maps, np.broadcast_to(arrays.hosts, (len(maps), 2))])
    quotient = _quotient(part_of, count, arrays)
    cost = np.zeros(len(maps), dtype=np.int64)
    for a, b in zip(*np.nonzero(quotient), strict=True):
        cost += quotient[a, b] * arrays.distance[end_slots[:, a], end_slots[:, b]]
    misfits = (~fits[np.arange(count), maps]).sum(axis=1)
    order = np.lexsort((cost, misfits))
    return maps[order[:_MAX_EVALUATED]]


def _along_dataflow(part_of: Integers, fits: Flags, arrays: ProblemArrays) -> Integers:
    """Return a map: parts by their mean rank in the dataflow, on slots from the host's input to its output."""
    rank = np.array(dataflow_ranks(arrays), dtype=float)
    parts = sorted(range(len(fits)), key=lambda part: (float(rank[part_of == part].mean()), part))
    near, far = arrays.distance[arrays.hosts[0]], arrays.distance[arrays.hosts[1]]
    free = sorted(range(len(arrays.limit)), key=lambda slot: (int(near[slot] - far[slot]), int(near[slot]), slot))
    slots = np.zeros(len(fits), dtype=np.int64)
    for part in parts:
        slots[part] = next((slot for slot in free if fits[part, slot]), free[0])
        free.remove(int(slots[part]))
    return slots


def _improved_by_exchanges(slots: Integers, part_of: Integers, evaluator: MoveEvaluator) -> Integers:
    """Exchange the contents of two slots, or move a part to an empty one, while that helps; return the assignment."""
    arrays, key = evaluator.arrays, evaluator.key(slots[part_of])
    quotient = _quotient(part_of, len(slots), arrays)
    for _ in range(_MAX_SWEEPS):
        before = key
        for part in range(len(slots)):
            for slot in range(len(arrays.limit)):
                trial = np.where(slots == slot, slots[part], slots)
                trial[part] = slot
                end_slots = np.concatenate([trial, arrays.hosts])
                if key[0] == 0 and (quotient * arrays.distance[np.ix_(end_slots, end_slots)]).sum() >= key[1]:
                    continue  # the whole key is costlier to work out, and not needed
                if (reached := evaluator.key(trial[part_of])) < key:
                    slots, key = trial, reached
        if key == before:
            break
    return slots[part_of]
