"""What can be proven without a search: lower bounds of the wirelength, and that nothing fits.

Bounds hold for every legal rectangle of the aspect that is allowed, whether a search looked at it or not. A module's
rectangle is at least as wide as the narrowest of any span of rows, and at least as high as the lowest that holds it,
clear of keep-outs. Two rectangles that do not overlap lie apart in columns or in rows, so their centres are at least
half the sum of their sides apart there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.errors import Refusal
from floorflow.hardware.free_region import free_supply
from floorflow.hardware.slots import Slot
from floorflow.placement.problem import PlacedModule, PlacementProblem
from floorflow.placement.rectangles.candidate_rectangles import BoolArray, IntArray, SlotGrid, narrowest, needed_supply
from floorflow.resources import RESOURCE_NAMES


@dataclass(frozen=True, slots=True)
class Extent:
    """Least size of a module's rectangle, and twice the range of its centre in columns (x) and rows (y)."""

    columns: int
    rows: int
    x2: tuple[int, int]
    y2: tuple[int, int]


@dataclass(frozen=True)
class Legal:
    """Legal rectangles of a module on a grid: for each span and left edge the right columns ``low..high``.

    ``low`` and ``high`` (n_span, n_left) count where ``allowed`` (n_span, n_left); some rectangle is allowed. Not every
    column between is a legal edge.
    """

    grid: SlotGrid
    low: IntArray
    high: IntArray
    allowed: BoolArray


def legal_rectangles(grid: SlotGrid, need: IntArray, max_aspect: float | None) -> Legal:
    """Return the rectangles that hold enough, meet no keep-out and have at most that aspect (None: of any shape).

    ``grid`` must hold every legal span.
    """
    index = narrowest(grid, need)
    rows = (grid.spans[:, 1] - grid.spans[:, 0] + 1)[:, None]
    low = grid.rights[np.minimum(index, len(grid.rights) - 1)]
    high = np.full_like(low, grid.rights[-1])
    for left, bottom, right, top in grid.keep_outs.tolist():
        met = (grid.spans[:, 0] <= top) & (grid.spans[:, 1] >= bottom)
        high[np.ix_(met, grid.lefts <= right)] = np.minimum(high[np.ix_(met, grid.lefts <= right)], left - 1)
    if max_aspect is not None:
        # A span that is too high for its narrowest rectangle takes a wider one; one too low takes none at all.
        low = np.maximum(low, grid.lefts + np.ceil(rows / max_aspect).astype(np.int64) - 1)
        high = np.minimum(high, grid.lefts + np.floor(rows * max_aspect).astype(np.int64) - 1)
    return Legal(grid, low, high, (index < len(grid.rights)) & (low <= high))


def narrowest_rectangles(legal: Legal) -> IntArray:
    """Return, (n, 4), the narrowest rectangle of each span and left edge that has one."""
    grid = legal.grid
    right = grid.rights[np.minimum(np.searchsorted(grid.rights, legal.low), len(grid.rights) - 1)]
    span, left = np.nonzero(legal.allowed & (right >= legal.low) & (right <= legal.high))
    return np.column_stack((grid.lefts[left], grid.spans[span, 0], right[span, left], grid.spans[span, 1]))


def extent_of(legal: Legal) -> Extent:
    """Return the least sizes and the centre range of a module's legal rectangles."""
    grid, allowed = legal.grid, legal.allowed
    spans = grid.spans[allowed.any(axis=1)]
    narrow, wide = (legal.low + grid.lefts)[allowed], (legal.high + grid.lefts)[allowed]
    return Extent(
        columns=int((legal.low - grid.lefts + 1)[allowed].min()),
        rows=int((spans[:, 1] - spans[:, 0] + 1).min()),
        x2=(int(narrow.min()), int(wide.max())),
        y2=(int(spans.sum(axis=1).min()), int(spans.sum(axis=1).max())),
    )


def least_cells(legal: Legal) -> int:
    """Return the least columns times rows of a module's legal rectangles."""
    rows = legal.grid.spans[:, 1] - legal.grid.spans[:, 0] + 1
    return int(((legal.low - legal.grid.lefts + 1) * rows[:, None])[legal.allowed].min())


def pin_bound(legal: Legal, pins: IntArray, bits: IntArray) -> float:
    """Return the least sum over pins of bits times distance that the module's legal rectangles can have.

    ``pins`` (p, 2) are twice columns and rows. For one span and left edge the sum is least where the centre is at the
    pins' weighted median, or next to it.
    """
    if not bits.any():
        return 0.0
    order = np.argsort(pins[:, 0], kind="stable")
    median = pins[order[np.searchsorted(np.cumsum(bits[order]), bits.sum() / 2)], 0]
    lefts = legal.grid.lefts
    x2 = np.clip(median, lefts + legal.low, lefts + np.maximum(legal.low, legal.high))
    y2 = legal.grid.spans.sum(axis=1)[:, None]
    twice = sum(width * (np.abs(x2 - x) + np.abs(y2 - y)) for (x, y), width in zip(pins, bits, strict=True))
    return float(np.asarray(twice)[legal.allowed].min()) / 2


def needs_of(problem: PlacementProblem) -> list[IntArray]:
    """Return for each module, (5,), the supply that its rectangle must have."""
    return [need_of(problem, module) for module in problem.modules]


def need_of(problem: PlacementProblem, module: PlacedModule) -> IntArray:
    """Return, (5,), the supply that a module's rectangle must have."""
    if module.supply is not None:
        return np.array(module.supply.as_tuple(), dtype=np.int64)
    return needed_supply(module.demand, problem.fill)


def overfull(problem: PlacementProblem, slot: Slot, modules: Sequence[PlacedModule]) -> Refusal | None:
    """Say which resource the modules need more of than all rectangles in the slot can hold together, if any."""
    supply = free_supply(problem.device, slot).as_tuple()
    need = sum((need_of(problem, module) for module in modules), np.zeros(5, dtype=np.int64))
    for name, have, wanted in zip(RESOURCE_NAMES, supply, need, strict=True):
        if wanted > have:
            names = tuple(module.name for module in modules)
            return Refusal("slot rectangles", name, slot.name, int(wanted), have, proven=True, names=names)
    return None


def fits_nowhere(problem: PlacementProblem, slot: Slot, module: PlacedModule, need: IntArray) -> Refusal:
    """Say why a module without any legal rectangle in its slot cannot be placed."""
    have = free_supply(problem.device, slot).as_dict()
    wanted = {name: int(amount) for name, amount in zip(RESOURCE_NAMES, need, strict=True)}
    scarcest = max(wanted, key=lambda name: wanted[name] / max(1, have[name]))
    return Refusal(
        "no rectangle", scarcest, slot.name, wanted[scarcest], have[scarcest], proven=True, names=(module.name,)
    )


def least_twice_distance(a: Extent, b: Extent) -> int:
    """Return twice the least distance of the centres of two rectangles that do not overlap."""
    apart_x = max(a.x2[0] - b.x2[1], b.x2[0] - a.x2[1], 0)
    apart_y = max(a.y2[0] - b.y2[1], b.y2[0] - a.y2[1], 0)
    beside = max(apart_x, a.columns + b.columns) + apart_y
    above = apart_x + max(apart_y, a.rows + b.rows)
    return min(beside, above)
