"""Rules that plans and XDC files share: overlaps against all pairs, keep-outs, dies."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.verify.hardware import ranges as pblock_rules
from floorflow.verify.hardware.geometry import Rectangle, Sites, shared
from floorflow.verify.hardware.ranges import KeepOut, overlapping, slrs_of
from floorflow.verify.rules import pblocks
from floorflow.verify.xdc import pblocks as pairs
from floorflow.verify.xdc import pblocks as pblock_judge
from tests.verify.xdc.judging import target


@dataclass(frozen=True)
class Area:
    name: str
    sites: Sites
    areas: Sequence[Rectangle] = ()


DIE = target("xc7z020", None).device
WHOLE = DIE.whole


@st.composite
def areas(draw: st.DrawFn) -> list[Area]:
    found = []
    for number in range(draw(st.integers(0, 6))):
        left, right = sorted(draw(st.tuples(*2 * [st.integers(0, WHOLE.right)])))
        bottom, top = sorted(draw(st.tuples(*2 * [st.integers(0, WHOLE.top)])))
        box = Rectangle(left, bottom, right, top)
        found.append(Area(f"p{number}", DIE.sites(box), [box] if draw(st.booleans()) else ()))
    return found


@given(areas())
@settings(deadline=None, max_examples=60)
def test_overlaps_are_those_of_all_pairs(blocks: list[Area]) -> None:
    expected = {
        frozenset((first.name, second.name)): shared(first.sites, second.sites)
        for first, second in combinations(blocks, 2)
        if shared(first.sites, second.sites) or any(a.overlaps(b) for a in first.areas for b in second.areas)
    }
    found = [(frozenset((first.name, second.name)), both) for first, second, both in overlapping(blocks)]
    assert dict(found) == expected
    assert len(found) == len(expected)


def test_a_keep_out_is_touched_by_its_sites_or_by_its_rectangle() -> None:
    free = Rectangle(50, 0, 50, 9)  # a column without sites for logic
    kept = KeepOut({}, [free])
    assert kept.touched(Area("p", {}, [Rectangle(49, 5, 51, 12)]))[0] == str(free)
    assert kept.touched(Area("p", {}, [Rectangle(49, 10, 51, 12)])) == ("", {})
    sites = DIE.sites(Rectangle(2, 0, 3, 4))
    told, both = KeepOut(sites).touched(Area("p", DIE.sites(Rectangle(3, 2, 5, 8))))
    assert told == "6 sites such as SLICE_X2Y2"
    assert both == shared(sites, DIE.sites(Rectangle(3, 2, 5, 8)))


@pytest.mark.parametrize(("bottom", "top", "slrs"), [(0, 239, [0]), (239, 240, [0, 1]), (240, 959, [1, 2, 3])])
def test_a_pblock_is_in_the_dies_of_its_sites_and_of_its_rows(bottom: int, top: int, slrs: list[int]) -> None:
    die = target("xcu250", None).device
    box = Rectangle(0, bottom, 40, top)
    assert slrs_of(die, Area("p", die.sites(box))) == slrs
    assert slrs_of(die, Area("p", {}, [box])) == slrs


def test_both_judges_call_the_same_rules() -> None:
    assert pblocks.overlapping is pairs.overlapping is pblock_rules.overlapping
    assert pblocks.left_out is pblock_judge.left_out is pblock_rules.left_out
    assert pblocks.slrs_of is pblock_judge.slrs_of is pblock_rules.slrs_of
