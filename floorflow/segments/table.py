"""What is known of segments: bounds of all, answers of those that are asked for, each worked out once.

There are two cost models. In time, where segments run one after another with all of one budget, the bounds are a
matrix that paths are looked for on (`SpanTable`). In space (`SpaceTable`) the question is which intervals a segment can
meet in a slot: asked for one by one, and told from what is proven of other segments where that is enough.

An interval that a segment cannot meet in a space, no longer segment can in that space or in a smaller one; and where
a longer one can, its parts can. This holds as far as no stream costs a part more than the longer segment, which is
looked at stream by stream: cut streams need no converter, but where branches join, words may wait for a fork that is
cut off, and deeper FIFOs may be of another memory. Where it does not hold the segment is folded.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Stream
from floorflow.dataflow.options import Coupling
from floorflow.errors import Refusal, Refused
from floorflow.folding.exact import FeasibilityOracle
from floorflow.folding.problem import (
    RATIO,
    FoldingAnswer,
    FoldingInfeasible,
    FoldingProblem,
    FoldingSolution,
    shortest_interval,
)
from floorflow.resources import Resources
from floorflow.segments.paths import Floats, Span
from floorflow.segments.problems import Places, Segment, Segments, Space
from floorflow.segments.relaxation import SegmentRelaxation

UNNAMED = FoldingInfeasible(None)
MOST_OPEN = 32
"""Problems that are kept ready to be asked again."""
Key = TypeVar("Key")
SegmentAnswer = TypeVar("SegmentAnswer")


class SegmentTable(ABC, Generic[Key, SegmentAnswer]):
    """Answers for segments, each worked out when it is first asked for; that raises bounds of what is still open."""

    def __init__(self) -> None:
        self.answers: dict[Key, SegmentAnswer] = {}

    @abstractmethod
    def solved(self, key: Key) -> SegmentAnswer:
        """Work out the answer for a segment, and raise the bounds to what that proved."""

    def __getitem__(self, key: Key) -> SegmentAnswer:
        """Return the answer for a segment, worked out now if it never was."""
        if key not in self.answers:
            self.answers[key] = self.solved(key)
        return self.answers[key]

    def unsolved(self, keys: Iterable[Key]) -> list[Key]:
        """Return the segments that were never worked out."""
        return [key for key in keys if key not in self.answers]

    def close(self, keys: Iterable[Key]) -> bool:
        """Work out the segments that are open; return whether any was."""
        unsolved = self.unsolved(keys)
        for key in unsolved:
            self[key]
        return bool(unsolved)


class SpanTable(SegmentTable[Span, SegmentAnswer]):
    """All segments in one budget, by their borders.

    ``lowest``, (n_borders, n_borders): no answer for the segment from one border to another is below; infinite where it
    is proven that there is none. ``solve`` returns what is then proven of a segment, and its answer.
    """

    def __init__(self, lowest: Floats, solve: Callable[[Span], tuple[float, SegmentAnswer]]) -> None:
        super().__init__()
        self.lowest, self.solve = lowest, solve

    def solved(self, key: Span) -> SegmentAnswer:
        """Work out the answer for a segment, and take its bound."""
        self.lowest[key], answer = self.solve(key)
        return answer


@dataclass(frozen=True)
class ShortestInterval:
    """The shortest initiation interval of a segment in a space, in cycles.

    ``interval_cycles``: the shortest with a folding that was found, None if none was; ``bound_cycles``: no shorter one
    has a folding, None if none has at all. Equal: proven.
    """

    interval_cycles: int | None
    bound_cycles: int | None

    @property
    def proven(self) -> bool:
        """Whether nothing is left open."""
        return self.interval_cycles == self.bound_cycles


@dataclass
class _Known:
    """What is known of one segment in one space."""

    segment: Segment
    space: Space
    too_short: float = 0
    """The longest interval proven infeasible; infinite if all are."""
    met: float = inf
    """The shortest interval known to be feasible."""
    refused: FoldingInfeasible = UNNAMED
    """What folding said of the longest interval that it refused."""

    def learn(self, interval_cycles: int, answer: FoldingAnswer) -> None:
        if isinstance(answer, FoldingInfeasible):
            self.refused = answer if interval_cycles > self.too_short else self.refused
            self.too_short = max(self.too_short, interval_cycles)
        elif isinstance(answer, FoldingSolution):
            self.met = min(self.met, answer.interval_cycles)


class _Asked:
    """A segment and a space that were asked for: its problem, and an oracle that learns from its answers."""

    def __init__(self, known: _Known, problem: FoldingProblem, start: NDArray[np.int64] | None) -> None:
        self.known = known
        self.intervals = problem.intervals()
        self.oracle = FeasibilityOracle(problem, start)
        hopeless = problem.first_possible(self.intervals)
        if hopeless:
            known.too_short = max(known.too_short, self.intervals[hopeless - 1])

    def round(self) -> None:
        """Say of the intervals between the segment's own what is known of these: the foldings are the same."""
        after = bisect_right(self.intervals, self.known.too_short)
        self.known.too_short = self.intervals[after] - 1 if after < len(self.intervals) else inf
        if self.known.met < inf:
            self.known.met = self.intervals[bisect_right(self.intervals, self.known.met) - 1]


