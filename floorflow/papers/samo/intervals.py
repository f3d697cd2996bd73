"""The shortest interval of every contiguous segment on the whole device, each worked out when it is asked for.

Without bandwidth an interval that a segment cannot meet no longer segment can. Bandwidth breaks that: a segment that is
*too fast* for its memory may have a longer one that is not. So two things are kept of a segment: the bound by
resources, which holds for all longer ones, and its own answer, in which some node is slow enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from floorflow.papers.samo.problem import Floats, Ints, ScheduleProblem
from floorflow.papers.samo.proof import prove
from floorflow.papers.samo.relaxation import decide
from floorflow.papers.samo.segment_model import Mask, SegmentModel

AT_ONCE = 8
"""Intervals that are tried at once."""


@dataclass(frozen=True)
class Shortest:
    """A segment's shortest interval, as a position in the problem's levels, and the options of its nodes that have it.

    ``level`` is the number of levels where no folding is legal.
    """

    level: int
    numbers: tuple[int, ...] = ()


class SegmentIntervals:
    """The segments between the borders of a problem, by their positions in ``problem.borders``."""

    def __init__(self, problem: ScheduleProblem) -> None:
        self.problem = problem
        self.none = len(problem.levels)
        count = len(problem.borders)
        self.times_solved = 0
        self._answers: dict[tuple[int, int], Shortest] = {}
        self._prices: Floats = np.full(len(problem.limited), 1 / max(1, len(problem.limited)))
        self.by_resources = np.zeros((count, count), dtype=np.int64)
        """Levels below which resources let no segment come, (first border, border behind)."""
        self._start_bounds()
        self.lowest = np.maximum(self.by_resources, self._slow_enough)
        """Levels below which segments cannot come, by resources and bandwidth; those that are known are exact."""

    def _start_bounds(self) -> None:
        """Take the fastest row of each node that fits alone."""
        problem = self.problem
        limits = np.array(problem.limits)
        for number, (first, behind) in enumerate(zip(problem.borders, problem.borders[1:], strict=False)):
            for node in problem.nodes[first:behind]:
                cycles = node.cycles[(node.use <= limits).all(axis=1)]
                level = int(np.searchsorted(problem.levels, cycles.min())) if cycles.size else self.none
                self.by_resources[number, number + 1] = max(self.by_resources[number, number + 1], level)
        self._spread()

    def _spread(self) -> None:
        """Bound each segment by all that it contains."""
        upwards = np.maximum.accumulate(self.by_resources[::-1], axis=0)[::-1]
        self.by_resources = np.triu(np.maximum.accumulate(upwards, axis=1), 1)

    @cached_property
    def _slow_enough(self) -> Ints:
        """Return the first level of each segment that is not too fast for the memory."""
        borders = self.problem.borders
        lowest = np.zeros((len(borders), len(borders)), dtype=np.int64)
        for a, first in enumerate(borders):
            for b in range(a + 1, len(borders)):
                lowest[a, b] = self.problem.first_slow_enough(first, borders[b] - 1)
        return lowest

    def is_known(self, a: int, b: int) -> bool:
        """Whether the segment between two borders was solved."""
        return (a, b) in self._answers

    def shortest(self, a: int, b: int) -> Shortest:
        """Return the shortest interval of the segment between two borders, proven."""
        if (a, b) not in self._answers:
            self.times_solved += 1
            answer = self._solved(a, b)
            self._answers[a, b] = answer
            self._spread()
            self.lowest = np.maximum(self.lowest, self.by_resources)
            self.lowest[a, b] = answer.level
        return self._answers[a, b]

    def _solved(self, a: int, b: int) -> Shortest:
        first, behind = self.problem.borders[a], self.problem.borders[b]
        model = SegmentModel(self.problem, range(first, behind))
        alone = self._least(model, model.candidates[model.candidates >= self.by_resources[a, b]])
        self.by_resources[a, b] = alone.level
        if alone.level == self.none or alone.level >= self._slow_enough[a, b]:
            return alone
        return self._slowed(model, int(self._slow_enough[a, b]))

    def _least(self, model: SegmentModel, candidates: Ints) -> Shortest:
        """Return the least of ascending levels at which resources allow a folding: fast ones first, then between."""
        low, high, best = 0, len(candidates), Shortest(self.none)
        steps = np.unique(np.minimum(2 ** np.arange(AT_ONCE) - 1, max(0, high - 1)))
        while low < high:
            at = steps[(steps >= low) & (steps < high)]
            fits, refuted = self._decided(model, candidates[at], at)
            low = max(low, refuted + 1)
            if fits is not None:
                high, best = fits[0], Shortest(int(candidates[fits[0]]), model.numbers(fits[1]))
            steps = np.unique(np.linspace(low, high - 1, min(AT_ONCE, max(1, high - low))).astype(np.int64))
        return best

    def _decided(self, model: SegmentModel, levels: Ints, at: Ints) -> tuple[tuple[int, Ints] | None, int]:
        """Return the first position known to fit, with rows, and the last known to be refuted (-1: none)."""
        verdicts = decide(model, levels, self._prices)
        self._prices = verdicts.prices.mean(axis=0)
        fitting = [(int(at[case]), rows) for case, rows in enumerate(verdicts.fits) if rows is not None]
        refuted = at[verdicts.refuted]
        if verdicts.open.all():
            case = len(at) // 2
            rows = prove(model, int(levels[case]))
            return (None, int(at[case])) if rows is None else ((int(at[case]), rows), -1)
        return (fitting[0] if fitting else None), int(refuted.max()) if refuted.size else -1

    def _slowed(self, model: SegmentModel, slow_enough: int) -> Shortest:
        """Return the least level with a folding in which some node is slow enough: each node in turn has to be."""
        levels = np.unique(model.level[model.level >= slow_enough])
        for level in levels.tolist():
            slow = [n for n in range(len(model.nodes)) if self._may_be_slow(model, n, slow_enough, level).any()]
            keep = np.stack([self._kept(model, n, slow_enough) for n in slow], axis=1)
            verdicts = decide(model, np.full(len(slow), level), self._prices, keep)
            for case, rows in enumerate(verdicts.fits):
                found = prove(model, level, keep[:, case]) if verdicts.open[case] else rows
                if found is not None:
                    return Shortest(int(model.level[found].max()), model.numbers(found))
        return Shortest(self.none)

    @staticmethod
    def _may_be_slow(model: SegmentModel, node: int, slow_enough: int, level: int) -> Mask:
        return np.asarray((model.row_node == node) & (model.level >= slow_enough) & (model.level <= level))

    @staticmethod
    def _kept(model: SegmentModel, node: int, slow_enough: int) -> Mask:
        return np.asarray((model.row_node != node) | (model.level >= slow_enough))
