"""The least use of each resource by interval: one exact folding a point, and what the points prove for each other.

A folding is legal at every interval from its own slowest engine on, whatever it was sought for; a bound of an interval
holds for all shorter ones; an interval proven impossible rules out all shorter ones. So every point takes the best of
all foldings met, no point is worse than one at a shorter interval, and between two equal ends nothing is solved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from floorflow.folding import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown, fold_at_interval
from floorflow.folding.problem import FoldingAnswer
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.stats import SolveStats

SCARCITY = "scarcity"
OBJECTIVES = (SCARCITY, *RESOURCE_NAMES)
WORTH = 0.01
"""Share of a front's value that a longer interval must save to be worth a point."""

Solve = Callable[[FoldingProblem, int], FoldingAnswer]
PointStatus = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class Point:
    """The best folding known with no engine above ``interval_cycles``; ``folding.stats`` are of the front's objective.

    ``bound``: no folding of the problem uses less at this interval. Without a folding ``reason`` says why.
    """

    interval_cycles: int
    status: PointStatus
    folding: FoldingSolution | None = None
    bound: float | None = None
    reason: str | None = None

    @property
    def value(self) -> float | None:
        """Units of the resource, or the scarcity."""
        return None if self.folding is None else self.folding.stats.objective

    @property
    def gap(self) -> float | None:
        """Share of the value that may be saved at most."""
        return None if self.folding is None else self.folding.stats.gap


@dataclass(frozen=True)
class Front:
    """The least of one objective, `SCARCITY` or a resource, at ascending intervals, and the seconds this took."""

    objective: str
    points: tuple[Point, ...]
    seconds: float


def fronts(
    problem: FoldingProblem,
    objectives: Sequence[str],
    first_cycles: int,
    points: int,
    *,
    progress: Progress = SILENT,
    solve: Solve = fold_at_interval,
) -> tuple[Front, ...]:
    """Return the front of each objective, at the same intervals: at most so many ``points`` from ``first_cycles`` on.

    They end where no front falls by more than `WORTH` any more. Of the foldings with the least of a resource each
    point has the least scarce one that was found.
    """
    search = Fronts(problem, solve, progress)
    last = search.longest(objectives, first_cycles)
    chosen = spread([cycles for cycles in problem.intervals() if first_cycles <= cycles <= last], points)
    for objective in objectives:
        search.trace(objective, chosen)
    for objective in objectives:
        search.refine(objective, chosen)
    return tuple(
        Front(o, tuple(search.point(o, cycles) for cycles in chosen), search.seconds.get(o, 0.0)) for o in objectives
    )


def spread(intervals: Sequence[int], points: int) -> tuple[int, ...]:
    """Return so many of the ascending ``intervals``, or all if there are fewer, as evenly over their ratio as can be.

    The first and the last are among them.

    >>> spread([1, 2, 3, 4, 8, 9, 10, 64], 4)
    (1, 4, 10, 64)
    """
    count = min(points, len(intervals))
    if count < 2:
        return tuple(intervals[:count])
    logs = np.log(np.array(intervals, dtype=float))
    wanted = np.linspace(logs[0], logs[-1], count)
    places = [int(np.argmin(np.abs(logs - value))) for value in wanted]
    for k in range(1, count):
        places[k] = max(places[k], places[k - 1] + 1)
    places[-1] = len(intervals) - 1
    for k in range(count - 2, -1, -1):
        places[k] = min(places[k], places[k + 1] - 1)
    return tuple(intervals[place] for place in places)


