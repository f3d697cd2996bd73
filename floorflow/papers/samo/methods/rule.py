"""Method ``rule``: SAMO's Algorithm 2. Widen the slowest node by the least resources; then merge partitions.

Each partition starts at its narrowest. Its slowest node takes the faster option that adds least to the mean share of
the limits, with the foldings of its two streams; nodes on these follow (eq. 9 and 10), all others stay. Where that does
not fit, all others may give back what they do not need. Partitions begin fully split. One that is bound by memory,
whose slowest node is fully unrolled, or that takes less time than a reconfiguration is merged with a neighbour where
that lowers the cost. At last cuts move by one place while that does.

Differences from SAMO's code: what follows a widened node is chosen exactly, by variable elimination, not by copying
foldings along the graph; a start that does not fit is repaired by prices instead of giving up; each partition is
widened by two measures, the mean share and the share weighted by what is scarce, and keeps the faster; partitions are
merged in two orders, from the first to the last and by gain, and the cheaper design is kept; cuts are moved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from floorflow.papers.samo.problem import Design, Floats, Ints, ScheduleAnswer, ScheduleProblem
from floorflow.papers.samo.segment_model import Mask, SegmentModel, decide
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class _Partition:
    """A partition as the rule leaves it: us of its run, infinite if it has no legal folding."""

    us: float
    numbers: tuple[int, ...] = ()
    may_merge: bool = True
    """Whether one of the heuristics for merging holds."""


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return what the rule finds; proves nothing. ``seed`` is not used."""
    del seed
    return _Rule(problem).run()


class _Rule:
    def __init__(self, problem: ScheduleProblem) -> None:
        self.problem = problem
        self._widened: dict[tuple[int, int], _Partition] = {}

    def run(self) -> ScheduleAnswer:
        paths = [
            self._shifted(merged(list(range(len(self.problem.borders))))) for merged in (self._in_turn, self._by_gain)
        ]
        illegal, cost, path = min((*self._cost(path), path) for path in paths)
        if illegal:
            return ScheduleAnswer(None, SolveStats("rule", "heuristic"), "no merge makes every partition legal")
        segments = list(pairwise(path))
        cuts = tuple(self.problem.borders[b] - 1 for _, b in segments[:-1])
        rows = tuple(number for segment in segments for number in self._partition(*segment).numbers)
        return ScheduleAnswer(Design(cuts, rows), SolveStats("rule", "heuristic", cost))

    def _cost(self, path: Sequence[int]) -> tuple[int, float]:
        """Return how many partitions are not legal, and the us of all others with reconfiguration."""
        run_us = [self._partition(*segment).us for segment in pairwise(path)]
        legal = [us for us in run_us if np.isfinite(us)]
        return len(run_us) - len(legal), sum(legal) + (len(run_us) - 1) * self.problem.reconfiguration_us

    def _in_turn(self, path: list[int]) -> list[int]:
        """Merge from the first partition to the last, again and again, each with the better of its neighbours."""
        at = 0
        while at < len(path) - 1:
            shorter = self._without_best(path, [border for border in (at, at + 1) if self._may_merge(path, border)])
            at = at + 1 if shorter is None else 0
            path = shorter or path
        return path

    def _by_gain(self, path: list[int]) -> list[int]:
        while (
            shorter := self._without_best(path, [b for b in range(len(path)) if self._may_merge(path, b)])
        ) is not None:
            path = shorter
        return path

    def _may_merge(self, path: list[int], border: int) -> bool:
        """Whether a heuristic asks to merge one of the partitions at an inner border."""
        if not 0 < border < len(path) - 1:
            return False
        return any(self._partition(*path[at : at + 2]).may_merge for at in (border - 1, border))

    def _without_best(self, path: list[int], borders: list[int]) -> list[int] | None:
        """Return the path without the one of some borders that costs least, if that is less than it costs now."""
        shorter = [path[:border] + path[border + 1 :] for border in borders]
        best = min(shorter, key=self._cost, default=path)
        return best if self._cost(best) < self._cost(path) else None

    def _shifted(self, path: list[int]) -> list[int]:
        """Move cuts by one allowed place while that lowers the cost."""
        moved = True
        while moved:
            moved = False
            for at in range(1, len(path) - 1):
                for place in (path[at] - 1, path[at] + 1):
                    other = [*path[:at], place, *path[at + 1 :]]
                    if path[at - 1] < place < path[at + 1] and self._cost(other) < self._cost(path):
                        path, moved = other, True
        return path

    def _partition(self, a: int, b: int) -> _Partition:
        if (a, b) not in self._widened:
            first, last = self.problem.borders[a], self.problem.borders[b] - 1
            self._widened[a, b] = widened(self.problem, first, last)
        return self._widened[a, b]


def widened(problem: ScheduleProblem, first: int, last: int) -> _Partition:
    """Widen a partition by both measures, and return the faster."""
    model = SegmentModel(problem, range(first, last + 1))
    slow_enough = problem.first_slow_enough(first, last)
    if not model.candidates.size or slow_enough >= len(problem.levels):
        return _Partition(np.inf)
    first_end = _Widening(model, slow_enough, scarce=False).run()
    least_us = problem.microseconds(float(problem.levels[max(int(model.candidates[0]), slow_enough)]))
    if first_end.us <= least_us:
        return first_end
    return min(first_end, _Widening(model, slow_enough, scarce=True).run(), key=lambda part: part.us)


