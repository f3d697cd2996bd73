"""The search for the lowest latency: fold for it under ever less of the budget, until a floorplan is legal.

The first try has all of the budget and gives the bound. The others keep engines well below the size of a slot, and
slots below their limit, so that modules pack: that costs little latency, and lets more of the budget be used. After
the first legal floorplan, some tries are made between it and the last that failed, and one with larger engines.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

from floorflow.errors import unproven
from floorflow.folding import FoldingSolution
from floorflow.resources import Resources
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import LatencyLimits
from floorflow.search.candidate.placing import PlacedCandidate
from floorflow.search.interval.state import SearchState, share_of


@dataclass(frozen=True)
class _BudgetedFolding:
    """A folding, and the share of the budget that it had."""

    folding: FoldingSolution
    share: float

    @property
    def cycles(self) -> float:
        return self.folding.stats.objective or 0.0

    @property
    def about(self) -> str:
        return f"latency {self.cycles:,.0f} cycles with {self.share:.0%} of the budget: "


def lowest_latency(run: SearchState, longest: int) -> tuple[float | None, str]:
    """Return the bound on the latency under all of the budget, and what ended the search; the best is in ``run``."""
    bound: float | None = None
    failed: _BudgetedFolding | None = None
    limits = run.context.search_limits.latency
    for share in _shares(limits):
        budgeted = _folded(run, longest, share, limits.largest_engine if share < 1 else None)
        if budgeted is None:
            break
        bound = budgeted.folding.stats.bound if bound is None else bound
        if _tried(run, budgeted):
            if failed is not None:
                _refine(run, longest, failed, budgeted)
            break
        failed = budgeted
    return bound, _what_ended(run, bound)


def _refine(run: SearchState, longest: int, failed: _BudgetedFolding, legal: _BudgetedFolding) -> None:
    """Try budgets between one that failed and one that did not, then larger engines."""
    limits = run.context.search_limits.latency
    for _ in range(limits.halvings):
        if not _is_worth_a_try(failed, legal, limits):
            break
        middle = _folded(run, longest, (failed.share + legal.share) / 2, limits.largest_engine)
        if middle is not None and _tried(run, middle):
            legal = middle
        else:
            failed = middle or failed
    larger = _folded(run, longest, legal.share, limits.larger_engine)
    if larger is not None and _is_worth_a_try(larger, legal, limits):
        _tried(run, larger)


def _is_worth_a_try(better: _BudgetedFolding, legal: _BudgetedFolding, limits: LatencyLimits) -> bool:
    return legal.cycles > (1 + limits.worth_a_try) * better.cycles


def latency_cycles(candidate: Candidate) -> int:
    """Return the latency for which a candidate was folded, links left out."""
    return int(candidate.folding.stats.objective or 0)


def _shares(limits: LatencyLimits) -> Iterator[float]:
    """Yield ever smaller shares of the budget, from all of it."""
    share, step = 1.0, limits.first_step
    while share >= limits.least_budget:
        yield share
        share, step = share - step, step * limits.step_growth


def _folded(run: SearchState, longest: int, share: float, largest: float | None) -> _BudgetedFolding | None:
    """Fold for the lowest latency with a share of the budget; engines up to ``largest`` of a slot, if that can be."""
    problem = run.context.problem
    limited = problem if share >= 1 else problem.with_budget(share_of(problem.budget, share))
    most = reduce(Resources.most, run.context.limits.values())
    small = limited if largest is None else replace(limited, largest=share_of(most, largest))
    with run.progress.stage("folding"):
        run.progress.note(f"lowest latency with {share:.0%} of the budget")
        answer = run.context.solvers.fold(small, longest)
        if largest is not None and not isinstance(answer, FoldingSolution):
            answer = run.context.solvers.fold(limited, longest)
    if isinstance(answer, FoldingSolution):
        return _BudgetedFolding(answer, share)
    refusals = (answer.refusal,) if share >= 1 else unproven((answer.refusal,))
    run.refused(longest, "fold", refusals, f"with {share:.0%} of the budget: ")
    return None


def _tried(run: SearchState, budgeted: _BudgetedFolding) -> bool:
    """Partition and place a folding, and keep it if it is the best so far. Returns whether that was legal."""
    # Halfway between an even spread over the slots and full ones.
    answer = run.complete(budgeted.folding, (1 + budgeted.share) / 2)
    if not isinstance(answer, Candidate) and budgeted.share < 1:
        answer = run.complete(budgeted.folding)
    if not isinstance(answer, Candidate):
        interval = budgeted.folding.interval_cycles
        run.refused(interval, "partition", unproven(answer.failure.refusals), budgeted.about)
        return False
    placed = run.place(answer, budgeted.about)
    if placed is not None and (run.best is None or _order(placed) < _order(run.best)):
        run.best = placed
    return placed is not None


def _order(placed: PlacedCandidate) -> tuple[int, int]:
    return latency_cycles(placed.candidate), placed.candidate.interval_cycles


def _what_ended(run: SearchState, bound: float | None) -> str:
    if run.best is None:
        return ""
    best = latency_cycles(run.best.candidate)
    if bound is not None and best <= bound:
        return "lowest latency: it is the folding optimum under the platform's summed limits"
    failed = [row for row in run.trace if row.verdict != "legal"]
    if not failed:
        return f"lowest latency: {best:,} cycles under all of the budget, with no proof that none is lower"
    last = failed[-1]
    return f"lowest latency: below {best:,} cycles, {last.verdict} ({last.stage}): {last.detail}"
