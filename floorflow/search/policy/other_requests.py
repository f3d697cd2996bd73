"""Other requests than the one that was made: what would fit where it is infeasible, what less rate or no limits buy.

An option is named only if a calculation says that it would do: the folding bound and the links no longer forbid it, the
same test that ended in exit 3. Bargains are made by the very search that `--fps` would make. Each is folded and cut for
the rate, not placed: how full slots are and how large engines follow from that, the wire length does not. It is told
only where each bargain is planned to its end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Context
from functools import partial
from math import ceil, inf

from floorflow.backends.backend import backend_named
from floorflow.dataflow.measured import NO_MEASUREMENTS
from floorflow.errors import INTERRUPTED, InfeasibleError, InputError, LimitError, Refusal, Refused, outcome_of
from floorflow.facts.extras import (
    EXTRAS_SCHEMA,
    BargainEntry,
    BargainsEntry,
    Extras,
    FiguresEntry,
    LeftOutEntry,
    LimitOption,
    WithoutLimitsEntry,
)
from floorflow.folding import FoldingProblem, FoldingSolution
from floorflow.hardware import described_fpgas
from floorflow.placement import PlacementSolution
from floorflow.request import MOST_EPSILON, Request
from floorflow.resources import total
from floorflow.search.candidate.candidate import Candidate, slot_demands
from floorflow.search.candidate.context import PlanningContext, cap_limits, longest_interval, reachable_fps
from floorflow.search.candidate.engine_limits import PRODUCTS
from floorflow.search.candidate.findings import Outcome, Prepare, SearchResult
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.candidate.solvers import with_limits
from floorflow.search.interval.least_full import is_no_worse
from floorflow.search.interval.state import SearchState, shortest_possible
from floorflow.stats import WorkIsSpent, counted


def bound_without_limits(context: PlanningContext, bound_cycles: int) -> WithoutLimitsEntry | None:
    """Return the folding bound without limits on engines, and which of them it takes; None where it is not proven.

    ``bound_cycles``: the bound under the limits.
    """
    limits = context.engine_limits
    if context.problem is context.unlimited:
        return None
    free = _proven_bound(context, context.unlimited)
    if free is None or free >= bound_cycles:
        return None if free is None else WithoutLimitsEntry(bound_cycles=bound_cycles, options=[])
    shares = tuple(name for name in limits.names if name != PRODUCTS)
    lifted: tuple[tuple[LimitOption, tuple[str, ...]], ...] = (
        ("max_products", (PRODUCTS,)),
        ("max_engine_share", shares),
    )
    for option, names in lifted:
        if _proven_bound(context, with_limits(context, limits.without(names)).problem) == free:
            return WithoutLimitsEntry(bound_cycles=free, options=[option])
    return WithoutLimitsEntry(bound_cycles=free, options=["max_products", "max_engine_share"])


def _proven_bound(context: PlanningContext, problem: FoldingProblem) -> int | None:
    """Return the shortest interval that a folding of a problem has; None if solvers leave it open."""
    run = SearchState(context, SILENT).among(problem)
    intervals, index = shortest_possible(run)
    bound = intervals[index]
    if not run.is_feasible(bound) or not isinstance(run.oracle(bound), FoldingSolution):
        return None
    below = intervals[index - 1] if index else None
    return bound if below is None or not run.is_feasible(below) else None


def with_options_that_would_do(refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Refused:
    """Return a refusal with a hint that names what would fit; ``prepare`` takes a request and a number of FPGAs."""
    all_ways = (_loosened, _rates, _caps, _balances, _counts)
    ways = [way for ways in all_ways for way in ways(refused, request, fpgas, prepare)]
    if ways:
        hint = f"by the folding bound this would do: {' or '.join(ways)}"
    else:
        hint = f"no lower rate, higher cap or other number of FPGAs alone would do; try {refused.hint}"
    return replace(refused, hint=hint)


def _loosened(_refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name options of the back end that forbid less, with the highest rate that the bound then allows."""
    for words, options in backend_named(request.backend).loosened(request.backend_options):
        run = _prepared(request.changed(backend_options=options), fpgas, prepare)
        if run is not None and run.is_feasible(run.context.problem.intervals()[-1]):
            intervals, index = shortest_possible(run)
            yield f"{words} (up to {reachable_fps(run.context.platform, intervals[index])} frames/s)"


