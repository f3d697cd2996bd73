"""First layouts for the search: several orders and corners, shelves, slicing, and repair of what is incomplete.

All modules are placed one by one first, each where its wires are shortest. Modules of slots that lie apart cannot meet,
so only slots that are not whole in any layout get more: each by itself, the fullest first, beside what is placed
elsewhere. Where one gets no room at all, nothing more is done for the others.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.placement.construction.packing import pack
from floorflow.placement.construction.shelves import MAX_SHELVES, bands_of, repair_by_ejection, shelves
from floorflow.placement.construction.slicing import sliced
from floorflow.placement.layout import (
    AREA_UNIT,
    CandidateRectangles,
    Keys,
    Layout,
    Occupied,
    SearchSpace,
    box_at,
    first_free,
    keys_of,
    net_arrays,
    parts_of,
    twice_hpwl,
)
from floorflow.placement.problem import Limits, PlacementProblem
from floorflow.placement.rectangles.candidate_rectangles import (
    BoolArray,
    IntArray,
    Raster,
    area_of,
    aspect_of,
    compact,
    sides_of,
)


def construct_greedily(
    space: SearchSpace, order: Sequence[int], anchor: tuple[int, int], start: Layout | None = None
) -> Layout:
    """Place the modules in order, each nearest to what it talks to; without wires, nearest to the anchor.

    ``anchor`` is twice a column and twice a row; ``start`` has what lies elsewhere. Modules that fit nowhere stay
    unplaced.
    """
    occupied = Occupied.by(space, Layout.empty(space.count) if start is None else start.copy())
    for module in order:
        candidates, layout = space.candidates[module], occupied.layout
        if layout.placed[space.wired[module]].any() or space.nets.pin_bits[module].any():
            keys = keys_of(space, layout, module, space.bits[module])
        else:
            x2, y2 = anchor
            x, y = np.abs(candidates.x.twice - x2), np.abs(candidates.y.twice - y2)
            keys = Keys(candidates, x * AREA_UNIT, y * AREA_UNIT)
        best = first_free(occupied, module, keys)
        if best is not None:
            occupied.put(module, box_at(candidates, best))
    return occupied.layout


Part = tuple[int, ...]
"""Modules that may meet one another and none of the others: those of one slot, or of slots that overlap."""

REPAIRS = 20
"""Ejections for each module of a part, at most."""

AT_ONCE = 40
"""Rounds of packing in which a draft most often is legal that can be."""

PASSES = 2
"""How often each part's layout is chosen anew beside those of the others."""


@dataclass(frozen=True)
class Construction:
    """What to search, first layouts, and the aspect that each module's rectangle may have.

    Layouts are complete, best first; there is none if the modules ``without_room`` (of one part) were not placed.
    """

    space: SearchSpace
    layouts: Sequence[Layout]
    aspects: Sequence[float | None]
    without_room: Part = ()


def construct_layouts(
    problem: PlacementProblem, rects: Sequence[IntArray], limits: Limits, rng: np.random.Generator
) -> Construction:
    """Construct layouts; ``rects`` are each module's narrowest rectangles.

    Aspects are freed part by part, where modules could not be placed.
    """
    builder = _Builder.of(problem, rects, limits, rng)
    layouts = [*_layouts_of_hints(problem, rects), *builder.one_by_one()]
    parts = sorted(builder.parts, key=builder.fullness, reverse=True)
    found = {part: _distinct(layouts, part) for part in parts}
    for part in parts:
        if not found[part]:
            best = min(layouts, key=lambda layout: _merit(builder.space, layout))
            layouts_of_part = builder.whole(part, best)
            found[part] = _distinct(layouts_of_part, part)
            if not found[part]:
                best = min(layouts_of_part, key=lambda layout: _merit(builder.space, layout))
                without_room = tuple(module for module in part if not best.placed[module])
                return Construction(builder.space, [], builder.aspects_in_force(), without_room)
    whole = [layout for layout in layouts if layout.complete]
    whole += [_composed(builder.space, layout, found) for layout in layouts]
    whole = list({layout.boxes.tobytes(): layout for layout in whole}.values())
    whole.sort(key=lambda layout: twice_hpwl(layout, builder.space.nets))
    return Construction(builder.space, whole, builder.aspects_in_force())


