"""Bounds on what a space can take that hold for every longer segment too, whatever becomes of the streams at its ends.

A segment's *relaxation* has its engines, and of its streams those alone that cost every longer segment as much: they
lie inside, and do not lead into a join whose fork may be cut off (words wait there for the longest branch, which
depends on where the branches part). So what it cannot meet no segment around it can.
"""

from __future__ import annotations

from itertools import accumulate

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from floorflow.errors import InfeasibleError
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem
from floorflow.segments.problems import Places, Segments, Space

_ABOVE_ALL = 10**12


class Relaxation:
    """Relaxations of the contiguous segments of one order."""

    def __init__(self, segments: Segments) -> None:
        self.segments = segments
        self._home = {name: part for part, names in enumerate(segments.order) for name in names}
        self._forks = self._fork_of_joins()
        self._oracles: dict[tuple[int, int, Space], FeasibilityOracle | None] = {}

    def at(self, interval_cycles: int) -> Reaches:
        """Return the bounds at one interval."""
        return Reaches(self, interval_cycles)

    def infeasible(self, first: int, last: int, space: Space, interval_cycles: int) -> bool:
        """Whether neither a segment nor a longer one has a folding in the space within the interval."""
        key = first, last, space
        if key not in self._oracles:
            problem = self._problem(*key)
            self._oracles[key] = None if problem is None else FeasibilityOracle(problem)
        oracle = self._oracles[key]
        return oracle is None or isinstance(oracle(interval_cycles), FoldingInfeasible)

    def least(self, places: Places, interval_cycles: int) -> NDArray[np.int64]:
        """Return the least that each part uses of each resource within an interval, without streams, (n_parts, 5)."""
        least = np.zeros((len(self.segments.order), 5), dtype=np.int64)
        for group in self.segments.groups:
            part = self._home[group.engines[0]]
            try:
                fitting = self.segments.fitting(group, places)
            except InfeasibleError:
                least[part] = _ABOVE_ALL
                continue
            fast = fitting.use[fitting.cycles <= interval_cycles]
            least[part] += fast.min(axis=0) if len(fast) else _ABOVE_ALL
        return least

    def _problem(self, first: int, last: int, space: Space) -> FoldingProblem | None:
        """Return the relaxed folding problem; None if an engine fits no place."""
        segment = self.segments.between(first, last)
        try:
            whole, priced = segment.problem(space), segment.priced_streams(space.places)
        except InfeasibleError:
            return None
        kept = tuple(
            price
            for stream, price in priced.values()
            if not (stream.from_outside or stream.to_outside) and self._forks.get(stream.target, last) >= first
        )
        return FoldingProblem(whole.groups, space.budget, space.silicon, kept, memo=whole.memo)

    def _fork_of_joins(self) -> dict[str, int]:
        """Return for each engine with several inputs the part in which they part; -1: outside."""
        graph = nx.DiGraph()
        inputs: dict[str, int] = {}
        for stream in self.segments.dataflow.streams:
            if not stream.to_outside:
                graph.add_edge("" if stream.from_outside else stream.source, stream.target)
                inputs[stream.target] = inputs.get(stream.target, 0) + 1
        if not any(count > 1 for count in inputs.values()):
            return {}
        forks = nx.immediate_dominators(graph, "")
        return {name: self._home.get(forks[name], -1) for name, count in inputs.items() if count > 1}


class Reaches:
    """The bounds at one interval."""

    def __init__(self, relaxation: Relaxation, interval_cycles: int) -> None:
        self._relaxation, self._interval = relaxation, interval_cycles
        self._sums: dict[Places, list[NDArray[np.int64]]] = {}
        self._reach: dict[tuple[int, Space], int] = {}

    def most(self, position: int, space: Space) -> int:
        """Return a position that the space cannot pass from another one, by least sums."""
        if space.places not in self._sums:
            least = self._relaxation.least(space.places, self._interval)
            self._sums[space.places] = list(accumulate(least, initial=np.zeros(5, dtype=np.int64)))
        sums = np.array(self._sums[space.places])
        fits = (sums - sums[position] <= np.array(space.budget.as_tuple())).all(axis=1)
        return int(np.flatnonzero(fits)[-1])

    def reach(self, position: int, space: Space) -> int:
        """Return a position that the space cannot pass from another one, by folding relaxations."""
        key = position, space
        if key not in self._reach:
            low, high = position, self.most(position, space) + 1
            while high - low > 1:
                middle = (low + high) // 2
                if self._relaxation.infeasible(position, middle - 1, space, self._interval):
                    high = middle
                else:
                    low = middle
            self._reach[key] = low
        return self._reach[key]
