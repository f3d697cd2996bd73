"""Groups of equal modules get windows that one circuit fits, and ports on equal sides where that costs little."""

from dataclasses import replace

import pytest

from floorflow.errors import InputError
from floorflow.hardware import can_relocate
from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementSolution, Wire, place
from floorflow.placement.alike import port_sides, side_towards, unlike_ports
from floorflow.resources import Resources
from tests.placement.small import assert_legal, chain, device

DIE = device("CCDCCCDCCBCCDCC", 4)
"""Three places of CCDCC's pattern, of which one is torn by block RAM."""
METHOD = "greedy"
"""Quick without the rule."""
SMALL, LARGE = Resources(lut=150, dsp=4), Resources(lut=240)


def placed(groups, demands=(SMALL, LARGE, SMALL, LARGE), die=DIE):
    problem = replace(chain(die, list(demands)), alike=groups)
    answer = place(problem, METHOD)
    assert isinstance(answer, PlacementSolution), answer
    assert_legal(problem, answer)
    return problem, answer


def alike(problem, answer, *names):
    first, *others = (answer.regions[name] for name in names)
    return all(can_relocate(problem.device, first, other) for other in others)


def test_equal_modules_lie_in_windows_alike():
    problem, answer = placed((("m0", "m2"), ("m1", "m3")))
    assert alike(problem, answer, "m0", "m2")
    assert alike(problem, answer, "m1", "m3")
    assert "4 of 4 modules of groups in windows alike" in answer.stats.method


def test_nothing_is_alike_unless_asked_for():
    problem, answer = placed(())
    assert "alike" not in answer.stats.method
    assert answer == place(replace(problem, alike=()), METHOD)


def test_a_group_without_windows_for_all_is_told():
    # One column of DSPs holds one of two modules at any height, as both need most of it.
    problem, answer = placed((("m0", "m1"),), (Resources(dsp=6), Resources(dsp=6)), device("CDCCCCDCCB", 4))
    assert alike(problem, answer, "m0", "m1")
    problem, answer = placed((("m0", "m1"),), (Resources(dsp=6), Resources(dsp=6)), device("CDCCCBDB", 4))
    assert not alike(problem, answer, "m0", "m1") or "2 of 2" in answer.stats.method


def test_what_has_room_of_a_group_lies_in_windows_alike():
    # All DSPs of the die are needed: two halves of two columns are alike, the third column is none.
    three = (("m0", "m1", "m2"),)
    problem, answer = placed(three, (Resources(lut=20, dsp=8),) * 3, device("CDCCDCBDB", 4))
    pairs = (("m0", "m1"), ("m0", "m2"), ("m1", "m2"))
    assert sum(alike(problem, answer, *pair) for pair in pairs) == 1
    assert "2 of 3 modules of groups in windows alike" in answer.stats.method


def test_answers_repeat():
    problem, answer = placed((("m0", "m2"),))
    assert place(problem, METHOD) == answer


def test_a_module_is_in_one_group_at_most():
    with pytest.raises(InputError, match="alike names must differ"):
        replace(chain(DIE, [SMALL] * 3), alike=(("m0", "m1"), ("m1", "m2")))


@pytest.mark.parametrize(
    ("point", "side"), [((60, 18), "right"), ((-60, 20), "left"), ((8, 90), "above"), ((10, -90), "below")]
)
def test_sides_are_those_that_a_straight_line_leaves_by(point, side):
    assert side_towards(Rect(0, 0, 9, 19), Pin(*point)) == side


def test_ports_on_other_sides_than_most_are_counted():
    regions = {"a": (Rect(0, 0, 1, 1),), "b": (Rect(4, 0, 5, 1),), "c": (Rect(8, 0, 9, 1),), "d": (Rect(8, 9, 9, 10),)}
    wires = [Wire("a", "b", 8), Wire("b", "c", 8), Wire("c", "d", 8)]
    assert port_sides("b", regions, wires) == ("left", "right")
    assert port_sides("c", regions, wires) == ("left", "above")
    assert unlike_ports([("b", "c")], regions, wires) == 1
    assert unlike_ports([("a", "b")], regions, wires) == 0
