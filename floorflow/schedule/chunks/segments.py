"""The cheapest folding of every interval of layers on a slot: the table that the shortest path is found in.

A chunk costs ``(B - 1) x slowest + total``. So its slowest layer is fixed at each value that may be best, from the
least with which it fits, and `choice` finds the least total; the bound of all slower ones ends the search. Tables of
several slots share what they know: what fits a smaller slot fits a larger one, and what a larger one needs, a smaller
one needs too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.schedule.chunks.choice import Choice, Options, cheapest, fits_alone, fitting
from floorflow.schedule.chunks.problem import UNITS, ChunkProblem, Ints
from floorflow.schedule.chunks.undominated import undominated

Slot = tuple[int, ...]
"""The limits of a slot, in units."""


@dataclass(frozen=True)
class Folded:
    """An interval's least cycles of a batch on a slot, the option of each layer and its area (`ChunkProblem.area`).

    ``cycles`` is infinite where nothing was found. ``lower`` is their proven bound: equal to them unless labels were
    too many, infinite where it is proven that nothing fits.
    """

    cycles: float
    rows: tuple[int, ...] = ()
    area: float = 0.0
    use: tuple[int, ...] = ()
    lower: float = 0.0


class SegmentTable:
    """The intervals of a problem's layers, by first layer and the layer behind, solved when they are asked for."""

    def __init__(self, problem: ChunkProblem) -> None:
        self.problem = problem
        self.times_solved = 0
        self._quick: dict[tuple[int, int, Slot], float] = {}
        self._known: dict[tuple[int, int], dict[Slot, Folded]] = {}
        self._area = np.array([have * unit for have, unit in zip(problem.device, UNITS, strict=True)], dtype=np.int64)
        self._rows = [
            undominated(np.column_stack([layer.cycles, layer.total_cycles, layer.use])) for layer in problem.layers
        ]

    def is_known(self, first: int, behind: int, slot: Slot) -> bool:
        """Whether the interval was solved on the slot."""
        return slot in self._known.get((first, behind), {})

    def lower(self, first: int, behind: int, slot: Slot) -> float:
        """Return a proven bound of an interval's cycles on a slot: exact where it was solved."""
        known = self._known.get((first, behind), {})
        if slot in known:
            return known[slot].lower
        told = max((folded.lower for other, folded in known.items() if _within(slot, other)), default=0.0)
        return max(told, self._by_resources(first, behind, slot))

    def _by_resources(self, first: int, behind: int, slot: Slot) -> float:
        """Return the bound that each resource alone gives an interval."""
        key = first, behind, slot
        if key not in self._quick:
            limits = np.array(slot, dtype=np.int64)
            slowest, options = self._options(first, behind)
            levels = _levels(options, slowest)
            fitting = _first(levels, lambda level: _fits_alone(options, slowest <= level, limits))
            traffic = self.problem.traffic_cycles(first, behind)
            self._quick[key] = np.inf if fitting is None else self._bound(options, slowest, fitting, traffic)
        return self._quick[key]

    def solved(self, first: int, behind: int, slot: Slot) -> Folded:
        """Return the cheapest folding of an interval on a slot."""
        known = self._known.setdefault((first, behind), {})
        if slot not in known:
            known[slot] = self._shared(known, slot) or self._solve(first, behind, slot)
        return known[slot]

    def _shared(self, known: dict[Slot, Folded], slot: Slot) -> Folded | None:
        """Return what another slot's answer decides: a larger one's that fits, or that it does not fit."""
        for other, folded in known.items():
            proven = _within(slot, other) and folded.lower == folded.cycles
            if proven and (not folded.rows or _within(folded.use, slot)):
                return folded
        return None

    def _solve(self, first: int, behind: int, slot: Slot) -> Folded:
        self.times_solved += 1
        problem, limits = self.problem, np.array(slot, dtype=np.int64)
        if (limits < 0).any():
            return Folded(np.inf, lower=np.inf)
        slowest, options = self._options(first, behind)
        levels = _levels(options, slowest)
        traffic = problem.traffic_cycles(first, behind)
        cycles, lower = self._known_cost(first, behind, slot), np.inf
        refuted, start, best = self._first_fitting(options, slowest, levels, limits)
        if refuted < start:
            lower = self._bound(options, slowest, int(levels[refuted]), traffic)
        if best is not None:
            cost = problem.chunk_cycles(self._slowest(first, best), best.cost, traffic)
            best, cycles = (best, float(cost)) if cost <= cycles else (None, cycles)
        for level in levels[start:].tolist():
            within = options.some(slowest <= level)
            if self._bound(options, slowest, level, traffic) > cycles:
                if (problem.batch - 1) * level > cycles:
                    break
                continue
            most = cycles - (problem.batch - 1) * max(level, traffic)
            found = cheapest(within, limits, most, self._area, enough=traffic)
            if found.bound < np.inf:
                lower = min(lower, problem.chunk_cycles(level, int(found.bound), traffic))
            if found.choice is None:
                continue
            cost = problem.chunk_cycles(self._slowest(first, found.choice), found.choice.cost, traffic)
            if best is None or (cost, self._area_of(found.choice)) < (cycles, self._area_of(best)):
                best, cycles = found.choice, float(cost)
        return self._folded(best, cycles, lower)

    def _folded(self, best: Choice | None, cycles: float, lower: float) -> Folded:
        if best is None:
            return Folded(np.inf, lower=lower)
        return Folded(cycles, best.numbers, self.problem.area(np.array(best.use)), best.use, min(cycles, lower))

    def _bound(self, options: Options, slowest: Ints, level: int, traffic: int) -> int:
        """Return what a chunk whose slowest layer takes so long takes at least."""
        within = options.some(slowest <= level)
        fastest = int(np.minimum.reduceat(within.cost, within.start).sum())
        return self.problem.chunk_cycles(level, fastest, traffic)

    def _known_cost(self, first: int, behind: int, slot: Slot) -> float:
        """Return what a smaller slot's folding costs: no more is needed here."""
        known = self._known.get((first, behind), {})
        return min((folded.cycles for other, folded in known.items() if _within(other, slot)), default=np.inf)

    def _options(self, first: int, behind: int) -> tuple[Ints, Options]:
        """Return the slowest part's cycles of all options of an interval, and the options by their total."""
        rows, layers = self._rows[first:behind], self.problem.layers[first:behind]
        start = np.cumsum([0, *(len(some) for some in rows[:-1])])
        slowest = np.concatenate([layer.cycles[some] for layer, some in zip(layers, rows, strict=True)])
        total = np.concatenate([layer.total_cycles[some] for layer, some in zip(layers, rows, strict=True)])
        use = np.concatenate([layer.use[some] for layer, some in zip(layers, rows, strict=True)])
        return slowest, Options(total, use, np.concatenate(rows), start)

    def _first_fitting(
        self, options: Options, slowest: Ints, levels: Ints, limits: Ints
    ) -> tuple[int, int, Choice | None]:
        """Return the first level that is not refuted, the first within which something is known to fit, and that."""
        low, high, refuted, some = 0, len(levels), 0, None
        while low < high:
            middle = (low + high) // 2
            within = options.some(slowest <= levels[middle])
            found = fitting(within, limits)
            if found.choice is not None:
                high, some = middle, found.choice
                continue
            low = middle + 1
            if found.bound == np.inf:
                refuted = low
        return refuted, high, some

    def _slowest(self, first: int, found: Choice) -> int:
        layers = self.problem.layers[first : first + len(found.numbers)]
        return max(int(layer.cycles[row]) for layer, row in zip(layers, found.numbers, strict=True))

    def _area_of(self, found: Choice) -> float:
        return self.problem.area(np.array(found.use))


def _levels(options: Options, slowest: Ints) -> Ints:
    """Return the cycles that the slowest layer may take: each layer has an option of no more."""
    levels = np.unique(slowest)
    return np.asarray(levels[levels >= np.minimum.reduceat(slowest, options.start).max()], dtype=np.int64)


def _fits_alone(options: Options, keep: NDArray[np.bool_], limits: Ints) -> bool:
    within = options.kept(keep)
    return within is not None and bool((limits >= 0).all()) and fits_alone(within, limits) is not None


def _first(levels: Ints, holds: Callable[[int], bool]) -> int | None:
    """Return the first level at which something holds that holds of all later ones too; None: of none."""
    low, high = 0, len(levels)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(int(levels[middle])) else (middle + 1, high)
    return int(levels[low]) if low < len(levels) else None


def _within(smaller: Slot, larger: Slot) -> bool:
    return all(a <= b for a, b in zip(smaller, larger, strict=True))


__all__ = ["Folded", "SegmentTable", "Slot"]
