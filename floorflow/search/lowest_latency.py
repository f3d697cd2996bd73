"""The search for the lowest latency: fold for it under ever less of the budget, until a floorplan is legal.

The first try has all of the budget and gives the bound. The others keep engines well below the size of a slot, and
slots below their limit, so that modules pack: that costs little latency, and lets more of the budget be used. After
the first legal floorplan, some tries are made between it and the last that failed, and one with larger engines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from floorflow.errors import unproven
from floorflow.folding import FoldingSolution
from floorflow.resources import Resources
from floorflow.search.candidate import Candidate
from floorflow.search.placing import PlacedCandidate
from floorflow.search.state import SearchState, share_of

FIRST_STEP = 0.04
"""Share of the budget that the first failure takes from folding."""
STEP_GROWTH = 1.3
"""Factor by which that step grows with each failure."""
LEAST_BUDGET = 0.02
"""Share of the budget below which no folding is tried."""
LARGEST_ENGINE = 0.65
"""Share of a slot's limit that an engine may use after the first failure; large ones seldom fit beside another."""
LARGER_ENGINE = 0.8
"""The same for the last try."""
HALVINGS = 2
"""Tries between the last without and the first with a legal floorplan."""
WORTH_A_TRY = 0.01
"""Share by which the latency must be above one that failed, or was folded with larger engines, to try on."""


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
    for share in _shares():
        budgeted = _folded(run, longest, share, LARGEST_ENGINE if share < 1 else None)
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
    for _ in range(HALVINGS):
        if not _worth(failed, legal):
            break
        middle = _folded(run, longest, (failed.share + legal.share) / 2, LARGEST_ENGINE)
        if middle is not None and _tried(run, middle):
            legal = middle
        else:
            failed = middle or failed
    larger = _folded(run, longest, legal.share, LARGER_ENGINE)
    if larger is not None and _worth(larger, legal):
        _tried(run, larger)


def _worth(better: _BudgetedFolding, legal: _BudgetedFolding) -> bool:
    return legal.cycles > (1 + WORTH_A_TRY) * better.cycles


def latency_cycles(candidate: Candidate) -> int:
    """Return the latency for which a candidate was folded, links left out."""
    return int(candidate.folding.stats.objective or 0)


def _shares() -> Iterator[float]:
    """Yield ever smaller shares of the budget, from all of it."""
    share, step = 1.0, FIRST_STEP
    while share >= LEAST_BUDGET:
        yield share
        share, step = share - step, step * STEP_GROWTH


def _folded(run: SearchState, longest: int, share: float, largest: float | None) -> _BudgetedFolding | None:
    """Fold for the lowest latency with a share of the budget; engines up to ``largest`` of a slot, if that can be."""
    problem = run.context.problem
    limited = problem if share >= 1 else problem.with_budget(share_of(problem.budget, share))
    small = limited if largest is None else replace(limited, largest=share_of(_largest_limits(run), largest))
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


def _largest_limits(run: SearchState) -> Resources:
    """Return the most of each resource that any slot allows."""
    limits = [limit.as_tuple() for limit in run.context.limits.values()]
    return Resources(*(max(column) for column in zip(*limits, strict=True)))


def _tried(run: SearchState, budgeted: _BudgetedFolding) -> bool:
    """Partition and place a folding, and keep it if it is the best so far. Returns whether that was legal."""
    # Halfway between an even spread over the slots and full ones.
    answer = run.complete(budgeted.folding, (1 + budgeted.share) / 2)
    if not isinstance(answer, Candidate) and budgeted.share < 1:
        answer = run.complete(budgeted.folding)
    if not isinstance(answer, Candidate):
        interval = budgeted.folding.interval_cycles
        run.refused(interval, "partition", unproven(answer.refusals), budgeted.about)
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
