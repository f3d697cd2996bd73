"""Where the modules of one FPGA lie, what their nets and candidates are and which of these are free.

Everything is counted in whole numbers (twice the distances).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from floorflow.placement.problem import PlacementProblem
from floorflow.placement.rectangles.candidate_rectangles import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    BoolArray,
    IntArray,
    Raster,
    Sums,
    area_of,
)


@dataclass(frozen=True)
class NetArrays:
    """Summed widths of wires, by module index.

    ``bits`` (n, n): between two modules, symmetric, diagonal 0. ``pins`` (p, 2): twice column and row of each pin.
    ``pin_bits`` (n, p): from a module to a pin. ``pairs`` (2, m) are the modules with wires between them and
    ``pair_bits`` (m,) their widths, each pair once. ``ends`` (2, k) and ``end_bits`` (k,) are the same with the wires
    to pins, which count as if they stood behind the modules.
    """

    bits: IntArray
    pins: IntArray
    pin_bits: IntArray
    pairs: IntArray
    pair_bits: IntArray
    ends: IntArray
    end_bits: IntArray

    @classmethod
    def of(cls, bits: IntArray, pins: IntArray, pin_bits: IntArray) -> NetArrays:
        """Return what follows from these three."""
        pairs = np.array(np.nonzero(np.triu(bits)), dtype=np.int64)
        pair_bits = bits[tuple(pairs)]
        module, pin = np.nonzero(pin_bits)
        every = np.concatenate((pairs, np.stack((module, pin + len(bits)))), axis=1)
        return cls(bits, pins, pin_bits, pairs, pair_bits, every, np.append(pair_bits, pin_bits[module, pin]))

    @cached_property
    def weights(self) -> npt.NDArray[np.float64]:
        """The widths of all ends, (k,), as fractions."""
        return self.end_bits.astype(np.float64)

    def twice_wire(self, places: npt.NDArray[np.float64]) -> float:
        """Return twice the wirelength of all ends at places (modules + pins, 2), given doubled."""
        first, second = self.ends
        return float(self.weights @ np.abs(places[first] - places[second]).sum(axis=1))


def net_arrays(problem: PlacementProblem) -> NetArrays:
    """Return the summed widths of a problem's wires; pins in order of their position."""
    count = len(problem.modules)
    pins = sorted({wire.pin for wire in problem.wires if wire.pin is not None})
    index_of_pin = {pin: index for index, pin in enumerate(pins)}
    bits, pin_bits = np.zeros((count, count), dtype=np.int64), np.zeros((count, len(pins)), dtype=np.int64)
    for wire in problem.wires:
        ends = [problem.index_of[name] for name in wire.modules]
        if wire.pin is not None:
            pin_bits[ends[0], index_of_pin[wire.pin]] += wire.width_bits
        elif ends[0] != ends[1]:
            bits[ends, ends[::-1]] += wire.width_bits
    places = np.array([(pin.x2, pin.y2) for pin in pins], dtype=np.int64).reshape(-1, 2)
    return NetArrays.of(bits, places, pin_bits)


AREA_UNIT = 1 << 24
"""More than any rectangle's area: wirelength counts first, area breaks ties."""

NEVER = np.iinfo(np.int64).max
"""Key of a candidate that must not be taken."""


@dataclass(frozen=True, eq=False)
class Centres:
    """Where the centres of candidates lie in one direction: ``twice`` (m,) the places, ``index`` (n,) that of each.

    Wirelength is a sum over both directions, so it is counted for the few places and looked up for the candidates.
    """

    twice: IntArray
    index: IntArray

    @classmethod
    def of(cls, twice: IntArray) -> Centres:
        """Find the places among twice the centres (n,)."""
        return cls(*np.unique(twice, return_inverse=True))

    def distances(self, weights: IntArray, twice: IntArray) -> IntArray:
        """Return, (m,), the sum of weights (k,) times twice the distance to points (k,)."""
        summed: IntArray = weights @ np.abs(self.twice - twice[:, None])
        return summed


