"""Pblocks grow: legal, around what they were, first to the room that they lack, then evenly for little wire length."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementProblem, PlacementSolution, Wire, grown, hpwl_of, place
from floorflow.placement.objective import solved
from floorflow.resources import Resources
from tests.placement.small import assert_legal, chain, device, is_drawable, supply_of

DIE = device("CBCDCCCCCICC", 4)
LONGER, MOST = 0.02, 0.6


def rooms(problem: PlacementProblem, share: float = 1.0):
    """Return tests whether modules need at most a share of the LUTs of their rectangles."""
    return {m.name: (lambda supply, lut=m.demand.lut: lut <= share * supply.lut) for m in problem.modules}


def put(problem: PlacementProblem, *rects: Rect) -> PlacementSolution:
    regions = {module.name: (rect,) for module, rect in zip(problem.modules, rects, strict=True)}
    return solved(problem, regions, hpwl_of(regions, problem.wires), "hand")


def only(solution: PlacementSolution, name: str) -> Rect:
    (rect,) = solution.regions[name]
    return rect


def lone(lut: int, **options: object) -> PlacementProblem:
    return chain(device("CCCCCCCC", 4), [Resources(lut=lut)], **options)  # type: ignore[arg-type]


def test_a_rectangle_with_room_grows_to_its_share_of_the_slot():
    problem = lone(40)
    after = grown(problem, put(problem, Rect(3, 5, 4, 9)), rooms(problem), longer=LONGER, most=MOST)
    rect = only(after, "m0")
    assert 0.5 * 160 <= rect.columns * rect.rows <= MOST * 160
    assert after.stats.method == "hand, optimal, then grown"


def test_a_rectangle_without_room_becomes_the_smallest_around_it_that_has_it():
    problem = lone(100)
    after = grown(problem, put(problem, Rect(3, 5, 4, 9)), rooms(problem, 0.5), longer=0.0, most=0.0)
    assert only(after, "m0") == Rect(0, 5, 4, 9)  # 25 CLBs of 8 LUT, half of them


def test_what_has_no_room_around_it_stays_short():
    problem = chain(device("CCCC", 2), [Resources(lut=100), Resources(lut=100)])
    before = put(problem, Rect(0, 0, 1, 9), Rect(2, 0, 3, 9))
    after = grown(problem, before, rooms(problem, 0.5), longer=LONGER, most=MOST)
    assert after is before


def test_a_way_around_a_keep_out_is_not_taken():
    problem = lone(40, keep_outs=(Rect(4, 0, 4, 19),))
    after = grown(problem, put(problem, Rect(2, 5, 3, 9)), rooms(problem, 0.1), longer=1.0, most=1.0)
    assert only(after, "m0").right == 3


def test_outwards_on_both_sides_costs_no_wires():
    problem = lone(40)
    problem = replace(problem, wires=(Wire("m0", Pin(7, 14), 100),))
    before = put(problem, Rect(3, 5, 4, 9))
    assert before.hpwl == 0
    after = grown(problem, before, rooms(problem), longer=LONGER, most=MOST)
    assert after.hpwl == 0
    assert only(after, "m0").columns > 2


def test_a_pblock_over_several_rectangles_stays():
    problem = lone(40, keep_outs=(Rect(4, 0, 4, 4),))
    whole = (Rect(0, 5, 7, 19), Rect(0, 0, 3, 4))
    before = solved(problem, {"m0": whole}, 0.0, "hand")
    assert grown(problem, before, rooms(problem, 0.1), longer=LONGER, most=MOST) is before


parts = st.lists(st.tuples(st.integers(1, 90), st.integers(0, 4)), min_size=1, max_size=5)


@given(parts, st.floats(0.3, 1.0), st.booleans())
def test_what_grows_stays_legal_and_contains_what_it_was(needs, share, held_out):
    demands = [Resources(lut=lut, bram18=bram) for lut, bram in needs]
    problem = chain(DIE, demands, keep_outs=(Rect(10, 10, 11, 19),) if held_out else (), max_aspect=3.0)
    before = place(problem)
    if not isinstance(before, PlacementSolution):
        return
    tests = rooms(problem, share)
    after = grown(problem, before, tests, longer=LONGER, most=MOST)
    assert_legal(problem, after)
    for module in problem.modules:
        (old,), (new,) = before.regions[module.name], after.regions[module.name]
        assert new.contains(old)
    widened = grown(problem, before, tests, longer=0.0, most=0.0)
    assert after.hpwl <= (1 + LONGER) * widened.hpwl + 1e-9
    assert after == grown(problem, before, tests, longer=LONGER, most=MOST)


@given(parts, st.floats(0.3, 0.9))
def test_only_what_no_clear_rectangle_around_it_would_hold_is_short(needs, share):
    problem = chain(DIE, [Resources(lut=lut, bram18=bram) for lut, bram in needs])
    before = place(problem)
    if not isinstance(before, PlacementSolution):
        return
    after = grown(problem, before, rooms(problem, share), longer=LONGER, most=MOST)
    for module in problem.modules:
        if module.demand.lut <= share * supply_of(DIE, only(after, module.name))["LUT"]:
            continue
        others = [only(after, other.name) for other in problem.modules if other is not module]
        for rect in every_rectangle_around(only(after, module.name)):
            if is_drawable(problem, module, rect) and not any(rect.overlaps(other) for other in others):
                assert module.demand.lut > share * supply_of(DIE, rect)["LUT"]


def every_rectangle_around(rect: Rect):
    bounds = DIE.bounds
    sides = itertools.product(
        range(rect.left + 1),
        range(rect.bottom + 1),
        range(rect.right, bounds.right + 1),
        range(rect.top, bounds.top + 1),
    )
    return (Rect(*corners) for corners in sides)


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_the_fullest_grows_first(share):
    problem = chain(device("C" * 20, 4), [Resources(lut=72), Resources(lut=10)], width_bits=1)
    before = put(problem, Rect(4, 5, 5, 9), Rect(14, 5, 15, 9))
    after = grown(problem, before, rooms(problem, share), longer=0.0, most=MOST)
    full = [m.demand.lut / supply_of(problem.device, only(after, m.name))["LUT"] for m in problem.modules]
    assert full[0] < 72 / 80
    assert only(after, "m0").columns > only(after, "m1").columns
