"""What every placement method begins and ends with: needs, grids and rectangles; bound, solution and failure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from floorflow.errors import Refusal
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.placement.bounds.trees import Places, trees_bound
from floorflow.placement.bounds.wires import (
    Legal,
    extent_of,
    fits_nowhere,
    least_cells,
    least_twice_distance,
    legal_rectangles,
    needs_of,
    overfull,
    pin_bound,
)
from floorflow.placement.complete import solve_completely
from floorflow.placement.construction.several_ways import Construction
from floorflow.placement.layout import Layout, NetArrays, net_arrays
from floorflow.placement.objective import solved
from floorflow.placement.problem import Limits, PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.placement.rectangles.candidate_rectangles import IntArray, SlotGrid, candidate_rectangles, slot_grid
from floorflow.placement.rectangles.legal_sides import LegalSides
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class PreparedProblem:
    """What is known before any search: by module the needs, the slot's grid and all narrowest rectangles."""

    problem: PlacementProblem
    needs: Sequence[IntArray]
    grids: Sequence[SlotGrid]
    rects: Sequence[IntArray]
    limits: Limits

    @cached_property
    def every_span(self) -> dict[str, SlotGrid]:
        """The grids, with every legal span, of the slots that have modules."""
        problem, used = self.problem, sorted({module.slot for module in self.problem.modules})
        return {name: slot_grid(problem.device, problem.slot_of[name], every_span=True) for name in used}

    def legal(self, module: int, aspect: float | None) -> Legal:
        """Return a module's legal rectangles of an aspect."""
        return legal_rectangles(self.every_span[self.problem.modules[module].slot], self.needs[module], aspect)


def prepare(problem: PlacementProblem, limits: Limits, name: str) -> PreparedProblem | PlacementFailure:
    """Compute grids and rectangles, or return the proof that some slot cannot hold its modules."""
    for slot in problem.slots:
        modules = [module for module in problem.modules if module.slot == slot.name]
        refusal = overfull(problem, slot, modules)
        if refusal is not None:
            return PlacementFailure(refusal, SolveStats(name, "infeasible"))
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
            return PlacementFailure(refusal, SolveStats(name, "infeasible"))
        module_grids.append(grid)
        rects.append(narrow)
    return PreparedProblem(problem, needs, module_grids, rects, limits)


def legal_of(prepared: PreparedProblem, aspects: Sequence[float | None]) -> list[Legal]:
    """Return each module's legal rectangles of the allowed aspects."""
    return [prepared.legal(module, aspect) for module, aspect in enumerate(aspects)]


def legal_sides_of(prepared: PreparedProblem, aspects: Sequence[float | None]) -> list[LegalSides]:
    """Return each module's legal rectangles of the allowed aspects as rules for their sides."""
    problem = prepared.problem
    return [
        LegalSides.of(prepared.every_span[module.slot], need, aspect, problem.device.row_step)
        for module, need, aspect in zip(problem.modules, prepared.needs, aspects, strict=True)
    ]


def least_wirelength(prepared: PreparedProblem, aspects: Sequence[float | None]) -> float:
    """Bound the wirelength over every legal rectangle of the allowed aspects: by each wire alone, and along trees."""
    problem, legal = prepared.problem, legal_of(prepared, aspects)
    nets, extents = net_arrays(problem), [extent_of(module) for module in legal]
    alone = sum(pin_bound(module, nets.pins, bits) for module, bits in zip(legal, nets.pin_bits, strict=True))
    for (a, b), bits in zip(nets.pairs.T.tolist(), nets.pair_bits.tolist(), strict=True):
        alone += bits * least_twice_distance(extents[a], extents[b]) / 2
    if problem.draft:
        return alone
    return max(alone, trees_bound(nets, places_of(prepared, aspects, legal)))


def places_of(prepared: PreparedProblem, aspects: Sequence[float | None], legal: Sequence[Legal]) -> list[Places]:
    """Return the places of each module; those that need the same have the same."""
    problem, found = prepared.problem, {}
    kinds = [
        (module.slot, tuple(need.tolist()), aspect)
        for module, need, aspect in zip(problem.modules, prepared.needs, aspects, strict=True)
    ]
    for kind, each in zip(kinds, legal, strict=True):
        if kind not in found:
            found[kind] = Places.of(each, problem.device.row_step)
    return [found[kind] for kind in kinds]


