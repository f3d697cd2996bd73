"""Count how many random designs get a rectangle for every module, by the area that the modules take at the least.

    python benchmarks/packing.py [--designs 500] [--first 0] [--low 0.5] [--high 1.0]

A design is 4 to 30 modules of many sizes and mixes of resources in one slot: an SLR of U250, beside its shell or
without, an xcku5p or a zcu104. `area` is the sum of the cells of each module's smallest legal rectangle over the free
cells of the slot, spread evenly from ``--low`` to ``--high``; designs whose sums of resources do not fit are left out.
Nothing is merged. `placed` is the share that `place` finds at its default effort, `packed` those that it found only by
packing (an upper bound of what that adds), `seconds` the mean of this process.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from floorflow.hardware import Device, Slot, free_cells, free_supply, load_platform
from floorflow.placement import PlacedModule, PlacementProblem, PlacementSolution, Wire, least_cells, place
from floorflow.placement.bounds.wires import needs_of
from floorflow.placement.methods.auto import solve
from floorflow.placement.problem import LIMITS
from floorflow.resources import Resources

PLATFORMS = ("alveo-u250", "xcku5p", "zcu104")
FILL = {"LUT": 0.85, "FF": 0.85}
MIXES = ((1.0, 0.1, 0.1), (1.0, 0.5, 0.2), (0.5, 1.0, 0.3), (0.5, 0.2, 1.0), (0.8, 0.8, 0.8), (1.0, 0.0, 0.0))
"""Shares of LUT, BRAM18 and DSP that modules need of what is there."""
BAND = 0.05


@dataclass(frozen=True)
class Design:
    """A placement and the share of the slot's free cells that its modules take at the least."""

    problem: PlacementProblem
    area: float

    @property
    def sums_fit(self) -> bool:
        """Whether the slot holds what all modules need together."""
        (slot,) = self.problem.slots
        supply = free_supply(self.problem.device, slot).as_tuple()
        return bool((np.sum(needs_of(self.problem), axis=0) <= supply).all())


@cache
def places() -> tuple[tuple[Device, Slot, int], ...]:
    """Return the slots that designs go to, with their dies and free cells."""
    fpgas = [load_platform(name).fpgas[0] for name in PLATFORMS]
    return tuple((fpga.device, slot, free_cells(fpga.device, slot)) for fpga in fpgas for slot in fpga.slots)


def random_design(seed: int, low: float = 0.5, high: float = 1.0) -> Design:
    """Return a design whose area is drawn from a range, as near below it as the sizes of rectangles allow."""
    chance = random.Random(seed)
    device, slot, free = chance.choice(places())
    supply, count = free_supply(device, slot), chance.randint(4, 30)
    shares = [chance.lognormvariate(0, 0.8) for _ in range(count)]
    mixes = [(*chance.choice(MIXES), float(chance.random() < 0.15)) for _ in range(count)]
    target = chance.uniform(low, high)

    def demands(scale: float) -> list[Resources]:
        parts = [scale * share / sum(shares) for share in shares]
        return [_demand(supply, part, *mix) for part, mix in zip(parts, mixes, strict=True)]

    def area(scale: float) -> float:
        cells = [least_cells(device, slot, demand, FILL) for demand in demands(scale)]
        return sum(np.inf if each is None else each for each in cells) / free

    below, above = 0.0, 2.0
    for _ in range(12):
        middle = (below + above) / 2
        below, above = (middle, above) if area(middle) <= target else (below, middle)
    modules = tuple(PlacedModule(f"m{i}", slot.name, demand) for i, demand in enumerate(demands(below)))
    wires = [Wire(f"m{i}", f"m{i + 1}", chance.choice((8, 32, 128))) for i in range(count - 1)]
    wires += [Wire(f"m{i}", f"m{i + 3}", 32) for i in range(0, count - 3, 5)]
    return Design(PlacementProblem(device, (slot,), modules, tuple(wires), FILL), area(below))


def _demand(supply: Resources, part: float, lut: float, bram18: float, dsp: float, uram: float) -> Resources:
    return Resources(
        int(part * lut * FILL["LUT"] * supply.lut),
        int(part * lut * 0.5 * supply.ff),
        int(part * bram18 * supply.bram18),
        int(part * uram * supply.uram),
        int(part * dsp * supply.dsp),
    )


def fitting_designs(first: int, low: float, high: float) -> Iterator[Design]:
    """Yield designs whose sums fit, from the first seed on."""
    seed = first
    while True:
        design = random_design(seed, low, high)
        if design.sums_fit:
            yield design
        seed += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="seed of the first design")
    parser.add_argument("--low", type=float, default=0.5)
    parser.add_argument("--high", type=float, default=1.0)
    chosen = parser.parse_args()
    bands: dict[int, list[tuple[bool, bool, float]]] = {}
    designs = fitting_designs(chosen.first, chosen.low, chosen.high)
    for _, design in zip(range(chosen.designs), designs, strict=False):
        bands.setdefault(int(design.area / BAND), []).append(outcome(design))
    print("| area | designs | placed | packed | seconds |")
    print("|---|---|---|---|---|")
    for band in sorted(bands):
        print(row(f"{band * BAND:.2f} to {(band + 1) * BAND:.2f}", bands[band]))
    print(row("up to 0.80", [each for band in bands if band * BAND < 0.8 - 1e-9 for each in bands[band]]))


def outcome(design: Design) -> tuple[bool, bool, float]:
    """Return whether a design is placed, whether only since it was packed, and the seconds."""
    start = time.process_time()
    placed = isinstance(place(design.problem), PlacementSolution)
    seconds = time.process_time() - start
    tight = placed and design.area > 0.6
    without = replace(LIMITS["default"], packing_rounds=0, tight_rounds=0, every_rounds=0)
    return placed, tight and not isinstance(solve(design.problem, without, 0), PlacementSolution), seconds


def row(name: str, outcomes: list[tuple[bool, bool, float]]) -> str:
    """Return one line of the table."""
    count = max(1, len(outcomes))
    placed, packed, seconds = (sum(column) for column in zip(*outcomes, strict=True)) if outcomes else (0, 0, 0.0)
    return f"| {name} | {len(outcomes)} | {placed / count:.1%} | {packed / count:.1%} | {seconds / count:.1f} |"


if __name__ == "__main__":
    main()
