"""Bounds of wires along trees of modules: chains and what branches off them, each module's place counted once.

Of a module's neighbours in the tree each has to lie apart from it, for any of its places at once (`apart`): from the
leaves on, the least that a branch can have is known for each place of the module that it hangs on. That is exact but
for branches that meet each other. Of the heaviest wire away from the root and the wire towards it this is counted too:
if both neighbours lie on one side of a module, one lies beyond the other, or one is off the other across, which makes
the lighter wire longer by half of both sizes while the heavier counts with what it has more of bits.

The tree is the one of most bits; wires outside count each alone. Pins are no modules: they count at each place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.placement.bounds.apart import Before, Floats, moved
from floorflow.placement.bounds.places import Places
from floorflow.placement.layouts.net_arrays import NetArrays

SIDES = range(4)
"""Directions of `Places.facing`; the opposite of one is its exclusive or with 1. Their axes: columns, row steps."""


@dataclass(frozen=True, eq=False)
class Branch:
    """The least length of a branch for each place (n,) of its module, by the direction from there to the next module.

    ``alone``: if its own neighbour lies elsewhere, or beyond the next module. If both lie on one side: ``beyond``: if
    the next module is so many ``gaps`` (by axis) away at least; ``level``: if the two are apart across, of whose wires
    only ``level_bits`` count then. None where the module has no neighbour of its own.
    """

    alone: Sequence[Floats]
    beyond: Sequence[Floats] | None = None
    level: Sequence[Floats] | None = None
    gaps: tuple[int, int] = (0, 0)
    level_bits: int = 0


@dataclass(frozen=True, eq=False)
class Hanging:
    """The least length of a branch and of the wire to it, for each place of the module it hangs on, by side.

    ``farther``: if the branch is so far away that the next module is between; ``level``: without what is across.
    """

    near: Sequence[Floats]
    farther: Sequence[Floats]
    level: Sequence[Floats]


def trees_bound(nets: NetArrays, places: Sequence[Places]) -> float:
    """Bound the sum over wires, to pins also, of bits times distance."""
    forest, rest = _forest(nets, len(places))
    twice = sum(_Tree(nets, places, forest, root).twice_bound() for root in _roots(forest))
    for a, b, bits in rest:
        apart = _hanging(Branch([np.zeros(len(places[a]))] * 4), places[a], places[b], 1)
        twice += bits * float(np.min(apart.near))
    return twice / 2


Forest = Sequence[dict[int, int]]
"""By module the bits to each of its neighbours."""


def _forest(nets: NetArrays, count: int) -> tuple[Forest, list[tuple[int, int, int]]]:
    """Return the spanning forest of most bits, and the modules and bits of the other pairs with wires."""
    forest: list[dict[int, int]] = [{} for _ in range(count)]
    tree, rest = list(range(count)), []
    for pair in np.argsort(-nets.pair_bits, kind="stable").tolist():
        (a, b), bits = nets.pairs[:, pair].tolist(), int(nets.pair_bits[pair])
        if tree[a] == tree[b]:
            rest.append((a, b, bits))
            continue
        forest[a][b] = forest[b][a] = bits
        tree = [tree[a] if each == tree[b] else each for each in tree]
    return forest, rest


def _roots(forest: Forest) -> Iterator[int]:
    """Yield one module of each tree, one with at most one neighbour."""
    seen: set[int] = set()
    for module in sorted(range(len(forest)), key=lambda each: len(forest[each])):
        if module not in seen:
            yield module
            waiting = [module]
            while waiting:
                one = waiting.pop()
                seen.add(one)
                waiting.extend(other for other in forest[one] if other not in seen)


@dataclass(frozen=True, eq=False)
class _Tree:
    nets: NetArrays
    places: Sequence[Places]
    forest: Forest
    root: int

    def twice_bound(self) -> float:
        """Return twice the least length of the tree's wires and of those to pins."""
        parents, order = {self.root: -1}, [self.root]
        for module in order:
            for other in self.forest[module]:
                if other != parents[module]:
                    parents[other] = module
                    order.append(other)
        branches: dict[int, Branch] = {}
        for module in reversed(order):
            branches[module] = self._branch(module, parents[module], branches)
        return float(branches[self.root].alone[0].min())

    def _branch(self, module: int, parent: int, branches: dict[int, Branch]) -> Branch:
        wires, places = self.forest[module], self.places
        children = sorted((other for other in wires if other != parent), key=lambda each: -wires[each])
        crowded = children[:1] if parent >= 0 else []
        base = self._to_pins(module)
        for child in children[len(crowded) :]:
            found = _hanging(branches.pop(child), places[child], places[module], wires[child])
            base = base + np.minimum.reduce(found.near)
        if not crowded:
            return Branch([base] * len(SIDES))
        (child,) = crowded
        beyond, level_bits = _sizes(places[parent]), max(wires[child] - wires[parent], 0)
        found = _hanging(
            branches.pop(child), places[child], places[module], wires[child], beyond=beyond, level_bits=level_bits
        )
        return _joined(base, found, (places[child], places[parent]), (wires[child], wires[parent]))

    def _to_pins(self, module: int) -> Floats:
        """Return, for each place of a module, the bits times twice the distance of its wires to pins."""
        length = np.zeros(len(self.places[module]))
        for pin in np.flatnonzero(self.nets.pin_bits[module]).tolist():
            x2, y2 = self.nets.pins[pin].tolist()
            length += int(self.nets.pin_bits[module, pin]) * self.places[module].twice_distances(x2, y2)
        return length


