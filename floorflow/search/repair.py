"""Repairs: what is tried when a slot's rectangles do not pack.

They come in this order: reassign, modules move to other slots; coarsen, neighbours merge into shared pblocks, in the
candidate as it was and in those reassigned; refold, the network is folded anew under the tightened slot; coarsen these.
A longer interval, the last repair, is the search's.
"""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.folding import FoldingSolution
from floorflow.hardware import Rect
from floorflow.placement import (
    PlacementFailure,
    pack_slot,
)
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.assignment import assign, complete
from floorflow.search.candidate import Candidate, slot_demands
from floorflow.search.context import PlanningContext
from floorflow.search.merging import by_slot, merge_groups, merges_without_cycle
from floorflow.search.placing import PlacedCandidate, place_candidate, placement_problem


def place_with_repairs(context: PlanningContext, candidate: Candidate) -> PlacedCandidate | PlacementFailure:
    """Place the candidate as it is or with the first repair that helps; else return the first failure."""
    answer = place_candidate(context, candidate, "")
    if isinstance(answer, PlacedCandidate):
        return answer
    failed = [(candidate, answer, "")]  # candidates in which neighbours may still merge
    for tries in (_reassign(context, candidate, answer.slot), _refold(context, candidate, answer.slot)):
        for changed, repair in tries:
            replaced = place_candidate(context, changed, repair)
            if isinstance(replaced, PlacedCandidate):
                return replaced
            failed.append((changed, replaced, repair))
        while failed:
            merged = _coarsen(context, *failed.pop(0))
            if merged is not None:
                return merged
    return answer


def _reassign(context: PlanningContext, candidate: Candidate, slot: str) -> Iterator[tuple[Candidate, str]]:
    """Assign the modules anew under a tighter limit of the slot that failed."""
    if len(context.platform.slots) == 1:
        return
    for share in context.search_limits.tightened:
        moved = assign(context, candidate.folding, candidate.modules, {slot: share})
        if context.request.granularity == "slot" and isinstance(moved, Candidate):
            moved = by_slot(context, moved, sorted(set(moved.slot_of.values())), keep=1)
        if isinstance(moved, Candidate):
            yield moved, f"modules moved out of {slot}"


def _coarsen(
    context: PlanningContext, candidate: Candidate, failure: PlacementFailure, repair: str
) -> PlacedCandidate | None:
    """Merge modules of whichever slot fails: as its slicing into rectangles asks for, then ever further."""
    slot = failure.slot
    hints: dict[str, Rect] = {}
    packed: set[str] = set()
    while not context.request.keep_granularity:
        merged = _fewer(context, candidate, slot) if slot in packed else _sliced(context, candidate, slot, hints)
        if merged is None:
            return None
        packed.add(slot)
        done = f"neighbours merged into {len(merged.modules)} modules"
        answer = place_candidate(context, merged, ", ".join(filter(None, (repair, done))), hints)
        if isinstance(answer, PlacedCandidate):
            return answer
        candidate, slot = merged, answer.slot
    return None


def _sliced(context: PlanningContext, candidate: Candidate, slot: str, hints: dict[str, Rect]) -> Candidate | None:
    """Merge what shares a rectangle in a slicing of the slot; the rectangles become hints."""
    fpga = next(f for f in context.platform.fpgas if slot in {s.name for s in f.slots})
    problem = placement_problem(context, candidate, fpga, hints)
    groups = pack_slot(problem, slot, merges_without_cycle(candidate), context.request.seed)
    merged = merge_groups(context, candidate, groups) if groups else None
    if groups is None or not isinstance(merged, Candidate):
        return None
    engines_of = {m.name: m.engines for m in candidate.modules}
    names = {frozenset(m.engines): m.name for m in merged.modules}
    for group, rect in groups.items():
        hints[names[frozenset(engine for name in group for engine in engines_of[name])]] = rect
    return merged


def _fewer(context: PlanningContext, candidate: Candidate, slot: str) -> Candidate | None:
    """Merge a third of a slot's modules."""
    count = sum(place == slot for place in candidate.slot_of.values())
    merged = by_slot(context, candidate, [slot], max(1, count * 2 // 3)) if count > 1 else None
    return merged if isinstance(merged, Candidate) else None


def _refold(context: PlanningContext, candidate: Candidate, slot: str) -> Iterator[tuple[Candidate, str]]:
    """Fold anew with less of what the failed slot is fullest of, under a tighter limit of that slot."""
    need, limit = slot_demands(candidate)[slot].as_dict(), context.limits[slot].as_dict()
    fullest = max(RESOURCE_NAMES, key=lambda r: need[r] / limit[r] if limit[r] else 0.0)
    used, budget = candidate.folding.resources.as_dict(), context.problem.budget.as_dict()
    for share in context.search_limits.tightened:
        less = Resources.from_dict(budget | {fullest: int(share * used[fullest])})
        folding = context.solvers.fold(context.problem.with_budget(less), candidate.interval_cycles)
        if not isinstance(folding, FoldingSolution):
            return
        changed = complete(context, folding, {slot: share})
        if isinstance(changed, Candidate):
            yield changed, f"folded anew with {share:.0%} of the {fullest}"
