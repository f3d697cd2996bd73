"""The search by goal: the highest rate, the least resources or the lowest latency, and what ended it."""

import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from floorflow.errors import INTERRUPTED, Refused, Stop, sentence
from floorflow.facts.partition import WishesEntry
from floorflow.folding import (
    FeasibilityOracle,
    FoldingInfeasible,
    FoldingSolution,
    Shortage,
    fold_at_interval,
    shortage,
)
from floorflow.folding.least_full import least_full
from floorflow.output.cache import code_of
from floorflow.resources import MOST_TOLD, ZERO, total
from floorflow.search.candidate.assignment import as_before
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Outcome, SearchResult, WithoutBalance
from floorflow.search.candidate.placing import PlacedCandidate, finished, with_room, with_slices
from floorflow.search.candidate.preparing import least_risk, likelihood
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.candidate.repair import place_joined
from floorflow.search.candidate.routes import more_hops
from floorflow.search.interval.latency import latency_cycles, lowest_latency
from floorflow.search.interval.least_full import fullness_of
from floorflow.search.interval.narrow_products import products_in_lut
from floorflow.search.interval.rate import (
    AT_THE_BOUND,
    AT_THE_JOINT_BOUND,
    RateSearch,
    at_the_bounds,
    better,
    beyond_the_bounds,
    end_of_least_resources,
    fit_kinds,
    found_quickly,
    in_slots_before,
    is_within_the_gap,
    keeps_slots_before,
    last_refusal_sentence,
    last_refused,
    least_full_at_end,
    least_resources,
    other_kinds,
    shallower_fifos,
    within_the_gap,
    worth_more,
)
from floorflow.search.interval.state import SearchState, shortest_possible
from floorflow.search.interval.wish_prices import priced_wishes, without_prices
from floorflow.stats import Status, ended_after, kept

WHEN_INTERRUPTED = "interrupted, or at the time limit: this is the best that had been found"
"""What ended a search that Ctrl-C or the clock stopped."""
WHEN_SPENT = "the work that this search may take was spent"
WORK: Mapping[str, float] = {"fast": 60.0, "default": 120.0, "best": inf}
"""Units of work that a search may take: a unit takes half a second, and up to two where large networks are cut."""
AT_ONCE_S = 1.0
"""Seconds in which candidates that were not placed yet may be, of the three in which an interrupted run ends; only
there does a clock decide anything."""


def search(context: PlanningContext, progress: Progress = SILENT) -> Outcome:
    """Find the best legal design for the request. Ctrl-C ends the search with what can be placed at once.

    What was found for an equal context in an earlier run is found again (`--cache`).
    """
    about = context.request.time_limit is not None, code_of(context.backend)
    ask = partial(_searched, context, progress)
    answer = kept(ask, "search", *about, *context.told, final=lambda found: not found.interrupted)
    return answer if isinstance(answer, Refused) else replace(answer, context=context)


def _searched(context: PlanningContext, progress: Progress) -> Outcome:
    """Search; what is found is without its context, which whoever asks has."""
    with Stop(), progress.stage("search"):
        run = SearchState(context, progress)
        longest = context.problem.intervals()[-1]
        if not run.is_feasible(longest):
            return _infeasible(run, longest)
        going = _Search(run, longest)
        with Stop():
            going.within_its_work()
            return _without_context(going.result())
        return _without_context(_placed_at_once(going))
    return INTERRUPTED


def _without_context(found: Outcome) -> Outcome:
    return found if isinstance(found, Refused) else replace(found, context=None)  # type: ignore[arg-type]


def _placed_at_once(going: "_Search") -> Outcome:
    """Return the best design that there is; pblocks that were growing are as they were, to grow once more."""
    if going.interrupted or not going.context.floorplans:
        return INTERRUPTED
    if not place_best(going.run, going.longest):
        if going.quick is None or going.quick.candidate.kept_cycles > going.longest:
            return INTERRUPTED
        going.run.best = going.quick
    going.interrupted = True
    return going.result()