@dataclass(frozen=True, eq=False)
class CandidateRectangles:
    """Candidate rectangles of one module, from left to right.

    ``rects`` (n, 4), the places ``x`` and ``y`` of their centres, ``area`` (n,), their ``corners`` on the ``raster``;
    ``first`` (n_places + 1,) is the first candidate at each place of x, then n.
    """

    rects: IntArray
    x: Centres
    y: Centres
    area: IntArray
    raster: Raster
    corners: IntArray
    first: IntArray

    @classmethod
    def of(cls, rects: IntArray, raster: Raster) -> CandidateRectangles:
        """Compute centres, areas and corners."""
        rects = rects[np.argsort(rects[:, LEFT] + rects[:, RIGHT], kind="stable")]
        x, y = Centres.of(rects[:, LEFT] + rects[:, RIGHT]), Centres.of(rects[:, BOTTOM] + rects[:, TOP])
        first = np.searchsorted(x.index, np.arange(len(x.twice) + 1))
        return cls(rects, x, y, area_of(rects), raster, raster.corners(rects), first)

    @cached_property
    def least_area(self) -> int:
        """Area of the smallest."""
        return int(self.area.min())

    def index_of(self, box: IntArray) -> int:
        """Return which candidate a box is, -1 if none."""
        found = np.flatnonzero((self.rects == box).all(axis=1))
        return int(found[0]) if len(found) else -1


@dataclass(frozen=True, eq=False)
class Keys:
    """The order of a module's candidates: by wirelength, then by area; ``x`` and ``y`` are the share of each place."""

    candidates: CandidateRectangles
    x: IntArray
    y: IntArray

    def at(self, some: IntArray | slice) -> IntArray:
        """Return the keys of some candidates."""
        candidates = self.candidates
        key = self.x.take(candidates.x.index[some])
        key += self.y.take(candidates.y.index[some])
        key += candidates.area[some]
        return key

    def of(self, one: int) -> int:
        """Return the key of a candidate."""
        candidates = self.candidates
        x, y = self.x.item(candidates.x.index.item(one)), self.y.item(candidates.y.index.item(one))
        return int(x + y + candidates.area.item(one))

    def up_to(self, highest: int) -> tuple[IntArray, IntArray]:
        """Return the candidates of at most such a key, given that there is one, and their keys."""
        columns = (self.x <= highest - self.y.min()).nonzero()[0]
        first, end = self.candidates.first.item(columns[0]), self.candidates.first.item(columns[-1] + 1)
        key = self.at(slice(first, end))
        near = (key <= highest).nonzero()[0]
        return near + first, key[near]


@dataclass(frozen=True)
class SearchSpace:
    """What is searched, by module index: candidate rectangles and nets.

    ``may_overlap`` (n, n): whether two modules can meet, which is so if their slots' regions overlap.
    """

    candidates: tuple[CandidateRectangles, ...]
    nets: NetArrays
    may_overlap: BoolArray

    @property
    def bits(self) -> IntArray:
        """Return, (n, n), the summed wire widths between two modules."""
        return self.nets.bits

    @cached_property
    def pin_keys(self) -> tuple[Keys, ...]:
        """Return for each module the order of its candidates by wirelength to pins alone."""
        pins = self.nets.pins
        return tuple(
            Keys(
                candidates,
                candidates.x.distances(bits * AREA_UNIT, pins[:, 0]),
                candidates.y.distances(bits * AREA_UNIT, pins[:, 1]),
            )
            for candidates, bits in zip(self.candidates, self.nets.pin_bits, strict=True)
        )

    @cached_property
    def wired(self) -> tuple[IntArray, ...]:
        """Return for each module the others that it has wires with."""
        return tuple(np.flatnonzero(bits) for bits in self.bits)

    @cached_property
    def rasters(self) -> tuple[Raster, ...]:
        """Return the rasters of the modules' slots, each once."""
        return tuple(dict.fromkeys(candidates.raster for candidates in self.candidates))

    @cached_property
    def rasters_met(self) -> tuple[tuple[Raster, ...], ...]:
        """Return for each module the rasters that its rectangle can take cells of."""
        return tuple(
            tuple(dict.fromkeys(self.candidates[other].raster for other in [module, *np.flatnonzero(row).tolist()]))
            for module, row in enumerate(self.may_overlap)
        )

    @property
    def count(self) -> int:
        """Number of modules."""
        return len(self.candidates)


@dataclass
class Layout:
    """Rectangles chosen so far: ``boxes`` (n, 4), valid where ``placed`` (n,). The search changes it in place."""

    boxes: IntArray
    placed: BoolArray

    @classmethod
    def empty(cls, count: int) -> Layout:
        """Return a layout of ``count`` modules with none placed."""
        return cls(np.zeros((count, 4), dtype=np.int64), np.zeros(count, dtype=np.bool_))

    def copy(self) -> Layout:
        """Return an independent copy."""
        return Layout(self.boxes.copy(), self.placed.copy())

    @property
    def complete(self) -> bool:
        """Whether every module has a rectangle."""
        return bool(self.placed.all())

    def put(self, module: int, box: IntArray) -> None:
        """Place a module."""
        self.boxes[module] = box
        self.placed[module] = True


