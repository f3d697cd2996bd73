"""Relaxations of the partition in which some slots are one: lower bounds that follow, and a start for several FPGAs.

That start assigns links and what meets them first, since links cost most, then the slots inside each FPGA.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

import networkx as nx
import numpy as np

from floorflow.hardware import boundary_pairs
from floorflow.partition.arrays import Integers, ProblemArrays, arrays_of
from floorflow.partition.dp import contiguous
from floorflow.partition.exact import CutBound, run_solver, solve
from floorflow.partition.fm import MoveEvaluator
from floorflow.partition.metis import recursive_bipartition
from floorflow.partition.model import build_model
from floorflow.partition.problem import PartitionProblem, SlotCapacity
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.solver import linear_solver

_LEAST_LIMIT = 0.002
"""Deterministic time units that every set of edges gets."""

_SHARE_OF_ONE = 0.55
"""One set of edges gets at most this share of the limit."""


def cut_bounds(problem: PartitionProblem, seed: int, limit: float) -> tuple[CutBound, ...] | None:
    """Return what cuts cost alone and jointly; None if there is no legal assignment.

    Each edge alone is a two-way cut under the summed limits of the slots on either side; then some edges are cut
    jointly, the slots that the others join being one. ``limit`` is in deterministic time units for all sets.
    """
    alone: list[CutBound] = []
    jointly: list[CutBound] = []
    left = limit
    for edges in _sets_of_edges(problem):
        if len(edges) > 1 and left <= 0:
            break
        smaller, _ = contracted(problem, edges)
        # What pairs cost would be valid in larger sets, too, but was measured to slow those down.
        inner = [CutBound((edges.index(b.edges[0]),), b.least) for b in alone if b.edges[0] in edges]
        most = max(_LEAST_LIMIT, min(limit * _SHARE_OF_ONE, left))
        outcome = solve(smaller, arrays_of(smaller), None, seed, most, cuts=inner)
        left -= outcome.work
        if outcome.status == "infeasible":
            return None
        (jointly if len(edges) > 1 else alone).append(CutBound(edges, outcome.bound))
    return (*alone, *jointly)


def _sets_of_edges(problem: PartitionProblem) -> list[tuple[int, ...]]:
    """Return each edge, then pairs that meet, links with what they meet, and the edges of each FPGA with its links.

    The last FPGA comes first: what is left of a limit would rarely do for more than one. A set of all edges is left
    out unless it is one edge.
    """
    count = len(problem.edges)
    ends = [{edge.a, edge.b} for edge in problem.edges]
    sets: list[tuple[int, ...]] = [(k,) for k in range(count)]
    sets += [(a, b) for a in range(count) for b in range(a + 1, count) if ends[a] & ends[b]]
    links = [k for k, edge in enumerate(problem.edges) if edge.crossing.kind == "link"]
    sets += [tuple(j for j in range(count) if ends[j] & ends[k]) for k in links]
    if links:
        inside = contracted(problem, links)[1]
        fpgas = [{slot for slot, group in enumerate(inside) if group == fpga} for fpga in sorted(set(inside))]
        sets += [tuple(k for k in range(count) if ends[k] & slots) for slots in reversed(fpgas)]
    return [edges for edges in dict.fromkeys(sets) if len(edges) < count or count == 1]


def least_cost(problem: PartitionProblem, bounds: Sequence[CutBound]) -> int:
    """Return what every legal assignment costs at least: the linear programme of what its edges and pairs cost."""
    solver = linear_solver()
    pairs = [{pair.first, pair.second} for pair in boundary_pairs(problem.graph, problem.max_hops) if pair.allowed]
    parts = [{k} for k in sorted({k for b in bounds for k in b.edges})] + pairs
    cost = [solver.NumVar(0, solver.infinity(), "") for _ in parts]
    for known in bounds:
        solver.Add(sum(c for c, part in zip(cost, parts, strict=True) if part <= {*known.edges}) >= known.least)
    solver.Minimize(solver.Sum(cost))
    solver.Solve()
    return ceil(float(solver.Objective().Value()) - 1e-6)


def contracted(problem: PartitionProblem, edges_kept: Collection[int]) -> tuple[PartitionProblem, tuple[int, ...]]:
    """Return the problem with only the edges ``edges_kept``, and the new slot of each old one.

    What the other edges join becomes one slot with summed limits and free cells, which takes the modules that one of
    its slots takes, each with the least cells that it has in one.
    A relaxation: every legal assignment stays legal and keeps its cost over the edges kept, with the pairs among them.
    """
    fpgas = problem.graph.fpga_of_edge
    graph = nx.Graph()
    graph.add_nodes_from(range(len(problem.slots)))
    graph.add_edges_from((edge.a, edge.b) for k, edge in enumerate(problem.edges) if k not in edges_kept)
    groups = range(nx.number_connected_components(graph))
    group_of = {slot: g for g, joined in enumerate(nx.connected_components(graph)) for slot in joined}
    index = tuple(group_of[slot] for slot in range(len(problem.slots)))
    smaller = replace(
        problem,
        slots=tuple(_merged([p for p, i in zip(problem.slots, index, strict=True) if i == g]) for g in groups),
        edges=tuple(
            replace(problem.edges[k], a=index[problem.edges[k].a], b=index[problem.edges[k].b]) for k in edges_kept
        ),
        host_in=index[problem.host_in],
        host_out=index[problem.host_out],
        fpgas=tuple(fpgas[k] for k in edges_kept),
        cells={name: _least_by_group(row, index, len(groups)) for name, row in problem.cells.items()},
        free_cells=_summed_by_group(problem.free_cells, index, len(groups)),
        barred={name: _barred_by_group(slots, index) for name, slots in problem.barred.items()},
        order=_order_of_groups(problem.order, index, len(groups)),
        # What became one slot may hold all of them.
        apart=problem.apart if len(groups) == len(problem.slots) else (),
    )
    return smaller, index


def _order_of_groups(order: Sequence[int], index: Sequence[int], count: int) -> tuple[int, ...]:
    """Return numbers of groups from which none may go back to a lower one; none where groups share an FPGA."""
    held = [{fpga for fpga, group in zip(order, index, strict=False) if group == one} for one in range(count)]
    ranges = sorted((min(fpgas), max(fpgas), group) for group, fpgas in enumerate(held) if fpgas)
    if not order or any(before[1] >= after[0] for before, after in pairwise(ranges)):
        return ()
    return tuple(min(fpgas) for fpgas in held)


def _barred_by_group(slots: Collection[int], index: Sequence[int]) -> frozenset[int]:
    """Return the groups of slots in none of which a module may lie."""
    return frozenset(index) - {group for slot, group in enumerate(index) if slot not in slots}


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


_FILLS = (0.995, 1.0, 0.97, 0.9, 0.85)
"""Shares of summed limits that are tried in turn: slots can rarely be filled to the brim together."""

_COARSE_SHARE = 0.3
"""Of the limit, what the first of the two steps gets."""


def fpga_first(problem: PartitionProblem, arrays: ProblemArrays, seed: int, limit: float) -> Integers | None:
    """Return a legal assignment (M,) or None; None too if no FPGA has several slots or there is one FPGA only."""
    links = [k for k, edge in enumerate(problem.edges) if edge.crossing.kind == "link"]
    if not links or len(links) == len(problem.edges):
        return None
    coarse_limit, fine_limit = limit * _COARSE_SHARE, limit * (1 - _COARSE_SHARE)
    for fill in _FILLS:
        if min(coarse_limit, fine_limit) <= 0:
            break
        coarse, group, work = _by_group(problem, _meeting(problem, links), fill, seed, coarse_limit)
        coarse_limit -= work
        if coarse is None:
            continue
        slots_allowed = [frozenset(np.flatnonzero(np.array(group) == one).tolist()) for one in coarse.tolist()]
        model = build_model(problem, arrays, slots_allowed)
        model.cp.minimize(model.cost)
        outcome = run_solver(model, None, seed, fine_limit)
        if outcome.assignment is not None:
            return outcome.assignment
        fine_limit -= outcome.work
    return None


def _meeting(problem: PartitionProblem, links: list[int]) -> tuple[int, ...]:
    """Return links with the edges that share a slot with one; links alone where those are all that there are."""
    ends = {slot for k in links for slot in (problem.edges[k].a, problem.edges[k].b)}
    met = tuple(k for k, edge in enumerate(problem.edges) if {edge.a, edge.b} & ends)
    return met if len(met) < len(problem.edges) else tuple(links)


def _by_group(
    problem: PartitionProblem, edges: tuple[int, ...], fill: float, seed: int, limit: float
) -> tuple[Integers | None, tuple[int, ...], float]:
    """Assign modules to what the edges join as well as the limit allows; return the groups of slots and the work."""
    smaller, group = contracted(problem, edges)
    slots = tuple(
        replace(slot, limit=Resources(*(int(fill * amount) for amount in slot.limit.as_tuple())))
        for slot in smaller.slots
    )
    smaller = replace(smaller, slots=slots, area_share=fill * smaller.area_share)
    arrays = arrays_of(smaller)
    if not arrays.takes.any(axis=1).all():
        return None, group, 0.0
    starts = [s for s in (contiguous(smaller, arrays)[0], recursive_bipartition(arrays, seed)) if s is not None]
    outcome = solve(smaller, arrays, min(starts, key=MoveEvaluator(arrays).key, default=None), seed, limit)
    return outcome.assignment, group, outcome.work


@dataclass(frozen=True)
class CardCut:
    """An assignment of modules to FPGAs, what streams pay on links, and what they pay at least in all that follow."""

    card_of: Mapping[str, int]
    paid: int
    bound: int


EVEN_SCALE = 1_000
"""Parts of its limit in which the fullness of an FPGA counts among cuts that cost as much on links."""


def whole_cards(problem: PartitionProblem) -> tuple[PartitionProblem, tuple[int, ...]]:
    """Return the problem in which each FPGA is one slot, with the summed limits of its own, and the FPGA of each."""
    return contracted(problem, [k for k, edge in enumerate(problem.edges) if edge.crossing.kind == "link"])


def card_cuts(cards: PartitionProblem, seed: int, limit: float) -> Iterator[CardCut]:
    """Yield all assignments to a tree of whole FPGAs, cheapest on links first, of those that cost as much the evenest.

    Each takes at most ``limit`` deterministic time units; where one takes more it is the last.
    """
    arrays = arrays_of(cards)
    model = build_model(cards, arrays)
    place = {name: m for m, name in enumerate(arrays.names)}
    for a, b in (pair for names in cards.together for pair in pairwise(names)):
        for k in range(len(cards.edges)):
            model.cp.add(model.beyond[place[a], k] == model.beyond[place[b], k])
    fullest = model.cp.new_int_var(0, EVEN_SCALE, "fullest")
    for s, r in np.ndindex(len(cards.slots), len(RESOURCE_NAMES)):
        if arrays.limit[s, r]:
            model.cp.add(EVEN_SCALE * model.use(s, r) <= int(arrays.limit[s, r]) * fullest)
    model.cp.minimize(EVEN_SCALE * model.cost + fullest)
    while (answer := run_solver(model, None, seed, limit)).assignment is not None:
        slot_of = arrays.as_mapping(answer.assignment)
        # The cost alone is at least what is left of the sum where fullness is as large as can be.
        yield CardCut(slot_of, cards.paid_on_links(slot_of), ceil((answer.bound - EVEN_SCALE) / EVEN_SCALE))
        sides = ((beyond, slot_of[arrays.names[m]] in model.tree.far[k]) for (m, k), beyond in model.beyond.items())
        model.cp.add_bool_or([~beyond if far else beyond for beyond, far in sides])
