"""Small devices, random problems and an independent judge for the placement tests."""

from __future__ import annotations

import re
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from floorflow.hardware.device import Device, SiteType, Slr
from floorflow.hardware.geometry import Rect
from floorflow.hardware.grid import Tile
from floorflow.hardware.slots import Slot
from floorflow.placement import Pin, PlacedModule, PlacementProblem, PlacementSolution, Region, Wire
from floorflow.resources import RESOURCE_NAMES, Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

LEGEND = {
    "C": Tile("clb", "", 1, sites={"SLICE": 1}, resources={"LUT": 8, "FF": 16}),
    "D": Tile("dsp", "", 5, sites={"DSP48E2": 2}, resources={"DSP": 2}),
    "B": Tile("bram", "", 5, sites={"RAMB18": 2}, resources={"BRAM18": 2}),
    "I": Tile("interconnect", ""),
}


def device(layout: str, row_steps: int, slr_count: int = 1) -> Device:
    """Make a die of ``row_steps`` x 5 rows per SLR with a row step of 5."""
    rows = 5 * row_steps
    kinds = {"SLICE": ("C", 1), "DSP48E2": ("D", 5), "RAMB18": ("B", 5)}
    site_types = {
        name: SiteType(name, tuple(i for i, c in enumerate(layout) if c == char), ((0, 0),) * slr_count, pitch, 1, 1)
        for name, (char, pitch) in kinds.items()
        if char in layout
    }
    return Device(
        part="xctest",
        die="xctest",
        architecture="ultrascale+",
        rows_per_clock_region=rows,
        clock_region_columns=((0, len(layout) - 1),),
        layouts=(layout,) * slr_count,
        legend=LEGEND,
        slrs=tuple(Slr(f"SLR{i}", i * rows, (i + 1) * rows - 1) for i in range(slr_count)),
        site_types=site_types,
        sll_wires=(),
    )


def slots(die: Device, keep_outs: tuple[Rect, ...] = ()) -> tuple[Slot, ...]:
    """Make a slot of each SLR; each gets the keep-outs that touch it."""
    made = []
    for slr in die.slrs:
        region = die.slr_region(slr.name)
        mine = tuple(rect for rect in keep_outs if rect.overlaps(region))
        made.append(
            Slot(f"fpga0.{slr.name}", "fpga0", slr.name, region, mine, die.resources(region), die.resources(region))
        )
    return tuple(made)


