"""Whether engines can lie on slots at an interval, each whole and in one slot, with any of its foldings.

A *unit* is what must lie in one slot: an engine, or several that the caller wants together. With y[g, o] for "group g
takes row o", z[u, s] for "unit u lies in slot s" and x[g, o, u, s] for both, all of them 0 or 1,

    one slot     sum_s z[u, s] = 1
    one row      sum_o y[g, o] = 1
    both         sum_o x[g, o, u, s] = z[u, s],  x[g, o, u, s] <= y[g, o]      (for each unit with engines of the group)
    may lie      x[g, o, u, s] = 0 where an engine of u takes more with o than one may of s
    slot         sum of use[g, o, u] x[g, o, u, s] <= limit[s]
    platform     the same over all slots, with what streams add wherever they lie, <= sum of limits
    hops         z[u, s] <= sum over slots t near s of z[v, t]      (for a stream between u and v, if hops are limited)
    apart        sum of z[u, s] over units u of which no two lie in one slot <= 1

What a stream costs depends on both its ends. Counted is what each end adds at least, whatever the other does: in its
unit, where that part of the stream lies with it (`Coupling.at_source`), else for the platform. So every plan is a
solution, and where there is none there is no plan. The joint bound is the shortest interval of which that is not
proven: the folding bound fills one pot with the limits of all slots, here every engine lies in one slot, whole.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup
from floorflow.errors import Refusal
from floorflow.folding.problem import FoldingProblem
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.segments.hops import Near
from floorflow.segments.slot_model import Crossings, Rows, SlotModel
from floorflow.stats import SolveStats

Array = NDArray[np.int64]
Inside = Callable[[OptionGroup], NDArray[np.bool_]]


@dataclass(frozen=True)
class Assigned:
    """A solution of the relaxation: the slot of each engine; ``cost`` is what `Crossings` count."""

    slot_of_engine: Mapping[str, int]
    cost: int = 0


@dataclass(frozen=True)
class Impossible:
    """Proof that no assignment of units to slots meets the interval."""


@dataclass(frozen=True)
class NotKnown:
    """The solver reached its limit."""


Verdict = Assigned | Impossible | NotKnown


@dataclass(frozen=True)
class WiderLimit:
    """The amount of a resource of a slot, of which ``now`` are allowed, with which there is a solution.

    ``proven``: of no limit alone a smaller share more will do.
    """

    slot: int
    resource: str
    amount: int
    now: int
    proven: bool


class SlotRelaxation:
    """The relaxation of one folding problem on slots with these limits; ``together`` are engines that share a slot.

    ``inside`` marks in which slots each engine of a group may lie with each row, (n_rows, n_engines, n_slots), ``near``
    the slots that the ends of streams (source, target) may have.
    """

    def __init__(
        self,
        problem: FoldingProblem,
        limits: Sequence[Resources],
        together: Sequence[Collection[str]] = (),
        inside: Inside | None = None,
        near: Near | None = None,
    ) -> None:
        self.problem, self.inside = problem, inside
        self.near = near if near is not None and (near.hops.forbid or near.apart) else None
        self.limits: Array = np.array([limit.as_tuple() for limit in limits], dtype=np.int64)
        self.units = _units(problem, together)
        self._unit_of = {engine: unit for unit, engines in enumerate(self.units) for engine in engines}
        self.units_of = [tuple(self._unit_of[engine] for engine in group.engines) for group in problem.groups]
        """The unit of each engine of each group."""

    def at(self, interval_cycles: int, work: float, crossings: Crossings | None = None) -> tuple[Verdict, float]:
        """Return what is known of an interval, and the work that it took, within the solver's limit of it.

        With ``crossings`` the solution is the one of least cost that was met.
        """
        model = self._model(interval_cycles, self.limits)
        if model is None:
            return Impossible(), 0.0
        found = model.solve(work, crossings, self._unit_of)
        if found.slot_of_unit is None:
            return Impossible() if found.infeasible else NotKnown(), found.work
        slots = {engine: found.slot_of_unit[unit] for engine, unit in self._unit_of.items()}
        return Assigned(slots, found.cost), found.work

    def least_wider(self, interval_cycles: int, most: Sequence[Resources], work: float) -> WiderLimit | None:
        """Return the one limit of a slot that has to be wider by the least share of it so that there is a solution.

        ``most`` is what each slot may allow at the most. Each solve takes at most an equal share of the work.
        """
        found: list[WiderLimit] = []
        wide = [(s, r) for s, r in np.ndindex(self.limits.shape) if most[s].as_tuple()[r] > self.limits[s, r]]
        for slot, resource in wide:
            limits, now = self.limits.copy(), int(self.limits[slot, resource])
            limits[slot, resource] = most[slot].as_tuple()[resource]
            model = self._model(interval_cycles, limits)
            if model is not None:
                amount, proven, _ = model.least(slot, resource, now, work / len(wide))
                found += [] if amount is None else [WiderLimit(slot, RESOURCE_NAMES[resource], amount, now, proven)]
        return min(found, key=lambda each: (each.amount / max(1, each.now), each.slot), default=None)

    def _model(self, interval_cycles: int, limits: Array) -> SlotModel | None:
        """Return the model under some limits; None where some group has no row."""
        rows = self._rows(interval_cycles)
        if rows is None:
            return None
        model = SlotModel(len(self.units), limits, [group.undominated() for group in rows])
        if self.near is not None:
            model.keep_near(self.near.hops, self.near.streams, self._unit_of)
            for engines in self.near.apart:
                model.keep_apart([self._unit_of[engine] for engine in engines])
        return model

    def _rows(self, interval_cycles: int) -> list[Rows] | None:
        """Return what the rows of each group use that are fast enough and can be built; None: some group has none."""
        rows = self.problem.rows_within(interval_cycles)
        while all(some.size for some in rows):
            priced = [
                self._alone(group, units, some)
                for group, units, some in zip(self.problem.groups, self.units_of, rows, strict=True)
            ]
            for c in self.problem.couplings:
                for group, unit, use in _stream_shares(c, rows, self._unit(c.source), self._unit(c.target)):
                    place = priced[group].anywhere if unit is None else priced[group].in_unit[unit]
                    place += use
            built = [
                (np.max([group.anywhere, *group.in_unit.values()], axis=0) < UNBUILDABLE).all(axis=1)
                for group in priced
            ]
            if all(some.all() for some in built):
                return priced
            rows = [some[kept] for some, kept in zip(rows, built, strict=True)]
        return None

    def _unit(self, group: int) -> int | None:
        units = set(self.units_of[group])
        return units.pop() if len(units) == 1 else None

    def _alone(self, group: OptionGroup, units: Sequence[int], rows: Array) -> Rows:
        """Return what a group's rows use without streams, and in which slots its units may not lie."""
        use, own = group.engine_use[rows], {unit: np.array(units) == unit for unit in sorted(set(units))}
        in_unit = {unit: use[:, engines].sum(axis=1) for unit, engines in own.items()}
        barred = {}
        if self.inside is not None:
            inside = self.inside(group)[rows]
            barred = {unit: np.asarray(~inside[:, engines].all(axis=1)) for unit, engines in own.items()}
        return Rows(in_unit, np.zeros((rows.size, 5), dtype=np.int64), barred)


