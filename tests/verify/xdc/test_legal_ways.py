"""Ways of public floorplans that Vivado takes are no errors here."""

from pathlib import Path

import pytest

import floorflow as ff
from floorflow.errors import InputError
from tests.verify.xdc.judging import found, judged, names

AREA = "CLOCKREGION_X1Y12:CLOCKREGION_X1Y13"
P = f"create_pblock p\nresize_pblock p -add {AREA}\nadd_cells_to_pblock p top/p\n"


def sites(text: str, part: str = "xcu250") -> int:
    (block,) = judged(text, part).created
    return sum(mask.bit_count() for mask in block.sites.values())


@pytest.mark.parametrize(
    "area",
    [
        "CLOCKREGION_X1Y13:CLOCKREGION_X1Y12",
        "CLOCKREGION_X1Y12 -add CLOCKREGION_X1Y13",
        "{CLOCKREGION_X1Y12, CLOCKREGION_X1Y13}",
    ],
)
def test_any_two_opposite_corners_name_a_rectangle(area: str) -> None:
    """UG835: a range goes from one corner to the diagonally opposite one."""
    text = f"create_pblock p\nresize_pblock p -add {area}\nadd_cells_to_pblock p a\n"
    assert sites(text) == sites(P)
    assert not judged(text).ordered


@pytest.mark.parametrize("corners", ["SLICE_X12Y9:SLICE_X10Y0", "SLICE_X10Y9:SLICE_X12Y0", "SLICE_X12Y0:SLICE_X10Y9"])
def test_corners_of_sites_likewise(corners: str) -> None:
    assert sites(f"create_pblock p\nresize_pblock p -add {corners}\n", "xc7z020") == 30


def test_slrs_from_the_upper_to_the_lower() -> None:
    assert sites("create_pblock p\nresize_pblock p -add SLR1:SLR0\n") == sites(
        "create_pblock p\nresize_pblock p -add SLR0:SLR1\n"
    )


@pytest.mark.parametrize("way", ["-add_rect {94 783 176 807}", "-remove_rect {1 2 3 4}"])
def test_rectangles_of_vivados_window_are_noted(way: str) -> None:
    assert found(judged(f"{P}resize_pblock p {way}\n")) == {("note", "not-evaluated", 4)}


def test_a_pblock_that_only_keeps_an_area_free_needs_no_cells() -> None:
    text = f"create_pblock p\nresize_pblock p -add {AREA}\nset_property IS_SOFT 0 [get_pblocks p]\n"
    assert names(judged(text)) == {"pblock-without-cells"}
    assert not judged(text + "set_property EXCLUDE_PLACEMENT 1 [get_pblocks p]\n").ordered


@pytest.mark.parametrize("quiet", ["delete_pblocks -quiet p", "delete_pblock [get_pblocks -quiet p]"])
def test_what_may_not_be_there_is_deleted_in_silence(quiet: str) -> None:
    assert not judged(f"{quiet}\n{P}").ordered
    assert "used-before-created" in names(judged(f"delete_pblocks p\n{P}"))


def test_pblocks_that_any_shell_of_the_die_brings_are_known() -> None:
    assert not judged(
        "add_cells_to_pblock [get_pblocks pblock_dynamic_SLR3] [get_cells -hier -regexp {(.*/)?k_0}]\n"
    ).ordered
    assert "pblock-not-created" in names(judged("add_cells_to_pblock pblock_dynamic_SLR3 k\n", "xczu7ev"))


def test_a_cell_of_the_parent_may_be_moved_into_its_child() -> None:
    text = (
        f"{P}create_pblock q\nresize_pblock q -add CLOCKREGION_X1Y12\nset_property PARENT p [get_pblocks q]\n"
        "add_cells_to_pblock q top/p\n"
    )
    assert found(judged(text)) == {("note", "cell-in-two-pblocks", 7)}


def test_of_shells_that_name_cells_alike_the_one_that_fits_is_judged_by() -> None:
    text = (
        "create_pblock p\nresize_pblock p -add {SLICE_X176Y360:SLICE_X187Y419}\n"
        "add_cells_to_pblock p level0_i/ulp/k_1/inst\n"
    )
    shells = {}
    for column in ("SLICE_X176Y360:SLICE_X187Y419", "SLICE_X0Y360:SLICE_X11Y419", "SLICE_X210Y200:SLICE_X215Y219"):
        verdict = judged(text.replace("SLICE_X176Y360:SLICE_X187Y419", column), "xcu50")
        assert verdict.shell is not None
        shells[column] = verdict.shell.name.removeprefix("xilinx_u50_"), "shell-touched" in names(verdict)
    newest, older = "gen3x16_xdma_5_202210_1", "gen3x16_xdma_201920_3"
    assert [*shells.values()] == [(older, False), (newest, False), (newest, True)]


