import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware.geometry import Rect
from floorflow.placement.rectangles.candidate_rectangles import (
    candidate_rectangles,
    compact,
    count_rectangles,
    needed_supply,
    slot_grid,
)
from floorflow.resources import Resources
from tests.placement.small import chain, device, legal_rectangles

DEMANDS = st.builds(Resources, st.integers(0, 300), st.just(0), st.integers(0, 6), st.just(0), st.integers(0, 6))
LAYOUTS = st.sampled_from(["CCCCC", "CDCBC", "CICDIC", "CICBICCICDI", "ICDICBCI"])


@given(LAYOUTS, st.integers(1, 4), DEMANDS, st.sampled_from([0.5, 0.85, 1.0]), st.booleans())
def test_legal_rectangles_are_counted_and_each_contains_a_candidate(layout, steps, demand, fill, blocked):
    keep_outs = (Rect(1, 0, 1, 4),) if blocked else ()
    problem = chain(device(layout, steps), [demand], keep_outs=keep_outs, fill={"LUT": fill})
    legal = legal_rectangles(problem, problem.modules[0])
    grid = slot_grid(problem.device, problem.slots[0])
    need = needed_supply(demand, problem.fill)
    candidates = candidate_rectangles(grid, need).tolist()
    counted = count_rectangles(grid, need)
    assert counted >= len(legal) if blocked else counted == len(legal)
    assert {tuple(row) for row in candidates} <= {rect.as_tuple() for rect in legal}
    assert all(any(rect.contains(Rect(*row)) for row in candidates) for rect in legal)


@given(st.integers(0, 5000), st.floats(0.05, 1.0))
def test_needed_supply_is_the_least_that_meets_the_fill(amount, share):
    supply = int(needed_supply(Resources(lut=amount), {"LUT": share})[0])
    assert amount <= int(share * supply + 1e-9)
    assert supply == 0 or amount > int(share * (supply - 1) + 1e-9)


def test_no_candidate_contains_another_at_the_same_place():
    grid = slot_grid(device("CDCBCCDCBC", 4), chain(device("CDCBCCDCBC", 4), []).slots[0])
    rects = [Rect(*row) for row in candidate_rectangles(grid, np.array([90, 0, 2, 0, 2])).tolist()]
    assert rects
    for a in rects:
        for b in rects:
            same = sum(x == y for x, y in zip(a.as_tuple(), b.as_tuple(), strict=True))
            assert not (same == 3 and a.contains(b))


def test_compact_keeps_the_least_slender_ones_where_all_are_slender():
    slivers = np.array([[0, 0, 0, 9], [0, 0, 0, 11], [0, 0, 0, 99]])
    assert compact(slivers, 3.0).tolist() == [[0, 0, 0, 9], [0, 0, 0, 11]]
    assert len(compact(slivers, 12.0)) == 2
    assert len(compact(slivers, None)) == 3


def test_finely_divided_slots_are_thinned_out_but_keep_every_low_rectangle_and_the_tallest():
    die = device("CCCD", 84)
    thin, full = (slot_grid(die, chain(die, []).slots[0], every_span=every) for every in (False, True))
    assert full.complete
    assert not thin.complete
    assert len(full.spans) == 84 * 85 // 2
    assert len(thin.spans) < 1200
    assert [0, 419] in thin.spans.tolist()
    assert sum(1 for bottom, top in thin.spans if top - bottom == 4) == 84


def test_a_slot_as_large_as_a_real_one_takes_milliseconds_a_module(record_property):
    die = device("CICDICCICBICCICCIC" * 24, 16)
    grid = slot_grid(die, chain(die, []).slots[0])
    start = time.perf_counter()
    rects = candidate_rectangles(grid, needed_supply(Resources(20000, 0, 20, 0, 50), {"LUT": 0.85}))
    elapsed_ms = 1e3 * (time.perf_counter() - start)
    record_property("candidates_ms", round(elapsed_ms, 1))
    assert len(rects) > 1000
    assert elapsed_ms < 2000


@pytest.mark.parametrize("layout", ["I", "II"])
def test_a_slot_without_legal_edges_gives_no_candidates(layout):
    die = device(layout, 2)
    assert len(candidate_rectangles(slot_grid(die, chain(die, []).slots[0]), np.array([1, 0, 0, 0, 0]))) == 0
