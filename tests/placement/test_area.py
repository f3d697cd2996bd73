"""The cells of the least legal rectangle, against trying all of them."""

import random
import time
from collections.abc import Mapping

import pytest

from floorflow.hardware import Rect, load_platform
from floorflow.placement import PlacedModule, PlacementProblem, least_cells
from floorflow.placement.rectangles.candidate_rectangles import area_of, candidate_rectangles, needed_supply, slot_grid
from floorflow.resources import Resources
from tests.placement.small import device, legal_rectangles, slots

FILL = {"LUT": 0.85, "FF": 0.85}


def least_by_trying(problem: PlacementProblem) -> int | None:
    """Return the least cells over every legal rectangle of the only module."""
    rects = legal_rectangles(problem, problem.modules[0])
    return min((rect.columns * rect.rows for rect in rects), default=None)


@pytest.mark.parametrize("seed", range(30))
def test_least_cells_are_those_of_the_smallest_of_all_legal_rectangles(seed: int) -> None:
    chance = random.Random(seed)
    layout = "".join(chance.choice("CCCCDBI") for _ in range(chance.randint(4, 14)))
    die = device(layout, chance.randint(2, 5))
    left, bottom = chance.randrange(len(layout)), 5 * chance.randrange(2)
    hole = Rect(left, bottom + chance.randrange(5), min(left + 2, len(layout) - 1), bottom + 7)
    (slot,) = slots(die, (hole,) if chance.random() < 0.7 else ())
    have = die.resources(slot.region).as_dict()
    share = chance.choice((0.05, 0.2, 0.5))
    wanted = {name: int(share * chance.random() * amount) for name, amount in have.items()}
    module = PlacedModule("m", slot.name, Resources.from_dict(wanted))
    problem = PlacementProblem(die, (slot,), (module,), (), FILL)
    assert least_cells(die, slot, module.demand, FILL) == least_by_trying(problem)


@pytest.mark.parametrize("name", ["alveo-u250", "xcku5p", "zcu104", "pynq-z1"])
def test_least_cells_on_real_slots_are_those_of_the_least_candidate(name: str) -> None:
    fpga, chance = load_platform(name).fpgas[0], random.Random(3)
    for slot in fpga.slots:
        grid = slot_grid(fpga.device, slot, every_span=True)
        for demand in random_demands(chance, slot.capacity, 8):
            rects = candidate_rectangles(grid, needed_supply(demand, FILL))
            least = int(area_of(rects).min()) if len(rects) else None
            assert least_cells(fpga.device, slot, demand, FILL) == least


def test_what_no_rectangle_holds_has_no_cells() -> None:
    fpga = load_platform("alveo-u250").fpgas[0]
    # Half of SLR1 is the shell's, so that what its region holds no rectangle does.
    assert least_cells(fpga.device, fpga.slots[1], fpga.slots[1].capacity, {}) is None
    assert least_cells(fpga.device, fpga.slots[3], fpga.slots[3].capacity, {}) == 444 * 240, (
        "but the I/O columns at its edges"
    )


def test_a_module_that_needs_nothing_takes_the_least_rectangle_that_there_is() -> None:
    (slot,) = slots(die := device("CCCC", 2))
    assert least_cells(die, slot, Resources(), {}) == die.row_step


def test_all_modules_of_a_large_network_in_all_slots_take_a_moment(record_property) -> None:
    platform, chance = load_platform("alveo-u250", fpgas=2), random.Random(4)
    demands = random_demands(chance, platform.slots[0].capacity, 70)
    start = time.process_time()
    cells = [
        least_cells(fpga.device, slot, demand, FILL)
        for fpga in platform.fpgas
        for slot in fpga.slots
        for demand in demands
    ]
    seconds = time.process_time() - start
    record_property("seconds", round(seconds, 2))
    assert cells[: len(cells) // 2] == cells[len(cells) // 2 :], "equal cards have equal slots"
    assert seconds < 2, "several times what it takes on a busy machine"


def random_demands(chance: random.Random, capacity: Resources, count: int) -> list[Resources]:
    """Return demands of up to a tenth of a slot, some without some resources."""

    def demand() -> Mapping[str, int]:
        share = chance.uniform(0.005, 0.1)
        return {name: int(chance.choice((0, 0.2, 1)) * share * have) for name, have in capacity.as_dict().items()}

    return [Resources.from_dict(demand()) for _ in range(count)]
