"""No layout is shorter than the bound along trees: all layouts of a few modules, and the shortest of some more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementProblem, Wire
from floorflow.placement.bounds.places import Places
from floorflow.placement.bounds.trees import trees_bound
from floorflow.placement.bounds.wires import legal_rectangles, needs_of
from floorflow.placement.improvement.complete import solve_completely
from floorflow.placement.layouts.net_arrays import net_arrays
from floorflow.placement.rectangles.candidate_rectangles import slot_grid
from floorflow.placement.rectangles.legal_sides import LegalSides
from floorflow.resources import Resources
from tests.placement.small import brute_force, chain, device

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


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=15, deadline=None)
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
