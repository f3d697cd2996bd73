"""Slicing gives legal rectangles, and merges modules only where they may merge and only if it must."""

import random
from itertools import combinations

import pytest

from floorflow.hardware import load_platform
from floorflow.hardware.geometry import Rect
from floorflow.placement import PlacedModule, PlacementProblem, PlacementSolution, pack_slot, place
from floorflow.resources import Resources, total

FILL = {"LUT": 0.85, "FF": 0.85}


def full_slr(seed: int, share: float, count: int, slr: int = 0) -> PlacementProblem:
    """Fill a share of what an SLR of a U250 may hold with modules of different sizes and mixes."""
    fpga, chance = load_platform("alveo-u250").fpgas[0], random.Random(seed)
    slot = fpga.slots[slr]
    weights = [chance.uniform(0.3, 2.0) for _ in range(count)]
    parts = [share * weight / sum(weights) for weight in weights]
    have = slot.available
    modules = tuple(
        PlacedModule(f"m{i}", slot.name, Resources(int(p * 0.7 * have.lut), 0, int(p * 0.6 * have.bram18)))
        for i, p in enumerate(parts)
    )
    return PlacementProblem(fpga.device, fpga.slots, modules, (), FILL)


def assert_legal(problem: PlacementProblem, groups: dict[frozenset[str], Rect]) -> None:
    demand = {module.name: module.demand for module in problem.modules}
    slot = problem.slot_of[problem.modules[0].slot]
    assert sorted(name for group in groups for name in group) == sorted(demand)
    for group, rect in groups.items():
        supply = problem.device.resources(rect)
        need = total(demand[name] for name in group)
        assert need.lut <= int(0.85 * supply.lut + 1e-9)
        assert need.bram18 <= supply.bram18
        assert slot.region.contains(rect)
        assert not any(rect.overlaps(keep_out) for keep_out in slot.keep_outs)
    assert not any(a.overlaps(b) for a, b in combinations(groups.values(), 2))


@pytest.mark.parametrize("slr", [0, 3])
@pytest.mark.parametrize("seed", range(4))
def test_a_nearly_full_slr_is_sliced_into_legal_rectangles(seed: int, slr: int) -> None:
    problem = full_slr(seed, 0.95, 12, slr)
    groups = pack_slot(problem, f"fpga0.SLR{slr}", lambda _: True, seed=0)
    assert groups is not None
    assert_legal(problem, groups)


def test_modules_that_must_not_merge_keep_their_own_rectangles() -> None:
    problem = full_slr(1, 0.7, 8, 3)
    groups = pack_slot(problem, "fpga0.SLR3", lambda _: False, seed=0)
    assert groups is not None
    assert all(len(group) == 1 for group in groups)
    assert_legal(problem, groups)


def test_hints_are_a_start_from_which_placement_succeeds() -> None:
    problem = full_slr(2, 0.95, 12, 3)
    groups = pack_slot(problem, "fpga0.SLR3", lambda _: True, seed=0)
    assert groups is not None
    names = {min(group): group for group in groups}
    demand = {module.name: module.demand for module in problem.modules}
    merged = tuple(
        PlacedModule(name, "fpga0.SLR3", total(demand[m] for m in group)) for name, group in sorted(names.items())
    )
    hints = {name: groups[group] for name, group in names.items()}
    again = PlacementProblem(problem.device, problem.slots, merged, (), FILL, "fast", hints=hints)
    assert isinstance(place(again), PlacementSolution)


def test_a_hint_that_does_not_hold_its_module_is_not_taken() -> None:
    """A module may need more after the slicing that its hint is of."""
    problem = full_slr(2, 0.3, 3, 3)
    groups = pack_slot(problem, "fpga0.SLR3", lambda _: True, seed=0)
    assert groups is not None
    hints = {min(group): rect for group, rect in groups.items()}
    larger = tuple(
        PlacedModule(module.name, module.slot, total([module.demand, module.demand]))
        for module in problem.modules
        if module.name in hints
    )
    again = PlacementProblem(problem.device, problem.slots, larger, (), FILL, "fast", hints=hints)
    answer = place(again)
    assert isinstance(answer, PlacementSolution)
    assert_legal(again, {frozenset({name}): rect for name, region in answer.regions.items() for rect in region})
