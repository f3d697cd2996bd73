"""Method ``auto``: construct, make room if need be, improve, polish with CP-SAT, bound.

1. What is proven impossible is said at once (`bound`).
2. Candidate rectangles, compact ones first; shapes are freed step by step where nothing fits otherwise.
3. Several starts: modules one by one in several orders, shelves, and repair of incomplete layouts.
4. The best starts are improved by a large-neighbourhood search; effort ``best`` adds CP-SAT over the rectangles near
   the incumbent. Where all legal rectangles are few and shapes are not limited, CP-SAT sees every one and its bound
   counts. Else the bound is that of `bound`, over all rectangles of the aspects that the search was allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.hardware.geometry import Rect
from floorflow.placement.bound import (
    extent_of,
    fits_nowhere,
    legal_rectangles,
    needs_of,
    overfull,
    pin_bound,
    wire_bound,
)
from floorflow.placement.candidate_rectangles import (
    IntArray,
    SlotGrid,
    candidate_rectangles,
    every_rectangle,
    slot_grid,
)
from floorflow.placement.congestion import congestion_of
from floorflow.placement.construction import find_starts
from floorflow.placement.effort import LIMITS, Limits
from floorflow.placement.exact import solve_exactly
from floorflow.placement.lns import Layout, SearchSpace, improve, twice_hpwl
from floorflow.placement.net_arrays import wiring_of
from floorflow.placement.problem import PlacementFailure, PlacementProblem, PlacementSolution, hpwl_of
from floorflow.stats import SolveStats, Status
from floorflow.text.lists import some

COMPLETE_WORK = 2.0
"""Deterministic seconds for CP-SAT where it sees every legal rectangle."""

COMPLETE_LIMIT = 4000
"""Up to so many legal rectangles in all, CP-SAT sees every one of them."""


@dataclass(frozen=True)
class PreparedProblem:
    """What is known before any search: by module the needs, the slot's grid and all narrowest rectangles."""

    problem: PlacementProblem
    needs: Sequence[IntArray]
    grids: Sequence[SlotGrid]
    rects: Sequence[IntArray]
    limits: Limits


def place_auto(problem: PlacementProblem, seed: int) -> PlacementSolution | PlacementFailure:
    """Place all modules, or say what found no room. See the module's docstring for the steps."""
    if not problem.modules:
        return _solution(problem, Layout.empty(0), 0.0, "auto")
    ground = _survey(problem)
    if isinstance(ground, PlacementFailure):
        return ground
    rng = np.random.default_rng(seed)
    complete = _every_rectangle(ground)
    field, starts, aspects = find_starts(problem, ground.rects, ground.limits, rng)
    bound = _bound(ground, aspects)
    best = _improve_best(field, starts, ground.limits, rng) if starts[0].complete else None
    method = _method(aspects)
    if complete is not None:
        answer = solve_exactly(complete, field.wiring, best, max(ground.limits.polish_work, COMPLETE_WORK), seed)
        if answer.infeasible:
            return _failure(problem, starts[0], proven=True)
        best, method = answer.layout or best, "auto, complete CP-SAT"
        bound = max(bound, float(np.ceil(answer.twice_bound - 1e-6)) / 2)
    elif best is not None and ground.limits.polish_work:
        best = _polish(field, best, ground.limits, seed)
    if best is None:
        return _failure(problem, starts[0], proven=False)
    return _solution(problem, best, bound, method)


def _bound(ground: PreparedProblem, aspects: Sequence[float | None]) -> float:
    """Bound the wirelength over every legal rectangle of the allowed aspects."""
    problem = ground.problem
    grids = {
        name: slot_grid(problem.device, problem.slot_of[name], every_span=True)
        for name in sorted({module.slot for module in problem.modules})
    }
    triples = zip(problem.modules, ground.needs, aspects, strict=True)
    legal = [legal_rectangles(grids[module.slot], need, aspect) for module, need, aspect in triples]
    wiring = wiring_of(problem)
    to_pins = (pin_bound(module, wiring.pins, bits) for module, bits in zip(legal, wiring.pin_bits, strict=True))
    return wire_bound(wiring, [extent_of(module) for module in legal]) + sum(to_pins)


def _method(aspects: Sequence[float | None]) -> str:
    """Name the method with the shape rule that the bound assumes."""
    limits = [aspect for aspect in aspects if aspect is not None]
    if not limits:
        return "auto"
    exempt = len(aspects) - len(limits)
    free = f", {exempt} of {len(aspects)} modules free" if exempt else ""
    return f"auto, pblocks within {max(limits):g}:1{free}"


