"""The search for the highest rate, or for the least resources at a requested one."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from floorflow.errors import Refusal
from floorflow.folding import RATIO, FoldingProblem, FoldingSolution, fold_at_interval, restricted, shortest_interval
from floorflow.search.candidate.context import PlanningContext, in_short
from floorflow.search.candidate.findings import Design, SearchResult, TraceRow
from floorflow.search.candidate.placing import PlacedCandidate
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.candidate.repair import place_slots_whole
from floorflow.search.interval.least_full import designs, least_full_candidate
from floorflow.search.interval.state import SearchState, share_of, shortest_possible
from floorflow.search.interval.strategies import Strategy, fold_whole, kept_by_slots, strategies
from floorflow.stats import Work, as_much_again, ended_after


def own_kinds(problem: FoldingProblem) -> FoldingProblem | None:
    """Return the problem without the options of other kinds; None if some engine has no more options."""
    keep = [np.asarray((group.engine_kinds == "").all(axis=1)) for group in problem.groups]
    return restricted(problem, keep) if all(rows.any() for rows in keep) else None


def fewer_kinds(problem: FoldingProblem) -> FoldingProblem | None:
    """Return the problem of the engines' own kinds, None if that leaves all options or some engine none."""
    own = own_kinds(problem)
    same = own is not None and all(len(a.rows) == len(b.rows) for a, b in zip(own.groups, problem.groups, strict=True))
    return None if same else own


AT_THE_BOUND = "the interval is the folding optimum under the platform's summed limits"
AT_THE_JOINT_BOUND = "no assignment of engines to slots allows a shorter interval"


@dataclass
class RateSearch:
    """A search among some kinds of engines: the intervals that these have, and the shortest that the budget allows."""

    run: SearchState
    intervals: tuple[int, ...]
    index: int
    all_kinds: bool = True
    start: int | None = None
    """The index of the shortest interval that is not proven impossible however engines are assigned, once known."""
    about: str = ""
    """Words for its rows in a trace of several searches."""

    @classmethod
    def of(cls, run: SearchState, *, all_kinds: bool = True) -> "RateSearch":
        """Find the shortest interval."""
        about = "kinds as they fit best" if all_kinds else "kinds as the back end chooses"
        return cls(run, *shortest_possible(run), all_kinds, about=f"{about}: ")

    @property
    def bound_cycles(self) -> int:
        """Shortest interval that the budget allows."""
        return self.intervals[self.index]


def fit_kinds(free: SearchState) -> RateSearch:
    """Return the search to begin with: among the back end's own kinds where others do not shorten the bound.

    That is so only for a back end that asks for it (`Costs.own_kinds_first`); else among all kinds.
    """
    every = RateSearch.of(free)
    own = fewer_kinds(free.context.problem) if free.context.costs.own_kinds_first else None
    reaches = own and isinstance(fold_at_interval(own, every.bound_cycles, prove=False), FoldingSolution)
    return RateSearch.of(free.among(own), all_kinds=False) if own and reaches else every


def other_kinds(free: SearchState, first: RateSearch) -> RateSearch | None:
    """Return the search among the back end's own kinds if the first was among all, else among all; None if the same.

    A choice that allows a shorter interval by the sums of resources may be harder to pack: what it needs less of is not
    what runs short in a slot.
    """
    own = fewer_kinds(free.context.problem) if free.context.costs.own_kinds_first else None
    if own is None:
        return None
    other = RateSearch.of(free.among(own), all_kinds=False) if first.run is free else RateSearch.of(free)
    return other if other.run.is_feasible(other.intervals[-1]) else None


def shallower_fifos(kinds: RateSearch) -> RateSearch:
    """Return the same search with FIFOs that are deep enough for an interval a little longer than the engines'."""
    run = kinds.run.with_shallower_fifos()
    return replace(kinds, run=run, about=f"FIFOs for {run.context.fifo_slack:.0%} longer: ")


def better(first: RateSearch, second: RateSearch) -> RateSearch:
    """Return which of two searches found the shorter interval that FIFOs keep, with the trace of both, its own last.

    It has the candidates of both, too: after Ctrl-C whichever can be placed will do.
    """
    found, other = (second, first) if second.run.kept_cycles < first.run.kept_cycles else (first, second)
    found.run.trace[:] = [*_rows_about(other, other.run.trace), *_rows_about(found, found.run.trace)]
    found.run.aside[:] = [*_rows_about(other, other.run.aside), *_rows_about(found, found.run.aside)]
    found.run.completed += other.run.completed
    return replace(found, about="")


