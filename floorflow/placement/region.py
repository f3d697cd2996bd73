"""Reconfigurable regions: which rectangles of a die hold what is swapped, at the fewest frames to load.

Every rectangle that a region may have is listed: all intervals of units times all spans of clock-region rows. A search
over their choices is exact. Where there are no regions it is said what is short on the die, and by how much.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from floorflow.errors import InfeasibleError, LimitError, Refusal, sentence
from floorflow.hardware import Device, Rect, Slot, ranges
from floorflow.hardware.grid import IntArray
from floorflow.hardware.reconfigurable import PADDING_FRAMES, RegionGrid, bitstream_bytes, frame_facts, region_grid
from floorflow.request import HARD_FILL
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class RegionNeed:
    """A region by its name, and the most of each resource that anything loaded into it needs."""

    name: str
    resources: Resources


@dataclass(frozen=True)
class StaticPart:
    """Logic that stays while regions are loaded: DMA engines, a decoupler for each region, the port's controller."""

    name: str
    resources: Resources


@dataclass(frozen=True)
class RegionProblem:
    """Regions to be found on the slots of one FPGA.

    ``static`` is all logic outside of them; ``keep_outs`` are further rectangles that none may touch, such as the
    place where streams leave the die. ``fill`` is how full of each resource a region, or what is left beside all of
    them, may be: as a hard pblock with room.
    """

    device: Device
    slots: tuple[Slot, ...]
    needs: tuple[RegionNeed, ...]
    static: tuple[StaticPart, ...]
    keep_outs: tuple[Rect, ...] = ()
    fill: Mapping[str, float] = field(default_factory=lambda: dict(HARD_FILL))

    @cached_property
    def grid(self) -> RegionGrid:
        """The die in units and rows of clock regions."""
        shells = (rect for slot in self.slots for rect in slot.keep_outs)
        return region_grid(self.device, (*shells, *self.keep_outs))

    @cached_property
    def silicon(self) -> Resources:
        """What the slots hold beside their keep-outs."""
        kept = (self.device.resources(rect) for slot in self.slots for rect in slot.keep_outs)
        return total(slot.capacity for slot in self.slots) - total(kept)

    @property
    def static_need(self) -> Resources:
        """What all that stays needs."""
        return total(part.resources for part in self.static)

    def with_room(self, needed: Resources) -> IntArray:
        """Return the least supply in which something is not too full: (5,) int, in the order of `RESOURCE_NAMES`."""
        pairs = zip(needed.as_tuple(), (self.fill[name] for name in RESOURCE_NAMES), strict=True)
        return np.array([ceil(need / fill - 1e-9) for need, fill in pairs], dtype=np.int64)

    @property
    def most_swapped(self) -> IntArray:
        """The most that all regions together may take, so that the static part has room: (5,) int."""
        most: IntArray = np.array(self.silicon.as_tuple(), dtype=np.int64) - self.with_room(self.static_need)
        return most


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rectangles as arrays, one entry each.

    ``places`` (n, 4) int: first unit, last unit, lowest and highest row of clock regions; ``supply`` (n, 5) int is what
    a region gets there, and the static part loses; ``frames`` (n,) int.
    """

    places: IntArray
    supply: IntArray
    frames: IntArray

    def __len__(self) -> int:
        return len(self.places)

    @property
    def loaded(self) -> IntArray:
        """Frames with the padding of each row: (n,) int; what loading takes grows with it."""
        rows = self.places[:, 3] - self.places[:, 2] + 1
        loaded: IntArray = self.frames + 2 * PADDING_FRAMES * rows
        return loaded

    def only(self, chosen: NDArray[np.bool_] | IntArray) -> "Candidates":
        """Return some of them."""
        return Candidates(self.places[chosen], self.supply[chosen], self.frames[chosen])


def candidates(grid: RegionGrid) -> Candidates:
    """Return all legal rectangles: edges beside whole units, nothing inside that is closed, within one SLR."""
    parts = [part for first, last in grid.slr_rows for part in _of_slr(grid, first, last) if len(part)]
    if not parts:
        empty = np.zeros((0, 5), dtype=np.int64)
        return Candidates(empty[:, :4], empty, empty[:, 0])
    return Candidates(
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.supply for part in parts]),
        np.concatenate([part.frames for part in parts]),
    )


def _of_slr(grid: RegionGrid, lowest: int, highest: int) -> Iterator[Candidates]:
    for bottom in range(lowest, highest + 1):
        for top in range(bottom, highest + 1):
            yield _of_rows(grid, bottom, top)


def _of_rows(grid: RegionGrid, bottom: int, top: int) -> Candidates:
    """Return all legal intervals of units over some rows."""
    rows = slice(bottom, top + 1)
    edge = np.flatnonzero((grid.whole[rows] & grid.may_span[rows]).all(axis=0))
    first, last = (side.ravel() for side in np.meshgrid(edge, edge, indexing="ij"))
    barred: NDArray[np.bool_] = np.asarray((~grid.may_span[rows]).any(axis=0))
    closed = _sums(barred.astype(np.int64)[:, None])
    keep = (first <= last) & ((closed[last + 1] - closed[first])[:, 0] == 0)
    first, last = first[keep], last[keep]
    supply, frames = _sums(grid.supply[rows].sum(axis=0)), _sums(grid.frames[rows].sum(axis=0)[:, None])
    places = np.stack([first, last, np.full_like(first, bottom), np.full_like(first, top)], axis=1)
    return Candidates(places, supply[last + 1] - supply[first], (frames[last + 1] - frames[first])[:, 0])


def _sums(values: IntArray) -> IntArray:
    """Return the sums before each unit, and of all: (units + 1, n) int."""
    sums: IntArray = np.concatenate([np.zeros((1, values.shape[1]), dtype=np.int64), values.cumsum(axis=0)])
    return sums


def smallest(found: Candidates) -> Candidates:
    """Return those that hold no other one of them, by fewest frames: the others are of no use."""
    order = np.lexsort((*found.places.T[::-1], found.loaded))
    found = found.only(order)
    kept: list[int] = []
    a = found.places
    for number in range(len(found)):
        inside = a[kept] if kept else a[:0]
        first, last, bottom, top = a[number]
        holds = (inside[:, 0] >= first) & (inside[:, 1] <= last) & (inside[:, 2] >= bottom) & (inside[:, 3] <= top)
        if not holds.any():
            kept.append(number)
    return found.only(np.array(kept, dtype=np.int64))


Told = tuple[str, str, tuple[Refusal, ...]]
"""Message, hint and refusals of an InfeasibleError."""


def refusal_alone(problem: RegionProblem, need: RegionNeed, every: Candidates) -> Told:
    """Return why no rectangle holds one region beside the static part."""
    place = f"region {need.name} of {problem.device.part}"
    static = _shortage(problem, place)
    if static:
        return _told(static)
    wanted = problem.with_room(need.resources)
    left = every.only(np.asarray((every.supply <= problem.most_swapped).all(axis=1)))
    most = left.supply.max(axis=0) if len(left) else np.zeros(5, dtype=np.int64)
    short = [
        Refusal("slot", name, place, int(want), int(have), proven=True)
        for name, want, have in zip(RESOURCE_NAMES, wanted, most, strict=True)
        if want > have
    ]
    return _told(tuple(short) or (_closest(place, wanted, left),))


def _shortage(problem: RegionProblem, place: str) -> tuple[Refusal, ...]:
    """Return what the static part alone is short of."""
    needed, held = problem.with_room(problem.static_need), problem.silicon.as_tuple()
    return tuple(
        Refusal("slot", name, f"static part beside {place}", int(want), have, proven=True)
        for name, want, have in zip(RESOURCE_NAMES, needed, held, strict=True)
        if want > have
    )


def _closest(place: str, wanted: np.ndarray, left: Candidates) -> Refusal:
    """Return what the rectangle that comes closest is short of, where each resource by itself would do."""
    share = np.where(wanted > 0, left.supply / np.maximum(wanted, 1), np.inf)
    number = int(share.min(axis=1).argmax())
    scarce = int(share[number].argmin())
    amounts = int(wanted[scarce]), int(left.supply[number, scarce])
    return Refusal("slot", RESOURCE_NAMES[scarce], f"{place}, the rectangle that comes closest", *amounts, proven=True)


def refusal_together(problem: RegionProblem, frames: int) -> Told:
    """Return why regions that each have a rectangle have none together."""
    place = f"regions {', '.join(need.name for need in problem.needs)} of {problem.device.part}"
    wanted = np.sum([problem.with_room(need.resources) for need in problem.needs], axis=0)
    short = [
        Refusal("slot", name, place, int(want), int(have), proven=True)
        for name, want, have in zip(RESOURCE_NAMES, wanted, problem.most_swapped, strict=True)
        if want > have
    ]
    if short:
        return _told(tuple(short))
    message = f"proven infeasible: {place}: each has a rectangle, but no choice of them is disjoint and leaves the rest"
    return f"{message} its room (at least {frames:,} frames)", "fewer or smaller regions", ()


def _told(refusals: tuple[Refusal, ...]) -> Told:
    hint = "a larger device, smaller chunks, or a smaller static part"
    short = "; ".join(f"{r.resource} {int((r.needed or 0) - (r.allowed or 0)):,} short" for r in refusals)
    return f"proven infeasible: no rectangle is left: {sentence(*refusals)} ({short})", hint, refusals


METHOD = "all rectangles of units and clock regions"
MOST_CHOICES = 200_000
"""Choices that are tried at most; one region is never stopped by it."""


@dataclass(frozen=True)
class ChosenRegion:
    """A region where it lies. ``owned``: what of it its pblock covers, in which all that is loaded must lie.

    ``bytes`` is what is loaded at most; ``assumed``: frames of the family are not documented.
    """

    need: RegionNeed
    rect: Rect
    owned: tuple[Rect, ...]
    ranges: tuple[str, ...]
    supply: Resources
    frames: int
    bytes: int
    assumed: bool
    snapping_mode: str
    reset_after_reconfig: bool

    @property
    def name(self) -> str:
        """The region's name."""
        return self.need.name


