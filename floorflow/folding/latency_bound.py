"""The Lagrangian bound of the latency: prices on resources, and one unit of flow that weighs the engines.

    least over foldings x of  sum_e w[e] cycles[e](x) + p (use(x) - budget)

for prices p >= 0 and a unit flow w is a lower bound on the latency of every folding within the budget, and
elimination finds it exactly: the sum of w[e] x cycles[e] is a mean of the lengths of paths, so no more than the
longest; the best flow for given cycles is the longest path itself. Prices and flow are sought together by cutting
planes. Both are integers, so that bounds are exact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from floorflow.folding.pricing import InterfaceClasses
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.variable_elimination import Pair
from floorflow.solver import linear_solver

Array = NDArray[np.int64]
Edge = tuple[int, int]


@dataclass(frozen=True)
class EngineGraph:
    """Engines by number, group by group; ``after[e]`` are those that engine ``e`` feeds; ``order`` is topological."""

    after: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Return the engines that no other feeds."""
        return tuple(engine for engine, sources in enumerate(self.before) if not sources)

    @cached_property
    def before(self) -> tuple[tuple[int, ...], ...]:
        """Return the engines that feed each engine."""
        before: list[list[int]] = [[] for _ in self.after]
        for source, targets in enumerate(self.after):
            for target in targets:
                before[target].append(source)
        return tuple(tuple(sources) for sources in before)

    def finish_cycles(self, cycles: Array) -> list[int]:
        """Return for each engine the most cycles along a path that ends with it."""
        finish = [0] * len(self.after)
        for engine in self.order:
            finish[engine] = int(cycles[engine]) + max((finish[source] for source in self.before[engine]), default=0)
        return finish

    def longest(self, cycles: Array) -> int:
        """Return the most cycles along a path."""
        return max(self.finish_cycles(cycles))

    def critical(self, cycles: Array) -> tuple[Edge, ...]:
        """Return the edges of a longest path, beginning with ``(-1, e)`` of its first engine."""
        finish_cycles = self.finish_cycles(cycles)
        at = max(range(len(finish_cycles)), key=lambda engine: (finish_cycles[engine], -engine))
        edges = []
        while self.before[at]:
            source = max(self.before[at], key=lambda engine: (finish_cycles[engine], -engine))
            edges.append((source, at))
            at = source
        return ((-1, at), *reversed(edges))

    def unit_flow(self, shares: Mapping[Edge, float], amount: int) -> Array:
        """Send ``amount`` from engine to engine in proportion to ``shares``; return what passes each, all integers.

        ``shares`` has an entry for each stream and ``(-1, e)`` for each engine at the start.
        """
        through = np.zeros(len(self.after), dtype=np.int64)
        _spread(through, self.starts, [shares.get((-1, start), 0.0) for start in self.starts], amount)
        for engine in self.order:
            targets = self.after[engine]
            if targets:
                _spread(through, targets, [shares.get((engine, t), 0.0) for t in targets], int(through[engine]))
        return through


def engine_graph_of(problem: FoldingProblem) -> EngineGraph:
    """Return the graph of a problem's engines, numbered group by group."""
    number = {name: i for i, name in enumerate(name for group in problem.groups for name in group.engines)}
    after: list[set[int]] = [set() for _ in number]
    for source, target in problem.paths or ():
        after[number[source]].add(number[target])
    fixed = tuple(tuple(sorted(targets)) for targets in after)
    return EngineGraph(fixed, _topological(fixed))


def _topological(after: Sequence[Sequence[int]]) -> tuple[int, ...]:
    waits = [0] * len(after)
    for targets in after:
        for target in targets:
            waits[target] += 1
    order = [engine for engine, count in enumerate(waits) if count == 0]
    for engine in order:
        for target in after[engine]:
            waits[target] -= 1
            if waits[target] == 0:
                order.append(target)
    return tuple(order)


def _spread(through: Array, targets: Sequence[int], shares: Sequence[float], amount: int) -> None:
    """Add ``amount`` to ``through``, split among ``targets``; rounding falls on one of them."""
    rising = np.cumsum(np.maximum(shares, 0.0))
    if rising[-1] <= 0:
        rising = np.arange(1.0, len(targets) + 1)
    until = np.rint(rising / rising[-1] * amount).astype(np.int64)
    through[list(targets)] += np.diff(until, prepend=0)


Floats = NDArray[np.float64]

