"""Method ``auto``: construct, make room if need be, improve, polish with CP-SAT, bound.

1. What is proven impossible is said at once (`bound`).
2. Candidate rectangles, compact ones first; shapes are freed step by step where nothing fits otherwise.
3. Several starts: modules one by one in several orders, shelves, and repair of incomplete layouts.
4. The best starts are improved by a large-neighbourhood search, then polished by CP-SAT over the rectangles near the
   incumbent. On small devices CP-SAT sees every legal rectangle and its bound counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.placement.bound import extent_of, fits_nowhere, needs_of, overfull, wire_bound
from floorflow.placement.congestion import congestion_of
from floorflow.placement.exact import solve_exactly
from floorflow.placement.packing import MAX_SHELVES, bands_of, make_room, shelves
from floorflow.placement.problem import Effort, PlacementFailure, PlacementProblem, PlacementSolution, hpwl_of
from floorflow.placement.search import (
    AREA_UNIT,
    Field,
    Layout,
    Shapes,
    construct,
    improve,
    pull,
    twice_hpwl,
    wire_bits,
)
from floorflow.placement.shapes import (
    IntArray,
    SlotGrid,
    candidate_rectangles,
    compact,
    every_rectangle,
    sides_of,
    slot_grid,
)
from floorflow.stats import SolveStats, Status
from floorflow.target.geometry import Rect


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work an effort allows; none of it is wall time."""

    improve_rounds: int
    improved_starts: int
    repair_rounds: int
    exact_work: float
    exact_candidates: int
    exact_modules: int


LIMITS: dict[Effort, Limits] = {
    "fast": Limits(80, 2, 100, 0.0, 0, 0),
    "default": Limits(375, 2, 400, 0.1, 40, 24),
    "best": Limits(4000, 6, 4000, 10.0, 150, 64),
}

COMPLETE_LIMIT = 4000
"""Up to so many legal rectangles in all, CP-SAT sees every one of them."""


@dataclass(frozen=True)
class Ground:
    """What is known before any search: by module the needs, the slot's grid and all narrowest rectangles."""

    problem: PlacementProblem
    needs: Sequence[IntArray]
    grids: Sequence[SlotGrid]
    rects: Sequence[IntArray]
    limits: Limits


def place_auto(problem: PlacementProblem, seed: int) -> PlacementSolution | PlacementFailure:
    """Place all modules, or say what found no room. See the module's docstring for the steps."""
    ground = _survey(problem)
    if isinstance(ground, PlacementFailure):
        return ground
    bound = wire_bound(problem, [extent_of(*pair) for pair in zip(ground.grids, ground.needs, strict=True)])
    rng = np.random.default_rng(seed)
    complete = _every_rectangle(ground)
    field, starts = _find_starts(ground, rng)
    best = _improve_best(field, starts, ground.limits, rng) if starts[0].complete else None
    method = "auto"
    if complete is not None:
        answer = solve_exactly(complete, field.bits, best, max(ground.limits.exact_work, 1.0), seed)
        if answer.infeasible:
            return _failure(problem, starts[0], proven=True)
        best, method = answer.layout or best, "auto, complete CP-SAT"
        bound = max(bound, float(np.ceil(answer.twice_bound - 1e-6)) / 2)
    elif best is not None and ground.limits.exact_work and field.count <= ground.limits.exact_modules:
        best = _polish(field, best, ground.limits, seed)
    if best is None:
        return _failure(problem, starts[0], proven=False)
    return _solution(problem, best, bound, method)


def _survey(problem: PlacementProblem) -> Ground | PlacementFailure:
    """Compute grids and rectangles, or return the proof that some slot cannot hold its modules."""
    for slot in problem.slots:
        modules = [module for module in problem.modules if module.slot == slot.name]
        reason = overfull(problem, slot, modules)
        if reason is not None:
            names = tuple(module.name for module in modules)
            return PlacementFailure(
                slot.name, names, reason, proven=True, stats=SolveStats("auto", "infeasible")
            )
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
    return Ground(problem, needs, module_grids, rects, LIMITS[problem.effort])


def _every_rectangle(ground: Ground) -> list[IntArray] | None:
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


def _find_starts(ground: Ground, rng: np.random.Generator) -> tuple[Field, list[Layout]]:
    """Return layouts, best first; complete ones if any was found, with shapes freed where a slot needed it."""
    problem = ground.problem
    bits, rivals = wire_bits(problem), _rivals(problem)
    aspects = [None] if problem.max_aspect is None else [problem.max_aspect, 2 * problem.max_aspect, None]
    level = dict.fromkeys((module.slot for module in problem.modules), 0)
    while True:
        allowed = [aspects[level[module.slot]] for module in problem.modules]
        shapes = (
            Shapes.of(compact(rects, aspect)) for rects, aspect in zip(ground.rects, allowed, strict=True)
        )
        field = Field(tuple(shapes), bits, rivals)
        starts = _attempts(ground, field, rng)
        short = {
            module.slot
            for module, placed in zip(problem.modules, starts[0].placed, strict=True)
            if not placed
        }
        tight = sorted(slot for slot in short if level[slot] + 1 < len(aspects))
        if not tight:
            return field, starts
        level.update({slot: level[slot] + 1 for slot in tight})


