import time
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from floorflow.errors import InputError
from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementFailure, PlacementSolution, Wire, place
from floorflow.resources import Resources
from tests.placement.small import assert_legal, brute_force, chain, device, shape_rule, slots
from tests.random_family import heavy

BIG = device("CICDICCICBICCIC" * 8, 12)
SMALL_DEMANDS = st.builds(Resources, st.integers(0, 130), st.just(0), st.integers(0, 2), st.just(0), st.integers(0, 2))
PINS = st.builds(Pin, st.integers(-4, 14), st.integers(-4, 40))
PIN_WIRES = st.one_of(
    st.builds(Wire, PINS, st.just("m0"), st.integers(0, 9)), st.builds(Wire, st.just("m0"), PINS, st.integers(0, 9))
)
LAYOUTS = st.sampled_from(["CCC", "CDCB", "CICDIC", "CBCC"])


def shares(die, parts):
    """Demands that are these shares of the first slot's LUTs, and somewhat less of its other resources."""
    have = die.resources(die.slr_region("SLR0"))
    return [
        Resources(int(p * have.lut), int(p * have.ff), int(0.8 * p * have.bram18), 0, int(0.8 * p * have.dsp))
        for p in parts
    ]


@given(
    LAYOUTS, st.integers(1, 3), st.lists(SMALL_DEMANDS, min_size=1, max_size=3), st.booleans(), st.booleans(), st.data()
)
def test_small_problems_agree_with_brute_force(layout, steps, demands, blocked, compact, data):
    keep_outs = (Rect(0, 0, 0, 4),) if blocked else ()
    problem = chain(device(layout, steps), demands, keep_outs=keep_outs, max_aspect=3.0 if compact else None)
    wires = [replace(wire, width_bits=data.draw(st.integers(0, 9))) for wire in problem.wires]
    if len(demands) == 3 and data.draw(st.booleans()):
        wires.append(Wire("m2", "m0", 3))
    wires += data.draw(st.lists(PIN_WIRES, max_size=2))
    problem = replace(problem, wires=tuple(wires))
    least = brute_force(problem)
    outcome = place(problem)
    if isinstance(outcome, PlacementFailure):
        assert not outcome.proven or least is None
        assert compact or outcome.proven
        return
    assert_legal(problem, outcome)
    if any(len(region) > 1 for region in outcome.regions.values()):
        # Alone in its slot, in all that is free of it: no rectangle would hold it.
        assert least is None
        return
    assert least is not None
    assert least <= outcome.hpwl
    if not compact:
        assert outcome.stats.bound == outcome.hpwl == least
    # The bound speaks of all pblocks of the shape that the method names; there may be better ones of other shapes.
    least_of_shape = brute_force(problem, shape_rule(outcome))
    if least_of_shape is not None:
        assert outcome.stats.bound <= least_of_shape


@given(st.lists(SMALL_DEMANDS, min_size=2, max_size=3), st.integers(1, 2))
def test_the_bound_holds_across_slots(demands, steps):
    problem = chain(device("CDCB", steps, slr_count=2), demands)
    problem = replace(problem, wires=(*problem.wires, Wire("m1", Pin(7, 3), 5)))
    outcome = place(problem)
    assume(isinstance(outcome, PlacementSolution))
    assert_legal(problem, outcome)
    assert brute_force(problem) <= outcome.hpwl
    least_of_shape = brute_force(problem, shape_rule(outcome))
    assert least_of_shape is None or outcome.stats.bound <= least_of_shape


@heavy()
@given(
    st.lists(st.floats(0.02, 0.14), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 110), st.integers(0, 50)), max_size=2),
    st.integers(0, 3),
)
def test_random_problems_on_a_larger_device_are_legal(parts, corners, seed):
    keep_outs = tuple(Rect(x, y, x + 8, y + 9) for x, y in corners)
    problem = chain(BIG, shares(BIG, parts), keep_outs=keep_outs, fill={"LUT": 0.9})
    outcome = place(replace(problem, effort="fast"), seed=seed)
    assert isinstance(outcome, PlacementSolution) or not outcome.proven
    if isinstance(outcome, PlacementSolution):
        assert_legal(problem, outcome)


