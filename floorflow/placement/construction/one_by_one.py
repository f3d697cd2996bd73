"""The coarse-grained floorplanning paper's placement: modules one after another, each where it costs least.

The paper states an integer programme for each module: its corner among the legal ones, clear of all that is placed
(constraint C1), for least wirelength T and congestion C (equations 2 and 3). With all else fixed it has one binary a
rectangle, so that looking at every rectangle solves it exactly. What the paper leaves open is decided as in the notes
on it: T counts the width of streams; C is, for each stream, its width times the mean number of boxes of other streams
over the tiles of its own box; both are divided by what they are in a first pass, which minimises T alone; the second
pass counts if it costs at most a tenth more than the first. A module without room sends the one before to its next
best corner.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from floorflow.placement.layout import Layout, Occupied, SearchSpace
from floorflow.placement.rectangles.candidate_rectangles import IntArray

Floats = npt.NDArray[np.float64]

SLACK = 0.1
"""Share by which a pass may cost more than the first one."""
TILE_COLUMNS, TILE_ROWS = 30, 30
"""Tiles in which boxes are counted: half the 60 rows of a clock region and about half of its columns."""
STEPS_BACK = 50
"""How often a pass may go back to a module that was placed."""
TILES = 64
"""More tiles in a row or column than any die has."""


@dataclass(frozen=True)
class OneByOne:
    """A complete layout with its wirelength T, twice in bit columns and rows, and its congestion C."""

    layout: Layout
    wires: float
    congestion: float


def place_one_by_one(space: SearchSpace) -> Layout | None:
    """Return the modules placed in their own order, None if one found no room."""
    first = _Pass(space).run()
    if first is None:
        return None
    shares = 1 / max(first.wires, 1.0), 1 / max(first.congestion, 1.0)
    second = _Pass(space, *shares).run()
    if second is None or second.wires * shares[0] + second.congestion * shares[1] > 2 * (1 + SLACK):
        return first.layout
    return second.layout


@dataclass
class _Pass:
    """One pass; ``a`` and ``b`` are the prices of T and C. ``boxes`` counts streams' boxes over tiles."""

    space: SearchSpace
    a: float = 1.0
    b: float = 0.0
    boxes: IntArray = field(default_factory=lambda: np.zeros((TILES, TILES), dtype=np.int64))
    wires: float = 0.0
    congestion: float = 0.0

    def run(self) -> OneByOne | None:
        space, module, back = self.space, 0, 0
        occupied = Occupied.by(space, Layout.empty(space.count))
        refused: list[set[int]] = [set() for _ in range(space.count)]
        chosen: list[int] = []
        states: list[tuple[IntArray, float, float]] = []
        while module < space.count:
            best = self._best(occupied, module, refused[module])
            if best is not None:
                states.append((self.boxes.copy(), self.wires, self.congestion))
                self._put(occupied, module, best)
                chosen.append(best)
                module += 1
                continue
            if module == 0 or back == STEPS_BACK:
                return None
            back, refused[module] = back + 1, set()
            module -= 1
            refused[module].add(chosen.pop())
            occupied.take_out(module)
            self.boxes, self.wires, self.congestion = states.pop()
        return OneByOne(occupied.layout, self.wires, self.congestion)

    def _best(self, occupied: Occupied, module: int, refused: set[int]) -> int | None:
        """Solve the programme of one module: the free rectangle that costs least, the smallest of equals."""
        free = ~occupied.meets(module)
        free[list(refused)] = False
        if not free.any():
            return None
        rects, area = self.space.candidates[module].rects, self.space.candidates[module].area
        wires, congestion = self._costs(occupied.layout, module, rects)
        cost = np.where(free, self.a * wires + self.b * congestion, np.inf)
        least = np.flatnonzero(cost <= cost.min())
        return int(least[area[least].argmin()])

    def _put(self, occupied: Occupied, module: int, chosen: int) -> None:
        candidates, layout = self.space.candidates[module], occupied.layout
        wires, congestion = self._costs(layout, module, candidates.rects[chosen : chosen + 1])
        self.wires, self.congestion = self.wires + float(wires[0]), self.congestion + float(congestion[0])
        occupied.put(module, candidates.rects[chosen])
        own = layout.boxes[module]
        for point, _ in self._ends(layout, module):
            x, y = _tiles(own[None, :2] + own[None, 2:], point)
            self.boxes[x[0, 0] : x[1, 0] + 1, y[0, 0] : y[1, 0] + 1] += 1

    def _ends(self, layout: Layout, module: int) -> list[tuple[IntArray, int]]:
        """Return where the wires of a module lead that have their other end already, with their widths."""
        nets = self.space.nets
        ends = [(nets.pins[pin], int(nets.pin_bits[module, pin])) for pin in np.flatnonzero(nets.pin_bits[module])]
        placed = [other for other in self.space.wired[module].tolist() if layout.placed[other] and other != module]
        boxes = layout.boxes
        return ends + [(boxes[o, :2] + boxes[o, 2:], int(nets.bits[module, o])) for o in placed]

    def _costs(self, layout: Layout, module: int, rects: IntArray) -> tuple[Floats, Floats]:
        """Return, (n,) each, what rectangles of a module add to T and to C."""
        centres = rects[:, :2] + rects[:, 2:]
        wires, congestion = np.zeros(len(rects)), np.zeros(len(rects))
        below = np.pad(self.boxes.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        for point, bits in self._ends(layout, module):
            wires += bits * np.abs(centres - point).sum(axis=1)
            x, y = _tiles(centres, point)
            met = below[x[1] + 1, y[1] + 1] - below[x[0], y[1] + 1] - below[x[1] + 1, y[0]] + below[x[0], y[0]]
            congestion += bits * met / ((x[1] - x[0] + 1) * (y[1] - y[0] + 1))
        return wires, congestion


def _tiles(centres: IntArray, point: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first and last tiles, (2, n) in x and in y, under the boxes of doubled centres (n, 2) and a point."""
    low, high = np.minimum(centres, point) // 2, np.maximum(centres, point) // 2
    x = np.stack((low[:, 0], high[:, 0])) // TILE_COLUMNS
    y = np.stack((low[:, 1], high[:, 1])) // TILE_ROWS
    return x, y
