"""What gives way where a search finds no plan: values that one function tries in order.

More FPGAs may be taken, engines may be larger than their limits, the host may write weights, and streams may cross more
SLR boundaries. Each asks for searches under those behind it, and says which outcome counts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from floorflow.errors import INTERRUPTED, Made, Refusal, Refused, Stop, outcome_of, sentence, unproven
from floorflow.facts.search import BY_THE_FASTEST
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingSolution
from floorflow.folding.fewest import fewest_marked
from floorflow.partition import PartitionFailure, PartitionProblem, PartitionSolution, partition
from floorflow.request import Request
from floorflow.resources import Resources, total
from floorflow.search.candidate.assignment import assign, clustered
from floorflow.search.candidate.candidate import Candidate, folded_by, written_by_host
from floorflow.search.candidate.context import PlanningContext, longest_interval, reachable_fps
from floorflow.search.candidate.engine_limits import EngineLimits
from floorflow.search.candidate.findings import Outcome, Prepare, Search, SearchResult, Steps, TraceRow
from floorflow.search.candidate.preparing import with_wishes
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.candidate.routes import longest_stretch, near
from floorflow.search.candidate.solvers import with_limits
from floorflow.search.interval.least_full import is_no_worse
from floorflow.search.interval.search import scarcity_bound, search, without_balance
from floorflow.search.interval.state import SearchState, whole_stages
from floorflow.search.policy.confidence import hold_confidence
from floorflow.search.policy.fpga_order import with_hint_of_order, with_other_order
from floorflow.search.policy.host_weights import spare_host_weights
from floorflow.search.policy.other_requests import with_options_that_would_do
from floorflow.segments import Impossible, SlotRelaxation
from floorflow.stats import SolveStats

WORK = 4.0
"""What a proof over all foldings may take, in CP-SAT's work units, roughly seconds."""


@dataclass(frozen=True)
class Relaxation:
    """A limit by name, how it gives way, and what is told when another search is made for it."""

    name: str
    relax: Callable[[PlanningContext, Progress], Steps[Outcome]]
    note: str


def outcome_under(
    steps: Steps[Made],
    relaxations: Sequence[Relaxation],
    search: Search,
    progress: Progress = SILENT,
) -> Made | Refused:
    """Return what comes of steps, each searched under the first relaxation, and what that asks for under the next.

    What the last asks for is searched under all limits as they are. A signal ends the steps that it comes in.
    """
    running: list[Steps[Any]] = [steps]
    outcome: Any = None
    while running:
        ended, again = False, outcome is not None
        with Stop() as stop:
            try:
                context = running[-1].send(outcome)
            except StopIteration as end:
                ended, outcome = True, end.value
        if ended or stop.heard:
            outcome = INTERRUPTED if stop.heard else outcome
            running.pop()
            continue
        inner: Steps[Any] | None = None
        with Stop() as stop:
            if again and len(running) > 1:
                progress.note(relaxations[len(running) - 2].note)
            if len(running) > len(relaxations):
                outcome = outcome_of(partial(search, context))
            else:
                inner = relaxations[len(running) - 1].relax(context, progress)
        if stop.heard:
            # Whoever asked for the search ends with the best that is known.
            outcome = INTERRUPTED
        elif inner is not None:
            running.append(inner)
            outcome = None
    made: Made | Refused = outcome
    return made


def searched_alone(context: PlanningContext) -> Steps[Outcome]:
    """Ask for the search of a context, for it alone."""
    return (yield context)


@dataclass(frozen=True)
class OnFpgas:
    """What was found on the fewest FPGAs; ``tried``: a sentence for each smaller number that failed, with its reason.

    ``context``: what the search began with there.
    """

    context: PlanningContext
    result: SearchResult
    tried: tuple[str, ...]


