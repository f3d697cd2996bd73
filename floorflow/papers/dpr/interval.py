"""An interval of layers as one chunk: its cheapest folding within the limits of a slot, and the table of all of them.

A chunk costs ``(B - 1) x slowest + total``. So its slowest layer is fixed at each value that may be best, from the
least with which it fits, and `choice` finds the least total; the bound of all slower ones ends the search.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf

import numpy as np

from floorflow.papers.dpr.choice import Choice, Options, cheapest, fits_alone, fitting
from floorflow.papers.dpr.problem import UNITS, ChunkProblem, Ints
from floorflow.segments.paths import Span
from floorflow.segments.slot_model import undominated
from floorflow.segments.table import SpanTable

Slot = tuple[int, ...]
"""The limits of a slot, in units."""


@dataclass(frozen=True)
class Folded:
    """An interval's least cycles of a batch on a slot, the option of each layer and its area (`ChunkProblem.area`).

    ``cycles`` is infinite where nothing was found. ``lower`` is their proven bound: equal to them unless a limit on
    work ended the search, infinite where it is proven that nothing fits.
    """

    cycles: float
    rows: tuple[int, ...] = ()
    area: float = 0.0
    use: tuple[int, ...] = ()
    lower: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether no folding is proven to be better."""
        return self.lower == self.cycles


@dataclass(frozen=True, eq=False)
class _Best:
    """The best choice so far and its cycles of a batch, and the bound of those that were looked at."""

    choice: Choice | None
    cycles: float
    lower: float


@dataclass(frozen=True, eq=False)
class Interval:
    """The options of an interval's layers by their total cycles, and the cycles of each one's slowest part."""

    problem: ChunkProblem
    first: int
    slowest: Ints
    options: Options
    traffic: int

    @classmethod
    def of(cls, problem: ChunkProblem, first: int, rows: Sequence[Ints]) -> "Interval":
        """Return the interval from a layer on, with some rows of each of its layers."""
        layers = problem.layers[first : first + len(rows)]
        start = np.cumsum([0, *(len(some) for some in rows[:-1])])
        slowest = np.concatenate([layer.cycles[some] for layer, some in zip(layers, rows, strict=True)])
        total = np.concatenate([layer.total_cycles[some] for layer, some in zip(layers, rows, strict=True)])
        use = np.concatenate([layer.use[some] for layer, some in zip(layers, rows, strict=True)])
        options = Options(total, use, np.concatenate(rows), start)
        return cls(problem, first, slowest, options, problem.traffic_cycles(first, first + len(rows)))

    @cached_property
    def levels(self) -> Ints:
        """The cycles that the slowest layer may take, ascending: each layer has an option of no more."""
        levels = np.unique(self.slowest)
        least = np.minimum.reduceat(self.slowest, self.options.start).max()
        return np.asarray(levels[levels >= least], dtype=np.int64)

    def bound_by_resources(self, limits: Ints) -> float:
        """Return a bound of a batch's cycles by each resource alone; infinite where one is short at any cycles."""
        if (limits < 0).any():
            return inf
        levels = range(len(self.levels))
        at = bisect_left(levels, 1, key=lambda at: fits_alone(self._within(at), limits) is not None)
        return inf if at == len(self.levels) else self._bound(at)

    def cheapest(self, limits: Ints, enough: float, area: Ints) -> Folded:
        """Return the cheapest folding, if it takes at most ``enough``; ``area`` is what the device has."""
        if (limits < 0).any():
            return Folded(inf, lower=inf)
        refuted, start, some = self._first_fitting(limits)
        best = _Best(None, enough, self._bound(refuted) if refuted < start else inf)
        if some is not None and self._cycles(some) <= enough:
            best = _Best(some, self._cycles(some), best.lower)
        for at in range(start, len(self.levels)):
            if (self.problem.batch - 1) * int(self.levels[at]) > best.cycles:
                break
            if self._bound(at) <= best.cycles:
                best = self._bettered(best, at, limits, area)
        if best.choice is None:
            return Folded(inf, lower=best.lower)
        use, cycles = best.choice.use, best.cycles
        return Folded(cycles, best.choice.numbers, self._area(best.choice), use, min(cycles, best.lower))

    def _bettered(self, best: _Best, at: int, limits: Ints, area: Ints) -> _Best:
        """Return the best with what is found where the slowest layer takes no more than a level."""
        level = int(self.levels[at])
        most = best.cycles - (self.problem.batch - 1) * max(level, self.traffic)
        found = cheapest(self._within(at), limits, most, area, enough=self.traffic)
        lower = best.lower
        if found.bound < inf:
            lower = min(lower, self.problem.chunk_cycles(level, int(found.bound), self.traffic))
        if found.choice is None:
            return _Best(best.choice, best.cycles, lower)
        cycles = self._cycles(found.choice)
        if best.choice is None or (cycles, self._area(found.choice)) < (best.cycles, self._area(best.choice)):
            return _Best(found.choice, cycles, lower)
        return _Best(best.choice, best.cycles, lower)

    def _first_fitting(self, limits: Ints) -> tuple[int, int, Choice | None]:
        """Return the first level that is not refuted, the first within which something is known to fit, and that."""
        low, high, refuted, some = 0, len(self.levels), 0, None
        while low < high:
            middle = (low + high) // 2
            found = fitting(self._within(middle), limits)
            if found.choice is not None:
                high, some = middle, found.choice
                continue
            low = middle + 1
            if found.bound == inf:
                refuted = low
        return refuted, high, some

    def _within(self, at: int) -> Options:
        """Return the options that take no longer than a level; each layer has one."""
        return self.options.kept(self.slowest <= self.levels[at]) or self.options

    def _bound(self, at: int) -> int:
        """Return what a chunk whose slowest layer takes so long takes at least."""
        within = self._within(at)
        fastest = int(np.minimum.reduceat(within.cost, within.start).sum())
        return self.problem.chunk_cycles(int(self.levels[at]), fastest, self.traffic)

    def _cycles(self, found: Choice) -> int:
        layers = self.problem.layers[self.first : self.first + len(found.numbers)]
        slowest = max(int(layer.cycles[row]) for layer, row in zip(layers, found.numbers, strict=True))
        return self.problem.chunk_cycles(slowest, found.cost, self.traffic)

    def _area(self, found: Choice) -> float:
        return self.problem.area(np.array(found.use))