def _units(problem: FoldingProblem, together: Sequence[Collection[str]]) -> tuple[tuple[str, ...], ...]:
    """Return all engines in units: those that are wanted together, and each other one."""
    known = {engine for group in problem.groups for engine in group.engines}
    wanted = [tuple(sorted(known & set(engines))) for engines in together]
    shared = {engine for unit in wanted for engine in unit}
    return (*filter(None, wanted), *((engine,) for engine in sorted(known - shared)))


def _stream_shares(
    c: Coupling, rows: Sequence[Array], source_unit: int | None, target_unit: int | None
) -> Iterator[tuple[int, int | None, Array]]:
    """Yield the groups at a stream's ends, a unit or None for anywhere, and what each row adds there at least.

    What is yielded sums to no more than the stream's price, whatever rows both ends take; a row that cannot be joined
    to any of the other end's adds UNBUILDABLE.
    """
    source, target = c.source_class[rows[c.source]], c.target_class[rows[c.target]]
    if c.source == c.target:
        yield c.source, source_unit, c.use[source, target]
        return
    pairs = np.ix_(np.unique(source), np.unique(target))
    barred, left = c.use[pairs] >= UNBUILDABLE, c.use[pairs]
    source, target = (np.unique(classes, return_inverse=True)[1] for classes in (source, target))
    if source_unit != target_unit and c.at_source is not None:
        at_source = np.where(barred, UNBUILDABLE, c.at_source[pairs])
        at_target = np.where(barred, UNBUILDABLE, left - at_source)
        if source_unit is not None:
            yield c.source, source_unit, at_source.min(axis=1)[source]
            left = left - at_source.min(axis=1)[:, None]
        if target_unit is not None:
            yield c.target, target_unit, at_target.min(axis=0)[target]
            left = left - at_target.min(axis=0)
    left = np.where(barred, UNBUILDABLE, left)
    shared = source_unit if source_unit == target_unit else None
    by_source = left.min(axis=1)
    by_target = np.where(barred, UNBUILDABLE, left - by_source[:, None]).min(axis=0)
    yield c.source, shared, by_source[source]
    yield c.target, shared, by_target[target]