@pytest.mark.parametrize("parts", [[0.12] * 6, [0.08] * 10, [0.2] * 4, [0.3, 0.25, 0.1, 0.05, 0.05, 0.05]])
def test_tight_slots_are_packed(parts):
    problem = chain(BIG, shares(BIG, parts))
    outcome = place(problem)
    assert isinstance(outcome, PlacementSolution), outcome
    assert_legal(problem, outcome)


def test_rectangles_are_compact_where_there_is_room():
    outcome = place(chain(BIG, shares(BIG, [0.05] * 5)))
    for (rect,) in outcome.regions.values():
        assert max(rect.columns / rect.rows, rect.rows / rect.columns) <= 3


def test_a_chain_over_two_slots_meets_at_the_boundary():
    die = device("CICDICCICBICCIC" * 4, 12, slr_count=2)
    problem = chain(die, shares(die, [0.1] * 4))
    outcome = place(problem)
    assert_legal(problem, outcome)
    (lower,), (upper,) = outcome.regions["m1"], outcome.regions["m2"]
    assert upper.bottom - lower.top <= 10
    assert abs(lower.left + lower.right - upper.left - upper.right) / 2 <= 5


@pytest.mark.parametrize("corner", [Pin(0, 0), Pin(2 * BIG.column_count, 0), Pin(0, 2 * BIG.row_count)])
def test_a_pin_pulls_the_module_that_is_wired_to_it(corner):
    problem = chain(BIG, shares(BIG, [0.05] * 4), width_bits=8)
    outcome = place(replace(problem, wires=(*problem.wires, Wire(corner, "m3", 64))))
    distances = {
        name: abs(rect.left + rect.right - corner.x2) + abs(rect.bottom + rect.top - corner.y2)
        for name, (rect,) in outcome.regions.items()
    }
    assert min(distances, key=distances.get) == "m3"
    (rect,) = outcome.regions["m3"]
    assert distances["m3"] <= rect.columns + rect.rows + 2


def test_a_pin_in_another_slot_pulls_to_the_boundary():
    die = device("CICDICCICBICCIC" * 4, 12, slr_count=2)
    problem = chain(die, shares(die, [0.1]))
    outcome = place(replace(problem, wires=(Wire("m0", Pin(60, 2 * die.row_count), 8),)))
    assert outcome.regions["m0"][0].top == die.slr_region("SLR0").top
    assert outcome.stats.bound <= outcome.hpwl


def test_pins_of_one_place_add_up_and_make_the_bound():
    problem = chain(BIG, shares(BIG, [0.1]))
    far = Pin(2 * BIG.column_count + 400, 60)
    once = place(replace(problem, wires=(Wire(far, "m0", 6),)))
    twice = place(replace(problem, wires=(Wire(far, "m0", 4), Wire("m0", far, 2))))
    assert once == twice
    assert 0 < 6 * 200 <= once.stats.bound <= once.hpwl


def test_a_keep_out_wall_is_respected():
    wall = Rect(50, 0, 60, 59)
    problem = chain(BIG, shares(BIG, [0.1] * 4), keep_outs=(wall,))
    outcome = place(problem)
    assert_legal(problem, outcome)
    assert not any(rect.overlaps(wall) for (rect,) in outcome.regions.values())


def test_a_module_may_fill_all_that_keep_outs_leave():
    die = device("CCCCD", 4)
    walls = (Rect(0, 0, 1, 19), Rect(1, 0, 1, 9))
    outcome = place(chain(die, [Resources(lut=2 * 20 * 8)], keep_outs=walls))
    assert isinstance(outcome, PlacementSolution), outcome
    assert outcome.regions["m0"] == (Rect(2, 0, 3, 19),)
    too_much = place(chain(die, [Resources(lut=2 * 20 * 8), Resources(lut=1)], keep_outs=walls))
    assert isinstance(too_much, PlacementFailure)
    assert too_much.proven