@dataclass
class _Search:
    """A search by goal on its way; what is known goes into it at once, for Ctrl-C.

    ``run`` is the state to go on with and holds the best, ``context`` is what was asked for.
    """

    run: SearchState
    longest: int
    context: PlanningContext = field(init=False)
    free: SearchState = field(init=False)
    """The search with all kinds of engines."""
    bound_cycles: int | None = None
    whole_budget_bound: float | None = None
    ended_by: str = WHEN_INTERRUPTED
    interrupted: bool = False
    without_balance: WithoutBalance | None = None
    work_units: float = 0.0
    quick: PlacedCandidate | None = None
    """What there is if a time limit comes before anything better."""

    def __post_init__(self) -> None:
        self.context, self.free = self.run.context, self.run

    def within_its_work(self) -> None:
        """Search until nothing is left to try, or the work is spent: then with the best that was folded and cut."""
        context = self.context
        with ended_after(min(context.work_limit, WORK[context.request.effort])) as work:
            if context.request.time_limit is not None:
                self._have_at_once()
            if context.given is None:
                self.by_goal()
            else:
                self.take(context.given, "")
        if work.is_over:
            self.ended_by = WHEN_SPENT
        if work.is_over and self.run.best is None:
            self.run.best = self._at_last()
        self.work_units = work.spent

    def _at_last(self) -> PlacedCandidate | None:
        """Return what there is of a search whose work was spent before anything was placed."""
        if self.context.floorplans:
            if self.quick is None:
                self._have_at_once()
            return self.quick
        found = min(self.run.completed, key=_merit(self.run), default=None)
        return None if found is None else self.run.place(found)

    def _have_at_once(self) -> None:
        """Find a design that there is when time or work is up early, with the bound that it is held against."""
        context = self.context
        intervals, start = shortest_possible(SearchState(context, SILENT))
        if context.request.goal == "throughput":
            self.bound_cycles = intervals[start]
        self.quick = found_quickly(context, intervals[start:])

    def result(self) -> Outcome:
        """Return the best design, or the proof that there is none, or that none was found."""
        best = self.run.best
        if best is None or best.candidate.kept_cycles > self.longest:
            return self._no_plan()
        with self.run.progress.stage("placing"):
            self.run.progress.note(f"interval {best.candidate.interval_cycles:,} cycles, with short wires and room")
            best = self._finished(best)
            placements = with_room(self.run.context, best).placements
        candidate = with_slices(self.run.context, best.candidate, placements)
        return SearchResult(
            self.context,
            candidate,
            placements,
            candidate.interval_cycles if self.bound_cycles is None else self.bound_cycles,
            self.ended_by,
            (*self.run.aside, *self.run.trace),
            self.whole_budget_bound,
            fullness_of(self.run, candidate, bounded=not self.interrupted and self.context.floorplans),
            best.repair,
            self.interrupted,
            self._joint_bound_cycles(),
            last_refused(self.run),
            self.context.engine_limits.exempt,
            self.context.max_hops,
            without_balance=self.without_balance,
            wishes=self._priced_wishes(candidate),
            design=None if self.interrupted else self.run.weighed,
            work_units=self.work_units,
        )

    def _priced_wishes(self, candidate: Candidate) -> WishesEntry | None:
        """Return what each wish costs; an interrupted plan says only that they hold."""
        if self.context.wishes.file is None or not self.context.floorplans:
            return None
        with Stop():
            sought = self.context.request.goal == "throughput"
            if not self.interrupted:
                return priced_wishes(self.run, candidate, self.bound_cycles if sought else None)
        return without_prices(self.run, candidate)

    def _finished(self, best: PlacedCandidate) -> PlacedCandidate:
        """Return the best design with its wires made short; interrupted, its drafts will do."""
        if not self.interrupted:
            with Stop():
                return finished(self.run.context, best)
            self.interrupted, self.ended_by = True, WHEN_INTERRUPTED
        return best

    def _no_plan(self) -> Refused:
        """Return the proof that there is no plan, or that none was found."""
        joint = self.free.joint_bound
        if joint is None or joint.refusal is None or (joint.interval_cycles or inf) <= self.longest:
            return _not_found(self.run)
        context = self.context
        wished = f", as {context.wishes.file.path} asks," if context.wishes.file else ""
        about = (
            f"{context.dataflow.name} does not fit {context.platform.name}{wished} {_at_rate(context, self.longest)}"
        )
        whatever = f"however its engines are assigned to slots: {sentence(joint.refusal)}"
        message = f"proven infeasible by the cost model: {about}, {whatever}"
        hint = "a larger platform or a narrower network"
        return Refused(message, hint + more_hops(context), (joint.refusal,), "proven")

    def _joint_bound_cycles(self) -> int | None:
        """Return the joint bound on the interval where one was looked for; the folding bound where a plan meets it."""
        if self.free.joint_bound is not None:
            return self.free.joint_bound.interval_cycles
        best = self.run.best
        met = best is not None and best.candidate.interval_cycles == self.bound_cycles
        return self.bound_cycles if met else None

    def by_goal(self) -> None:
        """Search for what was asked for: first of all where an earlier plan has it, if that is to be."""
        if self._stays_near():
            return
        goal = self.context.request.goal
        if goal == "latency":
            self.whole_budget_bound, self.ended_by = lowest_latency(self.run, self.longest)
        else:
            if goal == "throughput":
                self.ended_by = self._fastest()
            else:
                starts = self.context.request.start_from is not None
                if not (starts and keeps_slots_before(self.run, self.longest)):
                    least_resources(self.run, self.context.problem.intervals())
                if self.run.best is None:
                    self.free.find_joint_bound(*shortest_possible(self.free))
            least_full_at_end(self.run)
            if self.context.request.objective != "resources" and self.context.seeks_fullness:
                products_in_lut(self.run)
        best = self.run.best
        if best is None or not self.context.floorplans:
            return
        with self.run.progress.stage("folding"):
            if goal != "latency":
                bounded = self.run.best = replace(best, candidate=with_bound(self.run, best.candidate))
                self.whole_budget_bound = self._scarcity_bound(bounded.candidate.folding)
            if goal == "resources":
                self.ended_by = end_of_least_resources(self.run)
            self.without_balance = without_balance(self.context, best.candidate.interval_cycles)

    def _stays_near(self) -> bool:
        """Try the one folding there is with the modules and slots of the plan to stay near; whether it is placed."""
        run, context = self.run, self.context
        if not (context.request.keep_folding and context.previous.modules and context.floorplans):
            return False
        folding = run.folded(self.longest, ZERO)
        candidate = as_before(context, folding) if isinstance(folding, FoldingSolution) else None
        return candidate is not None and self.take(candidate, "as before: ", repairs=False)

    def take(self, candidate: Candidate, about: str, *, repairs: bool = True) -> bool:
        """Place a design as the only one; whether it is placed."""
        best = self.run.best = self.run.place(candidate, about, repairs=repairs)
        if best is None:
            return False
        self.bound_cycles, self.ended_by = best.candidate.interval_cycles, AT_THE_BOUND
        if repairs and self.context.request.goal != "latency":
            best = self.run.best = replace(best, candidate=with_bound(self.run, best.candidate))
            self.whole_budget_bound = self._scarcity_bound(best.candidate.folding)
        return True

    def _fastest(self) -> str:
        free = self.free = self.run
        first = fit_kinds(free)
        self.run, self.bound_cycles = first.run, first.bound_cycles
        self.run.progress.best(None, self.bound_cycles)
        if in_slots_before(first):
            starts = self.context.request.start_from is not None
            return self._what_ended() if starts else last_refusal_sentence(self.run)
        if within_the_gap(first, free):
            return self._what_ended()
        at_the_bounds(first, self.run.best_cycles)
        limits = self.context.search_limits
        alone = self._is_at_the_bound() or not (limits.cuts_tell and limits.thorough)
        second = None if alone else other_kinds(free, first)
        kinds = first
        if second is not None:
            kinds = self._fastest_of(first, second)
        elif not self._is_at_the_bound():
            with _worth_more(first):
                beyond_the_bounds(first)
        self._with_shallower_fifos(kinds)
        if limits.thorough and not self._is_at_the_bound() and free.joint_bound is None:
            free.find_joint_bound(*shortest_possible(free))
        return self._what_ended()

    def _fastest_of(self, first: RateSearch, second: RateSearch) -> RateSearch:
        """Go on with two choices of kinds: at the bounds of the second, then at longer intervals of both."""
        try:
            with _worth_more(first):
                at_the_bounds(second, first.run.best_cycles)
            for kinds, other in ((first, second), (second, first)):
                with _worth_more(first, second):
                    beyond_the_bounds(kinds, other.run.best_cycles)
        finally:
            found = better(first, second)
            self.run = found.run
        return found

    def _with_shallower_fifos(self, kinds: RateSearch) -> None:
        """Trade the rate of engines for FIFOs where the interval that was found is far from what is possible."""
        joint, limits = self.free.joint_bound, self.context.search_limits
        most = inf if joint is None or joint.interval_cycles is None else limits.far * joint.interval_cycles
        costs = self.context.costs
        if self.run.best_cycles <= most or self.context.request.keep_folding or not costs.sizes_fifos:
            return
        if costs.tool_sizes_fifos:
            return  # the tool knows of no rate to give up
        other = shallower_fifos(kinds)
        try:
            beyond_the_bounds(other, min(self.run.best_cycles, self.longest + 1) / (1 + limits.fifo_slack))
        finally:
            self.run = better(kinds, other).run

    def _is_at_the_bound(self) -> bool:
        return self.run.best_cycles == self.bound_cycles

    def _what_ended(self) -> str:
        """Return why the search for the highest rate found no shorter interval."""
        joint = self.free.joint_bound
        if self._is_at_the_bound():
            return AT_THE_BOUND
        if joint is not None and self.run.best_cycles == joint.interval_cycles:
            return AT_THE_JOINT_BOUND
        gap = self.context.request.gap
        if gap and is_within_the_gap(self.run, self.free, self.bound_cycles or 0):
            return f"the interval is within --gap {gap:g} of what is proven to be possible"
        return last_refusal_sentence(self.run)

    def _scarcity_bound(self, folding: FoldingSolution) -> float | None:
        """Bound the scarcity at a folding's interval under all of the budget, for it may have been folded for less."""
        if folding.budget == self.context.problem.budget:
            return folding.stats.bound
        return scarcity_bound(self.run.context, folding.interval_cycles)