@dataclass
class _Builder:
    """Constructions, and how far aspects were freed for it: ``levels`` (n,) by module, positions in ``aspects``."""

    problem: PlacementProblem
    rects: Sequence[IntArray]
    limits: Limits
    rng: np.random.Generator
    space: SearchSpace
    aspects: Sequence[float | None]
    levels: list[int]

    @classmethod
    def of(
        cls, problem: PlacementProblem, rects: Sequence[IntArray], limits: Limits, rng: np.random.Generator
    ) -> "_Builder":
        """Start with compact rectangles; with free ones in a slot whose hints are not compact."""
        limit = problem.max_aspect
        aspects: list[float | None] = [None] if limit is None else [limit, 2 * limit, None]
        slots = [module.slot for module in problem.modules]
        free = {problem.modules[problem.index_of[name]].slot for name in _long_hints(problem)}
        levels = [len(aspects) - 1 if slot in free else 0 for slot in slots]
        raster_of = {slot.name: Raster.of(slot.region, problem.device) for slot in problem.slots}
        triples = zip(rects, levels, slots, strict=True)
        candidates = [
            CandidateRectangles.of(compact(legal, aspects[level]), raster_of[slot]) for legal, level, slot in triples
        ]
        space = SearchSpace(tuple(candidates), net_arrays(problem), may_overlap(problem))
        return cls(problem, rects, limits, rng, space, aspects, levels)

    @property
    def parts(self) -> list[Part]:
        return [tuple(part) for part in parts_of(self.space.may_overlap)]

    def fullness(self, part: Part) -> float:
        """Return what the smallest legal rectangles of a part take of its slots."""
        regions = {self.problem.slot_of[self.problem.modules[module].slot].region for module in part}
        least = sum(int(area_of(self.rects[module]).min()) for module in part)
        return least / sum(region.columns * region.rows for region in regions)

    def one_by_one(self) -> list[Layout]:
        """Place all modules one by one, in several orders and from several corners, where these make a difference."""
        pairs = [(order, anchor) for order in self._orders() for anchor in self._anchors(order)]
        return [construct_greedily(self.space, order, anchor) for order, anchor in pairs]

    def whole(self, part: Part, beside: Layout) -> list[Layout]:
        """Return layouts of a part beside what another has elsewhere; where none is whole, what was tried last."""
        beside = beside.copy()
        start = beside.copy()
        start.placed[list(part)] = False
        # Of a draft nothing is asked but that it is legal.
        packed = self._packed(part, start, AT_ONCE) if self.problem.draft else []
        if packed:
            return packed
        tried = [beside]
        while True:
            tried += self._shelved(part, start)
            if len(self._slots(part)) == 1:
                tried += [sliced(self.problem, order, self._aspects(), start) for order in self._orders(part)]
            whole = [layout for layout in tried if layout.placed[list(part)].all()]
            whole += self._repaired(part, [layout for layout in tried if not layout.placed[list(part)].all()])
            if whole:
                return whole
            if self.levels[part[0]] + 1 == len(self.aspects):
                return [*self._packed(part, start, self.limits.packing_rounds), *tried]
            candidates = list(self.space.candidates)
            for module in part:
                self.levels[module] += 1
                legal = compact(self.rects[module], self.aspects[self.levels[module]])
                candidates[module] = CandidateRectangles.of(legal, candidates[module].raster)
            self.space = SearchSpace(tuple(candidates), self.space.nets, self.space.may_overlap)
            pairs = [(order, anchor) for order in self._orders(part) for anchor in self._anchors(order)]
            tried = [construct_greedily(self.space, order, anchor, start) for order, anchor in pairs]

    def _shelved(self, part: Part, start: Layout) -> Iterator[Layout]:
        regions = [self.problem.slot_of[slot].region for slot in self._slots(part)]
        step = self.problem.device.row_step
        for count in range(1, MAX_SHELVES + 1):
            bands = [band for region in regions for band in bands_of(region.bottom, region.top, step, count)]
            for order in self._orders(part):
                yield shelves(self.space, order, bands, start)

    def _repaired(self, part: Part, partial: list[Layout]) -> Iterator[Layout]:
        """Repair layouts with the shortest wires among those that miss little: it is quick, and seldom fails there."""
        space = self.space

        def promise(layout: Layout) -> tuple[bool, int, int]:
            missing, length = _merit(space, layout)
            return int((~layout.placed[list(part)]).sum()) > len(part) // 10, length, missing

        rounds = min(self.limits.repair_rounds, REPAIRS * len(part))
        for layout in sorted(partial, key=promise)[: self.limits.repaired_starts]:
            repaired = repair_by_ejection(space, part, layout, rounds, self.rng)
            if repaired.placed[list(part)].all():
                yield repaired

    def _packed(self, part: Part, start: Layout, rounds: int) -> list[Layout]:
        """Return a part packed, if it is one slot's and that succeeds."""
        (slot, *others) = self._slots(part)
        if others:
            return []
        rects = [self.space.candidates[module].rects for module in part]
        boxes = pack(self.problem, slot, rects, rounds, self.rng)
        if boxes is None:
            return []
        layout = start.copy()
        layout.boxes[list(part)], layout.placed[list(part)] = boxes, True
        return [layout]

    def _slots(self, part: Part) -> list[str]:
        used = {self.problem.modules[module].slot for module in part}
        return [slot.name for slot in self.problem.slots if slot.name in used]

    def _aspects(self) -> list[float | None]:
        return [self.aspects[level] for level in self.levels]

    def aspects_in_force(self) -> list[float | None]:
        """Return each module's limit if some rectangle meets it; where none does, `compact` drops it."""
        return [
            aspect if aspect is not None and float(aspect_of(rects).min()) <= aspect else None
            for rects, aspect in zip(self.rects, self._aspects(), strict=True)
        ]

    def _orders(self, part: Sequence[int] | None = None) -> list[list[int]]:
        """Return module orders: along the dataflow, by strongest tie to pins and to those before, largest first."""
        space = self.space
        dataflow_order = list(range(space.count) if part is None else part)
        largest = sorted(dataflow_order, key=lambda module: -space.candidates[module].least_area)
        tied: list[int] = []
        waiting = dataflow_order.copy()
        while waiting:
            tie = space.bits[np.ix_(waiting, tied)].sum(axis=1) + space.nets.pin_bits[waiting].sum(axis=1)
            tied.append(waiting.pop(int(np.argmax(tie))))
        return [list(order) for order in dict.fromkeys(map(tuple, (dataflow_order, tied, largest)))]

    def _anchors(self, order: Sequence[int]) -> list[tuple[int, int]]:
        """Return twice the centre and the corners of what the slots cover; one if all modules of the order are tied."""
        regions = sides_of(slot.region for slot in self.problem.slots)
        left, bottom = regions[:, :2].min(axis=0).tolist()
        right, top = regions[:, 2:].max(axis=0).tolist()
        corners = [(2 * x, 2 * y) for x in (left, right) for y in (bottom, top)]
        bits = np.tril(self.space.bits[np.ix_(order, order)])
        tied = bits.any(axis=1) | self.space.nets.pin_bits[list(order)].any(axis=1)
        return [(left + right, bottom + top), *([] if tied.all() else corners)]


