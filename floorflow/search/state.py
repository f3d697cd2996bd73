"""What a search has tried: designs at an interval or under a budget, their placement, and a row of trace for each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, FoldingSolution, fold_at_interval
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

FOLDING_ROUNDS = 8
"""Foldings tried at one interval, each leaving more of the budget to channels and to packing."""
RESERVE_STEP = 0.04
"""Share of the budget by which that reserve grows when modules do not pack; else it grows by what is short."""


@dataclass(frozen=True)
class TraceRow:
    """A row of the trace."""

    interval_cycles: int
    verdict: Verdict
    stage: Stage
    detail: str


@dataclass
class SearchState:
    """One search: what was tried so far, by interval whether the budget allows it and its design, and the best."""

    context: PlanningContext
    progress: Progress
    trace: list[TraceRow] = field(default_factory=list)
    allowed: dict[int, bool] = field(default_factory=dict)
    candidates: dict[int, Candidate | None] = field(default_factory=dict)
    completed: list[Candidate] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    best: PlacedCandidate | None = None

    @cached_property
    def probes(self) -> FeasibilityOracle:
        """Foldings within the whole budget, whatever the cut."""
        return FeasibilityOracle(self.context.problem)

    @cached_property
    def link_bound(self) -> LinkBound | None:
        """What the links between the host's input and output forbid."""
        return link_bound(self.context.dataflow, self.context.platform)

    def note(self, interval: int, verdict: Verdict, stage: Stage, detail: str) -> None:
        """Add a row to the trace."""
        self.trace.append(TraceRow(interval, verdict, stage, detail))
        self.progress.note(f"interval {interval:,} cycles: {verdict} ({stage}) {detail}")

    def among(self, problem: FoldingProblem) -> SearchState:
        """Return a new search among fewer foldings."""
        other = SearchState(replace(self.context, problem=problem), self.progress)
        # It does not depend on the foldings.
        other.link_bound = self.link_bound
        return other

    def foldable(self, interval: int) -> bool:
        """Whether links and budget allow an interval; an open question counts as yes, as befits a bound."""
        if interval not in self.allowed:
            self.allowed[interval] = self._allowed(interval)
        return self.allowed[interval]

    def _allowed(self, interval: int) -> bool:
        if self.link_bound is not None and interval < self.link_bound.interval_cycles:
            self.note(interval, "proven infeasible", "partition", self.link_bound.reason(interval))
            return False
        with self.progress.stage("folding"):
            self.progress.note(f"interval {interval:,} cycles")
            answer = self.probes(interval)
        if isinstance(answer, FoldingInfeasible):
            self.note(interval, "proven infeasible", "fold", str(answer))
        return not isinstance(answer, FoldingInfeasible)

    def partitioned(self, interval: int) -> bool:
        """Whether fold, connect, cluster and partition succeed; remembers the design."""
        if interval not in self.candidates:
            self.candidates[interval] = self._design(interval)
        return self.candidates[interval] is not None

    def _design(self, interval: int) -> Candidate | None:
        """Fold, connect, cluster and partition, leaving ever more of the budget to channels and to packing."""
        problem, reserve, reason = self.context.problem, ZERO, ""
        for _ in range(FOLDING_ROUNDS):
            with self.progress.stage("folding"):
                self.progress.note(f"interval {interval:,} cycles")
                folding = fold_at_interval(problem.with_budget(problem.budget - reserve), interval)
            if not isinstance(folding, FoldingSolution):
                proven = reserve == ZERO and isinstance(folding, FoldingInfeasible)
                detail = f"{reason}; then {folding}" if reason else str(folding)
                self.note(interval, "proven infeasible" if proven else "not found within the limit", "fold", detail)
                return None
            answer = self.complete(folding)
            if isinstance(answer, Candidate):
                return answer
            reason = answer.reason
            larger = larger_reserve(problem.budget, reserve, folding.resources, answer.short)
            if larger == reserve:
                break
            reserve = larger
        self.note(interval, "not found within the limit", "partition", reason)
        return None

    def complete(self, folding: FoldingSolution, share: float = 1.0) -> Candidate | PartitionFailure:
        """Connect, cluster and partition, within a share of every slot's limit; remembers the design for Ctrl-C."""
        tightened = None if share >= 1 else dict.fromkeys(self.context.limits, share)
        with self.progress.stage("partition"):
            self.progress.note(f"interval {folding.interval_cycles:,} cycles")
            answer = complete(self.context, folding, tightened)
        if isinstance(answer, Candidate):
            self.completed.append(answer)
        return answer

    def placed(self, interval: int) -> bool:
        """Place the design of an interval and remember it as the best."""
        candidate = self.candidates[interval] if self.partitioned(interval) else None
        if candidate is None or candidate.interval_cycles in self.refused:
            return False
        answer = self.place(candidate)
        if answer is None:
            # Other intervals may have led to the same folding.
            self.refused.add(candidate.interval_cycles)
        self.best = answer or self.best
        return answer is not None

    def place(self, candidate: Candidate, about: str = "", *, repairs: bool = True) -> PlacedCandidate | None:
        """Place a design; the row of the trace begins with ``about``."""
        with self.progress.stage("placing"):
            self.progress.note(f"interval {candidate.interval_cycles:,} cycles, {len(candidate.modules)} modules")
            answer = (
                place_with_repairs(self.context, candidate) if repairs else place_candidate(self.context, candidate, "")
            )
        if isinstance(answer, PlacementFailure):
            self.note(candidate.interval_cycles, "not found within the limit", "place", f"{about}{answer.reason}")
            return None
        repair = f"; {answer.repair}" if answer.repair else ""
        self.note(answer.candidate.interval_cycles, "legal", "place", f"{about}hpwl {answer.hpwl:,.0f}{repair}")
        return answer


def larger_reserve(budget: Resources, reserve: Resources, engines: Resources, short: Resources) -> Resources:
    """Keep back what this folding's channels would have needed; if modules only fail to pack, a step of everything."""
    if short == ZERO:
        return reserve + share_of(budget, RESERVE_STEP)
    rows = zip(budget.as_tuple(), reserve.as_tuple(), engines.as_tuple(), short.as_tuple(), strict=True)
    return Resources(*(max(kept, have - used + lack) if lack else kept for have, kept, used, lack in rows))


def share_of(amount: Resources, share: float) -> Resources:
    """Return a share of each resource, rounded down."""
    return Resources(*(int(share * have) for have in amount.as_tuple()))
