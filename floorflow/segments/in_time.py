"""A network as segments in time: where it may be cut, what each segment moves to and from memory, and how fast it is.

Source: Montgomerie-Corcoran et al., SAMO (2022), equations 2 to 7. A cut lies between two parts (`segments.parts`)
where one stream alone is live: it goes to the board's memory, from which the next segment reads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, inf

import numpy as np

from floorflow.dataflow.model import CUT_PREFIX, Dataflow
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import Refusal, Refused
from floorflow.folding import (
    RATIO,
    FeasibilityOracle,
    FoldingInfeasible,
    FoldingProblem,
    fold_at_interval,
    restricted,
    shortage,
    shortest_interval,
)
from floorflow.folding.balance import NO_BALANCE
from floorflow.segments.parts import parts_of
from floorflow.segments.paths import Floats, Span
from floorflow.segments.problems import Bar, Price, Segments, Space
from floorflow.segments.table import ShortestInterval, SpaceTable, SpanTable

MEMORY_PREFIX = "memory:"
"""Where a segment in time ends: ``memory:<buffer>``."""
MOST_STREAMS = 1
"""Streams that a cut in time may send to memory: as many as there are DMA engines to write and to read them."""
MOST_LEVELS = 200
"""Intervals at which all segments are bounded at once."""


@dataclass(frozen=True)
class BoardMemory:
    """What the board's memory carries, in Gb/s both ways together, at a clock."""

    gbps: float
    clock_mhz: float

    def slow_enough(self, bits_per_frame: int) -> int:
        """Return the shortest interval, in cycles, at which a frame needs less than all that it carries (eq. 7)."""
        return floor(bits_per_frame * self.clock_mhz / (self.gbps * 1e3)) + 1


class SegmentsInTime:
    """The contiguous segments of a network, as blocks between the places where it may be cut.

    ``folded`` are the shortest intervals in cycles under the summed limits, as far as folding proves them.
    """

    def __init__(
        self, whole: Dataflow, problem: FoldingProblem, prices: Price, memory: BoardMemory, bars: Bar = NO_BALANCE.bars
    ) -> None:
        self.whole, self.problem, self.memory = whole, problem, memory
        self.blocks = blocks_of(whole, problem.groups)
        self.segments = Segments(whole, problem.groups, prices, self.blocks, problem.memo, bars=bars)
        self.space = Space(problem.budget, problem.silicon)
        self.slow_enough = self._slow_enough()
        self.folded = SpanTable(np.maximum(self._by_resources(), self.slow_enough), self._folded)
        self._table = SpaceTable()

    def engines(self, span: Span) -> tuple[str, ...]:
        """Return the engines of a segment."""
        return tuple(name for block in self.blocks[span[0] : span[1]] for name in block)

    def dataflow(self, span: Span) -> Dataflow:
        """Return a segment as a network of its own, whose cut streams end in memory."""
        return at_memory(self.whole, self.engines(span))

    @property
    def lowest(self) -> Floats:
        """Intervals in cycles, (first block, block behind), below which no folding of a segment is legal.

        Infinite where none is at all; they rise with what is worked out.
        """
        return self.folded.lowest

    def _folded(self, span: Span) -> tuple[float, ShortestInterval]:
        found = self._table[self.segments.between(span[0], span[1] - 1), self.space]
        by_folding = inf if found.bound_cycles is None else found.bound_cycles
        return max(self.lowest[span], by_folding), found

    def folding_problem(self, span: Span) -> FoldingProblem | Refused:
        """Return the folding problem of a segment."""
        return self.segments.between(span[0], span[1] - 1).problem(self.space)

    def refusals(self, span: Span) -> tuple[Refusal, ...]:
        """Return why a segment has no folding at any interval, and how much larger the budget must be for one."""
        problem = self.folding_problem(span)
        if isinstance(problem, Refused):
            return problem.refusals
        longest = problem.intervals()[-1]
        answer, short = fold_at_interval(problem, longest), shortage(problem, longest)
        told = (answer.refusal,) if isinstance(answer, FoldingInfeasible) else ()
        return told + (short.refusals if short else ())

    def _slow_enough(self) -> Floats:
        count = len(self.blocks)
        found = np.full((count + 1, count + 1), np.inf)
        bits = moved_bits(self.whole, self.blocks)
        for a in range(count):
            for b in range(a + 1, count + 1):
                found[a, b] = self.memory.slow_enough(bits[a, b])
        return found

    def _by_resources(self) -> Floats:
        """Bound all segments at once: one resource alone is short, each group at its least, streams for nothing."""
        place = {name: number for number, block in enumerate(self.blocks) for name in block}
        problem = self.problem
        cycles = np.unique(np.concatenate([group.cycles for group in problem.groups]))
        chosen = np.unique(np.linspace(0, len(cycles) - 1, min(MOST_LEVELS, len(cycles))).astype(np.int64))
        levels, count = cycles[chosen], len(self.blocks)
        least = np.zeros((len(levels), count, 5))
        for group in problem.groups:
            order = np.argsort(group.cycles, kind="stable")
            so_far = np.minimum.accumulate(group.use[order], axis=0)
            at = np.searchsorted(group.cycles[order], levels, side="right") - 1
            least[:, place[group.engines[0]]] += np.where((at < 0)[:, None], np.inf, so_far[at])
        sums = np.concatenate(
            [np.zeros((len(levels), 1, 5)), np.cumsum(np.nan_to_num(least, posinf=1e30), axis=1)], axis=1
        )
        lowest = np.full((count + 1, count + 1), np.inf)
        budget = np.array(problem.budget.as_tuple())
        for number in range(len(levels) - 1, -1, -1):
            fits = (sums[number][None, :, :] - sums[number][:, None, :] <= budget).all(axis=2)
            first = cycles[chosen[number - 1] + 1] if number else cycles[0]
            lowest[np.triu(fits, 1)] = first
        return lowest