STEPS = 80
"""Prices and flows tried at most."""
CLOSE = 1e-4
"""Relative distance of the bound to the best bound possible at which the search for prices ends."""
DEAREST = 64
"""All of a resource's budget is never priced higher than so many times the latency to beat."""
STEERS = 40
"""Prices tried after those that give the best bound, in search of foldings within the budget."""
FIRST_STEER, STEER_DECAY = 0.3, 0.92
"""Logarithm by which they follow a resource that is wholly exceeded, and by what it shrinks with every step."""
CHEAPEST = 1e-4
"""Share of the bound that all of a resource's budget then costs at least."""
FAR = 0.005
"""Share above the bound from which the longest path of a folding is given more weight."""
JOINING = 0.05
"""That weight."""
WIDEST_BITS = 42
"""Bits of the latency to beat in the unit of the bound: leaves room for prices and sums in 64."""


@dataclass(frozen=True)
class Prices:
    """A price on each resource and on each barred pair, and a weight on each engine; ``scale`` units are a cycle."""

    resources: Array
    flow: Array
    scale: int
    barred: int

    def tables(self, classes: InterfaceClasses) -> tuple[list[Array], list[Array], dict[Pair, Array]]:
        """Return what each row costs, the least of each class and the costs of pairs of classes; these as one case."""
        ends = np.cumsum([cycles.shape[1] for cycles in classes.cycles])
        weights = np.split(self.flow, ends[:-1])
        amounts = zip(classes.use, classes.cycles, weights, strict=True)
        rows = [use @ self.resources + cycles @ weight for use, cycles, weight in amounts]
        least = [np.minimum.reduceat(row, begins)[:, None] for row, begins in zip(rows, classes.begins, strict=True)]
        pairs = {
            pair: (use @ self.resources + classes.barred[pair] * self.barred)[..., None]
            for pair, use in classes.pairs.items()
        }
        return rows, least, pairs


@dataclass(frozen=True)
class LatencyBound:
    """``bound`` in cycles, the ``prices`` that give it, and the best folding met within the budget.

    ``met`` are all foldings that were best at some prices.
    """

    bound: int
    prices: Prices
    selection: tuple[int, ...] | None
    latency: int
    met: tuple[tuple[int, ...], ...]


def bound_latency(classes: InterfaceClasses, graph: EngineGraph, budget: Array, to_beat: int) -> LatencyBound:
    """Bound the least latency of a folding within the budget, no higher than ``to_beat``."""
    return _Search(classes, graph, budget, to_beat).run()


def row_bounds(classes: InterfaceClasses, budget: Array, prices: Prices) -> list[Array]:
    """Return for each row of each group the bound on the latency of foldings with it, in units of the prices."""
    rows, least, pairs = prices.tables(classes)
    class_bounds = classes.elimination.min_marginals(least, pairs)
    spent = int(prices.resources @ budget)
    return [
        (bound - cheapest)[class_of, 0] + row - spent
        for bound, cheapest, class_of, row in zip(class_bounds, least, classes.class_of, rows, strict=True)
    ]


class _Master:
    """The cutting-plane model: the highest bound that the foldings met allow, and its prices and flow.

    Latencies are shares of the one to beat, prices are of a whole budget in the same unit.
    """

    def __init__(self, graph: EngineGraph, budget: Array, to_beat: int) -> None:
        self.graph, self.budget, self.to_beat = graph, np.maximum(budget, 1), to_beat
        self.solver = linear_solver()
        self.bound = self.solver.NumVar(-self.solver.infinity(), 1.0, "")
        self.prices = [self.solver.NumVar(0.0, float(DEAREST), "") for _ in budget]
        pairs = [(source, target) for source, targets in enumerate(graph.after) for target in targets]
        self.flow = {edge: self.solver.NumVar(0.0, 1.0, "") for edge in (*((-1, s) for s in graph.starts), *pairs)}
        self.into: list[list[pywraplp.Variable]] = [[] for _ in graph.after]
        for (_, target), amount in self.flow.items():
            self.into[target].append(amount)
        self.solver.Add(sum(self.flow[-1, start] for start in graph.starts) == 1)
        for engine, targets in enumerate(graph.after):
            if targets:
                self.solver.Add(sum(self.flow[engine, t] for t in targets) == sum(self.into[engine]))
        self.solver.Maximize(self.bound)

    def add(self, constant: float, cycles: Array, excess: Array) -> None:
        """Hold the bound below what one folding gives: ``constant`` + flow x cycles + prices x excess."""
        row = self.solver.Constraint(-self.solver.infinity(), constant / self.to_beat)
        row.SetCoefficient(self.bound, 1.0)
        for price, much in zip(self.prices, excess / self.budget, strict=True):
            row.SetCoefficient(price, -float(much))
        for amounts, count in zip(self.into, cycles, strict=True):
            for amount in amounts:
                row.SetCoefficient(amount, -float(count) / self.to_beat)

    def solve(self) -> tuple[float, Floats, dict[Edge, float]]:
        """Return the highest bound in cycles, the price of each whole budget in cycles, and the flow."""
        self.solver.Solve()
        prices = np.array([price.solution_value() for price in self.prices])
        return (
            self.bound.solution_value() * self.to_beat,
            prices * self.to_beat,
            {edge: amount.solution_value() for edge, amount in self.flow.items()},
        )


