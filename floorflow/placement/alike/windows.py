"""Windows that one circuit fits: which rectangles of a group of equal modules are alike, and where else such ones lie.

Rectangles are alike if `can_relocate` allows to move what is made in one into another: equal sides over equal columns,
with clock spines and edges between the same rows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.hardware.geometry import Rect
from floorflow.hardware.relocation import anchors
from floorflow.placement.bounds.wires import need_of
from floorflow.placement.problem import PlacementProblem, Region, point_of
from floorflow.placement.rectangles.candidate_rectangles import (
    IntArray,
    area_of,
    candidate_rectangles,
    compact,
    overlaps,
    sides_of,
    slot_grid,
)

LOOKED_AT = 60
"""Kinds of windows, the most promising, of which all places are looked up."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Rectangles that are alike: all that there are in the slots of a group, by slot, (n, 4) each."""

    in_slot: dict[str, IntArray]

    @property
    def area(self) -> int:
        """Columns times rows of each."""
        return int(area_of(next(iter(self.in_slot.values())))[0])


def windows_of(problem: PlacementProblem, group: Sequence[str], near: Mapping[str, Region], most: int) -> list[Windows]:
    """Return kinds of windows that hold each of a group and have enough places apart, the most promising first.

    Promising are small ones that lie near where the modules would be without the rule, which is ``near``.
    """
    slots = Counter(problem.modules[problem.index_of[name]].slot for name in group)
    need = np.max([need_of(problem, problem.modules[problem.index_of[name]]) for name in group], axis=0)
    kinds: dict[tuple[object, ...], list[Rect]] = defaultdict(list)
    for name in slots:
        grid = slot_grid(problem.device, problem.slot_of[name])
        for row in compact(candidate_rectangles(grid, need), problem.max_aspect).tolist():
            kinds[_kind(problem, Rect(*row))].append(Rect(*row))
    ranked = sorted(kinds.values(), key=lambda rects: _promise(problem, group, near, rects))
    found: list[Windows] = []
    for rects in ranked[:LOOKED_AT]:
        every = {name: _places(problem, name, rects[0]) for name in slots}
        if all(_apart(every[name]) >= count for name, count in slots.items()):
            found.append(Windows(every))
            if len(found) == most:
                break
    return found


def _kind(problem: PlacementProblem, rect: Rect) -> tuple[object, ...]:
    """Return what is equal of rectangles that are alike, and of no others."""
    cells, between = problem.device.cell_kinds, problem.device.row_boundaries
    cut = cells[rect.bottom : rect.top + 1, rect.left : rect.right + 1]
    return rect.columns, rect.rows, cut.tobytes(), between[rect.bottom : rect.top].tobytes()


def _promise(
    problem: PlacementProblem, group: Sequence[str], near: Mapping[str, Region], rects: Sequence[Rect]
) -> tuple[float, Rect]:
    """Order kinds: by how far modules would go, width by width, and what their windows take, both in bits by cells."""
    sides = sides_of(rects)
    centres = sides[:, :2] + sides[:, 2:]
    cost = 0.0
    for name in group:
        point, bits = point_of(name, near), sum(wire.width_bits for wire in problem.wires if name in wire.modules)
        distance = np.abs(centres - np.array([point.x2, point.y2])).sum(axis=1).min()
        # A window that is wider pushes what lies beside it as far.
        cost += bits * (float(distance) + 2 * (float(area_of(sides)[0]) ** 0.5))
    return cost, rects[0]


def _places(problem: PlacementProblem, slot: str, window: Rect) -> IntArray:
    """Return all places, (n, 4), of a window in a slot."""
    there = problem.slot_of[slot]
    return sides_of(anchors(problem.device, window, there.region, there.keep_outs))


def _apart(rects: IntArray) -> int:
    """Return how many rectangles, taken from the lower left on, do not overlap: no more need there be."""
    taken: list[int] = []
    order: Iterable[int] = np.lexsort((rects[:, 0], rects[:, 1])).tolist()
    for index in order:
        if not overlaps(rects[index : index + 1], rects[taken]).any():
            taken.append(index)
    return len(taken)