@dataclass(frozen=True)
class RegionChoice:
    """Regions in the order of the needs; ``static_left`` lies outside of all; ``stats`` is of padded frames."""

    regions: tuple[ChosenRegion, ...]
    static_need: Resources
    static_left: Resources
    stats: SolveStats


def choose_regions(problem: RegionProblem, most_choices: int = MOST_CHOICES) -> RegionChoice:
    """Return disjoint regions that hold their needs with room, leave the static part its own, and load fastest.

    Raises InfeasibleError if it is proven that there are none; it says what is short by how much; LimitError if none
    were found among ``most_choices`` choices.
    """
    every = candidates(problem.grid)
    left = (every.supply <= problem.most_swapped).all(axis=1)
    options = []
    for need in problem.needs:
        wanted = problem.with_room(need.resources)
        enough: NDArray[np.bool_] = np.asarray(left & (every.supply >= wanted).all(axis=1))
        if not enough.any():
            raise InfeasibleError(*refusal_alone(problem, need, every))
        options.append(smallest(every.only(enough)))
    search = _Search(problem, options, most_choices)
    search.run()
    if search.best is None:
        if search.tried > most_choices:
            raise LimitError(f"no {len(options)} disjoint regions found among {most_choices:,} choices")
        raise InfeasibleError(*refusal_together(problem, sum(int(o.loaded.min()) for o in options)))
    objective = float(search.frames)
    bound = float(search.bound if search.tried > most_choices else search.frames)
    stats = SolveStats(METHOD, "optimal" if bound == objective else "feasible", objective, bound)
    chosen = [option.only(np.array([number])) for option, number in zip(options, search.best, strict=True)]
    regions = tuple(_region(problem, need, one) for need, one in zip(problem.needs, chosen, strict=True))
    taken = sum((one.supply[0] for one in chosen), np.zeros(5, dtype=np.int64))
    silicon = np.array(problem.silicon.as_tuple(), dtype=np.int64)
    return RegionChoice(regions, problem.static_need, Resources(*(silicon - taken).tolist()), stats)


