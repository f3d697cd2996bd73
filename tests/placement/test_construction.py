"""Running sums tell what is free, and slots that lie apart are constructed without touching each other."""

from dataclasses import replace

import numpy as np
import pytest

from floorflow.hardware import Rect, load_platform
from floorflow.placement import PlacedModule, PlacementProblem, Wire
from floorflow.placement.bounds.wires import needs_of
from floorflow.placement.construction.several_ways import _Builder, construct_layouts
from floorflow.placement.construction.slicing import Slicer
from floorflow.placement.layout import Layout, Occupied, box_at, first_free, keys_of
from floorflow.placement.problem import LIMITS
from floorflow.placement.rectangles.candidate_rectangles import Raster, candidate_rectangles, overlaps, slot_grid
from floorflow.resources import Resources

FILL = {"LUT": 0.85, "FF": 0.85}


def over_slots(share: float, count: int = 5) -> PlacementProblem:
    """Fill a share of two SLRs of a U250 with a chain of equal modules each."""
    fpga = load_platform("alveo-u250").fpgas[0]
    names = [slot for slot in fpga.slots[2:] for _ in range(count)]
    modules = tuple(
        PlacedModule(
            f"m{i}",
            slot.name,
            Resources(int(share * slot.available.lut / count), 0, int(share * slot.available.bram18 / count)),
        )
        for i, slot in enumerate(names)
    )
    wires = tuple(Wire(f"m{i}", f"m{i + 1}", 8) for i in range(len(modules) - 1))
    return PlacementProblem(fpga.device, fpga.slots, modules, wires, FILL)


def builder_of(problem: PlacementProblem) -> _Builder:
    grids = {slot.name: slot_grid(problem.device, slot) for slot in problem.slots}
    pairs = zip(problem.modules, needs_of(problem), strict=True)
    rects = [candidate_rectangles(grids[module.slot], need) for module, need in pairs]
    return _Builder.of(problem, rects, LIMITS["default"], np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(3))
def test_running_sums_meet_what_overlaps_while_modules_come_and_go(seed: int) -> None:
    space, rng = builder_of(over_slots(0.5)).space, np.random.default_rng(seed)
    occupied = Occupied.by(space, Layout.empty(space.count))
    for _ in range(60):
        module = int(rng.integers(space.count))
        layout, candidates = occupied.layout, space.candidates[module]
        if layout.placed[module]:
            occupied.take_out(module)
        others = layout.boxes[space.may_overlap[module] & layout.placed]
        met = overlaps(candidates.rects, others).any(axis=1)
        assert (occupied.meets(module) == met).all()
        one = int(rng.integers(len(met)))
        assert occupied.is_free(module, one) != met[one]
        if not met[one]:
            occupied.put(module, candidates.rects[one])


def test_a_rectangle_adds_the_cells_that_it_has_inside_the_region() -> None:
    die, rng = load_platform("alveo-u250").fpgas[0].device, np.random.default_rng(0)
    region = Rect(100, 240, 299, 479)
    raster = Raster.of(region, die)
    units = np.flatnonzero((die.left_edges >= region.left) & (die.right_edges <= region.right))
    for _ in range(200):
        left, right = np.sort(rng.integers(len(die.left_edges), size=2)).tolist()
        low, high = np.sort(rng.choice(die.row_count // die.row_step + 1, 2, replace=False)).tolist()
        box = np.array([die.left_edges[left], low * die.row_step, die.right_edges[right], high * die.row_step - 1])
        inside = Rect(int(die.left_edges[units[0]]), region.bottom, int(die.right_edges[units[-1]]), region.top)
        columns = sum(left <= unit <= right for unit in units.tolist())
        rows = max(min(int(box[3]), inside.top) + 1 - max(int(box[1]), inside.bottom), 0) // die.row_step
        sums = raster.added(box)
        corner = raster.corners(np.array([inside.as_tuple()]))[:, 0]
        high_high, low_high, high_low, low_low = sums.take(corner).tolist()
        assert high_high - low_high - high_low + low_low == columns * rows


@pytest.mark.parametrize("seed", range(3))
def test_what_is_held_does_not_change_which_candidate_is_best(seed: int) -> None:
    space, rng = builder_of(over_slots(0.5)).space, np.random.default_rng(seed)
    occupied = Occupied.by(space, Layout.empty(space.count))
    for module in rng.permutation(space.count).tolist():
        keys = keys_of(space, occupied.layout, module, space.bits[module])
        best = first_free(occupied, module, keys)
        assert best is not None
        every = np.arange(len(keys.candidates.rects))
        assert keys.of(best) == keys.at(every)[~occupied.meets(module)].min()
        for held in rng.integers(len(every), size=5).tolist():
            chosen = first_free(occupied, module, keys, held)
            assert chosen is not None
            assert keys.of(chosen) == keys.of(best)
        occupied.put(module, box_at(keys.candidates, best))


def test_a_part_is_constructed_without_moving_the_others() -> None:
    builder = builder_of(over_slots(0.6))
    first, second = builder.parts
    assert len({builder.problem.modules[module].slot for module in first}) == 1
    (beside, *_) = builder.one_by_one()
    for part, other in ((first, second), (second, first)):
        for layout in builder.whole(part, beside):
            assert (layout.boxes[list(other)] == beside.boxes[list(other)]).all()
            assert (layout.placed[list(other)] == beside.placed[list(other)]).all()


def test_one_slot_without_room_ends_the_construction_and_is_named() -> None:
    problem = over_slots(0.5)
    far_too_much = replace(problem.modules[7], demand=Resources(lut=int(0.8 * problem.slots[3].available.lut)))
    problem = replace(problem, modules=(*problem.modules[:7], far_too_much, *problem.modules[8:]))
    builder = builder_of(problem)
    built = construct_layouts(problem, builder.rects, LIMITS["fast"], builder.rng)
    assert not built.layouts
    assert {problem.modules[module].slot for module in built.without_room} == {problem.slots[3].name}


@pytest.mark.parametrize("name", ["alveo-u250", "zcu104", "pynq-z1"])
def test_a_slicer_counts_what_rectangles_hold_outside_the_keep_outs(name: str) -> None:
    fpga = load_platform(name).fpgas[0]
    rng, step = np.random.default_rng(1), fpga.device.row_step
    problem = PlacementProblem(fpga.device, fpga.slots, (), (), FILL)
    for slot in fpga.slots:
        region = slot.region
        steps = np.sort([rng.choice(region.rows // step + 1, 2, replace=False) for _ in range(100)], axis=1) * step
        columns = np.sort(rng.integers(region.left, region.right + 1, (100, 2)), axis=1)
        rows = steps + region.bottom - (0, 1)
        rects = np.column_stack((columns[:, 0], rows[:, 0], columns[:, 1], rows[:, 1]))
        expected = fpga.device.resources_of(rects)
        for keep_out in slot.keep_outs:
            left, bottom, right, top = keep_out.as_tuple()
            low, high = np.maximum(rects[:, :2], (left, bottom)), np.minimum(rects[:, 2:], (right, top))
            met = (low <= high).all(axis=1)
            expected[met] -= fpga.device.resources_of(np.concatenate((low, high), axis=1)[met])
        assert (Slicer(problem, slot, [], [])._supply(rects) == expected).all()
