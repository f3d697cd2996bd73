"""One engine a network and its share of the memory, chosen together: exact over Pareto fronts.

Source: f-CNN^x enumerates all combinations of the fronts (Algorithm 1, line 1). Here shares of the memory are whole
slots of a round, which is a schedule with constant shares; prices on resources and slots give a bound, and combinations
whose prices alone exceed it are left out (Lagrangian pruning). What remains is enumerated, so that the best is proven.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from floorflow.bandwidth.rates import Wish, rate, rates
from floorflow.dataflow.traffic import BYTES_PER_US, EnginePoint
from floorflow.resources import Resources
from floorflow.stats import SolveStats, Status

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SLOTS = 128
"""Slots in a round: what shares are whole numbers of."""
MOST_LABELS = 3_000_000
"""Combinations that are looked at together; with more the best so far is told with its bound."""
_DSP, _SLOTS = 4, 5
"""Columns of needs: the resources in their order, then slots."""
_STEPS = 400
_EVEN = 1e-12


@dataclass(frozen=True)
class JointProblem:
    """Networks by name with their fronts and wishes, what the device has, and the bandwidth less its overhead."""

    names: tuple[str, ...]
    fronts: tuple[tuple[EnginePoint, ...], ...]
    wishes: tuple[Wish, ...]
    available: Resources
    bandwidth_gbs: float
    slots: int = SLOTS
    any_schedule: bool = False
    """Rates of which it is only known that a network alone and the bytes of all allow them: for a bound."""
    kept: frozenset[str] = frozenset()
    """Networks that get their least rates, or there is no choice."""

    @cached_property
    def limits(self) -> Floats:
        """What there is of each resource and of slots, (6,); a slot a network more where they bound others."""
        slots = self.slots + (len(self.names) if self.any_schedule else 0)
        return np.array([*self.available.as_tuple(), slots], dtype=np.float64)

    @cached_property
    def tables(self) -> "tuple[_Table, ...]":
        """Rows of each network: an engine and its slots."""
        return tuple(self._table(number) for number in range(len(self.names)))

    def _table(self, number: int) -> "_Table":
        points, wish = self.fronts[number], self.wishes[number]
        slots = np.arange(self.slots + 1)
        shares = slots[1:] / self.slots * self.bandwidth_gbs
        reached = [self._most(point, shares) if self.any_schedule else rates(point, shares) for point in points]
        speeds = np.pad(np.array(reached), ((0, 0), (1, 0)))
        errors = np.where(speeds >= wish.least_fps * (1 - 1e-9), wish.errors(speeds), np.inf)
        # More slots than the best error needs are of no use.
        useful = np.isfinite(errors)
        useful[:, 1:] &= errors[:, 1:] < np.minimum.accumulate(errors, axis=1)[:, :-1]
        row, column = np.nonzero(useful)
        use = np.array([point.resources.as_tuple() for point in points], dtype=np.float64).reshape(len(points), -1)
        needs = np.concatenate([use[row], slots[column][:, None]], axis=1)
        return _Table(row, column, needs, errors[row, column])

    def _most(self, point: EnginePoint, shares_gbs: Floats) -> Floats:
        """Return rates that no schedule exceeds in which an engine moves no more than shares of the memory."""
        return np.minimum(rate(point, self.bandwidth_gbs), shares_gbs * BYTES_PER_US * 1e6 / point.traffic_bytes)

    @cached_property
    def binding(self) -> tuple[int, ...]:
        """The columns of limits that may be exceeded where DSP slices are not: others follow from these."""
        return tuple(n for n in range(6) if n in (_DSP, _SLOTS) or self._may_exceed(n))

    def _may_exceed(self, column: int) -> bool:
        bases = [float(table.needs[:, column].min()) if len(table.errors) else 0.0 for table in self.tables]
        slopes = [
            float(((t.needs[:, column] - base) / np.maximum(t.needs[:, _DSP], 1)).max(initial=0))
            for t, base in zip(self.tables, bases, strict=True)
        ]
        return bool(sum(bases) + max(slopes) * self.limits[_DSP] > self.limits[column])


@dataclass(frozen=True, eq=False)
class _Table:
    """Rows of a network: point, slots, needs of resources and slots (n, 6), error."""

    point: Ints
    slots: Ints
    needs: Floats
    errors: Floats


@dataclass(frozen=True)
class JointAnswer:
    """Engines by position in the fronts and shares in GB/s, or None; ``starved`` networks miss their least rate."""

    points: tuple[int, ...] | None
    shares_gbs: tuple[float, ...]
    frames_per_s: tuple[float, ...]
    stats: SolveStats
    starved: tuple[str, ...] = ()


def bound_on_any_schedule(problem: JointProblem) -> float:
    """Return an error that no engines with no schedule whatever beat, least rates left aside."""
    free = tuple(replace(wish, least_fps=0.0) for wish in problem.wishes)
    return _prices(replace(problem, wishes=free, any_schedule=True))[1]


def choose(problem: JointProblem) -> JointAnswer:
    """Return the choice of least error in which as many networks as possible get their least rate, the kept ones all.

    It is proven if every set of as many or fewer networks that might miss theirs is.
    """
    may_miss, is_proven = [n for n, name in enumerate(problem.names) if name not in problem.kept], True
    for missing in range(len(may_miss) + 1):
        answers = [_without(problem, left) for left in combinations(may_miss, missing)]
        found = [answer for answer in answers if answer.points is not None]
        if found:
            best = min(found, key=lambda answer: answer.stats.objective or 0.0)
            bounds = [answer.stats.bound or 0.0 for answer in answers if answer.stats.status != "infeasible"]
            bound = min(bounds) if is_proven else 0.0
            objective = best.stats.objective or 0.0
            status: Status = "optimal" if bound >= objective - 1e-9 else "feasible"
            return replace(best, stats=SolveStats("joint", status, objective, min(bound, objective)))
        is_proven &= all(answer.stats.status == "infeasible" for answer in answers)
    return JointAnswer(None, (), (), SolveStats("joint", "infeasible" if is_proven else "heuristic"))


def _without(problem: JointProblem, left: Sequence[int]) -> JointAnswer:
    """Solve with no least rate for some networks."""
    wishes = tuple(replace(w, least_fps=0.0) if n in left else w for n, w in enumerate(problem.wishes))
    free = replace(problem, wishes=wishes)
    if any(not len(table.errors) for table in free.tables):
        return JointAnswer(None, (), (), SolveStats("joint", "infeasible"))
    prices, bound = _prices(free)
    if bound > sum(float(table.errors.max()) for table in free.tables) + 1e-6:
        return JointAnswer(None, (), (), SolveStats("joint", "infeasible"))  # prices alone prove it
    rows, is_proven = _enumerated(free, prices, bound)
    if rows is None:
        status: Status = "infeasible" if is_proven else "heuristic"
        return JointAnswer(None, (), (), SolveStats("joint", status, None, None if is_proven else bound))
    return _answered(problem, free, rows, bound, is_proven=is_proven)


def _answered(
    problem: JointProblem, free: JointProblem, rows: tuple[int, ...], bound: float, *, is_proven: bool
) -> JointAnswer:
    points = tuple(int(table.point[row]) for table, row in zip(free.tables, rows, strict=True))
    slots = _evened(problem, points, [float(t.slots[r]) for t, r in zip(free.tables, rows, strict=True)])
    shares = tuple(each / problem.slots * problem.bandwidth_gbs for each in slots)
    chosen = [front[point] for front, point in zip(problem.fronts, points, strict=True)]
    reached = tuple(rate(point, share) for point, share in zip(chosen, shares, strict=True))
    objective = total_error(problem.wishes, reached)
    stats = SolveStats("joint", "optimal" if is_proven else "feasible", objective, objective if is_proven else bound)
    starved = tuple(
        name
        for name, wish, fps in zip(problem.names, problem.wishes, reached, strict=True)
        if fps < wish.least_fps * (1 - 1e-6)
    )
    return JointAnswer(points, shares, reached, stats, starved)


def total_error(wishes: Sequence[Wish], frames_per_s: Sequence[float]) -> float:
    """Return eq. 5 or 6 of rates."""
    return sum(float(w.errors(np.array([fps]))[0]) for w, fps in zip(wishes, frames_per_s, strict=True))


def _evened(problem: JointProblem, points: tuple[int, ...], slots: list[float]) -> list[float]:
    """Give equal networks with equal engines equal shares: the error is convex in them, so that it does not rise."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for number, point in enumerate(points):
        engine = problem.fronts[number][point]
        key = (engine.subgraphs, engine.resources, problem.wishes[number])
        alike.setdefault(key, []).append(number)
    for members in alike.values():
        mean = sum(slots[number] for number in members) / len(members)
        for number in members:
            slots[number] = mean
    return slots