class _Search:
    """One search for prices and flow."""

    def __init__(self, classes: InterfaceClasses, graph: EngineGraph, budget: Array, to_beat: int) -> None:
        self.classes, self.graph, self.budget, self.to_beat = classes, graph, budget, to_beat
        self.scale = 1 << max(0, min(20, WIDEST_BITS - to_beat.bit_length()))
        self.master = _Master(graph, budget, to_beat)
        self.best = self._prices(np.zeros(budget.size), {})
        self.bound = 0
        self.met: dict[tuple[int, ...], None] = {}
        self.selection: tuple[int, ...] | None = None
        self.latency = to_beat + 1
        self.last: tuple[int, ...] = ()

    def run(self) -> LatencyBound:
        prices, flow = np.zeros(self.budget.size), dict[Edge, float]()
        best: tuple[Floats, dict[Edge, float]] = prices, flow
        for step in range(STEPS):
            if self._try(self._prices(prices, flow)):
                best = prices, flow
            ceiling, wanted, toward = self.master.solve()
            if ceiling - self.bound <= CLOSE * max(1.0, ceiling) or self.bound >= self.latency:
                break
            # Halfway between the best and the model's: the model alone swings from corner to corner.
            part = 0.5 if step else 1.0
            prices = best[0] + part * (wanted - best[0])
            flow = {edge: (1 - part) * best[1].get(edge, 0.0) + part * amount for edge, amount in toward.items()}
        self._steer(*best)
        return LatencyBound(self.bound, self.best, self.selection, self.latency, tuple(self.met))

    def _steer(self, prices: Floats, flow: Mapping[Edge, float]) -> None:
        """Look for foldings within the budget: raise the price of what is exceeded, lower that of the rest.

        Engines that the flow leaves out have no reason to be quick, so the longest path of each answer joins it.
        """
        step = FIRST_STEER
        for _ in range(STEERS):
            self._try(self._prices(prices, flow))
            cycles = self.classes.engine_cycles(self.last)
            if self.graph.longest(cycles) > (1 + FAR) * self.bound:
                flow = {edge: (1 - JOINING) * flow.get(edge, 0.0) for edge in self.master.flow}
                for edge in self.graph.critical(cycles):
                    flow[edge] += JOINING
            share = self.classes.resources(self.last) / np.maximum(self.budget, 1)
            prices = np.maximum(prices, CHEAPEST * self.bound) * np.exp(step * np.clip(share - 1.0, -1.0, 1.0))
            step *= STEER_DECAY

    def _prices(self, prices: Floats, flow: Mapping[Edge, float]) -> Prices:
        each = np.rint(prices / np.maximum(self.budget, 1) * self.scale).astype(np.int64)
        return Prices(each, self.graph.unit_flow(flow, self.scale), self.scale, 4 * self.to_beat * self.scale)

    def _try(self, prices: Prices) -> bool:
        """Bound by these prices; return whether none were better."""
        rows, least, pairs = prices.tables(self.classes)
        totals, cheapest = self.classes.elimination.least(least, pairs)
        total, chosen = int(totals[0]), cheapest[0].tolist()
        selection = tuple(
            int(begins[class_] + row[begins[class_] : end].argmin())
            for begins, row, class_, end in zip(self.classes.begins, rows, chosen, self._ends(chosen), strict=True)
        )
        self._remember(selection, total, prices)
        bound = -(-(total - int(prices.resources @ self.budget)) // prices.scale)
        if bound <= self.bound and self.bound:
            return False
        self.bound, self.best = bound, prices
        return True

    def _ends(self, chosen: Sequence[int]) -> list[int]:
        """Return where the rows of each group's class end."""
        pairs = zip(self.classes.begins, self.classes.rows, chosen, strict=True)
        return [int(np.append(begins, rows.size)[class_ + 1]) for begins, rows, class_ in pairs]

    def _remember(self, selection: tuple[int, ...], total: int, prices: Prices) -> None:
        self.met[selection] = None
        self.last = selection
        use, cycles = self.classes.resources(selection), self.classes.engine_cycles(selection)
        barred = self.classes.barred_pairs(selection)
        # With cut edges the folding's own sum is above the one that bounds it; the model must hold that one.
        own = int(prices.resources @ use) + int(prices.flow @ cycles) + barred * prices.barred
        self.master.add((barred * prices.barred + min(0, total - own)) / prices.scale, cycles, use - self.budget)
        latency = self.graph.longest(cycles)
        if not barred and (use <= self.budget).all() and latency < self.latency:
            self.selection, self.latency = selection, latency
