"""Bounds on what a space can take that hold for every longer segment too, whatever becomes of the streams at its ends.

A segment's *relaxation* has its engines, and of its streams those alone that cost every longer segment as much: they
lie inside, and do not lead into a join whose fork may be cut off (words wait there for the longest branch, which
depends on where the branches part). So what it cannot meet no segment around it can.

Most is told without folding: at any price of a unit of each resource, a space cannot take engines of which the cheapest
foldings together cost more than its budget. Prices at which foldings were refused tell most.
"""

from __future__ import annotations

from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.errors import InfeasibleError
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem
from floorflow.segments.problems import Places, Segments, Space
from floorflow.segments.table import SegmentTable

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Share of a budget's price by which sums must exceed it, so that rounding proves nothing."""
MOST_PRICES = 24
"""Refusals that are looked at, the last ones."""


class Relaxation:
    """Relaxations of the contiguous segments of one order; ``table`` knows which intervals were refused."""

    def __init__(self, segments: Segments, table: SegmentTable) -> None:
        self.segments, self.table = segments, table
        self.home = {name: part for part, names in enumerate(segments.order) for name in names}
        self._oracles: dict[tuple[int, int, Space], FeasibilityOracle | None] = {}

    def infeasible(self, first: int, last: int, space: Space, interval_cycles: int) -> bool:
        """Whether neither a segment nor a longer one has a folding in the space within the interval, by folding."""
        answer = self.table.feasible(self.segments.between(first, last), space, interval_cycles)
        if answer is True:
            return False
        if answer is False and self.stands_for_longer(first, last, space):
            return True
        oracle = self._oracle(first, last, space)
        return oracle is None or isinstance(oracle(interval_cycles), FoldingInfeasible)

    def stands_for_longer(self, first: int, last: int, space: Space) -> bool:
        """Whether a segment that has no folding proves that no longer one has: no stream costs it more than those."""
        try:
            priced = self.segments.between(first, last).priced_streams(space.places)
            whole = self.segments.whole.priced_streams(space.places)
        except InfeasibleError:
            return False
        for position, (stream, price) in priced.items():
            if self.forks.get(whole[position][0].target, first) < first:
                return False
            least = whole[position][1].use
            cut = whole[position][0] is not stream
            if cut and not (price.use <= least.min(axis=1 if stream.to_outside else 0)[:, None]).all():
                return False
        return True

    @cached_property
    def forks(self) -> dict[str, int]:
        """The part in which the inputs of an engine with several of them part; -1: outside."""
        graph = nx.DiGraph()
        inputs: dict[str, int] = {}
        for stream in self.segments.dataflow.streams:
            if not stream.to_outside:
                graph.add_edge("" if stream.from_outside else stream.source, stream.target)
                inputs[stream.target] = inputs.get(stream.target, 0) + 1
        if not any(count > 1 for count in inputs.values()):
            return {}
        forks = nx.immediate_dominators(graph, "")
        return {name: self.home.get(forks[name], -1) for name, count in inputs.items() if count > 1}

    def _oracle(self, first: int, last: int, space: Space) -> FeasibilityOracle | None:
        """Return whether a relaxed segment can be folded within an interval; None if an engine fits no place."""
        key = first, last, space
        if key not in self._oracles:
            problem = self._problem(*key)
            start = self.table.prices_for(space)
            self._oracles[key] = None if problem is None else FeasibilityOracle(problem, start)
        return self._oracles[key]

    def _problem(self, first: int, last: int, space: Space) -> FoldingProblem | None:
        segment = self.segments.between(first, last)
        try:
            whole, priced = segment.problem(space), segment.priced_streams(space.places)
        except InfeasibleError:
            return None
        kept = tuple(
            price
            for stream, price in priced.values()
            if not (stream.from_outside or stream.to_outside) and self.forks.get(stream.target, first) >= first
        )
        return FoldingProblem(whole.groups, space.budget, space.silicon, kept, memo=whole.memo)

    def groups(self, places: Places) -> list[tuple[int, OptionGroup | None]]:
        """Return the groups with their parts and with the foldings that fit a place; None: there are none."""
        found: list[tuple[int, OptionGroup | None]] = []
        for group in self.segments.groups:
            try:
                fitting = self.segments.fitting(group, places)
            except InfeasibleError:
                fitting = None
            found.append((self.home[group.engines[0]], fitting))
        return found

    def streams(self, places: Places) -> list[tuple[int, int, Coupling]]:
        """Return the streams between parts, with the last part and the first that a segment needs to pay for them."""
        try:
            priced = self.segments.whole.priced_streams(places).values()
        except InfeasibleError:
            return []
        inside = [(stream, price) for stream, price in priced if not (stream.from_outside or stream.to_outside)]
        home, forks = self.home, self.forks
        return [
            (min(home[s.source], home[s.target], forks.get(s.target, home[s.target])), home[s.target], price)
            for s, price in inside
        ]