def test_a_prefix_of_cards_on_an_embedded_part_is_a_note() -> None:
    text = f"{P.replace(AREA, 'CLOCKREGION_X1Y1')}add_cells_to_pblock p pfm_top_i/dynamic_region/k_1\n"
    assert found(judged(text, "xczu9eg")) == {("note", "cell-prefix", 4)}


def test_the_last_file_holds_whatever_its_name(tmp_path: Path) -> None:
    first, second = tmp_path / "z.xdc", tmp_path / "a.xdc"
    first.write_text(P)
    second.write_text("create_pblock q\nresize_pblock q -add CLOCKREGION_X2Y12\nadd_cells_to_pblock q top/p\n")
    (twice,) = ff.check_floorplan([first, second], part="xcu250").findings
    assert (twice.name, twice.file, twice.line, twice.pblock) == ("cell-in-two-pblocks", str(second), 3, "q")


def test_text_in_latin_1_is_read_and_binary_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.xdc"
    file.write_bytes(f"# © 2021\n{P}".encode("latin-1"))
    assert not ff.check_floorplan(file, part="xcu250").findings
    file.write_bytes(P.encode("utf-16"))
    with pytest.raises(InputError, match="binary"):
        ff.check_floorplan(file, part="xcu250")


def test_numbers_without_end_are_no_crash() -> None:
    text = f"create_pblock p\nresize_pblock p -add SLICE_X{'9' * 5000}Y0:SLICE_X1Y1\n"
    (bad,) = (one for one in judged(text).ordered if one.name == "range-malformed")
    assert len(bad.found) < 200


HARD = (
    "GTYE4_CHANNEL GTHE4_COMMON BUFGCE BUFG_GT_SYNC BUFCE_LEAF MMCM PLL_SELECT_SITE IOB HPIOB_M HPIOBDIFFINBUF HDIOB "
    "PCIE40E4 CMACE4 ILKNE4 SYSMONE4 BITSLICE_RX_TX RIU_OR XIPHY_FEEDTHROUGH HARD_SYNC BLI_HBM_AXI_INTF ABUS_SWITCH "
    "HPIO_VREF_SITE BIAS CONFIG_SITE PS8 URAM_CAS_DLY FIFO18 GTXE2_CHANNEL IDELAYCTRL PHASER_IN_PHY OLOGIC XADC HSADC"
)


def test_hard_blocks_are_taken_as_they_stand() -> None:
    """Their sites are on no record here; `write_xdc` lists them for every area that holds some."""
    ranges = " ".join(f"{kind}_X0Y0:{kind}_X0Y1" for kind in HARD.split())
    assert not judged(f"{P}resize_pblock p -add {{{ranges}}}\n").ordered


@pytest.mark.parametrize("kind", ["SILCE", "SLICEL", "DSP48E1", "DSP58", "RAMB36E2", "URAM", "LAGUNA_RX", "CLBLM"])
def test_types_of_logic_that_the_part_has_not_are_errors(kind: str) -> None:
    assert ("error", "site-type-unknown", 4) in found(judged(f"{P}resize_pblock p -add {kind}_X0Y0:{kind}_X3Y9\n"))


CARDS = {"alveo-u50": 2, "alveo-u55c": 3, "alveo-u280": 3, "alveo-u200": 3, "alveo-u250": 4}
OF_SLR = {
    "cells": "add_cells_to_pblock [get_pblocks {name}] [get_cells level0_i/ulp/top_1/inst/pe_0]\n",
    "cells by name": "add_cells_to_pblock {name} [get_cells -hier -regexp {{(.*/)?pe_[0-9]+}}] -clear_locs\n",
    "a child": "create_pblock p\nset_property PARENT {name} [get_pblocks p]\n",
    "in a loop": "foreach slr {{{slr}}} {{ add_cells_to_pblock pblock_dynamic_$slr k }}\n",
    "by a property": "set_property PBLOCK {name} [get_cells k]\n",
}


@pytest.mark.parametrize("board", CARDS)
@pytest.mark.parametrize("form", OF_SLR)
def test_the_shell_brings_a_pblock_for_each_slr_that_the_card_has(board: str, form: str) -> None:
    for number in range(5):
        slr = f"SLR{number}"
        text = OF_SLR[form].format(name=f"pblock_dynamic_{slr}", slr=slr)
        verdict = judged(text, board=board, name="a.tcl")
        assert ("slr-unknown" in names(verdict)) == (number >= CARDS[board])
        assert verdict.is_legal == (number < CARDS[board])
        assert len(verdict.named) == (2 if form == "a child" else 1)
        assert not verdict.judged_nothing


