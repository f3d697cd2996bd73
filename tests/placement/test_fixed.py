"""Fixed rectangles are kept, and the others are placed around them."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.errors import InputError
from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementFailure, PlacementSolution, Wire, grown, hpwl_of, place
from floorflow.resources import Resources
from tests.placement.small import assert_legal, chain, device, legal_rectangles, shape_rule
from tests.random_family import heavy

DIE = device("CCDCCBCC", 4)
MIDDLE = Rect(3, 5, 4, 14)
KEPT_OUT = Rect(0, 15, 1, 19)


def fixed(rects, luts=(80, 80, 80), **options):
    problem = chain(DIE, [Resources(lut=lut) for lut in luts], keep_outs=(KEPT_OUT,), **options)
    return replace(problem, fixed=rects)


@pytest.mark.parametrize("method", ["auto", "greedy"])
def test_a_fixed_rectangle_is_kept_and_the_others_lie_around_it(method):
    problem = fixed({"m1": MIDDLE})
    answer = place(problem, method)
    assert isinstance(answer, PlacementSolution), answer
    assert answer.regions["m1"] == (MIDDLE,)
    assert_legal(problem, answer)
    assert answer.stats.bound <= answer.hpwl
    assert "1 fixed" in answer.stats.method


def test_all_can_be_fixed():
    rects = {"m0": Rect(0, 0, 1, 4), "m1": MIDDLE, "m2": Rect(6, 0, 7, 4)}
    problem = fixed(rects, luts=(8, 8, 8))
    answer = place(problem)
    assert {name: region[0] for name, region in answer.regions.items()} == rects
    assert (answer.stats.status, answer.stats.bound) == ("optimal", answer.hpwl)
    assert_legal(problem, answer)


def test_a_fixed_rectangle_that_is_too_small_is_a_proof():
    answer = place(fixed({"m1": MIDDLE}, luts=(80, 161, 80)))
    assert isinstance(answer, PlacementFailure)
    refusal = answer.refusal
    assert (answer.proven, refusal.resource, refusal.needed, refusal.allowed) == (True, "LUT", 161, 160)
    assert "fixed for m1" in str(answer)


@pytest.mark.parametrize(
    ("rects", "why"),
    [
        ({"m1": Rect(0, 0, 1, 24)}, "does not lie in fpga0.SLR0"),
        ({"m1": Rect(0, 0, 1, 6)}, "multiple of 5 rows"),
        ({"m1": Rect(0, 10, 1, 19)}, "overlaps a keep-out"),
        ({"m1": MIDDLE, "m2": Rect(4, 0, 6, 9)}, "m1 and m2 overlap"),
    ],
)
def test_what_can_be_no_pblock_is_refused(rects, why):
    with pytest.raises(InputError, match=why):
        place(fixed(rects))


def test_columns_that_no_edge_may_part_are_told():
    problem = chain(device("CICDIC", 4), [Resources(lut=8), Resources(lut=8)])
    with pytest.raises(InputError, match="cuts columns"):
        place(replace(problem, fixed={"m0": Rect(0, 0, 1, 4)}))


def test_an_unknown_module_is_refused():
    with pytest.raises(InputError, match="fixed is 'm9'"):
        fixed({"m9": MIDDLE})


def test_fixed_pblocks_do_not_grow():
    problem = fixed({"m1": MIDDLE})
    answer = place(problem, "greedy")
    has_room = {module.name: (lambda _: False) for module in problem.modules}
    larger = grown(problem, answer, has_room, longer=0.5, most=0.6)
    assert larger.regions["m1"] == (MIDDLE,)
    assert larger.regions != answer.regions
    assert_legal(problem, larger)


@heavy()
@given(st.lists(st.integers(1, 90), min_size=3, max_size=3), st.integers(0, 3), st.integers(0, 40))
def test_wires_are_between_the_bound_and_no_shorter_than_the_least(luts, step, x):
    die = device("CCDCC", 3)
    problem = chain(die, [Resources(lut=lut) for lut in luts])
    rects = legal_rectangles(problem, problem.modules[1])
    problem = replace(
        problem, fixed={"m1": rects[(step * 7) % len(rects)]}, wires=(*problem.wires, Wire("m2", Pin(x, 0), 4))
    )
    answer = place(problem, "greedy")
    lists = [
        legal_rectangles(problem, problem.modules[0]),
        [problem.fixed["m1"]],
        legal_rectangles(problem, problem.modules[2]),
    ]
    legal = [r for r in product(*lists) if not (r[0].overlaps(r[1]) or r[0].overlaps(r[2]) or r[1].overlaps(r[2]))]
    if isinstance(answer, PlacementFailure):
        assert not legal or not answer.proven
        return
    least = min(hpwl_of({f"m{i}": (rect,) for i, rect in enumerate(one)}, problem.wires) for one in legal)
    assert least <= answer.hpwl
    if shape_rule(answer) is None:
        assert answer.stats.bound <= least
    assert_legal(problem, answer)
