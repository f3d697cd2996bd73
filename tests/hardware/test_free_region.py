"""All that pblocks can use of a slot, against a search over all legal rectangles and a count of tiles."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import given

from floorflow.hardware import (
    Rect,
    anchor,
    free_cells,
    free_rectangles,
    free_supply,
    load_platform,
    max_pblocks,
    ranges,
)
from floorflow.hardware.ranges import count_sites, parse_ranges
from tests.hardware.conftest import raw_die
from tests.hardware.test_max_pblocks import KU5P, REGION, U250, clear_by_search, slots


def cells_of(rects):
    """Return the cells of a die's columns and rows that rectangles cover: (columns, rows) bool."""
    cells = np.zeros((KU5P.device.column_count, KU5P.device.row_count), dtype=bool)
    for rect in rects:
        cells[rect.left : rect.right + 1, rect.bottom : rect.top + 1] = True
    return cells


@given(slot=slots)
def test_the_free_region_is_the_union_of_all_legal_rectangles(slot):
    legal = clear_by_search(KU5P.device, slot)
    found = free_rectangles(KU5P.device, slot)
    assert set(found) <= legal
    assert not any(a.overlaps(b) for a, b in combinations(found, 2))
    assert (cells_of(found) == cells_of(legal)).all()
    assert free_cells(KU5P.device, slot) == cells_of(legal).sum()


@given(slot=slots)
def test_the_supply_is_that_of_the_tiles_that_some_legal_rectangle_holds(slot):
    sites = raw_die(KU5P.device.part).sites
    cells = cells_of(clear_by_search(KU5P.device, slot))
    held = {
        name: int(sum(cells[c, b : t + 1].all() for c, b, t in zip(kind.column, kind.bottom, kind.top, strict=True)))
        for name, kind in sites.items()
        if name != "SLICE"
    }
    supply = free_supply(KU5P.device, slot)
    assert (supply.bram18, supply.uram, supply.dsp) == (held["RAMB18"], held["URAM288"], held["DSP48E2"])


def test_the_u250_keeps_what_lies_beside_the_shell_of_its_lowest_slr():
    device, slot = U250.fpgas[0].device, U250.fpgas[0].slots[0]
    raw, found = raw_die(device.part), free_rectangles(device, slot)
    assert len(found) == 4
    counted = [raw.resources(rect) for rect in found]
    assert free_supply(device, slot).as_dict() == {name: sum(part[name] for part in counted) for name in counted[0]}
    assert free_supply(device, slot).lut == 384_480
    assert max(room.lut for room in max_pblocks(device, slot)) == 216_960


def test_ranges_of_a_union_name_each_site_of_it_once():
    device, slot = U250.fpgas[0].device, U250.fpgas[0].slots[0]
    found = free_rectangles(device, slot)
    named = count_sites(parse_ranges(device, ranges(device, *found)))
    assert named == {name: sum(device.sites(rect).get(name, 0) for rect in found) for name in named}
    assert set(named) == {"SLICE", "DSP48E2", "RAMB18", "RAMB36", "URAM288"}


def test_the_anchor_of_a_union_is_its_lowest_slice():
    device, (lowest, *rest) = KU5P.device, (Rect(3, 15, 20, 29), Rect(3, 30, 60, 59), Rect(40, 15, 60, 29))
    assert anchor(device, *rest, lowest) == anchor(device, lowest)


def test_a_slot_without_keep_outs_is_one_rectangle_that_holds_all_of_it():
    for name in ("xcku5p", "pynq-z1", "zcu104"):
        fpga = load_platform(name).fpgas[0]
        (slot,) = fpga.slots
        assert len(free_rectangles(fpga.device, slot)) == 1
        assert free_supply(fpga.device, slot) == slot.capacity


def test_a_slot_that_is_kept_out_wholly_has_no_free_region():
    slot = replace(KU5P.slots[0], region=REGION, keep_outs=(REGION,))
    assert free_rectangles(KU5P.device, slot) == ()
    assert free_cells(KU5P.device, slot) == free_supply(KU5P.device, slot).lut == 0


def test_keep_outs_that_touch_every_row_of_tiles_leave_what_lies_beside_them():
    slot = replace(KU5P.slots[0], region=REGION, keep_outs=(Rect(45, 7, 45, 119),))
    assert {(rect.bottom, rect.top) for rect in free_rectangles(KU5P.device, slot)} == {(0, 119)}
