"""What a placement costs: wirelength, streams beyond their reach, and demand for wires above what there is.

objective = wire x HPWL + reach x R + congestion x C, all in bit-tiles (wires of one bit over one column or row).
R: for each stream whose longest way d from register to register is beyond the reach d0, `STREAM_BITS` (d - d0)^2 / d0,
whatever its width: a narrow stream misses the clock as a wide one does. C: `congestion.RoutingMap.excess`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from floorflow.placement.congestion import Bins, RoutingMap, bins_on
from floorflow.placement.layout import NetArrays, net_arrays
from floorflow.placement.problem import PlacementProblem, PlacementSolution, Region, Terms, Weights, hpwl_of, point_of
from floorflow.stats import SolveStats, Status

Floats = npt.NDArray[np.float64]

STREAM_BITS = 512
"""Bits of wire that one stream counts for: twice as long as its reach it costs as much as so many wires over its reach,
and a fifth beyond it a tile as much as 205 wires. A port of a board's memory is 512 bits wide, few are wider."""
ROUNDING = 1e-6
"""By so much a way may be longer than the reach, in columns and rows: the reach is no whole number."""


@dataclass(frozen=True, eq=False)
class Ways:
    """What the ways of streams depend on, by pair of ends as in ``NetArrays.ends``, (k,) each.

    ``streams`` between them; ``parts`` into which SLR boundaries with registers cut their way, ``low`` and ``high`` the
    first and last of these boundaries as twice the row, ``inner`` twice the most rows between two of them.
    """

    reach: float
    streams: Floats
    parts: Floats
    low: Floats
    high: Floats
    inner: Floats

    def longest(self, first: Floats, second: Floats) -> Floats:
        """Return columns and rows from one register to the next at the most, (k,), of ends (k, 2) given doubled."""
        distance = np.abs(first - second)
        lower, upper = np.minimum(first[:, 1], second[:, 1]), np.maximum(first[:, 1], second[:, 1])
        rows = np.maximum(np.maximum(self.low - lower, upper - self.high), self.inner)
        longest: Floats = np.maximum(distance.sum(axis=1) / self.parts, np.where(self.parts > 1, rows, 0.0)) / 2
        return longest

    def penalty(self, longest: Floats) -> float:
        """Return R of the longest ways (k,) in bit-tiles."""
        beyond = np.maximum(longest - self.reach, 0.0)
        return float(self.streams @ (beyond * beyond)) * STREAM_BITS / self.reach

    def beyond(self, longest: Floats) -> int:
        """Count the streams inside an SLR that are longer than their reach."""
        return int(self.streams @ ((longest > self.reach + ROUNDING) & (self.parts == 1)))


@dataclass(frozen=True, eq=False)
class Objective:
    """The objective of a problem, of the places of all ends, (modules + pins, 2), given doubled.

    ``wires`` (k,): those between each pair of ends, which take of the routing.
    """

    weights: Weights
    nets: NetArrays
    wires: Floats
    ways: Ways | None
    bins: Bins

    @classmethod
    def of(cls, problem: PlacementProblem) -> "Objective":
        """State it."""
        nets = net_arrays(problem)
        streams, wires = _per_pair(problem, nets)
        return cls(problem.weights, nets, wires, _ways(problem, nets, streams), bins_on(problem.device))

    def places(self, problem: PlacementProblem, regions: Mapping[str, Region]) -> Floats:
        """Return where all ends lie, doubled: modules in the middle of their regions, then pins."""
        points = [point_of(module.name, regions) for module in problem.modules]
        own = np.array([(point.x2, point.y2) for point in points], dtype=np.float64).reshape(-1, 2)
        return np.concatenate((own, self.nets.pins))

    @property
    def is_wire_alone(self) -> bool:
        """Whether wirelength is all that counts."""
        return self.weights.congestion == 0 and (self.ways is None or self.weights.reach == 0)

    def twice_reach(self, places: Floats) -> float:
        """Return twice the weighted penalty for streams beyond their reach."""
        if self.ways is None or self.weights.reach == 0:
            return 0.0
        first, second = self.nets.ends
        return 2 * self.weights.reach * self.ways.penalty(self.ways.longest(places[first], places[second]))

    def twice_congestion(self, places: Floats) -> float:
        """Return twice the weighted demand above capacity."""
        if self.weights.congestion == 0:
            return 0.0
        return 2 * self.weights.congestion * self.routing_map(places).excess

    def routing_map(self, places: Floats) -> RoutingMap:
        """Return the routing map."""
        first, second = self.nets.ends
        return RoutingMap(self.bins.demand(places[first], places[second], self.wires), self.bins.capacity)

    def twice_others(self, places: Floats) -> float:
        """Return twice what is not wirelength."""
        return self.twice_reach(places) + self.twice_congestion(places)

    def beyond(self, places: Floats) -> int:
        """Count the streams inside an SLR that are longer than a reach that counts."""
        if self.ways is None or self.weights.reach == 0:
            return 0
        first, second = self.nets.ends
        return self.ways.beyond(self.ways.longest(places[first], places[second]))

    @property
    def most_inside(self) -> dict[int, int]:
        """Twice the columns and rows that may lie between the ends of streams inside an SLR, by pair of ends."""
        if self.ways is None:
            return {}
        inside = np.flatnonzero(self.ways.parts == 1).tolist()
        return dict.fromkeys(inside, int(2 * (self.ways.reach + ROUNDING)))

    def is_wire_of(self, boxes: npt.NDArray[np.int64]) -> bool:
        """Whether a complete layout with boxes (n, 4) costs its wires and nothing else."""
        return self.twice_others(self._ends_of(boxes)) == 0

    def _ends_of(self, boxes: npt.NDArray[np.int64]) -> Floats:
        return np.concatenate((boxes[:, :2] + boxes[:, 2:], self.nets.pins)).astype(np.float64)

    def rank(self, boxes: npt.NDArray[np.int64]) -> tuple[int, float]:
        """Order complete layouts with boxes (n, 4): streams beyond their reach first, then twice the objective."""
        places = self._ends_of(boxes)
        return self.beyond(places), self.weights.wire * self.nets.twice_wire(places) + self.twice_others(places)


