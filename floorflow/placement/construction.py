"""First layouts for the search: several orders and corners, shelves, and repair of what is incomplete."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from floorflow.placement.candidate_rectangles import BoolArray, IntArray, aspect_of, compact, sides_of
from floorflow.placement.effort import Limits
from floorflow.placement.lns import Layout, SearchSpace, Shapes, construct, twice_hpwl
from floorflow.placement.net_arrays import wiring_of
from floorflow.placement.problem import PlacementProblem
from floorflow.placement.raster import Raster
from floorflow.placement.shelves import MAX_SHELVES, bands_of, make_room, shelves
from floorflow.placement.slicing import sliced


def find_starts(
    problem: PlacementProblem, rects: Sequence[IntArray], limits: Limits, rng: np.random.Generator
) -> tuple[SearchSpace, list[Layout], list[float | None]]:
    """Return what to search on, layouts, best first, and the aspect that each module's rectangle may have.

    Layouts are all complete, or none where nothing was found. ``rects`` are each module's narrowest rectangles.
    Shapes are freed slot by slot, where modules found no room.
    """
    wiring, rivals = wiring_of(problem), _rivals(problem)
    aspects: list[float | None] = (
        [None] if problem.max_aspect is None else [problem.max_aspect, 2 * problem.max_aspect, None]
    )
    level = _first_levels(problem, len(aspects) - 1)
    step = problem.device.row_step
    rasters = [Raster.of(problem.slot_of[module.slot].region, step) for module in problem.modules]
    while True:
        allowed = [aspects[level[module.slot]] for module in problem.modules]
        triples = zip(rects, allowed, rasters, strict=True)
        shapes = (Shapes.of(compact(legal, aspect), raster) for legal, aspect, raster in triples)
        field = SearchSpace(tuple(shapes), wiring, rivals)
        starts = _attempts(problem, field, allowed, limits, rng)
        short = {module.slot for module, placed in zip(problem.modules, starts[0].placed, strict=True) if not placed}
        tight = sorted(slot for slot in short if level[slot] + 1 < len(aspects))
        if not tight:
            return field, starts, [_kept(*pair) for pair in zip(rects, allowed, strict=True)]
        level.update({slot: level[slot] + 1 for slot in tight})


def _first_levels(problem: PlacementProblem, free: int) -> dict[str, int]:
    """Start with compact shapes everywhere; with free ones in a slot whose hints are not compact."""
    level = dict.fromkeys((module.slot for module in problem.modules), 0)
    limit = problem.max_aspect or np.inf
    for module in problem.modules:
        hint = problem.hints.get(module.name)
        if hint is not None and float(aspect_of(sides_of([hint]))[0]) > limit:
            level[module.slot] = free
    return level


def _kept(rects: IntArray, max_aspect: float | None) -> float | None:
    """Return the limit if some rectangle meets it; where none does, `compact` drops it."""
    return max_aspect if max_aspect is not None and float(aspect_of(rects).min()) <= max_aspect else None


def _rivals(problem: PlacementProblem) -> BoolArray:
    """Return, (n, n), which pairs of different modules could overlap."""
    regions = [problem.slot_of[module.slot].region for module in problem.modules]
    meets = np.array([[a.overlaps(b) for b in regions] for a in regions], dtype=np.bool_)
    others: BoolArray = meets & ~np.eye(len(regions), dtype=np.bool_)
    return others


def _attempts(
    problem: PlacementProblem,
    field: SearchSpace,
    aspects: Sequence[float | None],
    limits: Limits,
    rng: np.random.Generator,
) -> list[Layout]:
    """Return the complete layouts, best first; if there is none, the incomplete ones."""
    orders = _orders(field)
    layouts = [construct(field, order, anchor) for order in orders for anchor in _anchors(problem)]
    for count in range(1, MAX_SHELVES + 1):
        bands = [
            band
            for slot in problem.slots
            for band in bands_of(slot.region.bottom, slot.region.top, problem.device.row_step, count)
        ]
        layouts += [shelves(field, order, bands) for order in orders]
    layouts += [sliced(problem, order, aspects) for order in orders]
    layouts = [*layouts, *_composed(problem, field, layouts)]
    partial = [layout for layout in layouts if not layout.complete]
    # The shortest wires among those that miss little: repair is quick, and seldom fails from there.
    partial.sort(key=lambda layout: (int((~layout.placed).sum()) > field.count // 10, _merit(field, layout)[::-1]))
    layouts += [make_room(field, layout, limits.repair_rounds, rng) for layout in partial[: limits.repaired_starts]]
    whole = {layout.boxes.tobytes(): layout for layout in layouts if layout.complete}
    return sorted(whole.values() or layouts, key=lambda layout: _merit(field, layout))


def _composed(problem: PlacementProblem, field: SearchSpace, layouts: Sequence[Layout]) -> list[Layout]:
    """Return layouts made of the best that any layout, or the hints, have for each slot, where slots lie apart."""
    regions = [slot.region for slot in problem.slots]
    if any(a.overlaps(b) for a, b in itertools.combinations(regions, 2)):
        return []
    ranked = [*_hinted(problem), *sorted(layouts, key=lambda layout: _merit(field, layout))]
    result = ranked[0].copy()
    for slot in problem.slots:
        inside = np.array([module.slot == slot.name for module in problem.modules], dtype=np.bool_)
        best = min(ranked, key=lambda layout: int((inside & ~layout.placed).sum()))
        result.boxes[inside], result.placed[inside] = best.boxes[inside], best.placed[inside]
    return [result]


def _hinted(problem: PlacementProblem) -> list[Layout]:
    """Return the hints as a layout, if there are any."""
    layout = Layout.empty(len(problem.modules))
    for name, rect in problem.hints.items():
        layout.put(problem.index_of[name], np.array(rect.as_tuple(), dtype=np.int64))
    return [layout] if problem.hints else []


def _merit(field: SearchSpace, layout: Layout) -> tuple[int, int]:
    """Order layouts: unplaced area first, then wirelength."""
    missing = sum(int(field.shapes[module].area.min()) for module in np.flatnonzero(~layout.placed))
    return missing, twice_hpwl(layout, field.wiring)


def _orders(field: SearchSpace) -> list[list[int]]:
    """Return module orders: as given (dataflow), by strongest tie to pins and to those before, largest first."""
    given = list(range(field.count))
    largest = sorted(given, key=lambda module: -int(field.shapes[module].area.min()))
    tied: list[int] = []
    waiting = given.copy()
    while waiting:
        tie = field.bits[np.ix_(waiting, tied)].sum(axis=1) + field.wiring.pin_bits[waiting].sum(axis=1)
        tied.append(waiting.pop(int(np.argmax(tie))))
    return [list(order) for order in dict.fromkeys(map(tuple, (given, tied, largest)))]


def _anchors(problem: PlacementProblem) -> list[tuple[int, int]]:
    """Return twice the corners and the centre of what the slots cover."""
    regions = sides_of(slot.region for slot in problem.slots)
    left, bottom = regions[:, :2].min(axis=0).tolist()
    right, top = regions[:, 2:].max(axis=0).tolist()
    corners = [(2 * x, 2 * y) for x in (left, right) for y in (bottom, top)]
    return [*corners, (left + right, bottom + top)]
