"""Method ``auto``: construct, repair if need be, improve, polish with CP-SAT, bound.

1. What is proven impossible is said at once (`bound`).
2. Candidate rectangles, compact ones first; aspects are freed step by step where nothing fits otherwise.
3. Several first layouts: modules one by one in several orders; for slots that are not whole in any, shelves, slicing,
   repair, and packing at last.
4. The best is annealed, over the smallest rectangles first, then over those of every span; a draft is improved by a
   short large-neighbourhood search. Effort ``best`` adds CP-SAT over the rectangles near the incumbent. Where all legal rectangles are few and aspects are not limited, CP-SAT sees every one and its bound
   counts. Else the bound is that of `bound`, over all rectangles of the aspects that the search was allowed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.errors import Refusal
from floorflow.hardware.geometry import Rect
from floorflow.placement.annealing import Cooling, anneal
from floorflow.placement.bound import (
    extent_of,
    fits_nowhere,
    legal_rectangles,
    narrowest_rectangles,
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
from floorflow.placement.construction import Construction, construct_layouts
from floorflow.placement.effort import Limits
from floorflow.placement.exact import solve_exactly
from floorflow.placement.lns import CandidateRectangles, Layout, SearchSpace, improve, twice_hpwl
from floorflow.placement.net_arrays import net_arrays
from floorflow.placement.problem import PlacementFailure, PlacementProblem, PlacementSolution, hpwl_of
from floorflow.stats import SolveStats, Status


@dataclass(frozen=True)
class PreparedProblem:
    """What is known before any search: by module the needs, the slot's grid and all narrowest rectangles."""

    problem: PlacementProblem
    needs: Sequence[IntArray]
    grids: Sequence[SlotGrid]
    rects: Sequence[IntArray]
    limits: Limits


def solve(problem: PlacementProblem, limits: Limits, seed: int) -> PlacementSolution | PlacementFailure:
    """Place all modules, or say what cannot be placed. See the module's docstring for the steps."""
    if not problem.modules:
        return _solution(problem, Layout.empty(0), 0.0, "auto")
    prepared = _prepare(problem, limits)
    if isinstance(prepared, PlacementFailure):
        return prepared
    rng = np.random.default_rng(seed)
    complete = _every_rectangle(prepared)
    built = construct_layouts(problem, prepared.rects, prepared.limits, rng)
    if not built.layouts and complete is None:
        return _failure(problem, built, proven=False)
    space, method, bound = built.space, _method(built.aspects), _bound(prepared, built.aspects)
    best = _improved(prepared, built, rng, seed) if built.layouts else None
    if complete is not None:
        work = max(limits.polish_work, limits.complete_work)
        answer = solve_exactly(complete, space.nets, best, work, seed)
        if answer.infeasible:
            return _failure(problem, built, proven=True)
        best, method = answer.layout or best, "auto, complete CP-SAT"
        bound = max(bound, float(np.ceil(answer.twice_bound - 1e-6)) / 2)
    elif best is not None and prepared.limits.polish_work:
        best = _polish(space, best, prepared.limits, seed)
    if best is None:
        return _failure(problem, built, proven=False)
    return _solution(problem, best, bound, method)


def _bound(prepared: PreparedProblem, aspects: Sequence[float | None]) -> float:
    """Bound the wirelength over every legal rectangle of the allowed aspects."""
    problem, grids = prepared.problem, _every_span(prepared.problem)
    triples = zip(problem.modules, prepared.needs, aspects, strict=True)
    legal = [legal_rectangles(grids[module.slot], need, aspect) for module, need, aspect in triples]
    nets = net_arrays(problem)
    to_pins = (pin_bound(module, nets.pins, bits) for module, bits in zip(legal, nets.pin_bits, strict=True))
    return wire_bound(nets, [extent_of(module) for module in legal]) + sum(to_pins)


def _every_span(problem: PlacementProblem) -> dict[str, SlotGrid]:
    """Return the grids, with every legal span, of the slots that have modules."""
    used = sorted({module.slot for module in problem.modules})
    return {name: slot_grid(problem.device, problem.slot_of[name], every_span=True) for name in used}


def _method(aspects: Sequence[float | None]) -> str:
    """Name the method with the rule on aspects that the bound assumes."""
    limits = [aspect for aspect in aspects if aspect is not None]
    if not limits:
        return "auto"
    exempt = len(aspects) - len(limits)
    free = f", {exempt} of {len(aspects)} modules free" if exempt else ""
    return f"auto, pblocks within {max(limits):g}:1{free}"


