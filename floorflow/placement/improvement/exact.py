"""CP-SAT over enumerated rectangles: improves a layout, and proves it optimal where the list is complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from floorflow.placement.layouts.layout import Layout
from floorflow.placement.layouts.net_arrays import NetArrays
from floorflow.placement.rectangles.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, IntArray

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

EXTENT = 1 << 14
"""More columns and rows than any device has."""


@dataclass(frozen=True)
class ExactAnswer:
    """The best layout over the rectangles given (None if none was found) and its proof.

    ``twice_bound`` bounds twice the wirelength over those rectangles; ``infeasible`` says they admit no layout.
    """

    layout: Layout | None
    twice_bound: float
    infeasible: bool


def solve_exactly(
    candidates: Sequence[IntArray], nets: NetArrays, hint: Layout | None, work_limit: float, seed: int
) -> ExactAnswer:
    """Choose one rectangle (row of ``candidates[module]``) for each module, without overlap, for least wirelength.

    ``work_limit`` is in CP-SAT's deterministic seconds; one worker, so that equal
    inputs give equal answers.
    """
    from ortools.sat.python import cp_model

    from floorflow.solver import run_cpsat

    model = cp_model.CpModel()
    sides = [_add_rectangle(model, index, rects) for index, rects in enumerate(candidates)]
    model.add_no_overlap_2d([side.across for side in sides], [side.up for side in sides])
    model.minimize(sum(_wire_terms(model, sides, nets), start=cp_model.LinearExpr.sum([])))
    if hint is not None:
        for side, rects, box in zip(sides, candidates, hint.boxes, strict=True):
            _add_hint(model, side, rects, box)
    status, solver = run_cpsat(model, seed, work_limit)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return ExactAnswer(None, solver.best_objective_bound, status == cp_model.INFEASIBLE)
    boxes = np.array([[solver.value(side) for side in rectangle.sides] for rectangle in sides], dtype=np.int64)
    layout = Layout(boxes.reshape(-1, 4), np.ones(len(sides), dtype=np.bool_))
    return ExactAnswer(layout, solver.best_objective_bound, infeasible=False)


@dataclass(frozen=True)
class _Rectangle:
    """Variables of one module: the sides as in an array of rectangles, and the two intervals they span."""

    sides: tuple[cp_model.IntVar, ...]
    choice: tuple[cp_model.IntVar, ...]
    across: cp_model.IntervalVar
    up: cp_model.IntervalVar

    @property
    def centre2(self) -> tuple[cp_model.LinearExpr, cp_model.LinearExpr]:
        """Twice the centre, in columns and rows."""
        return self.sides[LEFT] + self.sides[RIGHT], self.sides[BOTTOM] + self.sides[TOP]


def _add_rectangle(model: cp_model.CpModel, index: int, rects: IntArray) -> _Rectangle:
    """Add one module: sides tied to one row of ``rects`` by a binary for each."""
    sides = tuple(
        model.new_int_var(int(rects[:, side].min()), int(rects[:, side].max()), f"{name}[{index}]")
        for side, name in ((LEFT, "left"), (BOTTOM, "bottom"), (RIGHT, "right"), (TOP, "top"))
    )
    choice = tuple(model.new_bool_var(f"choice[{index},{row}]") for row in range(len(rects)))
    model.add_exactly_one(choice)
    for side, variable in enumerate(sides):
        model.add(sum(int(value) * literal for value, literal in zip(rects[:, side], choice, strict=True)) == variable)
    across = _add_interval(model, sides[LEFT], sides[RIGHT], f"across[{index}]")
    up = _add_interval(model, sides[BOTTOM], sides[TOP], f"up[{index}]")
    return _Rectangle(sides, choice, across, up)


def _add_interval(
    model: cp_model.CpModel, low: cp_model.IntVar, high: cp_model.IntVar, name: str
) -> cp_model.IntervalVar:
    """Add the interval of both sides, inclusive; its size must be a variable of its own."""
    size = model.new_int_var(1, EXTENT, f"size_{name}")
    model.add(low + size == high + 1)
    return model.new_interval_var(low, size, high + 1, name)


def _wire_terms(model: cp_model.CpModel, sides: Sequence[_Rectangle], nets: NetArrays) -> list[cp_model.LinearExpr]:
    """Return bits times twice the distance of each pair of modules, or module and pin, with wires between them."""
    terms = []
    centres = [rectangle.centre2 for rectangle in sides]
    for a, b in nets.pairs.T.tolist():
        distances = _distances(model, centres[a], centres[b], f"{a},{b}")
        terms += [int(nets.bits[a, b]) * distance for distance in distances]
    for module, pin in np.argwhere(nets.pin_bits > 0).tolist():
        distances = _distances(model, centres[module], nets.pins[pin].tolist(), f"{module},pin{pin}")
        terms += [int(nets.pin_bits[module, pin]) * distance for distance in distances]
    return terms


def _distances(
    model: cp_model.CpModel,
    first: Sequence[cp_model.LinearExpr],
    second: Sequence[cp_model.LinearExpr | int],
    name: str,
) -> list[cp_model.IntVar]:
    """Add twice the distances of two points, given doubled, in columns and in rows."""
    distances = []
    for a, b, axis in zip(first, second, "xy", strict=True):
        distance = model.new_int_var(0, 2 * EXTENT, f"distance_{axis}[{name}]")
        model.add(distance >= a - b)
        model.add(distance >= b - a)
        distances.append(distance)
    return distances


def _add_hint(model: cp_model.CpModel, rectangle: _Rectangle, rects: IntArray, box: IntArray) -> None:
    for variable, value in zip(rectangle.sides, box.tolist(), strict=True):
        model.add_hint(variable, value)
    chosen = (rects == box).all(axis=1)
    for literal, value in zip(rectangle.choice, chosen.tolist(), strict=True):
        model.add_hint(literal, value)
