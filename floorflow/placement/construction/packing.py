"""Pack a slot that is nearly full, whatever the wirelength: guided ejection.

A module takes, of its smaller rectangles, the free one that is smallest and touches most of what is taken. Where none
is free it ejects those whose loss costs least; a module's price rises each time that it finds no room, so that what is
hard to place stays. A few others are then put anew, which closes gaps (Nagata and Bräysy, for vehicle routing).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from floorflow.placement.problem import PlacementProblem
from floorflow.placement.rectangles.candidate_rectangles import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    BoolArray,
    IntArray,
    area_of,
    overlaps,
)

HOPELESS = 0.9
"""Share of the free cells above which modules' least rectangles were never packed."""


@dataclass(frozen=True, slots=True)
class _Style:
    """How one try goes about it.

    ``slack``: the most that a rectangle may exceed the least area; ``moved``: modules put anew after each ejection;
    ``size_counts``: power of a module's area in the price of its ejection; ``touch``: range of what it counts to touch
    others all around, against the area.
    """

    slack: float
    moved: int
    size_counts: float
    touch: tuple[float, float]


STYLES = (
    _Style(1.3, 2, 0.5, (0.05, 0.5)),
    _Style(1.15, 5, 0.5, (0.05, 0.5)),
    _Style(1.3, 5, 1.0, (0.5, 2.0)),
    _Style(1.6, 2, 0.5, (0.5, 2.0)),
    _Style(1.3, 5, 0.5, (0.2, 1.0)),
    _Style(1.1, 2, 1.0, (0.05, 0.5)),
)
"""Tries, in this order. Measured on 70 designs of 0.74 to 0.85 of the free cells: together they pack more than six of
any one style, or one of six times the rounds."""
NOISE = 0.3
"""Share by which prices vary at random."""
OWN_AREA = 0.2
"""What the area of the rectangle that is forced in counts, against the price of an average module."""


def pack(
    problem: PlacementProblem, slot: str, rects: Sequence[IntArray], rounds: int, rng: np.random.Generator
) -> IntArray | None:
    """Return, (n, 4), boxes for modules of one slot that do not overlap, or None if none were found.

    ``rects`` are the legal rectangles of each module, ``rounds`` the ejections that each of the tries may make.
    """
    floor = _Floor.of(problem, slot, rects)
    if sum(int(area_of(each).min()) for each in rects) > HOPELESS * floor.free_cells:
        return None
    for style in STYLES:
        packing = _Packing(floor, [_within(each, style.slack) for each in rects], style, rng)
        if packing.run(rounds):
            return packing.boxes
    return None


def _within(rects: IntArray, slack: float) -> IntArray:
    """Return the rectangles of at most so many times the least area."""
    area = area_of(rects)
    small: IntArray = rects[area <= slack * area.min()]
    return small


@dataclass(frozen=True, eq=False)
class _Floor:
    """Cells of one column by a row step that rectangles of a slot can take, inside a border of one cell.

    ``taken`` (rows + 2, columns + 2): the border and what keep-outs cover.
    """

    left: int
    bottom: int
    step: int
    taken: npt.NDArray[np.int32]

    @classmethod
    def of(cls, problem: PlacementProblem, slot: str, rects: Sequence[IntArray]) -> "_Floor":
        """Return the cells between the outermost sides of rectangles."""
        every, step = np.concatenate(rects), problem.device.row_step
        left, bottom = int(every[:, LEFT].min()), int(every[:, BOTTOM].min())
        columns, rows = int(every[:, RIGHT].max()) - left + 1, (int(every[:, TOP].max()) + 1 - bottom) // step
        taken = np.pad(np.zeros((rows, columns), dtype=np.int32), 1, constant_values=1)
        floor = cls(left, bottom, step, taken)
        for keep_out in problem.slot_of[slot].keep_outs:
            floor.paint(taken, np.array(keep_out.as_tuple()), 1)
        return floor

    @property
    def free_cells(self) -> int:
        """Columns times rows that are not taken."""
        return int((self.taken == 0).sum()) * self.step

    def paint(self, cells: npt.NDArray[np.int32], box: IntArray, value: int) -> None:
        """Set the cells of a rectangle, as far as it lies inside the border."""
        left, bottom, right, top = box.tolist()
        low_y, high_y = (bottom - self.bottom) // self.step + 1, (top - self.bottom) // self.step + 2
        low_x, high_x = left - self.left + 1, right - self.left + 2
        cells[max(low_y, 0) : max(high_y, 0), max(low_x, 0) : max(high_x, 0)] = value

    def corners(self, rects: IntArray) -> IntArray:
        """Return, (4, 3, n), where running sums are looked up: of rectangles, these a column wider, a row higher."""
        # First column and row of rectangles, and those after their last, border counted.
        x, y = rects[:, [LEFT, RIGHT]] - self.left + 1, (rects[:, [BOTTOM, TOP]] - self.bottom) // self.step + 1
        left, bottom, right, top = np.stack((x[:, 0], y[:, 0], x[:, 1] + 1, y[:, 1] + 1))
        wide, high, width = np.array([[0], [1], [0]]), np.array([[0], [0], [1]]), self.taken.shape[1] + 1
        low_x, low_y, high_x, high_y = left - wide, (bottom - high) * width, right + wide, (top + high) * width
        return np.stack((high_y + high_x, low_y + low_x, low_y + high_x, high_y + low_x))