def test_a_pblock_created_for_an_slr_that_the_die_has_not_is_an_error_with_a_part_too() -> None:
    made = "create_pblock pblock_dynamic_SLR3\nresize_pblock pblock_dynamic_SLR3 -add CLOCKREGION_X0Y0\n"
    for where in ({"part": "xcu280"}, {"board": "alveo-u280"}):
        verdict = judged(made, **where)
        assert ("error", "slr-unknown", 1) in found(verdict)
        assert "pblock-not-created" not in names(verdict)
    assert "slr-unknown" not in names(judged(made, "xczu7ev")), "no card of this die has such a shell"
    asked = "if {[llength [get_pblocks -quiet pblock_dynamic_SLR3]]} { add_cells_to_pblock pblock_dynamic_SLR3 k }\n"
    assert judged(asked, board="alveo-u280", name="a.tcl").is_legal, "the script asks before"


def test_a_child_keeps_to_the_slr_of_the_shells_pblock_and_a_cell_to_its_own() -> None:
    child = f"{P.replace(AREA, 'CLOCKREGION_X1Y1')}set_property PARENT pblock_dynamic_SLR{{}} [get_pblocks p]\n"
    assert judged(child.format(0)).is_legal
    assert ("error", "child-outside-parent", 4) in found(judged(child.format(1)))
    cell = "add_cells_to_pblock pblock_dynamic_SLR1 k\nset_property USER_SLR_ASSIGNMENT SLR{} [get_cells k]\n"
    assert judged(cell.format(1)).is_legal
    assert ("error", "cell-and-slr", 2) in found(judged(cell.format(2)))


@pytest.mark.parametrize("keeps", ["EXCLUDE_PLACEMENT 1", "IS_SOFT 0", "CONTAIN_ROUTING 1", ""])
def test_a_pblock_without_cells_is_no_violation(keeps: str) -> None:
    text = "create_pblock free\nresize_pblock free -add CLOCKREGION_X0Y0\nset_property IS_SOFT 0 [get_pblocks free]\n"
    text += f"set_property {keeps} [get_pblocks free]\n" if keeps else ""
    assert judged(text).is_legal
    other = "create_pblock q\nresize_pblock q -add CLOCKREGION_X0Y0\nadd_cells_to_pblock q k\n"
    assert judged(text + other).is_legal == (keeps != "EXCLUDE_PLACEMENT 1"), "what holds no cell keeps none"


NOTHING = {
    "no command": "",
    "other constraints": "create_clock -period 4 [get_ports clk]\n",
    "a reconfigurable cell": "set_property HD.RECONFIGURABLE 1 [get_cells k]\n",
    "pblocks that are deleted": "delete_pblocks -quiet [get_pblocks -quiet old]\n",
}
IN_PART = {
    "a loop over cells": "foreach c [get_cells -of_objects [get_nets n]] { add_cells_to_pblock p $c }\n",
    "a file elsewhere": "source more.tcl\n",
    "a procedure from elsewhere": "make_pblocks 3\n",
    "a computed command": "$::create q\n",
    "a text that is run": "uplevel 1 {create_pblock q}\n",
    "a body of another command": "dict for {k v} $all { create_pblock $k }\n",
    "a computed parent": "set_property PARENT [lindex [get_property PARENT $x] 0] [get_pblocks p]\n",
    "a regular expression": "add_cells_to_pblock p [get_cells -regexp {k_(a|b)}]\n",
    "cells taken out": "remove_cells_from_pblock p [get_cells -of_objects [get_nets n]]\n",
    "a type of sites": "resize_pblock p -add FOO_X0Y0:FOO_X1Y1\n",
    "the shell's ranges": "resize_pblock pblock_dynamic_SLR1 -remove CLOCKREGION_X0Y0\n",
    "a choice by pattern": "switch -glob $x { a* { create_pblock q } }\n",
    "cells of an SLR": "set_property USER_SLR_ASSIGNMENT $slr [get_cells k]\n",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_where_no_pblock_is_read_nothing_is_judged(text: str) -> None:
    verdict = judged(text)
    assert verdict.judged_nothing
    assert not verdict.is_whole


@pytest.mark.parametrize("text", IN_PART.values(), ids=IN_PART)
def test_what_is_not_read_is_told(text: str) -> None:
    assert judged(P, name="a.tcl").is_whole
    verdict = judged(P + text, name="a.tcl")
    assert ("note", "not-evaluated", 4) in found(verdict)
    assert not verdict.is_whole
    assert verdict.is_legal