WORK = 4.0
"""What all proofs together may take, in CP-SAT's work units, roughly seconds."""


@dataclass(frozen=True)
class JointBound:
    """No plan has an interval below ``interval_cycles``; None: none at all meets the slots' limits.

    ``stats.status`` is ``optimal`` where the relaxation has a solution at that interval, ``feasible`` where the limit
    of work ended the proof. ``refusal``: why the next shorter interval is impossible, if it is not by folding alone.
    ``slot_of_engine``: where the relaxation has each engine at that interval, empty where it met no solution: something
    to begin with, not a plan.
    """

    interval_cycles: int | None
    stats: SolveStats
    refusal: Refusal | None = None
    slot_of_engine: Mapping[str, int] = field(default_factory=dict)


def joint_bound(
    problem: FoldingProblem,
    limits: Sequence[Resources],
    intervals: Sequence[int],
    start_index: int = 0,
    work: float = WORK,
    *,
    together: Sequence[Collection[str]] = (),
    inside: Inside | None = None,
    near: Near | None = None,
) -> JointBound:
    """Return the shortest of ascending ``intervals`` from ``start_index`` on that is not proven impossible.

    Shorter ones than that at ``start_index`` are known to be impossible: it is the folding bound's. ``limits`` are the
    slots', with all that an engine may use there; the problem's couplings are what streams cost at least. ``work``
    is CP-SAT's, for all intervals; each may take half of what is left. Engines of one of ``together`` lie in one slot
    in every plan, and no plan has a stream between slots that are not ``near`` each other. ``inside`` is as
    `SlotRelaxation` takes it.
    """
    relaxation, left = SlotRelaxation(problem, limits, together, inside, near), work
    answers: dict[int, Verdict] = {}

    def impossible(index: int) -> bool:
        nonlocal left
        answers[index], spent = relaxation.at(intervals[index], left / 2)
        left -= spent
        return isinstance(answers[index], Impossible)

    first = first_not(impossible, start_index, len(intervals))
    what, hops = Refusal("each slot"), relaxation.near and relaxation.near.hops
    if hops:
        what = Refusal("slots and hops", allowed=hops.most, names=("in order",) if hops.in_order else ())
    refusal = replace(what, proven=True) if first > start_index else None
    if first == len(intervals):
        return JointBound(None, SolveStats("joint", "infeasible"), refusal)
    answer, shortest = answers[first], intervals[first]
    met = isinstance(answer, Assigned)
    stats = SolveStats("joint", "optimal" if met else "feasible", bound=shortest)
    return JointBound(shortest, stats, refusal, answer.slot_of_engine if isinstance(answer, Assigned) else {})


def first_not(holds: Callable[[int], bool], start: int, end: int) -> int:
    """Return the first index from ``start`` on for which something does not hold, ``end`` if there is none.

    It is to hold for all before that one, and for none after. Steps grow from the start, what lies between is bisected.
    """
    low, high, step = start - 1, start, 1
    while high < end and holds(high):
        low, high, step = high, high + step, 2 * step
    high = min(high, end)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
