"""Full slots of few modules: CP-SAT proves how short the wires inside can be, and trees bound all others.

Modules that fill a slot are not all near each other, which no bound knows that looks at some neighbours at a time. The
wires inside slots, those to pins from there, and the rest have no wire in common, so that their bounds add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from floorflow.placement.bounds.stars import Shapes, free_cells_by_row
from floorflow.placement.bounds.trees import trees_bound
from floorflow.placement.bounds.wires import Legal
from floorflow.placement.improvement.complete import solve_completely
from floorflow.placement.layouts.net_arrays import NetArrays, net_arrays
from floorflow.placement.preparing import PreparedProblem, legal_of, legal_sides_of, places_of

FULL = 0.6
"""Share of a slot's free cells that the least rectangles of its modules cover: below, trees alone say as much."""


def full_slots_bound(prepared: PreparedProblem, aspects: Sequence[float | None]) -> float:
    """Return a bound of the wirelength over every legal rectangle of the allowed aspects; 0 where the effort has none.

    It is below that of trees alone where CP-SAT has not work enough.
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
            cells = sum(Shapes.of(legal[module]).cells for module in modules)
            if cells >= FULL * int(free_cells_by_row(slot).sum()):
                yield modules
