"""Slots and pblocks that are each as likely to hold what lies in them as `--confidence` asks.

The search without that comes first: no plan is faster, and most hold it anyway. Where one does not, engines count as
what is likely enough, instead of as what is estimated, and are folded and assigned to slots once more. What a kind may
need beside its estimates depends on how kinds are mixed, for their errors are independent: that is taken from designs
found so far, until one holds, and between it and the last that did not. That is a heuristic: a shorter interval may
have a design that holds.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import sqrt
from statistics import NormalDist

import numpy as np

from floorflow.channels.cost_allocation import module_resources
from floorflow.dataflow.bands import deviation_of, estimate_of, fit_likelihood, uncertain_sum
from floorflow.dataflow.options import OptionGroup, OptionTable, TableRows
from floorflow.errors import INTERRUPTED, Refusal, Refused, Stop, sentence
from floorflow.folding import FoldingProblem
from floorflow.folding.selection import Evaluator
from floorflow.hardware import free_supply
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate.candidate import Candidate, folded_by, slot_uses, slots_of_engines
from floorflow.search.candidate.context import PlanningContext, in_short
from floorflow.search.candidate.findings import LessLikely, Outcome, SearchResult, Stage, Steps, TraceRow
from floorflow.search.candidate.forks import with_few_link_streams
from floorflow.search.candidate.placing import least_likely
from floorflow.search.candidate.preparing import least_by_kind
from floorflow.search.candidate.progress import Progress
from floorflow.search.candidate.slot_problem import partition_problem
from floorflow.search.interval.latency import latency_cycles
from floorflow.search.interval.rate import row_sentence
from floorflow.stats import SolveStats

TRIES = 3
"""Searches in which engines count as what is likely enough."""
MOST_PLACED = 2
"""Designs that are placed where the floorplan, or a repair for it, makes a place less likely to fit."""
LEAST_WORK, WORK_SHARE = 2.5, 0.2
"""Units of work that each of them may take, or that share of what the first search took."""
WORTH = 1.03
"""Times the interval of the last that did not hold that one that holds must have for others between to be sought."""
ROUNDING = 1e-6
"""By how much a product may be above a whole number by rounding."""

Times = Mapping[str, float]
"""By resource, how many times what its kinds may need by themselves they count as."""


def hold_confidence(context: PlanningContext, _: Progress, *, strict: bool = False) -> Steps[Outcome]:
    """Search whatever is likely to fit; where a slot or pblock of that is not, for one of which all are.

    Where none is found it is the one that is most likely to fit; ``strict``: then it is refused.
    """
    if context.likely_alone and context.confidence is not None:
        return (yield from _likely_alone(replace(context, likely_alone=False), context.confidence))
    free = yield context
    if isinstance(free, Refused) or free.interrupted or context.confidence is None:
        return free
    holding = _Holding(context, context.confidence)
    if holding.holds(free):
        return free
    with Stop() as stop:
        yield from holding.seek(free)
    found = holding.result(free, interrupted=stop.heard)
    if strict and not holding.holds(found):
        return INTERRUPTED if found.interrupted else Refused(sentence(holding.missed(found)))
    return found


def _likely_alone(context: PlanningContext, confidence: float) -> Steps[Outcome]:
    """Search once, with engines as what is likely enough; refused if what is found does not hold."""
    holding = _Holding(context, confidence)
    with Stop() as stop:
        yield from holding.seek_alone()
    found = next((own for own in holding.placed if holding.holds(own)), None)
    if stop.heard or holding.interrupted:
        return INTERRUPTED
    if found is None:
        return Refused("no design that is as likely to fit as --confidence asks was found")
    return replace(found, context=context, trace=(*holding.rows, *found.trace))


@dataclass(frozen=True)
class _Design:
    """A design that was folded and assigned to slots, with engines as they are estimated; and as they counted."""

    candidate: Candidate
    found: SearchResult
    counted: FoldingProblem

    def with_fewer_crossings(self, context: PlanningContext) -> Candidate | None:
        """Return it assigned anew for few crossings, links first, while engines count as they did; None if as it is."""
        if not context.moves_modules:
            return None
        within = replace(self.found.context, narrowed=self.found.candidate.narrowed)
        better = with_few_link_streams(within, self.found.candidate)
        return None if better is self.found.candidate else _as_estimated(context, better, self.counted)


@dataclass
class _Holding:
    """A search for a design that holds on its way; what is known goes into it at once, for Ctrl-C."""

    context: PlanningContext
    confidence: float
    designs: list[_Design] = field(default_factory=list)
    placed: list[SearchResult] = field(default_factory=list)
    rows: list[TraceRow] = field(default_factory=list)
    mixed: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    """Standard deviations of each kind and resource, summed over the designs that do not hold."""
    interrupted: bool = False

    def seek(self, free: SearchResult) -> Steps[None]:
        """Find designs, then place them, the fastest that holds first; ``free`` is what was found without."""
        if self.context.floorplans and not self._is_short(free.candidate) and not self.context.request.keep_granularity:
            return  # no design is more likely to fit a pblock that is fixed
        yield from self._design(free)
        likeliest = sorted(self.designs, key=lambda own: -self._of_slots(own.candidate)[0])[:1]  # where none holds
        yield from self._place(self._held() or likeliest)

    def seek_alone(self) -> Steps[None]:
        """Find one design, with kinds mixed as the least of the network is; place it if its slots hold it."""
        self._mix([least_by_kind(self.context.dataflow, self.context.problem.groups)])
        problem = _counted_as(self.context, self._factors(dict.fromkeys(RESOURCE_NAMES, 1.0)))
        yield from self._fold(problem, self._in_short(problem))
        yield from self._place(self._held())

    def _held(self) -> list[_Design]:
        """Return the designs that their slots hold, the fastest first, of these the likeliest."""
        held = [design for design in self.designs if not self._is_short(design.candidate)]
        return sorted(held, key=lambda own: (self._cycles(own.candidate), -self._of_slots(own.candidate)[0]))

    def _place(self, designs: Sequence[_Design]) -> Steps[None]:
        """Place designs until one holds; nothing after a signal, or where nothing is placed."""
        if self.interrupted or not self.context.floorplans:
            return
        for design in islice(self._to_place(designs), MOST_PLACED):
            outcome = yield replace(self.context, given=design)
            self.interrupted |= outcome.interrupted
            if isinstance(outcome, Refused):
                self._note(design.interval_cycles, "place", str(outcome))
            else:
                self.placed.append(outcome)
            if self.interrupted or (self.placed and self.holds(self.placed[-1])):
                return

    def _to_place(self, designs: Sequence[_Design]) -> Iterator[Candidate]:
        """Yield each design, with fewer crossings first where no slot becomes too unlikely to hold what lies in it."""
        for design in designs:
            better = design.with_fewer_crossings(self.context)
            if better is not None and (not self._is_short(better) or self._is_short(design.candidate)):
                yield better
            yield design.candidate

    def _design(self, free: SearchResult) -> Steps[None]:
        """Fold and assign as the last design that does not hold asks for, then between it and one that does."""
        last, low, high, reached = free.candidate, self._least_times(), None, self._cycles(free.candidate)
        for _ in range(TRIES):
            if high is None:
                self._mix(slot_uses(self.context, last).values())
                times = self._times(last, low)
            else:
                times = {name: sqrt(low[name] * high[name]) for name in RESOURCE_NAMES}
            problem = _counted_as(self.context, self._factors(times))
            found = yield from self._fold(problem, self._within(problem, last, free))
            if found is None:
                high = times
            elif self._is_short(found):
                last, low, reached = found, times, self._cycles(found)
            else:
                last, high = found, times
                if self.context.request.goal != "throughput" or self._cycles(last) <= WORTH * reached:
                    return
            if self.interrupted:
                return

    def _fold(self, problem: FoldingProblem, within: PlanningContext) -> Steps[Candidate | None]:
        """Ask for a design with engines as they count in a problem; return it as estimated, None if none is found."""
        outcome = yield within
        self.interrupted |= outcome.interrupted
        if isinstance(outcome, Refused):
            self._note(self.context.problem.intervals()[-1], "fold", str(outcome))
            return None
        found = _as_estimated(self.context, outcome.candidate, problem)
        self.designs.append(_Design(found, outcome, problem))
        if not self.context.floorplans:
            self.placed.append(replace(outcome, candidate=found, context=self.context))
        if self._is_short(found):
            self._note(found.interval_cycles, "partition", sentence(self._missed(*self._of_slots(found))))
        return found

    def _within(self, problem: FoldingProblem, last: Candidate, free: SearchResult) -> PlanningContext:
        """Return the context of a search in short; no shorter interval is sought than was found without.

        It begins with the slots of the last design.
        """
        context = self._in_short(problem, WORK_SHARE * free.work_units)
        if context.request.goal != "throughput":
            return context
        least = max(context.least_cycles, free.candidate.interval_cycles)
        return replace(context, least_cycles=least, slots_before=slots_of_engines(context, last))

    def _in_short(self, problem: FoldingProblem, work: float = 0.0) -> PlanningContext:
        """Return the context of a search that places nothing, with so many units of work or the least that it takes."""
        context = replace(self.context, problem=problem, unlimited=problem, floorplans=False)
        most = min(max(LEAST_WORK, work), context.work_limit)
        return replace(context, search_limits=in_short(context.search_limits), work_limit=most)

    def _mix(self, uses: Iterable[Mapping[str, Resources]]) -> None:
        """Take note of how a design mixes kinds in its slots."""
        for use in uses:
            for kind in self._kinds & use.keys():
                for name, amount in use[kind].as_dict().items():
                    self.mixed[kind, name] += amount * deviation_of(self.context.costs.band(kind, name))

    @cached_property
    def _kinds(self) -> frozenset[str]:
        """Kinds of engines; what else there is errs little, and counts as it is."""
        groups = self.context.problem.groups
        own = {engine.kind for engine in self.context.dataflow.engines}
        return frozenset(own.union(*(set(group.engine_kinds.ravel().tolist()) for group in groups)) - {""})

    def _need(self, kind: str, name: str) -> float:
        """Return what a unit of a kind may need: its mean, and its share in the deviation of all kinds together."""
        band = self.context.costs.band(kind, name)
        whole = sum(own**2 for (_, resource), own in self.mixed.items() if resource == name) ** 0.5
        share = self.mixed[kind, name] / whole if whole else 1.0
        return (band[0] + band[1]) / 2 + NormalDist().inv_cdf(self.confidence) * share * deviation_of(band)

    def _factors(self, times: Times) -> dict[str, tuple[float, ...]]:
        """Return what a unit of each resource counts as, by kind, where caps limit both this and estimates."""
        caps = self.context.request.cap.as_dict()
        return {
            kind: tuple(max(1.0, caps[name] * self._need(kind, name) * times[name]) for name in RESOURCE_NAMES)
            for kind in sorted(self._kinds)
        }

    def _least_times(self) -> Times:
        """Return how often needs may count without any being more than estimates are under the caps."""
        caps = self.context.request.cap.as_dict()
        return {name: 1 / (cap * max(self._need(kind, name) for kind in self._kinds)) for name, cap in caps.items()}

    def _times(self, design: Candidate, least: Times) -> Times:
        """Return how often needs must count for a slot that is as full as a design's, and mixed like it, to hold."""
        found, caps = {name: max(1.0, own) for name, own in least.items()}, self.context.request.cap.as_dict()
        for slot, use in slot_uses(self.context, design).items():
            have = self._there[slot].as_dict()
            needs = uncertain_sum(use, self.context.costs.band).needs(have, self.confidence)
            for name in RESOURCE_NAMES:
                engines = {kind: use[kind].as_dict()[name] for kind in self._kinds & use.keys()}
                counted = sum(amount * self._need(kind, name) for kind, amount in engines.items())
                others = estimate_of(use).as_dict()[name] - sum(engines.values())
                if counted and needs[name] > have[name]:
                    found[name] = max(found[name], (needs[name] - others / caps[name]) / counted)
        return found

    @cached_property
    def _there(self) -> dict[str, Resources]:
        """What is available in each slot, and in a pblock over all that is free of it."""
        pairs = [(fpga.device, slot) for fpga in self.context.platform.fpgas for slot in fpga.slots]
        return {slot.name: slot.available.least(free_supply(device, slot)) for device, slot in pairs}

    def _of_slots(self, design: Candidate) -> tuple[float, str]:
        """Return how likely the slot holds what lies in it that is least likely to, and which that is."""
        uses, band = slot_uses(self.context, design), self.context.costs.band
        return min((fit_likelihood(use, self._there[slot], band), slot) for slot, use in uses.items())

    def _is_short(self, design: Candidate) -> bool:
        return self._of_slots(design)[0] < self.confidence

    def least(self, found: SearchResult) -> tuple[float, str]:
        """Return how likely the slot or pblock of a plan is that is least likely to fit, and which that is."""
        return least_likely(self.context, found.candidate, found.placements)

    def holds(self, found: SearchResult) -> bool:
        """Whether every slot and pblock of a plan is likely enough to fit."""
        return self.least(found)[0] >= self.confidence

    def missed(self, found: SearchResult) -> Refusal:
        """Return why a plan does not hold."""
        return self._missed(*self.least(found))

    def _missed(self, chance: float, place: str) -> Refusal:
        return Refusal("likelihood", "", place, needed=self.confidence, allowed=chance)

    def _note(self, interval: int, stage: Stage, detail: str) -> None:
        about = f"engines as {self.confidence:g} likely enough: "
        self.rows.append(TraceRow(interval, "not found within the limit", stage, about + detail))

    def _cycles(self, design: Candidate) -> int:
        latency = self.context.request.goal == "latency"
        return latency_cycles(design) if latency else design.kept_cycles

    def result(self, free: SearchResult, *, interrupted: bool) -> SearchResult:
        """Return the plan that holds, with the bounds of the search without; else the one most likely to fit."""
        best = max([free, *self.placed], key=lambda own: min(self.least(own)[0], self.confidence))
        missed = self.missed(free)
        row = TraceRow(
            free.candidate.interval_cycles, "not found within the limit", "place", sentence(missed), (missed,)
        )
        known = replace(
            best,
            likely=self.holds(best),
            interrupted=best.interrupted or self.interrupted or interrupted,
            trace=(*free.trace, row, *self.rows, *(best.trace if best is not free else ())),
            notes=free.notes,
        )
        if best is free:
            return known
        slower = best.candidate.interval_cycles > free.candidate.interval_cycles
        chance, place = self.least(free)
        return replace(
            known,
            context=self.context,
            bound_cycles=free.bound_cycles if self.context.request.goal == "throughput" else best.bound_cycles,
            joint_bound_cycles=free.joint_bound_cycles,
            whole_budget_bound=free.whole_budget_bound
            if self.context.request.goal == "latency"
            else best.whole_budget_bound,
            ended_by=row_sentence(row) if slower else free.ended_by,
            ended_at=row if slower else free.ended_at,
            max_hops=free.max_hops,
            hop_proof=free.hop_proof,
            without_balance=free.without_balance,
            less_likely=LessLikely(free.candidate.interval_cycles, chance, place),
        )