def _sizes(places: Places) -> tuple[int, int]:
    return places.least_size(0), places.least_size(1)


def _joined(base: Floats, found: Hanging, ends: tuple[Places, Places], bits: tuple[int, int]) -> Branch:
    """Return a module's branch, of whose two neighbours the first hangs on it and the other is next."""
    alone, beyond, level = [], [], []
    for side in SIDES:
        same, across = side ^ 1, 1 - side // 2
        others = [found.near[each] for each in SIDES if each != same]
        alone.append(base + np.minimum.reduce([*others, found.farther[same]]))
        beyond.append(base + found.near[same])
        sizes = sum(each.least_size(across) for each in ends) * ends[0].facing[2 * across].unit
        level.append(base + found.level[same] + min(bits) * sizes)
    return Branch(alone, beyond, level, _sizes(ends[0]), max(bits[1] - bits[0], 0))


def _hanging(
    branch: Branch,
    one: Places,
    other: Places,
    bits: int,
    *,
    beyond: tuple[int, int] | None = None,
    level_bits: int = 0,
) -> Hanging:
    """Return the least of a branch that hangs on another module by a wire, for each place of that.

    ``beyond`` (None: not asked for) is how much farther away, by axis, it has to be to lie beyond what else lies there;
    ``level_bits`` are those that count across where that is left out.
    """
    pairs = [Before.of(one.facing[side], other.facing[side]) for side in SIDES]
    always = [side for side in SIDES if pairs[side].always][:1]
    none = np.full(len(other), np.inf)
    near, farther, level = [none] * 4, [none] * 4, [none] * 4
    for side in always or SIDES:
        pair = pairs[side]
        if pair.never:
            continue
        table, free = _tables(branch, pair, side, bits)
        near[side] = pair.least(table, bits)
        if beyond is not None:
            farther[side] = pair.least(table, bits, beyond[side // 2])
            level[side] = pair.least(pair.spread(free, level_bits), bits)
    return Hanging(near, farther, level)


def _tables(branch: Branch, pair: Before, side: int, bits: int) -> tuple[Floats, Floats]:
    """Return two tables of a branch before the module it hangs on, with what is across.

    In the second the wire between is free to be left out across: no bits of it have made up for another's being so.
    """
    table = pair.table(branch.alone[side], bits)
    if branch.beyond is None or branch.level is None:
        table = pair.spread(table, bits)
        return table, table
    both = pair.table(branch.beyond[side], bits)
    table = pair.spread(np.minimum(table, moved(both, branch.gaps[side // 2])), bits)
    both = pair.spread(both, bits)
    level = pair.spread(pair.table(branch.level[side], bits), branch.level_bits)
    return np.minimum(table, np.maximum(level, both)), np.minimum(table, both)
