"""METIS recursive bipartition: parts that fit a slot each, then the best order of parts on the stack of slots.

Follows the coarse-grained floorplanning paper's recursion with its stopping rule made sound: start with one part;
while some part fits no slot and slots are left, bisect the heaviest such part. METIS balances one weight a vertex,
the largest share of any limited resource (pymetis has no multi-constraint).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pymetis

from floorflow.partition.problem import PartitionProblem
from floorflow.resources import Resources, largest_share, total

_WEIGHT_SCALE = 10_000


def recursive_bipartition(problem: PartitionProblem, seed: int) -> dict[str, int] | None:
    """Return a legal slot index for every module, or None if the heuristic finds none."""
    if not all(any(slot.takes(need) for slot in problem.slots) for need in problem.demands.values()):
        return None
    parts: list[tuple[str, ...]] = [tuple(problem.demands)]
    while True:
        bad = [part for part in parts if not _fits_somewhere(part, problem)]
        if not bad:
            break
        heaviest = max(bad, key=lambda part: (_weight(total(problem.demands[m] for m in part), problem), part))
        if len(parts) == len(problem.slots) or len(heaviest) == 1:
            return None
        position = parts.index(heaviest)
        parts[position : position + 1] = _bisect(heaviest, problem, seed)
    return _map_to_slots(parts, problem)


def _fits_somewhere(part: Sequence[str], problem: PartitionProblem) -> bool:
    demand = total(problem.demands[name] for name in part)
    return any(
        demand.fits(slot.limit) and all(slot.takes(problem.demands[name]) for name in part) for slot in problem.slots
    )


def _weight(demand: Resources, problem: PartitionProblem) -> float:
    return min(largest_share(demand, slot.limit) for slot in problem.slots)


def _bisect(part: Sequence[str], problem: PartitionProblem, seed: int) -> list[tuple[str, ...]]:
    index = {name: i for i, name in enumerate(part)}
    edges: list[dict[int, int]] = [{} for _ in part]
    for stream in problem.streams:
        if stream.source in index and stream.target in index and stream.source != stream.target:
            a, b = index[str(stream.source)], index[str(stream.target)]
            edges[a][b] = edges[a].get(b, 0) + stream.wires
            edges[b][a] = edges[b].get(a, 0) + stream.wires
    weights = [max(1, round(_WEIGHT_SCALE * _weight(problem.demands[name], problem))) for name in part]
    starts, neighbours, edge_weights = [0], [], []
    for row in edges:
        neighbours += sorted(row)
        edge_weights += [row[n] for n in sorted(row)]
        starts.append(len(neighbours))
    answer = pymetis.part_graph(
        2,
        adjacency=pymetis.CSRAdjacency(starts, neighbours),
        vweights=weights,
        eweights=edge_weights,
        recursive=True,
        options=pymetis.Options(seed=seed),
    )
    halves = [tuple(n for n, side in zip(part, answer[1], strict=True) if side == which) for which in (0, 1)]
    if not all(halves):  # METIS may leave one side empty on tiny graphs
        halves = [tuple(part[: len(part) // 2]), tuple(part[len(part) // 2 :])]
    return halves


def _map_to_slots(parts: Sequence[Sequence[str]], problem: PartitionProblem) -> dict[str, int] | None:
    best: tuple[int, dict[str, int]] | None = None
    for places in permutations(range(len(problem.slots)), len(parts)):
        slot_of = {name: place for part, place in zip(parts, places, strict=True) for name in part}
        if problem.is_legal(slot_of) and (best is None or problem.cost(slot_of) < best[0]):
            best = problem.cost(slot_of), slot_of
    return best[1] if best else None