def fewest_fpgas(request: Request, prepare: Prepare, progress: Progress) -> Steps[OnFpgas | Refused]:
    """Ask for searches on ``request.fpgas`` FPGAs, or with ``auto`` on 1, 2, ... until a plan is found.

    Where an engine fits no slot more FPGAs of the same kind cannot help. The hint of what is proven infeasible names
    what would fit.
    """
    auto = request.fpgas == "auto"
    tried: list[str] = []
    unlikely: OnFpgas | None = None
    last: PlanningContext | None = None
    refused = Refused("no number of FPGAs was allowed", hint="raise --max-fpgas")
    for count in range(1, request.max_fpgas + 1) if request.fpgas == "auto" else (request.fpgas,):
        told = f"{count} FPGA{'s' if count > 1 else ''}"
        if auto:
            progress.note(told)
        context = prepare(request, count)
        if isinstance(context, Refused):
            return with_options_that_would_do(context, request, count, prepare)
        last = context
        outcome = yield context
        if isinstance(outcome, SearchResult):
            found = OnFpgas(context, with_other_order(outcome, progress), tuple(tried))
            if outcome.likely or outcome.interrupted or not auto:
                return found
            unlikely = unlikely or found
            tried.append(f"{told} would not be as likely to fit as --confidence asks")
        elif outcome.interrupted:
            return unlikely or outcome
        else:
            refused = outcome
            if not auto:  # else more FPGAs are the relaxation
                refused = yield from _with_least_relaxation(context, refused)
            tried.append(f"{told} would not do: {refused}")
        if count == context.platform.most_fpgas:
            break
    if unlikely is None and last is not None:
        refused = with_hint_of_order(last, refused, progress)
    return unlikely or _with_what_would_fit(refused, request, len(tried), prepare)


def _with_what_would_fit(refused: Refused, request: Request, tried: int, prepare: Prepare) -> Refused:
    """Return a refusal whose hint names what would fit, if it is proven.

    What the folding bound tells is not what stands in the way where a search with less in its way has a plan.
    """
    if refused.why != "proven" or refused.hint.startswith(LEAST):
        return refused
    count = tried if request.fpgas == "auto" else request.fpgas
    return with_options_that_would_do(refused, request, count, prepare)


LEAST = "there is a plan, which was sought and found, "
"""How a hint begins that a search confirms."""
MOST_LEFT_OUT = 2
"""Wishes that are left out together, at the most, to see whether there is a plan without them."""
MORE_ROOM = (1.05, 1.15, 1.4)
"""Times the least limit by the relaxation that are searched in turn: streams and rectangles need more than that."""


def _with_least_relaxation(context: PlanningContext, refused: Refused) -> Steps[Refused]:
    """Ask for searches without the fewest wishes, and with one limit wider; say what gives a plan, what is short.

    That is said of what is proven infeasible alone.
    """
    if refused.why != "proven":
        return refused
    ways: list[str] = []
    for count in range(1, min(MOST_LEFT_OUT, len(context.wishes.lines)) + 1):
        ways = ways or (yield from _without_wishes(context, count))
    needed = ""
    if any(refusal.what in {"each slot", "slots and hops"} for refusal in refused.refusals):
        wider, needed = yield from _with_wider_limit(context)
        ways += [wider] if wider else []
    hint = f"{LEAST}{' or '.join(ways)}" if ways else refused.hint
    return replace(refused, message=f"{refused.message}{needed}", hint=hint)


def _without_wishes(context: PlanningContext, count: int) -> Steps[list[str]]:
    """Ask for a search without so many wishes at a time, unless proven in vain; return those that give a plan."""
    found: list[str] = []
    for lines in combinations(context.wishes.lines, count):
        free = with_wishes(context, context.wishes.without(*lines))
        outcome = (yield free) if _engines_can_lie(free) else None
        if isinstance(outcome, Refused) and outcome.interrupted:
            break
        if isinstance(outcome, SearchResult):
            words = " and ".join(f"'{line.text}'" for line in lines)
            found.append(f"without {words}")
    return found


def _relaxation(context: PlanningContext) -> SlotRelaxation:
    limits = list(context.limits.values())
    return SlotRelaxation(context.problem, limits, whole_stages(context), context.inside, near(context))


