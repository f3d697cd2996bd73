"""Repairs: what is tried when a slot's rectangles do not pack.

They come in this order: coarsen, neighbours merge into shared pblocks; reassign, modules move to other slots until
their areas fit, and may merge there; join, all modules of a slot share one pblock over the whole of its free region,
which holds whatever the slot's limits allow. So no floorplan costs rate, unless granularity is to be kept; a longer
interval is the search's repair then.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain
from math import inf

from floorflow.errors import Refusal, some
from floorflow.hardware import Rect
from floorflow.placement import PlacementFailure, pack_slot
from floorflow.search.candidate.assignment import assign, by_slot, join_slots, merge_groups, merges_without_cycle
from floorflow.search.candidate.candidate import Candidate, uses_of
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.placing import PlacedCandidate, place_candidate, placement_problem
from floorflow.search.candidate.slot_problem import least_supply, with_areas
from floorflow.stats import SolveStats


def place_with_repairs(context: PlanningContext, candidate: Candidate) -> PlacedCandidate | PlacementFailure:
    """Place the candidate as it is or with the first repair that helps; else return the first failure.

    First every pblock is to have the room that it should have; where that cannot be, slots may be tight.
    """
    if has_room_to_ask_for(context, candidate):
        roomy = _repaired(context, candidate, tight=False)
        if isinstance(roomy, PlacedCandidate):
            return roomy
    answer = _repaired(context, candidate, tight=True)
    if isinstance(answer, PlacedCandidate) or context.request.keep_granularity:
        return answer
    return _joined(context, candidate, answer)


def _repaired(context: PlanningContext, candidate: Candidate, *, tight: bool) -> PlacedCandidate | PlacementFailure:
    crowded = crowded_slots(context, candidate, tight=tight)
    failure = _no_room(crowded[0]) if crowded else None
    for changed, repair in chain([] if crowded else [(candidate, "")], _reassign(context, candidate, tight)):
        answer = place_candidate(context, changed, repair, tight=tight)
        if isinstance(answer, PlacementFailure):
            failure = failure or answer
            answer = _coarsen(context, changed, answer, repair, tight=tight) or answer
        if isinstance(answer, PlacedCandidate):
            return answer
    if failure is None:
        raise ValueError("a candidate that is not crowded is placed or fails")
    # Modules that share a rectangle waste fewer columns: then each may have room.
    merged = _coarsen(context, candidate, failure, "", tight=tight) if crowded and not tight else None
    return merged or failure


def has_room_to_ask_for(context: PlanningContext, candidate: Candidate) -> bool:
    """Whether some module's rectangle should hold more than the least with which it is legal."""
    devices = [fpga.device for fpga in context.platform.fpgas]
    return any(
        least_supply(context, device, use, tight=False) != least_supply(context, device, use, tight=True)
        for use in uses_of(context, candidate).values()
        for device in devices
    )


def crowded_slots(context: PlanningContext, candidate: Candidate, *, tight: bool) -> tuple[str, ...]:
    """Return the slots of several modules whose least rectangles fill more of the free cells than packs."""
    problem = with_areas(context, candidate.problem, 1.0, uses_of(context, candidate), tight=tight)
    most = context.search_limits.packed_share
    indices = {slot.name: index for index, slot in enumerate(problem.slots)}
    taken = dict.fromkeys(indices, 0.0)
    for module, slot in candidate.slot_of.items():
        cells = problem.cells[module][indices[slot]]
        taken[slot] += inf if cells is None else cells / max(1, problem.free_cells[indices[slot]])
    held = Counter(candidate.slot_of.values())
    return tuple(slot for slot, share in taken.items() if share > most and held[slot] > 1)


def _no_room(slot: str) -> PlacementFailure:
    return PlacementFailure(Refusal("no room", place=slot), SolveStats("area", "heuristic"))