def _rows_about(kinds: RateSearch, rows: list[TraceRow]) -> list[TraceRow]:
    """Return rows of the trace of a search, with a word on the search in each."""
    return [replace(row, detail=kinds.about + row.detail) for row in rows]


def at_the_bounds(kinds: RateSearch, below: float = math.inf) -> None:
    """Plan at the bound of folding, or at that over assignments to slots, if these are below an interval."""
    run = kinds.run
    if kinds.bound_cycles >= below:
        return
    if _begins(run, kinds.bound_cycles) and place_shortest(run):
        return
    if not run.context.search_limits.thorough:
        kinds.start = kinds.index
        return
    joint = run.find_joint_bound(kinds.intervals, kinds.index).interval_cycles
    kinds.start = len(kinds.intervals) if joint is None else bisect_left(kinds.intervals, joint)
    if kinds.all_kinds:
        run.progress.best(None, joint)
    if joint is not None and joint < below and attempt(run, joint):
        place_shortest(run)


def _begins(run: SearchState, interval: int) -> bool:
    """Fold and cut the first way at the bound of folding: the others take longer than a proof that none will do."""
    first = next(_strategies(run, interval), None)
    return first is not None and _succeeds(run, first, interval)


LEAST_MORE = 5.0
MORE: Mapping[str, float] = {"fast": 0.5, "default": 1.0, "best": math.inf}
"""Units of work that a search for a shorter interval may take, or the share of what it took to find one."""


def worth_more(run: SearchState) -> AbstractContextManager[Work]:
    """Let a search for something shorter than what was found take so much work."""
    return as_much_again(MORE[run.context.request.effort], LEAST_MORE)


LEAST_IN_SHORT, SHARE_IN_SHORT = 10.0, 0.2
"""Units of work that a search in short may take, or that share of what the plan took that it is held against."""


def found_in_short(
    context: PlanningContext, below: float, plan_units: float, progress: Progress
) -> tuple[int | None, bool]:
    """Return an interval below one at which a design was folded and cut, the shortest found in so little work.

    None if there is none; and whether it is proven that there is none. Nothing is placed.
    """
    run = SearchState(replace(context, search_limits=in_short(context.search_limits), floorplans=False), progress)
    if not run.is_feasible(run.context.problem.intervals()[-1]):
        return None, True
    kinds = fit_kinds(run)
    if kinds.bound_cycles >= below:
        return None, True
    with ended_after(max(LEAST_IN_SHORT, SHARE_IN_SHORT * plan_units)):
        at_the_bounds(kinds, below)
        if kinds.run.best is None:
            beyond_the_bounds(kinds, below)
    known = [kinds.run.best_cycles, *(found.kept_cycles for found in kinds.run.completed)]
    best = min((int(cycles) for cycles in known if cycles < below), default=None)
    if best is not None:
        return best, False
    every, start = shortest_possible(run)
    joint = run.find_joint_bound(every, start).interval_cycles
    return None, joint is None or joint >= below


def within_the_gap(kinds: RateSearch, free: SearchState) -> bool:
    """Plan at the longest interval within ``--gap`` of the bounds, the cheaper bound first; whether there is a plan.

    Where there is none, what failed there is not tried again at shorter intervals.
    """
    run, gap = kinds.run, free.context.request.gap
    for bound in (kinds.bound_cycles, None):
        if not gap or (bound is None and not run.context.search_limits.thorough):
            break
        longest = bound or free.find_joint_bound(*shortest_possible(free)).interval_cycles or 0
        index = bisect_right(kinds.intervals, (1 + gap) * longest) - 1
        if index >= kinds.index and attempt(run, kinds.intervals[index]) and place_shortest(run):
            return True
    return False


def is_within_the_gap(run: SearchState, free: SearchState, bound_cycles: int) -> bool:
    """Whether the plan is as near as ``--gap`` asks to the higher bound on the interval that is known."""
    joint = None if free.joint_bound is None else free.joint_bound.interval_cycles
    return run.best_cycles <= (1 + free.context.request.gap) * max(bound_cycles, joint or 0)


