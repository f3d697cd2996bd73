"""A start for several FPGAs: whole FPGAs first, since links cost most, then the slots inside each."""

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
from floorflow.partition.window_lns import window_lns
from floorflow.resources import Resources

_FILLS = (1.0, 0.95, 0.9, 0.85)
"""Shares of an FPGA's summed limits that are tried in turn: its slots can rarely be filled to the brim."""


def fpga_first(problem: PartitionProblem, arrays: ProblemArrays, seed: int, limit: float) -> Integers | None:
    """Return a legal assignment (M,) or None; None too if no FPGA has several slots or there is one FPGA only."""
    links = [k for k, edge in enumerate(problem.edges) if edge.crossing.kind == "link"]
    if not links or len(links) == len(problem.edges):
        return None
    whole, group = contracted(problem, links)
    for fill in _FILLS:
        coarse = _by_fpga(_with_share_of_limits(whole, fill), seed, limit / len(_FILLS))
        if coarse is None:
            break
        slots_allowed = [frozenset(np.flatnonzero(np.array(group) == fpga).tolist()) for fpga in coarse.tolist()]
        model = build_model(problem, arrays, slots_allowed)
        model.cp.minimize(model.cost)
        assignment = run_solver(model, None, seed, limit / len(_FILLS)).assignment
        if assignment is not None:
            return assignment
    return None


def _with_share_of_limits(problem: PartitionProblem, fill: float) -> PartitionProblem:
    slots = tuple(
        replace(slot, limit=Resources(*(int(fill * amount) for amount in slot.limit.as_tuple())))
        for slot in problem.slots
    )
    return replace(problem, slots=slots, area_share=fill * problem.area_share)


def _by_fpga(problem: PartitionProblem, seed: int, limit: float) -> Integers | None:
    """Assign modules to whole FPGAs as well as the limit allows."""
    arrays = arrays_of(problem)
    starts = [s for s in (contiguous(problem, arrays)[0], recursive_bipartition(arrays, seed)) if s is not None]
    start = min(starts, key=MoveEvaluator(arrays).key, default=None)
    if start is not None:
        return window_lns(problem, arrays, start, seed, limit)
    return solve(problem, arrays, None, seed, limit).assignment
