"""Rectangles that modules must have: the others are placed around them, as around keep-outs.

Whether rectangles can be those of pblocks at all is a matter of input, and refused as such. That one does not hold its
module is a proof that there is no placement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from floorflow.errors import InputError, Refusal
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.placement.bounds.wires import need_of
from floorflow.placement.problem import PlacedModule, PlacementProblem, PlacementSolution, Region
from floorflow.placement.whole_slots import with_regions, without
from floorflow.resources import RESOURCE_NAMES


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

    Raises
    ------
    InputError
        If a rectangle can be no pblock of its module's slot, or two overlap.

    """
    for (name, rect), (other, beside) in combinations(problem.fixed.items(), 2):
        if rect.overlaps(beside):
            raise InputError(f"the pblocks that are fixed for {name} and {other} overlap")
    short = []
    for module in _fixed(problem):
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


def _fixed(problem: PlacementProblem) -> Iterator[PlacedModule]:
    return (module for module in problem.modules if module.name in problem.fixed)
