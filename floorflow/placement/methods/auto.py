"""Method ``auto``: construct, repair if need be, improve, search with CP-SAT, bound.

1. What is proven impossible is said at once (`bounds`).
2. Candidate rectangles, compact ones first; aspects are freed step by step where nothing fits otherwise.
3. Several first layouts: modules one by one in several orders; for slots that are not whole in any, shelves, slicing,
   repair, and packing at last.
4. The best is annealed, over the smallest rectangles first, then over those of every span; where modules lie in several
   slots, each slot takes the best of several runs. A draft is improved by a short large-neighbourhood search. Of few
   modules, of many at effort ``best``, CP-SAT finds the best layout of the same order; of few then of all (`complete`),
   which proves it where the work suffices. Where all legal rectangles are few and aspects are not limited, CP-SAT sees
   every one and its bound counts. Else the bound is that of `bounds` and full slots, over all rectangles of the
   aspects that the search was allowed.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from floorflow.placement.annealing import Cooling, anneal
from floorflow.placement.bounds.wires import narrowest_rectangles
from floorflow.placement.complete import CompleteAnswer, solve_completely
from floorflow.placement.construction.one_by_one import place_one_by_one
from floorflow.placement.construction.several_ways import Construction, construct_layouts
from floorflow.placement.layout import CandidateRectangles, Layout, SearchSpace, parts_of, twice_hpwl
from floorflow.placement.lns import improve
from floorflow.placement.objective import Objective, counted
from floorflow.placement.preparing import (
    PreparedProblem,
    failure,
    full_slots_bound,
    least_wirelength,
    legal_sides_of,
    method_name,
    prepare,
    solution,
)
from floorflow.placement.problem import Limits, PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.placement.rectangles.candidate_rectangles import count_rectangles
from floorflow.placement.rectangles.legal_sides import LegalSides
from floorflow.solver import spread


def crossed(groups: Sequence[Sequence[int]], layouts: Sequence[Layout], cost: Callable[[Layout], float]) -> Layout:
    """Return the cheapest layout met when groups, in turn, take over what costs less of another layout.

    It starts from each of the complete ``layouts`` and ends where no group can gain by following another.
    """
    return min((_descended(groups, start, layouts, cost) for start in layouts), key=cost)


def _descended(
    groups: Sequence[Sequence[int]], start: Layout, layouts: Sequence[Layout], cost: Callable[[Layout], float]
) -> Layout:
    layout, lowest, stuck = start, cost(start), False
    while not stuck:
        stuck = True
        for group in groups:
            for other in layouts:
                trial = layout.copy()
                trial.boxes[group] = other.boxes[group]
                new = cost(trial)
                if new < lowest:
                    layout, lowest, stuck = trial, new, False
    return layout


STRICT = 1000.0
"""Times the weight of the reach that annealing goes on with."""
ROUNDS = 40
"""Rounds of it by module."""
HOT, COLD = (0.4, 0.02), 0.002
"""First and last temperatures of its runs, as shares of the wirelength by module."""
MOST_LONGER = 0.05
"""Share by which the objective of many modules may rise for fewer streams beyond their reach: a slice is cheaper."""
WORK = 5.0
"""Deterministic seconds of CP-SAT."""


def better(objective: Objective, limits: Limits, *layouts: Layout) -> Layout:
    """Return the layout with fewest streams beyond their reach, at the least cost.

    Of more modules than CP-SAT sees only among those that cost little more than the best.
    """
    ranks = [objective.rank(layout.boxes) for layout in layouts]
    least = min(cost for _, cost in ranks)
    few = len(layouts[0].boxes) <= limits.complete_modules
    some = [(rank, number) for number, rank in enumerate(ranks) if few or rank[1] <= (1 + MOST_LONGER) * least]
    return layouts[min(some)[1]]


@dataclass(frozen=True)
class Reaching:
    """The last step where streams inside an SLR are still beyond their reach: first the reach, then the rest.

    Annealing goes on from the best layout at a weight of the reach by which hardly anything else counts. Of many
    modules what it finds is taken only if it costs little more: a register slice is cheaper than long wires. Of few
    modules CP-SAT then looks, with the reach as a constraint, over all legal rectangles of the ``aspects`` in force: it
    finds a layout if there is one, where the work suffices. ``space`` are the rectangles that annealing takes.
    """

    prepared: PreparedProblem
    aspects: Sequence[float | None]
    space: SearchSpace
    objective: Objective
    seed: int

    def from_best(self, best: Layout) -> Layout:
        """Return a layout with fewer streams beyond their reach, if one is found; else the same."""
        best = self._better(best, self._annealed(best))
        if self.objective.rank(best.boxes)[0] and self.space.count <= self.prepared.limits.complete_modules:
            found = self._by_cpsat()
            if found is not None:
                best = self._better(best, found, self._annealed(found))
        return best

    def _better(self, *layouts: Layout) -> Layout:
        return better(self.objective, self.prepared.limits, *layouts)

    def _annealed(self, start: Layout) -> Layout:
        weights, count = self.objective.weights, self.space.count
        strict = replace(self.objective, weights=replace(weights, reach=STRICT * weights.reach))
        coolings = [Cooling(ROUNDS * count, hot / count, COLD / count) for hot in HOT]
        return self._better(*(anneal(self.space, start, cooling, self.seed, strict) for cooling in coolings))

    def _by_cpsat(self) -> Layout | None:
        """Return the shortest layout, as far as it is found, with no stream beyond its reach, if there is one."""
        space, rules = self.space, legal_sides_of(self.prepared, self.aspects)
        most = self.objective.most_inside
        return solve_completely(
            rules, space.nets, space.may_overlap, twice_known=None, work_limit=WORK, seed=self.seed, most=most
        ).layout


FEW = 12
"""Modules up to which it counts for more how they are level with each other than where they lie."""
STARTS = 3
"""Runs of annealing of which the best counts, of few modules from end to end: luck matters more than length."""
CROSSED = 12
"""Runs of more modules over the smallest rectangles: each slot then takes the best of them (`crossed`)."""

PROVEN_SHARE = 0.2
"""Share of annealing where CP-SAT then sees every legal rectangle, and finds what is missed."""
SEARCHED_SHARE = 0.3
"""The same where CP-SAT has not the time for all."""
FEW_SHARE = 0.5
"""The same of few modules that it does not see: twice as much shortens the wires by half a percent."""
ORDERS = 4
"""Orders of which the best layout is looked for, at most."""


def solve(problem: PlacementProblem, limits: Limits, seed: int) -> PlacementSolution | PlacementFailure:
    """Place all modules, or say what cannot be placed. See the module's docstring for the steps."""
    if not problem.modules:
        return solution(problem, Layout.empty(0), 0.0, "auto")
    prepared = prepare(problem, limits, "auto")
    if isinstance(prepared, PlacementFailure):
        return prepared
    rng = np.random.default_rng(seed)
    sees_all = _sees_all(prepared)
    built = construct_layouts(problem, prepared.rects, prepared.limits, rng)
    if built.layouts and not problem.draft:
        layouts = [each for each in (place_one_by_one(built.space), *built.layouts) if each is not None]
        built = replace(built, layouts=sorted(layouts, key=lambda each: twice_hpwl(each, built.space.nets)))
    if not built.layouts and not sees_all:
        return failure(problem, built, "auto", proven=False)
    space, method, bound = built.space, method_name("auto", built.aspects), least_wirelength(prepared, built.aspects)
    bound = max(bound, full_slots_bound(prepared, built.aspects))
    objective = counted(problem)
    best = _improved(prepared, built, rng, seed, objective) if built.layouts else None
    if sees_all:
        method = "auto, complete CP-SAT"
        known = None if best is None else twice_hpwl(best, space.nets)
        rules = legal_sides_of(prepared, [None] * space.count)
        answer = solve_completely(
            rules, space.nets, space.may_overlap, twice_known=known, work_limit=prepared.limits.complete_work, seed=seed
        )
        if answer.infeasible and best is None:
            return failure(problem, built, "auto", proven=True)
        best, bound = _better(space, objective, best, answer.layout), _raised(bound, answer, known)
    elif best is not None and not problem.draft:
        shorter, bound = _completed(prepared, built, best, bound, seed)
        best = _better(space, objective, best, shorter)
    if best is None:
        return failure(problem, built, "auto", proven=False)
    return solution(problem, _within_reach(prepared, built, objective, best, seed), bound, method)


