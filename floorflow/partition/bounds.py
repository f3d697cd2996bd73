"""Relaxations of the partition in which some slots are one, and the lower bounds that follow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from floorflow.partition.arrays import arrays_of
from floorflow.partition.exact import solve
from floorflow.partition.problem import PartitionProblem, SlotCapacity
from floorflow.resources import Resources, total

_LEAST_LIMIT = 0.002
"""Deterministic time units that every edge gets."""


def edge_bounds(problem: PartitionProblem, seed: int, limit: float) -> tuple[int, ...] | None:
    """Return for each edge a number of wires that every legal assignment has over it; None if there is none at all.

    Each is a two-way cut under the summed limits of the slots on either side of the edge. ``limit`` is in deterministic
    time units for all edges; one edge gets a quarter of it at most.
    """
    least_wires = []
    left = limit
    for k, edge in enumerate(problem.edges):
        alone, _ = contracted(problem, [k])
        outcome = solve(alone, arrays_of(alone), None, seed, max(_LEAST_LIMIT, min(limit / 4, left)))
        left -= outcome.work
        if outcome.status == "infeasible":
            return None
        least_wires.append(-(-outcome.bound // max(1, edge.crossing.cost)))
    return tuple(least_wires)


def contracted(problem: PartitionProblem, edges_kept: Collection[int]) -> tuple[PartitionProblem, tuple[int, ...]]:
    """Return the problem with only the edges ``edges_kept``, and the new slot of each old one.

    What the other edges join becomes one slot with summed limits and free cells, which takes the modules that one of
    its slots takes, each with the least cells that it has in one.
    A relaxation: every legal assignment stays legal and keeps its cost over the edges kept.
    """
    sides = [tuple(slot in problem.beyond[k] for k in sorted(edges_kept)) for slot in range(len(problem.slots))]
    groups = {side: index for index, side in enumerate(dict.fromkeys(sides))}
    index = tuple(groups[side] for side in sides)
    smaller = replace(
        problem,
        slots=tuple(_merged([p for p, i in zip(problem.slots, index, strict=True) if i == g]) for g in groups.values()),
        edges=tuple(
            replace(problem.edges[k], a=index[problem.edges[k].a], b=index[problem.edges[k].b]) for k in edges_kept
        ),
        host_in=index[problem.host_in],
        host_out=index[problem.host_out],
        cells={name: _least_by_group(row, index, len(groups)) for name, row in problem.cells.items()},
        free_cells=_summed_by_group(problem.free_cells, index, len(groups)),
    )
    return smaller, index


def _least_by_group(cells: Sequence[int | None], index: Sequence[int], count: int) -> tuple[int | None, ...]:
    """Return the least cells of a module over the slots that became one."""
    least: list[int | None] = [None] * count
    for own, group in zip(cells, index, strict=True):
        known = least[group]
        least[group] = own if known is None or (own is not None and own < known) else known
    return tuple(least)


def _summed_by_group(free_cells: Sequence[int], index: Sequence[int], count: int) -> tuple[int, ...]:
    sums = [0] * count
    for cells, group in zip(free_cells, index, strict=False):
        sums[group] += cells
    return tuple(sums)


def _merged(slots: list[SlotCapacity]) -> SlotCapacity:
    pblock_capacities: list[Resources] = []
    for slot in slots:
        pblock_capacities += [capacity.least(slot.limit) for capacity in slot.pblock_capacities] or [slot.limit]
    return SlotCapacity(
        "+".join(slot.name for slot in slots),
        total(slot.limit for slot in slots),
        tuple(dict.fromkeys(pblock_capacities)),
    )
