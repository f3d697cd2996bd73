"""How full a design is of what it may use, below what none at its interval can be, and what evenness costs."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from floorflow.errors import Stop, unproven
from floorflow.facts.partition import EvennessEnd
from floorflow.folding import FoldingAnswer, FoldingSolution
from floorflow.folding.least_full import EXCESS, fullness, least_full, nearly_as_full, within
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, largest_share, total
from floorflow.search.candidate.assignment import assign
from floorflow.search.candidate.candidate import Candidate, slot_demands
from floorflow.search.candidate.context import PlanningContext, cap_limits
from floorflow.search.candidate.findings import Design, Evenness, Fullness, SearchResult, Weighed
from floorflow.search.candidate.progress import Progress
from floorflow.search.candidate.routes import slots_in_reach
from floorflow.search.interval.state import SearchState, whole_stages
from floorflow.search.interval.strategies import fold_scattered, folded_by_slots
from floorflow.stats import SolveStats, Status

Array = NDArray[np.int64]

ROOMIEST = 1.1
"""Times the least share at which a slot that holds an engine still counts as one of the roomiest for it."""
HEADROOM = 1.03
"""Times the need of an engine and its stage that such a slot keeps, for the streams between."""
LAST_SHARE = Fraction(9, 10)
"""Share of its limits up to which a slot may be full in the last try, where the next step is all of them."""
COMFORTABLE = {"LUT": Fraction(60, 100), "BRAM18": Fraction(75, 100)}
"""Shares of what a slot has available below which it is not too full: evenness is worth no crossing there."""
COMFORT_SPARED = Fraction(1, 20)
"""Share of the least fullness by which a folding for that may be fuller, for less scarcity."""
NEARLY = Fraction(11, 10)
"""Times the least fullness found within which crossings are fewest where no design is comfortable."""
EVENING_TRIES = 4
"""Times that the distance between the fullness of a design and the least of the sums is halved."""
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


def comfortable_limits(context: PlanningContext) -> dict[str, Resources]:
    """Return what each slot may hold and still be comfortable: below the shares of what it has available."""
    limits = {}
    for slot in context.platform.slots:
        allowed, have = context.allowed[slot.name], slot.available.as_dict()
        below = {name: max(0, ceil(share * have[name]) - 1) for name, share in COMFORTABLE.items()}
        limits[slot.name] = allowed.least(Resources.from_dict({**allowed.as_dict(), **below}))
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
    found = search.comfortably() if search.several else None
    if found is not None:
        return found
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
    return large_engines(run.context, interval, whole_stages(run.context), limits)


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

    def _priced(self) -> FoldingAnswer:
        """Return the least full folding of the whole with FIFOs at what they hold."""
        with self.run.progress.stage("folding"):
            return least_full(self.run.pricing.problem(self.run.context), self.interval)

    def comfortably(self) -> Candidate | None:
        """Try within what each slot may hold and still be comfortable, unless the sums or an engine need more."""
        context, priced = self.run.context, self._priced()
        limits = comfortable_limits(context)
        if not isinstance(priced, FoldingSolution) or not priced.resources.fits(total(limits.values())):
            return None
        if engines_alone(self.run, self.interval, limits)[0].share > 1:
            return None
        found = self._within(limits, priced, COMFORT_SPARED, "each slot comfortable: ")
        if found is None:  # less room than that will not do either
            self.failed = min(_share(limits[slot], limit) for slot, limit in context.allowed.items())
        return found

    def at(self, slack: float) -> Candidate | None:
        """Try within so many times the least fullness of the sums."""
        context, priced = self.run.context, self._priced()
        if not isinstance(priced, FoldingSolution):
            self.is_over = True
            return None
        least = fullness(priced.resources, context.problem.budget)
        scale = least * Fraction(slack)
        self.is_over = scale >= 1
        if self.is_over and 0 < self.failed < LAST_SHARE:
            scale, slack = LAST_SHARE, float(LAST_SHARE / least)
        elif self.is_over or scale <= self.failed:
            return None
        spared = Fraction(slack / context.search_limits.fullness_spared) - 1
        limits = limits_at_share(context, scale, self.engines)
        found = self._within(limits, priced, spared, f"each slot at most {float(scale):.1%} of its limit: ")
        self.failed = scale if found is None else self.failed
        return found

    def _within(
        self, limits: Mapping[str, Resources], priced: FoldingSolution, spared: Fraction, about: str
    ) -> Candidate | None:
        """Fold for the least scarcity within so much more than the least full folding has, and assign within limits."""
        context = self.run.context
        problem = context.problem.with_budget(nearly_as_full(context.problem, priced, max(EXCESS, spared)))
        tried = self.run.within(replace(context, problem=problem, narrowed=limits))
        found = _assigned(tried, self.interval)
        self.run.take_over(tried, about)
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
    slots = fullest(candidate, caps)
    whole = fullness(candidate.folding.resources, total(caps.values()))
    bounded &= context.seeks_fullness
    full = run.least_full(candidate.interval_cycles) if bounded else None
    if not isinstance(full, FoldingSolution) or full.stats.bound is None:
        return Fullness(*(SolveStats("not sought", "heuristic", float(share)) for share in (whole, slots)))
    of_sums = full.stats.bound * float(_share(context.problem.budget, total(caps.values())))
    engine = engines_alone(run, candidate.interval_cycles, caps)[0]
    method, bound = (
        ("bound by the sums", of_sums) if of_sums >= engine.share else (f"bound by {engine.name} alone", engine.share)
    )
    return Fullness(_stats("bound by the sums", float(whole), of_sums), _stats(method, float(slots), bound))


def _stats(method: str, share: float, bound: float | None) -> SolveStats:
    """Return the statement; what exceeds the bound by rounding alone is optimal."""
    if bound is None:
        return SolveStats(method, "heuristic", share)
    status: Status = "optimal" if share <= bound * (1 + 1e-9) else "feasible"
    return SolveStats(method, status, share, min(bound, share))


def _share(allowed: Resources, caps: Resources) -> Fraction:
    """Return the least share that the search may use of any limit."""
    pairs = zip(allowed.as_tuple(), caps.as_tuple(), strict=True)
    return min((Fraction(have, most) for have, most in pairs if most), default=Fraction(1))


def is_comfortable(context: PlanningContext, candidate: Candidate) -> bool:
    """Whether every slot stays below the shares up to which it is not too full."""
    limits = comfortable_limits(context)
    return all(demand.fits(limits[slot]) for slot, demand in slot_demands(candidate).items())


def crossings_of(candidate: Candidate) -> tuple[int, int, int]:
    """Return what of a candidate's crossings counts, first things first: link streams, link wires, their cost."""
    problem, slot_of = candidate.problem, candidate.partition.slot_of
    passed = problem.over_links(slot_of)
    return sum(sum(n) for n, _ in passed), sum(wires for _, wires in passed), problem.crossing_cost(slot_of)


