"""Areas that users state: what they leave of slots, where pblocks may lie, and what is refused."""

import pytest

from floorflow.errors import InputError
from floorflow.hardware import Rect, free_supply, load_platform, stated_pblock, with_keep_outs
from floorflow.resources import Resources, total

XCKU5P, U250 = load_platform("xcku5p"), load_platform("alveo-u250", 2)


def test_a_keep_out_takes_what_its_sites_hold_and_the_room():
    (before,), (after,) = XCKU5P.slots, with_keep_outs(XCKU5P, ["CLOCKREGION_X0Y0"]).slots
    device = XCKU5P.fpgas[0].device
    held = device.resources(device.clock_region(0, 0))
    assert after.available == before.available - held
    assert after.keep_outs == (*before.keep_outs, device.clock_region(0, 0))
    assert (free_supply(device, before) - free_supply(device, after)).lut >= held.lut


def test_sites_that_are_taken_already_count_once():
    keep_outs = ["CLOCKREGION_X0Y0", "CLOCKREGION_X0Y0:CLOCKREGION_X1Y0", "SLICE_X0Y0:SLICE_X3Y9"]
    once = with_keep_outs(XCKU5P, keep_outs[1:2]).slots[0].available
    assert with_keep_outs(XCKU5P, keep_outs).slots[0].available == once


def test_what_the_shell_has_is_not_taken_again():
    (slot, *others), fpga = U250.fpgas[0].slots, U250.fpgas[0]
    static = [text for text in fpga.board.shell.static[slot.slr] if text.startswith("CLOCKREGION")]
    after = with_keep_outs(U250, static).fpgas[0].slots
    assert after[0].available == slot.available
    assert after[1:] == tuple(others) or all(a.available == b.available for a, b in zip(after[1:], others, strict=True))


def test_a_keep_out_of_one_fpga_leaves_the_others_and_one_over_two_slrs_takes_of_both():
    after = with_keep_outs(U250, ["fpga1/CLOCKREGION_X0Y3:CLOCKREGION_X0Y4"])
    assert after.fpgas[0] == U250.fpgas[0]
    changed = [a.slr for a, b in zip(after.fpgas[1].slots, U250.fpgas[1].slots, strict=True) if a != b]
    assert changed == ["SLR0", "SLR1"]


def test_rows_are_widened_to_where_pblocks_end():
    after = with_keep_outs(XCKU5P, ["SLICE_X0Y3:SLICE_X3Y16"]).slots[0]
    kept = after.keep_outs[-1]
    assert (kept.bottom % XCKU5P.fpgas[0].device.row_step, (kept.top + 1) % XCKU5P.fpgas[0].device.row_step) == (0, 0)
    assert kept.bottom <= 3
    assert kept.top >= 16


def test_nothing_is_left_below_nothing():
    everything = "CLOCKREGION_X0Y0:CLOCKREGION_X3Y3"
    after = with_keep_outs(XCKU5P, [everything])
    assert total(slot.available for slot in after.slots).fits(total(slot.available for slot in XCKU5P.slots))
    assert Resources().fits(after.slots[0].available)


def test_a_stated_pblock_is_the_legal_rectangle_of_its_sites():
    device = XCKU5P.fpgas[0].device
    stated = stated_pblock(XCKU5P, "CLOCKREGION_X0Y1:CLOCKREGION_X1Y1", "here")
    region = device.clock_region(0, 1)
    assert stated.slot == XCKU5P.slots[0].name
    assert stated.rect.left in device.left_edges
    assert stated.rect.right in device.right_edges
    assert (stated.rect.bottom, stated.rect.top) == (region.bottom, region.top)
    slices = stated_pblock(XCKU5P, "SLICE_X9Y60:SLICE_X27Y179", "here").rect
    assert device.sites(slices)["SLICE"] == 19 * 120


@pytest.mark.parametrize(
    ("area", "why"),
    [
        ("SLICE_X0Y0:SLICE_X9999Y9", "has no SLICE_X9999Y0"),
        ("SLICE_0", "is no site range"),
        ("SLICE_X9Y60:SLICE_X27Y178", "cut columns or rows"),
        ("fpga7/SLICE_X9Y60:SLICE_X27Y179", "there is no FPGA fpga7"),
    ],
)
def test_what_is_no_place_of_a_pblock_is_refused(area, why):
    with pytest.raises(InputError, match=why):
        stated_pblock(XCKU5P, area, f"--fix-pblock m={area}")
    if "cut" not in why:
        with pytest.raises(InputError, match=why):
            with_keep_outs(XCKU5P, [area])


def test_the_hint_of_a_cut_range_is_one_that_is_taken():
    with pytest.raises(InputError) as refused:
        stated_pblock(XCKU5P, "SLICE_X9Y60:SLICE_X27Y178", "here")
    stated_pblock(XCKU5P, refused.value.hint.rpartition(" ")[2], "here")


def test_several_fpgas_slrs_and_the_shell_are_told():
    for area, why in (
        ("CLOCKREGION_X0Y0", "there are 2 FPGAs"),
        ("fpga0/CLOCKREGION_X0Y3:CLOCKREGION_X0Y4", "lies in no single SLR"),
        ("fpga0/CLOCKREGION_X0Y0:CLOCKREGION_X7Y3", "touches the shell or a keep-out"),
    ):
        with pytest.raises(InputError, match=why):
            stated_pblock(U250, area, "here")
    kept = with_keep_outs(U250, ["fpga0/CLOCKREGION_X0Y0"])
    with pytest.raises(InputError, match="keep-out"):
        stated_pblock(kept, "fpga0/CLOCKREGION_X0Y0", "here")
    assert stated_pblock(kept, "fpga1/CLOCKREGION_X0Y0", "here").slot == "fpga1.SLR0"
    assert isinstance(stated_pblock(kept, "fpga1/CLOCKREGION_X0Y0", "here").rect, Rect)
