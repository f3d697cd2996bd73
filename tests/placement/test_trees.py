"""No layout is shorter than the bound along trees: all layouts of a few modules, and the shortest of some more."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.placement_cases import FOLDER, read
from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementProblem, Wire
from floorflow.placement.bounds.trees import Places, trees_bound
from floorflow.placement.bounds.wires import extent_of, least_twice_distance, legal_rectangles, needs_of, pin_bound
from floorflow.placement.complete import solve_completely
from floorflow.placement.layout import net_arrays
from floorflow.placement.rectangles.candidate_rectangles import slot_grid
from floorflow.placement.rectangles.legal_sides import LegalSides
from floorflow.resources import Resources
from tests.placement.small import brute_force, chain, device
from tests.random_family import heavy

DEMANDS = st.builds(Resources, st.integers(1, 130), st.just(0), st.integers(0, 2), st.just(0), st.integers(0, 2))
CORNERS = st.tuples(st.sampled_from([0, 1, 2, 3, 4, 9]), st.integers(0, 14))
ASPECTS = st.sampled_from([None, 1.3, 2.0])
ENDS = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9))
PINS = st.tuples(st.integers(0, 4), st.integers(-3, 16), st.integers(-3, 40), st.integers(1, 9))


def joined(problem: PlacementProblem, ends: list[tuple], pins: list[tuple]) -> PlacementProblem:
    """Wire modules and pins, told by numbers, as they are drawn."""
    count = len(problem.modules)
    wires = [Wire(f"m{a % count}", f"m{b % count}", bits) for a, b, bits in ends if a % count != b % count]
    wires += [Wire(Pin(x, y), f"m{a % count}", bits) for a, x, y, bits in pins]
    return replace(problem, wires=tuple(wires))


def bound_of(problem: PlacementProblem, max_aspect: float | None) -> float | None:
    """Return the bound, None if some module has no legal rectangle."""
    slots = {slot.name: slot for slot in problem.slots}
    grids = {name: slot_grid(problem.device, slot, every_span=True) for name, slot in slots.items()}
    pairs = zip(problem.modules, needs_of(problem), strict=True)
    legal = [legal_rectangles(grids[module.slot], need, max_aspect) for module, need in pairs]
    places = [Places.of(each, problem.device.row_step) for each in legal]
    return trees_bound(net_arrays(problem), places) if all(map(len, places)) else None


def test_modules_that_need_one_column_lie_above_each_other() -> None:
    problem = chain(device("CCCDCCC", 4), [Resources(dsp=2)] * 3)
    assert bound_of(problem, None) == brute_force(problem) == 8 * (5 + 5)


@pytest.mark.parametrize("bits", [(9, 1), (1, 9), (2, 3)])
def test_of_two_neighbours_on_one_side_the_one_with_fewer_bits_lies_beyond_the_other(bits) -> None:
    problem = chain(device("DCCCCCC", 1), [Resources(lut=40), Resources(dsp=2), Resources(lut=40)])
    problem = joined(problem, [(0, 1, bits[0]), (1, 2, bits[1])], [])
    assert bound_of(problem, None) == brute_force(problem) == max(bits) * 1 + min(bits) * 2


def test_of_two_neighbours_on_one_side_one_may_be_off_across() -> None:
    problem = chain(device("DC", 3), [Resources(lut=40), Resources(dsp=6), Resources(lut=40)])
    assert bound_of(problem, None) == brute_force(problem) == 8 * (1 + 1 + 5)


def test_a_wire_that_is_off_across_makes_up_for_one_more_neighbour_alone() -> None:
    demands = [Resources(lut=23), Resources(lut=41, bram18=1), Resources(lut=15), Resources(lut=32)]
    problem = joined(chain(device("CBCCDCIC", 3, slr_count=2), demands), [(1, 2, 3), (2, 0, 3), (0, 3, 3)], [])
    bound = bound_of(problem, None)
    assert bound is not None
    assert 0.9 * 51 < bound <= shortest(problem, None) == 3 * (5 + 5 + 2 + 5)


def test_three_layers_of_a_real_plan_have_a_higher_bound_than_each_wire_alone() -> None:
    problem = read(FOLDER / "three_layers_xcku5p.json")
    grid = slot_grid(problem.device, problem.slots[0], every_span=True)
    legal = [legal_rectangles(grid, need, problem.max_aspect) for need in needs_of(problem)]
    nets, extents = net_arrays(problem), [extent_of(each) for each in legal]
    pins = sum(pin_bound(each, nets.pins, bits) for each, bits in zip(legal, nets.pin_bits, strict=True))
    pairs = zip(nets.pairs.T.tolist(), nets.pair_bits.tolist(), strict=True)
    alone = sum(bits * least_twice_distance(extents[a], extents[b]) / 2 for (a, b), bits in pairs) + pins
    assert bound_of(problem, problem.max_aspect) > 1.2 * alone


@given(
    st.lists(DEMANDS, min_size=2, max_size=3),
    CORNERS,
    ASPECTS,
    st.lists(ENDS, min_size=1, max_size=4),
    st.lists(PINS, max_size=3),
    st.sampled_from([1, 2]),
)
def test_no_layout_of_a_few_modules_is_shorter(demands, corner, max_aspect, ends, pins, slrs) -> None:
    x, y = corner
    keep_outs = (Rect(x, y, min(x + 1, 5), min(y + 5, 14)),) if x < 6 else ()
    problem = joined(chain(device("CDCBCC", 3, slrs), demands, keep_outs=keep_outs), ends, pins)
    least = brute_force(problem, max_aspect) if slrs == 1 else None
    bound = bound_of(problem, max_aspect)
    if least is None:
        least = shortest(problem, max_aspect) if bound is not None else None
    assume(least is not None)
    assert bound is not None
    assert bound <= least + 1e-6


@heavy()
@given(
    st.lists(DEMANDS, min_size=4, max_size=5),
    ASPECTS,
    st.lists(ENDS, min_size=3, max_size=6),
    st.lists(PINS, max_size=2),
    st.sampled_from([1, 2]),
)
def test_no_layout_of_some_more_modules_is_shorter(demands, max_aspect, ends, pins, slrs) -> None:
    problem = joined(chain(device("CDCBCC", 4, slrs), demands), ends, pins)
    bound = bound_of(problem, max_aspect)
    assume(bound is not None)
    least = shortest(problem, max_aspect)
    assume(least is not None)
    assert bound <= least + 1e-6


def shortest(problem: PlacementProblem, max_aspect: float | None) -> float | None:
    """Return the least wirelength that CP-SAT proves, None if nothing is legal."""
    slots = {slot.name: slot for slot in problem.slots}
    rules = [
        LegalSides.of(
            slot_grid(problem.device, slots[module.slot], every_span=True), need, max_aspect, problem.device.row_step
        )
        for module, need in zip(problem.modules, needs_of(problem), strict=True)
    ]
    nets, apart = net_arrays(problem), ~np.eye(len(problem.modules), dtype=np.bool_)
    answer = solve_completely(rules, nets, apart, twice_known=None, work_limit=20.0, seed=0)
    return None if answer.layout is None else answer.twice_bound / 2