def _prices(problem: JointProblem) -> tuple[Floats, float]:
    """Return prices on resources and slots, (6,), by subgradients, and the bound that they give."""
    limits, scale = problem.limits, np.maximum(problem.limits, 1.0)
    prices, best, best_bound, step = np.zeros_like(limits), np.zeros_like(limits), -np.inf, 1.0
    stale = 0
    for _ in range(_STEPS):
        chosen, value = [], -float(prices @ (limits / scale))
        for table in problem.tables:
            costs = table.errors + (table.needs / scale) @ prices
            row = int(costs.argmin())
            chosen.append(table.needs[row])
            value += float(costs[row])
        if value > best_bound + 1e-9:
            best, best_bound, stale = prices.copy(), value, 0
        else:
            stale += 1
        if stale > 15:
            step, stale, prices = step / 2, 0, best.copy()
        slope = (np.sum(chosen, axis=0) - limits) / scale
        norm = float(np.linalg.norm(slope[(slope > 0) | (prices > 0)]))
        if norm < _EVEN:
            break
        prices = np.maximum(prices + step * slope / norm, 0.0)
    return best / scale, best_bound


def _enumerated(problem: JointProblem, prices: Floats, bound: float) -> tuple[tuple[int, ...] | None, bool]:
    """Return the best rows and whether that is proven, by looking at all whose reduced costs are small enough.

    Of equal errors the least full one is best.
    """
    reduced = []
    for table in problem.tables:
        costs = table.errors + table.needs @ prices
        reduced.append(costs - costs.min())
    most = float(sum(each.max() for each in reduced)) + 1.0
    within, best, best_error = 1e-3, None, np.inf
    while True:
        labels = _labels(problem, reduced, min(within, best_error - bound + 1e-9))
        if labels is None:
            return best, False
        rows, needs, errors = labels
        if len(rows):
            first = np.lexsort((*rows.T[::-1], *_least_full(problem, needs), np.round(errors, 12)))[0]
            if errors[first] < best_error:
                best, best_error = tuple(int(row) for row in rows[first]), float(errors[first])
        if best_error - bound <= within or within > most:
            return best, True
        within *= 2


