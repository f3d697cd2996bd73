"""The cheapest folding of every interval of layers on a slot: the table that the shortest path is found in.

A chunk costs ``(B - 1) x slowest + total``. So its slowest layer is fixed at each value that may be best, from the
least with which it fits, and `choice` finds the least total; the bound of all slower ones ends the search. Tables of
several slots share what they know: what fits a smaller slot fits a larger one, and what a larger one needs, a smaller
one needs too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorflow.errors import LimitError
from floorflow.schedule.chunks.choice import Choice, Options, cheapest, fitting
from floorflow.schedule.chunks.problem import UNITS, ChunkProblem, Ints
from floorflow.schedule.chunks.undominated import undominated

Slot = tuple[int, ...]
"""The limits of a slot, in units."""


@dataclass(frozen=True)
class Folded:
    """An interval's least cycles of a batch on a slot, the option of each layer and its area (`ChunkProblem.area`).

    ``cycles`` is infinite where nothing fits.
    """

    cycles: float
    rows: tuple[int, ...] = ()
    area: float = 0.0
    use: tuple[int, ...] = ()


class SegmentTable:
    """The intervals of a problem's layers, by first layer and the layer behind, solved when they are asked for."""

    def __init__(self, problem: ChunkProblem) -> None:
        self.problem = problem
        self.times_solved = 0
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
            return known[slot].cycles
        return max((folded.cycles for other, folded in known.items() if _within(slot, other)), default=0.0)

    def solved(self, first: int, behind: int, slot: Slot) -> Folded:
        """Return the cheapest folding of an interval on a slot.

        Raises
        ------
        LimitError
            If that took too much.

        """
        known = self._known.setdefault((first, behind), {})
        if slot not in known:
            known[slot] = self._shared(known, slot) or self._solve(first, behind, slot)
        return known[slot]

    def _shared(self, known: dict[Slot, Folded], slot: Slot) -> Folded | None:
        """Return what another slot's answer decides: a larger one's that fits, or that it does not fit."""
        for other, folded in known.items():
            if _within(slot, other):
                if not folded.rows:
                    return folded
                if all(a <= b for a, b in zip(folded.use, slot, strict=True)):
                    return folded
        return None

    def _solve(self, first: int, behind: int, slot: Slot) -> Folded:
        self.times_solved += 1
        problem, limits = self.problem, np.array(slot, dtype=np.int64)
        if (limits < 0).any():
            return Folded(np.inf)
        slowest, options = self._options(first, behind)
        levels = np.unique(slowest)
        levels = levels[levels >= np.minimum.reduceat(slowest, options.start).max()]
        traffic = problem.traffic_cycles(first, behind)
        best, cycles = None, self._known_cost(first, behind, slot)
        at = self._first_fitting(options, slowest, levels, limits)
        while at < len(levels):
            level = int(levels[at])
            at += 1
            within = options.kept(slowest <= level)
            assert within is not None
            fastest = int(np.minimum.reduceat(within.cost, within.start).sum())
            if problem.chunk_cycles(level, fastest, traffic) > cycles:
                if (problem.batch - 1) * level > cycles:
                    break
                continue
            most = cycles - (problem.batch - 1) * max(level, traffic)
            found = cheapest(within, limits, most, self._area)
            if found is None:
                continue
            cost = problem.chunk_cycles(self._slowest(first, found), found.cost, traffic)
            if best is None or (cost, self._area_of(found)) < (cycles, self._area_of(best)):
                best, cycles = found, float(cost)
        if best is None:
            return Folded(np.inf)
        return Folded(cycles, best.numbers, problem.area(np.array(best.use)), best.use)

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

    def _first_fitting(self, options: Options, slowest: Ints, levels: Ints, limits: Ints) -> int:
        """Return the first level within which something fits."""
        low, high = 0, len(levels)
        while low < high:
            middle = (low + high) // 2
            within = options.kept(slowest <= levels[middle])
            assert within is not None
            if fitting(within, limits) is None:
                low = middle + 1
            else:
                high = middle
        return low

    def _slowest(self, first: int, found: Choice) -> int:
        layers = self.problem.layers[first : first + len(found.numbers)]
        return max(int(layer.cycles[row]) for layer, row in zip(layers, found.numbers, strict=True))

    def _area_of(self, found: Choice) -> float:
        return self.problem.area(np.array(found.use))


def _within(smaller: Slot, larger: Slot) -> bool:
    return all(a <= b for a, b in zip(smaller, larger, strict=True))


__all__ = ["Folded", "LimitError", "SegmentTable", "Slot"]
