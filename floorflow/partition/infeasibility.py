"""Why no assignment exists: a module that fits no slot, a short resource, a boundary or a link that binds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from floorflow.partition.arrays import tabulate
from floorflow.partition.exact import Outcome, run
from floorflow.partition.model import build
from floorflow.partition.problem import PartitionFailure, PartitionProblem
from floorflow.partition.routes import Edge
from floorflow.resources import Resources, shortfall, total
from floorflow.text.lists import some

_MOST_TRIED = 8
"""As many edges of a kind are lifted one by one to find the one that binds."""


def impossible(problem: PartitionProblem) -> PartitionFailure | None:
    """Name the module that fits no slot, or the resource that all slots together lack."""
    for name, need in problem.demands.items():
        if not any(slot.takes(need) for slot in problem.slots):
            amounts = ", ".join(f"{n:,} {r}" for r, n in need.as_dict().items() if n)
            return PartitionFailure(f"module {name} fits no slot alone: it needs {amounts}", proven=True)
    need, have = total(problem.demands.values()), total(slot.limit for slot in problem.slots)
    short = shortfall(need, have)
    if not short:
        return None
    needs, limits = need.as_dict(), have.as_dict()
    reason = "; ".join(f"{r}: {needs[r]:,} needed, all slots together allow {limits[r]:,}" for r in short)
    return PartitionFailure(reason, proven=True, short=Resources.from_dict(short))


def explain(problem: PartitionProblem, seed: int, limit: float) -> PartitionFailure:
    """Say what binds in a problem that is proven infeasible: links, SLR boundaries or slots, as far as it can be told.

    Limits are lifted to see which of them make it feasible, each trial within ``limit`` deterministic time units.
    """
    links = [k for k, edge in enumerate(problem.edges) if problem.allowed_bits(edge) is not None]
    boundaries = [k for k, edge in enumerate(problem.edges) if edge.wires is not None]
    for limited in (links, boundaries):
        if limited and _least_load(_lifted(problem, limited), [], seed, limit).place is not None:
            return PartitionFailure(_binding(problem, limited, seed, limit), proven=True)
    reason = "no assignment of these modules to slots meets the resource limits of every slot"
    if links or boundaries:
        without = _least_load(_lifted(problem, [*links, *boundaries]), [], seed, limit)
        if without.status != "infeasible":
            reason = "no assignment of these modules to slots meets resource, SLL and link limits together"
    return PartitionFailure(reason, proven=True)


def _binding(problem: PartitionProblem, limited: Sequence[int], seed: int, limit: float) -> str:
    """Name the one edge whose limit stands in the way, else all of that kind."""
    for k in limited[:_MOST_TRIED]:
        outcome = _least_load(_lifted(problem, [k]), [k], seed, limit)
        if outcome.place is not None:
            return _describe(problem, problem.edges[k], outcome.bound)
    names = some(_title(problem.edges[k]) for k in limited)
    return f"no assignment of these modules meets the limits of these together: {names}"


def _describe(problem: PartitionProblem, edge: Edge, needed: int) -> str:
    if edge.gbps is not None:
        gbps = max(needed * problem.frames_per_s / 1e9, edge.gbps)
        return f"{_title(edge)}: at least {gbps:.6g} Gb/s needed in one direction, {edge.gbps:.6g} Gb/s allowed"
    needed = max(needed, (edge.wires or 0) + 1)  # all that is known if the least load was not found within the limit
    return f"{_title(edge)}: at least {needed:,} wires needed, {edge.wires:,} allowed"


def _title(edge: Edge) -> str:
    return f"{'link' if edge.kind == 'link' else 'SLR boundary'} {edge.name or f'{edge.a}-{edge.b}'}"


def _lifted(problem: PartitionProblem, edges: Sequence[int]) -> PartitionProblem:
    """Return the problem without the limits of these edges."""
    free = tuple(replace(e, wires=None, gbps=None) if k in edges else e for k, e in enumerate(problem.edges))
    return replace(problem, edges=free)


def _least_load(problem: PartitionProblem, edges: Sequence[int], seed: int, limit: float) -> Outcome:
    """Find an assignment, of the least load over the edges given: bits a frame of a link, wires of a boundary."""
    model = build(problem, tabulate(problem))
    for k in edges:
        amounts = model.rates[k] if problem.edges[k].kind == "link" else (model.loads[k],)
        most = model.cp.new_int_var(0, 2**50, "most")
        for amount in amounts:
            model.cp.add(amount <= most)
        model.cp.minimize(most)
    return run(model, None, seed, limit)
