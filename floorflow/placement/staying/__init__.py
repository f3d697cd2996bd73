"""Place modules again so that few leave the rectangles that they had: for a plan whose areas changed a little.

1. Modules whose rectangles still hold them, and clash with nothing, are at home. The others take the place where they
   disturb least; who is ejected there does the same (`search`).
2. A few modules that lie near each other or share wires are taken out and put back, many times. To leave its home costs
   a module a price, a share of all wires, so that it moves only if the wires become shorter by more than that.
3. Wires may be `WITHIN` longer than those of a placement from scratch; what is more counts `PENALTY` times. The search
   begins near the old places, from scratch, and from scratch where something changed with the rest at home. Where no
   layout is short enough, the one from scratch is the answer.
4. CP-SAT looks for a layout in which more stay, or proves that no more can (`most`).

Drafts are not held against a placement from scratch. Equal arguments give equal answers.
"""

from __future__ import annotations

from dataclasses import replace

from floorflow.placement.fixed import at_home, stayed
from floorflow.placement.layout import Layout, twice_hpwl
from floorflow.placement.preparing import PreparedProblem, legal_sides_of, prepare, solution
from floorflow.placement.problem import Limits, PlacementProblem, PlacementSolution
from floorflow.placement.rectangles.candidate_rectangles import aspect_of, sides_of
from floorflow.placement.staying.most import FreeModules, MostStaying, most_that_stay
from floorflow.placement.staying.search import WITHIN, Near
from floorflow.stats import Status

PROOF_SHARE = 0.5
"""Work of a proof, of what one gets that a placement is the shortest."""
PROVEN = ", the most that can be"
"""What is told where no more can stay."""


def place_near(
    problem: PlacementProblem, limits: Limits, seed: int, scratch: PlacementSolution | None
) -> tuple[PlacementSolution | None, int]:
    """Return a placement in which few modules leave their previous rectangles, and no more than how many can stay.

    None if no placement is near and short enough. ``scratch``: the placement that counts as short, and whose bound
    holds; None of a draft. The number holds for wires within their limit, and rectangles of the aspect that the
    placement from scratch needed.
    """
    prepared = prepare(problem, limits, "near")
    if not isinstance(prepared, PreparedProblem):
        return None, len(at_home(problem))
    most = problem.max_aspect
    for aspect in (most,) if most is None else (most, 2 * most, None):
        near = Near.of(prepared, seed, scratch, aspect)
        start = near.started()
        if start is not None:
            break
    best = None if start is None else near.improved(start)
    for other in near.from_scratch():
        if best is None or near.merit(best)[:2] > (0, 0):
            best = min((one for one in (best, near.improved(other)) if one is not None), key=near.merit)
    if best is None or near.excess(twice_hpwl(best, near.space.nets)):
        return None, len(at_home(problem))
    if scratch is None:
        return _told(problem, best, None, None), len(at_home(problem))
    answer = _most(prepared, near, best, scratch)
    found = _told(problem, answer.layout or best, scratch, answer.most)
    return found, answer.most


def _most(prepared: PreparedProblem, near: Near, best: Layout, scratch: PlacementSolution) -> MostStaying:
    problem = prepared.problem
    rules = legal_sides_of(prepared, [_aspect(problem, scratch)] * len(problem.modules))
    every = FreeModules(rules, near.space.nets, near.space.may_overlap, near.boxes)
    return most_that_stay(every, best, int(near.most), PROOF_SHARE * prepared.limits.proof_work, near.seed)


def _aspect(problem: PlacementProblem, scratch: PlacementSolution) -> float | None:
    """Return the aspect that the placement from scratch needed: the one asked for, its double or any."""
    most = problem.max_aspect
    longest = aspect_of(sides_of(rect for region in scratch.regions.values() for rect in region)).max()
    return next((limit for limit in (most, most and 2 * most) if limit is not None and longest <= limit), None)


def _told(
    problem: PlacementProblem, layout: Layout, scratch: PlacementSolution | None, most: int | None
) -> PlacementSolution:
    method = "draft" if scratch is None else scratch.stats.method
    found = solution(problem, layout, 0.0, method)
    count = len(stayed(problem.previous, found))
    told = f"{method}, {count} of {len(problem.modules)} where they were{PROVEN if count == most else ''}"
    # Homes may be of other aspects than those that the bound is of.
    objective, known = found.stats.objective or 0.0, None if scratch is None else scratch.stats.bound
    bound = None if known is None or known > objective else known
    status: Status = "optimal" if bound is not None and objective <= bound else "feasible"
    return replace(found, stats=replace(found.stats, method=told, bound=bound, status=status))