def fullest(candidate: Candidate, limits: Mapping[str, Resources]) -> Fraction:
    """Return the largest share of its limit that a candidate takes of any slot."""
    demands = slot_demands(candidate)
    return max(fullness(demands[slot], limit) for slot, limit in limits.items())


def is_no_worse(context: PlanningContext, one: Candidate, other: Candidate) -> bool:
    """Whether a design costs no more in crossings than another, and is no fuller or at least comfortable."""
    caps = cap_limits(context)
    even = fullest(one, caps) <= fullest(other, caps) or is_comfortable(context, one)
    return even and crossings_of(one) <= crossings_of(other)


def designs(run: SearchState, candidate: Candidate) -> Iterator[Design]:
    """Yield designs from a candidate on, in the order of the rule: the first that can be placed is taken.

    Where every slot stays comfortable crossings alone decide. Else they are fewest among designs that are nearly as
    even as the least full one.
    """
    context = run.context
    if candidate.narrowed is None or not context.moves_modules:
        yield Design(run.improved(candidate), "all limits")
        return
    comfortable = comfortable_limits(context)
    if is_comfortable(context, candidate):
        yield Design(run.improved(replace(candidate, narrowed=comfortable)), "comfortable")
    even, near = _least_even(run, candidate)
    if is_comfortable(context, even) and not is_comfortable(context, candidate):
        yield Design(run.improved(replace(even, narrowed=comfortable)), "comfortable", even)
    yield Design(run.improved(replace(even, narrowed=near)), "nearly least full", even)


