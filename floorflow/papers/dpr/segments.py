"""The cheapest folding of every interval of layers on a slot: the table that the shortest path is found in.

Intervals are solved when they are asked for (`interval`). Tables of several slots share what they know: what fits a
smaller slot fits a larger one, and what a larger one needs, a smaller one needs too.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from floorflow.papers.dpr.interval import Folded, Interval
from floorflow.papers.dpr.problem import UNITS, ChunkProblem
from floorflow.papers.dpr.undominated import undominated

Slot = tuple[int, ...]
"""The limits of a slot, in units."""
Span = tuple[int, int]
"""The first layer of an interval, and the one behind its last."""


class SegmentTable:
    """The intervals of a problem's layers, by first layer and the layer behind, solved when they are asked for."""

    def __init__(self, problem: ChunkProblem) -> None:
        self.problem = problem
        self.times_solved = 0
        self._known: dict[Span, dict[Slot, Folded]] = {}
        self._quick: dict[tuple[Span, Slot], float] = {}
        self._intervals: dict[Span, Interval] = {}
        self._area = np.array([have * unit for have, unit in zip(problem.device, UNITS, strict=True)], dtype=np.int64)
        self._rows = [
            undominated(np.column_stack([layer.cycles, layer.total_cycles, layer.use])) for layer in problem.layers
        ]

    def is_known(self, first: int, behind: int, slot: Slot) -> bool:
        """Whether the interval was solved on the slot."""
        return slot in self._known.get((first, behind), {})

    def lower(self, first: int, behind: int, slot: Slot) -> float:
        """Return a proven bound of an interval's cycles on a slot: as good as known where it was solved."""
        known = self._known.get((first, behind), {})
        if slot in known:
            return known[slot].lower
        told = max((folded.lower for other, folded in known.items() if _within(slot, other)), default=0.0)
        key = (first, behind), slot
        if key not in self._quick:
            self._quick[key] = self._interval(first, behind).bound_by_resources(np.array(slot, dtype=np.int64))
        return max(told, self._quick[key])

    def solved(self, first: int, behind: int, slot: Slot) -> Folded:
        """Return the cheapest folding of an interval on a slot."""
        known = self._known.setdefault((first, behind), {})
        if slot not in known:
            known[slot] = _shared(known, slot) or self._solve(first, behind, slot)
        return known[slot]

    def _solve(self, first: int, behind: int, slot: Slot) -> Folded:
        self.times_solved += 1
        smaller = [folded for other, folded in self._known[first, behind].items() if _within(other, slot)]
        # What fits a smaller slot need not be bettered to be used.
        usable = min(smaller, key=lambda folded: folded.cycles, default=Folded(inf))
        found = self._interval(first, behind).cheapest(np.array(slot, dtype=np.int64), usable.cycles, self._area)
        return found if found.rows or not usable.rows else replace(usable, lower=min(found.lower, usable.cycles))

    def _interval(self, first: int, behind: int) -> Interval:
        if (first, behind) not in self._intervals:
            self._intervals[first, behind] = Interval.of(self.problem, first, self._rows[first:behind])
        return self._intervals[first, behind]


def _shared(known: dict[Slot, Folded], slot: Slot) -> Folded | None:
    """Return what another slot's answer decides: a larger one's that fits, or that nothing does."""
    larger = (folded for other, folded in known.items() if _within(slot, other) and folded.is_exact)
    return next((folded for folded in larger if not folded.rows or _within(folded.use, slot)), None)


def _within(smaller: Slot, larger: Slot) -> bool:
    return all(a <= b for a, b in zip(smaller, larger, strict=True))
