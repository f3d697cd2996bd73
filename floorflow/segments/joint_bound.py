"""The shortest interval not proven impossible for any assignment of a network's engines to slots, contiguous or not.

The folding bound fills one pot with the limits of all slots. Here every engine lies in one slot, whole, with one of its
foldings (`slot_relaxation`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from floorflow.errors import Refusal
from floorflow.folding import FoldingProblem
from floorflow.resources import Resources
from floorflow.segments.hops import Near
from floorflow.segments.slot_relaxation import Assigned, Impossible, Inside, SlotRelaxation, Verdict
from floorflow.stats import SolveStats

WORK = 4.0
"""What all proofs together may take, in CP-SAT's work units, roughly seconds."""


@dataclass(frozen=True)
class JointBound:
    """No plan has an interval below ``interval_cycles``; None: none at all meets the slots' limits.

    ``stats.status`` is ``optimal`` where the relaxation has a solution at that interval, ``feasible`` where the limit
    of work ended the proof. ``refusal``: why the next shorter interval is impossible, if it is not by folding alone.
    ``slot_of_engine``: where the relaxation has each engine at that interval, empty where it met no solution: something
    to begin with, not a plan.
    """

    interval_cycles: int | None
    stats: SolveStats
    refusal: Refusal | None = None
    slot_of_engine: Mapping[str, int] = field(default_factory=dict)


def joint_bound(
    problem: FoldingProblem,
    limits: Sequence[Resources],
    intervals: Sequence[int],
    start_index: int = 0,
    work: float = WORK,
    *,
    together: Sequence[Collection[str]] = (),
    inside: Inside | None = None,
    near: Near | None = None,
) -> JointBound:
    """Return the shortest of ascending ``intervals`` from ``start_index`` on that is not proven impossible.

    Shorter ones than that at ``start_index`` are known to be impossible: it is the folding bound's. ``limits`` are the
    slots', with all that an engine may use there; the problem's couplings are what streams cost at least. ``work``
    is CP-SAT's, for all intervals; each may take half of what is left. Engines of one of ``together`` lie in one slot
    in every plan, and no plan has a stream between slots that are not ``near`` each other. ``inside`` is as
    `SlotRelaxation` takes it.
    """
    relaxation, left = SlotRelaxation(problem, limits, together, inside, near), work
    answers: dict[int, Verdict] = {}

    def impossible(index: int) -> bool:
        nonlocal left
        answers[index], spent = relaxation.at(intervals[index], left / 2)
        left -= spent
        return isinstance(answers[index], Impossible)

    first = first_not(impossible, start_index, len(intervals))
    what = Refusal("slots and hops", allowed=relaxation.near.hops.most) if relaxation.near else Refusal("each slot")
    refusal = replace(what, proven=True) if first > start_index else None
    if first == len(intervals):
        return JointBound(None, SolveStats("joint", "infeasible"), refusal)
    answer, shortest = answers[first], intervals[first]
    met = isinstance(answer, Assigned)
    stats = SolveStats("joint", "optimal" if met else "feasible", bound=shortest)
    return JointBound(shortest, stats, refusal, answer.slot_of_engine if isinstance(answer, Assigned) else {})


def first_not(holds: Callable[[int], bool], start: int, end: int) -> int:
    """Return the first index from ``start`` on for which something does not hold, ``end`` if there is none.

    It is to hold for all before that one, and for none after. Steps grow from the start, what lies between is bisected.
    """
    low, high, step = start - 1, start, 1
    while high < end and holds(high):
        low, high, step = high, high + step, 2 * step
    high = min(high, end)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