@dataclass
class Occupied:
    """A layout, and of each slot the running sums of the cells that it takes."""

    space: SearchSpace
    layout: Layout
    sums: dict[Raster, Sums]

    @classmethod
    def by(cls, space: SearchSpace, layout: Layout) -> Occupied:
        """Start from a layout, which changes along."""
        occupied = cls(space, layout, {raster: raster.none() for raster in space.rasters})
        for module in np.flatnonzero(layout.placed).tolist():
            occupied.put(module, layout.boxes[module])
        return occupied

    def copy(self) -> Occupied:
        """Return an independent copy."""
        return Occupied(self.space, self.layout.copy(), self.sums.copy())

    def put(self, module: int, box: IntArray) -> None:
        """Place a module where nothing is."""
        self.layout.put(module, box)
        for raster in self.space.rasters_met[module]:
            self.sums[raster] = self.sums[raster] + raster.added(box)

    def take_out(self, module: int) -> None:
        """Take out a module that is placed."""
        self.layout.placed[module] = False
        for raster in self.space.rasters_met[module]:
            self.sums[raster] = self.sums[raster] - raster.added(self.layout.boxes[module])

    def meets(self, module: int, some: IntArray | None = None) -> BoolArray:
        """Return, (n,), whether some of a waiting module's candidates, or all, overlap one of those placed."""
        candidates = self.space.candidates[module]
        corners = candidates.corners if some is None else candidates.corners.take(some, axis=1)
        return candidates.raster.meets(self.sums[candidates.raster], corners)

    def is_free(self, module: int, one: int) -> bool:
        """Whether a candidate of a waiting module overlaps none of those placed."""
        candidates = self.space.candidates[module]
        return candidates.raster.is_free(self.sums[candidates.raster], candidates.corners, one)


def parts_of(may_overlap: BoolArray) -> list[list[int]]:
    """Return the groups of modules of which none can meet one of another group, by their first module.

    ``may_overlap`` (n, n) is that of a `SearchSpace`.
    """
    left, parts = set(range(len(may_overlap))), []
    while left:
        inside, waiting = set[int](), [min(left)]
        while waiting:
            module = waiting.pop()
            if module not in inside:
                inside.add(module)
                waiting += np.flatnonzero(may_overlap[module]).tolist()
        parts.append(sorted(inside))
        left -= inside
    return parts


def twice_hpwl(layout: Layout, nets: NetArrays) -> int:
    """Return twice the wirelength of the modules that are placed."""
    centres = np.concatenate((layout.boxes[:, :2] + layout.boxes[:, 2:], nets.pins))
    first, second = nets.ends
    distances = np.abs(centres[first] - centres[second])
    bits = nets.end_bits
    if not layout.placed.all():
        placed = np.append(layout.placed, np.ones(len(nets.pins), dtype=np.bool_))
        bits = bits * (placed[first] & placed[second])
    return int((bits @ distances).sum())


def keys_of(space: SearchSpace, layout: Layout, module: int, weights: IntArray) -> Keys:
    """Return the order of a module's candidates.

    Wirelength is bits times twice the distance to the pins and placed modules that it has wires with; ``weights`` (n,)
    stand for the bits to other modules.
    """
    keys = space.pin_keys[module]
    others = space.wired[module]
    others = others[layout.placed[others]]
    if not len(others):
        return keys
    boxes, bits = layout.boxes[others], weights[others] * AREA_UNIT
    centres = boxes[:, :2] + boxes[:, 2:]
    candidates = keys.candidates
    x, y = candidates.x.distances(bits, centres[:, 0]), candidates.y.distances(bits, centres[:, 1])
    return Keys(candidates, keys.x + x, keys.y + y)


def first_free(occupied: Occupied, module: int, keys: Keys, held: int = -1) -> int | None:
    """Return the candidate of least key that overlaps no placed module, or None.

    ``held`` is one that may be free, if any: what comes after one that is free need not be looked at.
    """
    if held >= 0 and occupied.is_free(module, held):
        near, key = keys.up_to(keys.of(held))
        key[occupied.meets(module, near)] = NEVER
        return int(near[key.argmin()])
    free = (~occupied.meets(module)).nonzero()[0]
    return int(free[keys.at(free).argmin()]) if len(free) else None


def box_at(candidates: CandidateRectangles, index: int | np.int64) -> IntArray:
    """Return, (4,), one candidate."""
    box: IntArray = candidates.rects[index]
    return box
