"""Balanced rates: the cycles of consecutive layers differ by no more than a share of the lesser.

Source: Kwadjo, Tchinda and Bobda, coarse-grained floorplanning, equation 1. A balance says which pairs of options of
two layers go together. As a `Coupling` that costs nothing and bars the others it is one more tie between groups: all
methods that honour what no hardware can join keep it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup
from floorflow.resources import RESOURCE_NAMES

Array = NDArray[np.int64]

FINEST = 10_000
"""Largest denominator to which a share is rounded, so that products of cycles stay exact."""


@dataclass(frozen=True)
class Balance:
    """Pairs of layers, by engine, whose cycles may differ by ``epsilon`` times the smaller at most."""

    pairs: tuple[tuple[str, str], ...] = ()
    epsilon: float = 0.0

    @cached_property
    def ratio(self) -> Fraction:
        """Times that the cycles of one layer may be those of the other."""
        return 1 + Fraction(self.epsilon).limit_denominator(FINEST)

    def allows(self, cycles: int, other: int) -> bool:
        """Whether two layers with these cycles are balanced."""
        low, high = sorted((cycles, other))
        return high * self.ratio.denominator <= low * self.ratio.numerator

    def is_kept(self, cycles: Mapping[str, int]) -> bool:
        """Whether layers with these cycles are balanced, by name; those that are not named are left out."""
        named = ((cycles.get(one), cycles.get(other)) for one, other in self.pairs)
        return all(one is None or other is None or self.allows(one, other) for one, other in named)

    def bars(self, groups: Sequence[OptionGroup]) -> tuple[Coupling, ...]:
        """Return what forbids, between the groups of each pair, the rows that are not balanced."""
        return tuple(self._bars(groups))

    def _bars(self, groups: Sequence[OptionGroup]) -> Iterator[Coupling]:
        home = {engine: position for position, group in enumerate(groups) for engine in group.engines}
        for pair in self.pairs:
            if pair[0] in home and pair[1] in home:
                source, target = (home[engine] for engine in pair)
                one, other = (_cycles(groups[home[engine]], engine) for engine in pair)
                (own, own_class), (far, far_class) = (np.unique(each, return_inverse=True) for each in (one, other))
                yield _bars(source, target, own_class, far_class, self._allowed(own, far))

    def beside(self, groups: Sequence[OptionGroup], known: Mapping[str, int]) -> tuple[Coupling, ...]:
        """Return what forbids rows of these groups by the cycles of layers elsewhere, by name."""
        return tuple(self._beside(groups, known))

    def _beside(self, groups: Sequence[OptionGroup], known: Mapping[str, int]) -> Iterator[Coupling]:
        home = {engine: position for position, group in enumerate(groups) for engine in group.engines}
        for near, far in (ends for pair in self.pairs for ends in (pair, pair[::-1])):
            if near in home and far not in home and far in known:
                cycles, classes = np.unique(_cycles(groups[home[near]], near), return_inverse=True)
                allowed = self._allowed(cycles, np.array([known[far]]))
                yield _bars(home[near], home[near], classes, np.zeros_like(classes), allowed)

    def _allowed(self, cycles: Array, other: Array) -> NDArray[np.bool_]:
        """Mark the pairs that are balanced, (n, m)."""
        low, high = np.minimum.outer(cycles, other), np.maximum.outer(cycles, other)
        return np.asarray(high * self.ratio.denominator <= low * self.ratio.numerator)


def _cycles(group: OptionGroup, engine: str) -> Array:
    return group.engine_cycles[:, group.engines.index(engine)]


NO_BALANCE = Balance()
"""Rates are not tied."""


def barred(c: Coupling) -> NDArray[np.bool_]:
    """Mark the classes of rows that do not go together, (n_source_classes, n_target_classes)."""
    return np.asarray((c.use >= UNBUILDABLE).any(axis=2), dtype=np.bool_)


def _bars(source: int, target: int, own: Array, far: Array, allowed: NDArray[np.bool_]) -> Coupling:
    """Return what bars the classes of rows that are not ``allowed``, (n, m), together; classes that are alike are one.

    It is enough that one resource says so.
    """
    allowed, of_own = np.unique(allowed, axis=0, return_inverse=True)
    allowed, of_far = np.unique(allowed, axis=1, return_inverse=True)
    use = np.zeros((*allowed.shape, len(RESOURCE_NAMES)), dtype=np.int64)
    use[~allowed, 0] = UNBUILDABLE
    return Coupling(source, target, of_own.reshape(-1)[own], of_far.reshape(-1)[far], use, only_bars=True)


def joinable(couplings: Sequence[Coupling], rows: Sequence[Array]) -> list[Array]:
    """Return the rows of each group that bars leave some partner in every group that they tie it to."""
    left, bars = list(rows), [c for c in couplings if c.only_bars]
    dropped = bool(bars)
    while dropped:
        dropped = False
        for c in bars:
            for group, kept in _partnered(c, left):
                dropped |= kept.size < left[group].size
                left[group] = kept
    return left


def _partnered(c: Coupling, rows: Sequence[Array]) -> Iterator[tuple[int, Array]]:
    """Yield the groups that bars tie, each with its rows that have a partner in the other."""
    source, target = rows[c.source], rows[c.target]
    bars = barred(c)
    if c.source == c.target:
        yield c.source, source[~bars[c.source_class[source], c.target_class[source]]]
        return
    alone = np.asarray(bars[:, np.unique(c.target_class[target])].all(axis=1))
    yield c.source, source[~alone[c.source_class[source]]]
    alone = np.asarray(bars[np.unique(c.source_class[source])].all(axis=0))
    yield c.target, target[~alone[c.target_class[target]]]


def layer_pairs(dataflow: Dataflow) -> tuple[tuple[str, str], ...]:
    """Return consecutive layers by engine name: those between which no other layer lies, windows and pools aside."""
    after: dict[str, list[str]] = {engine.name: [] for engine in dataflow.engines}
    for source, target in dataflow.engine_pairs:
        after[source].append(target)
    layers = {engine.name for engine in dataflow.engines if engine.role == "core" and engine.weight_bits}
    reach: dict[str, tuple[str, ...]] = {}
    # Engines are in topological order: what follows one is known before it.
    for engine in reversed(dataflow.engines):
        next_layers: dict[str, None] = {}
        for name in after[engine.name]:
            next_layers |= dict.fromkeys((name,) if name in layers else reach[name])
        reach[engine.name] = tuple(next_layers)
    return tuple((name, other) for name in reach if name in layers for other in reach[name])[::-1]
