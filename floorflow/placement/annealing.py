"""Simulated annealing over legal layouts: some modules are taken out and put back where wirelength and chance say.

A module that is put back draws one of its free rectangles, the likelier the shorter its wires (Boltzmann weights: the
best after Gumbel noise is such a draw), so that one round weighs thousands of places at once, and two modules can
change places although no move of one alone is legal. Where one finds no room, all may draw again, the large ones first.
The new layout is kept by the rule of Metropolis, which knows all terms of the objective. The work is counted in
rounds; equal arguments give equal layouts.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property
from math import log
from random import Random

import numpy as np
import numpy.typing as npt

from floorflow.placement.layout import Layout, NetArrays, SearchSpace
from floorflow.placement.objective import Objective
from floorflow.placement.rectangles.candidate_rectangles import IntArray, Raster, Sums
from floorflow.stats import count

Floats = npt.NDArray[np.float64]

GROUPS = (1, 2, 2, 3, 3, 4, 5, 6, 8)
"""How many modules are taken out at once, each number as often as it stands here."""


@dataclass(eq=False)
class Neighbourhoods:
    """Such choices in one search space."""

    space: SearchSpace
    chance: Random
    rng: np.random.Generator

    def some(self, centres: Floats) -> list[int]:
        """Return a module and others: along its wires, or near it; half of the time loosely, so that all may meet.

        ``centres`` (n or more, 2) are those of all modules.
        """
        chance, modules = self.chance, self.space.count
        count, module = min(GROUPS[chance.randrange(len(GROUPS))], modules), chance.randrange(modules)
        if count == 1:
            return [module]
        kind = chance.random()
        chosen = self._along_wires(module, count) if kind < 0.25 else self._alike(centres, module, count, kind)
        chance.shuffle(chosen)
        return chosen

    def large_first(self, modules: list[int]) -> list[int]:
        """Return modules by the least area that they can have: what is large finds no room after the others."""
        return sorted(modules, key=self._sizes.__getitem__, reverse=True)

    @cached_property
    def _sizes(self) -> list[int]:
        return [candidates.least_area for candidates in self.space.candidates]

    @cached_property
    def _bits(self) -> Floats:
        return self.space.bits.astype(np.float64)

    @cached_property
    def _mean_bits(self) -> list[float]:
        return [float(mean) for mean in self._bits.mean(axis=1)]

    @cached_property
    def _wired(self) -> list[tuple[list[int], list[int]]]:
        return [(others.tolist(), self.space.bits[m][others].tolist()) for m, others in enumerate(self.space.wired)]

    def _along_wires(self, module: int, count: int) -> list[int]:
        chosen, chance = [module], self.chance
        for _ in range(3 * count):
            others, bits = self._wired[chosen[chance.randrange(len(chosen))]]
            if others:
                (other,) = chance.choices(others, bits)
                if other not in chosen:
                    chosen.append(other)
                    if len(chosen) == count:
                        break
        return chosen

    def _alike(self, centres: Floats, module: int, count: int, kind: float) -> list[int]:
        """Return modules by their wires to one, or by nearness, under noise of the size of a mean."""
        if kind < 0.6:
            merit = self._bits[module] + (self._mean_bits[module] + 1) * self.rng.random(self.space.count)
        else:
            places = centres[: self.space.count]
            merit = -np.abs(places - places[module]).sum(axis=1)
            merit *= self.rng.random(self.space.count) + (1.0 if kind < 0.8 else 0.2)
        merit[module] = np.inf
        chosen: list[int] = merit.argpartition(-count)[-count:].tolist()
        return chosen


DRAWN_S = 5e-5
"""Work of a draw."""
NOISE = 0.2
"""Temperature of the draw of one rectangle, as a share of that by which layouts are kept."""
REACH = 8.0
"""Rectangles so many of these temperatures above the one that was there are not looked at."""
POOL = 1 << 17
"""Numbers of Gumbel noise, of which each draw takes a stretch from a random place on."""


@dataclass(frozen=True, slots=True)
class Cooling:
    """So many rounds from a first to a last temperature, as shares of the least wirelength so far.

    ``again``: whether, where one finds no room, all that were taken out draw again, the large ones first.
    """

    rounds: int
    hot: float
    cold: float
    again: bool = False


@dataclass(eq=False)
class _Tables:
    """What does not change: of each module its ends, (k,), modules or pins behind them, their bits, and places."""

    space: SearchSpace
    noise: Floats

    @cached_property
    def ends(self) -> list[IntArray]:
        """Return for each module what its wires lead to."""
        bits = self._bits
        return [np.flatnonzero(row) for row in bits]

    @cached_property
    def weights(self) -> list[Floats]:
        """Return for each module the bits to each of its ends."""
        bits = self._bits
        return [row[row > 0].astype(np.float64) for row in bits]

    @cached_property
    def _bits(self) -> IntArray:
        return np.concatenate((self.space.nets.bits, self.space.nets.pin_bits), axis=1)

    @cached_property
    def x(self) -> list[Floats]:
        """Return for each module twice the columns that its middle can have."""
        return [candidates.x.twice.astype(np.float64) for candidates in self.space.candidates]

    @cached_property
    def y(self) -> list[Floats]:
        """Return for each module twice the rows that its middle can have."""
        return [candidates.y.twice.astype(np.float64) for candidates in self.space.candidates]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where some modules were, and what was taken then: fields as those of `_State`."""

    modules: list[int]
    sums: dict[Raster, Sums]
    boxes: IntArray
    held: list[int]
    centres: Floats
    taken: list[list[tuple[Raster, Sums]]]


