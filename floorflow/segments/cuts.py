"""The dynamic program over cuts: segments side by side in spaces, one space after the other in their given order.

At one interval each space takes a contiguous part of the order, or nothing. Positions run from 0, before the first
part, to the count of parts; ``reach`` of a position in a space is the furthest position up to which the space can
take what follows. Taking all that a space can hold is best where a longer segment never fits better than a shorter
one. That is nearly always so, and never taken for granted: `SegmentRelaxation` bounds what any longer segment can save.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from floorflow.errors import Refusal
from floorflow.folding.problem import RATIO, shortest_interval
from floorflow.segments.hops import CutHops
from floorflow.segments.problems import Segments, Space
from floorflow.segments.table import SpaceTable

Passes = Callable[[int, int, int], bool]
Ends = tuple[int, int]
MOST_TRIED, FEW = 400, 64
"""Places and positions that are tried at one interval where streams may not go everywhere; where there are no more than
a few, what takes long to tell is told."""


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
    ``hops`` say which places the two ends of a stream may have (default: any); where they do, so many places and
    positions are tried at one interval: ``most_tried`` (default: 400). Nothing that takes long to tell is told then,
    but where there are few without such a limit.
    """

    def __init__(
        self,
        segments: Segments,
        spaces: Sequence[Space],
        table: SpaceTable,
        passes: Passes | None = None,
        guess: Sequence[Ends | None] = (),
        *,
        hops: CutHops | None = None,
        most_tried: int | None = None,
    ) -> None:
        self.segments, self.table = segments, table
        first: dict[object, Space] = {}
        keys = [(s.budget, s.silicon, frozenset(s.places)) for s in spaces]
        self.spaces = tuple(first.setdefault(key, space) for key, space in zip(keys, spaces, strict=True))
        self.count = len(segments.order)
        self._allowed = passes
        self.hops = None if hops is None or not hops.forbid else hops
        self.most_tried = most_tried
        self.relaxation = table.relaxation(segments)
        self._answers: dict[int, CutFound | CutRefused] = {}
        self.slack: int | None = None
        self._guess = [None if ends is None else ends[1] + 1 for ends in guess]
        self._met: dict[tuple[int, Space], dict[int, int]] = defaultdict(dict)

    def at(self, interval_cycles: int) -> CutFound | CutRefused:
        """Return a cut with which every space meets the interval, or why there is none."""
        if interval_cycles not in self._answers:
            self._answers[interval_cycles] = _At(self, interval_cycles).answer()
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

    def expected(self, place: int, most: int) -> int:
        """Return where a space is likely to end that cannot pass a position: as far below it as the last one."""
        guess = self._guess[place] if place < len(self._guess) else None
        return most - (self.slack or 0) if guess is None or self.slack is not None else guess

    def learn(self, position: int, end: int, space: Space, interval_cycles: int) -> None:
        """Take note that a space meets an interval with all from one position to another."""
        met = self._met[position, space]
        met[end] = min(interval_cycles, met.get(end, interval_cycles))

    def met(self, position: int, space: Space, interval_cycles: int) -> int:
        """Return the furthest position up to which a space is known to meet an interval."""
        return max((end for end, met in self._met[position, space].items() if met <= interval_cycles), default=position)


