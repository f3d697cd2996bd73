"""First layouts for the search: several orders and corners, shelves, and repair of what is incomplete."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from floorflow.placement.candidate_rectangles import BoolArray, IntArray, aspect_of, compact, sides_of
from floorflow.placement.effort import Limits
from floorflow.placement.lns import CandidateRectangles, Layout, SearchSpace, construct_greedily, twice_hpwl
from floorflow.placement.net_arrays import net_arrays
from floorflow.placement.packing import pack
from floorflow.placement.problem import PlacementProblem
from floorflow.placement.raster import Raster
from floorflow.placement.shelves import MAX_SHELVES, bands_of, repair_by_ejection, shelves
from floorflow.placement.slicing import sliced


def construct_layouts(
    problem: PlacementProblem, rects: Sequence[IntArray], limits: Limits, rng: np.random.Generator
) -> tuple[SearchSpace, list[Layout], list[float | None]]:
    """Return what to search, first layouts, best first, and the aspect that each module's rectangle may have.

    Layouts are all complete, or none is. ``rects`` are each module's narrowest rectangles.
    Aspects are freed slot by slot, where modules could not be placed.
    """
    nets, may_overlap = net_arrays(problem), _may_overlap(problem)
    aspects: list[float | None] = (
        [None] if problem.max_aspect is None else [problem.max_aspect, 2 * problem.max_aspect, None]
    )
    level = _first_levels(problem, len(aspects) - 1)
    raster_of = {region: Raster.of(region, problem.device) for region in {slot.region for slot in problem.slots}}
    rasters = [raster_of[problem.slot_of[module.slot].region] for module in problem.modules]
    while True:
        aspects_allowed = [aspects[level[module.slot]] for module in problem.modules]
        triples = zip(rects, aspects_allowed, rasters, strict=True)
        candidates = (CandidateRectangles.of(compact(legal, aspect), raster) for legal, aspect, raster in triples)
        space = SearchSpace(tuple(candidates), nets, may_overlap)
        layouts = _layouts_in(problem, space, aspects_allowed, limits, rng)
        short = {module.slot for module, placed in zip(problem.modules, layouts[0].placed, strict=True) if not placed}
        tight = sorted(slot for slot in short if level[slot] + 1 < len(aspects))
        if not tight:
            layouts = _packed(problem, space, layouts, limits, rng)
            return space, layouts, [_aspect_in_force(*pair) for pair in zip(rects, aspects_allowed, strict=True)]
        level.update({slot: level[slot] + 1 for slot in tight})


def _first_levels(problem: PlacementProblem, free: int) -> dict[str, int]:
    """Start with compact rectangles everywhere; with free ones in a slot whose hints are not compact."""
    level = dict.fromkeys((module.slot for module in problem.modules), 0)
    limit = problem.max_aspect or np.inf
    for module in problem.modules:
        hint = problem.hints.get(module.name)
        if hint is not None and float(aspect_of(sides_of([hint]))[0]) > limit:
            level[module.slot] = free
    return level


def _aspect_in_force(rects: IntArray, max_aspect: float | None) -> float | None:
    """Return the limit if some rectangle meets it; where none does, `compact` drops it."""
    return max_aspect if max_aspect is not None and float(aspect_of(rects).min()) <= max_aspect else None


def _may_overlap(problem: PlacementProblem) -> BoolArray:
    """Return, (n, n), which pairs of different modules could overlap."""
    regions = [problem.slot_of[module.slot].region for module in problem.modules]
    meets = np.array([[a.overlaps(b) for b in regions] for a in regions], dtype=np.bool_)
    others: BoolArray = meets & ~np.eye(len(regions), dtype=np.bool_)
    return others


def _layouts_in(
    problem: PlacementProblem,
    space: SearchSpace,
    aspects: Sequence[float | None],
    limits: Limits,
    rng: np.random.Generator,
) -> list[Layout]:
    """Return the complete layouts, best first; if there is none, the incomplete ones."""
    orders = _orders(space)
    layouts = [construct_greedily(space, order, anchor) for order in orders for anchor in _anchors(problem)]
    for count in range(1, MAX_SHELVES + 1):
        bands = [
            band
            for slot in problem.slots
            for band in bands_of(slot.region.bottom, slot.region.top, problem.device.row_step, count)
        ]
        layouts += [shelves(space, order, bands) for order in orders]
    layouts += [sliced(problem, order, aspects) for order in orders]
    layouts = [*layouts, *_composed(problem, space, layouts)]
    partial = [layout for layout in layouts if not layout.complete]
    # The shortest wires among those that miss little: repair is quick, and seldom fails from there.
    partial.sort(key=lambda layout: (int((~layout.placed).sum()) > space.count // 10, _merit(space, layout)[::-1]))
    layouts += [
        repair_by_ejection(space, layout, limits.repair_rounds, rng) for layout in partial[: limits.repaired_starts]
    ]
    whole = {layout.boxes.tobytes(): layout for layout in layouts if layout.complete}
    return sorted(whole.values() or layouts, key=lambda layout: _merit(space, layout))


def _packed(
    problem: PlacementProblem,
    space: SearchSpace,
    layouts: list[Layout],
    limits: Limits,
    rng: np.random.Generator,
) -> list[Layout]:
    """Return the layouts, or where all are incomplete, the best one with every slot packed anew that lacks some."""
    best = layouts[0].copy()
    for slot in problem.slots:
        inside = [index for index, module in enumerate(problem.modules) if module.slot == slot.name]
        if best.placed[inside].all() or _has_neighbours(space, inside):
            continue
        rects = [space.candidates[module].rects for module in inside]
        boxes = pack(problem, slot.name, rects, limits.packing_rounds, rng)
        if boxes is None:
            return layouts
        best.boxes[inside], best.placed[inside] = boxes, True
    return [best] if best.complete and not layouts[0].complete else layouts


def _has_neighbours(space: SearchSpace, inside: list[int]) -> bool:
    """Whether modules can meet those of another slot."""
    others = np.ones(space.count, dtype=np.bool_)
    others[inside] = False
    return bool(space.may_overlap[inside][:, others].any())


def _composed(problem: PlacementProblem, space: SearchSpace, layouts: Sequence[Layout]) -> list[Layout]:
    """Return layouts made of the best that any layout, or the hints, have for each slot, where slots lie apart."""
    regions = [slot.region for slot in problem.slots]
    if any(a.overlaps(b) for a, b in itertools.combinations(regions, 2)):
        return []
    ranked = [*_layouts_of_hints(problem), *sorted(layouts, key=lambda layout: _merit(space, layout))]
    result = ranked[0].copy()
    for slot in problem.slots:
        inside = np.array([module.slot == slot.name for module in problem.modules], dtype=np.bool_)
        best = min(ranked, key=lambda layout: int((inside & ~layout.placed).sum()))
        result.boxes[inside], result.placed[inside] = best.boxes[inside], best.placed[inside]
    return [result]


def _layouts_of_hints(problem: PlacementProblem) -> list[Layout]:
    """Return the hints as a layout, if there are any."""
    layout = Layout.empty(len(problem.modules))
    for name, rect in problem.hints.items():
        layout.put(problem.index_of[name], np.array(rect.as_tuple(), dtype=np.int64))
    return [layout] if problem.hints else []


def _merit(space: SearchSpace, layout: Layout) -> tuple[int, int]:
    """Order layouts: unplaced area first, then wirelength."""
    missing = sum(space.candidates[module].least_area for module in np.flatnonzero(~layout.placed))
    return missing, twice_hpwl(layout, space.nets)


def _orders(space: SearchSpace) -> list[list[int]]:
    """Return module orders: along the dataflow, by strongest tie to pins and to those before, largest first."""
    dataflow_order = list(range(space.count))
    largest = sorted(dataflow_order, key=lambda module: -space.candidates[module].least_area)
    tied: list[int] = []
    waiting = dataflow_order.copy()
    while waiting:
        tie = space.bits[np.ix_(waiting, tied)].sum(axis=1) + space.nets.pin_bits[waiting].sum(axis=1)
        tied.append(waiting.pop(int(np.argmax(tie))))
    return [list(order) for order in dict.fromkeys(map(tuple, (dataflow_order, tied, largest)))]


def _anchors(problem: PlacementProblem) -> list[tuple[int, int]]:
    """Return twice the corners and the centre of what the slots cover."""
    regions = sides_of(slot.region for slot in problem.slots)
    left, bottom = regions[:, :2].min(axis=0).tolist()
    right, top = regions[:, 2:].max(axis=0).tolist()
    corners = [(2 * x, 2 * y) for x in (left, right) for y in (bottom, top)]
    return [*corners, (left + right, bottom + top)]
