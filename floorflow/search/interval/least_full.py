"""How full a design is of what it may use, and below what no design at its interval can be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.modules import stages
from floorflow.errors import unproven
from floorflow.folding import FoldingSolution
from floorflow.folding.least_full import EXCESS, fullness, least_full, nearly_as_full, within
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, largest_share, total
from floorflow.search.candidate.candidate import Candidate, slot_demands
from floorflow.search.candidate.context import PlanningContext, cap_limits
from floorflow.search.candidate.findings import Fullness
from floorflow.search.candidate.routes import slots_in_reach
from floorflow.search.interval.state import SearchState
from floorflow.search.interval.strategies import fold_scattered, folded_by_slots
from floorflow.stats import SolveStats, Status

Array = NDArray[np.int64]

ROOMIEST = 1.1
"""Times the least share at which a slot that holds an engine still counts as one of the roomiest for it."""
HEADROOM = 1.03
"""Times the need of an engine and its stage that such a slot keeps, for the streams between."""
LAST_SHARE = Fraction(9, 10)
"""Share of its limits up to which a slot may be full in the last try, where the next step is all of them."""
LARGE = 0.25
"""Share of its limits from which an engine may be in the way of another."""


@dataclass(frozen=True)
class LargeEngine:
    """The least share of its limits that any slot needs for one engine within an interval, and what to keep for it.

    ``needs`` holds for each slot in reach what the engine needs there of each resource, with its stage, ``keep`` the
    same for the roomiest of them.
    """

    name: str
    share: float
    slot: str
    resource: str
    keep: Mapping[str, Resources]
    needs: Mapping[str, Resources]


def limits_at_share(
    context: PlanningContext, scale: Fraction, engines: Collection[LargeEngine]
) -> dict[str, Resources]:
    """Return a share of what each slot allows, but for what engines need that are larger in every slot."""
    limits = {slot: within(limit, scale) for slot, limit in context.allowed.items()}
    for engine in engines:
        for slot, need in engine.keep.items() if engine.share > scale else ():
            limits[slot] = limits[slot].most(need).least(context.allowed[slot])
    return _with_room_beside(context, limits, [engine for engine in engines if engine.share > LARGE])


def _with_room_beside(
    context: PlanningContext, limits: Mapping[str, Resources], engines: Iterable[LargeEngine]
) -> dict[str, Resources]:
    """Return limits that keep room, too, for engines that have none beside one that can lie nowhere else."""
    limits, taken = dict(limits), dict.fromkeys(limits, ZERO)
    reach = slots_in_reach(context)
    for engine in engines:
        places = [slot for slot, need in engine.needs.items() if slot in reach[engine.name]]
        fits = [slot for slot in places if (taken[slot] + engine.needs[slot]).fits(limits[slot])]
        if places and not fits:
            full = {s: largest_share(taken[s] + engine.needs[s], context.allowed[s]) for s in places}
            slot = min(places, key=full.__getitem__)
            limits[slot] = limits[slot].most(taken[slot] + engine.needs[slot]).least(context.allowed[slot])
            fits = [slot]
        if len(fits) == 1:
            taken[fits[0]] += engine.needs[fits[0]]
            reach = slots_in_reach(context, {**reach, engine.name: frozenset(fits)})
    return limits


def large_engines(
    context: PlanningContext,
    interval_cycles: int,
    together: Collection[Collection[str]],
    limits_of: Mapping[str, Resources],
) -> tuple[LargeEngine, ...]:
    """Return what every engine needs alone of a slot's limit, largest first; engines of one of ``together`` share one.

    Only the slots count that an engine can be in without its streams crossing more boundaries than they may.
    """
    least = dict(_least(context, interval_cycles))
    stage_of = {engine: stage for stage in together for engine in stage}
    limits = np.array([limit.as_tuple() for limit in limits_of.values()], dtype=np.int64)
    names, reach, found = list(limits_of), slots_in_reach(context), []
    for group in context.problem.groups:
        rows = np.flatnonzero(group.cycles <= interval_cycles)
        for position, engine in enumerate(group.engines):
            others = [least[other] for other in stage_of.get(engine, ()) if other != engine]
            beside = sum(others, np.zeros(5, dtype=np.int64))
            places = [place for place, slot in enumerate(names) if slot in reach[engine]] or range(len(names))
            slots = [names[place] for place in places]
            found.append(_large(engine, group.engine_use[rows, position], beside, limits[places], slots))
    return tuple(sorted(found, key=lambda engine: -engine.share))


def _least(context: PlanningContext, interval_cycles: int) -> Iterator[tuple[str, Array]]:
    """Yield the least of each resource that each engine needs."""
    for group in context.problem.groups:
        use = group.engine_use[group.cycles <= interval_cycles]
        yield from zip(group.engines, use.min(axis=0), strict=True)


def _large(engine: str, use: Array, beside: Array, limits: Array, names: list[str]) -> LargeEngine:
    """Return what an engine needs at least of a slot, by its rows, (n_rows, 5), and the limits, (n_slots, 5)."""
    shares = np.where(use[:, None] > 0, use[:, None] / np.maximum(limits, 0.5), 0.0)
    largest = shares.max(axis=2)
    row, slot = np.unravel_index(int(largest.argmin()), largest.shape)
    share = float(largest[row, slot])
    needs = {
        name: Resources(*(int(HEADROOM * need) + 1 for need in (use[largest[:, s].argmin()] + beside).tolist()))
        for s, name in enumerate(names)
    }
    keep = {name: needs[name] for s, name in enumerate(names) if largest[:, s].min() <= ROOMIEST * share}
    return LargeEngine(engine, share, names[slot], RESOURCE_NAMES[int(shares[row, slot].argmax())], keep, needs)


def least_full_candidate(run: SearchState, interval: int) -> Candidate | None:
    """Fold for the least fullness and assign within the least share of all slots' limits at which that is found."""
    full = run.least_full(interval)
    if not isinstance(full, FoldingSolution):
        return None
    if not run.held:
        run.learn(full)
    search, failed = _FullnessSearch(run, interval, engines_alone(run, interval, run.context.allowed)), 1.0
    limits = run.context.search_limits
    for slack in limits.fullness_slacks if search.several else limits.fullness_slacks_alone:
        found = search.at(slack)
        if found is not None:
            return found if search.is_over else search.between(failed, slack, found)
        if search.is_over:
            break
        failed = slack
    return None