def blocks_of(dataflow: Dataflow, groups: Sequence[OptionGroup]) -> tuple[tuple[str, ...], ...]:
    """Return the engines between the places where a network may be cut in time, in its order."""
    parts = parts_of(dataflow, groups)
    place = {name: number for number, part in enumerate(parts) for name in part}
    live = np.zeros(len(parts) + 1, dtype=np.int64)
    for source, target in dataflow.engine_pairs:
        live[place[source] + 1 : place[target] + 1] += 1
    blocks: list[list[str]] = []
    for number, part in enumerate(parts):
        if not blocks or live[number] <= MOST_STREAMS:
            blocks.append([])
        blocks[-1] += part
    return tuple(tuple(block) for block in blocks)


def moved_bits(dataflow: Dataflow, blocks: Sequence[Sequence[str]]) -> dict[Span, int]:
    """Return the bits a frame that each segment reads from memory or the host and writes there."""
    place = {name: number for number, block in enumerate(blocks) for name in block}
    ends = [
        (
            -1 if stream.from_outside else place[stream.source],
            len(blocks) if stream.to_outside else place[stream.target],
            stream.elements * stream.element_bits,
        )
        for stream in dataflow.streams
    ]
    spans = ((a, b) for a in range(len(blocks)) for b in range(a + 1, len(blocks) + 1))
    return {
        (a, b): sum(bits for source, target, bits in ends if (a <= source < b) != (a <= target < b)) for a, b in spans
    }


def at_memory(dataflow: Dataflow, engines: Sequence[str]) -> Dataflow:
    """Return the part that some engines make, whose cut streams end in buffers, named by their places in the whole."""
    buffers = {stream.channel: f"{MEMORY_PREFIX}s{number}" for number, stream in enumerate(dataflow.streams)}

    def end(name: str) -> str:
        return buffers[name.removeprefix(CUT_PREFIX)] if name.startswith(CUT_PREFIX) else name

    part = dataflow.segment(engines)
    streams = tuple(replace(s, source=end(s.source), target=end(s.target)) for s in part.streams)
    return replace(part, streams=streams, notes=())


def slow_group(problem: FoldingProblem, slow_enough: int) -> int | None:
    """Return the group that leaves the shortest interval if it is slow enough; None if none can be."""
    best: tuple[int, int] | None = None
    for number, group in enumerate(problem.groups):
        if (group.cycles >= slow_enough).any():
            cycles = shortest_cycles(with_slow(problem, number, slow_enough))
            if cycles is not None and (best is None or cycles < best[0]):
                best = cycles, number
    return None if best is None else best[1]


def with_slow(problem: FoldingProblem, number: int, slow_enough: int) -> FoldingProblem:
    """Return the problem with a group that is slow enough."""
    keep = [np.ones(len(group.cycles), dtype=np.bool_) for group in problem.groups]
    keep[number] = problem.groups[number].cycles >= slow_enough
    return restricted(problem, keep)


def shortest_cycles(problem: FoldingProblem) -> int | None:
    """Return the shortest interval that is not proven impossible under the summed limits, None if all are."""
    intervals, oracle = problem.intervals(), FeasibilityOracle(problem)
    start = problem.first_possible(intervals)
    if start == len(intervals):
        return None

    def may_be(interval: int) -> bool:
        return not isinstance(oracle(interval), FoldingInfeasible)

    index = shortest_interval(intervals, may_be, start, ratio=RATIO)
    return None if index is None else intervals[index]