def _long_hints(problem: PlacementProblem) -> list[str]:
    """Return the modules whose hints are not compact."""
    limit = problem.max_aspect or np.inf
    return [name for name, rect in problem.hints.items() if float(aspect_of(sides_of([rect]))[0]) > limit]


def may_overlap(problem: PlacementProblem) -> BoolArray:
    """Return, (n, n), which pairs of different modules could overlap."""
    regions = [problem.slot_of[module.slot].region for module in problem.modules]
    meets = np.array([[a.overlaps(b) for b in regions] for a in regions], dtype=np.bool_)
    others: BoolArray = meets & ~np.eye(len(regions), dtype=np.bool_)
    return others


def _distinct(layouts: Sequence[Layout], part: Part) -> list[IntArray]:
    """Return the boxes, (k, 4) each, that layouts have for a part, where they have it whole."""
    rows = list(part)
    boxes = (layout.boxes[rows] for layout in layouts if layout.placed[rows].all())
    return list({each.tobytes(): each for each in boxes}.values())


def _composed(space: SearchSpace, start: Layout, found: Mapping[Part, Sequence[IntArray]]) -> Layout:
    """Return a layout made of what was found for each part: always what is best beside the others, from a start on."""
    layout = start.copy()
    for _, (part, choices) in itertools.product(range(PASSES), found.items()):
        rows, lengths = list(part), []
        layout.placed[rows] = True
        for boxes in choices:
            layout.boxes[rows] = boxes
            lengths.append(twice_hpwl(layout, space.nets))
        layout.boxes[rows] = choices[int(np.argmin(lengths))]
    return layout


def _layouts_of_hints(problem: PlacementProblem, rects: Sequence[IntArray]) -> list[Layout]:
    """Return the hints that hold their modules as a layout, if there are any; ``rects`` are each module's narrowest.

    A hint may be of before a module needed more.
    """
    layout = Layout.empty(len(problem.modules))
    for name, rect in problem.hints.items():
        module, box = problem.index_of[name], np.array(rect.as_tuple(), dtype=np.int64)
        if _holds_one(box, rects[module]):
            layout.put(module, box)
    return [layout] if problem.hints else []


def _holds_one(box: IntArray, rects: IntArray) -> bool:
    """Whether one of some rectangles, (n, 4), lies in a box, (4,)."""
    return bool(((rects[:, :2] >= box[:2]) & (rects[:, 2:] <= box[2:])).all(axis=1).any())


def _merit(space: SearchSpace, layout: Layout) -> tuple[int, int]:
    """Order layouts: unplaced area first, then wirelength."""
    missing = sum(space.candidates[module].least_area for module in np.flatnonzero(~layout.placed).tolist())
    return missing, twice_hpwl(layout, space.nets)
