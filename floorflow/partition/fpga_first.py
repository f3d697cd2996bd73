"""A start for several FPGAs: links and what meets them first, since links cost most, then the slots inside each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from floorflow.partition.arrays import Integers, ProblemArrays, arrays_of
from floorflow.partition.bounds import contracted
from floorflow.partition.dp import contiguous
from floorflow.partition.exact import run_solver, solve
from floorflow.partition.fm import MoveEvaluator
from floorflow.partition.metis import recursive_bipartition
from floorflow.partition.model import build_model
from floorflow.partition.problem import PartitionProblem
from floorflow.resources import Resources

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


def _with_share_of_limits(problem: PartitionProblem, fill: float) -> PartitionProblem:
    slots = tuple(
        replace(slot, limit=Resources(*(int(fill * amount) for amount in slot.limit.as_tuple())))
        for slot in problem.slots
    )
    return replace(problem, slots=slots, area_share=fill * problem.area_share)


def _by_group(
    problem: PartitionProblem, edges: tuple[int, ...], fill: float, seed: int, limit: float
) -> tuple[Integers | None, tuple[int, ...], float]:
    """Assign modules to what the edges join as well as the limit allows; return the groups of slots and the work."""
    smaller, group = contracted(problem, edges)
    smaller = _with_share_of_limits(smaller, fill)
    arrays = arrays_of(smaller)
    if not arrays.takes.any(axis=1).all():
        return None, group, 0.0
    starts = [s for s in (contiguous(smaller, arrays)[0], recursive_bipartition(arrays, seed)) if s is not None]
    outcome = solve(smaller, arrays, min(starts, key=MoveEvaluator(arrays).key, default=None), seed, limit)
    return outcome.assignment, group, outcome.work