def chain(
    die: Device,
    demands: list[Resources],
    *,
    keep_outs: tuple[Rect, ...] = (),
    fill: Mapping[str, float] | None = None,
    max_aspect: float | None = 3.0,
    effort: str = "fast",
    width_bits: int = 8,
) -> PlacementProblem:
    """Make a chain of modules, spread evenly over the die's slots in order."""
    places = slots(die, keep_outs)
    per_slot = -(-len(demands) // len(places))
    modules = [PlacedModule(f"m{i}", places[i // per_slot].name, demand) for i, demand in enumerate(demands)]
    wires = [Wire(f"m{i}", f"m{i + 1}", width_bits) for i in range(len(demands) - 1)]
    return PlacementProblem(die, places, tuple(modules), tuple(wires), fill or {}, effort, max_aspect)  # type: ignore[arg-type]


def is_legal(problem: PlacementProblem, module: PlacedModule, rect: Rect) -> bool:
    """Judge one rectangle, column by column and tile by tile, without the device's own sums."""
    return is_drawable(problem, module, rect) and is_enough(problem, module, (rect,))


def is_drawable(problem: PlacementProblem, module: PlacedModule, rect: Rect) -> bool:
    """Say whether a module may have a rectangle, whatever that holds."""
    slot = next(slot for slot in problem.slots if slot.name == module.slot)
    step = problem.device.row_step
    edges = rect.left in problem.device.left_edges and rect.right in problem.device.right_edges
    rows = rect.bottom % step == 0 and (rect.top + 1) % step == 0
    inside = (
        slot.region.left <= rect.left
        and rect.right <= slot.region.right
        and slot.region.bottom <= rect.bottom
        and rect.top <= slot.region.top
    )
    clear = not any(_meet(rect, keep_out) for keep_out in slot.keep_outs)
    return bool(edges and rows and inside and clear)


def is_enough(problem: PlacementProblem, module: PlacedModule, region: Region) -> bool:
    """Say whether disjoint rectangles hold together what a module needs."""
    supplies = [supply_of(problem.device, rect) for rect in region]
    return all(
        need <= int(problem.fill.get(name, 1.0) * sum(supply[name] for supply in supplies) + 1e-9)
        for name, need in module.demand.as_dict().items()
    )


def supply_of(die: Device, rect: Rect) -> dict[str, int]:
    """Count the whole tiles in a rectangle."""
    supply = dict.fromkeys(RESOURCE_NAMES, 0)
    for column in range(rect.left, rect.right + 1):
        tile = die.legend[die.layouts[0][column]]
        first, last = -(-rect.bottom // tile.tile_rows), (rect.top + 1) // tile.tile_rows
        for name, amount in tile.resources.items():
            supply[name] += amount * max(last - first, 0)
    return supply


def _meet(a: Rect, b: Rect) -> bool:
    columns = {*range(a.left, a.right + 1)} & {*range(b.left, b.right + 1)}
    rows = {*range(a.bottom, a.top + 1)} & {*range(b.bottom, b.top + 1)}
    return bool(columns and rows)


def assert_legal(problem: PlacementProblem, solution: PlacementSolution) -> None:
    """Fail unless every module has a legal region, no rectangles overlap, and the wirelength is as said.

    Several rectangles are legal only for a module that is alone in its slot.
    """
    assert list(solution.regions) == [module.name for module in problem.modules]
    for module in problem.modules:
        region = solution.regions[module.name]
        assert all(is_drawable(problem, module, rect) for rect in region), module
        assert is_enough(problem, module, region), module
        assert len(region) == 1 or [other.slot for other in problem.modules].count(module.slot) == 1
    for a, b in combinations([rect for region in solution.regions.values() for rect in region], 2):
        assert not _meet(a, b)
    length = 0.0
    for wire in problem.wires:
        (x, y), (other_x, other_y) = (_point(end, solution.regions) for end in (wire.source, wire.target))
        length += wire.width_bits * (abs(x - other_x) + abs(y - other_y))
    assert solution.hpwl == length == solution.stats.objective


def _keeps(rect: Rect, max_aspect: float | None) -> bool:
    return max_aspect is None or max(rect.columns / rect.rows, rect.rows / rect.columns) <= max_aspect


def _point(end: str | Pin, regions: Mapping[str, Region]) -> tuple[float, float]:
    """Return column and row of a wire's end."""
    if isinstance(end, Pin):
        return end.x2 / 2, end.y2 / 2
    columns = [column for rect in regions[end] for column in (rect.left, rect.right)]
    rows = [row for rect in regions[end] for row in (rect.bottom, rect.top)]
    return (min(columns) + max(columns)) / 2, (min(rows) + max(rows)) / 2


def legal_rectangles(problem: PlacementProblem, module: PlacedModule) -> list[Rect]:
    """List every legal rectangle of a module by trying all sides."""
    die = problem.device
    tops = range(die.row_step - 1, die.row_count, die.row_step)
    every = (
        Rect(int(left), bottom, int(right), top)
        for left in die.left_edges
        for right in die.right_edges
        if right >= left
        for top in tops
        for bottom in range(0, top + 1, die.row_step)
    )
    return [rect for rect in every if is_legal(problem, module, rect)]


def shape_rule(solution: PlacementSolution) -> float | None:
    """Return the largest ratio of sides that the solver's bound speaks of, None if it speaks of all rectangles."""
    rule = re.search(r"within ([\d.]+):1", solution.stats.method)
    return float(rule[1]) if rule else None


def brute_force(problem: PlacementProblem, max_aspect: float | None = None) -> float | None:
    """Return the least wirelength over all choices of legal rectangles of up to three modules, None if none exists.

    With ``max_aspect`` only rectangles whose sides keep that ratio count.
    """
    _, cost, clash = every_layout(problem, max_aspect)
    free = cost[~clash]
    return float(free.min()) if free.size else None


def most_staying(problem: PlacementProblem, longest: float, max_aspect: float | None = None) -> int | None:
    """Return how many of up to three modules can have their previous rectangles at most, None if there is no layout.

    Wires may be ``longest``. Whoever does not stay keeps ``max_aspect``.
    """
    lists, cost, clash = every_layout(problem, max_aspect, problem.previous)
    stay = np.zeros(cost.shape, dtype=int)
    for axis, (module, rects) in enumerate(zip(problem.modules, lists, strict=True)):
        same = [problem.previous.get(module.name) == rect for rect in rects]
        stay = stay + np.array(same, dtype=int).reshape([-1 if axis == other else 1 for other in range(len(lists))])
    legal = stay[~clash & (cost <= longest + 1e-9)]
    return int(legal.max()) if legal.size else None


def every_layout(
    problem: PlacementProblem, max_aspect: float | None, others: Mapping[str, Rect] = MappingProxyType({})
) -> tuple[list[list[Rect]], np.ndarray, np.ndarray]:
    """Return each module's legal rectangles, and of every choice of them the wirelength and whether some overlap.

    ``others`` are allowed whatever their aspect, where they are legal.
    """
    legal = [
        [r for r in legal_rectangles(problem, m) if _keeps(r, max_aspect) or r == others.get(m.name)]
        for m in problem.modules
    ]
    lists = [np.array([r.as_tuple() for r in rects]).reshape(-1, 4) for rects in legal]
    axes = [rects.reshape([-1 if i == j else 1 for j in range(len(lists))] + [4]) for i, rects in enumerate(lists)]
    names = [module.name for module in problem.modules]
    cost, clash = (np.zeros([len(rects) for rects in lists]), np.zeros([len(rects) for rects in lists], dtype=bool))
    for a, b in combinations(axes, 2):
        columns = (a[..., 0] <= b[..., 2]) & (b[..., 0] <= a[..., 2])
        clash = clash | (columns & (a[..., 1] <= b[..., 3]) & (b[..., 1] <= a[..., 3]))
    for wire in problem.wires:
        ends = []
        for end in (wire.source, wire.target):
            if isinstance(end, Pin):
                ends.append((end.x2, end.y2))
            else:
                box = axes[names.index(end)]
                ends.append((box[..., 0] + box[..., 2], box[..., 1] + box[..., 3]))
        (x2, y2), (other_x2, other_y2) = ends
        cost = cost + wire.width_bits * (np.abs(x2 - other_x2) + np.abs(y2 - other_y2)) / 2
    return legal, cost, clash
