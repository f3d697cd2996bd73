"""The dynamic program over cuts: segments side by side in spaces, one space after the other in their given order.

At one interval each space takes a contiguous part of the order, or nothing. Positions run from 0, before the first
part, to the count of parts; ``reach`` of a position in a space is the furthest position up to which the space can
take what follows. Taking all that a space can hold is best where a longer segment never fits better than a shorter
one. That is nearly always so, and never taken for granted: `Relaxation` bounds what any longer segment can save.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from floorflow.errors import Refusal
from floorflow.folding import RATIO, shortest_interval
from floorflow.segments.problems import Segments, Space
from floorflow.segments.relaxation import Reaches, Relaxation
from floorflow.segments.table import SegmentTable

Passes = Callable[[int, int, int], bool]
Ends = tuple[int, int]
MISSES = 3
"""Refusals after which the way to the furthest position is bisected."""


@dataclass(frozen=True)
class CutFound:
    """A cut with which every space meets the interval.

    ``parts``: for each space the first and the last part of the order that it takes, or None where it stays empty.
    """

    interval_cycles: int
    parts: tuple[Ends | None, ...]


@dataclass(frozen=True)
class CutRefused:
    """Why no cut meets the interval: ``reached`` is the first part that does not fit, in space ``place``.

    ``refusal`` is what stopped that space; None where no cut lets enough through. ``proven``: no cut exists at all.
    """

    interval_cycles: int
    reached: int
    place: int
    refusal: Refusal | None
    proven: bool = True


class Cuts:
    """The cuts of one order into ``spaces``, in the order in which the segments fill them.

    ``passes(position, place, interval_cycles)`` says whether the cut before part ``position`` (neither the first nor
    the count of parts) may lie between space ``place`` and the next: links and wires (default: always; longer
    intervals must not let less through). ``guess`` are the parts of another cut of the same order, near which to look.
    """

    def __init__(
        self,
        segments: Segments,
        spaces: Sequence[Space],
        table: SegmentTable,
        passes: Passes | None = None,
        guess: Sequence[Ends | None] = (),
    ) -> None:
        self.segments, self.table = segments, table
        self.spaces = _shared(spaces)
        self.count = len(segments.order)
        self._allowed = passes
        self.relaxation = Relaxation(segments, table)
        self._answers: dict[int, CutFound | CutRefused] = {}
        self._near = _ends(guess, len(self.spaces), self.count)

    def at(self, interval_cycles: int) -> CutFound | CutRefused:
        """Return a cut with which every space meets the interval, or why there is none."""
        if interval_cycles not in self._answers:
            answer = _At(self, interval_cycles, self._near).answer()
            self._answers[interval_cycles] = answer
            if isinstance(answer, CutFound):
                self._near = _ends(answer.parts, len(self.spaces), self.count)
        return self._answers[interval_cycles]

    def shortest(self, intervals: Sequence[int], start: int = 0) -> CutFound | CutRefused:
        """Return the cut of the shortest of ascending intervals that has one, or why the longest has none.

        ``start``: an index below which nothing need be tried. What refuses the interval before it `at` tells.
        """
        found = shortest_interval(intervals, lambda t: isinstance(self.at(t), CutFound), start, ratio=RATIO)
        return self.at(intervals[-1 if found is None else found])

    def passes(self, position: int, place: int, interval_cycles: int) -> bool:
        """Whether a cut may lie there; the ends of the network and the last space's end always may."""
        ends = position in (0, self.count) or place == len(self.spaces) - 1
        return ends or self._allowed is None or self._allowed(position, place, interval_cycles)


