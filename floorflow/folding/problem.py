"""The folding problem and its answers, as values."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Option
from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.errors import Refusal, Refused, sentence
from floorflow.folding.balance import joinable
from floorflow.resources import RESOURCE_NAMES, Resources, largest_share, shortfall
from floorflow.stats import SolveStats

Rows = tuple[int, ...]
"""An index into the rows of each group."""


@dataclass(frozen=True)
class FoldingProblem:
    """Groups of engines with their options, the resources they share, and the silicon that weighs scarcity.

    ``budget`` bounds the sum over all engines and ``couplings``, which price the streams between them (none: engines
    alone are counted) and, behind the streams, bar rows of layers that are not balanced; ``silicon`` holds the
    platform's raw totals. ``paths`` are the streams between engines, by name, if the objective is the latency along
    them; else it is the scarcity, the use of the resource ``minimised``, or the use of all with whole ``weights`` a
    unit. ``largest`` is the most that one group may use. ``memo`` is what `reduce_by_dominance` worked out before,
    which holds at any interval and budget.
    """

    groups: tuple[OptionGroup, ...]
    budget: Resources
    silicon: Resources
    couplings: tuple[Coupling, ...] = ()
    paths: tuple[tuple[str, str], ...] | None = None
    largest: Resources | None = None
    minimised: str | None = None
    weights: tuple[int, ...] | None = None
    memo: dict[tuple[bytes, ...], NDArray[np.int64]] = field(default_factory=dict, repr=False, compare=False)

    def with_budget(self, budget: Resources) -> "FoldingProblem":
        """Return the same problem under another budget."""
        return replace(self, budget=budget)

    @property
    def is_balanced(self) -> bool:
        """Whether rates of consecutive layers are tied (`balance`)."""
        return any(c.only_bars for c in self.couplings)

    @property
    def without_balance(self) -> "FoldingProblem":
        """The same problem with rates that are not tied."""
        return replace(self, couplings=tuple(c for c in self.couplings if not c.only_bars))

    def rows_within(self, interval_cycles: int) -> list[NDArray[np.int64]]:
        """Return for each group the rows that are fast enough, not too large, and balanced with some of the others."""
        fast = [np.flatnonzero(group.cycles <= interval_cycles) for group in self.groups]
        if self.largest is not None:
            limit = np.array(self.largest.as_tuple(), dtype=np.int64)
            few = zip(self.groups, fast, strict=True)
            fast = [rows[(group.use[rows] <= limit).all(axis=1)] for group, rows in few]
        return joinable(self.couplings, fast)

    def intervals(self) -> tuple[int, ...]:
        """Return every initiation interval that can be the pipeline's, ascending."""
        floor = max(int(group.cycles.min()) for group in self.groups)
        cycles = np.unique(np.concatenate([group.cycles for group in self.groups]))
        return tuple(int(value) for value in cycles if value >= floor)

    def first_possible(self, intervals: Sequence[int]) -> int:
        """Return the index below which no interval can be met: one resource alone is short at every choice.

        It may be ``len(intervals)``. Each group takes its least of each resource, each stream its least price.
        """
        limits = np.array(intervals, dtype=np.int64)
        least = np.zeros((len(limits), 5), dtype=np.int64)
        for group in self.groups:
            order = np.argsort(group.cycles, kind="stable")
            so_far = np.minimum.accumulate(group.use[order], axis=0)
            least += so_far[np.searchsorted(group.cycles[order], limits, side="right") - 1]
        streams = sum((c.use.min(axis=(0, 1)) for c in self.couplings), np.zeros(5, dtype=np.int64))
        possible = (least + streams <= np.array(self.budget.as_tuple())).all(axis=1)
        return int(np.argmax(possible)) if possible.any() else len(limits)

    def cost_weights(self) -> tuple[NDArray[np.int64], int]:
        """Return integer weights a unit of each resource, whose sum is the cost, and what they are multiplied by.

        Scarcity is a sum of fractions of LUT, BRAM18, URAM and DSP totals; over their least common multiple it is
        an exact integer, so that solvers need no rounding.
        """
        if self.weights is not None:
            return np.array(self.weights, dtype=np.int64), 1
        if self.minimised is not None:
            return np.array([name == self.minimised for name in RESOURCE_NAMES], dtype=np.int64), 1
        totals = self.silicon.as_tuple()
        counted = [have if have and name != "FF" else 0 for name, have in zip(RESOURCE_NAMES, totals, strict=True)]
        scale = lcm(*(have for have in counted if have))
        return np.array([scale // have if have else 0 for have in counted], dtype=np.int64), scale

    def rows_of(self, folding: "FoldingSolution") -> Rows:
        """Return the row of each group that a folding of the problem takes."""
        return tuple(group.rows.index(tuple(folding.options[e] for e in group.engines)) for group in self.groups)

    def solution(
        self, rows: Sequence[int], use: Sequence[int] | NDArray[np.int64], stats: SolveStats
    ) -> "FoldingSolution":
        """Return the answer that takes so many-th row of each group; ``use`` is the sum with all streams, (5,)."""
        chosen = [group.rows[row] for group, row in zip(self.groups, rows, strict=True)]
        named = (zip(group.engines, row, strict=True) for group, row in zip(self.groups, chosen, strict=True))
        options = {name: option for pairs in named for name, option in pairs}
        slowest = max(option.cycles for option in options.values())
        return FoldingSolution(options, slowest, Resources(*(int(amount) for amount in use)), self.budget, stats)


@dataclass(frozen=True)
class FoldingSolution:
    """One option an engine. ``resources`` is their sum and the streams'.

    ``stats.objective`` is its scarcity or what else the problem minimises: latency in cycles, units of a resource.
    ``fullness``: of the least largest share of the whole budget, where that was sought first.
    """

    options: Mapping[str, Option]
    interval_cycles: int
    resources: Resources
    budget: Resources
    stats: SolveStats
    fullness: SolveStats | None = None


@dataclass(frozen=True)
class FoldingInfeasible:
    """Proof that no choice of options meets interval and budget.

    ``resource`` is the first whose least possible sum already exceeds the budget, with that ``need`` and
    ``limit``; None if only the combination of several resources is impossible.
    """

    resource: str | None
    need: int = 0
    limit: int = 0

    @property
    def refusal(self) -> Refusal:
        """The proof as a value."""
        if self.resource is None:
            return Refusal("budgets together", proven=True)
        return Refusal("budget", self.resource, needed=self.need, allowed=self.limit, proven=True)

    def __str__(self) -> str:
        return sentence(self.refusal)


@dataclass(frozen=True)
class FoldingUnknown:
    """The solver stopped at its deterministic limit, or gave up: neither a folding nor a proof."""

    reason: str = ""
    """Why it gave up, in the method's words; empty: at its limit."""

    @property
    def refusal(self) -> Refusal:
        """That nothing is known, as a value."""
        return Refusal("folding method", names=(self.reason,)) if self.reason else Refusal("folding limit")

    def __str__(self) -> str:
        return sentence(self.refusal)


FoldingAnswer = FoldingSolution | FoldingInfeasible | FoldingUnknown


@dataclass(frozen=True)
class TooMany(FoldingUnknown):
    """A method that tries every combination of rows tried none: there are more than it is allowed."""

    combinations: int = 0
    allowed: int = 0


def fitting(
    group: OptionGroup, slot_limits: Sequence[tuple[str, Resources]], interval_cap: int | None = None
) -> OptionGroup | Refused:
    """Keep the rows whose engines each fit some slot alone and meet ``interval_cap``.

    ``slot_limits`` are slot names and what a single engine may have there: the slot's limit and its largest pblock. If
    none does, the refusal names the engine, its scarcest resource, need and limit.
    """
    fast = group if interval_cap is None else group.subset(group.cycles <= interval_cap)
    if not fast.rows:
        quickest = int(group.cycles.min())
        slow = Refusal("engine too slow", "cycles", "", quickest, interval_cap, proven=True, names=(group.name,))
        hint = "a higher --clock-mhz or a network with a smaller feature map"
        return Refused(f"proven infeasible: {slow}", hint, (slow,), "proven")
    limits = np.array(sorted({limit.as_tuple() for _, limit in slot_limits}), dtype=np.int64)
    # (n_rows, n_engines, n_slots)
    fits = np.all(fast.engine_use[:, :, None] <= limits, axis=3)
    alone: NDArray[np.bool_] = np.all(np.any(fits, axis=2), axis=1)
    if not alone.any():
        return _fits_no_slot(group, fast.rows, slot_limits)
    return fast.subset(alone)


def _fits_no_slot(
    group: OptionGroup, rows: Sequence[tuple[Option, ...]], slot_limits: Sequence[tuple[str, Resources]]
) -> Refused:
    """Name the engine, option and slot that come closest, and the resource in which they still miss."""

    def nearest(option: Option) -> tuple[float, str, Resources]:
        choices = ((largest_share(option.resources, limit), slot, limit) for slot, limit in slot_limits)
        return min(choices, key=lambda choice: choice[:2])

    def worst(row: tuple[Option, ...]) -> float:
        return max(nearest(option)[0] for option in row)

    row = min(rows, key=worst)
    position = max(range(len(row)), key=lambda i: nearest(row[i])[0])
    option = row[position]
    _, slot, limit = nearest(option)
    missing = shortfall(option.resources, limit)
    needs, limits = option.resources.as_dict(), limit.as_dict()
    resource = max(missing, key=lambda r: missing[r] / max(1, limits[r]))
    large = Refusal(
        "engine too large",
        resource,
        slot,
        needs[resource],
        limits[resource],
        proven=True,
        names=(group.engines[position],),
    )
    hint = "a larger platform or a narrower network"
    return Refused(f"proven infeasible by the cost model: {large}", hint, (large,), "proven")


RATIO = 1.2
"""By which steps between intervals begin to grow where each is tried quickly."""


def shortest_interval(
    intervals: Sequence[int],
    feasible: Callable[[int], bool],
    start: int = 0,
    tries: int | None = None,
    ratio: float | None = None,
    *,
    within: float = 0.0,
) -> int | None:
    """Search ascending ``intervals`` for the first for which ``feasible`` holds, as if it were monotone.

    ``start`` is an index below which nothing need be tried; the answer is expected near it. If it is not there, the
    last interval tells whether there is one, steps grow from the start, and what lies between is bisected, in at
    most so many ``tries`` and until the answer is ``within`` so small a share of what fails. Steps are of 1, 2, 4, ...
    intervals, or by the ``ratio``, its square, that one's square, ...
    Returns the least index for which ``feasible`` was seen to hold, None if the last one fails.
    """
    low, high, step, growing = start, len(intervals) - 1, 1, True
    if start > high:
        return None
    if feasible(intervals[start]):
        return start
    if start == high or not feasible(intervals[high]):
        return None
    while high - low > 1 and tries != 0 and intervals[high] > (1 + within) * intervals[low]:
        tries = None if tries is None else tries - 1
        at = high
        if growing:
            at = low + step if ratio is None else bisect_left(intervals, intervals[low] * ratio**step, low + 1)
        if at >= high:
            growing, at = False, (low + high) // 2
        if feasible(intervals[at]):
            growing, high = False, at
        else:
            low, step = at, 2 * step
    return high


def first_index_to_try(problem: FoldingProblem) -> int:
    """Return the index of the first of the problem's intervals that need be tried."""
    return min(problem.first_possible(problem.intervals()), len(problem.intervals()) - 1)


Mask = NDArray[np.bool_]


def restricted(problem: FoldingProblem, keep: Sequence[Mask]) -> FoldingProblem:
    """Return the problem with the marked rows of each group, (n_rows,) each, at least one; itself if these are all.

    Groups that share their rows, and keep the same ones, go on sharing them.
    """
    if all(rows.all() for rows in keep):
        return problem
    shared: dict[tuple[int, bytes], OptionGroup] = {}
    groups = []
    for group, rows in zip(problem.groups, keep, strict=True):
        first = shared.setdefault((id(group.rows), rows.tobytes()), group.subset(rows))
        groups.append(group.subset(rows) if rows.all() else OptionGroup(group.engines, first.rows))
    couplings = tuple(_between(c, keep[c.source], keep[c.target]) for c in problem.couplings)
    return replace(problem, groups=tuple(groups), couplings=couplings)


def _between(stream: Coupling, source: Mask, target: Mask) -> Coupling:
    """Return the prices of a stream between the rows that are left."""
    if source.all() and target.all():
        return stream
    sources, source_class = np.unique(stream.source_class[source], return_inverse=True)
    targets, target_class = np.unique(stream.target_class[target], return_inverse=True)
    left = np.ix_(sources, targets)
    at_source = None if stream.at_source is None else stream.at_source[left]
    return replace(
        stream, use=stream.use[left], at_source=at_source, source_class=source_class, target_class=target_class
    )
