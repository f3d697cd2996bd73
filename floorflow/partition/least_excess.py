"""The least excess over all limits: a legal assignment if there is one, else what no assignment can avoid.

Each resource and the area of a slot, the wires of a boundary and the rate of a link may be overused, and a stream may
have hops too many; the sum of the shares by which they are is least. Cost plays no part, so that this finds starts
where minimising cost finds none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ortools.sat.python import cp_model

from floorflow.errors import Refusal
from floorflow.partition.arrays import Integers, ProblemArrays
from floorflow.partition.exact import run_solver
from floorflow.partition.fm import MoveEvaluator, is_legal
from floorflow.partition.infeasibility import HOPS
from floorflow.partition.model import build_model
from floorflow.partition.problem import PartitionProblem
from floorflow.resources import RESOURCE_NAMES

_WHOLE_LIMIT = 1_000_000
"""Overuse is summed in millionths of a limit."""


@dataclass(frozen=True)
class LeastExcess:
    """The assignment (M,) of the least excess found, if any, and whether none has less than some."""

    assignment: Integers | None
    proven_infeasible: bool = False
    work: float = 0.0


def least_excess(
    problem: PartitionProblem, arrays: ProblemArrays, start: Integers | None, seed: int, limit: float
) -> LeastExcess:
    """Look for the assignment of least excess, from a start, within ``limit`` deterministic time units."""
    if start is not None and is_legal(arrays, start):
        return LeastExcess(start)
    over: list[cp_model.LinearExprT] = []
    largest = _largest_use(arrays)
    model = build_model(problem, arrays, soften=lambda cp, most: _overuse(cp, most, largest, over))
    model.cp.minimize(sum(over))
    outcome = run_solver(model, start, seed, limit)
    found = [assignment for assignment in (start, outcome.assignment) if assignment is not None]
    best = min(found, key=MoveEvaluator(arrays).key, default=None)
    return LeastExcess(best, outcome.status == "infeasible" or outcome.bound > 0, outcome.work)


def _largest_use(arrays: ProblemArrays) -> int:
    """Return an amount that no assignment's use of anything is above."""
    registers = int(arrays.wires.sum()) * int(1 + arrays.stages.sum())
    return int(arrays.demand.sum() + arrays.cells.sum() + arrays.bits.sum()) + registers


def _overuse(cp: cp_model.CpModel, most: int, largest: int, over: list[cp_model.LinearExprT]) -> cp_model.LinearExprT:
    """Return an amount by which a limit may be exceeded, and add its share of the limit to what is summed."""
    step = max(1, most // _WHOLE_LIMIT)
    steps = cp.new_int_var(0, largest // step + 1, "")
    over.append(steps * max(1, _WHOLE_LIMIT * step // max(1, most)))
    return steps * step


def worst(problem: PartitionProblem, slot_of: Mapping[str, int]) -> Refusal | None:
    """Return what an assignment exceeds by the largest share: resource or cells of a slot, hops, wires of an edge."""
    uses = [
        (use, most, name, slot.name)
        for slot, demand in zip(problem.slots, problem.slot_demands(slot_of), strict=True)
        for name, use, most in zip(RESOURCE_NAMES, demand.as_tuple(), slot.limit.as_tuple(), strict=True)
    ]
    cells = zip(problem.slot_cells(slot_of), problem.most_cells, problem.slots, strict=True)
    uses += [(use, most, "cells", slot.name) for use, most, slot in cells if most is not None]
    most_hops = problem.max_hops
    uses += [(problem.hops(s, slot_of), most_hops, HOPS, s.name) for s in problem.streams if most_hops is not None]
    wires = zip(problem.loads(slot_of), problem.edges, strict=True)
    uses += [(use, e.crossing.wires, "wires", e.name) for use, e in wires if e.crossing.wires is not None]
    needed, allowed, resource, place = max(uses, key=lambda use: (use[0] - use[1]) / max(1, use[1]))
    if needed <= allowed:
        return None
    return Refusal("partition limit", resource, place, needed, allowed)
