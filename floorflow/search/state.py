"""What a search has tried: candidates at an interval or under a budget, their placement, a row of trace for each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from floorflow.errors import Refusal, sentence, unproven
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, FoldingSolution
from floorflow.partition import PartitionFailure
from floorflow.placement import PlacementFailure
from floorflow.resources import ZERO, Resources
from floorflow.search.assignment import complete
from floorflow.search.candidate import Candidate
from floorflow.search.context import PlanningContext
from floorflow.search.link_bound import LinkBound, link_bound
from floorflow.search.placing import PlacedCandidate, place_candidate
from floorflow.search.progress import Progress
from floorflow.search.repair import place_with_repairs

Verdict = Literal["legal", "proven infeasible", "not found within the limit"]
Stage = Literal["fold", "partition", "place"]


@dataclass(frozen=True)
class TraceRow:
    """A row of the trace; ``detail`` is the sentence about what was tried, its end that of the refusals, if any."""

    interval_cycles: int
    verdict: Verdict
    stage: Stage
    detail: str
    refusals: tuple[Refusal, ...] = ()


@dataclass
class SearchState:
    """One search: what was tried so far, by interval whether it is feasible and its candidate, and the best."""

    context: PlanningContext
    progress: Progress
    trace: list[TraceRow] = field(default_factory=list)
    feasible: dict[int, bool] = field(default_factory=dict)
    candidates: dict[int, Candidate | None] = field(default_factory=dict)
    completed: list[Candidate] = field(default_factory=list)
    unplaceable: set[int] = field(default_factory=set)
    best: PlacedCandidate | None = None

    @cached_property
    def oracle(self) -> FeasibilityOracle:
        """Foldings within the whole budget, whatever the cut."""
        return FeasibilityOracle(self.context.problem)

    @cached_property
    def link_bound(self) -> LinkBound | None:
        """What the links between the host's input and output forbid."""
        return link_bound(self.context.dataflow, self.context.platform)

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

    def among(self, problem: FoldingProblem) -> SearchState:
        """Return a new search among fewer foldings."""
        other = SearchState(replace(self.context, problem=problem), self.progress)
        # It does not depend on the foldings.
        other.link_bound = self.link_bound
        return other

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

    def partitioned(self, interval: int) -> bool:
        """Whether fold, connect, cluster and partition succeed; remembers the candidate."""
        if interval not in self.candidates:
            self.candidates[interval] = self._find_candidate(interval)
        return self.candidates[interval] is not None

    def _find_candidate(self, interval: int) -> Candidate | None:
        """Fold, connect, cluster and partition, leaving ever more of the budget to channels and to packing."""
        problem, reserve = self.context.problem, ZERO
        before: tuple[Refusal, ...] = ()
        for _ in range(self.context.search_limits.folding_rounds):
            with self.progress.stage("folding"):
                self.progress.note(f"interval {interval:,} cycles")
                folding = self.context.solvers.fold(problem.with_budget(problem.budget - reserve), interval)
            if not isinstance(folding, FoldingSolution):
                # With some of the budget kept back nothing is proven.
                refusals = (folding.refusal,) if reserve == ZERO else unproven((*before, folding.refusal))
                self.refused(interval, "fold", refusals)
                return None
            answer = self.complete(folding)
            if isinstance(answer, Candidate):
                return answer
            before = answer.refusals
            step = share_of(problem.budget, self.context.search_limits.reserve_step)
            larger = larger_reserve(problem.budget, reserve, folding.resources, answer.short, step)
            if larger == reserve:
                break
            reserve = larger
        # Of other foldings nothing is proven.
        self.refused(interval, "partition", unproven(before))
        return None

    def complete(self, folding: FoldingSolution, share: float = 1.0) -> Candidate | PartitionFailure:
        """Connect, cluster and partition, within a share of every slot's limit; remembers the candidate for Ctrl-C."""
        tightened = None if share >= 1 else dict.fromkeys(self.context.limits, share)
        with self.progress.stage("partition"):
            self.progress.note(f"interval {folding.interval_cycles:,} cycles")
            answer = complete(self.context, folding, tightened)
        if isinstance(answer, Candidate):
            self.completed.append(answer)
        return answer

    def placed(self, interval: int) -> bool:
        """Place the candidate of an interval and remember it as the best."""
        candidate = self.candidates[interval] if self.partitioned(interval) else None
        if candidate is None or candidate.interval_cycles in self.unplaceable:
            return False
        answer = self.place(candidate)
        if answer is None:
            # Other intervals may have led to the same folding.
            self.unplaceable.add(candidate.interval_cycles)
        self.best = answer or self.best
        return answer is not None

    def place(self, candidate: Candidate, about: str = "", *, repairs: bool = True) -> PlacedCandidate | None:
        """Place a candidate; the row of the trace begins with ``about``."""
        with self.progress.stage("placing"):
            self.progress.note(f"interval {candidate.interval_cycles:,} cycles, {len(candidate.modules)} modules")
            answer = (
                place_with_repairs(self.context, candidate) if repairs else place_candidate(self.context, candidate, "")
            )
        if isinstance(answer, PlacementFailure):
            # Of other assignments nothing is proven.
            self.refused(candidate.interval_cycles, "place", unproven((answer.refusal,)), about)
            return None
        repair = f"; {answer.repair}" if answer.repair else ""
        self.legal(answer.candidate.interval_cycles, f"{about}hpwl {answer.hpwl:,.0f}{repair}")
        return answer


def larger_reserve(
    budget: Resources, reserve: Resources, engines: Resources, short: Resources, step: Resources
) -> Resources:
    """Keep back what this folding's channels would have needed; if modules only fail to pack, a ``step`` more."""
    if short == ZERO:
        return reserve + step
    rows = zip(budget.as_tuple(), reserve.as_tuple(), engines.as_tuple(), short.as_tuple(), strict=True)
    return Resources(*(max(kept, have - used + lack) if lack else kept for have, kept, used, lack in rows))


def share_of(amount: Resources, share: float) -> Resources:
    """Return a share of each resource, rounded down."""
    return Resources(*(int(share * have) for have in amount.as_tuple()))