def _worth_more(*kinds: RateSearch) -> AbstractContextManager[object]:
    """Limit the work inside where one of the searches has a plan already."""
    return worth_more(kinds[0].run) if any(each.run.best is not None for each in kinds) else nullcontext()


def scarcity_bound(context: PlanningContext, interval_cycles: int) -> float | None:
    """Return the least scarcity of any folding at an interval under all of the budget; None if it is not known."""
    loose = fold_at_interval(context.problem, interval_cycles, branch=not context.seeks_fullness)
    return loose.stats.bound if isinstance(loose, FoldingSolution) else None


def without_balance(context: PlanningContext, interval_cycles: int) -> WithoutBalance | None:
    """Return what no balance would allow, None where no rates were balanced."""
    if not context.problem.is_balanced:
        return None
    free, goal = context.problem.without_balance, context.request.goal
    shortest = None
    if goal == "throughput":
        shortest = FeasibilityOracle(free).shortest(lambda answer: not isinstance(answer, FoldingInfeasible))
    longest = free.intervals()[-1] if goal == "latency" else interval_cycles
    answer = fold_at_interval(free, longest)
    return WithoutBalance(shortest, answer.stats.bound if isinstance(answer, FoldingSolution) else None)


def with_bound(run: SearchState, candidate: Candidate) -> Candidate:
    """Hold a folding against the least scarcity at its interval under the budget that it had."""
    folding = candidate.folding
    problem = run.context_of(candidate).problem
    exact = fold_at_interval(problem, folding.interval_cycles, branch=candidate.narrowed is None)
    bound = exact.stats.bound if isinstance(exact, FoldingSolution) else None
    cost, proves = folding.stats.objective, folding.stats.method.startswith("exact")
    met = bound is not None and cost is not None and cost <= bound
    unproven: Status = "feasible" if proves or folding.stats.status == "optimal" else folding.stats.status
    status: Status = "optimal" if met and proves else unproven
    return replace(candidate, folding=replace(folding, stats=replace(folding.stats, bound=bound, status=status)))


