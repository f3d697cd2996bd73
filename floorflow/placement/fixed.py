"""Modules whose region is known before the others are placed, around them as around keep-outs.

Some must have a rectangle. Whether rectangles can be those of pblocks at all is a matter of input, and refused as such;
that one does not hold its module is a proof that there is no placement. Modules that have a slot to themselves and fit
no single rectangle get all that is free there. Others had a rectangle before, and can stay in it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from floorflow.errors import InputError, Refusal
from floorflow.hardware.free_region import free_rectangles, free_supply, max_pblocks
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.placement.bounds.wires import need_of
from floorflow.placement.objective import solved, wire_bound
from floorflow.placement.problem import (
    PlacedModule,
    PlacementProblem,
    PlacementSolution,
    Region,
    Wire,
    hpwl_of,
    point_of,
)
from floorflow.resources import RESOURCE_NAMES, scaled_down


def whole_slots(problem: PlacementProblem) -> dict[str, Region]:
    """Return the regions, by module, of those that need all of their slot; none of one that even this does not hold."""
    alone = Counter(module.slot for module in problem.modules)
    return {
        module.name: free_rectangles(problem.device, problem.slot_of[module.slot])
        for module in problem.modules
        if alone[module.slot] == 1 and _needs_all(problem, module)
    }


def without(problem: PlacementProblem, regions: Mapping[str, Region]) -> PlacementProblem:
    """Return the problem of the other modules; their wires to those that have a region end in its middle."""

    def shortened(wire: Wire) -> Wire:
        source, target = (point_of(end, regions) if end in regions else end for end in (wire.source, wire.target))
        return replace(wire, source=source, target=target)

    wires = tuple(shortened(wire) for wire in problem.wires)
    return replace(
        problem,
        modules=tuple(module for module in problem.modules if module.name not in regions),
        wires=tuple(wire for wire in wires if wire.modules),
        hints={name: rect for name, rect in problem.hints.items() if name not in regions},
        fixed={name: rect for name, rect in problem.fixed.items() if name not in regions},
        previous={name: rect for name, rect in problem.previous.items() if name not in regions},
        alike=tuple(tuple(name for name in group if name not in regions) for group in problem.alike),
    )


def together(problem: PlacementProblem, regions: Mapping[str, Region], others: PlacementSolution) -> PlacementSolution:
    """Return the solution of all modules: of those with a region, and of the others."""
    told = f"{len(regions)} of {len(problem.modules)} modules over their whole slot"
    return with_regions(problem, regions, others, told)


def with_regions(
    problem: PlacementProblem, regions: Mapping[str, Region], others: PlacementSolution, told: str
) -> PlacementSolution:
    """Return the solution of modules that have a region whatever is chosen, and of the others; ``told`` says which."""
    found = {**others.regions, **regions}
    placed = {module.name: found[module.name] for module in problem.modules}
    # The wires that end at these modules alone are as long as they must be.
    known = wire_bound(others, problem.weights) if problem.weights.wire else None
    bound = None if known is None else known + hpwl_of(placed, problem.wires) - others.hpwl
    return solved(problem, placed, bound, f"{others.stats.method}, {told}")


def _needs_all(problem: PlacementProblem, module: PlacedModule) -> bool:
    """Whether a module fits its slot's free region and no rectangle in it."""
    device, slot = problem.device, problem.slot_of[module.slot]
    fill, need = {name: problem.fill.get(name, 1.0) for name in RESOURCE_NAMES}, need_of(problem, module)
    if any((need <= np.array(supply.as_tuple())).all() for supply in max_pblocks(device, slot)):
        return False
    return module.demand.fits(scaled_down(free_supply(device, slot), fill))


def what_is_illegal(problem: PlacementProblem, slot: Slot, rect: Rect) -> str:
    """Return why a rectangle can be no pblock of a slot, empty if it can."""
    device, step = problem.device, problem.device.row_step
    if not slot.region.contains(rect):
        return f"does not lie in {slot.name}"
    if rect.left not in device.left_edges or rect.right not in device.right_edges:
        return "cuts columns that no pblock may part"
    if rect.bottom % step or (rect.top + 1) % step:
        return f"starts or ends at no multiple of {step} rows"
    if any(rect.overlaps(hole) for hole in slot.keep_outs):
        return "overlaps a keep-out"
    return ""


def what_is_short(problem: PlacementProblem, module: PlacedModule, rect: Rect) -> Refusal | None:
    """Return of what a rectangle holds too little for a module, None if it holds enough."""
    supply, need = problem.device.resources(rect).as_tuple(), need_of(problem, module).tolist()
    for name, have, wanted in zip(RESOURCE_NAMES, supply, need, strict=True):
        if wanted > have:
            return Refusal("fixed pblock", name, module.slot, wanted, have, proven=True, names=(module.name,))
    return None


def fixed_regions(problem: PlacementProblem) -> dict[str, Region] | Refusal:
    """Return the regions of the modules that are fixed, or why one cannot be there.

    Raises InputError if a rectangle can be no pblock of its module's slot, or two overlap.
    """
    for (name, rect), (other, beside) in combinations(problem.fixed.items(), 2):
        if rect.overlaps(beside):
            raise InputError(f"the pblocks that are fixed for {name} and {other} overlap")
    short = []
    for module in problem.modules:
        if module.name not in problem.fixed:
            continue
        rect = problem.fixed[module.name]
        why = what_is_illegal(problem, problem.slot_of[module.slot], rect)
        if why:
            raise InputError(f"the pblock that is fixed for {module.name} {why}")
        short.append(what_is_short(problem, module, rect))
    refusal = next((one for one in short if one is not None), None)
    return refusal or {name: (rect,) for name, rect in problem.fixed.items()}


def around(problem: PlacementProblem, regions: Mapping[str, Region]) -> PlacementProblem:
    """Return the problem of the other modules, to which those that have a region are keep-outs."""
    rects = [rect for region in regions.values() for rect in region]
    slots = (replace(s, keep_outs=(*s.keep_outs, *(r for r in rects if r.overlaps(s.region)))) for s in problem.slots)
    return replace(without(problem, regions), slots=tuple(slots))


def with_fixed(
    problem: PlacementProblem, regions: Mapping[str, Region], others: PlacementSolution
) -> PlacementSolution:
    """Return the solution of all modules: of those that are fixed, and of the others around them."""
    return with_regions(problem, regions, others, f"{len(regions)} fixed")


def at_home(problem: PlacementProblem) -> tuple[str, ...]:
    """Return the modules that can stay in their previous rectangles, which hold them and clash with nothing."""
    homes: dict[str, Rect] = {}
    for module in problem.modules:
        rect = problem.previous.get(module.name)
        if rect is not None and _holds(problem, module, rect) and not any(map(rect.overlaps, homes.values())):
            homes[module.name] = rect
    return tuple(homes)


def stayed(previous: Mapping[str, Rect], found: PlacementSolution) -> tuple[str, ...]:
    """Return the modules that have exactly the rectangle that they had."""
    return tuple(name for name, region in found.regions.items() if region == (previous.get(name),))


def _holds(problem: PlacementProblem, module: PlacedModule, rect: Rect) -> bool:
    slot = problem.slot_of[module.slot]
    return not what_is_illegal(problem, slot, rect) and what_is_short(problem, module, rect) is None