@dataclass(eq=False)
class _State:
    """A layout: ``held`` the candidate of each module (-1: a rectangle that is none).

    ``centres`` (n + pins, 2) are doubled; ``present`` (n + pins,) is 0 for what is taken out. ``taken`` is what each
    module adds to ``sums``.
    """

    tables: _Tables
    boxes: IntArray
    held: list[int]
    centres: Floats
    present: Floats
    sums: dict[Raster, Sums]
    taken: list[list[tuple[Raster, Sums]]]

    @classmethod
    def of(cls, tables: _Tables, layout: Layout) -> "_State":
        """Start from a complete layout."""
        space = tables.space
        boxes = layout.boxes.copy()
        held = [c.index_of(box) for c, box in zip(space.candidates, boxes, strict=True)]
        centres = np.concatenate((boxes[:, :2] + boxes[:, 2:], space.nets.pins)).astype(np.float64)
        sums = {raster: raster.none() for raster in space.rasters}
        pairs = zip(space.rasters_met, boxes, strict=True)
        taken = [[(raster, raster.added(box)) for raster in met] for met, box in pairs]
        for raster, cells in itertools.chain.from_iterable(taken):
            sums[raster] += cells
        return cls(tables, boxes, held, centres, np.ones(len(centres)), sums, taken)

    def take_out(self, module: int) -> None:
        """Free what a module takes."""
        for raster, cells in self.taken[module]:
            self.sums[raster] = self.sums[raster] - cells
        self.present[module] = 0.0

    def put(self, module: int, chosen: int) -> None:
        """Give a module one of its candidates."""
        self.boxes[module] = box = self.tables.space.candidates[module].rects[chosen]
        self.held[module] = chosen
        self.centres[module] = box[:2] + box[2:]
        self.present[module] = 1.0
        self.taken[module] = [(raster, raster.added(box)) for raster in self.tables.space.rasters_met[module]]
        for raster, cells in self.taken[module]:
            self.sums[raster] = self.sums[raster] + cells

    def draw(self, module: int, temperature: float, chance: Random) -> int | None:
        """Return one of a module's free candidates, None if there is none."""
        tables, candidates = self.tables, self.tables.space.candidates[module]
        ends = tables.ends[module]
        weights, at = tables.weights[module] * self.present[ends], self.centres[ends]
        x = weights @ np.abs(tables.x[module] - at[:, :1])
        y = weights @ np.abs(tables.y[module] - at[:, 1:])
        sums, held = self.sums[candidates.raster], self.held[module]
        index_x, index_y = candidates.x.index, candidates.y.index
        if held >= 0 and candidates.raster.is_free(sums, candidates.corners, held):
            limit = x.item(index_x.item(held)) + y.item(index_y.item(held)) + REACH * temperature
            columns = (x <= limit - y.min()).nonzero()[0]
            first, end = candidates.first.item(columns[0]), candidates.first.item(columns[-1] + 1)
            key = x.take(index_x[first:end])
            key += y.take(index_y[first:end])
            self._blur(key, temperature, chance)
            # The one that was there is free: whether others are is asked only of those that are drawn before it.
            some = (key <= key.item(held - first)).nonzero()[0]
            if len(some) == 1:
                return held
            key = key.take(some)
            some += first
            key[candidates.raster.meets(sums, candidates.corners.take(some, axis=1))] = np.inf
        else:
            some = (~candidates.raster.meets(sums, candidates.corners)).nonzero()[0]
            if not len(some):
                return None
            key = x.take(index_x.take(some))
            key += y.take(index_y.take(some))
            self._blur(key, temperature, chance)
        return some.item(int(key.argmin()))

    def _blur(self, keys: Floats, temperature: float, chance: Random) -> None:
        """Add the noise by which the least key is a draw."""
        if temperature > 0:
            start = chance.randrange(POOL)
            keys -= temperature * self.tables.noise[start : start + len(keys)]

    def redraw(self, modules: list[int], temperature: float, chance: Random) -> bool:
        """Take modules out and let each draw again; say whether all found room."""
        count(DRAWN_S * len(modules))
        for module in modules:
            self.take_out(module)
        for module in modules:
            chosen = self.draw(module, temperature, chance)
            if chosen is None:
                return False
            self.put(module, chosen)
        return True

    def kept(self, modules: list[int]) -> _Kept:
        """Return what `put_back` needs to undo what is done to modules."""
        held, taken = [self.held[m] for m in modules], [self.taken[m] for m in modules]
        return _Kept(modules, self.sums.copy(), self.boxes[modules], held, self.centres[modules], taken)

    def put_back(self, kept: _Kept) -> None:
        """Undo what was done to modules."""
        modules = kept.modules
        self.sums, self.boxes[modules], self.centres[modules] = kept.sums.copy(), kept.boxes, kept.centres
        self.present[modules] = 1.0
        for module, one, taken in zip(modules, kept.held, kept.taken, strict=True):
            self.held[module], self.taken[module] = one, taken


