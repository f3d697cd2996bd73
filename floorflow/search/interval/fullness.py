"""How full a design is of what it may use, and below what no design at its interval can be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from floorflow.folding import FoldingSolution
from floorflow.folding.least_full import fullness
from floorflow.request import limits_of
from floorflow.resources import Resources, total
from floorflow.search.candidate.candidate import Candidate, slot_demands
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.interval.evenly import engines_alone
from floorflow.search.interval.state import SearchState
from floorflow.stats import SolveStats, Status


@dataclass(frozen=True)
class Fullness:
    """The largest share of a limit, cap x available: of what folding counted of all slots together, and of each slot.

    Without a bound none was sought.
    """

    folding: SolveStats
    slots: SolveStats


def fullness_of(run: SearchState, candidate: Candidate, *, bounded: bool) -> Fullness:
    """Return how full a candidate is; ``bounded``: with bounds, unless the search does not seek fullness."""
    context, caps = run.context, cap_limits(run.context)
    demands = slot_demands(candidate)
    slots = max(fullness(demands[slot], limit) for slot, limit in caps.items())
    whole = fullness(candidate.folding.resources, total(caps.values()))
    bounded &= context.seeks_fullness
    full = run.least_full(candidate.interval_cycles) if bounded else None
    if not isinstance(full, FoldingSolution) or full.stats.bound is None:
        return Fullness(*(SolveStats("not sought", "heuristic", float(share)) for share in (whole, slots)))
    of_sums = full.stats.bound * _share(context.problem.budget, total(caps.values()))
    engine = engines_alone(run, candidate.interval_cycles, caps)[0]
    method, bound = (
        ("bound by the sums", of_sums) if of_sums >= engine.share else (f"bound by {engine.name} alone", engine.share)
    )
    return Fullness(_stats("bound by the sums", whole, of_sums), _stats(method, slots, bound))


def cap_limits(context: PlanningContext) -> dict[str, Resources]:
    """Return cap x available of every slot; the search may keep less, where pblocks hold less."""
    return {slot.name: limits_of(context.request, slot.available) for slot in context.platform.slots}


def _stats(method: str, share: Fraction, bound: float) -> SolveStats:
    """Return the statement; what exceeds the bound by rounding alone is optimal."""
    status: Status = "optimal" if float(share) <= bound * (1 + 1e-9) else "feasible"
    return SolveStats(method, status, float(share), min(bound, float(share)))


def _share(allowed: Resources, caps: Resources) -> float:
    """Return the least share that the search may use of any limit."""
    pairs = zip(allowed.as_tuple(), caps.as_tuple(), strict=True)
    return min((have / most for have, most in pairs if most), default=1.0)