def _within_reach(
    prepared: PreparedProblem, built: Construction, objective: Objective | None, best: Layout, seed: int
) -> Layout:
    """Return a layout with fewer streams beyond their reach, if there are such streams and one is found."""
    if objective is None or not objective.rank(best.boxes)[0]:
        return best
    return Reaching(prepared, built.aspects, _with_every_span(prepared, built), objective, seed).from_best(best)


def _completed(
    prepared: PreparedProblem, built: Construction, best: Layout, bound: float, seed: int
) -> tuple[Layout, float]:
    """Return the best layout over all legal rectangles, and its bound, as far as the work allows."""
    space, limits = built.space, prepared.limits
    most = max(limits.complete_modules, limits.searched_modules)
    if space.count > max(limits.ordered_modules, most):
        return best, bound
    rules = legal_sides_of(prepared, built.aspects)
    if space.count <= limits.ordered_modules:
        best = _ordered(space, rules, best, limits, seed)
    known = twice_hpwl(best, space.nets)
    if space.count > most or known <= 2 * bound:
        return best, bound
    work = limits.proof_work if space.count <= limits.complete_modules else limits.searched_work
    answer = solve_completely(rules, space.nets, space.may_overlap, twice_known=known, work_limit=work, seed=seed)
    return answer.layout or best, _raised(bound, answer, known)


