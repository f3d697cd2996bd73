"""Ways to fold and cut a network at an interval: as a whole, or slot by slot; each returns a candidate or None.

What a way finds short it notes in the search's state, so that the next one begins with it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from floorflow.errors import Refusal, unproven
from floorflow.folding import FoldingSolution
from floorflow.resources import ZERO, Resources
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.cutting import SlotOf
from floorflow.search.candidate.routes import crossings, near
from floorflow.search.interval.state import SearchState, share_of
from floorflow.segments import Assigned, SlotRelaxation, parts_of

Strategy = Callable[[SearchState, int], Candidate | None]


def strategies(run: SearchState, interval: int) -> Iterator[Strategy]:
    """Yield the ways to fold and cut at an interval that may succeed, the more promising one first."""
    request = run.context.request
    asked = request.fold_method != "exact" or request.partition_method != "auto"
    if asked or len(run.context.limits) == 1:
        # A method that was asked for is not gone round.
        yield fold_whole
        return
    if not run.context.search_limits.thorough:
        if run.has_folding(interval):
            yield fold_segments
            yield fold_whole
        return
    if run.has_folding(interval, run.context.search_limits.slack):
        yield fold_whole
    if run.has_folding(interval):
        yield fold_segments
        yield fold_nearest
        yield fold_scattered


def fold_whole(run: SearchState, interval: int) -> Candidate | None:
    """Fold the network on the summed limits, connect, cluster and partition; keep back only what was short.

    What FIFOs must hold is priced from the second folding on, so that at first nothing is kept back for them.
    """
    limits = run.context.search_limits
    # Near the bound, at which a search begins, it is worth while to keep back less.
    near = interval <= limits.near_the_bound * min(run.attempts, default=interval)
    factors = limits.kept_back if near else limits.kept_back[:1]
    kept = _KeptBack(run.context.problem.budget, list(limits.spared), list(factors))
    before: tuple[Refusal, ...] = ()
    for attempt in range(limits.folding_rounds):
        folding = run.folded(interval, kept.amount)
        if not isinstance(folding, FoldingSolution):
            if kept.less():
                continue
            # With prices on FIFOs, or some of the budget kept back, nothing is proven.
            run.refused(interval, "fold", unproven((*before, folding.refusal)))
            return None
        known = attempt > 0 or bool(run.held)
        answer = run.complete(folding)
        if isinstance(answer, Candidate):
            return answer
        before = answer.failure.refusals
        if answer.closest is not None:
            run.closest.setdefault(interval, []).append(dict(answer.closest))
        kept.more(answer.failure.short, known=known)
    # Of other foldings nothing is proven.
    run.refused(interval, "partition", unproven(before))
    return None


@dataclass
class _KeptBack:
    """What a folding of the whole leaves of its budget: a share of all of it, and what FIFOs were short of.

    ``shares`` and ``factors`` (of what was short): the first that leave a folding.
    """

    budget: Resources
    shares: list[float]
    factors: list[float]
    spared: float = 0.0
    for_fifos: Resources = ZERO
    short: Resources = ZERO

    @property
    def amount(self) -> Resources:
        """All that is kept back."""
        return self.for_fifos + share_of(self.short, self.factors[0]) + share_of(self.budget, self.spared)

    def more(self, short: Resources, *, known: bool) -> None:
        """Keep back what was short, or where sums fit and modules do not come apart, a share; ``known``: FIFOs are."""
        if short == ZERO:
            self.spared += self.shares[0]
        elif known:
            self.for_fifos += share_of(self.short, self.factors[0])
            self.short = short

    def less(self) -> bool:
        """Take the next share or factor; whether there is one that makes a difference."""
        if self.spared and len(self.shares) > 1:
            self.spared += self.shares[1] - self.shares.pop(0)
            return True
        if self.short != ZERO and len(self.factors) > 1:
            self.factors.pop(0)
            return True
        return False


def fold_nearest(run: SearchState, interval: int) -> Candidate | None:
    """Fold each slot for itself in the assignments of the whole that exceeded limits a little, the last first."""
    for slot_of in reversed(run.closest.pop(interval, [])):
        found = folded_by_slots(run, slot_of, interval)
        if found is not None:
            return found
    return None


def fold_segments(run: SearchState, interval: int) -> Candidate | None:
    """Give every slot a segment of the network that it folds for itself; what a slot lacked it keeps back."""
    for _ in range(run.context.search_limits.cut_rounds):
        slot_of = run.cut(interval)
        if isinstance(slot_of, Refusal):
            run.refused(interval, "partition", (slot_of,))
            return None
        answer = folded_by_slots(run, slot_of, interval)
        if answer is not None:
            return answer
    return None


def fold_scattered(run: SearchState, interval: int) -> Candidate | None:
    """Give every slot stages from anywhere in the network, with few crossings, that it folds for itself.

    What streams take at a crossing is only bounded there: first a share of each slot is left for it.
    """
    for share in run.context.search_limits.scatter_shares:
        with run.progress.stage("folding"):
            run.progress.note(f"stages on slots at {interval:,} cycles")
            slot_of = _stages_on_slots(run, interval, share)
        found = None if slot_of is None else folded_by_slots(run, slot_of, interval)
        if found is not None:
            return found
    return None


def _stages_on_slots(run: SearchState, interval: int, share: float) -> SlotOf | None:
    """Return slots for all engines in which each slot may fit a share of its limit, by the relaxation."""
    slots = [share_of(run.cutter.space(slot).budget, share) for slot in run.context.limits]
    problem = run.pricing.problem(run.context)
    parts = run.together(parts_of(run.context.dataflow, problem.groups))
    relaxation = SlotRelaxation(problem, slots, parts, run.context.inside, near(run.context))
    answer, _ = relaxation.at(interval, run.context.search_limits.scatter_work, crossings(run.context, interval))
    if not isinstance(answer, Assigned):
        about = Refusal("each slot", proven=False)
        run.refused(interval, "partition", (about,), "stages from anywhere: ")
        return None
    names = list(run.context.limits)
    return {engine: names[slot] for engine, slot in answer.slot_of_engine.items()}


def folded_by_slots(run: SearchState, slot_of: SlotOf, interval: int) -> Candidate | None:
    """Fold each slot, connect and cluster; on failure keep back, slot by slot, what was short.

    Only what is left short at last moves, in a partition, for that takes as long as many foldings.
    """
    found, folding, refusals = kept_by_slots(run, slot_of, interval)
    if found is None and folding is not None:
        answer = run.complete(folding, slot_of=slot_of)
        found = answer if isinstance(answer, Candidate) else None
    if found is None:
        run.refused(interval, "partition", unproven(refusals), "each slot folded for itself: ")
    return found


def kept_by_slots(
    run: SearchState, slot_of: SlotOf, interval: int
) -> tuple[Candidate | None, FoldingSolution | None, tuple[Refusal, ...]]:
    """Fold each slot with its engines as they are given; return also the last folding and what that was short of."""
    refusals: tuple[Refusal, ...] = ()
    folding: FoldingSolution | None = None
    for _ in range(run.context.search_limits.slot_rounds):
        with run.progress.stage("folding"):
            run.progress.note(f"interval {interval:,} cycles, each slot for itself")
            folded = run.cutter.folded(slot_of, interval)
        if isinstance(folded, Refusal):
            return None, folding, refusals or (folded,)
        folding = run.least_priced(folded, "exact by slot")
        answer = run.complete(folding, slot_of=slot_of, stay=True)
        if isinstance(answer, Candidate):
            return answer, folding, ()
        refusals = answer.failure.refusals
        if not run.keep_back(refusals):
            break
    return None, folding, refusals
