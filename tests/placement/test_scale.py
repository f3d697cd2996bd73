"""Many modules in one SLR of a large device."""

import random
import time

import pytest

from floorflow.hardware import load_platform
from floorflow.placement import Pin, PlacedModule, PlacementProblem, PlacementSolution, Wire, place
from floorflow.resources import Resources


def crowded(share: float, count: int) -> PlacementProblem:
    """Fill a share of SLR0 of a U250 with a chain of modules of many sizes with skips, from and to the host's port."""
    fpga, chance = load_platform("alveo-u250").fpgas[0], random.Random(5)
    slot = fpga.slots[0]
    parts = [share / count * chance.uniform(0.5, 1.5) for _ in range(count)]
    kinds = [chance.choice((0.2, 0.6, 1.0)) for _ in range(count)]
    have = slot.available
    demands = [
        Resources(int(p * 0.85 * have.lut), int(p * 0.5 * have.ff), int(p * k * have.bram18), 0, int(p * k * have.dsp))
        for p, k in zip(parts, kinds, strict=True)
    ]
    wires = [Wire(f"m{i}", f"m{i + 1}", chance.choice((8, 32, 128))) for i in range(count - 1)]
    wires += [Wire(f"m{i}", f"m{i + 3}", 32) for i in range(0, count - 3, 5)]
    host = Pin.at_centre(fpga.host_port)
    wires += [Wire(host, "m0", 24), Wire(f"m{count - 1}", host, 32)]
    modules = tuple(PlacedModule(f"m{i}", slot.name, demand) for i, demand in enumerate(demands))
    return PlacementProblem(fpga.device, fpga.slots, modules, tuple(wires), {"LUT": 0.85, "FF": 0.85}, effort="fast")


@pytest.mark.parametrize("count", [15, *(pytest.param(count, marks=pytest.mark.slow) for count in (30, 60))])
def test_many_modules_in_one_slr_are_placed_legally_in_seconds(count: int, record_property) -> None:
    problem = crowded(0.75, count)
    start = time.process_time()
    outcome = place(problem)
    seconds = time.process_time() - start
    assert isinstance(outcome, PlacementSolution), outcome
    record_property("seconds", round(seconds, 1))
    record_property("gap", round(outcome.stats.gap or 0.0, 3))
    assert_counted_legal(problem, outcome)
    assert seconds < 30, "several times what it takes on a busy machine"
    assert outcome.stats.gap is not None
    assert outcome.stats.gap < 0.65


def assert_counted_legal(problem: PlacementProblem, outcome: PlacementSolution) -> None:
    """Judge by counting every pblock's tiles and painting every cell once."""
    slot, painted = problem.slots[0], set[tuple[int, int]]()
    step = problem.device.row_step
    for module in problem.modules:
        (rect,) = outcome.regions[module.name]
        assert slot.region.contains(rect)
        assert not any(rect.overlaps(kept) for kept in slot.keep_outs)
        assert rect.bottom % step == 0
        assert (rect.top + 1) % step == 0
        supply = problem.device.resources(rect).as_dict()
        need = module.demand.as_dict()
        assert all(need[name] <= problem.fill.get(name, 1.0) * supply[name] + 1e-9 for name in need), module
        cells = {(x, y) for x in range(rect.left, rect.right + 1) for y in range(rect.bottom, rect.top + 1, step)}
        assert painted.isdisjoint(cells), module
        painted |= cells
