"""Why a folding does not fit, and how much larger a budget would do: the least scale of all limits where one fits."""

from dataclasses import dataclass, field

import numpy as np

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.errors import Refusal, sentence
from floorflow.folding.dominance import reduce_by_dominance
from floorflow.folding.least_full import LeastScale
from floorflow.folding.pricing import Pricing, group_by_interface
from floorflow.folding.problem import FoldingProblem, FoldingSolution
from floorflow.folding.selection import Evaluator
from floorflow.resources import RESOURCE_NAMES, Resources

CLOSE = 0.005
"""Relative distance between the proven scale and the one met up to which that is called proven."""
SMALL = 150
"""Rows left in all groups up to which the exact solver is asked."""
SHOWN = 3
"""Engines named."""


@dataclass(frozen=True)
class Shortage:
    """The least scale of the budget at which a folding fits, and what fills it there.

    No scale below ``proven_scale`` will do, ``scale`` does. ``resource`` binds: the folding at ``scale`` needs ``need``
    of it, the budget has ``limit``; it is ``folding``. ``engines`` are those that need most of it, with their share of
    the need.
    """

    interval_cycles: int
    resource: str
    need: int
    limit: int
    scale: float
    proven_scale: float
    engines: tuple[tuple[str, float], ...]
    folding: FoldingSolution = field(repr=False, compare=False)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What binds as a value; where the proof is far from what was found, the proven scale as well."""
        most = tuple(f"{name} ({share:.0%})" for name, share in self.engines)
        close = self.scale - self.proven_scale <= CLOSE * self.scale
        found = Refusal("larger budget", self.resource, "", self.need, self.limit, proven=close, names=most)
        least = Refusal("larger budget at least", self.resource, "", self.proven_scale, 1.0, proven=True)
        return (found,) if close else (found, least)

    def __str__(self) -> str:
        return sentence(*self.refusals)


def shortage(problem: FoldingProblem, interval_cycles: int) -> Shortage | None:
    """Return how much larger the budget must be for a folding within an interval.

    None if no scale helps: a group is too slow at every folding, or needs what the budget has nothing of, or no
    hardware can join its fast enough foldings to those of its neighbours.
    """
    reduced = reduce_by_dominance(_within_kinds(problem), interval_cycles)
    if reduced is None:
        return None
    # Whatever the budget, only what no hardware can join is barred.
    without_limits = problem.with_budget(Resources(*[UNBUILDABLE - 1] * 5))
    search = LeastScale(problem, Pricing(group_by_interface(without_limits, reduced.rows)))
    if not search.raise_bound() or not search.scale_of:
        return None
    search.improve()
    if search.pricing.size <= SMALL:
        search.close(interval_cycles, branch=True)
    return _shortage(search, interval_cycles)


def _within_kinds(problem: FoldingProblem) -> FoldingProblem:
    """Leave out rows that need a resource of which the budget has nothing."""
    have = np.array(problem.budget.as_tuple()) > 0
    least = problem.largest.as_tuple() if problem.largest else (UNBUILDABLE,) * 5
    largest = Resources(*(amount if some else 0 for amount, some in zip(least, have.tolist(), strict=True)))
    return FoldingProblem(problem.groups, problem.budget, problem.silicon, problem.couplings, largest=largest)


def _shortage(search: LeastScale, interval_cycles: int) -> Shortage:
    """Return the shortage between bound and answer."""
    budget = search.problem.budget.as_tuple()
    folding = Evaluator(search.problem).solution(search.best, "shortage", "feasible")
    use = folding.resources.as_tuple()
    scale = search.scale_of[search.best]
    binding = next(r for r, (need, have) in enumerate(zip(use, budget, strict=True)) if have and need == scale * have)
    need = use[binding]
    amounts = {engine: option.resources.as_tuple()[binding] for engine, option in folding.options.items()}
    largest = sorted((engine for engine in amounts if amounts[engine]), key=lambda e: (-amounts[e], e))[:SHOWN]
    return Shortage(
        interval_cycles=interval_cycles,
        resource=RESOURCE_NAMES[binding],
        need=need,
        limit=budget[binding],
        scale=float(scale),
        proven_scale=float(min(search.low, scale)),
        engines=tuple((engine, amounts[engine] / need) for engine in largest),
        folding=folding,
    )
