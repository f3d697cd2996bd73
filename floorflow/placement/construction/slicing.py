"""Layouts by slicing: cut a slot in two again and again, each part just big enough for its share of the modules.

Modules are soft: any rectangle with enough of each resource will do. A slot that is nearly full is therefore best cut
like paper: at each cut the modules, kept in order, are split in two, and the cut is put where both parts have the same
share of what they need, or along a keep-out. Only the last parts are looked at as rectangles. A part that cannot be
divided any more may be given to its modules together, if they may merge into one pblock.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.placement.bounds.wires import needs_of
from floorflow.placement.layout import Layout
from floorflow.placement.problem import PlacementProblem
from floorflow.placement.rectangles.candidate_rectangles import (
    BOTTOM,
    LEFT,
    RIGHT,
    SLOTS_KEPT,
    TOP,
    IntArray,
    aspect_of,
    part_grid,
    smallest_rectangle,
    supply_below,
)

Group = tuple[int, ...]
"""Modules, by index, that get one rectangle."""

ORDERS = 12
"""Orders of a slot's modules that are sliced with merging."""
NODES = 400
"""Parts of a slot looked at for one order of its modules."""
BRANCHES = 3
"""Cuts of a part that are tried, best first."""
FULL = 1.0
"""Largest share of a part's supply that its modules may need."""
ODD = 0.1
"""Fullness that counts as much as a split of one module to many, or as a side twice as long as it should be."""
SLIVER = 3.0
"""Ratio of sides beyond which a part counts as ill-shaped."""


@dataclass(frozen=True)
class _Cut:
    """The first ``count`` modules go to ``first``, the others to ``second``; ``merit``: least is best."""

    count: int
    first: IntArray
    second: IntArray
    merit: float


