"""What can be proven without a search: lower bounds of the wirelength, and that nothing fits.

Bounds hold for every legal rectangle of the aspect that is allowed, whether a search looked at it or not. A module's
rectangle is at least as wide as the narrowest of any span of rows, and at least as high as the lowest that holds it.
Two rectangles that do not overlap lie apart in columns or in rows, so their centres are at least half the sum of
their sides apart there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.placement.problem import PlacedModule, PlacementProblem
from floorflow.placement.shapes import IntArray, SlotGrid, narrowest, needed_supply
from floorflow.resources import RESOURCE_NAMES
from floorflow.target.rooms import supply_outside_keep_outs
from floorflow.target.slots import Slot


@dataclass(frozen=True, slots=True)
class Extent:
    """Least size of a module's rectangle, and twice the range of its centre in columns (x) and rows (y)."""

    columns: int
    rows: int
    x2: tuple[int, int]
    y2: tuple[int, int]


def extent_of(grid: SlotGrid, need: IntArray, max_aspect: float | None) -> Extent:
    """Return the least sizes and centre range of rectangles of at most that aspect (None: of any shape).

    ``grid`` must hold every legal span and have room for the module when keep-outs are ignored.
    """
    rows = grid.spans[:, 1] - grid.spans[:, 0] + 1
    columns = _least_columns(grid, need)
    allowed = columns < np.iinfo(np.int64).max
    if max_aspect is not None:
        # A span that is too high for its narrowest rectangle takes a wider one; one too low takes none at all.
        columns = np.maximum(columns, np.ceil(rows / max_aspect).astype(np.int64))
        allowed &= columns <= max_aspect * rows
    least_columns, least_rows = int(columns[allowed].min()), int(rows[allowed].min())
    low, high = int(grid.spans[:, 0].min()), int(grid.spans[:, 1].max())
    left, right = int(grid.lefts[0]), int(grid.rights[-1])
    return Extent(
        least_columns, least_rows, _centre_range(left, right, least_columns), _centre_range(low, high, least_rows)
    )


def _least_columns(grid: SlotGrid, need: IntArray) -> IntArray:
    """Return, (n_span,), the columns of each span's narrowest rectangle; the largest integer where there is none."""
    index = narrowest(grid, need)
    fits = index < len(grid.rights)
    rights = grid.rights[np.minimum(index, len(grid.rights) - 1)]
    columns = np.where(fits, rights - grid.lefts + 1, np.iinfo(np.int64).max)
    least: IntArray = columns.min(axis=1)
    return least


def wire_bound(problem: PlacementProblem, extents: Sequence[Extent]) -> float:
    """Return the sum over wires of width_bits times the least distance that the two modules can have."""
    twice = 0
    for wire in problem.wires:
        if wire.source != wire.target:
            a, b = (extents[problem.index_of[name]] for name in (wire.source, wire.target))
            twice += wire.width_bits * _least_twice_distance(a, b)
    return twice / 2


def needs_of(problem: PlacementProblem) -> list[IntArray]:
    """Return for each module, (5,), the supply that its rectangle must have."""
    return [needed_supply(module.demand, problem.fill) for module in problem.modules]


def overfull(problem: PlacementProblem, slot: Slot, modules: Sequence[PlacedModule]) -> str | None:
    """Say which resource the modules need more of than all rectangles in the slot can hold together, if any."""
    supply = supply_outside_keep_outs(problem.device, slot).as_tuple()
    need = sum((needed_supply(module.demand, problem.fill) for module in modules), np.zeros(5, dtype=np.int64))
    for name, have, wanted in zip(RESOURCE_NAMES, supply, need, strict=True):
        if wanted > have:
            return f"rectangles in {slot.name} hold at most {have} {name}, its modules need {wanted} at the given fill"
    return None


def fits_nowhere(problem: PlacementProblem, slot: Slot, module: PlacedModule, need: IntArray) -> str:
    """Say why a module without any legal rectangle in its slot cannot be placed."""
    have = supply_outside_keep_outs(problem.device, slot).as_dict()
    wanted = {name: int(amount) for name, amount in zip(RESOURCE_NAMES, need, strict=True) if amount}
    parts = ", ".join(f"{amount} {name} (the slot has {have[name]})" for name, amount in wanted.items())
    return f"no rectangle in {slot.name}, clear of keep-outs, holds what '{module.name}' needs alone: {parts}"


def _centre_range(low: int, high: int, size: int) -> tuple[int, int]:
    """Return twice the least and the largest centre of an interval of ``size`` within ``low..high``."""
    return 2 * low + size - 1, 2 * high - size + 1


def _least_twice_distance(a: Extent, b: Extent) -> int:
    apart_x = max(a.x2[0] - b.x2[1], b.x2[0] - a.x2[1], 0)
    apart_y = max(a.y2[0] - b.y2[1], b.y2[0] - a.y2[1], 0)
    beside = max(apart_x, a.columns + b.columns) + apart_y
    above = apart_x + max(apart_y, a.rows + b.rows)
    return min(beside, above)