def _rivals(problem: PlacementProblem) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return, (n, n), which pairs of different modules could overlap."""
    regions = [problem.slot_of[module.slot].region for module in problem.modules]
    meets = np.array([[a.overlaps(b) for b in regions] for a in regions], dtype=np.bool_)
    return meets.reshape(len(regions), len(regions)) & ~np.eye(len(regions), dtype=np.bool_)


def _attempts(ground: Ground, field: Field, rng: np.random.Generator) -> list[Layout]:
    """Return the layouts of all starts, best first; if none is complete, the nearest ones after making room."""
    problem = ground.problem
    orders = _orders(field)
    layouts = [construct(field, order, anchor) for order in orders for anchor in _anchors(problem)]
    for count in range(1, MAX_SHELVES + 1):
        bands = [
            band
            for slot in problem.slots
            for band in bands_of(slot.region.bottom, slot.region.top, problem.device.row_step, count)
        ]
        layouts += [shelves(field, order, bands) for order in orders]
    layouts.sort(key=lambda layout: _merit(field, layout))
    if layouts[0].complete:
        return [layout for layout in layouts if layout.complete]
    repaired: list[Layout] = []
    for layout in layouts[: ground.limits.improved_starts]:
        repaired.append(make_room(field, layout, ground.limits.repair_rounds, rng))
        if repaired[-1].complete:
            return repaired[-1:]
    return sorted(repaired, key=lambda layout: _merit(field, layout))


def _merit(field: Field, layout: Layout) -> tuple[int, int]:
    """Order layouts: unplaced area first, then wirelength."""
    missing = sum(int(field.shapes[module].area.min()) for module in np.flatnonzero(~layout.placed))
    return missing, twice_hpwl(layout, field.bits)


def _orders(field: Field) -> list[list[int]]:
    """Return module orders: as given (dataflow), by strongest tie to those before, largest first."""
    given = list(range(field.count))
    largest = sorted(given, key=lambda module: -int(field.shapes[module].area.min()))
    tied: list[int] = []
    waiting = given.copy()
    while waiting:
        tie = field.bits[np.ix_(waiting, tied)].sum(axis=1) if tied else np.zeros(len(waiting))
        tied.append(waiting.pop(int(np.argmax(tie))))
    return [list(order) for order in dict.fromkeys(map(tuple, (given, tied, largest)))]


def _anchors(problem: PlacementProblem) -> list[tuple[int, int]]:
    """Return twice the corners and the centre of what the slots cover."""
    regions = sides_of(slot.region for slot in problem.slots)
    left, bottom = regions[:, :2].min(axis=0).tolist()
    right, top = regions[:, 2:].max(axis=0).tolist()
    corners = [(2 * x, 2 * y) for x in (left, right) for y in (bottom, top)]
    return [*corners, (left + right, bottom + top)]


def _improve_best(field: Field, starts: Sequence[Layout], limits: Limits, rng: np.random.Generator) -> Layout:
    rounds = limits.improve_rounds * (10 + field.count) // 10
    found = [improve(field, start, rounds, rng) for start in starts[: limits.improved_starts]]
    return min(found, key=lambda layout: twice_hpwl(layout, field.bits))


def _polish(field: Field, best: Layout, limits: Limits, seed: int) -> Layout:
    """Let CP-SAT choose among the incumbent and the rectangles that its neighbours would like best."""
    candidates = []
    for module, shapes in enumerate(field.shapes):
        key = pull(field, best, module, field.bits[module]) * AREA_UNIT + shapes.area
        near = shapes.rects[np.argsort(key, kind="stable")[: limits.exact_candidates]]
        candidates.append(np.unique(np.concatenate((near, best.boxes[module][None, :])), axis=0))
    answer = solve_exactly(candidates, field.bits, best, limits.exact_work, seed)
    return answer.layout or best


def _solution(problem: PlacementProblem, layout: Layout, bound: float, method: str) -> PlacementSolution:
    rectangles = {
        module.name: Rect(*map(int, box)) for module, box in zip(problem.modules, layout.boxes, strict=True)
    }
    hpwl = hpwl_of(rectangles, problem.wires)
    status: Status = "optimal" if hpwl <= bound else "feasible"
    congestion = congestion_of(problem.device, rectangles, problem.wires)
    return PlacementSolution(rectangles, hpwl, congestion, SolveStats(method, status, hpwl, min(bound, hpwl)))


def _failure(problem: PlacementProblem, layout: Layout, *, proven: bool) -> PlacementFailure:
    """Name the first slot with modules that found no room (all its modules if the proof is about the whole)."""
    waiting = [module for module, placed in zip(problem.modules, layout.placed, strict=True) if not placed]
    slot = waiting[0].slot
    names = tuple(module.name for module in waiting if module.slot == slot)
    if proven:
        reason = f"no choice among all legal rectangles places the modules without overlap; {slot} is short of room"
        return PlacementFailure(slot, names, reason, proven=True, stats=SolveStats("auto", "infeasible"))
    reason = f"no room found in {slot} for {', '.join(names)} beside the other modules; it may exist"
    return PlacementFailure(slot, names, reason, proven=False, stats=SolveStats("auto", "heuristic"))
