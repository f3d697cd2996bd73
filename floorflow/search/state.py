"""What a search has tried: designs at an interval or under a budget, their placement, and a row of trace for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from floorflow.folding import FoldingInfeasible, FoldingProblem, FoldingSolution, Probes, fold_at_interval
from floorflow.partition import PartitionFailure
from floorflow.placement import PlacementFailure
from floorflow.resources import ZERO, Resources
from floorflow.search.candidate import Design, Setting, complete
from floorflow.search.link_bound import LinkBound, link_bound
from floorflow.search.repair import Placed, place_design, place_with_remedies

Verdict = Literal["legal", "proven infeasible", "not found within the limit"]
Stage = Literal["fold", "partition", "place"]
Progress = Callable[[str], None]

FOLDING_ROUNDS = 8
"""Foldings tried at one interval, each leaving more of the budget to channels and to packing."""
RESERVE_STEP = 0.04
"""Share of the budget by which that reserve grows when modules do not pack; else it grows by what is short."""


@dataclass(frozen=True)
class Attempt:
    """A row of the trace."""

    interval_cycles: int
    verdict: Verdict
    stage: Stage
    detail: str


@dataclass
class Trials:
    """One search: what was tried so far, by interval whether the budget allows it and its design, and the best."""

    setting: Setting
    progress: Progress
    trace: list[Attempt] = field(default_factory=list)
    allowed: dict[int, bool] = field(default_factory=dict)
    designs: dict[int, Design | None] = field(default_factory=dict)
    completed: list[Design] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    best: Placed | None = None

    @cached_property
    def probes(self) -> Probes:
        """Foldings within the whole budget, whatever the cut."""
        return Probes(self.setting.problem)

    @cached_property
    def barrier(self) -> LinkBound | None:
        """What the links between the host's input and output forbid."""
        return link_bound(self.setting.dataflow, self.setting.platform)

    def note(self, interval: int, verdict: Verdict, stage: Stage, detail: str) -> None:
        """Add a row to the trace."""
        self.trace.append(Attempt(interval, verdict, stage, detail))
        self.progress(f"interval {interval:,} cycles: {verdict} ({stage}) {detail}")

    def among(self, problem: FoldingProblem) -> Trials:
        """Return a new search among fewer foldings."""
        other = Trials(replace(self.setting, problem=problem), self.progress)
        # It does not depend on the foldings.
        other.barrier = self.barrier
        return other

    def foldable(self, interval: int) -> bool:
        """Whether links and budget allow an interval; an open question counts as yes, as befits a bound."""
        if interval not in self.allowed:
            self.allowed[interval] = self._allowed(interval)
        return self.allowed[interval]

    def _allowed(self, interval: int) -> bool:
        if self.barrier is not None and interval < self.barrier.interval_cycles:
            self.note(interval, "proven infeasible", "partition", self.barrier.reason(interval))
            return False
        answer = self.probes(interval)
        if isinstance(answer, FoldingInfeasible):
            self.note(interval, "proven infeasible", "fold", str(answer))
        return not isinstance(answer, FoldingInfeasible)

    def partitioned(self, interval: int) -> bool:
        """Whether fold, connect, cluster and partition succeed; remembers the design."""
        if interval not in self.designs:
            self.progress(f"interval {interval:,} cycles: folding and partition")
            self.designs[interval] = self._design(interval)
        return self.designs[interval] is not None

    def _design(self, interval: int) -> Design | None:
        """Fold, connect, cluster and partition, leaving ever more of the budget to channels and to packing."""
        problem, reserve, reason = self.setting.problem, ZERO, ""
        for _ in range(FOLDING_ROUNDS):
            folding = fold_at_interval(problem.with_budget(problem.budget - reserve), interval)
            if not isinstance(folding, FoldingSolution):
                proven = reserve == ZERO and isinstance(folding, FoldingInfeasible)
                detail = f"{reason}; then {folding}" if reason else str(folding)
                self.note(interval, "proven infeasible" if proven else "not found within the limit", "fold", detail)
                return None
            answer = self.complete(folding)
            if isinstance(answer, Design):
                return answer
            reason = answer.reason
            larger = larger_reserve(problem.budget, reserve, folding.resources, answer.short)
            if larger == reserve:
                break
            reserve = larger
        self.note(interval, "not found within the limit", "partition", reason)
        return None

    def complete(self, folding: FoldingSolution, share: float = 1.0) -> Design | PartitionFailure:
        """Connect, cluster and partition, within a share of every slot's limit; remembers the design for Ctrl-C."""
        answer = complete(self.setting, folding, None if share >= 1 else dict.fromkeys(self.setting.limits, share))
        if isinstance(answer, Design):
            self.completed.append(answer)
        return answer

    def placed(self, interval: int) -> bool:
        """Place the design of an interval and remember it as the best."""
        design = self.designs[interval] if self.partitioned(interval) else None
        if design is None or design.interval_cycles in self.refused:
            return False
        answer = self.place(design)
        if answer is None:
            # Other intervals may have led to the same folding.
            self.refused.add(design.interval_cycles)
        self.best = answer or self.best
        return answer is not None

    def place(self, design: Design, about: str = "", *, remedies: bool = True) -> Placed | None:
        """Place a design; the row of the trace begins with ``about``."""
        self.progress(f"interval {design.interval_cycles:,} cycles: placing {len(design.modules)} modules")
        answer = place_with_remedies(self.setting, design) if remedies else place_design(self.setting, design, "")
        if isinstance(answer, PlacementFailure):
            self.note(design.interval_cycles, "not found within the limit", "place", f"{about}{answer.reason}")
            return None
        remedy = f"; {answer.remedy}" if answer.remedy else ""
        self.note(answer.design.interval_cycles, "legal", "place", f"{about}hpwl {answer.hpwl:,.0f}{remedy}")
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
