"""The last step where streams inside an SLR are still beyond their reach: first the reach, then the rest.

Annealing goes on from the best layout at a weight of the reach by which hardly anything else counts. Of many modules
what it finds is taken only if it costs little more: a register slice is cheaper than long wires. Of few modules
CP-SAT then looks, with the reach as a constraint, over all legal rectangles of the aspects in force: it finds a layout
if there is one, where the work suffices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from floorflow.placement.effort import Limits
from floorflow.placement.improvement.annealing import Cooling, anneal
from floorflow.placement.improvement.complete import solve_completely
from floorflow.placement.layouts.layout import Layout, SearchSpace
from floorflow.placement.layouts.objective import Objective
from floorflow.placement.preparing import PreparedProblem, legal_sides_of

STRICT = 1000.0
"""Times the weight of the reach that annealing goes on with."""
ROUNDS = 100
"""Rounds of it by module."""
HOT, COLD = (0.4, 0.02), 0.002
"""First and last temperatures of its runs, as shares of the wirelength by module."""
MOST_LONGER = 0.05
"""Share by which the objective of many modules may rise for fewer streams beyond their reach: a slice is cheaper."""
WORK = 5.0
"""Deterministic seconds of CP-SAT."""


def better(objective: Objective, limits: Limits, *layouts: Layout) -> Layout:
    """Return the layout with fewest streams beyond their reach, at the least cost.

    Of more modules than CP-SAT sees only among those that cost little more than the best.
    """
    ranks = [objective.rank(layout.boxes) for layout in layouts]
    least = min(cost for _, cost in ranks)
    few = len(layouts[0].boxes) <= limits.complete_modules
    some = [(rank, number) for number, rank in enumerate(ranks) if few or rank[1] <= (1 + MOST_LONGER) * least]
    return layouts[min(some)[1]]


@dataclass(frozen=True)
class Reaching:
    """Such a step: ``space`` are the rectangles that annealing takes, of the ``aspects`` in force."""

    prepared: PreparedProblem
    aspects: Sequence[float | None]
    space: SearchSpace
    objective: Objective
    seed: int

    def from_best(self, best: Layout) -> Layout:
        """Return a layout with fewer streams beyond their reach, if one is found; else the same."""
        best = self._better(best, self._annealed(best))
        if self._beyond(best) and self.space.count <= self.prepared.limits.complete_modules:
            found = self._by_cpsat()
            if found is not None:
                best = self._better(best, found, self._annealed(found))
        return best

    def _beyond(self, layout: Layout) -> int:
        return self.objective.rank(layout.boxes)[0]

    def _better(self, *layouts: Layout) -> Layout:
        return better(self.objective, self.prepared.limits, *layouts)

    def _annealed(self, start: Layout) -> Layout:
        weights, count = self.objective.weights, self.space.count
        strict = replace(self.objective, weights=replace(weights, reach=STRICT * weights.reach))
        coolings = [Cooling(ROUNDS * count, hot / count, COLD / count) for hot in HOT]
        return self._better(*(anneal(self.space, start, cooling, self.seed, strict) for cooling in coolings))

    def _by_cpsat(self) -> Layout | None:
        """Return the shortest layout, as far as it is found, with no stream beyond its reach, if there is one."""
        space, rules = self.space, legal_sides_of(self.prepared, self.aspects)
        most = self.objective.most_inside
        return solve_completely(
            rules, space.nets, space.may_overlap, twice_known=None, work_limit=WORK, seed=self.seed, most=most
        ).layout
