"""Bounds on what a space can take that hold for every longer segment too, whatever becomes of the streams at its ends.

A segment's *relaxation* has its engines, and its streams at the least that they cost in any longer segment of the
order: one that is cut may lie inside there, and where branches join, as many words wait as the longest branch from the
fork takes to fill, or from where the fork is cut off. So what a relaxation cannot meet no segment around it can.

Most is told without folding: at any price of a unit of each resource, a space cannot take engines of which the cheapest
foldings together cost more than its budget. Prices at which foldings were refused tell most.
"""

from dataclasses import replace
from functools import cached_property
from typing import Protocol

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Stream
from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.errors import Refusal, Refused
from floorflow.folding.exact import FeasibilityOracle
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem
from floorflow.resources import RESOURCE_NAMES
from floorflow.segments.problems import Places, Segment, Segments, Space

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Share of a budget's price by which sums must exceed it, so that rounding proves nothing."""
MOST_PRICES = 24
"""Refusals that are looked at, the last ones."""


class Facts(Protocol):
    """What is known of segments as they are: a `floorflow.segments.SpaceTable`."""

    unit_costs: list[NDArray[np.int64]]
    """What a unit of each resource cost where an interval was refused, (5,) each."""

    def feasible(self, segment: Segment, space: Space, interval_cycles: int, *, quick: bool = False) -> bool | None:
        """Return whether a segment meets an interval in a space; None if that is not known."""

    def prices_for(self, space: Space) -> NDArray[np.int64] | None:
        """Return prices to begin with."""


class SegmentRelaxation:
    """Relaxations of the contiguous segments of one order."""

    def __init__(self, segments: Segments, table: Facts) -> None:
        self.segments, self.table = segments, table
        self.home = {name: part for part, names in enumerate(segments.order) for name in names}
        self._oracles: dict[tuple[int, int, Space], FeasibilityOracle | bool] = {}
        self._reaches: dict[int, Reaches] = {}

    def at(self, interval_cycles: int) -> "Reaches":
        """Return the bounds at one interval."""
        if interval_cycles not in self._reaches:
            self._reaches[interval_cycles] = Reaches(self, interval_cycles)
        return self._reaches[interval_cycles]

    def infeasible(self, first: int, last: int, space: Space, interval_cycles: int) -> bool:
        """Whether neither a segment nor a longer one has a folding in the space within the interval, by folding."""
        segment = self.segments.between(first, last)
        answer = self.table.feasible(segment, space, interval_cycles, quick=True)
        if answer is True:
            return False
        key = first, last, space
        if key not in self._oracles:
            self._oracles[key] = self._oracle(first, last, space)
        oracle = self._oracles[key]
        if isinstance(oracle, FeasibilityOracle):
            return isinstance(oracle(interval_cycles), FoldingInfeasible)
        return oracle or self.table.feasible(segment, space, interval_cycles) is False

    def _oracle(self, first: int, last: int, space: Space) -> FeasibilityOracle | bool:
        """Return what folds the relaxation; False if it is the segment itself, True if an engine fits no place."""
        segment = self.segments.between(first, last)
        problem, priced = segment.problem(space), segment.priced_streams(space.places)
        if isinstance(problem, Refused) or isinstance(priced, Refused):
            return True
        least = tuple(self._least(position, priced[position], first, last, space.places) for position in priced)
        if all((price.use <= use).all() for (_, price), use in zip(priced.values(), least, strict=True)):
            return False
        prices = tuple(replace(price, use=use) for (_, price), use in zip(priced.values(), least, strict=True))
        loosened = FoldingProblem(problem.groups, space.budget, space.silicon, prices, memo=problem.memo)
        return FeasibilityOracle(loosened, self.table.prices_for(space))

    def _least(
        self, position: int, priced: tuple[Stream, Coupling], first: int, last: int, places: Places
    ) -> NDArray[np.int64]:
        """Return the least that a segment's stream costs there and in longer segments, by its classes there."""
        stream, price = priced
        whole = self.segments.dataflow.streams[position]
        if whole.to_outside:
            return price.use
        ends = self.home.get(whole.source, first), self.home[whole.target]
        fork = min(first, self.forks.get(whole.target, first))
        least = price.use
        # The words that wait depend on where the segment begins, if it begins behind the fork.
        for begin in range(max(fork, 0), first + 1) if fork < first else (min(first, *ends),):
            longer = self.segments.between(begin, max(last, *ends)).priced_streams(places)
            if isinstance(longer, Refused):
                # Nor has any segment a folding that is longer still.
                continue
            other, theirs = longer[position]
            use = theirs.use
            if (other.from_outside, other.to_outside) != (stream.from_outside, stream.to_outside):
                use = use.min(axis=1 if stream.to_outside else 0)[:, None]
            least = np.minimum(least, use)
        return least

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

    def groups(self, places: Places) -> list[tuple[int, OptionGroup | None]]:
        """Return the groups with their parts and with the foldings that fit a place; None: there are none."""
        found: list[tuple[int, OptionGroup | None]] = []
        for group in self.segments.groups:
            fits = self.segments.fitting(group, places)
            found.append((self.home[group.engines[0]], None if isinstance(fits, Refused) else fits))
        return found

    def streams(self, places: Places) -> list[tuple[int, int, Coupling]]:
        """Return the streams between parts, with the last part and the first that a segment needs to pay for them."""
        priced = self.segments.whole.priced_streams(places)
        if isinstance(priced, Refused):
            return []
        inside = [
            (stream, price) for stream, price in priced.values() if not (stream.from_outside or stream.to_outside)
        ]
        home, forks = self.home, self.forks
        return [
            (min(home[s.source], home[s.target], forks.get(s.target, home[s.target])), home[s.target], price)
            for s, price in inside
        ]


