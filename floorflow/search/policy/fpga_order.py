"""What the order of FPGAs costs: the interval without it, and what a plan out of order would take in order.

The other search folds and cuts as the plan's does, in larger steps, and places nothing: what it finds may have no
floorplan. Nothing is proven by it but where the plan is at a bound that holds in any order.
"""

from dataclasses import replace
from math import inf

from floorflow.errors import Refused, Stop
from floorflow.search.candidate.context import PlanningContext, fpga_order
from floorflow.search.candidate.findings import OtherOrder, SearchResult
from floorflow.search.candidate.progress import Progress
from floorflow.search.interval.rate import found_in_short


def with_other_order(found: SearchResult, progress: Progress) -> SearchResult:
    """Return what was found with what the other order of FPGAs would give, where a rate was sought on several."""
    request, interval = found.context.request, found.candidate.interval_cycles
    if len(found.context.platform.fpgas) == 1 or request.goal != "throughput" or found.interrupted:
        return found
    problem, slot_of = found.candidate.problem, found.candidate.partition.slot_of
    order = fpga_order(replace(found.context, request=request.changed(allow_cycles=False)))
    if request.allow_cycles and not replace(problem, order=order).back(slot_of):
        return replace(found, other_order=OtherOrder(interval, proven=True))
    if not request.allow_cycles and interval == found.bound_cycles:
        return replace(found, other_order=OtherOrder(None, proven=True))
    below, units = inf if request.allow_cycles else interval, found.work_units
    other = _cycles_in_other_order(found.context, below, units, progress)
    return replace(found, other_order=other)


def with_hint_of_order(context: PlanningContext, refused: Refused, progress: Progress) -> Refused:
    """Return the refusal of a plan in order with what there would be out of order."""
    if len(context.platform.fpgas) == 1 or context.request.allow_cycles or refused.interrupted:
        return refused
    other = _cycles_in_other_order(context, inf, 0.0, progress)
    if other is None or other.cycles is None:
        return refused
    told = f"--allow-cycles, with which a design of {other.cycles:,} cycles was folded and cut, not placed"
    return replace(refused, hint=f"{refused.hint}; or {told}" if refused.hint else told)


def _cycles_in_other_order(
    context: PlanningContext, below: float, plan_units: float, progress: Progress
) -> OtherOrder | None:
    """Search in the other order below an interval, in short; None after a signal."""
    lifted = not context.request.allow_cycles
    progress.note(f"what streams {'that go back to earlier FPGAs' if lifted else 'in order'} would give")
    other = replace(context, request=context.request.changed(allow_cycles=lifted), link_streams=None)
    with Stop():
        return OtherOrder(*found_in_short(other, below, plan_units, progress))
    return None