def method_name(name: str, aspects: Sequence[float | None]) -> str:
    """Return the method's name with the rule on aspects that the bound assumes."""
    limits = [aspect for aspect in aspects if aspect is not None]
    if not limits:
        return name
    exempt = len(aspects) - len(limits)
    free = f", {exempt} of {len(aspects)} modules free" if exempt else ""
    return f"{name}, pblocks within {max(limits):g}:1{free}"


def solution(problem: PlacementProblem, layout: Layout, bound: float, method: str) -> PlacementSolution:
    """Return the solution that a complete layout is; ``bound`` is one of the wirelength."""
    rectangles = (Rect(*map(int, box)) for box in layout.boxes)
    regions = {module.name: (rect,) for module, rect in zip(problem.modules, rectangles, strict=True)}
    return solved(problem, regions, bound, method)


def failure(problem: PlacementProblem, built: Construction, name: str, *, proven: bool) -> PlacementFailure:
    """Name a slot and its modules that were not placed."""
    waiting = [problem.modules[module] for module in built.without_room]
    slot = waiting[0].slot
    names = tuple(module.name for module in waiting if module.slot == slot)
    if proven:
        refusal = Refusal("overlap", place=slot, proven=True, names=names)
        return PlacementFailure(refusal, SolveStats(name, "infeasible"))
    return PlacementFailure(Refusal("no room", place=slot, names=names), SolveStats(name, "heuristic"))


FULL = 0.6
"""Share of a slot's free cells that the least rectangles of its modules cover: below, trees alone say as much."""


def full_slots_bound(prepared: PreparedProblem, aspects: Sequence[float | None]) -> float:
    """Return a bound of the wirelength over every legal rectangle of the allowed aspects; 0 where the effort has none.

    CP-SAT proves how short the wires inside full slots of few modules can be, and trees bound all others: modules that
    fill a slot are not all near each other, which no bound knows that looks at some neighbours at a time. The wires
    inside slots, those to pins from there, and the rest have no wire in common, so that their bounds add up.
    The sum is below that of trees alone where CP-SAT has not work enough.
    """
    problem, limits = prepared.problem, prepared.limits
    if problem.draft or not limits.full_slot_work or len(problem.modules) <= limits.complete_modules:
        return 0.0
    nets, legal, rules = net_arrays(problem), legal_of(prepared, aspects), legal_sides_of(prepared, aspects)
    places, bits, pin_bits = places_of(prepared, aspects, legal), nets.bits.copy(), nets.pin_bits.copy()
    total = 0.0
    for modules in _full_slots(prepared, legal):
        inside = NetArrays.of(bits[np.ix_(modules, modules)], nets.pins, pin_bits[modules])
        meet, some = ~np.eye(len(modules), dtype=np.bool_), [rules[module] for module in modules]
        answer = solve_completely(some, inside, meet, twice_known=None, work_limit=limits.full_slot_work, seed=0)
        if answer.twice_bound / 2 > trees_bound(inside, [places[module] for module in modules]):
            total += answer.twice_bound / 2
            bits[np.ix_(modules, modules)], pin_bits[modules] = 0, 0
    return total + trees_bound(NetArrays.of(bits, nets.pins, pin_bits), places)


def _full_slots(prepared: PreparedProblem, legal: Sequence[Legal]) -> Iterator[list[int]]:
    """Yield the modules of each slot that is full and has few."""
    problem = prepared.problem
    for slot in problem.slots:
        modules = [number for number, module in enumerate(problem.modules) if module.slot == slot.name]
        if 2 <= len(modules) <= prepared.limits.full_slot_modules:
            cells = sum(least_cells(legal[module]) for module in modules)
            if cells >= FULL * _free_area(slot):
                yield modules


def _free_area(slot: Slot) -> int:
    """Return the columns times rows of a slot that no keep-out covers."""
    region = slot.region
    free = np.ones((region.rows, region.columns), dtype=np.bool_)
    for rect in slot.keep_outs:
        columns = slice(max(rect.left - region.left, 0), max(rect.right + 1 - region.left, 0))
        free[max(rect.bottom - region.bottom, 0) : max(rect.top + 1 - region.bottom, 0), columns] = False
    return int(free.sum())
