"""Few modules leave the rectangles that they had, and wires stay short."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.hardware.geometry import Rect
from floorflow.placement import PlacementFailure, PlacementSolution, at_home, grown, place, stayed
from floorflow.placement.problem import LIMITS
from floorflow.placement.staying import PROVEN, WITHIN, most, place_near
from floorflow.resources import Resources
from tests.placement.small import assert_legal, chain, device, most_staying
from tests.random_family import heavy

DIE = device("CCDCCBCC", 6)
METHOD = "greedy"
"""Quick from scratch; how the others stay is the same for all methods."""


def again(luts, grow, *, die=DIE, by=1.2):
    """Place a chain, let one module grow, and return that problem with the first places, and its answer."""
    problem = chain(die, [Resources(lut=lut) for lut in luts])
    first = place(problem, METHOD)
    assert isinstance(first, PlacementSolution), first
    modules = list(problem.modules)
    modules[grow] = replace(modules[grow], demand=Resources(lut=int(luts[grow] * by)))
    previous = {name: region[0] for name, region in first.regions.items() if len(region) == 1}
    changed = replace(problem, modules=tuple(modules), previous=previous)
    return changed, place(changed, METHOD)


def test_nothing_moves_where_nothing_changed():
    problem, answer = again((80, 120, 60, 100), 1, by=1)
    assert stayed(problem.previous, answer) == ("m0", "m1", "m2", "m3")
    assert "4 of 4 where they were" in answer.stats.method


@pytest.mark.parametrize("module", range(4))
def test_most_others_stay_where_there_is_room(module):
    problem, answer = again((80, 120, 60, 100), module)
    others = [name for name in stayed(problem.previous, answer) if name != f"m{module}"]
    assert len(others) >= 2
    assert_legal(problem, answer)


def test_a_full_slot_makes_neighbours_move():
    die = device("CCCC", 4)
    problem, answer = again((200, 160, 160), 0, die=die)
    assert isinstance(answer, PlacementSolution), answer
    assert_legal(problem, answer)
    assert len(stayed(problem.previous, answer)) < 3


def test_homes_that_clash_or_hold_too_little_are_none():
    problem = chain(DIE, [Resources(lut=80)] * 4)
    previous = {"m0": Rect(0, 0, 1, 9), "m1": Rect(0, 5, 1, 14), "m2": Rect(3, 0, 3, 4), "m3": Rect(3, 0, 4, 10)}
    assert at_home(replace(problem, previous=previous)) == ("m0",)


def test_drafts_stay_as_well_and_answers_repeat():
    problem, answer = again((80, 120, 60, 100), 2)
    assert place(problem, METHOD) == answer
    draft = place(replace(problem, draft=True), METHOD)
    assert len(stayed(problem.previous, draft)) >= 3
    assert_legal(problem, draft)


def test_pblocks_that_stay_do_not_grow():
    problem, answer = again((80, 120, 60, 100), 0)
    has_room = {module.name: (lambda _: True) for module in problem.modules}
    larger = grown(problem, answer, has_room, longer=0.5, most=0.6)
    assert set(stayed(problem.previous, answer)) <= set(stayed(problem.previous, larger))


@settings(max_examples=5)
@given(st.lists(st.integers(10, 300), min_size=2, max_size=6), st.integers(0, 5), st.floats(1.0, 1.6))
def test_answers_are_legal_and_wires_within_their_limit(luts, grow, by):
    problem = chain(DIE, [Resources(lut=lut) for lut in luts])
    if not isinstance(place(problem, METHOD), PlacementSolution):
        return
    changed, answer = again(luts, grow % len(luts), by=by)
    scratch = place(replace(changed, previous={}), METHOD)
    if isinstance(answer, PlacementFailure):
        assert isinstance(scratch, PlacementFailure)
        return
    before = place(problem, METHOD).hpwl if len(changed.previous) == len(luts) else 0
    assert answer.hpwl <= (1 + WITHIN) * max(scratch.hpwl, before) + 1e-6
    assert_legal(changed, answer)
    homes = set(at_home(changed))
    if homes == {module.name for module in changed.modules}:
        assert set(stayed(changed.previous, answer)) == homes


@heavy()
@given(
    st.sampled_from(("CCCC", "CDCC", "CCIC")),
    st.lists(st.integers(10, 100), min_size=2, max_size=3),
    st.integers(0, 2),
    st.floats(1.05, 2),
    st.sampled_from((None, 2.0)),
)
def test_as_many_stay_as_can_and_that_is_proven(layout, luts, grow, by, max_aspect):
    problem = chain(device(layout, 2), [Resources(lut=lut) for lut in luts], max_aspect=max_aspect)
    first, grow = place(problem, METHOD), grow % len(luts)
    if isinstance(first, PlacementFailure):
        return
    modules = list(problem.modules)
    modules[grow] = replace(modules[grow], demand=Resources(lut=int(luts[grow] * by)))
    previous = {name: region[0] for name, region in first.regions.items()}
    larger = replace(problem, modules=tuple(modules))
    scratch = place(larger, METHOD)
    if isinstance(scratch, PlacementFailure):
        return
    answer, bound = place_near(replace(larger, previous=previous), LIMITS["default"], 0, scratch)
    assert answer is not None
    longest = max(max(r.columns / r.rows, r.rows / r.columns) for (r,) in scratch.regions.values())
    aspect = max_aspect and next((one for one in (max_aspect, 2 * max_aspect) if longest <= one), None)
    possible = most_staying(replace(larger, previous=previous), (1 + WITHIN) * scratch.hpwl, aspect)
    assert possible == bound
    assert len(stayed(previous, answer)) >= bound
    assert answer.stats.method.endswith(PROVEN)


@settings(max_examples=2)
@given(st.lists(st.integers(10, 100), min_size=3, max_size=3), st.integers(0, 2), st.floats(1.05, 2))
def test_slot_by_slot_no_bound_is_too_low_and_answers_are_legal(luts, grow, by):
    problem = chain(device("CCC", 2, slr_count=2), [Resources(lut=lut) for lut in luts], max_aspect=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(most, "ALL", 2)
        first = place(problem, METHOD)
        if isinstance(first, PlacementFailure):
            return
        modules = list(problem.modules)
        modules[grow] = replace(modules[grow], demand=Resources(lut=int(luts[grow] * by)))
        previous = {name: region[0] for name, region in first.regions.items()}
        changed = replace(problem, modules=tuple(modules))
        scratch = place(changed, METHOD)
        if isinstance(scratch, PlacementFailure):
            return
        changed = replace(changed, previous=previous)
        answer, bound = place_near(changed, LIMITS["default"], 0, scratch)
    longest = (1 + WITHIN) * scratch.hpwl
    assert answer is not None
    assert answer.hpwl <= longest + 1e-9
    assert_legal(changed, answer)
    assert len(stayed(previous, answer)) <= most_staying(changed, longest) <= bound