def _raised(bound: float, answer: CompleteAnswer, known: int | None) -> float:
    """Return the bound that an answer leaves: what is known where nothing shorter is legal."""
    if answer.infeasible:
        return bound if known is None else known / 2
    return max(bound, answer.twice_bound / 2)


def _ordered(space: SearchSpace, rules: Sequence[LegalSides], best: Layout, limits: Limits, seed: int) -> Layout:
    """Return the best layout of the same order: where each module lies left of, right of, below or above each other.

    Its rectangles may lie on further sides of each other, which is a new order to look at.
    """
    for _ in range(ORDERS):
        known, work = twice_hpwl(best, space.nets), limits.ordered_work
        answer = solve_completely(
            rules, space.nets, space.may_overlap, twice_known=known, work_limit=work, seed=seed, order=best
        )
        if answer.layout is None:
            break
        best = answer.layout
    return best


def _sees_all(prepared: PreparedProblem) -> bool:
    """Whether CP-SAT is to see every legal rectangle: aspects are not limited, and there are few."""
    if prepared.problem.max_aspect is not None or not all(grid.complete for grid in prepared.grids):
        return False
    pairs = zip(prepared.grids, prepared.needs, strict=True)
    return sum(count_rectangles(grid, need) for grid, need in pairs) <= prepared.limits.complete_limit


def _better(space: SearchSpace, objective: Objective | None, *layouts: Layout | None) -> Layout | None:
    """Return the best of the layouts that there are by the objective, the last of equals."""
    found = [layout for layout in reversed(layouts) if layout is not None]
    return min(found, key=lambda each: _cost(each, space, objective), default=None)


def _cost(layout: Layout, space: SearchSpace, objective: Objective | None) -> float:
    """Return twice the objective, or the wirelength where there is none."""
    return twice_hpwl(layout, space.nets) if objective is None else objective.rank(layout.boxes)[1]


