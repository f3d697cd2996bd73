"""What a search has tried: candidates at an interval or under a budget, their placement, a row of trace for each."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from floorflow.dataflow.fifo import Prices
from floorflow.dataflow.model import Option
from floorflow.dataflow.modules import stages
from floorflow.errors import Refusal, sentence, unproven
from floorflow.facts.partition import EvennessRule
from floorflow.folding import fold_at_interval
from floorflow.folding.exact import FeasibilityOracle
from floorflow.folding.least_full import least_full
from floorflow.folding.problem import (
    RATIO,
    FoldingAnswer,
    FoldingInfeasible,
    FoldingProblem,
    FoldingSolution,
    FoldingUnknown,
    shortest_interval,
)
from floorflow.folding.selection import Evaluator
from floorflow.placement.problem import PlacementFailure
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources
from floorflow.search.candidate.assignment import Unassigned
from floorflow.search.candidate.candidate import Candidate, folded_by, least_words
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.cutting import Cutter, FifoPricing, HeldBits, SlotOf, held_bits, prices_of
from floorflow.search.candidate.findings import Design, Stage, TraceRow, Verdict
from floorflow.search.candidate.forks import completed, too_many_link_streams, with_few_link_streams
from floorflow.search.candidate.placing import PlacedCandidate, place_as_it_is
from floorflow.search.candidate.progress import Progress
from floorflow.search.candidate.repair import place_with_repairs
from floorflow.search.candidate.routes import LinkBound, link_bound, near
from floorflow.segments.parts import Parts
from floorflow.segments.slot_relaxation import JointBound, joint_bound


@dataclass
class SearchState:
    """One search: what was tried so far, by interval whether it is feasible and its candidate, and the best."""

    context: PlanningContext
    progress: Progress
    trace: list[TraceRow] = field(default_factory=list)
    feasible: dict[int, bool] = field(default_factory=dict)
    attempts: dict[int, bool] = field(default_factory=dict)
    failed_at: dict[str, int] = field(default_factory=dict)
    """The longest interval at which each way to fold and cut failed."""
    found: dict[int, Candidate] = field(default_factory=dict)
    """Candidates that wait for a floorplan, by the interval that was asked for."""
    closest: dict[int, list[SlotOf]] = field(default_factory=dict)
    """Assignments that exceed limits a little, by interval: slots of engines, of a folding of the whole."""
    aside: list[TraceRow] = field(default_factory=list)
    """Rows on what was tried within narrower limits; they stand before the trace, which ends with the plan."""
    completed: list[Candidate] = field(default_factory=list)
    best: PlacedCandidate | None = None
    weighed: Design | None = None
    """The best as it was before it was placed, with the rule that took it."""
    passed: list[EvennessRule] = field(default_factory=list)
    """Rules whose designs had no floorplan at the interval that is being placed."""
    held: HeldBits = field(default_factory=dict)
    """What FIFOs hold in the folding that was completed last."""
    reserve: dict[str, Resources] = field(default_factory=dict)
    """What each slot keeps back when it folds its segment, for what is known only afterwards."""
    joint_bound: JointBound | None = None
    full: dict[int, FoldingAnswer] = field(default_factory=dict)
    """The least full folding within all slots' limits together, by interval."""
    _pricing: FifoPricing | None = None
    _foldings: dict[tuple[int, Resources], FoldingAnswer] = field(default_factory=dict)
    _cutter: Cutter | None = None
    _last_cutter: Cutter | None = None

    def __post_init__(self) -> None:
        self.prices: Prices = self.context.scarcity_prices
        self.may_be_least_full = self.seeks_fullness and self.context.search_limits.thorough

    @property
    def seeks_fullness(self) -> bool:
        """Whether the least full design of an interval is sought first: not with a partition method asked for."""
        return self.context.seeks_fullness and self.context.request.partition_method == "auto"

    @cached_property
    def oracle(self) -> FeasibilityOracle:
        """Foldings within the whole budget, whatever the cut."""
        return FeasibilityOracle(self.context.problem)

    @cached_property
    def link_bound(self) -> LinkBound | None:
        """What the links between the host's input and output forbid."""
        together = self.context.together
        if together is None:
            return link_bound(self.context.dataflow, self.context.platform)
        return link_bound(self.context.dataflow, self.context.platform, together.weight)

    def legal(self, interval: int, detail: str) -> None:
        """Add a row on a legal floorplan to the trace."""
        self._add(TraceRow(interval, "legal", "place", detail))

    def refused(self, interval: int, stage: Stage, refusals: tuple[Refusal, ...], about: str = "") -> None:
        """Add a row on what was refused; its sentence begins with ``about``. Proven is what every refusal proves."""
        proven = all(refusal.proven for refusal in refusals)
        verdict: Verdict = "proven infeasible" if proven else "not found within the limit"
        self._add(TraceRow(interval, verdict, stage, about + sentence(*refusals), refusals))

    def _add(self, row: TraceRow) -> None:
        self.trace.append(row)
        self.progress.note(f"interval {row.interval_cycles:,} cycles: {row.verdict} ({row.stage}) {row.detail}")

    def among(self, problem: FoldingProblem) -> "SearchState":
        """Return a new search among fewer foldings."""
        other = SearchState(replace(self.context, problem=problem), self.progress)
        # It does not depend on the foldings.
        other.link_bound = self.link_bound
        return other

    def with_shallower_fifos(self) -> "SearchState":
        """Return a new search for designs whose FIFOs keep an interval that is a little longer than the engines'."""
        other = SearchState(replace(self.context, fifo_slack=self.context.search_limits.fifo_slack), self.progress)
        # FIFOs at their least, as these take them, are the same.
        other.link_bound, other.feasible = self.link_bound, self.feasible
        return other

    def within(self, context: PlanningContext) -> "SearchState":
        """Return a new search within narrower limits that goes on from what is known of FIFOs."""
        return SearchState(context, self.progress, completed=self.completed, held=self.held, _pricing=self._pricing)

    def take_over(self, other: "SearchState", about: str) -> None:
        """Take note of what a search within narrower limits tried, and of what FIFOs held there."""
        self.aside += [replace(row, detail=about + row.detail) for row in other.trace]
        if other.held != self.held:
            self.held, self._pricing, self._cutter = other.held, None, None
            self._foldings.clear()

    def least_full(self, interval: int) -> FoldingAnswer:
        """Return the least full folding within all slots' limits together, FIFOs at their least."""
        if interval not in self.full:
            with self.progress.stage("folding"):
                self.progress.note(f"least fullness at {interval:,} cycles")
                self.full[interval] = least_full(self.context.problem, interval)
        return self.full[interval]

    def context_of(self, candidate: Candidate) -> PlanningContext:
        """Return the context with the limits that a candidate was made within, and the budget of its folding."""
        if candidate.narrowed is None:
            return self.context
        problem = self.context.problem.with_budget(candidate.folding.budget)
        return replace(self.context, problem=problem, narrowed=candidate.narrowed)

    def is_feasible(self, interval: int) -> bool:
        """Whether links and budget allow an interval; an open question counts as yes, as befits a bound."""
        if interval not in self.feasible:
            self.feasible[interval] = self._decide_feasible(interval)
        return self.feasible[interval]

    def _decide_feasible(self, interval: int) -> bool:
        if self.link_bound is not None and interval < self.link_bound.interval_cycles:
            self.refused(interval, "partition", (self.link_bound.refusal(interval),))
            return False
        with self.progress.stage("folding"):
            self.progress.note(f"interval {interval:,} cycles")
            answer = self.oracle(interval)
        if isinstance(answer, FoldingInfeasible):
            self.refused(interval, "fold", (answer.refusal,))
        return not isinstance(answer, FoldingInfeasible)

    @property
    def best_cycles(self) -> float:
        """Interval of the best plan; infinite while there is none."""
        return inf if self.best is None else self.best.candidate.interval_cycles

    @property
    def kept_cycles(self) -> float:
        """Interval of the best plan that its FIFOs are deep enough for; infinite while there is none."""
        return inf if self.best is None else self.best.candidate.kept_cycles

    @property
    def pricing(self) -> FifoPricing:
        """What FIFOs cost folding, by what is known of them."""
        if self._pricing is None:
            self._pricing = FifoPricing(self.context, self.held, self.prices)
        return self._pricing

    def folded(self, interval: int, reserve: Resources) -> FoldingAnswer:
        """Fold the network within all slots' limits together, less a reserve."""
        key = interval, reserve
        if key in self._foldings:
            return self._foldings[key]
        with self.progress.stage("folding"):
            self.progress.note(f"interval {interval:,} cycles")
            # Before anything is known of FIFOs they are taken at their least, as bounds take them.
            priced = self.pricing.problem(self.context) if self.held else self.context.problem
            # The next round may fold anew, for other FIFOs or slots: the last percent is not worth a proof.
            left = priced.with_budget(priced.budget - reserve)
            folding = self.context.solvers.fold_nearly(left, interval)
            if isinstance(folding, FoldingUnknown) and self._needs_foldings:
                # The first within the budget will do: the proof that it is the least takes forty times as long.
                folding = fold_at_interval(left, interval, prove=False)
        if isinstance(folding, FoldingSolution) and self.context.request.fold_method == "exact":
            folding = self.least_priced(folding.options, folding.stats.method)
        self._foldings[key] = folding
        return folding

    @property
    def _needs_foldings(self) -> bool:
        """Whether a folding is the plan, as all lie in one slot, and none is known: then it is worth branching for."""
        request, thorough = self.context.request, self.context.search_limits.thorough
        # At effort best `fold_nearly` branches too, and a method that was asked for is not gone round.
        leaves_open = request.fold_method == "exact" and request.effort != "best"
        return len(self.context.limits) == 1 and leaves_open and self.best is None and thorough

    def has_folding(self, interval: int, slack: float = 0.0) -> bool:
        """Whether a folding at FIFOs' prices leaves a share of all slots' limits together."""
        priced = self.pricing.problem(self.context)
        budget = priced.budget - share_of(priced.budget, slack)
        return isinstance(fold_at_interval(priced.with_budget(budget), interval, prove=False), FoldingSolution)

    def least_priced(self, options: Mapping[str, Option], method: str) -> FoldingSolution:
        """Return a folding as the whole problem counts it: streams at their least price, scarcity against its bound."""
        problem = self.context.problem
        rows = [group.rows.index(tuple(options[name] for name in group.engines)) for group in problem.groups]
        return Evaluator(problem).solution(rows, method, "heuristic")

    def cut(self, interval: int) -> SlotOf | Refusal:
        """Return slots for all engines at which every slot has a folding of its own within its limits."""
        with self.progress.stage("folding"):
            self.progress.note(f"segments at {interval:,} cycles")
            return self.cutter.at(interval)

    @property
    def cutter(self) -> Cutter:
        """Contiguous cuts, by what is known of FIFOs and of what slots keep back."""
        if self._cutter is None:
            self._cutter = self._last_cutter = Cutter(self.context, self.pricing, dict(self.reserve), self._last_cutter)
        return self._cutter

    def together(self, engines: Parts) -> Parts:
        """Return what is to lie in one slot, unless each engine may lie where it will."""
        return self.context.wishes.joined(() if self.context.request.granularity == "layer" else engines)

    def find_joint_bound(self, intervals: tuple[int, ...], start: int) -> JointBound:
        """Return the shortest interval from an index on that is not proven impossible, however engines are assigned."""
        with self.progress.stage("folding"):
            self.progress.note("joint bound")
            limits = list(self.context.limits.values())
            problem, inside = self.context.problem, self.context.inside
            together = whole_stages(self.context)
            self.joint_bound = joint_bound(
                problem, limits, intervals, start, together=together, inside=inside, near=near(self.context)
            )
        if self.joint_bound.refusal is not None:
            last = self.joint_bound.interval_cycles
            index = len(intervals) if last is None else bisect_left(intervals, last)
            self.refused(intervals[index - 1], "partition", (self.joint_bound.refusal,))
        return self.joint_bound

    def keep_back(self, refusals: tuple[Refusal, ...]) -> bool:
        """Keep back in each slot what it was short of; whether that is anything."""
        short = {(r.place, r.resource): int((r.needed or 0) - (r.allowed or 0)) for r in refusals if r.what == "slot"}
        for (slot, resource), amount in short.items():
            more = Resources.from_dict({name: amount if name == resource else 0 for name in RESOURCE_NAMES})
            self.reserve[slot] = self.reserve.get(slot, ZERO) + more
        self._cutter = None
        return bool(short)

    def complete(
        self, folding: FoldingSolution, share: float = 1.0, slot_of: SlotOf | None = None, *, stay: bool = False
    ) -> Candidate | Unassigned:
        """Connect, cluster and partition, within a share of every slot's limit; remembers the candidate for Ctrl-C.

        ``stay``: modules stay in the slots for which they were folded.
        """
        with self.progress.stage("partition"):
            self.progress.note(f"interval {folding.interval_cycles:,} cycles")
            # How few streams links carry is known once forks may lie behind them.
            answer = completed(replace(self.context, link_streams=None), folding, share, slot_of, stay=stay)
        self.learn(folding)
        if isinstance(answer, Candidate):
            self.completed.append(answer)
        return answer

    def improved(self, candidate: Candidate) -> Candidate:
        """Return the cheapest assignment found from the candidate's own, with room for rectangles if that can be."""
        if not (self.context.moves_modules and self.context.floorplans):
            return candidate
        with self.progress.stage("partition"):
            self.progress.note(f"interval {candidate.interval_cycles:,} cycles")
            context = self.context_of(candidate)
            return with_few_link_streams(context, candidate)

    def learn(self, folding: FoldingSolution) -> None:
        """Take over what FIFOs hold in a folding, and what it leaves of each resource, for the next one's prices."""
        folded = folded_by(self.context, folding)
        held = held_bits(self.context.dataflow, folded, least_words(self.context, folded))
        prices = prices_of(self.context.problem.budget, folding.resources)
        if (held, prices) != (self.held, self.prices):
            self.held, self.prices = held, prices
            self._pricing = self._cutter = None
            self._foldings.clear()

    def place(self, candidate: Candidate, about: str = "", *, repairs: bool = True) -> PlacedCandidate | None:
        """Place a candidate; the row of the trace begins with ``about``. Where none is to be placed it is done."""
        too_many = too_many_link_streams(self.context, candidate)
        if too_many is not None:
            self.refused(candidate.interval_cycles, "partition", (too_many,), about)
            return None
        if not self.context.floorplans:
            return PlacedCandidate(candidate, {}, "")
        with self.progress.stage("placing"):
            self.progress.note(f"interval {candidate.interval_cycles:,} cycles, {len(candidate.modules)} modules")
            context = self.context_of(candidate)
            answer = place_with_repairs(context, candidate) if repairs else place_as_it_is(context, candidate)
        if isinstance(answer, PlacementFailure):
            # Of other assignments nothing is proven.
            self.refused(candidate.interval_cycles, "place", unproven((answer.refusal,)), about)
            return None
        repair = f"; {answer.repair}" if answer.repair else ""
        self.legal(answer.candidate.interval_cycles, f"{about}hpwl {answer.hpwl:,.0f}{repair}")
        return answer


def whole_stages(context: PlanningContext) -> Parts:
    """Return what lies in one slot in every plan; tied engines of several stages may lie in different ones."""
    dataflow, by_engine = context.dataflow, context.request.granularity == "layer"
    return context.wishes.joined([] if by_engine else stages(dataflow.engines, dataflow.engine_pairs))


def share_of(amount: Resources, share: float) -> Resources:
    """Return a share of each resource, rounded down."""
    return Resources(*(int(share * have) for have in amount.as_tuple()))


def shortest_possible(run: SearchState) -> tuple[tuple[int, ...], int]:
    """Return the intervals that foldings have, ascending, and the index of the shortest that the budget allows."""
    problem = run.context.problem
    intervals = tuple(cycles for cycles in problem.intervals() if cycles >= run.context.least_cycles)
    # One interval too short, so that the trace says what forbids it.
    start = max(0, problem.first_possible(intervals) - 1)
    return intervals, shortest_interval(intervals, run.is_feasible, start, ratio=RATIO) or 0