def counted(problem: PlacementProblem) -> Objective | None:
    """Return the objective that a search has to count; None of drafts, and where the wirelength is all that counts."""
    objective = Objective.of(problem)
    return None if problem.draft or objective.is_wire_alone else objective


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The terms of a placement, its routing map, and how many streams inside an SLR are beyond a reach that counts."""

    terms: Terms
    routing: RoutingMap
    beyond_reach: int


def evaluated(problem: PlacementProblem, regions: Mapping[str, Region]) -> Evaluated:
    """Evaluate a placement."""
    objective = Objective.of(problem)
    places, ways = objective.places(problem, regions), objective.ways
    first, second = objective.nets.ends
    routing = objective.routing_map(places)
    penalty = 0.0 if ways is None else ways.penalty(ways.longest(places[first], places[second]))
    terms = Terms(hpwl_of(regions, problem.wires), penalty, routing.excess)
    return Evaluated(terms, routing, objective.beyond(places))


def _ways(problem: PlacementProblem, nets: NetArrays, count: Floats) -> Ways | None:
    """Return what the ways between the ends of nets depend on; None if there is no reach."""
    if problem.reach_tiles is None:
        return None
    # A module lies in its slot's rows, whichever rectangle it gets: what it crosses does not change.
    slots = (problem.slot_of[module.slot].region for module in problem.modules)
    rows = [(region.bottom + region.top) / 2 for region in slots] + (nets.pins[:, 1] / 2).tolist()
    found = []
    for (a, b), streams in zip(nets.ends.T.tolist(), count.tolist(), strict=True):
        lower, upper = sorted((rows[a], rows[b]))
        crossed = [2 * row for row in sorted(problem.boundary_rows) if lower < row < upper]
        inner = max((after - before for before, after in pairwise(crossed)), default=0.0)
        low, high = (crossed[0], crossed[-1]) if crossed else (0.0, 0.0)
        found.append((streams, len(crossed) + 1, low, high, inner))
    return Ways(problem.reach_tiles, *np.array(found, dtype=np.float64).reshape(-1, 5).T)


def _per_pair(problem: PlacementProblem, nets: NetArrays) -> tuple[Floats, Floats]:
    """Return how many streams each pair of ends has, and how many wires."""
    pins = {pin: len(problem.modules) + index for index, pin in enumerate(map(tuple, nets.pins.tolist()))}
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for wire in problem.wires:
        ends = [problem.index_of[name] for name in wire.modules]
        pair = (*ends, pins[(wire.pin.x2, wire.pin.y2)]) if wire.pin is not None else tuple(sorted(ends))
        if wire.width_bits:
            streams, wires = pairs.get((pair[0], pair[1]), (0, 0))
            pairs[pair[0], pair[1]] = streams + 1, wires + (wire.width_bits if wire.wires is None else wire.wires)
    found = np.array([pairs[a, b] for a, b in nets.ends.T.tolist()], dtype=np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def solved(
    problem: PlacementProblem, regions: Mapping[str, Region], wire_bound: float | None, method: str
) -> PlacementSolution:
    """Return the solution that regions are; optimal if its objective is the bound that the wirelength's gives."""
    found = evaluated(problem, regions)
    objective = found.terms.weighted(problem.weights)
    bound = None if wire_bound is None else problem.weights.wire * wire_bound
    status: Status = "optimal" if bound is not None and objective <= bound else "feasible"
    stats = SolveStats(method, status, objective, bound)
    return PlacementSolution(regions, found.terms, found.routing, found.beyond_reach, stats)


def wire_bound(found: PlacementSolution, weights: Weights) -> float | None:
    """Return the bound on the wirelength that a solution's is made of; 0 if wires do not count."""
    bound = found.stats.bound
    return bound if bound is None or not weights.wire else bound / weights.wire
