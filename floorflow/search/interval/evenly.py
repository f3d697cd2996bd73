"""A design that is evenly full: folded for the least fullness, within the least share of every slot's limits.

Folding knows the least largest share of the sums, with FIFOs at what they held in the last folding. Slots are unequal
and stages whole, so each may be fuller than that; by how much is tried, from a little on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from floorflow.dataflow.modules import stages
from floorflow.errors import unproven
from floorflow.folding import FoldingSolution
from floorflow.folding.least_full import EXCESS, fullness, least_full, nearly_as_full
from floorflow.resources import ZERO, Resources, total
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.interval.narrower import LargeEngine, large_engines, narrower
from floorflow.search.interval.state import SearchState
from floorflow.search.interval.ways import folded_by_slots, scattered


def evenly(run: SearchState, interval: int) -> Candidate | None:
    """Fold for the least fullness and assign within the least share of all slots' limits at which that is found."""
    full = run.least_full(interval)
    if not isinstance(full, FoldingSolution):
        return None
    if not run.held:
        run.learn(full)
    search, failed = _Evenly(run, interval, engines_alone(run, interval, run.context.allowed)), 1.0
    limits = run.context.search_limits
    for slack in limits.even_slacks if search.several else limits.even_slacks_alone:
        found = search.at(slack)
        if found is not None:
            return search.between(failed, slack, found)
        if search.is_over:
            break
        failed = slack
    return None


def engines_alone(run: SearchState, interval: int, limits: Mapping[str, Resources]) -> tuple[LargeEngine, ...]:
    """Return what every engine needs alone of a slot's limit, largest first."""
    context = run.context
    whole = stages(context.dataflow.engines, context.dataflow.engine_pairs)
    return large_engines(context, interval, run.together(tuple(tuple(stage) for stage in whole)), limits)


@dataclass
class _Evenly:
    """Tries at one interval; ``is_over``: wider limits are those of the request; ``failed`` is the last scale tried."""

    run: SearchState
    interval: int
    engines: tuple[LargeEngine, ...]
    is_over: bool = False
    failed: Fraction = Fraction(0)

    @property
    def several(self) -> bool:
        """Whether there is more than one slot."""
        return len(self.run.context.allowed) > 1

    def at(self, slack: float) -> Candidate | None:
        """Try within so many times the least fullness of the sums."""
        context = self.run.context
        with self.run.progress.stage("folding"):
            priced = least_full(self.run.pricing.problem(context), self.interval)
        if not isinstance(priced, FoldingSolution):
            self.is_over = True
            return None
        limits = context.search_limits
        scale = fullness(priced.resources, context.problem.budget) * Fraction(slack)
        scale = max(scale, Fraction(limits.even_at_least)) if self.several else scale
        self.is_over = scale >= 1
        if self.is_over or scale == self.failed:
            return None
        spared = Fraction(slack / limits.even_spared) - 1
        budget = nearly_as_full(context.problem, priced, max(EXCESS, spared))
        problem = context.problem.with_budget(budget)
        tried = self.run.within(replace(context, problem=problem, narrowed=narrower(context, scale, self.engines)))
        found = _assigned(tried, self.interval)
        self.failed = scale if found is None else self.failed
        self.run.take_over(tried, f"each slot at most {float(scale):.1%} of its limit: ")
        return found

    def between(self, failed: float, slack: float, found: Candidate) -> Candidate:
        """Try between a share that failed and one that did not."""
        for _ in range(self.run.context.search_limits.even_halvings if failed > 1 else 0):
            middle = (failed * slack) ** 0.5
            better = self.at(middle)
            if better is None:
                failed = middle
            else:
                slack, found = middle, better
        return found


def _assigned(tried: SearchState, interval: int) -> Candidate | None:
    """Fold the whole and assign it; where that fails, fold each slot for itself in the assignment that came closest."""
    folding = tried.folded(interval, ZERO)
    if not isinstance(folding, FoldingSolution):
        tried.refused(interval, "fold", unproven((folding.refusal,)))
        return None
    answer = tried.complete(folding)
    if isinstance(answer, Candidate):
        return answer
    tried.refused(interval, "partition", unproven(answer.failure.refusals))
    found = None if answer.closest is None else folded_by_slots(tried, dict(answer.closest), interval)
    if found is None and len(tried.context.limits) > 1:
        found = scattered(tried, interval)
    if found is None:
        return None
    # Each slot had all of its own limit.
    return replace(found, folding=replace(found.folding, budget=total(tried.context.limits.values())))
