"""The regions that take the fewest frames to load: exact, by all rectangles of each and a search over their choices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from floorflow.errors import InfeasibleError, LimitError
from floorflow.hardware import Rect, ranges
from floorflow.hardware.grid import IntArray
from floorflow.hardware.reconfigurable import bitstream_bytes, frame_facts
from floorflow.placement.region.candidates import Candidates, candidates, smallest
from floorflow.placement.region.infeasible import refusal_alone, refusal_together
from floorflow.placement.region.problem import RegionNeed, RegionProblem
from floorflow.resources import Resources
from floorflow.stats import SolveStats

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

    Raises
    ------
    InfeasibleError
        If it is proven that there are none; it says what is short by how much.
    LimitError
        If none were found among ``most_choices`` choices.

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
