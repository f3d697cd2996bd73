"""Why no assignment exists, and which comes closest: what exceeds limits least, and the limit that binds.

The least excess over all limits is a legal assignment if there is one, else what no assignment can avoid. Each resource
and the area of a slot, the wires of a boundary and the rate of a link may be overused, and a stream may have hops too
many; the sum of the shares by which they are is least. Cost plays no part, so that this finds starts where minimising
cost finds none. What binds is a module that fits no slot, a short resource, hops, a boundary or a link.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from floorflow.errors import Refusal, What
from floorflow.hardware import Edge
from floorflow.partition.arrays import Integers, ProblemArrays, arrays_of
from floorflow.partition.cuts.arrays import cut_arrays
from floorflow.partition.cuts.model import solve_cuts
from floorflow.partition.exact import SolverAnswer, run_solver
from floorflow.partition.fm import MoveEvaluator, is_legal
from floorflow.partition.model import build_model
from floorflow.partition.problem import PartitionFailure, PartitionProblem
from floorflow.resources import RESOURCE_NAMES, Resources, largest_share, shortfall, total

HOPS = "SLR boundaries"
"""What a stream crosses too many of, in refusals."""
STREAMS, BACK = "streams over a link", "streams to an earlier FPGA"
"""What a link may have too many of in one direction, and where order is kept none may be."""
_MOST_TRIED = 8
"""As many edges of a kind are lifted one by one to find the one that binds."""


def obviously_infeasible(problem: PartitionProblem) -> PartitionFailure | None:
    """Name the module that fits no slot, or the resource or cells that all slots together lack."""
    for name in problem.demands:
        if not any(slot.takes(problem.demand(name, index)) for index, slot in enumerate(problem.slots)):
            return PartitionFailure((_too_large(problem, name),))
        if not any(problem.takes(name, slot) for slot in range(len(problem.slots))):
            return PartitionFailure((_taken_nowhere(problem, name),))
    need, have = total(map(problem.least_demand, problem.demands)), total(slot.limit for slot in problem.slots)
    short = shortfall(need, have)
    if not short:
        return _area_short(problem)
    needs, limits = need.as_dict(), have.as_dict()
    lacking = tuple(Refusal("slots together", r, "", needs[r], limits[r], proven=True) for r in short)
    return PartitionFailure(lacking, short=Resources.from_dict(short))


def _too_large(problem: PartitionProblem, module: str) -> Refusal:
    """Name what a module lacks most of in the slot, or pblock there, that comes closest."""
    places = [
        (s.name, problem.demand(module, index), s.limit.least(room))
        for index, s in enumerate(problem.slots)
        for room in s.pblock_capacities or (s.limit,)
    ]
    name, need, most = min(places, key=lambda place: (largest_share(place[1], place[2]), place[0]))
    needs, allowed = need.as_dict(), most.as_dict()
    resource = max(shortfall(need, most), key=lambda r: needs[r] / max(1, allowed[r]))
    return Refusal("module too large", resource, name, needs[resource], allowed[resource], proven=True, names=(module,))


def _taken_nowhere(problem: PartitionProblem, module: str) -> Refusal:
    """Say why no slot takes a module whose demand fits some: it is barred from those, or lacks area."""
    barred = problem.barred.get(module, frozenset())
    if any(s.takes(problem.demand(module, index)) for index, s in enumerate(problem.slots) if index not in barred):
        return _without_area(problem, module)
    return Refusal("module barred", proven=True, names=(module,))


def _without_area(problem: PartitionProblem, module: str) -> Refusal:
    """Name the slot whose area comes closest to what a module takes of it."""
    known = [
        (cells, most, slot.name)
        for index, (slot, cells, most) in enumerate(
            zip(problem.slots, problem.cells[module], problem.most_cells, strict=True)
        )
        if cells is not None and most is not None and slot.takes(problem.demand(module, index))
    ]
    if not known:
        return Refusal("module without rectangle", "cells", proven=True, names=(module,))
    cells, most, name = min(known, key=lambda row: (row[0] / max(1, row[1]), row[2]))
    return Refusal("module too large", "cells", name, cells, most, proven=True, names=(module,))


def _area_short(problem: PartitionProblem) -> PartitionFailure | None:
    """Say that the modules take more cells than all slots have, each module where it takes the least."""
    if not problem.cells:
        return None
    slots = range(len(problem.slots))
    needed = sum(
        min(problem.cells_in(name, slot) or 0 for slot in slots if problem.takes(name, slot))
        for name in problem.demands
    )
    allowed = sum(most or 0 for most in problem.most_cells)
    if needed <= allowed:
        return None
    return PartitionFailure((Refusal("slots together", "cells", "", needed, allowed, proven=True),))


def explain_infeasibility(problem: PartitionProblem, seed: int, limit: float) -> PartitionFailure:
    """Say what binds in a problem that is proven infeasible: hops, order, streams, area, an edge or slots, if known.

    Limits are lifted to see which of them make it feasible, each trial within ``limit`` deterministic time units.
    """
    by_streams = _ways_of_streams(problem, seed, limit)
    if by_streams is not None:
        return PartitionFailure((by_streams,))
    if problem.cells:
        anywhere = replace(problem, cells=_only_where(problem))
        if _solve_least_load(anywhere, [], seed, limit).assignment is not None:
            return PartitionFailure((Refusal("area of each slot", "cells", proven=True),))
    links = [k for k, edge in enumerate(problem.edges) if problem.allowed_bits(edge) is not None]
    shared = {k for limit in problem.shared for k in limit.edges}
    boundaries = [k for k, edge in enumerate(problem.edges) if edge.crossing.wires is not None or k in shared]
    for limited in (links, boundaries):
        if limited and _solve_least_load(_lifted(problem, limited), [], seed, limit).assignment is not None:
            return PartitionFailure((_name_binding(problem, limited, seed, limit),))
    what: What = "each slot"
    if links or boundaries:
        without = _solve_least_load(_lifted(problem, [*links, *boundaries]), [], seed, limit)
        if without.status != "infeasible":
            what = "slots and edges"
    return PartitionFailure((Refusal(what, proven=True),))


def _ways_of_streams(problem: PartitionProblem, seed: int, limit: float) -> Refusal | None:
    """Say that streams may not go as far, back, or as many over a link, as they would have to, if that binds."""
    if problem.max_hops is not None:
        further = _further(problem, seed, limit)
        if further is not None:
            return Refusal("hops", HOPS, "", further, problem.max_hops, proven=True)
    if problem.order and _solve_least_load(replace(problem, order=()), [], seed, limit).assignment is not None:
        return Refusal("order", proven=True)
    if problem.link_streams is not None:
        more = _more_streams(problem, problem.link_streams, seed, limit)
        if more is not None:
            return Refusal("link streams", STREAMS, "", more, problem.link_streams, proven=True)
    return None


def _further(problem: PartitionProblem, seed: int, limit: float) -> int | None:
    """Return how many SLR boundaries some stream must cross at least, as far as the limit lets us find; None if any."""
    slots = range(len(problem.slots))
    longest = max(problem.graph.hops(a, b) for a in slots for b in slots)
    for hops in range((problem.max_hops or 0) + 1, longest + 1):
        if _solve_least_load(replace(problem, max_hops=hops), [], seed, limit).assignment is not None:
            return hops
    return None


def _more_streams(problem: PartitionProblem, allowed: int, seed: int, limit: float) -> int | None:
    """Return with how many streams over a link there is an assignment, as far as a few trials tell; None if any."""
    for most in range(allowed + 1, min(len(problem.streams), allowed + _MOST_TRIED) + 1):
        if _solve_least_load(replace(problem, link_streams=most), [], seed, limit).assignment is not None:
            return most
    return None


def _only_where(problem: PartitionProblem) -> dict[str, tuple[int | None, ...]]:
    """Return cells of none or 0: modules keep the slots in which they have a rectangle, and take no area."""
    return {name: tuple(None if c is None else 0 for c in cells) for name, cells in problem.cells.items()}


def _name_binding(problem: PartitionProblem, limited: Sequence[int], seed: int, limit: float) -> Refusal:
    """Name the one edge whose limit stands in the way, else all of that kind."""
    for k in limited[:_MOST_TRIED]:
        outcome = _solve_least_load(_lifted(problem, [k]), [k], seed, limit)
        if outcome.assignment is not None:
            return _describe(problem, problem.edges[k], outcome.bound)
    return Refusal("edges together", proven=True, names=tuple(_title(problem.edges[k]) for k in limited))


def _describe(problem: PartitionProblem, edge: Edge, needed: int) -> Refusal:
    crossing = edge.crossing
    if crossing.gbps is not None:
        gbps = max(needed * problem.frames_per_s / 1e9, crossing.gbps)
        return Refusal("edge", "Gb/s", _title(edge), gbps, crossing.gbps, proven=True)
    needed = max(needed, (crossing.wires or 0) + 1)  # all that is known if the least load was not found in the limit
    return Refusal("edge", "wires", _title(edge), needed, crossing.wires, proven=True)


def _title(edge: Edge) -> str:
    return f"{'link' if edge.crossing.kind == 'link' else 'SLR boundary'} {edge.name or f'{edge.a}-{edge.b}'}"


def _lifted(problem: PartitionProblem, edges: Sequence[int]) -> PartitionProblem:
    """Return the problem without the limits of these edges."""
    lifted = {k: replace(problem.edges[k].crossing, wires=None, gbps=None) for k in edges}
    free = tuple(replace(e, crossing=lifted.get(k, e.crossing)) for k, e in enumerate(problem.edges))
    return replace(problem, edges=free, shared=tuple(s for s in problem.shared if not {*s.edges} & lifted.keys()))


def _solve_least_load(problem: PartitionProblem, edges: Sequence[int], seed: int, limit: float) -> SolverAnswer:
    """Find an assignment, of the least load over the edges given: bits a frame of a link, wires of a boundary.

    On graphs that are no tree, and with groups or limits over several edges, any assignment is looked for.
    """
    if not problem.is_plain:
        any_legal = solve_cuts(cut_arrays(problem), limit, any_legal=True)
        return SolverAnswer("infeasible" if any_legal.infeasible else "unknown", any_legal.assignment, 0, limit)
    model = build_model(problem, arrays_of(problem))
    for k in edges:
        amounts = model.rates[k] if problem.edges[k].crossing.kind == "link" else (model.loads[k],)
        most = model.cp.new_int_var(0, 2**50, "most")
        for amount in amounts:
            model.cp.add(amount <= most)
        model.cp.minimize(most)
    return run_solver(model, None, seed, limit)


_WHOLE_LIMIT = 1_000_000
"""Overuse is summed in millionths of a limit."""


@dataclass(frozen=True)
class LeastExcess:
    """The assignment (M,) of the least excess found, if any, and whether none has less than some."""

    assignment: Integers | None
    proven_infeasible: bool = False


def least_excess(
    problem: PartitionProblem, arrays: ProblemArrays, start: Integers | None, seed: int, limit: float
) -> LeastExcess:
    """Look for the assignment of least excess, from a start, within ``limit`` deterministic time units."""
    if start is not None and is_legal(arrays, start):
        return LeastExcess(start)
    over: list[cp_model.LinearExprT] = []
    # No assignment's use of anything is above this.
    registers = int(arrays.wires.sum()) * int(1 + arrays.registers.sum())
    largest = int(arrays.demand.sum() + arrays.cells.sum() + arrays.carried.sum()) + registers
    model = build_model(problem, arrays, soften=lambda cp, most: _overuse(cp, most, largest, over))
    model.cp.minimize(sum(over))
    outcome = run_solver(model, start, seed, limit)
    found = [assignment for assignment in (start, outcome.assignment) if assignment is not None]
    best = min(found, key=MoveEvaluator(arrays).key, default=None)
    return LeastExcess(best, outcome.status == "infeasible" or outcome.bound > 0)


def _overuse(cp: cp_model.CpModel, most: int, largest: int, over: list[cp_model.LinearExprT]) -> cp_model.LinearExprT:
    """Return an amount by which a limit may be exceeded, and add its share of the limit to what is summed."""
    step = max(1, most // _WHOLE_LIMIT)
    steps = cp.new_int_var(0, largest // step + 1, "")
    over.append(steps * max(1, _WHOLE_LIMIT * step // max(1, most)))
    return steps * step


def worst(problem: PartitionProblem, slot_of: Mapping[str, int]) -> Refusal | None:
    """Return what an assignment exceeds by the largest share: resource or cells of a slot, hops, what edges carry.

    A stream that goes back where order is kept counts as a whole limit.
    """
    uses = [
        (use, most, name, slot.name)
        for slot, demand in zip(problem.slots, problem.slot_demands(slot_of), strict=True)
        for name, use, most in zip(RESOURCE_NAMES, demand.as_tuple(), slot.limit.as_tuple(), strict=True)
    ]
    cells = zip(problem.slot_cells(slot_of), problem.most_cells, problem.slots, strict=True)
    uses += [(use, most, "cells", slot.name) for use, most, slot in cells if most is not None]
    most_hops = problem.max_hops
    uses += [(problem.hops(s, slot_of), most_hops, HOPS, s.name) for s in problem.streams if most_hops is not None]
    uses += [(1, 0, BACK, s.name) for s in problem.back(slot_of)]
    over = zip(problem.edges, problem.streams_over(slot_of), strict=True)
    uses += [(max(both), most, STREAMS, e.name) for e, both in over if (most := problem.allowed_streams(e)) is not None]
    loads = problem.loads(slot_of)
    limited = [(use, e) for use, e in zip(loads, problem.edges, strict=True) if e.crossing.wires is not None]
    uses += [(use, e.crossing.wires or 0, "wires", e.name) for use, e in limited]
    uses += [(sum(loads[k] for k in shared.edges), shared.wires, "wires", shared.name) for shared in problem.shared]
    held = [(slot, [slot_of[name] for name in group]) for slot in range(len(problem.slots)) for group in problem.apart]
    uses += [(here.count(slot), 1, "modules apart", problem.slots[slot].name) for slot, here in held]
    needed, allowed, resource, place = max(uses, key=lambda use: (use[0] - use[1]) / max(1, use[1]))
    if needed <= allowed:
        return None
    return Refusal("partition limit", resource, place, needed, allowed)
