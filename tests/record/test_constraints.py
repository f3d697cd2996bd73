"""How slots are constrained: as asked for, or by dies, sizes and room."""

from types import SimpleNamespace
from typing import Any

import pytest

from floorflow.facts.constraint import filled_by_one
from floorflow.facts.floorplan import PblockEntry
from floorflow.facts.values import Amounts, RectangleEntry
from floorflow.hardware import Rect, free_cells, free_rectangles, load_platform
from floorflow.record.floorplan import constraint_styles
from floorflow.request import Request
from tests.plans import TFC

U250 = load_platform("alveo-u250", 1).fpgas[0]
ZYNQ = load_platform("zcu104", 1).fpgas[0]
SLOT = "fpga0.SLR3"
ALL = U250.slots[3].region


def pblock(slot: str, *rects: Rect, lut: int = 100, short: bool = False) -> PblockEntry:
    return PblockEntry(
        slot=slot,
        rectangles=[RectangleEntry.of(rect) for rect in rects],
        ranges=[],
        anchor="",
        demand=Amounts(LUT=lut),
        supply=Amounts(LUT=2 * lut),
        likelihood=0.95,
        short=short,
        ports=[],
        pins_per_row=16,
    )


def styles(fpga: Any, asked: str, *entries: PblockEntry) -> dict[str, str]:
    request = Request(TFC, fpga.board.name, constraint_style=asked)
    return dict(constraint_styles(request, fpga, {f"m{number}": entry for number, entry in enumerate(entries)}))


def part_of_slot(share: float) -> Rect:
    return Rect(ALL.left, ALL.bottom, ALL.left + int(share * ALL.columns) - 1, ALL.top)


@pytest.mark.parametrize(("share", "style"), [(0.3, "hard"), (0.58, "hard"), (0.62, "slr")])
def test_among_slrs_a_pblock_over_most_of_its_slot_leaves_the_slr_alone(share: float, style: str) -> None:
    found = styles(U250, "auto", pblock(SLOT, part_of_slot(share)))
    assert found.pop(SLOT) == style
    assert set(found.values()) == {"hard"}


def test_among_slrs_a_pblock_that_is_short_leaves_the_slr_alone() -> None:
    assert styles(U250, "auto", pblock(SLOT, part_of_slot(0.2), short=True))[SLOT] == "slr"


@pytest.mark.parametrize(("largest", "style"), [(60, "soft"), (61, "none")])
def test_on_one_die_one_pblock_for_most_of_the_luts_is_not_worth_it(largest: int, style: str) -> None:
    rect = Rect(0, 0, 9, 14)
    slot = ZYNQ.slots[0].name
    assert styles(ZYNQ, "auto", pblock(slot, rect, lut=largest), pblock(slot, rect, lut=100 - largest)) == {slot: style}


def test_a_pblock_over_all_that_is_free_is_never_hard() -> None:
    slot = U250.slots[0]
    whole = free_rectangles(U250.device, slot)
    assert sum(rect.columns * rect.rows for rect in whole) == free_cells(U250.device, slot)
    found = {asked: styles(U250, asked, pblock(slot.name, *whole))[slot.name] for asked in ("hard", "soft", "auto")}
    assert found == {"hard": "soft", "soft": "soft", "auto": "slr"}


def test_what_is_asked_for_holds_whatever_the_pblocks() -> None:
    large = pblock(SLOT, part_of_slot(0.9), short=True)
    assert {asked: styles(U250, asked, large)[SLOT] for asked in ("none", "slr", "soft", "hard")} == {
        asked: asked for asked in ("none", "slr", "soft", "hard")
    }


def test_where_there_is_one_slr_none_is_assigned() -> None:
    assert set(styles(ZYNQ, "slr").values()) == {"none"}


def test_a_die_that_one_module_fills_is_told_as_no_floorplan() -> None:
    rect, slot = Rect(0, 0, 9, 14), ZYNQ.slots[0].name
    held = SimpleNamespace(pblocks={"big": pblock(slot, rect, lut=80), "tail": pblock(slot, rect, lut=20)})
    told = {asked: filled_by_one(asked, held.pblocks) for asked in ("auto", "none")}  # type: ignore[arg-type]
    assert told == {"auto": "no floorplan: the module big has 80% of the plan's LUTs, no pblock is needed", "none": ""}