def beyond_the_bounds(kinds: RateSearch, below: float = math.inf) -> None:
    """Plan at the shortest interval that can be found below one that was, where there is none at the bounds."""
    run, below = kinds.run, min(below, kinds.run.best_cycles)
    intervals = kinds.intervals[: bisect_left(kinds.intervals, below)]
    if kinds.start is None:
        return
    first = _first_found(run, intervals, kinds.start)
    while first is not None:
        with worth_more(run):
            _shorter(run, intervals, kinds.start, first)
        if place_shortest(run):
            break
        first = _first_found(run, intervals, first + 1)


SLOTS_BEFORE_TRIES, SLOTS_BEFORE = 6, 1.1
"""Intervals at which slots fold what they had before, and times the first within which one ends the search."""
EVEN_WORK = 2.0
"""Units of work in which slots may be made even before that."""


def in_slots_before(kinds: RateSearch) -> bool:
    """Fold each slot anew with what it had in a design before, in larger steps; whether that is fast enough to end.

    What counts more than before seldom asks for another cut: this takes a second, a search for one minutes. Where
    nothing has to be slower slots are made even first.
    """
    run, context = kinds.run, kinds.run.context
    if context.request.start_from is not None:
        return _starts_from(kinds)
    if not context.slots_before:
        return False
    if _is_even_at_the_bound(kinds):
        return True
    own, index, step = run.within(context), kinds.index, 1.0
    for _ in range(SLOTS_BEFORE_TRIES if len(context.limits) > 1 else 0):
        if index >= len(kinds.intervals):
            break
        interval = kinds.intervals[index]
        if keeps_slots_before(run, interval, own):
            return interval <= SLOTS_BEFORE * kinds.bound_cycles
        step *= context.search_limits.ladder
        index = max(index + 1, bisect_left(kinds.intervals, interval * step))
    return False


def _is_even_at_the_bound(kinds: RateSearch) -> bool:
    run = kinds.run
    run.may_be_least_full, found = run.seeks_fullness, False
    with ended_after(EVEN_WORK):  # what it leaves is for the slots before, which take less
        found = run.may_be_least_full and _begins(run, kinds.bound_cycles) and place_shortest(run)
    run.may_be_least_full = False
    return found


def _starts_from(kinds: RateSearch) -> bool:
    """Fold the slots of the plan of ``--from`` at the bound, or at its own interval; whether no shorter one is sought.

    What is found is the plan as long as nothing shorter is.
    """
    context = kinds.run.context
    longest = (1 + context.request.gap) * kinds.bound_cycles
    first = kinds.intervals[bisect_right(kinds.intervals, longest) - 1]
    for interval in (first, context.previous.interval_cycles):
        if interval >= first and keeps_slots_before(kinds.run, interval):
            break
    return kinds.run.best_cycles <= longest


def keeps_slots_before(run: SearchState, interval: int, own: SearchState | None = None) -> bool:
    """Fold each slot anew at an interval with the engines that it had before; whether that has a floorplan.

    ``own``: what was learnt of slots at shorter intervals.
    """
    slot_of, own = run.context.slots_before, own or run.within(run.context)
    candidate = None if slot_of is None else kept_by_slots(own, dict(slot_of), interval)[0]
    found = None if candidate is None else run.place(candidate)
    if found is not None:
        run.best = found
        run.progress.best(found.candidate.interval_cycles, None)
    return found is not None


def attempt(run: SearchState, interval: int) -> bool:
    """Fold and cut at an interval: evenly, as a whole, or slot by slot; what is found waits for its floorplan.

    Evenly, within a share of each slot's limits, it is least full. Folded as a whole it takes the least resources, but
    does not come apart into slots that are nearly full. Segments cross least; slots that take any stages of the network
    may be filled better. Where modules may not be joined, the floorplan is a part of the attempt: it may be what fails.
    """
    if interval not in run.attempts:
        run.attempts[interval] = any(_succeeds(run, strategy, interval) for strategy in _strategies(run, interval))
    return run.attempts[interval]


def _strategies(run: SearchState, interval: int) -> Iterator[Strategy]:
    if run.may_be_least_full:
        yield least_full_candidate
    yield from strategies(run, interval)