class SpaceTable(SegmentTable[tuple[Segment, Space], ShortestInterval]):
    """The intervals of segments in spaces; the answer is the shortest within which the segment has a folding there."""

    def __init__(self) -> None:
        super().__init__()
        self.times_folded = 0
        """How often a segment had to be folded to know whether it can be."""
        self._known: dict[tuple[int, Space], _Known] = {}
        self._by_places: dict[Places, list[_Known]] = defaultdict(list)
        self._asked: OrderedDict[tuple[int, Space], _Asked] = OrderedDict()
        self._prices: dict[Resources, NDArray[np.int64] | None] = {}
        self.unit_costs: list[NDArray[np.int64]] = []
        """What a unit of each resource cost where an interval was refused, for `SegmentRelaxation`, (5,) each."""
        self._relaxations: dict[Segments, SegmentRelaxation] = {}

    def feasible(self, segment: Segment, space: Space, interval_cycles: int, *, quick: bool = False) -> bool | None:
        """Return whether the segment has a folding in the space within an interval; None if folding cannot tell.

        ``quick``: None too where that would take branching, which happens close to the limits.
        """
        return self._feasible(self._look_up(segment, space), interval_cycles, quick=quick)

    def relaxation(self, segments: Segments) -> SegmentRelaxation:
        """Return the bounds on what spaces can take of an order."""
        if segments not in self._relaxations:
            self._relaxations[segments] = SegmentRelaxation(segments, self)
        return self._relaxations[segments]

    def prices_for(self, space: Space) -> NDArray[np.int64] | None:
        """Return the prices at which the last question like one in the space was decided; None before."""
        return self._prices.get(space.silicon)

    def refusal(self, segment: Segment, space: Space) -> Refusal:
        """Return what folding said of the longest interval that it refused to the segment in the space."""
        return self._of(segment, space).refused.refusal

    def solved(self, key: tuple[Segment, Space]) -> ShortestInterval:
        """Find the shortest interval, and keep what is proven on the way."""
        known = self._look_up(*key)
        asked = self._open(known)
        if asked is None:
            return ShortestInterval(None, None)
        intervals = asked.intervals
        start = bisect_right(intervals, known.too_short)
        shortest_interval(intervals, lambda cycles: self._feasible(known, cycles) is True, start, ratio=RATIO)
        open_ = intervals[bisect_right(intervals, known.too_short) :]
        return ShortestInterval(None if known.met == inf else int(known.met), open_[0] if open_ else None)

    def _of(self, segment: Segment, space: Space) -> _Known:
        key = segment.engine_mask, space
        if key not in self._known:
            self._known[key] = _Known(segment, space)
            self._by_places[space.places].append(self._known[key])
        return self._known[key]

    def _look_up(self, segment: Segment, space: Space) -> _Known:
        """Return what is known of a segment in a space, with what its parts and longer ones tell."""
        known = self._of(segment, space)
        for other in self._by_places[space.places]:
            if other.too_short > known.too_short and _costs_no_more(other, known):
                known.too_short = other.too_short
            if other.met < known.met and _costs_no_more(known, other):
                known.met = other.met
        return known

    def _open(self, known: _Known) -> _Asked | None:
        """Return the problem of a segment in a space, ready to be asked; None if an engine fits no place."""
        key = known.segment.engine_mask, known.space
        if key not in self._asked:
            problem = known.segment.problem(known.space)
            if isinstance(problem, Refused):
                known.too_short = inf
                return None
            self._asked[key] = _Asked(known, problem, self.prices_for(known.space))
            if len(self._asked) > MOST_OPEN:
                self._asked.popitem(last=False)
        self._asked.move_to_end(key)
        self._asked[key].round()
        return self._asked[key]

    def _feasible(self, known: _Known, interval_cycles: int, *, quick: bool = False) -> bool | None:
        if known.too_short < interval_cycles < known.met:
            asked = self._open(known)
            if asked is not None and known.too_short < interval_cycles < known.met:
                self._fold(asked, interval_cycles, quick=quick)
        if interval_cycles <= known.too_short:
            return False
        return True if interval_cycles >= known.met else None

    def _fold(self, asked: _Asked, interval_cycles: int, *, quick: bool) -> None:
        """Fold within an interval of which nothing is known, and remember at which prices it was decided."""
        self.times_folded += 1
        own = asked.intervals[bisect_right(asked.intervals, interval_cycles) - 1]
        asked.known.learn(own, asked.oracle.quick(own) if quick else asked.oracle(own))
        asked.round()
        self._prices[asked.known.space.silicon] = asked.oracle.prices
        if asked.known.met > interval_cycles and asked.oracle.unit_costs is not None:
            self.unit_costs.append(asked.oracle.unit_costs)


def _costs_no_more(part: _Known, longer: _Known) -> bool:
    """Whether each folding of the longer segment in its space gives one of the part in the part's space."""
    if not (part.segment.within(longer.segment) and longer.space.budget.fits(part.space.budget)):
        return False
    places = part.space.places
    ours, theirs = part.segment.priced_streams(places), longer.segment.priced_streams(places)
    if isinstance(ours, Refused) or isinstance(theirs, Refused):
        # An engine of the longer one fits no place: it has no folding at all.
        return True
    return all(_stream_costs_no_more(ours[position], theirs[position]) for position in ours)


def _stream_costs_no_more(part: tuple[Stream, Coupling], longer: tuple[Stream, Coupling]) -> bool:
    """Whether a stream, cut or not, costs the part no more than the longer segment, whatever the foldings."""
    (ours, our_price), (theirs, their_price) = part, longer
    if our_price.use is their_price.use:
        return True
    least = their_price.use
    if ours is not theirs and not (theirs.from_outside or theirs.to_outside):
        # Cut in the part alone: whichever width the engine beyond the cut has.
        least = least.min(axis=1 if ours.to_outside else 0)[:, None]
    return bool((our_price.use <= least).all())