def _infeasible(run: SearchState, interval: int) -> Refused:
    context = run.context
    where = " + ".join(slot.name for slot in context.platform.slots)
    rate = _at_rate(context, interval)
    refusals = run.trace[-1].refusals
    if run.link_bound is not None and interval < run.link_bound.interval_cycles:
        what = f"{context.dataflow.name} on {context.platform.name} {rate}"
        message = f"proven infeasible: {what}: {sentence(*refusals)}, whatever the cut"
        return Refused(message, "a faster --link or a narrower network", refusals, "proven")
    short = shortage(context.problem, interval)
    message = (
        f"proven infeasible by the cost model: {context.dataflow.name} does not fit {context.platform.name} {rate}: "
        f"{sentence(*refusals)} in {where} together"
        + (f"; {short}{_likelihood_sentence(context, short)}" if short else "")
    )
    hint = "a larger platform or a narrower network"
    return Refused(message, hint, (*refusals, *(short.refusals if short else ())), "proven")


def _likelihood_sentence(context: PlanningContext, short: Shortage) -> str:
    """Say how likely silicon would hold what caps and fills refuse, if that is known.

    What fits caps that are larger by one factor may need more of another resource than there is. So it is the folding
    that fills silicon least of which this is said; where silicon holds none, the one that comes closest to the caps.
    """
    available = total(slot.available for slot in context.platform.slots)
    answer = least_full(context.problem.with_budget(available), short.interval_cycles)
    folding = answer if isinstance(answer, FoldingSolution) else short.folding
    chance = likelihood(context, folding)
    if chance is None:
        return ""
    probability = f"{chance:.2f}" if chance < MOST_TOLD else f"above {MOST_TOLD}"
    told = f"; all that is available there would hold the network, folded for it, with probability {probability}"
    # Several networks have no risk: the least of it is worked out for the engines of one.
    has_risk = context.request.risk is None and context.together is None
    risk = least_risk(context, folding) if has_risk else None
    return told if risk is None else f"{told}, and --risk {risk:g} allows it"