def _improved(
    prepared: PreparedProblem, built: Construction, rng: np.random.Generator, seed: int, objective: Objective | None
) -> Layout:
    """Lower the whole objective of the layouts that were built; of few modules only where short wires leave more."""
    if prepared.problem.draft:
        return _improve_best(built.space, built.layouts, prepared.limits, rng)
    wide = _with_every_span(prepared, built)
    if objective is not None and built.space.count > FEW:
        # Wires alone first took twice as long, and was dropped in each of four designs with other terms.
        return _annealed(prepared, built, wide, seed, objective)
    shortest = _annealed(prepared, built, wide, seed, None)
    if objective is None or objective.is_wire_of(shortest.boxes):
        return shortest
    whole = _annealed(prepared, built, wide, seed, objective)
    return better(objective, prepared.limits, shortest, whole)


def _share(limits: Limits, count: int) -> float:
    """Return the share of annealing that is left where CP-SAT follows."""
    if count <= min(limits.complete_modules, FEW):
        return PROVEN_SHARE
    if count <= limits.searched_modules:
        return SEARCHED_SHARE
    return FEW_SHARE if count <= FEW else 1.0


def _annealed(
    prepared: PreparedProblem, built: Construction, wide: SearchSpace, seed: int, objective: Objective | None
) -> Layout:
    """Anneal the layouts that were built over the smallest rectangles, then over those of every span."""
    limits, space, count = prepared.limits, built.space, built.space.count
    share = _share(limits, count)
    rounds, more = (int(share * _rounds(each, count)) for each in (limits.tight_rounds, limits.every_rounds))
    hot, cold = min(0.2, 2.0 / count), 0.05 / count
    if count <= FEW:
        tight, every = Cooling(rounds // (2 * STARTS), hot, cold), Cooling(more, 2.5 / count, 0.01 / count)
        starts = list(zip(itertools.cycle(built.layouts), _seeds(seed, STARTS), strict=False))

        def twice(start: tuple[Layout, int]) -> Layout:
            layout, one = start
            return anneal(wide, anneal(space, layout, tight, one, objective), every, one, objective)

        ends = spread(twice, starts)
        return min(ends, key=lambda each: _cost(each, space, objective))
    groups = parts_of(space.may_overlap)
    # What is drawn again takes the time of the rounds left out.
    tight = Cooling(rounds * 5 // 6 // CROSSED, hot, cold, again=True)
    every = Cooling(more * 7 // 8 // STARTS, 0.4 / count, 0.002 / count, again=True)
    layouts = spread(lambda one: anneal(space, built.layouts[0], tight, one, objective), _seeds(seed, CROSSED))
    best = crossed(groups, layouts, lambda each: _cost(each, space, objective))
    layouts = spread(lambda one: anneal(wide, best, every, one, objective), _seeds(seed, STARTS))
    return crossed(groups, layouts, lambda each: _cost(each, space, objective))


def _seeds(seed: int, count: int) -> range:
    """Return seeds for so many runs, others for each seed."""
    return range(count * seed, count * (seed + 1))


def _rounds(by_module: int, count: int) -> int:
    """Return rounds of annealing: a few modules get more each."""
    return int(by_module * min(4 * count, count + 20))


def _with_every_span(prepared: PreparedProblem, built: Construction) -> SearchSpace:
    """Return the space of the narrowest rectangle of every span and left edge, of the aspects in force.

    Many contain a smaller one: they are for what has to be level with others.
    """
    space, limited = built.space, prepared.problem.max_aspect is not None
    candidates = []
    for module, (aspect, smallest) in enumerate(zip(built.aspects, space.candidates, strict=True)):
        if aspect is None and limited:
            candidates.append(smallest)
            continue
        rects = narrowest_rectangles(prepared.legal(module, aspect))
        candidates.append(CandidateRectangles.of(rects, smallest.raster))
    return SearchSpace(tuple(candidates), space.nets, space.may_overlap)


def _improve_best(space: SearchSpace, layouts: Sequence[Layout], limits: Limits, rng: np.random.Generator) -> Layout:
    rounds = limits.improve_rounds * min(3 * space.count, 20 + space.count) // 30
    starts = itertools.islice(itertools.cycle(layouts), limits.improved_starts)
    improved = [improve(space, start, rounds, rng) for start in starts]
    return min(improved, key=lambda layout: twice_hpwl(layout, space.nets))