def test_a_module_larger_than_its_slot_is_proven_infeasible():
    outcome = place(chain(BIG, shares(BIG, [1.1])))
    assert isinstance(outcome, PlacementFailure)
    assert outcome.proven
    assert (outcome.slot, outcome.refusal.names) == ("fpga0.SLR0", ("m0",))
    assert "LUT" in str(outcome)


def test_modules_that_need_more_than_the_slot_together_are_proven_infeasible():
    outcome = place(chain(BIG, shares(BIG, [0.4, 0.4]), fill={"LUT": 0.7}))
    assert isinstance(outcome, PlacementFailure)
    assert outcome.proven
    assert "fill" in str(outcome)


def test_a_module_that_only_keep_outs_forbid_is_proven_infeasible_beside_another():
    walls = tuple(Rect(x, 0, x, 59) for x in (20, 40, 60, 80, 100))
    outcome = place(chain(BIG, shares(BIG, [0.4, 0.01]), keep_outs=walls))
    assert isinstance(outcome, PlacementFailure)
    assert outcome.proven
    assert outcome.refusal.names == ("m0",)
    assert "m0" in str(outcome)


def test_two_halves_that_do_not_fit_beside_each_other_fail_without_false_proof():
    die = device("CCCD", 3)
    have = die.resources(die.slr_region("SLR0")).lut
    problem = chain(die, [Resources(lut=int(0.48 * have)), Resources(lut=int(0.48 * have))])
    outcome = place(problem)
    assert isinstance(outcome, PlacementFailure)
    assert not outcome.proven
    proof = place(replace(problem, max_aspect=None))
    assert isinstance(proof, PlacementFailure)
    assert proof.proven
    assert brute_force(problem) is None


@pytest.mark.parametrize("max_aspect", [3.0, None])
def test_no_modules_give_an_empty_placement(max_aspect):
    outcome = place(chain(BIG, [], max_aspect=max_aspect))
    assert isinstance(outcome, PlacementSolution)
    assert (outcome.regions, outcome.hpwl, outcome.stats.status) == ({}, 0.0, "optimal")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"effort": "heroic"}, "effort"),
        ({"fill": {"LUT": 0.0}}, "fill of LUT"),
        ({"fill": {"lut": 0.5}}, "resource of fill"),
        ({"max_aspect": 0.5}, "max_aspect"),
        ({"reach_tiles": 0.0}, "reach_tiles"),
        ({"wires": (Wire("m0", "nobody", 8),)}, "nobody"),
        ({"wires": (Wire(Pin(0, 0), Pin(2, 2), 8),)}, "expected a module at one"),
        ({"slots": slots(device("C", 1, 2))[1:]}, "slot of module 'm0'"),
    ],
)
def test_wrong_values_are_named(change, words):
    with pytest.raises(InputError, match=words):
        replace(chain(BIG, shares(BIG, [0.1])), **change)


def test_an_unknown_method_is_named():
    with pytest.raises(InputError, match="magic"):
        place(chain(BIG, []), method="magic")


def test_equal_seeds_give_equal_answers(record_property):
    # More modules than are annealed from end to end.
    problem = replace(chain(BIG, shares(BIG, [0.05] * 14)), effort="fast")
    start = time.perf_counter()
    first = place(problem, seed=3)
    record_property("seconds", round(time.perf_counter() - start, 2))
    assert place(problem, seed=3) == first


def test_more_effort_is_legal_and_no_worse():
    die = device("CICDICCICBICCIC" * 2, 6)
    problem = chain(die, shares(die, [0.2, 0.1, 0.15]))
    fast, best = place(problem), place(replace(problem, effort="best"))
    assert_legal(problem, best)
    assert best.hpwl <= fast.hpwl


def test_wires_both_ways_and_repeated_ones_add_up():
    problem = chain(BIG, shares(BIG, [0.1] * 3))
    twice = replace(problem, wires=(*problem.wires, Wire("m1", "m0", 8), Wire("m0", "m0", 8)))
    outcome = place(twice)
    assert_legal(twice, outcome)
    assert outcome.stats.bound > place(problem).stats.bound