def _survey(problem: PlacementProblem) -> PreparedProblem | PlacementFailure:
    """Compute grids and rectangles, or return the proof that some slot cannot hold its modules."""
    for slot in problem.slots:
        modules = [module for module in problem.modules if module.slot == slot.name]
        reason = overfull(problem, slot, modules)
        if reason is not None:
            names = tuple(module.name for module in modules)
            stats = SolveStats("auto", "infeasible")
            return PlacementFailure(slot.name, names, reason, proven=True, stats=stats)
    used = {module.slot for module in problem.modules}
    grids = {name: slot_grid(problem.device, problem.slot_of[name]) for name in sorted(used)}
    needs = needs_of(problem)
    module_grids, rects = [], []
    for module, need in zip(problem.modules, needs, strict=True):
        slot, grid = problem.slot_of[module.slot], grids[module.slot]
        found = candidate_rectangles(grid, need)
        if not len(found) and not grid.complete:
            grid = slot_grid(problem.device, slot, every_span=True)
            found = candidate_rectangles(grid, need)
        if not len(found):
            reason = fits_nowhere(problem, slot, module, need)
            stats = SolveStats("auto", "infeasible")
            return PlacementFailure(slot.name, (module.name,), reason, proven=True, stats=stats)
        module_grids.append(grid)
        rects.append(found)
    return PreparedProblem(problem, needs, module_grids, rects, LIMITS[problem.effort])


def _every_rectangle(ground: PreparedProblem) -> list[IntArray] | None:
    """Return all legal rectangles of each module if shapes are not limited and there are few, else None."""
    problem, left, found = ground.problem, COMPLETE_LIMIT, []
    if problem.max_aspect is not None:
        return None
    for grid, need in zip(ground.grids, ground.needs, strict=True):
        rects = every_rectangle(grid, need, left) if grid.complete else None
        if rects is None:
            return None
        found.append(rects)
        left -= len(rects)
    return found


def _improve_best(field: SearchSpace, starts: Sequence[Layout], limits: Limits, rng: np.random.Generator) -> Layout:
    rounds = limits.improve_rounds * min(3 * field.count, 20 + field.count) // 30
    found = [improve(field, start, rounds, rng) for start in starts[: limits.improved_starts]]
    return min(found, key=lambda layout: twice_hpwl(layout, field.wiring))


def _polish(field: SearchSpace, best: Layout, limits: Limits, seed: int) -> Layout:
    """Let CP-SAT choose among the rectangles whose sides are nearest to the incumbent's."""
    candidates = []
    for box, shapes in zip(best.boxes, field.shapes, strict=True):
        order = np.argsort(np.abs(shapes.rects - box).sum(axis=1), kind="stable")
        near = shapes.rects[order[: limits.polish_candidates]]
        candidates.append(np.unique(np.concatenate((near, box[None, :])), axis=0))
    return solve_exactly(candidates, field.wiring, best, limits.polish_work, seed).layout or best


def _solution(problem: PlacementProblem, layout: Layout, bound: float, method: str) -> PlacementSolution:
    rectangles = {module.name: Rect(*map(int, box)) for module, box in zip(problem.modules, layout.boxes, strict=True)}
    hpwl = hpwl_of(rectangles, problem.wires)
    status: Status = "optimal" if hpwl <= bound else "feasible"
    congestion = congestion_of(problem.device, rectangles, problem.wires)
    return PlacementSolution(rectangles, hpwl, congestion, SolveStats(method, status, hpwl, bound))


def _failure(problem: PlacementProblem, layout: Layout, *, proven: bool) -> PlacementFailure:
    """Name the first slot with modules that found no room (all its modules if the proof is about the whole)."""
    waiting = [module for module, placed in zip(problem.modules, layout.placed, strict=True) if not placed]
    slot = waiting[0].slot
    names = tuple(module.name for module in waiting if module.slot == slot)
    if proven:
        reason = f"no choice among all legal rectangles places the modules without overlap; {slot} is short of room"
        return PlacementFailure(slot, names, reason, proven=True, stats=SolveStats("auto", "infeasible"))
    reason = f"no room found in {slot} for {some(names)} beside the other modules; it may exist"
    return PlacementFailure(slot, names, reason, proven=False, stats=SolveStats("auto", "heuristic"))
