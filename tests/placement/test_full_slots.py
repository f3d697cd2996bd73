"""What is proven of full slots holds for all layouts, and is more than trees of wires say."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from floorflow.placement import PlacementProblem
from floorflow.placement.preparing import PreparedProblem, full_slots_bound, least_wirelength, prepare
from floorflow.placement.problem import LIMITS
from floorflow.resources import Resources
from tests.placement.small import brute_force, chain, device
from tests.placement.test_trees import joined

SEEN = replace(LIMITS["best"], complete_modules=0)
"""Limits under which slots of all sizes are looked at."""
DEMANDS = st.builds(Resources, st.integers(60, 130), st.just(0), st.integers(0, 2), st.just(0), st.integers(0, 2))
ENDS = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 9))
PINS = st.tuples(st.integers(0, 2), st.integers(-3, 16), st.integers(-3, 40), st.integers(1, 9))


def prepared(problem: PlacementProblem) -> PreparedProblem | None:
    found = prepare(problem, SEEN, "auto")
    return found if isinstance(found, PreparedProblem) else None


@given(st.lists(DEMANDS, min_size=2, max_size=3), st.lists(ENDS, min_size=1, max_size=4), st.lists(PINS, max_size=2))
def test_no_layout_is_shorter(demands, ends, pins) -> None:
    problem = joined(chain(device("CDCBCC", 3), demands), ends, pins)
    least, ready = brute_force(problem), prepared(problem)
    assume(least is not None and ready is not None)
    assert full_slots_bound(ready, [None] * len(demands)) <= least + 1e-6


def row(columns: int) -> PlacementProblem:
    """Three modules of two columns in a row, each wired to each other."""
    problem = chain(device("C" * columns, 1), [Resources(lut=80)] * 3)
    return joined(problem, [(0, 1, 8), (0, 2, 8), (1, 2, 8)], [])


def test_modules_that_fill_a_slot_are_not_all_near_each_other() -> None:
    ready = prepared(row(6))
    assert ready is not None
    assert full_slots_bound(ready, [None] * 3) == brute_force(ready.problem) == 8 * (2 + 2 + 4)
    assert least_wirelength(ready, [None] * 3) < 8 * 8


def test_slots_with_room_are_left_to_trees() -> None:
    ready = prepared(row(12))
    assert ready is not None
    assert full_slots_bound(ready, [None] * 3) == least_wirelength(ready, [None] * 3)


@pytest.mark.parametrize("limits", [LIMITS["default"], replace(SEEN, complete_modules=3)])
def test_nothing_is_sought_without_work_or_where_all_is_proven_anyway(limits) -> None:
    ready = prepare(row(6), limits, "auto")
    assert isinstance(ready, PreparedProblem)
    assert full_slots_bound(ready, [None] * 3) == 0