class Reaches:
    """The bounds at one interval."""

    def __init__(self, relaxation: SegmentRelaxation, interval_cycles: int) -> None:
        self.relaxation, self.interval = relaxation, interval_cycles
        self._sums: dict[Places, _LeastSums] = {}
        self._reach: dict[tuple[int, Space], int] = {}

    def most(self, position: int, space: Space) -> int:
        """Return a position that the space cannot pass from another one, by prices."""
        return self._least_sums(space.places).most(position, space)

    def shortage(self, position: int, end: int, space: Space) -> Refusal | None:
        """Return the resource that is short by itself for all from one position to another; None if none is."""
        return self._least_sums(space.places).shortage(position, end, space)

    def _least_sums(self, places: Places) -> "_LeastSums":
        if places not in self._sums:
            self._sums[places] = _LeastSums(self.relaxation, places, self.interval)
        return self._sums[places]

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

    def __init__(self, relaxation: SegmentRelaxation, places: Places, interval_cycles: int) -> None:
        self.relaxation = relaxation
        self.count = len(relaxation.segments.order)
        groups = relaxation.groups(places)
        self.part_of_group = np.array([part for part, _ in groups])
        # Networks repeat their blocks: equal groups share their rows.
        use = {id(g.rows): g.use[g.cycles <= interval_cycles] for _, g in groups if g is not None}
        self.none = np.array([group is None or not len(use[id(group.rows)]) for _, group in groups])
        self.buildable = np.ones(self.count, dtype=np.bool_)
        self.buildable[self.part_of_group[self.none]] = False
        held = [each for each in use.values() if len(each)]
        self.use = np.concatenate(held).astype(float) if held else np.zeros((0, 5))
        self.begins = np.cumsum([0, *(len(each) for each in held)])[:-1]
        place = {key: i for i, key in enumerate(key for key, each in use.items() if len(each))}
        self.distinct = np.array([0 if group is None else place.get(id(group.rows), 0) for _, group in groups])
        streams = relaxation.streams(places)
        self.starts = np.array([start for start, _, _ in streams], dtype=np.int64)
        self.ends = np.eye(self.count + 1)[[end + 1 for _, end, _ in streams]]
        self.stream_use = [np.unique(c.use.reshape(-1, 5), axis=0).astype(float) for _, _, c in streams]
        self.prices: list[Floats] = []
        self.sums: list[Floats] = []
        self.streams: list[Floats] = []
        self.told = max(0, len(relaxation.table.unit_costs) - MOST_PRICES)
        for resource in np.eye(5):
            self._add(resource)

    def most(self, position: int, space: Space) -> int:
        """Return a position that the space cannot pass from another one."""
        limits = self._limits(space)
        need = self._need(position)
        fits: NDArray[np.bool_] = np.all(need <= limits[:, None] * (1 + ROUNDING), axis=0)
        fits[: position + 1] = True
        fits[position + 1 :] &= np.logical_and.accumulate(self.buildable[position:])
        return int(np.argmin(np.append(fits, False))) - 1

    def shortage(self, position: int, end: int, space: Space) -> Refusal | None:
        """Return the first resource of which the least sum exceeds the budget; None if none does."""
        if not self.buildable[position:end].all():
            return None
        needs = self._need(position)[: len(RESOURCE_NAMES), end]
        for name, need, limit in zip(RESOURCE_NAMES, needs.tolist(), space.budget.as_tuple(), strict=True):
            if need > limit:
                return Refusal("budget", name, needed=int(need), allowed=limit, proven=True)
        return None

    def _need(self, position: int) -> Floats:
        """Return what all from a position up to each other one costs at least at each price, resources first."""
        inside = self.starts >= position
        shared = np.array(self.streams)[:, inside] @ self.ends[inside]
        sums = np.array(self.sums)
        return np.asarray(sums - sums[:, [position]] + shared.cumsum(axis=1))

    def _limits(self, space: Space) -> Floats:
        """Return what a space's budget costs at each price, with those of all refusals so far."""
        for costs in self.relaxation.table.unit_costs[self.told :]:
            self._add(costs.astype(float))
        self.told = len(self.relaxation.table.unit_costs)
        return np.asarray(np.array(self.prices) @ np.array(space.budget.as_tuple(), dtype=float))

    def _add(self, costs: Floats) -> None:
        """Add up the least of all parts and streams at one more price."""
        least = np.minimum.reduceat(self.use @ costs, self.begins) if len(self.use) else np.zeros(1)
        parts = np.zeros(self.count + 1)
        np.add.at(parts, self.part_of_group + 1, np.where(self.none, 0.0, least[self.distinct]))
        self.prices.append(costs)
        self.sums.append(parts.cumsum())
        self.streams.append(np.array([(use @ costs).min() for use in self.stream_use]))