def _least_even(run: SearchState, candidate: Candidate) -> tuple[Candidate, Mapping[str, Resources]]:
    """Return a candidate with its modules as evenly on slots as is found, and the limits of what is nearly as even.

    It keeps within the share of all limits that was found for it, but for what single engines need beyond that.
    """
    context = run.context
    engines, most = engines_alone(run, candidate.interval_cycles, context.allowed), context.allowed
    low, high = fullness(total(slot_demands(candidate).values()), total(most.values())), fullest(candidate, most)
    with run.progress.stage("partition"):
        run.progress.note(f"evenly at {candidate.interval_cycles:,} cycles")
        for _ in range(EVENING_TRIES):
            middle = (low + high) / 2
            narrow = replace(run.context_of(candidate), narrowed=limits_at_share(context, middle, engines))
            found = assign(narrow, candidate.folding, candidate.modules, start=candidate.slot_of)
            if isinstance(found, Candidate):
                candidate, high = found, min(middle, fullest(found, most))
            else:
                low = middle
    near = limits_at_share(context, min(NEARLY * high, Fraction(1)), engines)
    return replace(candidate, narrowed=limits_at_share(context, high, engines)), near


def weighed(found: SearchResult, progress: Progress) -> SearchResult:
    """Return what was found with both ends beside it; as it was after a signal, or where nothing is weighed."""
    run = SearchState(found.context, progress)
    if found.design is None or not (run.seeks_fullness and run.context.moves_modules):
        return found
    with Stop():
        return replace(found, evenness=_evenness(run, found, found.design))
    return replace(found, interrupted=True)


def _evenness(run: SearchState, found: SearchResult, design: Design) -> Evenness:
    """Return the ends with the foldings of a plan: that of least fullness and that of fewest crossings."""
    before, caps = design.candidate, cap_limits(run.context)
    even = design.even or _least_even(run, before)[0]
    with run.progress.stage("partition"):
        again = assign(run.context_of(even), even.folding, even.modules, start=even.slot_of, prove=True)
    even = again if isinstance(again, Candidate) else even
    wide = replace(before, narrowed=dict(run.context.allowed))
    few = before if crossings_of(before) == (0, 0, 0) else run.improved(wide)
    # What is placed may have moved, and counts as it is.
    known = (found.candidate, before, even, few)

    def row(end: EvennessEnd, candidate: Candidate) -> Weighed:
        # The bound on the fullness of a plan holds for all at its interval.
        full = found.fullness.slots
        if candidate is not found.candidate:
            full = _stats(full.method, float(fullest(candidate, caps)), full.bound)
        cost = candidate.problem.of_crossings(candidate.partition.stats, candidate.partition.slot_of)
        streams, wires, _ = crossings_of(candidate)
        return Weighed(end, full, cost, streams, wires)

    least, fewest = min(known, key=lambda each: fullest(each, caps)), min(known, key=crossings_of)
    rows = row("least full", least), row("fewest crossings", fewest), row("taken", found.candidate)
    # Slices that pblocks call for may fill a slot that has next to nothing.
    crowded = design.rule == "comfortable" and not is_comfortable(run.context, found.candidate)
    return Evenness("all limits" if crowded else design.rule, design.passed, rows)