class _Widening:
    """One partition from its narrowest folding on."""

    def __init__(self, model: SegmentModel, slow_enough: int, *, scarce: bool) -> None:
        self.model, self.slow_enough, self.scarce = model, slow_enough, scarce
        self.count = len(model.limits)
        self._parts: dict[tuple[int, ...], SegmentModel] = {}
        self.even: Floats = np.full(self.count, 1 / max(1, self.count))

    def run(self) -> _Partition:
        rows = self._start()
        if rows is None:
            return _Partition(np.inf)
        memory_bound = False
        while (wider := self._wider(rows)) is not None:
            if self.model.level[wider].max() < self.slow_enough:
                memory_bound = True
                break
            rows = wider
        level = int(self.model.level[rows].max())
        if level < self.slow_enough:
            return _Partition(np.inf)
        problem = self.model.problem
        us = problem.microseconds(float(problem.levels[level]))
        unrolled = not self._faster(rows, level).any()
        may_merge = memory_bound or unrolled or us < problem.reconfiguration_us
        return _Partition(us, self.model.numbers(rows), may_merge)

    def _start(self) -> Ints | None:
        """Return the narrowest folding, or where that does not fit one that prices find; None if they find none."""
        model, slowest = self.model, self.model.candidates[-1:]
        narrow = np.array([model.narrowest(number) for number in range(len(model.nodes))])
        if (model.use[narrow].sum(axis=0) <= model.limits).all() and model.keeps_rules(narrow):
            return narrow
        return decide(model, slowest, self.even).fits[0]

    def _faster(self, rows: Ints, level: int) -> Mask:
        """Mark the rows of the slowest node that are faster than it is."""
        slowest = int(np.argmax(self.model.level[rows]))
        return np.asarray((self.model.row_node == slowest) & (self.model.level < level))

    def _wider(self, rows: Ints) -> Ints | None:
        """Return the selection with the slowest node faster that adds least, within the limits; None if none is met."""
        model = self.model
        level = int(model.level[rows].max())
        faster = self._faster(rows, level)
        if not faster.any():
            return None
        near = self._near(rows, level)
        if near is not None:
            return near
        # Nothing that gives back may become as slow as the slowest is, or two nodes would take turns.
        others = model.row_node != int(np.argmax(model.level[rows]))
        keep = faster | (others & (self._chosen(rows) | (model.level < level)))
        return self._first_within(model, rows, keep, level, np.zeros_like(model.limits))

    def _near(self, rows: Ints, level: int) -> Ints | None:
        """Return the same where only what is on the streams of the slowest node may change."""
        model = self.model
        slowest = int(np.argmax(model.level[rows]))
        near = model.around(slowest)
        if near not in self._parts:
            self._parts[near] = SegmentModel(model.problem, [model.positions[n] for n in near])
        part = self._parts[near]
        keep = np.zeros(len(part.level), dtype=np.bool_)
        for place, (n, sides) in enumerate(zip(near, model.keeps_far_ends(slowest, near, rows), strict=True)):
            mine = part.row_node == place
            suits = (sides[0] & sides[1])[np.where(mine, part.row_number, 0)]
            stays = part.row_number == model.row_number[rows[n]]
            keep |= mine & ((suits & (part.level < level)) | (stays & (n != slowest)))
        far = np.setdiff1d(np.arange(len(rows)), near)
        found = self._first_within(part, rows, keep, level, model.use[rows[far]].sum(axis=0))
        if found is None:
            return None
        wider = rows.copy()
        for n, row in zip(near, found, strict=True):
            wider[n] = model.row(n, int(part.row_number[row]))
        return wider

    def _chosen(self, rows: Ints) -> Mask:
        chosen = np.zeros(len(self.model.level), dtype=np.bool_)
        chosen[rows] = True
        return chosen

    def _first_within(self, model: SegmentModel, rows: Ints, keep: Mask, level: int, besides: Ints) -> Ints | None:
        """Return the selection of a model that adds least within the limits, where others use something besides."""
        if not model.has_rows:
            return None
        for prices in self._prices(rows):
            allowed = np.repeat(keep[:, None], len(prices), axis=1)
            cheapest = model.cheapest(prices, np.full(len(prices), level), allowed)
            use = cheapest.use + besides
            within = (cheapest.bound < model.forbidden) & (use <= model.limits).all(axis=1)
            for case in sorted(np.flatnonzero(within).tolist(), key=lambda case: self._mean(use[case])):
                if model.is_exact or model.keeps_rules(cheapest.rows[case]):
                    return np.asarray(cheapest.rows[case])
        return None

    def _prices(self, rows: Ints) -> tuple[Floats, Floats]:
        """Return the own measure of what an option adds; and where that does not fit, each resource alone."""
        share = self.model.use[rows].sum(axis=0) / np.maximum(self.model.limits, 1)
        scarce = (share + 0.01) / (share + 0.01).sum()
        return (scarce if self.scarce else self.even)[None], np.eye(self.count)

    def _mean(self, use: Ints) -> float:
        share = use / np.maximum(self.model.limits, 1)
        return float((share * share).sum() if self.scarce else share.sum())