def _succeeds(run: SearchState, strategy: Strategy, interval: int) -> bool:
    """Whether a strategy finds a candidate; where it failed at a longer interval it is not asked."""
    name = strategy.__name__
    if interval <= run.failed_at.get(name, 0):
        return False
    candidate = strategy(run, interval)
    if candidate is not None and not run.context.request.keep_granularity:
        run.found[interval] = candidate
        return True
    run.passed = []
    placed = () if candidate is None else ((each, run.place(each.candidate)) for each in designs(run, candidate))
    if any(_is_kept(run, design, answer) for design, answer in placed):
        return True
    run.failed_at[name] = interval
    # What was placed and failed would most often fail again; `least_full_at_end` asks once more.
    run.may_be_least_full &= candidate is None or strategy is not least_full_candidate
    return False


def place_shortest(run: SearchState) -> bool:
    """Place what was found, shortest interval first, until one has a floorplan; whether there is a plan now."""
    for interval in sorted(run.found):
        run.passed = []
        for design in _in_order(run, interval):
            if _is_kept(run, design, run.place(design.candidate)):
                run.found.clear()
                return True
        run.attempts[interval] = False
    return run.best is not None


def _in_order(run: SearchState, interval: int) -> Iterator[Design]:
    """Yield the designs of what was found at an interval; then those within all that slots allow."""
    candidate = run.found.pop(interval)
    yield from designs(run, candidate)
    if candidate.narrowed is not None:
        run.may_be_least_full = False
        run.attempts.pop(interval, None)
        if attempt(run, interval):
            yield from designs(run, run.found.pop(interval))


def _is_kept(run: SearchState, design: Design, answer: PlacedCandidate | None) -> bool:
    """Keep a plan if it is the best so far; whether there is one."""
    if answer is None:
        run.passed.append(design.rule)
    elif answer.candidate.interval_cycles < run.best_cycles:
        run.best, run.weighed = answer, replace(design, passed=tuple(run.passed))
        run.progress.best(answer.candidate.interval_cycles, None)
    return answer is not None


def least_full_at_end(run: SearchState) -> None:
    """Even out the best plan where others, at shorter intervals, had no floorplan and it was not tried at its own."""
    best = run.best
    if best is None or run.may_be_least_full or best.candidate.narrowed is not None or not run.seeks_fullness:
        return
    candidate = least_full_candidate(run, best.candidate.interval_cycles)
    for design in () if candidate is None else designs(run, candidate):
        answer = run.place(design.candidate)
        if answer is not None:
            run.best, run.weighed = answer, design
            break


def _first_found(run: SearchState, intervals: tuple[int, ...], start: int) -> int | None:
    """Return the index of the first interval from the start on that an attempt succeeds at.

    Contiguous cuts tell where to begin. What they leave out, such as FIFOs at crossings, may cost a little more: a
    ladder of ever larger steps finds where it is enough. Where there is no cut at all the longest interval must do.
    """
    index, step = _first_cut(run, intervals, start), 1.0
    while index is not None:
        if attempt(run, intervals[index]):
            return index
        step *= run.context.search_limits.ladder
        further = max(index + 1, bisect_left(intervals, intervals[index] * step))
        index = _first_cut(run, intervals, further)
    last = len(intervals) - 1
    return last if start <= last and attempt(run, intervals[last]) else None


def _first_cut(run: SearchState, intervals: tuple[int, ...], start: int) -> int | None:
    """Return the index of the first interval from the start on at which every slot can fold its segment.

    It only tells where to begin: nearer than what is worth a try it is not told, for each refusal takes a proof.
    Engines that are to lie together, or apart, may have a plan where no cut keeps them so.
    """
    hidden = run.context.wishes.ties and isinstance(run.cut(intervals[-1]), Refusal) if intervals else False
    if hidden or not run.context.search_limits.cuts_tell:
        return start if start < len(intervals) else None

    def is_cut(interval: int) -> bool:
        return run.has_folding(interval) if len(run.context.limits) == 1 else not isinstance(run.cut(interval), Refusal)

    return shortest_interval(intervals, is_cut, start, ratio=RATIO, within=run.context.search_limits.worth_a_try)


def _shorter(run: SearchState, intervals: tuple[int, ...], start: int, first: int) -> None:
    """Try intervals between the last that failed and the first that did not, nearer ones first."""
    failed = max((i for i in range(start, first) if run.attempts.get(intervals[i]) is False), default=start)
    limits = run.context.search_limits
    for _ in range(limits.shorter_tries):
        if first - failed <= 1 or intervals[first] <= (1 + limits.worth_a_try) * intervals[failed]:
            return
        middle = (failed + first) // 2
        if attempt(run, intervals[middle]):
            first = middle
        else:
            failed = middle