class Reaches:
    """The bounds at one interval."""

    def __init__(self, relaxation: Relaxation, interval_cycles: int) -> None:
        self.relaxation, self.interval = relaxation, interval_cycles
        self._sums: dict[Places, _LeastSums] = {}
        self._reach: dict[tuple[int, Space], int] = {}

    def most(self, position: int, space: Space) -> int:
        """Return a position that the space cannot pass from another one, by prices."""
        if space.places not in self._sums:
            self._sums[space.places] = _LeastSums(self.relaxation, space.places, self.interval)
        return self._sums[space.places].most(position, space)

    def reach(self, position: int, space: Space, met: int) -> int:
        """Return the position that the space cannot pass from another one, by folding; ``met``: where it has been."""
        key = position, space
        if key not in self._reach:
            low, high, at = met, self.most(position, space) + 1, met + 1
            while high - low > 1:
                if self.relaxation.infeasible(position, at - 1, space, self.interval):
                    high = at
                else:
                    low = at
                at = (low + min(high, self.most(position, space) + 1)) // 2 if high - low > 2 else low + 1
            self._reach[key] = low
        return self._reach[key]


class _LeastSums:
    """What engines and streams cost at least within an interval, at several prices of a unit of each resource."""

    def __init__(self, relaxation: Relaxation, places: Places, interval_cycles: int) -> None:
        self.relaxation = relaxation
        self.count = len(relaxation.segments.order)
        groups = relaxation.groups(places)
        self.part_of_group = np.array([part for part, _ in groups])
        # Networks repeat their blocks: equal groups share their rows.
        use = {id(g.rows): g.use[g.cycles <= interval_cycles] for _, g in groups if g is not None}
        self.none = np.array([group is None or not len(use[id(group.rows)]) for _, group in groups])
        held = [each for each in use.values() if len(each)]
        self.use = np.concatenate(held).astype(float) if held else np.zeros((0, 5))
        self.begins = np.cumsum([0, *(len(each) for each in held)])[:-1]
        place = {key: i for i, key in enumerate(key for key, each in use.items() if len(each))}
        self.distinct = np.array([0 if group is None else place.get(id(group.rows), 0) for _, group in groups])
        streams = relaxation.streams(places)
        self.starts = np.array([start for start, _, _ in streams], dtype=np.int64)
        self.ends = np.array([end for _, end, _ in streams], dtype=np.int64)
        self.stream_use = [np.unique(c.use.reshape(-1, 5), axis=0).astype(float) for _, _, c in streams]
        self.prices: list[Floats] = []
        self.sums: list[Floats] = []
        self.streams: list[Floats] = []
        self.told = max(0, len(relaxation.table.unit_costs) - MOST_PRICES)
        for resource in np.eye(5):
            self._add(resource)

    def most(self, position: int, space: Space) -> int:
        """Return a position that the space cannot pass from another one."""
        for costs in self.relaxation.table.unit_costs[self.told :]:
            self._add(costs.astype(float))
        self.told = len(self.relaxation.table.unit_costs)
        limits = np.array(self.prices) @ np.array(space.budget.as_tuple(), dtype=float)
        inside = self.starts >= position
        shared = np.zeros((len(self.prices), self.count + 1))
        np.add.at(shared, (slice(None), self.ends[inside] + 1), np.array(self.streams)[:, inside])
        sums = np.array(self.sums)
        need = sums - sums[:, [position]] + shared.cumsum(axis=1)
        fits = (need <= limits[:, None] * (1 + ROUNDING)).all(axis=0)
        fits[: position + 1] = True
        return int(np.argmin(np.append(fits, False))) - 1

    def _add(self, costs: Floats) -> None:
        """Add up the least of all parts and streams at one more price."""
        least = np.minimum.reduceat(self.use @ costs, self.begins) if len(self.use) else np.zeros(1)
        parts = np.zeros(self.count + 1)
        np.add.at(parts, self.part_of_group + 1, np.where(self.none, np.inf, least[self.distinct]))
        self.prices.append(costs)
        self.sums.append(parts.cumsum())
        self.streams.append(np.array([(use @ costs).min() for use in self.stream_use]))
