"""Place modules again so that few leave the rectangles that they had: for a plan whose areas changed a little.

1. Modules whose rectangles still hold them, and clash with nothing, are at home. The others take the place where they
   disturb least; who is ejected there does the same (`Near`).
2. A few modules that lie near each other or share wires are taken out and put back, many times. To leave its home costs
   a module a price, a share of all wires, so that it moves only if the wires become shorter by more than that.
3. Wires may be `WITHIN` longer than those of a placement from scratch; what is more counts `PENALTY` times. The search
   begins near the old places, from scratch, and from scratch where something changed with the rest at home. Where no
   layout is short enough, the one from scratch is the answer.
4. CP-SAT looks for a layout in which more stay, or proves that no more can (`most`).

Drafts are not held against a placement from scratch. Equal arguments give equal answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

import numpy as np

from floorflow.placement.bounds.wires import narrowest_rectangles
from floorflow.placement.construction.several_ways import may_overlap
from floorflow.placement.construction.shelves import repair_by_ejection
from floorflow.placement.fixed import at_home, stayed
from floorflow.placement.layout import (
    AREA_UNIT,
    CandidateRectangles,
    Layout,
    Occupied,
    SearchSpace,
    first_free,
    keys_of,
    net_arrays,
    twice_hpwl,
)
from floorflow.placement.preparing import PreparedProblem, legal_sides_of, prepare, solution
from floorflow.placement.problem import Limits, PlacementProblem, PlacementSolution
from floorflow.placement.rectangles.candidate_rectangles import (
    BoolArray,
    IntArray,
    Raster,
    aspect_of,
    compact,
    overlaps,
    sides_of,
)
from floorflow.placement.staying.most import FreeModules, MostStaying, most_that_stay
from floorflow.stats import Status

WITHIN = 0.05
"""Share by which the wires may be longer than those of a placement from scratch."""
PRICE = 0.05
"""Share of all wires that leaving its home costs a module."""
PENALTY = 9.0
"""What wires count in addition that are longer than they may be."""
GROUPS = (1, 2, 2, 3, 3, 4, 5, 6)
"""How many modules are taken out at once, each number as often as it stands here."""
TRIES = 4
"""First layouts, of which the best is improved."""
EJECTIONS = 20
"""Ejections for each module in one of them, at most."""
HEAT = 0.02
"""Share of all wires by which a step may make things worse, every third time, at first."""
ROUNDS = 150
"""Rounds by module and price, for up to `MANY` modules."""
MANY = 30


@dataclass
class Near:
    """The search: ``homes`` (n,) is the candidate that is each module's home, -1 if it has none; ``boxes`` (n, 4)."""

    problem: PlacementProblem
    space: SearchSpace
    homes: Sequence[int]
    boxes: IntArray
    seed: int
    scratch: PlacementSolution | None
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    @classmethod
    def of(
        cls, prepared: PreparedProblem, seed: int, scratch: PlacementSolution | None, aspect: float | None
    ) -> "Near":
        """Take the narrowest rectangles, of every span, of an aspect, the homes, and what was found from scratch."""
        problem, home = prepared.problem, set(at_home(prepared.problem))
        rasters = {slot.name: Raster.of(slot.region, problem.device) for slot in problem.slots}
        candidates, homes = [], []
        for index, (module, rects) in enumerate(zip(problem.modules, prepared.rects, strict=True)):
            wide = narrowest_rectangles(prepared.legal(index, aspect))
            before = problem.previous.get(module.name, problem.slot_of[module.slot].region)
            more = [*([before] if module.name in home else []), *(scratch.regions[module.name] if scratch else ())]
            own = np.concatenate((compact(rects, aspect), wide, sides_of(more)))
            made = CandidateRectangles.of(np.unique(own, axis=0), rasters[module.slot])
            candidates.append(made)
            homes.append(made.index_of(sides_of([before])[0]) if module.name in home else -1)
        space = SearchSpace(tuple(candidates), net_arrays(problem), may_overlap(problem))
        boxes = [c.rects[home] if home >= 0 else np.full(4, -1) for c, home in zip(candidates, homes, strict=True)]
        return cls(problem, space, homes, np.array(boxes), seed, scratch)

    @cached_property
    def most(self) -> float:
        """Twice the longest that wires may be; infinite of a draft."""
        if self.scratch is None:
            return inf
        return 2 * (1 + WITHIN) * self.scratch.hpwl

    def excess(self, twice: float) -> float:
        """Return by how much wires, twice their length, are too long."""
        return max(0.0, twice - self.most)

    def merit(self, layout: Layout) -> tuple[float, int, int]:
        """Order layouts: short enough, then few away from home, then short."""
        twice = twice_hpwl(layout, self.space.nets)
        return self.excess(twice), self._moved(layout), twice

    def from_scratch(self) -> list[Layout]:
        """Return the layout from scratch, and the same with all at home in slots where every module has one."""
        if self.scratch is None:
            return []
        scratch = Layout.empty(self.space.count)
        for index, module in enumerate(self.problem.modules):
            scratch.put(index, sides_of(self.scratch.regions[module.name])[0])
        rows = [index for index, home in enumerate(self.homes) if home < 0]
        homeless = np.asarray(self.space.may_overlap[rows].any(axis=0))
        mixed = Layout(np.where(homeless[:, None] | (self.boxes < 0), scratch.boxes, self.boxes), scratch.placed.copy())
        return [mixed, scratch]

    def started(self) -> Layout | None:
        """Return all modules placed, few of them away from home; None if no room was found.

        Those without a home eject others from where they disturb least.
        """
        count, layout = self.space.count, Layout.empty(self.space.count)
        for module, home in enumerate(self.homes):
            if home >= 0:
                layout.put(module, self.space.candidates[module].rects[home])
        rounds, all_modules = EJECTIONS * count, range(count)
        tried = [repair_by_ejection(self.space, all_modules, layout, rounds, self.rng) for _ in range(TRIES)]
        return min((one for one in tried if one.complete), key=self.merit, default=None)

    def _put(self, occupied: Occupied, module: int, price: float) -> bool:
        """Place a module where its wires are shortest, or at home if they are not shorter elsewhere by the price."""
        bits = self.space.bits[module]
        if self.rng.random() < 0.5:
            bits = (bits * (1 + 0.4 * self.rng.random(bits.shape))).astype(np.int64)
        keys = keys_of(self.space, occupied.layout, module, bits)
        home, candidates = self.homes[module], self.space.candidates[module]
        chosen = first_free(occupied, module, keys)
        if chosen is None:
            return False
        if home >= 0 and occupied.is_free(module, home) and keys.of(home) - price * AREA_UNIT <= keys.of(chosen):
            chosen = home
        occupied.put(module, candidates.rects[chosen])
        return True

    def _moved(self, layout: Layout) -> int:
        """Return how many modules have left their homes."""
        return int(self._away(layout).sum()) - self.homeless

    def _away(self, layout: Layout) -> BoolArray:
        """Return, (n,), which modules are not at home, or have none."""
        return np.asarray((layout.boxes != self.boxes).any(axis=1))

    @cached_property
    def homeless(self) -> int:
        """How many modules have no home."""
        return sum(home < 0 for home in self.homes)

    def improved(self, start: Layout) -> Layout:
        """Take modules out and put them back while that makes wires, and the prices of those away, less together.

        At first what costs a little more is kept now and then, as in annealing. It ends once all are at home.
        """
        nets, rounds = self.space.nets, ROUNDS * min(self.space.count, MANY)
        wires = twice_hpwl(start, nets) if self.scratch is None else 2 * self.scratch.hpwl
        price = PRICE * wires
        best, current = start, Occupied.by(self.space, start.copy())
        cost, lowest = self._cost(start, price), self.merit(start)
        chances = self.rng.random(rounds)
        for turn in range(rounds):
            if lowest[:2] == (0, 0):
                break
            occupied, chosen = current.copy(), self._chosen(current.layout)
            for module in chosen:
                occupied.take_out(module)
            if not all(self._put(occupied, module, price) for module in chosen):
                continue
            new = self._cost(occupied.layout, price)
            heat = HEAT * wires * (1 - turn / rounds) ** 2
            if new <= cost - heat * np.log(max(chances[turn], 1e-12)):
                current, cost = occupied, new
                merit = self.merit(current.layout)
                if merit < lowest:
                    best, lowest = current.layout, merit
        return best

    def _cost(self, layout: Layout, price: float) -> float:
        twice = twice_hpwl(layout, self.space.nets)
        return twice + PENALTY * self.excess(twice) + price * self._moved(layout)

    def _chosen(self, layout: Layout) -> list[int]:
        """Return a module, often one away from home, with who lies there, is near it or shares wires with it."""
        rng, everyone = self.rng, self.space.count
        count, kind = min(GROUPS[int(rng.integers(len(GROUPS)))], everyone), rng.random()
        away = np.flatnonzero(self._away(layout))
        first = int(rng.choice(away)) if len(away) and rng.random() < 0.5 else int(rng.integers(everyone))
        if kind < 0.3 and self.homes[first] >= 0:
            there = overlaps(self.boxes[first : first + 1], layout.boxes)[0] & self.space.may_overlap[first]
            return [first, *rng.permutation(np.flatnonzero(there)).tolist()]
        if kind < 0.6:
            merit = self.space.bits[first] + (self.space.bits[first].mean() + 1) * rng.random(everyone)
        else:
            centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
            merit = -np.abs(centres - centres[first]).sum(axis=1) * (rng.random(everyone) + 0.5)
        merit[first] = np.inf
        chosen: list[int] = np.argsort(-merit, kind="stable")[:count].tolist()
        rng.shuffle(chosen)
        return chosen


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