def _least_full(problem: JointProblem, needs: Floats) -> tuple[Floats, Floats]:
    """Return of each combination the sum of its shares of resources and, which counts first, the largest, (n,)."""
    shares = np.round(needs[:, :_SLOTS] / np.maximum(problem.limits[:_SLOTS], 1.0), 12)
    return shares.sum(axis=1), shares.max(axis=1)


def _labels(problem: JointProblem, reduced: list[Floats], within: float) -> tuple[Ints, Floats, Floats] | None:
    """Return combinations of rows, (n, n_networks), in limits and reduced costs, needs, errors; None: too many."""
    tables = problem.tables
    kept = [_some(problem, table, each, within) for table, each in zip(tables, reduced, strict=True)]
    least = [table.needs.min(axis=0) for table in tables]
    rows = np.zeros((1, 0), dtype=np.int64)
    needs, errors, spent = np.zeros((1, 6)), np.zeros(1), np.zeros(1)
    for number, (table, some) in enumerate(zip(tables, kept, strict=True)):
        room = problem.limits - np.sum(least[number + 1 :], axis=0) + 1e-9
        parts = []
        for label, row in _pairs(len(rows), some, spent, reduced[number], within):
            total = needs[label] + table.needs[row]
            legal = (total <= room).all(axis=1)
            parts.append((label[legal], row[legal], total[legal]))
            if sum(len(part[0]) for part in parts) > MOST_LABELS:
                return None
        label, row, needs = (np.concatenate([part[n] for part in parts]) for n in range(3))
        rows = np.concatenate([rows[label], row[:, None]], axis=1)
        errors, spent = errors[label] + table.errors[row], spent[label] + reduced[number][row]
        if number < len(tables) - 1:
            undominated = _undominated(problem, needs, errors)
            rows, needs = rows[undominated], needs[undominated]
            errors, spent = errors[undominated], spent[undominated]
    return rows, needs, errors


def _some(problem: JointProblem, table: _Table, reduced: Floats, within: float) -> Ints:
    """Return the rows of a network whose reduced costs are small enough and that no other row beats."""
    rows = np.flatnonzero(reduced <= within)
    return np.sort(rows[_undominated(problem, table.needs[rows], table.errors[rows])])


def _pairs(count: int, some: Ints, spent: Floats, reduced: Floats, within: float) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of labels and rows whose reduced costs are small enough together, not too many at once."""
    size = max(1, 2_000_000 // max(len(some), 1))
    if not count:
        yield np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for first in range(0, count, size):
        label = np.arange(first, min(first + size, count))
        left, right = np.nonzero(spent[label][:, None] + reduced[some][None, :] <= within)
        yield label[left], some[right]


def _undominated(problem: JointProblem, needs: Floats, errors: Floats) -> Ints:
    """Return labels that no other one equals or beats in every need that may bind and in error."""
    columns = problem.binding
    order = np.lexsort((*needs[:, list(columns)].T, errors))
    if len(columns) > 3:  # no plane to sweep over
        return np.asarray(order, dtype=np.int64)
    axes = needs[order][:, list(columns)].astype(np.int64)
    rest = axes[:, 0] if len(columns) == 3 else np.zeros(len(order), dtype=np.int64)
    across, along = axes[:, -1].tolist(), axes[:, -2].tolist()
    # The least of the third need among labels so far with no more of the other two.
    least = np.full((max(across, default=0) + 1, max(along, default=0) + 1), np.iinfo(np.int64).max)
    kept = []
    for number, (a, b, value) in enumerate(zip(across, along, rest.tolist(), strict=True)):
        if least[a, b] > value:
            kept.append(number)
            np.minimum(least[a:, b:], value, out=least[a:, b:])
    return np.asarray(order[kept], dtype=np.int64)
