"""The last step where streams inside an SLR are still beyond their reach: first the reach, then the rest.

Annealing goes on from the best layout at a weight of the reach by which hardly anything else counts. Of few modules
CP-SAT then says with the reach as a constraint: over all legal rectangles of the aspects in force, where these are not
very many, it finds a layout if there is one; else over those nearest to the best layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from floorflow.placement.annealing import Cooling, anneal
from floorflow.placement.candidate_rectangles import IntArray
from floorflow.placement.exact import solve_exactly
from floorflow.placement.lns import Layout, SearchSpace
from floorflow.placement.objective import Objective
from floorflow.placement.preparing import PreparedProblem
from floorflow.placement.pruning import all_rectangles

STRICT = 1000.0
"""Times the weight of the reach that annealing goes on with."""
ROUNDS = 100
"""Rounds of it by module."""
RECTANGLES = 20_000
"""Rectangles of all modules up to which CP-SAT sees every one."""
NEAREST = 300
"""Rectangles of a module that it sees otherwise."""
WORK = 5.0
"""Deterministic seconds of CP-SAT."""


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
            found = self._by_cpsat(best)
            if found is not None:
                best = self._better(best, found, self._annealed(found))
        return best

    def _beyond(self, layout: Layout) -> int:
        return self.objective.rank(layout.boxes)[0]

    def _better(self, *layouts: Layout) -> Layout:
        return min(layouts, key=lambda each: self.objective.rank(each.boxes))

    def _annealed(self, start: Layout) -> Layout:
        weights, count = self.objective.weights, self.space.count
        strict = replace(self.objective, weights=replace(weights, reach=STRICT * weights.reach))
        return anneal(self.space, start, Cooling(ROUNDS * count, 1.0 / count, 0.01 / count), self.seed, strict)

    def _by_cpsat(self, best: Layout) -> Layout | None:
        """Return the shortest layout, as far as it is found, with no stream beyond its reach, if there is one."""
        every = [all_rectangles(self.prepared.legal(module, aspect)) for module, aspect in enumerate(self.aspects)]
        rects = [each for each in every if each is not None]
        if len(rects) < len(every) or sum(map(len, rects)) > RECTANGLES:
            rects = [_nearest(c.rects, box) for c, box in zip(self.space.candidates, best.boxes, strict=True)]
        return solve_exactly(rects, self.space.nets, best, WORK, self.seed, most=self.objective.most_inside).layout


def _nearest(rects: IntArray, box: IntArray) -> IntArray:
    """Return the rectangles whose sides are nearest to a box, and the box."""
    order = np.argsort(np.abs(rects - box).sum(axis=1), kind="stable")
    return np.unique(np.concatenate((rects[order[:NEAREST]], box[None, :])), axis=0)
