"""A module that is alone in its slot and fits no rectangle there gets all that is free of it."""

from dataclasses import replace

import pytest

from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementFailure, PlacementSolution, Wire, place
from floorflow.resources import Resources
from tests.placement.small import assert_legal, chain, device

DIE = device("CCCC", 4, slr_count=2)
"""Two SLRs of 4 columns x 20 rows, a CLB of 8 LUT each."""
CORNER = Rect(2, 5, 3, 19)
"""Kept out of the lower SLR: an L of 50 CLBs stays, of which rectangles hold at most 40."""


def filled(luts, *more, **options):
    demands = [Resources(lut=lut) for lut in (luts, *more)]
    return chain(DIE, demands, keep_outs=(CORNER,), **options)


@pytest.mark.parametrize("method", ["auto", "greedy"])
def test_the_whole_free_region_goes_to_a_module_that_no_rectangle_holds(method):
    problem = filled(50 * 8)
    outcome = place(problem, method)
    assert isinstance(outcome, PlacementSolution), outcome
    assert outcome.regions == {"m0": (Rect(0, 0, 3, 4), Rect(0, 5, 1, 19))}
    assert_legal(problem, outcome)


def test_one_rectangle_is_enough_where_it_holds_the_module():
    outcome = place(filled(40 * 8))
    assert isinstance(outcome, PlacementSolution), outcome
    assert outcome.regions == {"m0": (Rect(0, 0, 1, 19),)}


def test_wires_to_a_whole_slot_end_in_the_middle_of_its_bounding_box():
    problem = filled(50 * 8, 8)
    problem = replace(problem, wires=(*problem.wires, Wire(Pin(-4, 0), "m0", 3), Wire("m1", Pin(0, 78), 1)))
    outcome = place(problem)
    assert isinstance(outcome, PlacementSolution), outcome
    assert_legal(problem, outcome)
    assert len(outcome.regions["m0"]) == 2
    assert outcome.stats.objective == outcome.hpwl >= outcome.stats.bound > 0
    assert "1 of 2 modules over their whole slot" in outcome.stats.method


def test_what_even_the_free_region_does_not_hold_is_proven_not_to_fit():
    outcome = place(filled(50 * 8 + 1))
    assert isinstance(outcome, PlacementFailure)
    assert outcome.proven
    assert outcome.refusal.allowed == 50 * 8


def test_the_free_region_is_held_against_the_fill():
    assert isinstance(place(filled(45 * 8, fill={"LUT": 0.9})), PlacementSolution)
    assert isinstance(place(filled(45 * 8 + 1, fill={"LUT": 0.9})), PlacementFailure)


def test_modules_that_share_a_slot_get_a_rectangle_each():
    problem = filled(45 * 8, 8)
    shared = replace(problem, modules=tuple(replace(m, slot=problem.modules[0].slot) for m in problem.modules))
    outcome = place(shared)
    assert isinstance(outcome, PlacementFailure)
    assert outcome.refusal.what == "no rectangle"