class _At:
    """The question for one interval."""

    def __init__(self, cuts: Cuts, interval_cycles: int, near: Sequence[int]) -> None:
        self.cuts, self.interval, self.near = cuts, interval_cycles, near
        self.last = len(cuts.spaces)
        self.bound = Reaches(cuts.relaxation, interval_cycles)
        self.unknown = False
        self._dead: set[Ends] = set()
        self._hopeless = [-1] * (self.last + 1)
        self._hopeful = [cuts.count] * (self.last + 1)

    def answer(self) -> CutFound | CutRefused:
        ends = self._greedy()
        if ends[-1] == self.cuts.count:
            return self._found(ends)
        if not self._is_hopeless(0, 0):
            better = self._search(0, 0)
            if better is not None:
                return self._found(better)
        return self._refused(ends)

    def _greedy(self) -> list[int]:
        """Return where each space ends if each takes as much as it can and the cut may lie there."""
        ends: list[int] = []
        position = 0
        for place in range(self.last):
            furthest = self._furthest(position, place)
            while furthest > position and not self._may_end(position, furthest, place):
                furthest -= 1
            position = furthest
            ends.append(position)
        return ends

    def _furthest(self, position: int, place: int) -> int:
        """Return a position up to which the space can take what follows: nearly always the furthest.

        Each refusal tells by its prices how much too far that was, so that the way down is short.
        """
        space = self.cuts.spaces[place]
        low, high, misses = position, self.bound.most(position, space) + 1, 0
        while high - low > 1:
            at = high - 1 if misses < MISSES else (low + high) // 2
            if self._feasible(position, at, place):
                low = at
            else:
                high, misses = min(at, self.bound.most(position, space) + 1), misses + 1
        return low

    def _feasible(self, position: int, end: int, place: int) -> bool:
        segment = self.cuts.segments.between(position, end - 1)
        answer = self.cuts.table.feasible(segment, self.cuts.spaces[place], self.interval)
        self.unknown |= answer is None
        return answer is True

    def _may_end(self, position: int, end: int, place: int) -> bool:
        passes = self.cuts.passes(end, place, self.interval)
        return passes and (end == position or self._feasible(position, end, place))

    def _search(self, place: int, position: int) -> list[int] | None:
        """Return where the spaces from a place on end if they take all from a position on, trying every cut."""
        if position == self.cuts.count:
            return [position] * (self.last - place)
        if (place, position) in self._dead or self._is_hopeless(place, position):
            return None
        for end in range(self._bounded(position, place), position - 1, -1):
            if end <= self._hopeless[place + 1]:
                break
            rest = self._search(place + 1, end) if self._may_end(position, end, place) else None
            if rest is not None:
                return [end, *rest]
        self._dead.add((place, position))
        return None

    def _is_hopeless(self, place: int, position: int) -> bool:
        """Whether the relaxation proves that the spaces from a place on cannot take all from a position on."""
        if self._hopeless[place] < position < self._hopeful[place]:
            if self._relaxed_end(place, position) < self.cuts.count:
                self._hopeless[place] = position
            else:
                self._hopeful[place] = position
        return position <= self._hopeless[place] and position < self.cuts.count

    def _relaxed_end(self, place: int, position: int) -> int:
        """Return a position that the spaces from a place on cannot pass, whatever they take."""
        for at in range(place, self.last):
            position = self._bounded(position, at)
            while position and not self.cuts.passes(position, at, self.interval):
                position -= 1
        return position

    def _bounded(self, position: int, place: int) -> int:
        """Return a position that the space cannot pass from another one."""
        return self.bound.reach(position, self.cuts.spaces[place], self._furthest(position, place))

    def _found(self, ends: Sequence[int]) -> CutFound:
        starts = [0, *ends[:-1]]
        parts = tuple((a, b - 1) if b > a else None for a, b in zip(starts, ends, strict=True))
        return CutFound(self.interval, parts)

    def _refused(self, ends: Sequence[int]) -> CutRefused:
        """Say what stopped the last space that could be filled."""
        starts = [0, *ends[:-1]]
        place = self.last - 1
        start, end = starts[place], ends[place]
        refused = start <= end and not self._feasible(start, end + 1, place)
        segment = self.cuts.segments.between(start, end)
        refusal = self.cuts.table.refusal(segment, self.cuts.spaces[place]) if refused else None
        return CutRefused(self.interval, end, place, refusal, not self.unknown)


def _shared(spaces: Sequence[Space]) -> tuple[Space, ...]:
    """Return the spaces with the first of those that differ in names of places alone in place of the others."""
    first: dict[object, Space] = {}
    keys = [(s.budget, s.silicon, frozenset(limit for _, limit in s.places)) for s in spaces]
    return tuple(first.setdefault(key, space) for key, space in zip(keys, spaces, strict=True))


def _ends(parts: Sequence[Ends | None], spaces: int, count: int) -> tuple[int, ...]:
    """Return where each space ends in a cut, as far as it tells: at first all are taken to be alike."""
    ends: list[int] = []
    for place in range(spaces):
        known = parts[place] if place < len(parts) else None
        before = ends[-1] if ends else 0
        ends.append(known[1] + 1 if known else before if parts else count * (place + 1) // spaces)
    return tuple(ends)