def anneal(
    space: SearchSpace, start: Layout, cooling: Cooling, seed: int, objective: Objective | None = None
) -> Layout:
    """Return the best layout met from a complete one on; without an objective wirelength is all that counts."""
    longest = max(len(candidates.rects) for candidates in space.candidates)
    rng = np.random.default_rng(seed)
    noise = rng.gumbel(size=POOL + longest)
    tables, chance = _Tables(space, noise), Random(seed)
    state, best = _State.of(tables, start), start.copy()
    cost = _Cost.of(space, objective, state.centres)
    lowest = cost.now
    choose = Neighbourhoods(space, chance, rng)
    for turn in range(cooling.rounds):
        temperature = cost.scale * cooling.hot * (cooling.cold / cooling.hot) ** (turn / cooling.rounds)
        modules = choose.some(state.centres)
        before = state.kept(modules)
        has_room = state.redraw(modules, NOISE * temperature, chance)
        if cooling.again and not has_room:
            state.put_back(before)
            has_room = state.redraw(choose.large_first(modules), NOISE * temperature, chance)
        limit = cost.now - temperature * log(max(chance.random(), 1e-12))
        if not has_room or not cost.keeps(state.centres, limit):
            state.put_back(before)
        elif cost.now < lowest:
            lowest, best = cost.now, Layout(state.boxes.copy(), best.placed)
    return best


@dataclass(eq=False)
class _Cost:
    """Twice the objective: of the layout that is kept, ``now``, and the lowest so far.

    ``scale``, of which temperatures are shares, is the wirelength of the latter: of a start with large penalties a
    share would be more than all wires.
    """

    objective: Objective | None
    nets: NetArrays
    weight: float
    now: float
    lowest: float
    scale: float

    @classmethod
    def of(cls, space: SearchSpace, objective: Objective | None, places: Floats) -> "_Cost":
        """Start from the places of all ends."""
        nets, weight = space.nets, 1.0 if objective is None else objective.weights.wire
        cost = cls(objective, nets, weight, np.inf, np.inf, 0.0)
        cost.keeps(places, np.inf)
        return cost

    def keeps(self, places: Floats, limit: float) -> bool:
        """Take a layout if it costs at most ``limit``; say whether it does."""
        wire = self.weight * self.nets.twice_wire(places)
        new = wire
        if self.objective is not None:
            # The cheapest first: no term is negative.
            if new <= limit:
                new += self.objective.twice_reach(places)
            if new <= limit:
                new += self.objective.twice_congestion(places)
        if new > limit:
            return False
        self.now = new
        if new < self.lowest:
            self.lowest, self.scale = new, wire or new
        return True
