"""Why a folding does not fit, and how much larger a budget would do: the least scale of all limits at which one fits.

Shares p >= 0 of the resources that sum to 1 bound it: no folding x has  max_r use_r(x) / budget_r  below the least of
sum_r p_r use_r(x) / budget_r,  which `pricing` finds exactly. The best shares are sought by cutting planes; the
foldings met on the way, improved group by group, are the answers. In a small problem what is left between bound and
answer is bisected by the exact solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import floor

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import UNBUILDABLE
from floorflow.errors import Refusal, sentence
from floorflow.folding.dominance import reduce_by_dominance
from floorflow.folding.exact import least_scarce
from floorflow.folding.interface_classes import group_by_interface
from floorflow.folding.pricing import Pricing
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution
from floorflow.folding.selection import Evaluator
from floorflow.folding.variable_elimination import FORBIDDEN
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.solver import linear_solver

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

STEPS = 40
"""Shares tried at most."""
CLOSE = 0.005
"""Relative distance between the proven scale and the least one met at which the search ends."""
FINENESS = 1 << 30
"""Steps of a price for each budget."""
IMPROVED, IMPROVING_ROUNDS = 4, 3
"""Foldings that are improved, and how often every group is."""
SMALL = 150
"""Rows left in all groups up to which the exact solver is asked."""
BISECTIONS = 8
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
    search = _Search(problem, Pricing(group_by_interface(without_limits, reduced.rows)))
    search.raise_bound()
    if search.low >= FORBIDDEN / FINENESS:
        return None
    search.improve()
    if search.pricing.size <= SMALL:
        search.bisect(interval_cycles)
    return search.shortage_found(interval_cycles)


def _within_kinds(problem: FoldingProblem) -> FoldingProblem:
    """Leave out rows that need a resource of which the budget has nothing."""
    have = np.array(problem.budget.as_tuple()) > 0
    least = problem.largest.as_tuple() if problem.largest else (UNBUILDABLE,) * 5
    largest = Resources(*(amount if some else 0 for amount, some in zip(least, have.tolist(), strict=True)))
    return FoldingProblem(problem.groups, problem.budget, problem.silicon, problem.couplings, largest=largest)


@dataclass
class _Search:
    """Foldings by their scale, the largest of use over budget; ``low`` is proven."""

    problem: FoldingProblem
    pricing: Pricing
    low: float = 0.0
    scale_of: dict[tuple[int, ...], float] = field(default_factory=dict)
    exact: FoldingSolution | None = None

    @cached_property
    def evaluator(self) -> Evaluator:
        return Evaluator(self.problem)

    @cached_property
    def per_budget(self) -> Floats:
        """One over the budget, 0 where it has nothing, (5,)."""
        budget = self.evaluator.budget
        return np.where(budget > 0, 1 / np.maximum(budget, 1), 0.0)

    @property
    def high(self) -> float:
        """The least scale of a folding met."""
        return min(self.scale_of.values())

    def raise_bound(self) -> None:
        """Raise the bound by cutting planes."""
        shares = np.where(self.per_budget > 0, 1.0, 0.0)
        shares, best = shares / max(1.0, shares.sum()), shares
        seen: list[Floats] = []
        for _ in range(STEPS):
            low, used = self._least(shares)
            seen.append(used)
            if low > self.low or len(seen) == 1:
                self.low, best = max(low, self.low), shares
            ceiling, wanted = _best_shares(seen)
            if min(ceiling, self.high) - self.low <= CLOSE / 5 * max(ceiling, 1e-9):
                break
            # Halfway between the best shares and the model's: the model alone swings from corner to corner.
            shares = (best + wanted) / 2 if len(seen) > 1 else wanted

    def _least(self, shares: Floats) -> tuple[float, Floats]:
        """Return the bound that shares give, and the use over budget of the folding that has it."""
        price = np.floor(shares * self.per_budget * FINENESS).astype(np.int64)
        totals, selections = self.pricing.least(self.pricing.row_prices(price[None]), price[None])
        used = self.pricing.total(selections[0]) * self.per_budget
        self.scale_of[self.pricing.rows_of(selections[0])] = float(used.max())
        return int(totals[0]) / FINENESS, used

    def improve(self) -> None:
        """Change the best foldings group by group while their scale falls."""
        for selection in sorted(self.scale_of, key=lambda selection: (self.scale_of[selection], selection))[:IMPROVED]:
            improved, use = list(selection), self.evaluator.use(selection)
            for _ in range(IMPROVING_ROUNDS):
                before = list(improved)
                for group, rows in enumerate(self.pricing.classes.rows):
                    improved[group], use = self._best_row(group, rows, improved, use)
                if improved == before:
                    break
            self.scale_of[tuple(improved)] = float((use * self.per_budget).max())

    def _best_row(self, group: int, rows: Array, selection: Sequence[int], use: Array) -> tuple[int, Array]:
        """Return the group's row of least scale, and what the selection then uses."""
        own = self.evaluator.around(group, np.array([selection[group]]), selection)
        uses = use - own + self.evaluator.around(group, rows, selection)
        used = uses * self.per_budget
        best = int(np.lexsort((rows, used.sum(axis=1), used.max(axis=1)))[0])
        return int(rows[best]), uses[best]

    def bisect(self, interval_cycles: int) -> None:
        """Ask the exact solver what lies between bound and answer."""
        high = self.high
        for _ in range(BISECTIONS):
            if high - self.low <= CLOSE * high:
                break
            middle = (self.low + high) / 2
            budget = Resources(*(floor(amount * middle) for amount in self.problem.budget.as_tuple()))
            answer = least_scarce(self.problem.with_budget(budget), interval_cycles, prove=False)
            if isinstance(answer, FoldingSolution):
                high, self.exact = self._scale(answer), answer
            elif isinstance(answer, FoldingInfeasible):
                self.low = middle
            else:
                break

    def _scale(self, folding: FoldingSolution) -> float:
        return float((np.array(folding.resources.as_tuple()) * self.per_budget).max())

    def shortage_found(self, interval_cycles: int) -> Shortage:
        """Return the shortage between bound and answer."""
        selection = min(self.scale_of, key=lambda selection: (self.scale_of[selection], selection))
        folding = self.exact or self.evaluator.solution(selection, "shortage", "feasible")
        used = np.array(folding.resources.as_tuple()) * self.per_budget
        binding = int(used.argmax())
        need = folding.resources.as_tuple()[binding]
        amounts = {engine: option.resources.as_tuple()[binding] for engine, option in folding.options.items()}
        largest = sorted((engine for engine in amounts if amounts[engine]), key=lambda e: (-amounts[e], e))[:SHOWN]
        return Shortage(
            interval_cycles=interval_cycles,
            resource=RESOURCE_NAMES[binding],
            need=need,
            limit=self.problem.budget.as_tuple()[binding],
            scale=float(used[binding]),
            proven_scale=min(self.low, float(used[binding])),
            engines=tuple((engine, amounts[engine] / need) for engine in largest),
            folding=folding,
        )


def _best_shares(seen: Sequence[Floats]) -> tuple[float, Floats]:
    """Return the highest bound that the foldings met so far allow, and the shares for it."""
    solver = linear_solver()
    bound = solver.NumVar(0.0, solver.infinity(), "")
    shares = [solver.NumVar(0.0, 1.0, "") for _ in seen[0]]
    whole = solver.Constraint(1.0, 1.0)
    for share in shares:
        whole.SetCoefficient(share, 1.0)
    for used in seen:
        row = solver.Constraint(-solver.infinity(), 0.0)
        row.SetCoefficient(bound, 1.0)
        for share, much in zip(shares, used, strict=True):
            row.SetCoefficient(share, -float(much))
    solver.Maximize(bound)
    solver.Solve()
    return float(bound.solution_value()), np.array([share.solution_value() for share in shares])
