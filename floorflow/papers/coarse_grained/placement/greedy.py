"""Method ``greedy``: one module after another, as the coarse-grained floorplanning paper does it (`one_by_one`).

Where some module finds no room in this way, the shortest first layout of `auto` is the answer, and the method says so.
"""

import numpy as np

from floorflow.placement.construction.one_by_one import place_one_by_one
from floorflow.placement.construction.several_ways import construct_layouts
from floorflow.placement.layout import Layout
from floorflow.placement.preparing import failure, least_wirelength, method_name, prepare, solution
from floorflow.placement.problem import Limits, PlacementFailure, PlacementProblem, PlacementSolution


def solve(problem: PlacementProblem, limits: Limits, seed: int) -> PlacementSolution | PlacementFailure:
    """Place the modules one by one."""
    if not problem.modules:
        return solution(problem, Layout.empty(0), 0.0, "greedy")
    prepared = prepare(problem, limits, "greedy")
    if isinstance(prepared, PlacementFailure):
        return prepared
    built = construct_layouts(problem, prepared.rects, limits, np.random.default_rng(seed))
    if not built.layouts:
        return failure(problem, built, "greedy", proven=False)
    layout, method = place_one_by_one(built.space), method_name("greedy", built.aspects)
    if layout is None:
        layout, method = built.layouts[0], f"{method}, no room one by one: constructed otherwise"
    return solution(problem, layout, least_wirelength(prepared, built.aspects), method)