def _at_rate(context: PlanningContext, interval: int) -> str:
    fps = context.request.fps
    if context.together is not None:
        return "at the rates that they must have, or at any where none is asked for"
    return "at any interval" if fps is None else f"at {fps:,g} frames/s (an interval of at most {interval:,} cycles)"


def _not_found(run: SearchState) -> Refused:
    stopped, row = last_refusal_sentence(run), last_refused(run)
    return Refused(
        f"no legal plan found within the limits, though none is proven impossible: {stopped}",
        hint=f"try --effort best, another --fps, or a higher --cap{more_hops(run.context)}",
        refusals=row.refusals if row else (),
    )


class _TimeIsUpError(Exception):
    """Raised out of whatever runs when the seconds are over."""


def place_best(run: SearchState, longest_cycles: int) -> bool:
    """Place the best candidate that was completed before Ctrl-C, without repairs, if no plan is known yet.

    Only plans of at most the longest interval count; whether there is one. A second Ctrl-C goes through.
    """
    if run.best is None:
        run.best = _within(AT_ONCE_S, lambda: _first_placed(run, longest_cycles))
    return run.best is not None and run.best.candidate.kept_cycles <= longest_cycles


def _first_placed(run: SearchState, longest_cycles: int) -> PlacedCandidate | None:
    hasty = replace(run.context, request=run.context.request.changed(effort="fast"))
    met = [candidate for candidate in run.completed if candidate.kept_cycles <= longest_cycles]
    for candidate in sorted(met, key=_merit(run)):
        answer = place_joined(hasty, candidate)
        if isinstance(answer, PlacedCandidate):
            run.legal(candidate.interval_cycles, "after Ctrl-C, without repairs")
            return answer
    return None


def _merit(run: SearchState) -> Callable[[Candidate], int]:
    """Return what ranks candidates, best first."""
    return latency_cycles if run.context.request.goal == "latency" else lambda candidate: candidate.kept_cycles


def _within(seconds: float, work: Callable[[], PlacedCandidate | None]) -> PlacedCandidate | None:
    """Return what the work gives, or None if the time was up before; nothing is begun where no timer can end it."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return None
    before = signal.signal(signal.SIGALRM, _leave)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            return work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _TimeIsUpError:
        return None
    finally:
        signal.signal(signal.SIGALRM, before)


def _leave(_signal: int, _frame: object) -> None:
    raise _TimeIsUpError