def _counted_as(context: PlanningContext, factors: Mapping[str, tuple[float, ...]]) -> FoldingProblem:
    """Return the folding problem with resources of engines that count by factors of their kinds."""
    own = {engine.name: engine.kind for engine in context.dataflow.engines}
    made: dict[tuple[int, tuple[str, ...]], TableRows] = {}
    groups = []
    for group in context.problem.groups:
        kinds = tuple(own[engine] for engine in group.engines)
        key = id(group.rows), kinds
        if key not in made:
            tables = (_table(group.options_of(e), kind, factors) for e, kind in zip(group.engines, kinds, strict=True))
            made[key] = TableRows(tuple(tables))
        groups.append(OptionGroup(group.engines, made[key]))
    return replace(context.problem, groups=tuple(groups), memo={})


def _table(table: OptionTable, own: str, factors: Mapping[str, tuple[float, ...]]) -> OptionTable:
    numbers = table.numbers.copy()
    by_row = np.array([factors[kind or own] for kind in table.kinds]).T
    numbers[1:6] = np.ceil(table.use * by_row - ROUNDING).astype(np.int64)
    return replace(table, numbers=numbers)


def _as_estimated(context: PlanningContext, design: Candidate, counted: FoldingProblem) -> Candidate:
    """Return a design with engines as they are estimated, where they counted as more; its cost is no more proven."""
    rows, before = counted.rows_of(design.folding), design.folding.stats
    folding = Evaluator(context.problem).solution(rows, before.method, "heuristic")
    if context.request.goal == "latency":
        folding = replace(folding, stats=SolveStats(before.method, "heuristic", before.objective))
    folded = folded_by(context, folding)
    demands = module_resources(design.modules, folded, design.channels)
    problem = partition_problem(context, design.modules, demands, design.channels, folded=folded)
    stats = design.partition.stats
    proven = stats if not stats.objective else SolveStats(stats.method, "heuristic", stats.objective)
    return replace(
        design,
        folding=folding,
        folded=folded,
        demands=demands,
        problem=problem,
        narrowed=None,
        partition=replace(design.partition, stats=proven),
    )