def _engines_can_lie(context: PlanningContext) -> bool:
    answer, _ = _relaxation(context).at(context.problem.intervals()[-1], WORK)
    return not isinstance(answer, Impossible)


def _with_wider_limit(context: PlanningContext) -> Steps[tuple[str, str]]:
    """Ask for searches with that limit wider that has to be so by the least share.

    Return with what there is a plan, empty if none was found, and what the relaxation says is needed.
    """
    slots = context.platform.slots
    least = _relaxation(context).least_wider(context.problem.intervals()[-1], [s.available for s in slots], WORK)
    if least is None:
        return "", ""
    slot, name = slots[least.slot], least.resource
    have = slot.available.as_dict()[name]
    needed = f"; {slot.name} is short: {least.amount:,} {name} needed, {least.now:,} allowed"
    needed += ", and no other limit by a smaller share" if least.proven else ""
    for factor in MORE_ROOM:
        amount = min(have, ceil(least.amount * factor))
        outcome = yield _wider(context, slot.name, name, amount)
        if isinstance(outcome, Refused) and outcome.interrupted:
            break
        if isinstance(outcome, SearchResult):
            shares = f"{amount / have:.3f} of it, {least.now / have:.3f} now"
            return f"with a {name} limit of {amount:,} in {slot.name} ({shares})", needed
    return "", needed


def _wider(context: PlanningContext, slot: str, name: str, amount: int) -> PlanningContext:
    limits = {**context.limits, slot: Resources.from_dict({**context.limits[slot].as_dict(), name: amount})}
    budget = total(limits.values())
    problem = context.problem.with_budget(budget)
    free = problem if context.problem is context.unlimited else context.unlimited.with_budget(budget)
    return replace(context, narrowed=limits, problem=problem, unlimited=free)


def lift_engine_limits(context: PlanningContext, _: Progress) -> Steps[Outcome]:
    """Search under the limits on engines; where that finds no plan, with them lifted for as few engines as will do."""
    outcome = yield context
    if isinstance(outcome, SearchResult) or outcome.interrupted or context.problem is context.unlimited:
        return outcome
    for limits in _lifted(context):
        outcome = yield with_limits(context, limits)
        if isinstance(outcome, SearchResult) or outcome.interrupted:
            break
    return outcome


def _lifted(context: PlanningContext) -> Iterator[EngineLimits]:
    """Yield the limits lifted for the fewest engines, if the sums of resources ask for that; then for all."""
    limits, longest = context.engine_limits, context.unlimited.intervals()[-1]
    within = context.problem.intervals()[-1]
    if isinstance(FeasibilityOracle(context.problem)(within), FoldingInfeasible):
        groups = context.unlimited.groups
        marked = [(~limits.allowed(group, context.places)).astype(np.int64) for group in groups]
        found = fewest_marked(context.unlimited, longest, marked)
        if found.rows is not None:
            above = [limits.exceeded(group, row) for group, row in zip(groups, found.rows, strict=True)]
            yield limits.exempting([pair for pairs in above for pair in pairs], "none of the network")
    engines = [engine.name for engine in context.dataflow.engines]
    yield limits.exempting([(engine, name) for engine in engines for name in limits.names], "no plan found")


def allow_more_hops(context: PlanningContext, progress: Progress) -> Steps[Outcome]:
    """Search for streams that cross few SLR boundaries; more only where fewer are proven not to do.

    What is proven is either that no assignment of engines to slots will do, however they are folded (the relaxation
    behind the joint bound), or that none of the modules of the plan will, with the foldings and FIFOs that they have.
    """
    refused = yield context
    if isinstance(refused, SearchResult) or refused.interrupted or context.request.max_hops is not None:
        return refused
    for most in range(context.max_hops, longest_stretch(context.platform)):
        nearer, further = replace(context, max_hops=most), replace(context, max_hops=most + 1)
        with progress.stage("partition"):
            progress.note(f"whether {most} hops are too few")
            proof = _engines_proof(nearer)
            if not proof and not _modules_need_more(nearer):
                break
        outcome = yield further
        if isinstance(outcome, Refused) and not outcome.interrupted:
            continue
        proof = "" if isinstance(outcome, Refused) else proof or _modules_proof(nearer, outcome.candidate)
        if isinstance(outcome, SearchResult) and proof:
            return replace(outcome, max_hops=most + 1, hop_proof=proof)
        if outcome.interrupted:
            return INTERRUPTED
        return replace(refused, hint=f"streams over {most + 1} SLR boundaries have a plan: --max-hops {most + 1}")
    return refused


