"""Place modules again so that as few as can be leave the rectangles that they had: for a plan whose areas changed a bit.

1. Modules whose rectangles still hold them, and clash with nothing, are at home. The others are placed where their wires
   are shortest; where there is no room, ever more of the modules around their old places are taken out first.
2. A few modules that lie near each other or share wires are taken out and put back, many times. To leave its home costs
   a module a price, a share of all wires, so that it moves only if the wires become shorter by more than that.
3. The price falls until the wires are at most `WITHIN` longer than those of a placement from scratch. Where even moves
   that cost nothing do not get there, that placement is the answer.

Drafts are not held against a placement from scratch. Equal arguments give equal answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from floorflow.hardware.geometry import Rect
from floorflow.placement.candidate_rectangles import IntArray, compact, sides_of
from floorflow.placement.effort import Limits
from floorflow.placement.fixed import what_is_illegal, what_is_short
from floorflow.placement.lns import (
    AREA_UNIT,
    CandidateRectangles,
    Layout,
    Occupied,
    SearchSpace,
    first_free,
    keys_of,
    twice_hpwl,
)
from floorflow.placement.construction import may_overlap
from floorflow.placement.net_arrays import net_arrays
from floorflow.placement.preparing import PreparedProblem, prepare, solution
from floorflow.placement.problem import PlacedModule, PlacementProblem, PlacementSolution
from floorflow.placement.raster import Raster

WITHIN = 0.05
"""Share by which the wires may be longer than those of a placement from scratch."""
PRICES = (0.02, 0.01, 0.005, 0.0025, 0.001, 0.0)
"""Shares of all wires that leaving its home costs a module, tried one after another."""
GROUPS = (1, 2, 2, 3, 3, 4, 5, 6)
"""How many modules are taken out at once, each number as often as it stands here."""
ORDERS = 8
"""Orders in which modules that were taken out to make room are tried."""
ROUNDS = 40
"""Rounds by module and price, for up to `MANY` modules."""
MANY = 30


def place_near(
    problem: PlacementProblem, limits: Limits, seed: int, scratch: PlacementSolution | None
) -> PlacementSolution | None:
    """Return a placement in which few modules leave their previous rectangles; None if there is none near enough.

    ``scratch``: the placement that counts as short, and whose bound holds; None of a draft.
    """
    prepared = prepare(problem, limits, "near")
    if not isinstance(prepared, PreparedProblem):
        return None
    near = _Near.of(prepared, seed)
    layout = near.started()
    if layout is None:
        return None
    for price in PRICES:
        layout = near.improved(layout, price)
        if scratch is None or twice_hpwl(layout, near.space.nets) <= 2 * (1 + WITHIN) * scratch.hpwl:
            return _told(problem, near.back_home(layout), scratch, price)
    return None


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


def _told(
    problem: PlacementProblem, layout: Layout, scratch: PlacementSolution | None, price: float
) -> PlacementSolution:
    method = "draft" if scratch is None else scratch.stats.method
    found = solution(problem, layout, 0.0, method)
    count = len(stayed(problem.previous, found))
    told = f"{method}, {count} of {len(problem.modules)} where they were, moves at {price:.2%} of the wires"
    # Homes may be of other aspects than those that the bound is of.
    bound = None if scratch is None or (scratch.stats.bound or 0.0) > found.hpwl else scratch.stats.bound
    status = "optimal" if bound is not None and found.hpwl <= bound else "feasible"
    return replace(found, stats=replace(found.stats, method=told, bound=bound, status=status))


@dataclass
class _Near:
    """The search: ``homes`` (n,) is the candidate that is each module's home, -1 if it has none."""

    problem: PlacementProblem
    space: SearchSpace
    homes: Sequence[int]
    seed: int
    old: IntArray
    """(n, 2) twice the middle of each previous rectangle; of a module without, the middle of its slot."""
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    @classmethod
    def of(cls, prepared: PreparedProblem, seed: int) -> _Near:
        """Take the narrowest compact rectangles, and the homes."""
        problem, home = prepared.problem, set(at_home(prepared.problem))
        rasters = {slot.name: Raster.of(slot.region, problem.device) for slot in problem.slots}
        candidates, homes, old = [], [], []
        for module, rects in zip(problem.modules, prepared.rects, strict=True):
            own = compact(rects, problem.max_aspect)
            before = problem.previous.get(module.name, problem.slot_of[module.slot].region)
            box = sides_of([before])
            if module.name in home:
                own = np.unique(np.concatenate((own, box)), axis=0)
            made = CandidateRectangles.of(own, rasters[module.slot])
            candidates.append(made)
            homes.append(made.index_of(box[0]) if module.name in home else -1)
            old.append(box[0, :2] + box[0, 2:])
        space = SearchSpace(tuple(candidates), net_arrays(problem), may_overlap(problem))
        return cls(problem, space, homes, seed, np.array(old, dtype=np.int64).reshape(-1, 2))

    def started(self) -> Layout | None:
        """Return all modules placed, as few as can be away from home; None if no room was found."""
        layout = Layout.empty(self.space.count)
        for module, home in enumerate(self.homes):
            if home >= 0:
                layout.put(module, self.space.candidates[module].rects[home])
        occupied, waiting = Occupied.by(self.space, layout), [m for m, home in enumerate(self.homes) if home < 0]
        for module in sorted(waiting, key=lambda m: -self.space.candidates[m].least_area):
            found = self._with_room(occupied, module)
            if found is None:
                return None
            occupied = found
        return occupied.layout

    def _with_room(self, occupied: Occupied, module: int) -> Occupied | None:
        """Place a module, beside ever more neighbours of its old place that are taken out and put back after it."""
        layout = occupied.layout
        centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
        distance = np.abs(centres - self.old[module]).sum(axis=1)
        beside = [m for m in np.argsort(distance, kind="stable").tolist() if layout.placed[m]]
        beside = [m for m in beside if self.space.may_overlap[module, m]]
        count = 0
        while True:
            tries = [self._put_back(occupied, module, beside[:count]) for _ in range(ORDERS if count else 1)]
            found = [one for one in tries if one is not None]
            if found:
                return min(found, key=lambda one: (self._moved(one.layout), twice_hpwl(one.layout, self.space.nets)))
            if count >= len(beside):
                return None
            count = min(len(beside), max(1, count * 3 // 2, count + 1))

    def _put_back(self, occupied: Occupied, module: int, others: Sequence[int]) -> Occupied | None:
        """Take modules out and put them back after one that had no room; None where one finds none."""
        tried = occupied.copy()
        for other in others:
            tried.take_out(other)
        order = [others[i] for i in self.rng.permutation(len(others))]
        for one in (module, *order):
            if not self._put(tried, one, np.iinfo(np.int64).max // 4):
                return None
        return tried

    def _put(self, occupied: Occupied, module: int, price: int) -> bool:
        """Place a module where its wires are shortest, or at home if they are not shorter elsewhere by the price."""
        keys = keys_of(self.space, occupied.layout, module, self.space.bits[module])
        home, candidates = self.homes[module], self.space.candidates[module]
        chosen = first_free(occupied, module, keys)
        if chosen is None:
            return False
        if home >= 0 and occupied.is_free(module, home) and keys.of(home) - price <= keys.of(chosen):
            chosen = home
        occupied.put(module, candidates.rects[chosen])
        return True

    def _moved(self, layout: Layout) -> int:
        """Return how many modules have left their homes."""
        return int((self._away(layout)).sum())

    def _away(self, layout: Layout) -> IntArray:
        away = [
            home >= 0 and bool((layout.boxes[module] != self.space.candidates[module].rects[home]).any())
            for module, home in enumerate(self.homes)
        ]
        return np.array(away, dtype=np.int64)

    def improved(self, start: Layout, share: float) -> Layout:
        """Take modules out and put them back while that makes wires, and the prices of those away, less together."""
        nets, count = self.space.nets, self.space.count
        price = int(share * twice_hpwl(start, nets))
        current, cost = start, twice_hpwl(start, nets) + price * self._moved(start)
        for _ in range(ROUNDS * min(count, MANY)):
            occupied = Occupied.by(self.space, current.copy())
            chosen = self._chosen(current)
            for module in chosen:
                occupied.take_out(module)
            if not all(self._put(occupied, module, price * AREA_UNIT) for module in chosen):
                continue
            new = twice_hpwl(occupied.layout, nets) + price * self._moved(occupied.layout)
            if new <= cost:
                current, cost = occupied.layout, new
        return current

    def _chosen(self, layout: Layout) -> list[int]:
        """Return a module, often one away from home, and some that lie near it or share wires with it."""
        count, rng = min(GROUPS[int(self.rng.integers(len(GROUPS)))], self.space.count), self.rng
        away = [m for m, (home, left) in enumerate(zip(self.homes, self._away(layout), strict=True)) if home < 0 or left]
        first = away[int(rng.integers(len(away)))] if away and rng.random() < 0.5 else int(rng.integers(self.space.count))
        if rng.random() < 0.5:
            merit = self.space.bits[first] + (self.space.bits[first].mean() + 1) * rng.random(self.space.count)
        else:
            centres = layout.boxes[:, :2] + layout.boxes[:, 2:]
            merit = -np.abs(centres - centres[first]).sum(axis=1) * (rng.random(self.space.count) + 0.5)
        merit[first] = np.inf
        chosen: list[int] = np.argsort(-merit, kind="stable")[:count].tolist()
        rng.shuffle(chosen)
        return chosen

    def back_home(self, layout: Layout) -> Layout:
        """Send modules home whose wires are no longer there."""
        occupied, nets = Occupied.by(self.space, layout.copy()), self.space.nets
        for module in np.flatnonzero(self._away(layout)).tolist():
            before, box = twice_hpwl(occupied.layout, nets), occupied.layout.boxes[module].copy()
            occupied.take_out(module)
            home = self.homes[module]
            free = occupied.is_free(module, home)
            occupied.put(module, self.space.candidates[module].rects[home] if free else box)
            if free and twice_hpwl(occupied.layout, nets) > before:
                occupied.take_out(module)
                occupied.put(module, box)
        return occupied.layout