@dataclass
class _Search:
    """Depth first over regions, the one with the fewest rectangles first, each by its frames."""

    problem: RegionProblem
    options: list[Candidates]
    most: int
    frames: int = np.iinfo(np.int64).max
    best: list[int] | None = None
    tried: int = 0
    bound: int = 0
    _order: list[int] = field(default_factory=list)
    _rest: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Find the choice of fewest frames, or stop after ``most`` choices."""
        self._order = sorted(range(len(self.options)), key=lambda n: len(self.options[n]))
        least = [int(self.options[n].loaded.min()) for n in self._order]
        self._rest = [sum(least[depth:]) for depth in range(len(least) + 1)]
        self.bound = self._rest[0]
        self._extend([], 0, np.zeros(5, dtype=np.int64))

    def _extend(self, chosen: list[int], frames: int, taken: IntArray) -> None:
        depth = len(chosen)
        if depth == len(self._order):
            self.frames = frames
            self.best = [chosen[self._order.index(n)] for n in range(len(self._order))]
            return
        option = self.options[self._order[depth]]
        free = (option.supply + taken <= self.problem.most_swapped).all(axis=1)
        for other, number in zip(self._order, chosen, strict=False):
            free &= apart(option.places, self.options[other].places[number])
        for number in np.flatnonzero(free).tolist():
            self.tried += 1
            more = int(option.loaded[number])
            if frames + more + self._rest[depth + 1] >= self.frames or self.tried > self.most:
                return  # rectangles are in the order of their frames
            self._extend([*chosen, number], frames + more, taken + option.supply[number])


def apart(places: IntArray, other: IntArray) -> np.ndarray:
    """Return which rectangles share no unit in a row of clock regions with another: no frame is of two regions."""
    beside = (places[:, 0] > other[1]) | (places[:, 1] < other[0])
    above = (places[:, 2] > other[3]) | (places[:, 3] < other[2])
    return np.asarray(beside | above)


def _region(problem: RegionProblem, need: RegionNeed, one: Candidates) -> ChosenRegion:
    grid, device = problem.grid, problem.device
    first, last, bottom, top = one.places[0].tolist()
    owned = grid.owned_rectangles(first, last, bottom, top)
    is_series_7 = device.architecture == "7series"
    gap = not grid.whole[bottom : top + 1, first : last + 1].all()
    frames = int(one.frames[0])
    return ChosenRegion(
        need=need,
        rect=grid.rect(first, last, bottom, top),
        owned=owned,
        ranges=ranges(device, *owned),
        supply=Resources(*one.supply[0].tolist()),
        frames=frames,
        bytes=bitstream_bytes(device, frames, top - bottom + 1),
        assumed=frame_facts(device).assumed,
        snapping_mode="ROUTING" if is_series_7 and gap else "ON",
        reset_after_reconfig=is_series_7,
    )