def _rates(_refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name the highest rate that the bound allows, if a rate was asked for."""
    if request.fps is None:
        return
    run = _prepared(request.changed(fps=None), fpgas, prepare)
    if run is None:
        return
    intervals, index = shortest_possible(run)
    if run.is_feasible(intervals[index]):
        yield f"--fps {reachable_fps(run.context.platform, intervals[index])}"


def _caps(refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name the least cap, in hundredths, of one short resource that would do."""
    for refusal in refused.refusals:
        cap = request.cap.as_dict().get(refusal.resource)
        if refusal.what not in ("budget", "larger budget", "engine too large") or cap is None or cap >= 1:
            continue
        fits = partial(_fits_capped, request, fpgas, prepare, refusal.resource)
        if not fits(100):
            continue
        low, high = int(cap * 100 + 1e-9), 100
        # Most often the shortage itself tells the least cap.
        guess = min(high, max(low + 1, _scaled(cap, refusal)))
        for hundredths in (guess, guess - 1):
            if low < hundredths < high:
                low, high = (low, hundredths) if fits(hundredths) else (hundredths, high)
        yield f"--cap {refusal.resource}={_least(fits, low, high) / 100:g}"
        return


def _scaled(cap: float, refusal: Refusal) -> int:
    """Return the cap, in hundredths, at which the limit is what is needed."""
    return ceil(cap * (refusal.needed or 0) / max(1, refusal.allowed or 0) * 100 - 1e-9)


def _fits_capped(request: Request, fpgas: int, prepare: Prepare, resource: str, hundredths: int) -> bool:
    return _fits(request.changed(cap={**request.cap.as_dict(), resource: hundredths / 100}), fpgas, prepare)


def _least(fits: Callable[[int], bool], failed: int, fitting: int) -> int:
    """Return the least number that fits, between one that does not and one that does."""
    while fitting - failed > 1:
        middle = (failed + fitting) // 2
        failed, fitting = (failed, middle) if fits(middle) else (middle, fitting)
    return fitting


def _balances(_refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name the least imbalance, in hundredths, that would do, if rates are to be balanced."""
    if request.epsilon is None or not _fits(request.changed(epsilon=None), fpgas, prepare):
        return

    def fits(hundredths: int) -> bool:
        return _fits(request.changed(epsilon=hundredths / 100), fpgas, prepare)

    low = int(request.epsilon * 100 + 1e-9)
    high = 2 * low + 10
    while high < MOST_EPSILON * 100 and not fits(high):
        low, high = high, 2 * high
    yield f"--epsilon {_least(fits, low, high) / 100:g}" if high < MOST_EPSILON * 100 else "no --epsilon"


def _counts(refused: Refused, request: Request, fpgas: int, prepare: Prepare) -> Iterator[str]:
    """Name the nearest number of FPGAs that would do: fewer where a link forbids the plan, else more."""
    if request.fpgas == "auto" or described_fpgas(request.platform) is not None:
        return
    if any(refusal.what == "link" for refusal in refused.refusals):
        counts = range(fpgas - 1, 0, -1)
    else:
        counts = range(fpgas + 1, _most_fpgas(request, prepare) + 1)
    for count in counts:
        if _fits(request, count, prepare):
            yield f"--fpgas {count}"
            return


def _most_fpgas(request: Request, prepare: Prepare) -> int:
    """Return the most FPGAs that the board can be linked to and the request allows."""
    run = _prepared(request.changed(fps=None), 1, prepare)
    return 1 if run is None else min(request.max_fpgas, run.context.platform.most_fpgas)


def _fits(request: Request, fpgas: int, prepare: Prepare) -> bool:
    run = _prepared(request, fpgas, prepare)
    return run is not None and run.is_feasible(run.context.problem.intervals()[-1])


def _prepared(request: Request, fpgas: int, prepare: Prepare) -> SearchState | None:
    """Return a search that has not begun, or None if it cannot; limits on engines give way where they leave nothing."""
    # Wishes may name slots that so many FPGAs do not have.
    context = outcome_of(partial(prepare, request, fpgas), (InputError, InfeasibleError, LimitError))
    if isinstance(context, Refused):
        return None
    run = SearchState(context, SILENT)
    if context.problem is context.unlimited or run.is_feasible(context.problem.intervals()[-1]):
        return run
    return SearchState(replace(context, problem=context.unlimited), SILENT)


LESS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of the rate that are given up."""
MOST_MODULES, MOST_ENGINES = 20, 150
"""Modules and engines of a plan up to which bargains are sought unasked: of larger ones they take longer than it."""
DIGITS = range(4, 13)
"""How many digits a rate may have that is asked for; the fewest that will do."""
INSTEAD = "--objective resources"
"""What the same command says where the highest rate was asked for by name: a rate contradicts that."""


@dataclass(frozen=True)
class Again:
    """How a network is searched for once more: ``prepare`` takes a request and a number of FPGAs."""

    prepare: Prepare
    search: Callable[[PlanningContext], Outcome]


def extras(
    plan_sha256: str,
    context: PlanningContext,
    found: SearchResult,
    most_work: float,
    progress: Progress,
    *,
    again: Again | None = None,
) -> Extras | Refused | None:
    """Return what is told beside the plan of a finished search, in at most so much work; None where nothing is.

    ``again``: how the same is searched for at another rate; None where no bargain is to be had. Whoever asks for
    bargains has them whatever work they take.
    """
    request = context.request
    if found.interrupted:
        return None
    asked, measured = request.bargains in {"fold", "plan"}, context.measured != NO_MEASUREMENTS
    bound, bargains, left = None, None, list[LeftOutEntry]()
    # No option of a command that measures would bring what is left out.
    with counted(inf if asked or measured else most_work), progress.stage("extras: other requests"):
        if request.goal == "throughput":
            progress.note("no limits on engines")
            spent = True
            with suppress(WorkIsSpent):
                bound, spent = bound_without_limits(found.context, found.bound_cycles), False
            if spent:
                option = "--max-products none --max-engine-share none"
                left.append(LeftOutEntry(what="without_limits", less=[], option=option))
        if again is not None and _are_sought(context):
            answer = _bargains(context, found, again, progress)
            if isinstance(answer, Refused):
                return answer
            bargains, missing = answer, list(LESS[len(answer.rows) :])
            left += [LeftOutEntry(what="bargains", less=missing, option="--bargains fold")] if missing else []
    if not (bound or bargains or left):
        return None
    return Extras(schema=EXTRAS_SCHEMA, plan_sha256=plan_sha256, without_limits=bound, bargains=bargains, left_out=left)


def _bargains(
    context: PlanningContext, found: SearchResult, again: Again, progress: Progress
) -> BargainsEntry | Refused:
    """Return the bargains of a finished search, as far as the work goes that is allowed; refused after a signal."""
    planned = context.request.bargains_sought == "plan"
    large = len(found.candidate.modules) > MOST_MODULES or len(found.candidate.folded.options) > MOST_ENGINES
    rows = list[BargainEntry]()
    if context.request.bargains is not None or not large:
        with suppress(WorkIsSpent):
            for row in _Rows(context, found, again, progress, planned).rows():
                if isinstance(row, Refused):
                    return row
                rows.append(row)
    now = figures_of(context, found.candidate, found.placements)
    return BargainsEntry(now=now, rows=rows, planned=planned, beside=list(_beside(context)))


def _are_sought(context: PlanningContext) -> bool:
    """Whether a rate can be given up and a command asks for that; no command knows what a build measured."""
    request = context.request
    if request.bargains_sought == "none" or request.keep_folding or context.measured != NO_MEASUREMENTS:
        return False
    return request.goal == "throughput" or (request.goal == "resources" and request.fps is not None)


def _beside(context: PlanningContext) -> Iterator[str]:
    """Yield the options without which the same command at another rate would not be the same request."""
    if context.request.fpgas == "auto":
        yield f"--fpgas {len(context.platform.fpgas)}"
    if context.request.objective == "throughput":
        yield INSTEAD


@dataclass(frozen=True)
class _Rows:
    context: PlanningContext
    found: SearchResult
    again: Again
    progress: Progress
    planned: bool

    def rows(self) -> Iterator[BargainEntry | Refused]:
        """Yield a bargain for each share; rates at which the same interval is the longest are planned once.

        After a signal the refusal comes, and nothing more.
        """
        interval = self.found.candidate.interval_cycles
        slowest = self._prepared(rounded_down(self._rate(LESS[-1]), DIGITS[0]))
        intervals = () if slowest is None else slowest.problem.intervals()
        known: dict[int, tuple[int | None, FiguresEntry | None]] = {}
        for less in LESS:
            fps = readable(self._rate(less), lambda rate: self._longest(rate, intervals))
            longest = self._longest(fps, intervals)
            if longest <= interval:
                yield BargainEntry(less=less, fps=fps, interval_cycles=interval, figures=None)
                continue
            if longest not in known:
                self.progress.note(f"{less:.0%} less rate, {longest:,} cycles")
                answer = self._figures(fps)
                if isinstance(answer, Refused):
                    yield answer
                    return
                known[longest] = answer
            cycles, figures = known[longest]
            yield BargainEntry(less=less, fps=fps, interval_cycles=cycles, figures=figures)

    def _rate(self, less: float) -> float:
        return self.context.platform.clock_mhz * 1e6 / self.found.candidate.interval_cycles * (1 - less)

    def _longest(self, fps: float, intervals: Sequence[int]) -> int:
        """Return the longest interval of a folding that reaches a rate; the plan's own where none is longer."""
        most = longest_interval(self.context.platform, self._request(fps)) or 0
        return max((each for each in intervals if each <= most), default=self.found.candidate.interval_cycles)

    def _request(self, fps: float) -> Request:
        """Return the request for another rate, as the command line that is told makes it."""
        request, fpgas = self.context.request, len(self.context.platform.fpgas)
        objective = "resources" if request.objective == "throughput" else request.objective
        return request.changed(fps=fps, objective=objective, fpgas=fpgas)

    def _prepared(self, fps: float) -> PlanningContext | None:
        context = self.again.prepare(self._request(fps), len(self.context.platform.fpgas))
        return None if isinstance(context, Refused) else context

    def _figures(self, fps: float) -> tuple[int | None, FiguresEntry | None] | Refused:
        """Return interval and figures of the design for a rate, None where none is found; refused after a signal."""
        context = self._prepared(fps)
        if context is None:
            return None, None
        result = self.again.search(replace(context, floorplans=self.planned))
        if result.interrupted:
            return INTERRUPTED
        if isinstance(result, Refused):
            return None, None
        candidate = result.candidate
        plan = self.found.candidate
        if candidate.interval_cycles == plan.interval_cycles or not is_no_worse(context, candidate, plan):
            return plan.interval_cycles, None
        return candidate.interval_cycles, figures_of(context, candidate, result.placements)


def readable(rate: float, longest: Callable[[float], int]) -> float:
    """Return a rate to ask for, rounded down, but not so far that a longer interval would do than meets it.

    ``longest`` is the longest interval that reaches a rate.
    """
    rounded = [rounded_down(rate, digits) for digits in DIGITS]
    return next((fps for fps in rounded if longest(fps) == longest(rate)), rounded[-1])


def rounded_down(rate: float, digits: int) -> float:
    """Return a rate that is not higher, with so many digits."""
    return float(Context(prec=digits, rounding=ROUND_DOWN).create_decimal_from_float(rate))


def figures_of(
    context: PlanningContext, candidate: Candidate, placements: Mapping[str, PlacementSolution]
) -> FiguresEntry:
    """Return the figures of a design; ``placements`` by FPGA, none where it was not placed."""
    demands, caps = slot_demands(candidate), cap_limits(context)
    available = {slot.name: slot.available.as_dict() for slot in context.platform.slots}
    shares = [
        (need / have, slot, name)
        for slot, cap in caps.items()
        for (name, need), have in zip(demands[slot].as_dict().items(), cap.as_tuple(), strict=True)
        if have
    ]
    share, slot, resource = max(shares, key=lambda each: each[0])
    slot_of = {engine: candidate.slot_of[module.name] for module in candidate.modules for engine in module.engines}
    engines = [
        (option.resources.as_dict()[name] / available[slot_of[engine]][name], engine, name)
        for engine, option in candidate.folded.options.items()
        for name in ("LUT", "DSP")
        if available[slot_of[engine]][name]
    ]
    _, engine, name = max(engines, key=lambda each: each[0])
    amount = candidate.folded.options[engine].resources.as_dict()[name]
    hpwl = sum(placement.hpwl for placement in placements.values()) if placements else None
    found = {"slot": slot, "resource": resource, "share": share, "engine": engine, "engine_resource": name}
    return FiguresEntry.model_validate({**found, "amount": amount, "resources": total(demands.values()), "hpwl": hpwl})