def _engines_proof(context: PlanningContext) -> str:
    """Return the proof that no engines, however folded, can lie so near each other; empty if there is none."""
    if _engines_can_lie(context):
        return ""
    return f"{_hops_refused(context, 'engines')}, however they are folded (CP-SAT)"


def _hops_refused(context: PlanningContext, of: str) -> str:
    return sentence(Refusal("hops", allowed=context.max_hops, proven=True, names=(of,)))


def _modules_need_more(context: PlanningContext) -> bool:
    """Whether the modules of a folding of least resources are proven to need more hops."""
    folding = context.solvers.fold_nearly(context.problem, context.problem.intervals()[-1])
    if not isinstance(folding, FoldingSolution):
        return False
    answer = _nearest(context, folding)
    return isinstance(answer, PartitionFailure) and answer.proven and any(r.what == "hops" for r in answer.refusals)


def _modules_proof(context: PlanningContext, candidate: Candidate) -> str:
    """Return the proof that the modules of a plan cannot lie so near each other; empty if there is none."""
    answer = _nearest(context, candidate.folding)
    if not isinstance(answer, PartitionFailure) or not answer.proven:
        return ""
    return f"{_hops_refused(context, 'the modules')}, folded as they are (CP-SAT)"


def _nearest(context: PlanningContext, folding: FoldingSolution) -> Candidate | PartitionFailure:
    """Assign the modules of a folding, as they are before any are merged, by the method that proves most."""
    request = context.request

    def exactly(
        problem: PartitionProblem, start: Mapping[str, int] | None, _: bool
    ) -> PartitionSolution | PartitionFailure:
        return partition(problem, "auto", request.effort, request.seed, start=start)

    proving = replace(context, solvers=replace(context.solvers, partition=exactly))
    return assign(proving, folding, clustered(context, folded_by(context, folding), {}), prove=True)


CONFIDENCE = Relaxation("confidence", hold_confidence, "what is likely enough to fit")
MORE_CONFIDENTLY = replace(CONFIDENCE, relax=partial(hold_confidence, strict=True))
"""The same where there is a plan already: one that is less likely to fit does not count."""

WithoutRate = Callable[[PlanningContext], PlanningContext | Refused | None]
"""Prepares the same without the rate that was asked for."""


def rate_kept(without_rate: WithoutRate) -> Relaxation:
    """Return what makes the fastest design a candidate of every request for a rate that it keeps."""
    note = "now the least resources at the rate of --fps"
    return Relaxation("rate", partial(fastest_or_less, without_rate=without_rate), note)


def fastest_or_less(context: PlanningContext, progress: Progress, without_rate: WithoutRate) -> Steps[Outcome]:
    """Search for the fastest design, and where the rate allows longer intervals for the least resources at it.

    The latter counts where it costs no more in crossings and is no fuller, or comfortable. Where the rate allows no
    longer interval than that of the fastest design the question is the same, and so is the answer.
    """
    longest, fps = context.problem.intervals()[-1], context.request.fps
    asked = (
        fps is not None and context.request.goal == "resources" and SearchState(context, SILENT).is_feasible(longest)
    )
    asked = asked and context.request.start_from is None  # that is near the fastest design as it is
    free = without_rate(context) if asked else None
    if not isinstance(free, PlanningContext):
        return (yield context)
    progress.note(f"--fps {fps:g}: the highest rate first, whose design may be no larger")
    fastest = yield replace(free, memo=context.memo, floorplans=context.floorplans)
    if isinstance(fastest, Refused):
        return fastest if fastest.interrupted else (yield context)
    met = _meeting(context, fastest)
    if met is not None and (fastest.interrupted or met.candidate.interval_cycles >= longest):
        return met
    least = INTERRUPTED if fastest.interrupted else (yield context)
    if isinstance(least, SearchResult) and (met is None or is_no_worse(context, least.candidate, met.candidate)):
        return least
    if met is None:
        return _too_slow(context, fastest, least) if isinstance(least, Refused) and not least.interrupted else least
    return _instead(context, met, least)