class _At:
    """The question for one interval."""

    def __init__(self, cuts: Cuts, interval_cycles: int) -> None:
        self.cuts, self.interval = cuts, interval_cycles
        self.last = len(cuts.spaces)
        self.bound = cuts.relaxation.at(interval_cycles)
        self.unknown = False
        """Whether what was left open may be a cut."""
        self.quick = True
        """Whether to leave open what takes long to tell."""
        self._dead: set[tuple[int, int, Hashable]] = set()
        self._left = MOST_TRIED if cuts.most_tried is None else cuts.most_tried
        self._hopeless = [-1] * (self.last + 1)
        self._hopeful = [[cuts.count] * 2 for _ in range(self.last + 1)]

    def answer(self) -> CutFound | CutRefused:
        ends = self._greedy()
        self.unknown = False
        if ends[-1] < self.cuts.count and not self._is_hopeless(0, 0):
            many = self.cuts.hops is not None and self.cuts.count * self.last > FEW
            self.quick = many or self.cuts.most_tried is not None
            ends = self._search([]) or ends
        return self._found(ends) if ends[-1] == self.cuts.count else self._refused(ends)

    def _greedy(self) -> list[int]:
        """Return where each space ends if each takes as much as it can and the cut may lie there."""
        ends: list[int] = []
        position = 0
        for place in range(self.last):
            furthest = self._furthest(position, place)
            while furthest > position and not self._may_end(ends, furthest):
                furthest -= 1
            position = furthest
            if not self.cuts.passes(position, place, self.interval):
                # The space stays empty, and what lies before it cannot be left: other cuts are for `_search`.
                return [*ends, *[position] * (self.last - place)]
            ends.append(position)
        return ends

    def _furthest(self, position: int, place: int) -> int:
        """Return a position up to which the space can take what follows: nearly always the furthest.

        The bound lies a few parts above it, mostly as many as the last time; each refusal lowers the bound.
        """
        cuts, space = self.cuts, self.cuts.spaces[place]
        low, high, step = cuts.met(position, space, self.interval), self._most(position, place) + 1, 1
        at = min(max(cuts.expected(place, high - 1), low + 1), high - 1)
        while high - low > 1:
            if self._feasible(position, at, place):
                low, at = at, at + step
            else:
                high = min(at, self._most(position, place) + 1)
                at = high - step
            step *= 2
            if not low < at < high:
                at = (low + high) // 2
        cuts.slack = self._most(position, place) - low
        return low

    def _most(self, position: int, place: int) -> int:
        return self.bound.most(position, self.cuts.spaces[place])

    def _feasible(self, position: int, end: int, place: int) -> bool:
        segment = self.cuts.segments.between(position, end - 1)
        space = self.cuts.spaces[place]
        answer = self.cuts.table.feasible(segment, space, self.interval, quick=self.quick)
        self.unknown |= answer is None
        if answer:
            self.cuts.learn(position, end, space, self.interval)
        return answer is True

    def _may_end(self, ends: list[int], end: int) -> bool:
        """Whether the place behind those that end so may take all up to a position."""
        place, position, hops = len(ends), ends[-1] if ends else 0, self.cuts.hops
        if not self.cuts.passes(end, place, self.interval):
            return False
        if end == position:
            return True
        return (hops is None or hops.allow(ends, end)) and self._feasible(position, end, place)

    def _search(self, ends: list[int]) -> list[int] | None:
        """Return where all spaces end if the first ones end so, trying every cut."""
        place, position, hops = len(ends), ends[-1] if ends else 0, self.cuts.hops
        if position == self.cuts.count:
            return ends + [position] * (self.last - place)
        if self._is_hopeless(place, position):
            return None
        key = place, position, None if hops is None else hops.state(ends)
        if key in self._dead:
            return None
        for end in range(self._bounded(position, place), position - 1, -1):
            if end <= self._hopeless[place + 1]:
                break
            if self._gives_up():
                return None
            found = self._search([*ends, end]) if self._may_end(ends, end) else None
            if found is not None:
                return found
        self._dead.add(key)
        return None

    def _gives_up(self) -> bool:
        """Whether as much was tried as is allowed; what places were before matters only where hops are limited."""
        self._left -= self.cuts.hops is not None
        self.unknown |= self._left < 0
        return self._left < 0

    def _is_hopeless(self, place: int, position: int) -> bool:
        """Whether the relaxation proves that the spaces from a place on cannot take all from a position on."""
        if self._hopeless[place] < position < self._hopeful[place][self.quick]:
            if self._relaxed_end(place, position) < self.cuts.count:
                self._hopeless[place] = position
            else:
                self._hopeful[place][self.quick] = position
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
        if self.quick:
            return self.bound.most(position, self.cuts.spaces[place])
        return self.bound.reach(position, self.cuts.spaces[place], self._furthest(position, place))

    def _found(self, ends: Sequence[int]) -> CutFound:
        return CutFound(self.interval, _parts(ends))

    def _refused(self, ends: Sequence[int]) -> CutRefused:
        """Say what stopped the last space that could be filled."""
        starts, proven = [0, *ends[:-1]], not self.unknown
        place = self.last - 1
        start, end = starts[place], ends[place]
        refusal = None if self._feasible(start, end + 1, place) else self._why(start, end + 1, place)
        return CutRefused(self.interval, end, place, refusal, proven)

    def _why(self, position: int, end: int, place: int) -> Refusal:
        segment, space = self.cuts.segments.between(position, end - 1), self.cuts.spaces[place]
        return self.bound.shortage(position, end, space) or self.cuts.table.refusal(segment, space)


def _parts(ends: Sequence[int]) -> tuple[Ends | None, ...]:
    """Return what each space takes by where it ends."""
    return tuple((a, b - 1) if b > a else None for a, b in zip([0, *ends[:-1]], ends, strict=True))
