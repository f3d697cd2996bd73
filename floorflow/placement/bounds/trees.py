"""Bounds of wires along trees of modules: chains and what branches off them, each module's place counted once.

Of a module's neighbours in the tree each has to lie apart from it, for any of its places at once (`Before`): from the
leaves on, the least that a branch can have is known for each place of the module that it hangs on. That is exact but
for branches that meet each other. Of the heaviest wire away from the root and the wire towards it this is counted too:
if both neighbours lie on one side of a module, one lies beyond the other, or one is off the other across, which makes
the lighter wire longer by half of both sizes while the heavier counts with what it has more of bits.

The tree is the one of most bits; wires outside count each alone. Pins are no modules: they count at each place.

**Places** are few: rectangles that cannot be narrower on both sides, and pairs of them. A legal rectangle of some span
of rows may have room to spare. Narrow it from the right as far as it remains legal, then column by column move on to
what is narrow from the left: every rectangle on this way is legal and lies inside the first, cannot be narrowed from
the left and from the right both, and the middles move from left of its middle to right of it. So between two that
follow each other, or at one of them, lies its middle. Such a pair stands for all rectangles around it: it covers what
the two cover, which they cover too, and its middle may be anywhere between both middles. What holds for all of these
places holds for all legal rectangles.

**Apart**: of two modules one ends before the other starts, along columns or rows. What lies before is told by a table:
for each column (or row) and each middle across, the least over all places that end there or before. Distances across
are added to a table as a whole, so that nothing is done for pairs of places.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from floorflow.placement.bounds.wires import Legal
from floorflow.placement.layout import NetArrays
from floorflow.placement.rectangles.candidate_rectangles import IntArray


@dataclass(frozen=True, eq=False)
class Facing:
    """Places as they lie along one of four directions, (n,) each: ``start`` to ``end``, exclusive, and the middles.

    ``low`` to ``high`` is twice the middle along the direction, ``across_low`` to ``across_high`` across it; ``unit``
    and ``across_unit`` are the columns or rows of one.
    """

    start: IntArray
    end: IntArray
    low: IntArray
    high: IntArray
    across_low: IntArray
    across_high: IntArray
    unit: int
    across_unit: int

    def turned(self) -> "Facing":
        """Look the other way."""
        across = self.across_low, self.across_high, self.unit, self.across_unit
        return Facing(-self.end, -self.start, -self.high, -self.low, *across)


@dataclass(frozen=True, eq=False)
class Places:
    """Where a module can lie: as seen to the right, to the left, upwards and downwards, in columns and row steps."""

    facing: tuple[Facing, Facing, Facing, Facing]

    @classmethod
    def of(cls, legal: Legal, row_step: int) -> "Places":
        """Find the places that stand for the legal rectangles."""
        first, last = _pairs(legal)
        spans = legal.grid.spans[first[:, 0]]
        (left, right), (other_left, other_right) = (each[:, 1:].T for each in (first, last))
        low, high = left + right + 1, other_left + other_right + 1
        bottom, top = spans[:, 0] // row_step, (spans[:, 1] + 1) // row_step
        columns = Facing(left, other_right + 1, low, high, bottom + top, bottom + top, 1, row_step)
        rows = Facing(bottom, top, bottom + top, bottom + top, low, high, row_step, 1)
        return cls((columns, columns.turned(), rows, rows.turned()))

    def __len__(self) -> int:
        return len(self.facing[0].start)

    def least_size(self, axis: int) -> int:
        """Return the least columns (axis 0) or row steps (1)."""
        facing = self.facing[2 * axis]
        return int((facing.end - facing.start).min())

    def twice_distances(self, twice_x: int, twice_y: int) -> IntArray:
        """Return, (n,), twice the least distance in columns and rows of the middles to a point told by its double."""
        distances = np.zeros(len(self), dtype=np.int64)
        for facing, point in ((self.facing[0], twice_x), (self.facing[2], twice_y)):
            low, high = facing.low * facing.unit - 1, facing.high * facing.unit - 1
            distances += np.maximum(np.maximum(low - point, point - high), 0)
        return distances


def _pairs(legal: Legal) -> tuple[IntArray, IntArray]:
    """Return, (n, 3) each, span, left and right of both of each pair; each rectangle also makes a pair with itself."""
    lefts, rights = legal.grid.lefts, legal.grid.rights
    span, left, right = _narrow(legal)
    follows = (span[1:] == span[:-1]) & (left[1:] - left[:-1] <= 1)
    rects = np.column_stack((span, lefts[left], rights[right]))
    return np.concatenate((rects, rects[:-1][follows])), np.concatenate((rects, rects[1:][follows]))


def _narrow(legal: Legal) -> tuple[IntArray, IntArray, IntArray]:
    """Return, (n,), the span and the indices of left and right edge of what cannot be narrower on both sides.

    They are sorted. The right edges of one left edge are those from the narrowest on, up to the next one's narrowest.
    """
    grid, count = legal.grid, len(legal.grid.rights)
    narrowest = np.searchsorted(grid.rights, legal.low)
    widest = np.searchsorted(grid.rights, legal.high, side="right") - 1
    allowed = legal.allowed & (narrowest <= widest)
    after = np.where(allowed, narrowest, count)[:, 1:]
    after = np.minimum.accumulate(np.pad(after, ((0, 0), (0, 1)), constant_values=count)[:, ::-1], axis=1)[:, ::-1]
    last = np.minimum(np.maximum(after - 1, narrowest), widest)
    span, left = np.nonzero(allowed)
    counts = (last - narrowest + 1)[span, left]
    which = np.repeat(np.arange(len(span)), counts)
    beyond = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return span[which], left[which], narrowest[span, left][which] + beyond


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Before:
    """The places of a module that lie before those of another; tables are (rows, middles across)."""

    one: Facing
    other: Facing
    first: int
    rows: int
    across_first: int
    across: int

    @classmethod
    def of(cls, one: Facing, other: Facing) -> "Before":
        """Find the size of the tables."""
        first, last = min(one.end.min(), other.start.min()), max(one.end.max(), other.start.max())
        low = min(one.across_low.min(), other.across_low.min())
        high = max(one.across_high.max(), other.across_high.max())
        return cls(one, other, int(first), int(last - first) + 1, int(low), int(high - low) + 1)

    @property
    def never(self) -> bool:
        """No place lies before any of the other."""
        return bool(self.one.end.min() > self.other.start.max())

    @property
    def always(self) -> bool:
        """All places lie before all of the other."""
        return bool(self.one.end.max() <= self.other.start.min())

    def table(self, values: Floats, bits: int) -> Floats:
        """Return the least of values (n,) less the bits times where a place's middle lies."""
        values = values - bits * self.one.unit * self.one.high
        level, low, high = self._windows(self.one)
        tables = np.full((int(level.max()) + 1, self.rows, self.across), np.inf)
        start = (level * self.rows + self.one.end - self.first) * self.across
        np.minimum.at(tables.reshape(-1), start + low, values)
        np.minimum.at(tables.reshape(-1), start + high, values)
        for k in range(len(tables) - 1, 0, -1):
            half = 1 << (k - 1)
            np.minimum(tables[k - 1], tables[k], out=tables[k - 1])
            np.minimum(tables[k - 1][:, half:], tables[k][:, :-half], out=tables[k - 1][:, half:])
        table: Floats = np.minimum.accumulate(tables[0], axis=0)
        return table

    def spread(self, table: Floats, bits: int) -> Floats:
        """Return the least of a table plus the bits times the distance across."""
        ramp = np.arange(self.across) * float(bits * self.one.across_unit)
        forth = np.minimum.accumulate(table - ramp, axis=1) + ramp
        back = np.minimum.accumulate((table + ramp)[:, ::-1], axis=1)[:, ::-1] - ramp
        least: Floats = np.minimum(forth, back)
        return least

    def least(self, table: Floats, bits: int, gap: int = 0) -> Floats:
        """Return, (n,), the least for each place of the other, ``gap`` columns (or row steps) away at least."""
        level, low, high = self._windows(self.other)
        windows = [table]
        for k in range(1, int(level.max()) + 1):
            half, wider = 1 << (k - 1), windows[-1].copy()
            np.minimum(wider[:, :-half], wider[:, half:], out=wider[:, :-half])
            windows.append(wider)
        flat = np.stack(windows).reshape(-1)
        row = self.other.start - self.first - gap
        start = (level * self.rows + np.maximum(row, 0)) * self.across
        values = np.where(row < 0, np.inf, np.minimum(flat[start + low], flat[start + high]))
        return values + bits * self.other.unit * self.other.low

    def _windows(self, facing: Facing) -> tuple[IntArray, IntArray, IntArray]:
        """Return the middles across as two windows each, of 2 ** level: level, and where either begins."""
        level = np.frexp(facing.across_high - facing.across_low + 1)[1].astype(np.int64) - 1
        low = facing.across_low - self.across_first
        return level, low, facing.across_high - self.across_first - (1 << level) + 1


def moved(table: Floats, gap: int) -> Floats:
    """Return a table with all places so many columns (or row steps) further away."""
    farther = np.full_like(table, np.inf)
    farther[gap:] = table[: max(len(table) - gap, 0)]
    return farther


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
        # For each place, the bits times twice the distance of its wires to pins.
        base = np.zeros(len(self.places[module]))
        for pin in np.flatnonzero(self.nets.pin_bits[module]).tolist():
            x2, y2 = self.nets.pins[pin].tolist()
            base += int(self.nets.pin_bits[module, pin]) * self.places[module].twice_distances(x2, y2)
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