def _meeting(context: PlanningContext, fastest: SearchResult) -> SearchResult | None:
    """Return the fastest design as a plan for a rate, None if that is too high, or can be had without the host.

    Its bounds are claims about the highest rate, and are left out.
    """
    most, found, host = (
        longest_interval(context.platform, context.request) or 0,
        fastest.candidate,
        fastest.host_weights,
    )
    if found.kept_cycles > most:
        return None
    if host is not None:
        without = host.without_cycles if host.sought else host.without_bound_cycles
        if written_by_host(context, found) and without is not None and without <= most:
            return None
        proven = host.without_bound_cycles is None or host.without_bound_cycles > most
        least = None if proven else 0
        host = replace(host, bound_cycles=0, without_bound_cycles=least, without_cycles=None)
    return replace(
        fastest,
        bound_cycles=found.interval_cycles,
        joint_bound_cycles=None,
        ended_by=f"{BY_THE_FASTEST}: {fastest.ended_by}",
        host_weights=host,
        without_balance=without_balance(context, found.interval_cycles),
    )


def _instead(context: PlanningContext, met: SearchResult, least: Outcome) -> SearchResult:
    """Return the fastest design where the least resources at a longer interval have no plan, or one that is worse."""
    if isinstance(least, Refused) and least.interrupted:
        return replace(met, interrupted=True)
    longest = context.problem.intervals()[-1]
    why = f"the least resources have no plan: {least}" if isinstance(least, Refused) else WORSE
    refusals = unproven(least.refusals) if isinstance(least, Refused) else ()
    tried = [TraceRow(longest, "not found within the limit", "partition", f"at the requested rate: {why}", refusals)]
    rows = [replace(row, detail=f"for the highest rate: {row.detail}") for row in met.trace]
    bound = scarcity_bound(context, longest)
    stats = met.candidate.folding.stats
    # Nothing is claimed of the least resources: they are bounded at the rate that was asked for.
    optimal = bound is not None and stats.objective is not None and stats.objective <= bound
    status = stats.status if optimal or stats.status == "heuristic" else "feasible"
    folding = replace(met.candidate.folding, stats=SolveStats(stats.method, status, stats.objective, bound))
    return replace(
        met,
        candidate=replace(met.candidate, folding=folding),
        trace=(*tried, *rows),
        whole_budget_bound=bound,
        ended_by=f"{met.ended_by}; not with the least resources: {why}",
        ended_at=None,
    )


WORSE = "what was found with less is fuller or costs more in crossings"


def _too_slow(context: PlanningContext, fastest: SearchResult, refused: Refused) -> Refused:
    """Return why there is no plan for a rate, with the highest that was found."""
    cycles = fastest.candidate.kept_cycles
    fps = reachable_fps(context.platform, cycles)
    return replace(refused, message=f"{refused}; the fastest design found takes {cycles:,} cycles, --fps {fps}")


ENGINE_LIMITS = Relaxation("engine limits", lift_engine_limits, "how many engines may be above their limits")
HOST_WEIGHTS = Relaxation("host weights", spare_host_weights, "which weights the host writes")
HOPS = Relaxation("hops", allow_more_hops, "how many SLR boundaries a stream may cross")
RELAXATIONS = (ENGINE_LIMITS, HOST_WEIGHTS, HOPS, CONFIDENCE)
"""In the order in which they stand round a search: the first gives way last."""


def searched_under(progress: Progress, relaxations: Sequence[Relaxation] = RELAXATIONS) -> Search:
    """Return a search under some relaxations."""
    one: Search = partial(search, progress=progress)
    return lambda context: outcome_under(searched_alone(context), relaxations, one, progress)