def _prepare(problem: PlacementProblem, limits: Limits) -> PreparedProblem | PlacementFailure:
    """Compute grids and rectangles, or return the proof that some slot cannot hold its modules."""
    for slot in problem.slots:
        modules = [module for module in problem.modules if module.slot == slot.name]
        refusal = overfull(problem, slot, modules)
        if refusal is not None:
            return PlacementFailure(refusal, SolveStats("auto", "infeasible"))
    used = {module.slot for module in problem.modules}
    grids = {name: slot_grid(problem.device, problem.slot_of[name]) for name in sorted(used)}
    needs = needs_of(problem)
    module_grids, rects = [], []
    for module, need in zip(problem.modules, needs, strict=True):
        slot, grid = problem.slot_of[module.slot], grids[module.slot]
        narrow = candidate_rectangles(grid, need)
        if not len(narrow) and not grid.complete:
            grid = slot_grid(problem.device, slot, every_span=True)
            narrow = candidate_rectangles(grid, need)
        if not len(narrow):
            refusal = fits_nowhere(problem, slot, module, need)
            return PlacementFailure(refusal, SolveStats("auto", "infeasible"))
        module_grids.append(grid)
        rects.append(narrow)
    return PreparedProblem(problem, needs, module_grids, rects, limits)


def _every_rectangle(prepared: PreparedProblem) -> list[IntArray] | None:
    """Return all legal rectangles of each module if aspects are not limited and there are few, else None."""
    problem, left, legal = prepared.problem, prepared.limits.complete_limit, []
    if problem.max_aspect is not None:
        return None
    for grid, need in zip(prepared.grids, prepared.needs, strict=True):
        rects = every_rectangle(grid, need, left) if grid.complete else None
        if rects is None:
            return None
        legal.append(rects)
        left -= len(rects)
    return legal


def _improved(prepared: PreparedProblem, built: Construction, rng: np.random.Generator, seed: int) -> Layout:
    """Shorten the wires of the layouts that were built; return the best."""
    limits, space, count = prepared.limits, built.space, built.space.count
    if prepared.problem.draft or not limits.tight_rounds:
        return _improve_best(space, built.layouts, limits, rng)
    tight = Cooling(_rounds(limits.tight_rounds, count), max(0.08, min(0.2, 2.0 / count)), 0.002)
    layout = anneal(space, built.layouts[0], tight, seed)
    every = Cooling(_rounds(limits.every_rounds, count), 0.4 / count, 0.002 / count)
    return anneal(_with_every_span(prepared, built), layout, every, seed)


def _rounds(by_module: int, count: int) -> int:
    """Return rounds of annealing: a few modules get more each."""
    return int(by_module * min(4 * count, count + 20))


def _with_every_span(prepared: PreparedProblem, built: Construction) -> SearchSpace:
    """Return the space of the narrowest rectangle of every span and left edge, of the aspects in force.

    Many contain a smaller one: they are for what has to be level with others.
    """
    problem, grids, space = prepared.problem, _every_span(prepared.problem), built.space
    candidates = []
    modules = zip(problem.modules, prepared.needs, built.aspects, space.candidates, strict=True)
    for module, need, aspect, smallest in modules:
        if aspect is None and problem.max_aspect is not None:
            candidates.append(smallest)
            continue
        rects = narrowest_rectangles(legal_rectangles(grids[module.slot], need, aspect))
        candidates.append(CandidateRectangles.of(rects, smallest.raster))
    return SearchSpace(tuple(candidates), space.nets, space.may_overlap)


def _improve_best(space: SearchSpace, layouts: Sequence[Layout], limits: Limits, rng: np.random.Generator) -> Layout:
    rounds = limits.improve_rounds * min(3 * space.count, 20 + space.count) // 30
    starts = itertools.islice(itertools.cycle(layouts), limits.improved_starts)
    improved = [improve(space, start, rounds, rng) for start in starts]
    return min(improved, key=lambda layout: twice_hpwl(layout, space.nets))


def _polish(space: SearchSpace, best: Layout, limits: Limits, seed: int) -> Layout:
    """Let CP-SAT choose among the rectangles whose sides are nearest to the incumbent's."""
    near_rectangles = []
    for box, candidates in zip(best.boxes, space.candidates, strict=True):
        order = np.argsort(np.abs(candidates.rects - box).sum(axis=1), kind="stable")
        near = candidates.rects[order[: limits.polish_candidates]]
        near_rectangles.append(np.unique(np.concatenate((near, box[None, :])), axis=0))
    return solve_exactly(near_rectangles, space.nets, best, limits.polish_work, seed).layout or best


def _solution(problem: PlacementProblem, layout: Layout, bound: float, method: str) -> PlacementSolution:
    rectangles = (Rect(*map(int, box)) for box in layout.boxes)
    regions = {module.name: (rect,) for module, rect in zip(problem.modules, rectangles, strict=True)}
    hpwl = hpwl_of(regions, problem.wires)
    status: Status = "optimal" if hpwl <= bound else "feasible"
    congestion = congestion_of(problem.device, regions, problem.wires)
    return PlacementSolution(regions, hpwl, congestion, SolveStats(method, status, hpwl, bound))


def _failure(problem: PlacementProblem, built: Construction, *, proven: bool) -> PlacementFailure:
    """Name a slot and its modules that were not placed."""
    waiting = [problem.modules[module] for module in built.without_room]
    slot = waiting[0].slot
    names = tuple(module.name for module in waiting if module.slot == slot)
    if proven:
        refusal = Refusal("overlap", place=slot, proven=True, names=names)
        return PlacementFailure(refusal, SolveStats("auto", "infeasible"))
    return PlacementFailure(Refusal("no room", place=slot, names=names), SolveStats("auto", "heuristic"))
