"""Terms of the objective against sums by hand, and what the search makes of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from floorflow.hardware.geometry import Rect
from floorflow.hardware.reach import Way
from floorflow.hardware.routing import FREE_SHARE, routing_capacity
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution, grown, hpwl_of, place
from floorflow.placement.congestion import RoutingMap
from floorflow.placement.objective import STREAM_BITS, evaluated, solved
from floorflow.placement.problem import Pin, Weights, Wire, point_of
from floorflow.resources import Resources
from tests.placement.small import assert_legal, chain, device, legal_rectangles

ALL = Weights(1.0, 1.0, 1.0)
FIELD = device("ICCC" * 15, 12)


def weighed(problem: PlacementProblem, reach: float | None, weights: Weights = ALL) -> PlacementProblem:
    return replace(problem, weights=weights, reach_tiles=reach)


def found(problem: PlacementProblem) -> PlacementSolution:
    answer = place(problem)
    assert isinstance(answer, PlacementSolution), answer
    return answer


def tiles_between(problem: PlacementProblem, answer: PlacementSolution, wire: Wire) -> float:
    a, b = (point_of(end, answer.regions) for end in (wire.source, wire.target))
    return (abs(a.x2 - b.x2) + abs(a.y2 - b.y2)) / 2


def test_what_a_bin_offers_is_counted_tile_by_tile() -> None:
    capacity = routing_capacity(FIELD)
    assert capacity.shape == (4, 4)
    # Three interconnect columns of four begin at 0, 16, 32: of 15 columns four have them.
    columns = [sum(x % 4 == 0 for x in range(15 * k, 15 * k + 15)) for k in range(4)]
    expected = [[FREE_SHARE * 15 * (96 * 15 + 192 * count)] * 4 for count in columns]
    assert capacity.tolist() == expected


def test_the_map_spreads_a_wire_over_its_box_and_adds_up_to_the_wirelength() -> None:
    problem = replace(chain(FIELD, [Resources(lut=8)]), wires=(Wire("m0", Pin(2 * 34, 2 * 20), 10),))
    regions = {"m0": (Rect(4, 5, 4, 5),)}
    routing = evaluated(problem, regions).routing
    # 30 columns and 15 rows: 450 bit-tiles over columns 3.5 to 34.5 and rows 4.5 to 20.5.
    columns, rows = np.array([11, 15, 5, 0]) / 31, np.array([10, 6, 0, 0]) / 16
    assert routing.demand == pytest.approx(450 * np.outer(columns, rows))
    assert routing.demand.sum() == pytest.approx(hpwl_of(regions, problem.wires))


def test_a_stream_counts_beyond_its_reach_whatever_its_width_and_each_of_several() -> None:
    problem = chain(FIELD, [Resources(lut=8)] * 2)
    wires = (Wire("m0", "m1", 1), Wire("m1", "m0", 300), Wire("m0", Pin(0, 0), 7))
    problem = weighed(replace(problem, wires=wires), 20.0)
    at = {"m0": (Rect(4, 0, 4, 0),), "m1": (Rect(34, 10, 34, 10),)}
    assert solved(problem, at, 0.0, "").terms.reach == pytest.approx(2 * STREAM_BITS * 20**2 / 20)
    assert solved(problem, at, 0.0, "").beyond_reach == 2


@given(st.integers(0, 59), st.integers(0, 29), st.integers(0, 59), st.integers(60, 89), st.integers(1, 80))
def test_ways_over_boundaries_are_those_of_the_hardware(x: int, y: int, u: int, v: int, reach: int) -> None:
    die = device("ICCC" * 15, 6, 3)
    problem = chain(die, [Resources(lut=8)] * 3)
    problem = weighed(replace(problem, wires=(Wire("m0", "m2", 5),), boundary_rows=(29.5, 59.5)), float(reach))
    at = {"m0": (Rect(x, y, x, y),), "m1": (Rect(0, 30, 0, 30),), "m2": (Rect(u, v, u, v),)}
    way = Way.between((x, y), (u, v), (29.5, 59.5))
    expected = STREAM_BITS * max(0.0, way.longest_tiles - reach) ** 2 / reach
    assert solved(problem, at, 0.0, "").terms.reach == pytest.approx(expected)


def test_without_other_weights_the_layout_is_that_of_the_wires_alone() -> None:
    problem = chain(device("ICCCBCCD", 6), [Resources(lut=30, bram18=i % 2) for i in range(7)])
    alone, told = found(problem), found(weighed(problem, 3.0, Weights(1.0, 0.0, 0.0)))
    assert alone.regions == told.regions
    assert alone.stats == told.stats
    assert told.terms.reach > 0
    doubled = found(replace(problem, weights=Weights(2.0, 0.0, 0.0)))
    assert doubled.regions == alone.regions
    assert (doubled.stats.objective, doubled.stats.bound) == (2 * alone.hpwl, 2 * (alone.stats.bound or 0))


def hot_spot() -> PlacementProblem:
    """Six wide streams, side by side as their short ends would have it, that all want to pass the same bins."""
    names = [f"m{i}" for i in range(6)]
    problem = chain(device("ICCC" * 15, 12), [Resources(lut=8 * 40)] * 6)
    wires = [Wire(name, Pin(2 * 30, 2 * 30), 900) for name in names]
    return replace(problem, wires=tuple(wires), effort="fast")


def test_a_hot_spot_is_relieved_for_little_wire() -> None:
    off = found(hot_spot())
    on = found(weighed(hot_spot(), None))
    assert off.routing.over
    assert on.routing.peak <= 0.8 * off.routing.peak
    assert on.hpwl <= 1.05 * off.hpwl


def within_reach(problem: PlacementProblem) -> bool:
    """Whether a legal placement has no stream beyond its reach: CP-SAT over all pairs of rectangles, no wires."""
    assert problem.reach_tiles is not None
    model, rects = cp_model.CpModel(), [legal_rectangles(problem, module) for module in problem.modules]
    most = problem.max_aspect or 1e9
    rects = [[r for r in own if max(r.columns / r.rows, r.rows / r.columns) <= most] for own in rects]
    choice = [[model.new_bool_var("") for _ in own] for own in rects]
    for own in choice:
        model.add_exactly_one(own)
    index = problem.index_of
    joined = {frozenset(map(index.__getitem__, wire.modules)) for wire in problem.wires if wire.pin is None}
    for a in range(len(rects)):
        for b in range(a):
            far = frozenset((a, b)) in joined
            for i, one in enumerate(rects[a]):
                for j, other in enumerate(rects[b]):
                    x, y = (Pin.at_centre(rect) for rect in (one, other))
                    apart = (abs(x.x2 - y.x2) + abs(x.y2 - y.y2)) / 2
                    if one.overlaps(other) or (far and apart > problem.reach_tiles):
                        model.add_bool_or(choice[a][i].negated(), choice[b][j].negated())
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return bool(solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE))


NEEDS = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 2)), min_size=2, max_size=4)
MORE_NEEDS = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 2)), min_size=2, max_size=6)


@settings(max_examples=6)
@given(NEEDS, st.integers(2, 14), st.sampled_from([None, 3.0]), st.randoms(use_true_random=False))
def test_no_stream_is_beyond_its_reach_where_one_need_not_be(needs, half_reach, max_aspect, chance) -> None:
    reaches_what_can_be_reached(needs, half_reach, max_aspect, chance)


@pytest.mark.slow
@given(MORE_NEEDS, st.integers(2, 14), st.sampled_from([None, 3.0]), st.randoms(use_true_random=False))
def test_no_stream_of_up_to_six_modules_is_beyond_its_reach(needs, half_reach, max_aspect, chance) -> None:
    reaches_what_can_be_reached(needs, half_reach, max_aspect, chance)


def reaches_what_can_be_reached(needs, half_reach, max_aspect, chance) -> None:
    demands = [Resources(lut=lut, bram18=bram) for lut, bram in needs]
    problem = chain(device("CBCICC", 4), demands, max_aspect=max_aspect)
    names = [module.name for module in problem.modules]
    wires = [Wire(*chance.sample(names, 2), chance.choice([1, 8, 500])) for _ in range(len(names))]
    problem = weighed(replace(problem, wires=(*problem.wires, *wires)), half_reach / 2)
    answer = place(problem)
    if isinstance(answer, PlacementFailure):
        return
    assert_legal_but_for_the_objective(problem, answer)
    longest = max(tiles_between(problem, answer, wire) for wire in problem.wires)
    assert (answer.beyond_reach == 0) == (longest <= problem.reach_tiles)
    # Where nothing of the aspect fits the search frees it: then what it may choose from is not what is asked here.
    if "free" not in answer.stats.method and (max_aspect is None or "within 3:1" in answer.stats.method):
        assert (answer.beyond_reach == 0) == within_reach(problem)


def assert_legal_but_for_the_objective(problem: PlacementProblem, answer: PlacementSolution) -> None:
    """Judge the rectangles; the objective is the weighted sum of the terms."""
    assert_legal(problem, solved(replace(problem, weights=Weights()), answer.regions, 0.0, ""))
    assert answer.stats.objective == pytest.approx(answer.terms.weighted(problem.weights))
    assert answer.stats.bound is not None
    assert answer.stats.bound <= answer.stats.objective + 1e-9


def test_growing_takes_no_stream_beyond_its_reach() -> None:
    problem = chain(device("CCCCCCCCCCCC", 1), [Resources(lut=40)])
    problem = replace(problem, wires=(Wire("m0", Pin(1, 0), 8),))
    before = {"m0": (Rect(0, 0, 1, 4),)}
    room = {"m0": lambda supply: supply.lut >= 40}
    for reach, may_part in ((2.6, False), (None, True)):
        asked = weighed(problem, reach)
        after = grown(asked, solved(asked, before, 0.0, "hand"), room, longer=10.0, most=1.0)
        tiles = tiles_between(asked, after, asked.wires[0])
        # It can only grow to the right, away from its stream's other end.
        assert (tiles > 2.6) is may_part


def test_room_goes_before_reach_where_both_cannot_be_had() -> None:
    problem = chain(device("CCCCCCCCCCCC", 4), [Resources(lut=40)])
    problem = weighed(replace(problem, wires=(Wire("m0", Pin(1, 14), 8),)), 0.6)
    before = {"m0": (Rect(0, 5, 1, 9),)}
    room = {"m0": lambda supply: supply.lut >= 8 * 12 * 15}
    after = grown(problem, solved(problem, before, 0.0, "hand"), room, longer=0.0, most=0.0)
    (rect,) = after.regions["m0"]
    assert rect.columns * rect.rows >= 12 * 15


@pytest.mark.parametrize("weights", [(0.0, 0.0, 0.0), (-1.0, 0.0, 1.0), (float("nan"), 1.0, 1.0)])
def test_weights_that_mean_nothing_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(Exception, match="weights of placement"):
        Weights(*weights)


def test_bins_that_offer_nothing_are_not_above_capacity() -> None:
    routing = RoutingMap(np.array([[5.0, 5.0, 3.0]]), np.array([[0.0, 4.0, 4.0]]))
    assert (routing.over, routing.excess) == (1, 6.0)
