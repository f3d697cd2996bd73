"""The bound holds for every legal rectangle, counted one by one."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementSolution, Wire, place
from floorflow.placement.bounds.wires import extent_of, legal_rectangles, needs_of, pin_bound
from floorflow.placement.rectangles.candidate_rectangles import slot_grid
from floorflow.resources import Resources
from tests.placement.small import chain, device
from tests.placement.small import legal_rectangles as every_legal_rectangle

DEMANDS = st.builds(Resources, st.integers(0, 300), st.just(0), st.integers(0, 4), st.just(0), st.integers(0, 4))
PINS = st.lists(st.tuples(st.integers(-5, 25), st.integers(-5, 60), st.integers(1, 9)), min_size=1, max_size=3)


@given(DEMANDS, st.tuples(st.integers(0, 9), st.integers(0, 19)), PINS, st.sampled_from([None, 1.5, 3.0]))
def test_sizes_centres_and_distances_to_pins_are_met_by_no_legal_rectangle(demand, corner, pins, max_aspect) -> None:
    x, y = corner
    problem = chain(device("CDCBCCICCI", 4), [demand], keep_outs=(Rect(x, y, min(x + 2, 9), min(y + 4, 19)),))
    rects = [
        r
        for r in every_legal_rectangle(problem, problem.modules[0])
        if max_aspect is None or max(r.columns / r.rows, r.rows / r.columns) <= max_aspect
    ]
    assume(rects)
    grid = slot_grid(problem.device, problem.slots[0], every_span=True)
    legal = legal_rectangles(grid, needs_of(problem)[0], max_aspect)
    extent = extent_of(legal)
    assert extent.columns == min(r.columns for r in rects) or max_aspect is not None
    assert extent.columns <= min(r.columns for r in rects)
    assert extent.rows == min(r.rows for r in rects) or max_aspect is not None
    assert extent.rows <= min(r.rows for r in rects)
    for rect in rects:
        assert extent.x2[0] <= rect.left + rect.right <= extent.x2[1]
        assert extent.y2[0] <= rect.bottom + rect.top <= extent.y2[1]
    places, bits = np.array([pin[:2] for pin in pins]), np.array([pin[2] for pin in pins])
    distances = [
        sum(width * (abs(r.left + r.right - a) + abs(r.bottom + r.top - b)) for a, b, width in pins) / 2 for r in rects
    ]
    assert pin_bound(legal, places, bits) <= min(distances)


def test_keep_outs_that_quarter_a_slot_make_the_bound_higher() -> None:
    die = device("CICDICCICBICCIC" * 4, 12)
    have = die.resources(die.slr_region("SLR0"))
    demands = [Resources(int(0.15 * have.lut))] * 2
    free = place(chain(die, demands))
    walled = place(chain(die, demands, keep_outs=(Rect(30, 0, 31, 59), Rect(0, 30, 59, 34))))
    assert isinstance(free, PlacementSolution)
    assert isinstance(walled, PlacementSolution)
    assert free.stats.bound is not None
    assert walled.stats.bound is not None
    assert walled.stats.bound > free.stats.bound


def test_a_module_with_one_pin_is_bounded_exactly() -> None:
    problem = chain(device("C" * 12 + "D", 6), [Resources(lut=8 * 20)], max_aspect=None)
    outcome = place(replace(problem, wires=(Wire(Pin(-10, 29), "m0", 5),)))
    assert isinstance(outcome, PlacementSolution)
    assert outcome.regions["m0"] == (Rect(0, 5, 0, 24),)
    assert outcome.hpwl == outcome.stats.bound == 25.0
