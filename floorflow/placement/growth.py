"""Pblocks grow into what is free of their slot: first those that lack room, then all of them, evenly.

A rectangle that has not the room that its module should have becomes the smallest one around it that has, if some is
clear; among those that have, one that takes no stream beyond its reach is preferred. Then, again and again, the pblock
that is fullest of some resource reaches for more of it, as far as the objective allows, and no stream gets beyond its
reach. Outwards on two opposite sides at once a centre stays where it is, which costs no wire length.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf

import numpy as np
import numpy.typing as npt

from floorflow.hardware.device import Device
from floorflow.hardware.free_region import free_cells
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Slot
from floorflow.placement.objective import Floats, Objective, solved, wire_bound
from floorflow.placement.problem import (
    Pin,
    PlacedModule,
    PlacementProblem,
    PlacementSolution,
    Region,
    Wire,
    hpwl_of,
    point_of,
)
from floorflow.placement.rectangles.candidate_rectangles import IntArray, supply_below
from floorflow.resources import RESOURCE_NAMES, Resources


@dataclass(frozen=True, eq=False)
class Floor:
    """Cells of one column by a row step, from the lower left corner of a slot's region.

    ``taken`` (steps, columns): keep-outs and pblocks. ``lefts`` and ``rights``: legal edges, ascending. ``below``:
    see `supply_below`.
    """

    region: Rect
    step: int
    taken: npt.NDArray[np.bool_]
    lefts: tuple[int, ...]
    rights: tuple[int, ...]
    below: IntArray

    @classmethod
    def of(cls, device: Device, slot: Slot) -> "Floor":
        """Return the floor with nothing but the slot's keep-outs on it."""
        region, below = slot.region, supply_below(device, slot.region)
        inside = (device.left_edges >= region.left) & (device.right_edges <= region.right)
        lefts, rights = (tuple(edges[inside].tolist()) for edges in (device.left_edges, device.right_edges))
        taken = np.zeros((below.shape[0] - 1, region.columns), dtype=np.bool_)
        floor = cls(region, device.row_step, taken, lefts, rights, below)
        for rect in slot.keep_outs:
            floor.take(rect)
        return floor

    @property
    def bottom(self) -> int:
        """The lowest row of a pblock."""
        return -(-self.region.bottom // self.step) * self.step

    @property
    def top(self) -> int:
        """The highest row of a pblock."""
        return self.bottom + len(self.taken) * self.step - 1

    def take(self, rect: Rect, *, taken: bool = True) -> None:
        """Mark the cells that a rectangle meets, as far as it lies inside the region, as taken or as free."""
        columns, rows = self._columns(rect), self._rows(rect)
        if columns.start < columns.stop and rows.start < rows.stop:
            self.taken[rows, columns] = taken

    def is_clear(self, rect: Rect) -> bool:
        """Whether nothing is taken of a rectangle inside the region."""
        return not self.taken[self._rows(rect), self._columns(rect)].any()

    def supply(self, rect: Rect) -> Resources:
        """Return what a legal rectangle inside the region holds."""
        columns, rows = self._columns(rect), self._rows(rect)
        low, high = self.below[rows.start], self.below[rows.stop]
        held = high[columns.stop] - high[columns.start] - low[columns.stop] + low[columns.start]
        return Resources(*held.tolist())

    def further_left(self, rect: Rect) -> Iterator[Rect]:
        """Yield what the rectangle becomes when its left edge moves outwards over what is clear."""
        for left in reversed(self.lefts[: bisect_left(self.lefts, rect.left)]):
            strip = Rect(left, rect.bottom, rect.left - 1, rect.top)
            if not self.is_clear(strip):
                return
            rect = Rect(left, rect.bottom, rect.right, rect.top)
            yield rect

    def further_right(self, rect: Rect) -> Iterator[Rect]:
        """Yield what the rectangle becomes when its right edge moves outwards over what is clear."""
        for right in self.rights[bisect_right(self.rights, rect.right) :]:
            strip = Rect(rect.right + 1, rect.bottom, right, rect.top)
            if not self.is_clear(strip):
                return
            rect = Rect(rect.left, rect.bottom, right, rect.top)
            yield rect

    def further_down(self, rect: Rect) -> Iterator[Rect]:
        """Yield what the rectangle becomes when its bottom moves outwards over what is clear."""
        for bottom in range(rect.bottom - self.step, self.bottom - 1, -self.step):
            if not self.is_clear(Rect(rect.left, bottom, rect.right, bottom + self.step - 1)):
                return
            yield Rect(rect.left, bottom, rect.right, rect.top)

    def further_up(self, rect: Rect) -> Iterator[Rect]:
        """Yield what the rectangle becomes when its top moves outwards over what is clear."""
        for top in range(rect.top + self.step, self.top + 1, self.step):
            if not self.is_clear(Rect(rect.left, top - self.step + 1, rect.right, top)):
                return
            yield Rect(rect.left, rect.bottom, rect.right, top)

    def _columns(self, rect: Rect) -> slice:
        left = self.region.left
        return slice(max(rect.left - left, 0), max(min(rect.right + 1 - left, self.region.columns), 0))

    def _rows(self, rect: Rect) -> slice:
        first = (rect.bottom - self.bottom) // self.step
        return slice(max(first, 0), max(min((rect.top - self.bottom) // self.step + 1, len(self.taken)), 0))


SLACK = 2.0
"""Times the aspect that the search takes up to which a rectangle may grow: what is longer has its middle still."""

HasRoom = Callable[[Resources], bool]
"""Whether a supply gives a module the room that it should have."""


def grown(
    problem: PlacementProblem, found: PlacementSolution, has_room: Mapping[str, HasRoom], *, longer: float, most: float
) -> PlacementSolution:
    """Return a placement whose pblocks have grown.

    ``longer``: the share by which the wirelength may rise once every pblock has what room there is for it. ``most``:
    the share of a slot's free cells that a pblock grows to. Those over all that is free of a slot stay.
    """
    growing = _Growing.of(problem, found.regions, has_room)
    growing.make_room()
    base = hpwl_of(growing.regions, problem.wires)
    growing.spread(longer * base, most)
    if growing.regions == found.regions:
        return found
    regions = {name: growing.regions[name] for name in found.regions}
    told = "optimal, then grown" if found.stats.status == "optimal" else "grown"
    method, bound = f"{found.stats.method}, {told}", wire_bound(found, problem.weights)
    # Rectangles of other aspects than those that the bound is of may have shorter wires.
    if bound is not None and bound > hpwl_of(regions, problem.wires):
        bound = None
    return solved(problem, regions, bound, method)


def cut_to_fabric(problem: PlacementProblem, found: PlacementSolution) -> PlacementSolution:
    """Return a placement whose rectangles do not begin or end in the processor, where they hold nothing.

    Fixed ones, those that stay as they were, and pblocks of several rectangles are left.
    """
    held = {**problem.previous, **problem.fixed}
    cut = {
        name: (problem.device.cut_to_fabric(region[0]),) if len(region) == 1 and region != (held.get(name),) else region
        for name, region in found.regions.items()
    }
    if cut == found.regions:
        return found
    bound = wire_bound(found, problem.weights)
    if bound is not None and bound > hpwl_of(cut, problem.wires):
        bound = None
    return solved(problem, cut, bound, found.stats.method)


@dataclass
class _Growing:
    """Pblocks on their way. ``wires`` are those of each module; ``free`` the free cells of each slot.

    ``objective``: what counts beside wirelength, None if nothing does; ``places`` are those of all ends, ``others`` how
    many streams are beyond their reach there and twice what all but wirelength costs.
    """

    problem: PlacementProblem
    regions: dict[str, Region]
    has_room: Mapping[str, HasRoom]
    floors: Mapping[str, Floor]
    wires: Mapping[str, list[Wire]]
    free: Mapping[str, int]
    objective: Objective | None
    places: Floats
    others: tuple[int, float]

    @classmethod
    def of(
        cls, problem: PlacementProblem, regions: Mapping[str, Region], has_room: Mapping[str, HasRoom]
    ) -> "_Growing":
        """Put the pblocks on the floors of their slots."""
        used = {module.slot for module in problem.modules}
        floors = {name: Floor.of(problem.device, problem.slot_of[name]) for name in sorted(used)}
        wires: dict[str, list[Wire]] = {module.name: [] for module in problem.modules}
        for wire in problem.wires:
            for name in set(wire.modules):
                wires[name].append(wire)
        free = {name: free_cells(problem.device, problem.slot_of[name]) for name in floors}
        for module in problem.modules:
            for rect in regions[module.name]:
                floors[module.slot].take(rect)
        objective = Objective.of(problem)
        places = objective.places(problem, regions)
        counted = None if objective.is_wire_alone else objective
        return cls(problem, dict(regions), has_room, floors, wires, free, counted, places, _others(counted, places))

    @property
    def _may_grow(self) -> list[PlacedModule]:
        """The modules whose pblocks are neither fixed nor to stay as they were."""
        problem, regions = self.problem, self.regions
        held = {**problem.previous, **problem.fixed}
        return [m for m in problem.modules if regions[m.name] != (held.get(m.name),)]

    def make_room(self) -> None:
        """Give each rectangle that lacks room the smallest one around it that has it."""
        for module in self._may_grow:
            floor, (rect, *others) = self.floors[module.slot], self.regions[module.name]
            enough = self.has_room[module.name]
            if others or enough(floor.supply(rect)):
                continue
            roomy = min(_around(floor, rect, enough), key=partial(self._harm, module.name), default=None)
            if roomy is not None:
                self._put(module.name, floor, roomy)

    def spread(self, longer: float, most: float) -> None:
        """Let the fullest grow by turns; ``longer`` is by how much the wirelength may rise in all."""
        turns = [
            _Turn(module.name, self.floors[module.slot], module.demand, int(most * self.free[module.slot]))
            for module in self._may_grow
            if len(self.regions[module.name]) == 1
        ]
        for turn in turns:
            turn.look(self.regions[turn.name][0])
        while turns:
            turn = max(turns, key=lambda one: one.share)
            if turn.share == -inf:
                return
            rect = self.regions[turn.name][0]
            step = self._best_step(turn, rect, longer)
            if step is None:
                turn.stuck.add(turn.resource)
                turn.look(rect)
                continue
            longer -= self._longer_by(turn.name, step)
            self._put(turn.name, turn.floor, step)
            turn.look(step)

    def _best_step(self, turn: "_Turn", rect: Rect, longer: float) -> Rect | None:
        """Return the step that costs no wires and gains most a cell; else the one that gains most for its wires."""
        best, highest = None, (-1, 0.0)
        for step in turn.steps(rect, self.problem.max_aspect):
            cost = self._longer_by(turn.name, step)
            if cost > longer:
                continue
            gained = turn.held(step) - turn.held(rect)
            merit = (1, gained / (_size(step)[0] - _size(rect)[0])) if cost <= 0 else (0, gained / cost)
            if merit > highest:
                best, highest = step, merit
        return best

    def _harm(self, name: str, rect: Rect) -> tuple[bool, tuple[int, Rect]]:
        """Order rectangles with room: those that take no stream beyond its reach first, then by size."""
        return self._others_by(name, rect) == inf, _size(rect)

    def _longer_by(self, name: str, rect: Rect) -> float:
        """Return by how much the objective, in units of wirelength, rises if a module's pblock becomes a rectangle."""
        old, new = point_of(name, self.regions), Pin.at_centre(rect)
        if old == new:
            return 0.0
        twice = 0
        for wire in self.wires[name]:
            other = point_of(wire.target if wire.source == name else wire.source, self.regions)
            before = abs(old.x2 - other.x2) + abs(old.y2 - other.y2)
            twice += wire.width_bits * (abs(new.x2 - other.x2) + abs(new.y2 - other.y2) - before)
        return twice / 2 + self._others_by(name, rect)

    def _others_by(self, name: str, rect: Rect) -> float:
        """Return by how much all but wirelength rises; infinite if a stream more is beyond its reach."""
        objective, weight = self.objective, self.problem.weights.wire
        if objective is None:
            return 0.0
        after = self.places.copy()
        after[self.problem.index_of[name]] = rect.left + rect.right, rect.bottom + rect.top
        beyond, twice = _others(objective, after)
        if beyond > self.others[0]:
            return inf
        return (twice - self.others[1]) / 2 / (weight or 1.0)

    def _put(self, name: str, floor: Floor, rect: Rect) -> None:
        floor.take(rect)
        self.regions[name] = (rect,)
        self.places[self.problem.index_of[name]] = rect.left + rect.right, rect.bottom + rect.top
        self.others = _others(self.objective, self.places)


def _others(objective: Objective | None, places: Floats) -> tuple[int, float]:
    """Return how many streams are beyond their reach, and twice what all but wirelength costs."""
    return (0, 0.0) if objective is None else (objective.beyond(places), objective.twice_others(places))


@dataclass
class _Turn:
    """A pblock that may grow, to at most ``cells``; ``stuck``: resources of which it finds no more.

    ``resource`` is what it is fullest of, but for these, ``share`` how full; minus infinity if nothing is left.
    """

    name: str
    floor: Floor
    demand: Resources
    cells: int
    stuck: set[str] = field(default_factory=set)
    resource: str = ""
    share: float = -inf

    def look(self, rect: Rect) -> None:
        """Find what the pblock is fullest of."""
        demand, supply = self.demand.as_dict(), self.floor.supply(rect).as_dict()
        shares = {
            name: demand[name] / max(supply[name], 1)
            for name in RESOURCE_NAMES
            if demand[name] and name not in self.stuck
        }
        self.resource = max(shares, key=lambda name: shares[name], default="")
        self.share = shares.get(self.resource, -inf)

    def held(self, rect: Rect) -> int:
        return self.floor.supply(rect).as_dict()[self.resource]

    def steps(self, rect: Rect, max_aspect: float | None) -> Iterator[Rect]:
        """Yield rectangles with more of the resource: moved on one side as little as gains any, or on two sides."""
        floor, held = self.floor, self.held(rect)
        left, right, lower, upper = (
            next((wider for wider in further(rect) if self.held(wider) > held), None)
            for further in (floor.further_left, floor.further_right, floor.further_down, floor.further_up)
        )
        steps = [step for step in (left, right, lower, upper) if step is not None]
        if left is not None and right is not None:
            steps.append(Rect(left.left, rect.bottom, right.right, rect.top))
        if lower is not None and upper is not None:
            steps.append(Rect(rect.left, lower.bottom, rect.right, upper.top))
        longest = inf if max_aspect is None else max(SLACK * max_aspect, _aspect(rect))
        return (step for step in steps if _size(step)[0] <= self.cells and _aspect(step) <= longest)


def _around(floor: Floor, rect: Rect, enough: HasRoom) -> Iterator[Rect]:
    """Yield rectangles around one that are clear of all else and hold enough: of each span of rows the narrowest."""
    for low in (rect, *floor.further_down(rect)):
        for tall in (low, *floor.further_up(low)):
            lefts, rights = (tall, *floor.further_left(tall)), (tall, *floor.further_right(tall))
            if not enough(floor.supply(_between(lefts[-1], rights[-1]))):
                continue
            # What moves in on the left must move out on the right.
            reach = 0
            for left in reversed(lefts):
                while reach < len(rights) and not enough(floor.supply(_between(left, rights[reach]))):
                    reach += 1
                if reach == len(rights):
                    break
                yield _between(left, rights[reach])


def _between(left: Rect, right: Rect) -> Rect:
    """Return the rectangle from the left edge of one to the right edge of another, of equal rows."""
    return Rect(left.left, left.bottom, right.right, left.top)


def _size(rect: Rect) -> tuple[int, Rect]:
    """Order rectangles: by cells, then by place."""
    return rect.columns * rect.rows, rect


def _aspect(rect: Rect) -> float:
    return max(rect.columns / rect.rows, rect.rows / rect.columns)