class Intervals:
    """The intervals between a problem's borders on slots, solved when they are asked for.

    Slots share what they know: what fits a smaller slot fits a larger one, and what a larger one needs, a smaller one
    needs too.
    """

    def __init__(self, problem: ChunkProblem) -> None:
        self.problem = problem
        self._tables: dict[Slot, SpanTable[Folded]] = {}
        self._known: dict[Span, dict[Slot, Folded]] = {}
        self._intervals: dict[Span, Interval] = {}
        self._area = np.array([have * unit for have, unit in zip(problem.device, UNITS, strict=True)], dtype=np.int64)
        self._rows = [
            undominated_in_order(np.column_stack([layer.cycles, layer.total_cycles, layer.use]))
            for layer in problem.layers
        ]

    def on(self, slot: Slot) -> SpanTable[Folded]:
        """Return the intervals on a slot, in cycles: bounded by each resource alone, and by what larger slots need."""
        if slot not in self._tables:
            count, limits = len(self.problem.borders), np.array(slot, dtype=np.int64)
            lowest = np.zeros((count, count))
            for a, b in np.argwhere(np.triu(np.ones_like(lowest), 1)).tolist():
                known = self._known.get((a, b), {})
                told = (folded.lower for other, folded in known.items() if _within(slot, other))
                lowest[a, b] = max(self._interval((a, b)).bound_by_resources(limits), *told, 0.0)
            self._tables[slot] = SpanTable(lowest, partial(self._solved, slot))
        return self._tables[slot]

    def _solved(self, slot: Slot, span: Span) -> tuple[float, Folded]:
        """Return the cheapest folding of an interval on a slot, and bound it on smaller ones."""
        known = self._known.setdefault(span, {})
        known[slot] = folded = _shared(known, slot) or self._solve(slot, span)
        for other, table in self._tables.items():
            if _within(other, slot) and span not in table.answers:
                table.lowest[span] = max(table.lowest[span], folded.lower)
        return folded.lower, folded

    def _solve(self, slot: Slot, span: Span) -> Folded:
        smaller = [folded for other, folded in self._known[span].items() if _within(other, slot)]
        # What fits a smaller slot need not be bettered to be used.
        usable = min(smaller, key=lambda folded: folded.cycles, default=Folded(inf))
        found = self._interval(span).cheapest(np.array(slot, dtype=np.int64), usable.cycles, self._area)
        return found if found.rows or not usable.rows else replace(usable, lower=min(found.lower, usable.cycles))

    def _interval(self, span: Span) -> Interval:
        if span not in self._intervals:
            first, behind = (self.problem.borders[border] for border in span)
            self._intervals[span] = Interval.of(self.problem, first, self._rows[first:behind])
        return self._intervals[span]


def _shared(known: dict[Slot, Folded], slot: Slot) -> Folded | None:
    """Return what another slot's answer decides: a larger one's that fits, or that nothing does."""
    larger = (folded for other, folded in known.items() if _within(slot, other) and folded.is_exact)
    return next((folded for folded in larger if not folded.rows or _within(folded.use, slot)), None)


def _within(smaller: Slot, larger: Slot) -> bool:
    return all(a <= b for a, b in zip(smaller, larger, strict=True))


def undominated_in_order(rows: Ints) -> Ints:
    """Return the numbers of rows (n, d) of which no other is as small in every column, by column from the first on."""
    kept = undominated(rows)
    return np.asarray(kept[np.lexsort(rows[kept].T[::-1])], dtype=np.int64)