def last_refusal_sentence(run: SearchState) -> str:
    """Return the verdict on the longest interval that failed below the one that was found."""
    last = last_refused(run)
    return row_sentence(last) if last else "bisection"


def last_refused(run: SearchState) -> TraceRow | None:
    """Return the row of the longest interval that failed below the one that was found."""
    failed = [row for row in run.trace if row.verdict != "legal" and row.interval_cycles < run.best_cycles]
    return max(failed, key=lambda row: row.interval_cycles, default=None)


def row_sentence(row: TraceRow) -> str:
    """Return a row of the trace as a sentence."""
    return f"{row.interval_cycles:,} cycles: {row.verdict} ({row.stage}): {row.detail}"


QUICK = (1.15, 1.5, 2.0, 3.0, 5.0, 10.0, math.inf)
"""Times the bound at which a design is looked for that is there at once, under a time limit."""


IN_HASTE = "the time limit left no time to look for rectangles"
QUICK_WHOLE = 3.0
"""Times from which on the whole is folded where no segments do: at shorter ones that seldom helps."""
QUICK_CUTS, QUICK_FOLDINGS, QUICK_SPARED = 100, 2, 0.08
"""Cuts and foldings of the whole that are tried at each, and the share of each slot that is left for FIFOs."""


def found_quickly(context: PlanningContext, intervals: Sequence[int]) -> PlacedCandidate | None:
    """Return a design that takes a few seconds, each slot one pblock; None if none is found.

    Each slot folds a segment, or on one FPGA the network is folded as a whole: over several no time is left for that.
    ``intervals`` are possible ones, ascending. It is what there is when a time limit comes early. Nothing else is
    learnt from it, so that a plan that is finished in time is the same as without the limit.
    """
    if not context.floorplans or context.given is not None or context.request.keep_granularity:
        return None
    limits = replace(context.search_limits, cuts_tried=QUICK_CUTS, folding_rounds=QUICK_FOLDINGS)
    context = replace(context, search_limits=limits)
    spared = {slot: share_of(limit, QUICK_SPARED) for slot, limit in context.limits.items()}
    for times in QUICK:
        run = SearchState(context, SILENT, reserve=dict(spared))
        index = bisect_left(intervals, times * intervals[0])
        interval = intervals[min(index, len(intervals) - 1)]
        slot_of = run.cut(interval)
        found = None if isinstance(slot_of, Refusal) else kept_by_slots(run, slot_of, interval)[0]
        if found is None and times >= QUICK_WHOLE and len(context.platform.fpgas) == 1:
            found = fold_whole(run, interval)
        placed = None if found is None else place_slots_whole(context, found, IN_HASTE)
        if isinstance(placed, PlacedCandidate):
            return placed
    return None


def least_resources(run: SearchState, intervals: tuple[int, ...]) -> None:
    """Plan at the longest allowed interval; where that has no plan, at shorter ones, which change the folding.

    Options slower than a requested rate are gone already.
    """
    for longest in _ladder(intervals, run.context.search_limits.rate_attempts):
        if attempt(run, longest) and place_shortest(run):
            break


def end_of_least_resources(run: SearchState) -> str:
    """Return what ended the search, once the folding is held against its bound."""
    if run.context.request.fps is not None:
        return "the requested rate was met"
    failed = [row_sentence(row) for row in run.trace if row.verdict != "legal"]
    folding = run.best.candidate.folding if run.best is not None else None
    if folding and not failed and folding.budget == run.context.problem.budget and folding.stats.status == "optimal":
        return "least resources: no folding at any interval is less scarce"
    return "; ".join(["least resources for which a legal floorplan was found", *failed[-1:]])


def _ladder(intervals: tuple[int, ...], tries: int) -> Iterator[int]:
    """Yield the longest interval, then shorter ones in ever larger steps."""
    index, step = len(intervals) - 1, 1
    for _ in range(tries):
        if index < 0:
            return
        yield intervals[index]
        index, step = index - step, 2 * step


def why_ended(found: SearchResult, interval: int, last: TraceRow | None) -> str:
    """Return why a search that came to other designs found none of a shorter interval than this one."""
    if interval == found.bound_cycles:
        return AT_THE_BOUND
    if interval == found.joint_bound_cycles:
        return AT_THE_JOINT_BOUND
    return found.ended_by if last is None else row_sentence(last)