def place_joined(context: PlanningContext, candidate: Candidate) -> PlacedCandidate | PlacementFailure:
    """Place the candidate as it is, or with one pblock for each slot whose modules do not pack."""
    answer = place_candidate(context, candidate, "", tight=True)
    if isinstance(answer, PlacedCandidate) or context.request.keep_granularity:
        return answer
    return _joined(context, candidate, answer)


def place_slots_whole(context: PlanningContext, candidate: Candidate, why: str) -> PlacedCandidate | PlacementFailure:
    """Place the candidate with one pblock for each slot, which takes no search; ``why`` is told in the plan."""
    held = sorted(Counter(candidate.slot_of.values()).items())
    candidate = join_slots(context, candidate, {slot: why for slot, count in held if count > 1})
    repair = f"one pblock for {some([joined.slot for joined in candidate.joined])}" if candidate.joined else ""
    return place_candidate(context, candidate, repair, tight=True)


def _joined(
    context: PlanningContext, candidate: Candidate, failure: PlacementFailure
) -> PlacedCandidate | PlacementFailure:
    """Give slots whose modules do not pack one pblock each, over all that they have free."""
    why = {slot: str(_no_room(slot)) for slot in crowded_slots(context, candidate, tight=True) if slot != failure.slot}
    for _ in context.limits:
        why |= {failure.slot: str(replace(failure.refusal, proven=False))}
        candidate = join_slots(context, candidate, why)
        why = {}
        answer = place_candidate(
            context, candidate, f"one pblock for {some([j.slot for j in candidate.joined])}", tight=True
        )
        if isinstance(answer, PlacedCandidate):
            return answer
        if failure.slot == answer.slot:
            return answer
        failure = answer
    return failure


def _reassign(context: PlanningContext, candidate: Candidate, tight: bool) -> Iterator[tuple[Candidate, str]]:
    """Assign the modules anew, so that their least rectangles leave ever more of each slot's area free."""
    if len(context.platform.slots) == 1:
        return
    tried = [dict(candidate.slot_of)]
    for share in context.search_limits.tightened_shares:
        moved = assign(
            context,
            candidate.folding,
            candidate.modules,
            start=candidate.slot_of,
            area_share=share,
            tight=tight,
            prove=True,
        )
        if not isinstance(moved, Candidate):
            return
        if context.request.granularity == "slot":
            moved = by_slot(context, moved, sorted(set(moved.slot_of.values())), keep=1)
        if isinstance(moved, Candidate) and dict(moved.slot_of) not in tried:
            tried.append(dict(moved.slot_of))
            yield moved, f"modules moved until their rectangles fill at most {share:.0%} of each slot"


def _coarsen(
    context: PlanningContext, candidate: Candidate, failure: PlacementFailure, repair: str, *, tight: bool
) -> PlacedCandidate | None:
    """Merge modules of whichever slot fails: as its slicing into rectangles asks for, then ever further."""
    slot = failure.slot
    hints: dict[str, Rect] = {}
    tries = Counter[str]()
    while not context.request.keep_granularity and tries[slot] < context.search_limits.merges:
        full = [slot] if tight else []
        merged = _fewer(context, candidate, slot) if tries[slot] else _sliced(context, candidate, slot, hints, full)
        if merged is None:
            return None
        tries[slot] += 1
        done = f"neighbours merged into {len(merged.modules)} modules"
        answer = place_candidate(context, merged, ", ".join(filter(None, (repair, done))), hints, tight=tight)
        if isinstance(answer, PlacedCandidate):
            return answer
        candidate, slot = merged, answer.slot
    return None


def _sliced(
    context: PlanningContext, candidate: Candidate, slot: str, hints: dict[str, Rect], tight: Collection[str]
) -> Candidate | None:
    """Merge what shares a rectangle in a slicing of the slot; the rectangles become hints."""
    fpga = next(f for f in context.platform.fpgas if slot in {s.name for s in f.slots})
    problem = placement_problem(context, candidate, fpga, hints, tight)
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