@dataclass
class Fronts:
    """What is known of all fronts of one problem: the foldings met, the bounds proven, the intervals ruled out."""

    problem: FoldingProblem
    solve: Solve = fold_at_interval
    progress: Progress = SILENT
    seconds: dict[str, float] = field(default_factory=dict)
    _foldings: list[FoldingSolution] = field(default_factory=list)
    _bounds: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    _asked: set[tuple[str, int]] = field(default_factory=set)
    _impossible: tuple[int, str] = (0, "")
    """The longest interval proven impossible, and why."""

    @cached_property
    def _problems(self) -> dict[str, FoldingProblem]:
        return {o: replace(self.problem, minimised=None if o == SCARCITY else o) for o in OBJECTIVES}

    def cost(self, objective: str, use: Resources) -> float:
        """Return what ``use`` counts for an objective, by the very arithmetic of the solver, so that equals are."""
        weights, scale = self._problems[objective].cost_weights()
        return int(np.array(use.as_tuple(), dtype=np.int64) @ weights) / scale

    def best(self, objective: str, interval_cycles: int) -> FoldingSolution | None:
        """Return the best folding met for an interval; of equals the least scarce, then the fastest."""
        quick = [folding for folding in self._foldings if folding.interval_cycles <= interval_cycles]

        def merit(folding: FoldingSolution) -> tuple[float, float, int]:
            use = folding.resources
            return self.cost(objective, use), self.cost(SCARCITY, use), folding.interval_cycles

        return min(quick, key=merit, default=None)

    def value(self, objective: str, interval_cycles: int) -> float | None:
        """Return the least known at an interval."""
        best = self.best(objective, interval_cycles)
        return None if best is None else self.cost(objective, best.resources)

    def bound(self, objective: str, interval_cycles: int) -> float | None:
        """Return what nothing is below at an interval: the best of its own bound and those of longer ones."""
        known = self._bounds.get(objective, [])
        return max((bound for cycles, bound in known if cycles >= interval_cycles), default=None)

    def proven(self, objective: str, interval_cycles: int) -> bool:
        """Whether the least at an interval is known."""
        value, bound = self.value(objective, interval_cycles), self.bound(objective, interval_cycles)
        return value is not None and bound is not None and value <= bound

    def ask(self, objective: str, interval_cycles: int) -> None:
        """Solve for an objective at an interval, unless the answer is known or was sought before."""
        key = objective, interval_cycles
        if key in self._asked or interval_cycles <= self._impossible[0] or self.proven(*key):
            return
        self._asked.add(key)
        with self._timed(objective, f"least {objective} at {interval_cycles:,} cycles"):
            answer = self.solve(self._problems[objective], interval_cycles)
        if isinstance(answer, FoldingSolution):
            self._foldings.append(answer)
            if answer.stats.bound is not None:
                self._bounds.setdefault(objective, []).append((interval_cycles, answer.stats.bound))
        elif isinstance(answer, FoldingInfeasible):
            self._impossible = interval_cycles, str(answer)

    def longest(self, objectives: Sequence[str], first_cycles: int) -> int:
        """Return the shortest interval from which on no front falls by more than `WORTH`."""
        intervals = [cycles for cycles in self.problem.intervals() if cycles >= first_cycles]
        end = 0
        for objective in objectives:
            self.ask(objective, intervals[-1])
            low, high = end, len(intervals) - 1
            if self._saves_no_more(objective, intervals[low], intervals[-1]):
                continue
            while high - low > 1:
                middle = (low + high) // 2
                if self._saves_no_more(objective, intervals[middle], intervals[-1]):
                    high = middle
                else:
                    low = middle
            end = high
        return intervals[end]

    def _saves_no_more(self, objective: str, interval_cycles: int, last_cycles: int) -> bool:
        self.ask(objective, interval_cycles)
        value, least = self.value(objective, interval_cycles), self.value(objective, last_cycles)
        return value is not None and least is not None and value * (1 - WORTH) <= least

    def trace(self, objective: str, intervals: Sequence[int]) -> None:
        """Solve at ascending intervals, from the ends inwards, as far as the ends do not settle what is between."""
        if not intervals:
            return
        self.ask(objective, intervals[-1])
        self.ask(objective, intervals[0])
        if len(intervals) > 2 and not self._is_flat(objective, intervals):
            middle = len(intervals) // 2
            self.trace(objective, intervals[: middle + 1])
            self.trace(objective, intervals[middle:])

    def _is_flat(self, objective: str, intervals: Sequence[int]) -> bool:
        value, bound = self.value(objective, intervals[0]), self.bound(objective, intervals[-1])
        return value is not None and bound is not None and value <= bound

    def refine(self, objective: str, intervals: Sequence[int]) -> None:
        """Look at each interval for the least scarce of the foldings that use no more of the objective's resource."""
        for cycles in intervals:
            best = self.best(objective, cycles)
            least = self.bound(SCARCITY, cycles)
            if objective == SCARCITY or best is None:
                continue
            if least is not None and self.cost(SCARCITY, best.resources) <= least:
                continue
            limits = self.problem.budget.as_dict() | {objective: best.resources.as_dict()[objective]}
            problem = self._problems[SCARCITY].with_budget(Resources.from_dict(limits))
            with self._timed(objective, f"the rest beside the least {objective} at {cycles:,} cycles"):
                answer = self.solve(problem, cycles)
            if isinstance(answer, FoldingSolution):
                self._foldings.append(answer)

    def point(self, objective: str, interval_cycles: int) -> Point:
        """Return what is known of a front at an interval."""
        best, bound = self.best(objective, interval_cycles), self.bound(objective, interval_cycles)
        if best is None:
            if interval_cycles <= self._impossible[0]:
                return Point(interval_cycles, "infeasible", reason=f"proven infeasible: {self._impossible[1]}")
            return Point(interval_cycles, "unknown", bound=bound, reason=str(FoldingUnknown()))
        value = self.cost(objective, best.resources)
        status: Literal["optimal", "feasible"] = "optimal" if bound is not None and value <= bound else "feasible"
        stats = SolveStats(best.stats.method, status, value, bound)
        return Point(interval_cycles, status, replace(best, budget=self.problem.budget, stats=stats), bound)

    @contextmanager
    def _timed(self, objective: str, text: str) -> Iterator[None]:
        started = time.perf_counter()
        with self.progress.stage(f"least {objective}"):
            self.progress.note(text)
            yield
        self.seconds[objective] = self.seconds.get(objective, 0.0) + time.perf_counter() - started
