"""What the order of FPGAs costs: the interval without it, and what a plan out of order would take in order.

The other search folds and cuts as the plan's does, in larger steps, and places nothing: what it finds may have no
floorplan. Nothing is proven by it but where the plan is at a bound that holds in any order.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import inf

from floorflow.errors import Refused, Stop
from floorflow.search.candidate.context import PlanningContext, fpga_order, in_short
from floorflow.search.candidate.findings import OtherOrder, SearchResult
from floorflow.search.candidate.progress import Progress
from floorflow.search.interval.rate import at_the_bounds, beyond_the_bounds, fit_kinds
from floorflow.search.interval.state import SearchState
from floorflow.stats import WorkIsSpent, counted

LEAST_WORK, WORK_SHARE = 10.0, 0.2
"""Units of work that the other search may take, or that share of what the plan's took."""


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
    most = max(LEAST_WORK, WORK_SHARE * found.work_units)
    other = _cycles_in_other_order(found.context, inf if request.allow_cycles else interval, most, progress)
    return replace(found, other_order=other)


def with_hint_of_order(context: PlanningContext, refused: Refused, progress: Progress) -> Refused:
    """Return the refusal of a plan in order with what there would be out of order."""
    if len(context.platform.fpgas) == 1 or context.request.allow_cycles or refused.interrupted:
        return refused
    other = _cycles_in_other_order(context, inf, LEAST_WORK, progress)
    if other is None or other.cycles is None:
        return refused
    told = f"--allow-cycles, with which a design of {other.cycles:,} cycles was folded and cut, not placed"
    return replace(refused, hint=f"{refused.hint}; or {told}" if refused.hint else told)


def _cycles_in_other_order(
    context: PlanningContext, below: float, work_limit: float, progress: Progress
) -> OtherOrder | None:
    """Search in the other order below an interval, within units of work; None after a signal."""
    lifted = not context.request.allow_cycles
    progress.note(f"what streams {'that go back to earlier FPGAs' if lifted else 'in order'} would give")
    request, limits = context.request.changed(allow_cycles=lifted), in_short(context.search_limits)
    other = replace(context, request=request, search_limits=limits, floorplans=False, link_streams=None)
    with Stop():
        run = SearchState(other, progress)
        if not run.is_feasible(other.problem.intervals()[-1]):
            return OtherOrder(None, proven=True)
        kinds = fit_kinds(run)
        with suppress(WorkIsSpent), counted(work_limit):
            at_the_bounds(kinds, below)
            if kinds.run.best is None:
                beyond_the_bounds(kinds, below)
        known = [kinds.run.best_cycles, *(found.kept_cycles for found in kinds.run.completed)]
        best = min((int(cycles) for cycles in known if cycles < below), default=None)
        joint = run.find_joint_bound(kinds.intervals, kinds.index) if best is None else None
        proven = best is None and joint is not None and (joint.interval_cycles or inf) >= below
        return OtherOrder(best, proven)
    return None