def engines_alone(run: SearchState, interval: int, limits: Mapping[str, Resources]) -> tuple[LargeEngine, ...]:
    """Return what every engine needs alone of a slot's limit, largest first."""
    context = run.context
    whole = stages(context.dataflow.engines, context.dataflow.engine_pairs)
    return large_engines(context, interval, run.together(tuple(tuple(stage) for stage in whole)), limits)


@dataclass
class _FullnessSearch:
    """Tries at one interval; ``is_over``: wider limits are those of the request; ``failed`` is the last scale tried."""

    run: SearchState
    interval: int
    engines: tuple[LargeEngine, ...]
    is_over: bool = False
    failed: Fraction = Fraction(0)

    @property
    def several(self) -> bool:
        """Whether there is more than one slot."""
        return len(self.run.context.allowed) > 1

    def at(self, slack: float) -> Candidate | None:
        """Try within so many times the least fullness of the sums."""
        context = self.run.context
        with self.run.progress.stage("folding"):
            priced = least_full(self.run.pricing.problem(context), self.interval)
        if not isinstance(priced, FoldingSolution):
            self.is_over = True
            return None
        limits = context.search_limits
        least = fullness(priced.resources, context.problem.budget)
        scale = least * Fraction(slack)
        scale = max(scale, Fraction(limits.fullness_at_least)) if self.several else scale
        self.is_over = scale >= 1
        if self.is_over and 0 < self.failed < LAST_SHARE:
            scale, slack = LAST_SHARE, float(LAST_SHARE / least)
        elif self.is_over or scale == self.failed:
            return None
        spared = Fraction(slack / limits.fullness_spared) - 1
        budget = nearly_as_full(context.problem, priced, max(EXCESS, spared))
        problem = context.problem.with_budget(budget)
        tried = self.run.within(
            replace(context, problem=problem, narrowed=limits_at_share(context, scale, self.engines))
        )
        found = _assigned(tried, self.interval)
        self.failed = scale if found is None else self.failed
        self.run.take_over(tried, f"each slot at most {float(scale):.1%} of its limit: ")
        return found

    def between(self, failed: float, slack: float, found: Candidate) -> Candidate:
        """Try between a share that failed and one that did not."""
        for _ in range(self.run.context.search_limits.fullness_halvings if failed > 1 else 0):
            middle = (failed * slack) ** 0.5
            better = self.at(middle)
            if better is None:
                failed = middle
            else:
                slack, found = middle, better
        return found


def _assigned(tried: SearchState, interval: int) -> Candidate | None:
    """Fold the whole and assign it; where that fails, fold each slot for itself in the assignment that came closest."""
    folding = tried.folded(interval, ZERO)
    if not isinstance(folding, FoldingSolution):
        tried.refused(interval, "fold", unproven((folding.refusal,)))
        return None
    answer = tried.complete(folding)
    if isinstance(answer, Candidate):
        return answer
    tried.refused(interval, "partition", unproven(answer.failure.refusals))
    found = None if answer.closest is None else folded_by_slots(tried, dict(answer.closest), interval)
    if found is None and len(tried.context.limits) > 1:
        found = fold_scattered(tried, interval)
    if found is None:
        return None
    # Each slot had all of its own limit.
    return replace(found, folding=replace(found.folding, budget=total(tried.context.limits.values())))


def fullness_of(run: SearchState, candidate: Candidate, *, bounded: bool) -> Fullness:
    """Return how full a candidate is; ``bounded``: with bounds, unless the search does not seek fullness."""
    context, caps = run.context, cap_limits(run.context)
    demands = slot_demands(candidate)
    slots = max(fullness(demands[slot], limit) for slot, limit in caps.items())
    whole = fullness(candidate.folding.resources, total(caps.values()))
    bounded &= context.seeks_fullness
    full = run.least_full(candidate.interval_cycles) if bounded else None
    if not isinstance(full, FoldingSolution) or full.stats.bound is None:
        return Fullness(*(SolveStats("not sought", "heuristic", float(share)) for share in (whole, slots)))
    of_sums = full.stats.bound * _share(context.problem.budget, total(caps.values()))
    engine = engines_alone(run, candidate.interval_cycles, caps)[0]
    method, bound = (
        ("bound by the sums", of_sums) if of_sums >= engine.share else (f"bound by {engine.name} alone", engine.share)
    )
    return Fullness(_stats("bound by the sums", whole, of_sums), _stats(method, slots, bound))


def _stats(method: str, share: Fraction, bound: float) -> SolveStats:
    """Return the statement; what exceeds the bound by rounding alone is optimal."""
    status: Status = "optimal" if float(share) <= bound * (1 + 1e-9) else "feasible"
    return SolveStats(method, status, float(share), min(bound, float(share)))


def _share(allowed: Resources, caps: Resources) -> float:
    """Return the least share that the search may use of any limit."""
    pairs = zip(allowed.as_tuple(), caps.as_tuple(), strict=True)
    return min((have / most for have, most in pairs if most), default=1.0)