@dataclass
class _Packing:
    """One try: ``boxes`` (n, 4), valid where ``placed`` (n,)."""

    floor: _Floor
    rects: Sequence[IntArray]
    style: _Style
    rng: np.random.Generator
    boxes: IntArray = field(init=False)
    placed: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        """Compute what does not change."""
        count = len(self.rects)
        self.boxes, self.placed = np.zeros((count, 4), dtype=np.int64), np.zeros(count, dtype=np.bool_)
        self.taken = self.floor.taken.copy()
        self.sums = np.zeros((self.taken.shape[0] + 1, self.taken.shape[1] + 1), dtype=np.int32)
        self.area = [area_of(each) for each in self.rects]
        self.least = np.array([int(area.min()) for area in self.area])
        self.corners = [self.floor.corners(each) for each in self.rects]
        self.around = [
            2 * ((each[:, RIGHT] - each[:, LEFT]) + (each[:, TOP] - each[:, BOTTOM]) + 2) for each in self.rects
        ]
        self.price = self.least.astype(np.float64) ** self.style.size_counts
        self.rise = self.price.copy()

    def run(self, rounds: int) -> bool:
        """Place all modules, the largest first; return whether it succeeded."""
        waiting = np.argsort(self.least, kind="stable").tolist()
        for _ in range(rounds):
            if not waiting:
                return True
            module = waiting.pop()
            box = self._best_free(module)
            if box is not None:
                self._put(module, box)
                continue
            self.price[module] += self.rise[module]
            waiting += self._force(module)
            self._move_some()
        return not waiting

    def _put(self, module: int, box: IntArray) -> None:
        self.boxes[module], self.placed[module] = box, True
        self.floor.paint(self.taken, box, 1)

    def _take_out(self, module: int) -> None:
        self.placed[module] = False
        self.floor.paint(self.taken, self.boxes[module], 0)

    def _best_free(self, module: int) -> IntArray | None:
        """Return the free rectangle that is small and touches much, or None if none is free."""
        inner = self.sums[1:, 1:]
        np.cumsum(self.taken, axis=0, out=inner)
        np.cumsum(inner, axis=1, out=inner)
        high, low, low_right, high_left = self.sums.take(self.corners[module])
        inside, wider, higher = high + low - low_right - high_left
        free = inside == 0
        if not free.any():
            return None
        touching = (wider * self.floor.step + higher) / self.around[module]
        key = self.area[module] / self.least[module] - self.rng.uniform(*self.style.touch) * touching
        best: IntArray = self.rects[module][int(np.argmin(np.where(free, key, np.inf)))]
        return best

    def _force(self, module: int) -> list[int]:
        """Place a module where that ejects least; return what it ejects, the largest last."""
        rects, others = self.rects[module], np.flatnonzero(self.placed)
        met = overlaps(rects, self.boxes[others])
        cost = (met @ self.price[others]) * (1 + NOISE * self.rng.random(len(rects)))
        chosen = int(np.argmin(cost + OWN_AREA * self.area[module] * (self.rise.mean() / self.least.mean())))
        ejected = others[met[chosen]]
        for other in ejected.tolist():
            self._take_out(other)
        self._put(module, rects[chosen])
        ordered: list[int] = ejected[np.argsort(self.least[ejected], kind="stable")].tolist()
        return ordered

    def _move_some(self) -> None:
        """Put a few modules anew."""
        for _ in range(self.style.moved):
            module = int(self.rng.choice(np.flatnonzero(self.placed)))
            before = self.boxes[module].copy()
            self._take_out(module)
            box = self._best_free(module)
            self._put(module, before if box is None else box)
