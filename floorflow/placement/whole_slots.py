"""Modules that have a slot to themselves and fit no single rectangle get all that is free there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from floorflow.hardware.free_region import free_rectangles, free_supply, max_pblocks
from floorflow.placement.bounds.wires import need_of
from floorflow.placement.preparing import solved, wire_bound
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
        return Wire(source, target, wire.width_bits)

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
