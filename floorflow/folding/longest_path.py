"""The longest path through the engines, and its dual: one unit of flow, spread over the paths.

For any such flow w, the sum of w[e] x cycles[e] over the engines is a mean of the lengths of paths, so no more than
the longest; the best flow for given cycles is the longest path itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.problem import FoldingProblem

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
