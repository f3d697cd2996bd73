"""What the methods promise of each other, and of their parts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementSolution, Wire, place
from floorflow.placement.annealing import Cooling, anneal
from floorflow.placement.bounds.wires import needs_of
from floorflow.placement.construction.one_by_one import place_one_by_one
from floorflow.placement.layout import CandidateRectangles, Layout, SearchSpace, net_arrays, twice_hpwl
from floorflow.placement.problem import PlacementProblem
from floorflow.placement.rectangles.candidate_rectangles import Raster, candidate_rectangles, slot_grid
from floorflow.resources import Resources
from tests.placement.small import assert_legal, brute_force, chain, device, shape_rule
from tests.random_family import heavy

DEMANDS = st.builds(Resources, st.integers(1, 130), st.just(0), st.integers(0, 2), st.just(0), st.integers(0, 2))


def space_of(problem: PlacementProblem) -> SearchSpace:
    (slot,) = problem.slots
    grid, raster = slot_grid(problem.device, slot, every_span=True), Raster.of(slot.region, problem.device)
    candidates = [CandidateRectangles.of(candidate_rectangles(grid, need), raster) for need in needs_of(problem)]
    count = len(candidates)
    return SearchSpace(tuple(candidates), net_arrays(problem), ~np.eye(count, dtype=np.bool_))


def layout_of(problem: PlacementProblem, rects: list[Rect]) -> Layout:
    boxes = np.array([rect.as_tuple() for rect in rects], dtype=np.int64)
    return Layout(boxes, np.ones(len(rects), dtype=np.bool_))


def swapped() -> tuple[PlacementProblem, SearchSpace, Layout]:
    """Three modules that fill a slot, the two that talk to each other at its ends: none can move alone."""
    problem = chain(device("C" * 9, 1), [Resources(lut=8 * 15)] * 3, max_aspect=None)
    problem = replace(problem, wires=(Wire("m0", "m2", 5),))
    return problem, space_of(problem), layout_of(problem, [Rect(3 * i, 0, 3 * i + 2, 4) for i in range(3)])


def test_annealing_lets_modules_change_places_where_none_can_move() -> None:
    problem, space, start = swapped()
    found = anneal(space, start, Cooling(200, 0.5, 0.01), 0)
    assert twice_hpwl(start, space.nets) == 2 * 30
    assert twice_hpwl(found, space.nets) == 2 * 15
    assert len({tuple(box) for box in found.boxes.tolist()}) == len(problem.modules)


def test_annealing_returns_no_longer_layout_than_it_got_and_the_same_for_equal_seeds() -> None:
    _, space, start = swapped()
    hot = anneal(space, start, Cooling(30, 50.0, 50.0), 3)
    assert twice_hpwl(hot, space.nets) <= twice_hpwl(start, space.nets)
    assert (hot.boxes == anneal(space, start, Cooling(30, 50.0, 50.0), 3).boxes).all()


@heavy()
@given(st.lists(DEMANDS, min_size=2, max_size=4), st.integers(0, 9), st.tuples(st.integers(0, 8), st.integers(0, 40)))
def test_auto_is_never_longer_than_greedy(demands, bits, pin) -> None:
    problem = chain(device("CDCBCCICDC", 5), demands)
    problem = replace(problem, wires=(*problem.wires, Wire(Pin(*pin), "m0", bits)))
    greedy, auto = place(problem, "greedy"), place(problem)
    if isinstance(greedy, PlacementSolution):
        assert_legal(problem, greedy)
        assert isinstance(auto, PlacementSolution)
        assert auto.hpwl <= greedy.hpwl
        assert greedy.stats.bound is not None
        assert greedy.stats.bound <= greedy.hpwl


def test_greedy_puts_each_module_where_its_wires_to_those_before_are_shortest() -> None:
    problem = chain(device("C" * 12, 4), [Resources(lut=8 * 10)] * 3)
    problem = replace(problem, wires=(Wire(Pin(0, 4), "m0", 8), *problem.wires))
    space = space_of(problem)
    layout = place_one_by_one(space)
    assert layout is not None
    placed: list[tuple[int, Rect]] = []
    for module, box in enumerate(layout.boxes.tolist()):
        end = (0, 4)
        if placed:
            before = placed[-1][1]
            end = (before.left + before.right, before.bottom + before.top)

        def far(rect: Rect, end: tuple[int, int] = end) -> int:
            return abs(rect.left + rect.right - end[0]) + abs(rect.bottom + rect.top - end[1])

        free = [
            rect
            for rect in (Rect(*row) for row in space.candidates[module].rects.tolist())
            if not any(rect.overlaps(other) for _, other in placed)
        ]
        assert far(Rect(*box)) == min(map(far, free))
        placed.append((module, Rect(*box)))


def test_greedy_says_where_one_by_one_found_no_room() -> None:
    problem = chain(device("C" * 9, 2), [Resources(lut=8 * 10), *[Resources(lut=8 * 15)] * 4])
    outcome = place(problem, "greedy")
    assert isinstance(outcome, PlacementSolution)
    one_by_one = place_one_by_one(space_of(replace(problem, max_aspect=None)))
    assert ("constructed otherwise" in outcome.stats.method) == (one_by_one is None)


@pytest.mark.parametrize("method", ["auto", "cpsat"])
@heavy()
@given(st.lists(DEMANDS, min_size=2, max_size=3), st.tuples(st.integers(0, 8), st.integers(0, 40)))
def test_what_is_called_optimal_is_the_least_of_its_shape(method, demands, pin) -> None:
    problem = chain(device("CDCBCC", 3), demands)
    problem = replace(problem, wires=(*problem.wires, Wire(Pin(*pin), "m0", 3)))
    outcome = place(problem, method)
    if isinstance(outcome, PlacementSolution):
        assert_legal(problem, outcome)
        assert outcome.stats.method.startswith(method)
        least = brute_force(problem, shape_rule(outcome))
        if least is not None:
            assert outcome.stats.bound is not None
            assert outcome.stats.bound <= least
            assert outcome.stats.status != "optimal" or outcome.hpwl <= least
