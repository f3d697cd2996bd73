"""CP-SAT over every legal rectangle: the most modules that can stay where they were, with proof.

All others may lie anywhere; wires must not be longer than is allowed. Up to `ALL` modules are free together. Of more,
those that share a slot with one that must move, while the rest stays at home: as keep-outs, with pins where wires end.
How many of a slot can stay at all, however long the wires, bounds how many can of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from floorflow.placement.complete import CompleteModel, solve_completely
from floorflow.placement.layout import Layout, NetArrays, parts_of, twice_hpwl
from floorflow.placement.rectangles.candidate_rectangles import BOTTOM, TOP, BoolArray, IntArray
from floorflow.placement.rectangles.legal_sides import LegalSides

ALL = 12
"""Modules that are free together, at most."""
SHORTENING = 0.2
"""Share of the work for shorter wires of those that move then."""


@dataclass(frozen=True)
class MostStaying:
    """A layout in which more stay than was known, None if none was found; and no more than ``most`` can."""

    layout: Layout | None
    most: int


@dataclass(frozen=True, eq=False)
class FreeModules:
    """Modules that may move: their rules, wires and, (n, 4), ``homes``, -1 where one has none."""

    rules: Sequence[LegalSides]
    nets: NetArrays
    may_overlap: BoolArray
    homes: IntArray

    def among(self, layout: Layout, free: IntArray) -> "FreeModules":
        """Return the problem of some of them (k,), the others of which stay where they lie in a layout."""
        fixed = np.setdiff1d(np.arange(len(self.rules)), free)
        nets, boxes = self.nets, layout.boxes[fixed]
        pins = np.concatenate((nets.pins, boxes[:, :2] + boxes[:, 2:]))
        pin_bits = np.concatenate((nets.pin_bits[free], nets.bits[np.ix_(free, fixed)]), axis=1)
        between = nets.bits[np.ix_(free, free)]
        return FreeModules(
            [_clear_of(self.rules[one], boxes[self.may_overlap[one, fixed]]) for one in free.tolist()],
            NetArrays.of(between, pins, pin_bits),
            self.may_overlap[np.ix_(free, free)],
            self.homes[free],
        )

    def staying(self, layout: Layout) -> int:
        """Return how many are at home."""
        return int((layout.boxes == self.homes).all(axis=1).sum())

    @property
    def without_wires(self) -> "FreeModules":
        """The problem in which nothing but legality counts."""
        count = len(self.rules)
        none = NetArrays.of(
            np.zeros((count, count), np.int64), np.zeros((0, 2), np.int64), np.zeros((count, 0), np.int64)
        )
        return replace(self, nets=none)

    @property
    def have_homes(self) -> IntArray:
        """Which of them have homes."""
        return np.flatnonzero(self.homes[:, 0] >= 0)

    def stay_most(self, twice_most: int | None, known: int, work_limit: float, seed: int) -> MostStaying:
        """Find the layout in which most stay, more than are known to, with wires no longer than half of ``twice_most``.

        ``work_limit`` is in CP-SAT's deterministic seconds.
        """
        from ortools.sat.python import cp_model

        from floorflow.solver import run_cpsat

        homes = len(self.have_homes)
        if known >= homes:
            return MostStaying(None, known)
        complete = CompleteModel.of(self.rules, self.nets, self.may_overlap, homes=self.homes)
        moved = homes - sum(complete.stays, start=cp_model.LinearExpr.sum([]))
        if twice_most is not None:
            complete.model.add(complete.length <= twice_most)
        complete.model.add(moved < homes - known)
        complete.model.minimize(moved)
        status, solver = run_cpsat(complete.model, seed, work_limit)
        if status == cp_model.INFEASIBLE:
            return MostStaying(None, known)
        least = int(np.ceil(max(solver.best_objective_bound, 0.0) - 1e-6))
        found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        return MostStaying(complete.layout(solver) if found else None, homes - least)

    def shortened(self, layout: Layout, work_limit: float, seed: int) -> Layout:
        """Return a layout with the wires of those that moved as short as can be, as far as that is found."""
        moved = np.flatnonzero((layout.boxes != self.homes).any(axis=1))
        part = self.among(layout, moved)
        known = twice_hpwl(Layout(layout.boxes[moved], layout.placed[moved]), part.nets)
        shorter = solve_completely(
            part.rules, part.nets, part.may_overlap, twice_known=known, work_limit=work_limit, seed=seed
        ).layout
        return layout if shorter is None else put(layout, moved, shorter)


def most_that_stay(every: FreeModules, best: Layout, twice_most: int, work_limit: float, seed: int) -> MostStaying:
    """Return a layout in which more stay than in the best so far, if one is found, and no more than how many can.

    ``twice_most``: twice the longest that wires may be. ``work_limit``: CP-SAT's deterministic seconds for each solve.
    """
    known = every.staying(best)
    if known == len(every.have_homes):
        return MostStaying(None, known)
    if len(every.rules) <= ALL:
        answer = every.stay_most(twice_most, known, work_limit, seed)
    else:
        answer = _slot_by_slot(every, best, twice_most, work_limit, seed)
    if answer.layout is None:
        return answer
    return replace(answer, layout=every.shortened(answer.layout, SHORTENING * work_limit, seed))


def _slot_by_slot(every: FreeModules, best: Layout, twice_most: int, work_limit: float, seed: int) -> MostStaying:
    """Let only those move that share a slot with one that must, slot by slot; the others are at home."""
    slots = [np.array(part, dtype=np.int64) for part in reversed(parts_of(every.may_overlap))]
    layout, crowded = best.copy(), [some for some in slots if (every.homes[some, 0] < 0).any()]
    rest = np.setdiff1d(np.arange(len(every.rules)), np.concatenate([*crowded, np.zeros(0, np.int64)]))
    layout.boxes[rest] = every.homes[rest]
    most = len(every.have_homes)
    for some in crowded:
        if len(some) > ALL:
            continue
        part, here = every.among(layout, some), Layout(layout.boxes[some], layout.placed[some])
        can = part.without_wires.stay_most(None, -1, work_limit, seed)
        most -= len(part.have_homes) - can.most
        others = twice_hpwl(layout, every.nets) - twice_hpwl(here, part.nets)
        known = part.staying(here) if twice_hpwl(layout, every.nets) <= twice_most else -1
        found = part.stay_most(twice_most - others, known, work_limit, seed).layout
        layout = layout if found is None else put(layout, some, found)
    better = twice_hpwl(layout, every.nets) <= twice_most and every.staying(layout) > every.staying(best)
    return MostStaying(layout if better else None, most)


def put(layout: Layout, some: IntArray, places: Layout) -> Layout:
    """Return a layout with some modules (k,) elsewhere."""
    changed = layout.copy()
    changed.boxes[some], changed.placed[some] = places.boxes, True
    return changed


def _clear_of(rules: LegalSides, boxes: IntArray) -> LegalSides:
    """Return rules that keep clear of boxes, (n, 4) in columns and rows, as well."""
    more = boxes.copy()
    more[:, BOTTOM], more[:, TOP] = boxes[:, BOTTOM] // rules.row_step, boxes[:, TOP] // rules.row_step + 1
    return replace(rules, keep_outs=np.concatenate((rules.keep_outs, more)))