@dataclass
class Slicer:
    """The cutting of one slot.

    ``needs`` (5,) are the least supplies of each module, ``aspects`` the largest ratio of sides of its rectangle (None:
    any); ``may_merge`` says of modules, by index, whether they may share a rectangle.
    """

    problem: PlacementProblem
    slot: Slot
    needs: Sequence[IntArray]
    aspects: Sequence[float | None]
    may_merge: Callable[[Group], bool] = lambda _: False
    nodes: int = field(default=NODES)

    def __post_init__(self) -> None:
        """Collect the legal places of cuts."""
        device, region = self.problem.device, self.slot.region
        lefts = np.unique(np.asarray(device.left_edges, dtype=np.int64))
        rights = np.unique(np.asarray(device.right_edges, dtype=np.int64))
        rights = rights[(rights >= region.left) & (rights < region.right)]
        after = np.searchsorted(lefts, rights, side="right")
        self.rights, self.lefts = rights[after < len(lefts)], lefts[after[after < len(lefts)]]
        step = device.row_step
        self.rows = np.arange(-(-region.bottom // step) + 1, (region.top + 1) // step, dtype=np.int64) * step
        self.keep_outs = np.array([rect.as_tuple() for rect in self.slot.keep_outs], dtype=np.int64).reshape(-1, 4)
        self.free_below = _free_below(device, region, self.slot.keep_outs)

    def run(self, modules: Sequence[int]) -> dict[Group, IntArray] | None:
        """Return a box for each module or merged group, or None where none was found within the budget of nodes."""
        return self._divide(np.array(self.slot.region.as_tuple(), dtype=np.int64), tuple(modules))

    def _divide(self, part: IntArray, modules: Group) -> dict[Group, IntArray] | None:
        self.nodes -= 1
        if self.nodes < 0:
            return None
        if len(modules) > 1:
            for cut in self._cuts(part, modules)[:BRANCHES]:
                first = self._divide(cut.first, modules[: cut.count])
                second = None if first is None else self._divide(cut.second, modules[cut.count :])
                if first is not None and second is not None:
                    return first | second
            if not self.may_merge(modules):
                return None
        box = self._box(part, modules)
        return None if box is None else {modules: box}

    def _box(self, part: IntArray, modules: Group) -> IntArray | None:
        """Return the smallest legal rectangle of modules together inside a part, if there is one."""
        grid = part_grid(self.problem.device, self.slot, Rect(*part.tolist()))
        if not (len(grid.lefts) and len(grid.rights) and len(grid.spans)):
            return None
        need = np.sum([self.needs[module] for module in modules], axis=0)
        return smallest_rectangle(grid, need, self.aspects[modules[0]] if len(modules) == 1 else None)

    def _cuts(self, part: IntArray, modules: Group) -> list[_Cut]:
        """Return for each split of the modules, in both directions, the cut that is fairest to both parts."""
        first_need = np.cumsum([self.needs[module] for module in modules], axis=0)
        second_need = first_need[-1] - first_need[:-1]
        cuts: list[_Cut] = []
        for firsts, seconds, edges in self._halves(part):
            if len(firsts):
                full = np.maximum(
                    _fullness(first_need[:-1], self._supply(firsts)), _fullness(second_need, self._supply(seconds))
                )
                cuts += _fairest(firsts, seconds, full)
                cuts += _along(firsts, seconds, full, edges)
        return sorted(cuts, key=lambda cut: cut.merit)

    def _halves(self, part: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield the parts, (n, 4) each, on both sides of upright cuts and of level ones, and those along keep-outs."""
        inside = (self.rights >= part[LEFT]) & (self.lefts <= part[RIGHT])
        rights, lefts = self.rights[inside], self.lefts[inside]
        edges = np.isin(rights, self.keep_outs[:, RIGHT]) | np.isin(lefts, self.keep_outs[:, RIGHT] + 1)
        edges |= np.isin(lefts, self.keep_outs[:, LEFT]) | np.isin(rights, self.keep_outs[:, LEFT] - 1)
        yield _with(part, RIGHT, rights), _with(part, LEFT, lefts), np.flatnonzero(edges)
        rows = self.rows[(self.rows > part[BOTTOM]) & (self.rows <= part[TOP])]
        edges = np.isin(rows, self.keep_outs[:, BOTTOM]) | np.isin(rows, self.keep_outs[:, TOP] + 1)
        yield _with(part, TOP, rows - 1), _with(part, BOTTOM, rows), np.flatnonzero(edges)

    def _supply(self, rects: IntArray) -> IntArray:
        """Return, (n, 5), what rectangles of whole row steps hold outside the keep-outs."""
        region, step = self.slot.region, self.problem.device.row_step
        lowest, width = -(-region.bottom // step), self.free_below.shape[1]
        left, right = rects[:, LEFT] - region.left, rects[:, RIGHT] + 1 - region.left
        low, high = (rects[:, BOTTOM] // step - lowest) * width, ((rects[:, TOP] + 1) // step - lowest) * width
        take = self.free_below.reshape(-1, 5).take
        supply: IntArray = take(high + right, 0) - take(high + left, 0) - take(low + right, 0) + take(low + left, 0)
        return supply


@lru_cache(SLOTS_KEPT)
def _free_below(device: Device, region: Rect, keep_outs: tuple[Rect, ...]) -> IntArray:
    """Return `supply_below` less what keep-outs cover."""
    below = supply_below(device, region)
    step = device.row_step
    lowest = -(-region.bottom // step)
    tops = (np.arange(below.shape[0]) + lowest) * step - 1
    rights = np.arange(below.shape[1]) + region.left - 1
    corners = np.stack(np.meshgrid(rights, tops), axis=-1).reshape(-1, 2)
    for left, bottom, right, top in (rect.as_tuple() for rect in keep_outs):
        low, high = np.full_like(corners, (left, bottom)), np.minimum(corners, (right, top))
        covered = device.resources_of(np.concatenate((low, np.maximum(low, high)), axis=1))
        covered[(low > high).any(axis=1)] = 0
        below = below - covered.reshape(below.shape)
    return below


def sliced(problem: PlacementProblem, order: Sequence[int], aspects: Sequence[float | None], start: Layout) -> Layout:
    """Return a layout with modules of each slot sliced in the given order; slots that fail stay unplaced.

    ``start`` has what lies elsewhere.
    """
    layout, needs = start.copy(), needs_of(problem)
    for slot in problem.slots:
        inside = [module for module in order if problem.modules[module].slot == slot.name]
        groups_placed = Slicer(problem, slot, needs, aspects).run(inside) if inside else None
        for (module,), box in (groups_placed or {}).items():
            layout.put(module, box)
    return layout


def pack_slot(
    problem: PlacementProblem, slot: str, may_merge: Callable[[frozenset[str]], bool], seed: int
) -> dict[frozenset[str], Rect] | None:
    """Return rectangles for a slot's modules, some of them merged, or None where no slicing was found.

    Several orders are tried, the modules' own first; the answer with the most rectangles is returned.
    """
    names = [module.name for module in problem.modules]
    inside = [index for index, module in enumerate(problem.modules) if module.slot == slot]
    needs, free = needs_of(problem), [None] * len(names)
    rng = np.random.default_rng(seed)
    orders = [inside, *(rng.permutation(inside).tolist() for _ in range(ORDERS - 1))]
    best: dict[Group, IntArray] | None = None
    for order in orders:
        slicer = Slicer(
            problem, problem.slot_of[slot], needs, free, lambda g: may_merge(frozenset(names[i] for i in g))
        )
        groups_placed = slicer.run(order)
        if groups_placed is not None and (best is None or len(groups_placed) > len(best)):
            best = groups_placed
    if best is None:
        return None
    return {frozenset(names[i] for i in group): Rect(*map(int, box)) for group, box in best.items()}


def _fairest(firsts: IntArray, seconds: IntArray, full: IntArray) -> Iterator[_Cut]:
    """Yield for each number of modules in the first part the cut whose fuller part is least full."""
    for split, cut in enumerate(full.argmin(axis=1)):
        if full[split, cut] <= FULL:
            yield _with_merit(firsts[cut], seconds[cut], split + 1, full[:, cut])


def _along(firsts: IntArray, seconds: IntArray, full: IntArray, edges: IntArray) -> Iterator[_Cut]:
    """Yield cuts along keep-outs, each with the fairest split of the modules, ahead of others."""
    for cut in edges:
        split = int(full[:, cut].argmin())
        if full[split, cut] <= FULL:
            groups_placed = _with_merit(firsts[cut], seconds[cut], split + 1, full[:, cut])
            yield replace(groups_placed, merit=groups_placed.merit - ODD)


def _with_merit(first: IntArray, second: IntArray, count: int, full: IntArray) -> _Cut:
    """Return a cut with its merit: how full the parts are, how uneven the split and how long the parts."""
    uneven = abs(2 * count / (len(full) + 1) - 1)
    longest = max(float(aspect_of(half[None, :])[0]) for half in (first, second))
    merit = float(full[count - 1]) + ODD * uneven + ODD * max(0.0, longest / SLIVER - 1)
    return _Cut(count, first, second, merit)


def _with(part: IntArray, side: int, values: IntArray) -> IntArray:
    """Return, (n, 4), the part with one side moved to each of the values."""
    rects = np.repeat(part[None, :], len(values), axis=0)
    rects[:, side] = values
    return rects


def _fullness(needs: IntArray, supplies: IntArray) -> IntArray:
    """Return, (n_needs, n_supplies), the largest ratio of need to supply over the resources."""
    ratio = needs[:, None, :] / np.maximum(supplies[None, :, :], 1e-3)
    largest: IntArray = np.where(needs[:, None, :] > 0, ratio, 0.0).max(axis=2)
    return largest
