"""The model of Vivado's commands refuses every kind of bad script, with a message that names the fault."""

from pathlib import Path

import pytest

from tests.tools import need_tcl

need_tcl()

from tests.vivado_model import VivadoError, VivadoModel, run_outputs  # noqa: E402  (needs tkinter)
from tests.vivado_model.sites import load_sites  # noqa: E402

DEVICES = Path(__file__).parents[1] / "platforms" / "devices"
KU5P = DEVICES / "xcku5p.yaml"
U250 = DEVICES / "xcu250.yaml"
CELLS = ("top/a", "top/b", "top/g[0].core/x", "top/g[1].core/x")
SHELL = {"pblock_shell": ["SLICE_X0Y0:SLICE_X20Y59", "-SLICE_X0Y0:SLICE_X0Y59"]}

MAKE_P = "create_pblock p\nresize_pblock [get_pblocks p] -add {SLICE_X0Y0:SLICE_X9Y59}\n"
HARD_P = MAKE_P + "set_property IS_SOFT FALSE [get_pblocks p]\n"
GOOD_P = HARD_P + "add_cells_to_pblock [get_pblocks p] [get_cells top/a]\n"
MAKE_Q = (
    "create_pblock q\nset_property IS_SOFT FALSE [get_pblocks q]\n"
    "add_cells_to_pblock [get_pblocks q] [get_cells top/b]\n"
)


def run_text(folder: Path, text: str, suffix: str = "xdc", device: Path = KU5P) -> VivadoModel:
    path = folder / f"script.{suffix}"
    path.write_text(text, encoding="utf-8")
    model = VivadoModel(device, CELLS, SHELL)
    (model.run_xdc if suffix == "xdc" else model.run_tcl)(path)
    return model


def test_good_script_is_recorded(tmp_path: Path) -> None:
    model = run_text(tmp_path, GOOD_P)
    assert model.pblocks == {
        "p": {
            "ranges": ["SLICE_X0Y0:SLICE_X9Y59"],
            "cells": ["top/a"],
            "properties": {"IS_SOFT": "FALSE"},
            "parent": None,
        }
    }


@pytest.mark.parametrize("parent", ["pblock_shell", "[get_pblocks {pblock_shell}]"], ids=["name", "object"])
def test_parent_may_be_a_name_or_an_object(tmp_path: Path, parent: str) -> None:
    text = (
        "create_pblock p\nresize_pblock [get_pblocks p] -add {SLICE_X1Y0:SLICE_X9Y59}\n"
        f"set_property PARENT {parent} [get_pblocks p]\n"
        "add_cells_to_pblock [get_pblocks p] [get_cells {top/g[0].core/x}]\n"
    )
    made = run_text(tmp_path, text).pblocks["p"]
    assert made["parent"] == "pblock_shell"
    assert made["cells"] == ["top/g[0].core/x"]


BAD_COMMANDS = {
    "unknown command": ("create_pblocks p", 'invalid command name "create_pblocks"'),
    "unknown option": ("get_cells -hier top", "unknown option '-hier'"),
    "option without value": (MAKE_P + "resize_pblock p -add", "missing value of option '-add'"),
    "option twice": ("get_cells -quiet -quiet top", "option '-quiet' is given twice"),
    "option not modelled": ("get_cells -regexp top", "option '-regexp' is not modelled"),
    "missing positional": ("create_pblock", "missing positional argument 'name'"),
    "extra positional": ("create_pblock p q", "too many positional arguments, first extra one 'q'"),
    "illegal name": ("create_pblock {p q}", "illegal name 'p q'"),
    "created twice": ("create_pblock p\ncreate_pblock p", "pblock 'p' exists already"),
    "get missing pblock": ("get_pblocks ghost", "get_pblocks: no pblock matches 'ghost'"),
    "resize missing pblock": ("resize_pblock ghost -add SLR0", "pblock 'ghost' does not exist"),
    "resize nothing": (MAKE_P + "resize_pblock p", "expected one of -add and -remove"),
    "resize empty list": (MAKE_P + "resize_pblock p -add {}", "no range is given for pblock 'p'"),
    "resize shell": ("resize_pblock pblock_shell -add SLR0", "comes with the shell and must not be changed"),
    "add to missing pblock": ("add_cells_to_pblock ghost [get_cells top/a]", "pblock 'ghost' does not exist"),
    "delete missing pblock": ("delete_pblock ghost", "pblock 'ghost' does not exist"),
    "delete a parent": (
        MAKE_P + "create_pblock q\nset_property PARENT p q\ndelete_pblock p",
        "pblock 'p' is the parent of",
    ),
    "two pblocks": ("create_pblock p\ncreate_pblock q\nresize_pblock [get_pblocks *] -add SLR0", "expected one pblock"),
    "missing cell": ("get_cells top/ghost", "no cell matches 'top/ghost'"),
    "wildcard stops at a slash": ("get_cells t*x", "no cell matches 't*x'"),
    "brackets are literal": ("get_cells {top/g[01].core}", "no cell matches"),
    "one pattern of two": ("get_cells {top/a ghost}", "no cell matches 'ghost'"),
    "slash in hierarchical": ("get_cells -hierarchical top/a", "holds no '/'"),
    "filter": ("get_cells -hierarchical -filter {NAME =~ *a}", "expected NAME or IS_BLACKBOX == value"),
    "add a name that is no cell": (MAKE_P + "add_cells_to_pblock p ghost", "cell 'ghost' does not exist"),
    "add no cell": (MAKE_P + "add_cells_to_pblock p [get_cells -quiet ghost]", "expected one cell, got 0"),
    "add two cells": (MAKE_P + "add_cells_to_pblock p [get_cells {top/?}]", "expected one cell, got 2"),
    "cell in two pblocks": (
        GOOD_P + "create_pblock q\nadd_cells_to_pblock q [get_cells top/a]",
        "cell 'top/a' is in pblock 'p' already, cannot add it to 'q'",
    ),
    "cell removed from another": (
        MAKE_P + "remove_cells_from_pblock p [get_cells top/a]",
        "cell 'top/a' is not in pblock 'p'",
    ),
    "unknown property": (MAKE_P + "set_property SOFT TRUE p", "no property 'SOFT' that can be set"),
    "illegal value": (MAKE_P + "set_property IS_SOFT no p", "illegal value 'no' of property IS_SOFT"),
    "property of missing pblock": ("set_property IS_SOFT FALSE ghost", "pblock 'ghost' does not exist"),
    "parent missing": (MAKE_P + "set_property PARENT ghost p", "set_property PARENT: pblock 'ghost' does not exist"),
    "parent is itself": (MAKE_P + "set_property PARENT p p", "would be its own ancestor"),
    "parents in a circle": (
        MAKE_P + "create_pblock q\nset_property PARENT p q\nset_property PARENT q p",
        "pblock 'p' would be its own ancestor",
    ),
    "unreadable property": ("get_property COLOUR [current_design]", "has no property 'COLOUR'"),
    "object missing": ("get_property NAME ghost", "object 'ghost' does not exist"),
    "other design": ("current_design ghost", "design 'ghost' does not exist"),
    "SLR of a part that has one": (
        "set_property USER_SLR_ASSIGNMENT SLR0 [get_cells top/a]",
        "is none of several SLRs",
    ),
    "SLR of two cells": ("set_property USER_SLR_ASSIGNMENT SLR0 [get_cells {top/?}]", "expected one cell, got 2"),
    "other property reset": ("reset_property LOC [get_cells top/a]", "'LOC' is not modelled"),
    "SLR that there is not": ("get_slrs SLR7", "get_slrs: no SLR matches 'SLR7'"),
    "broken list": ('get_cells "top/a \\{"', "is not a Tcl list"),
}


@pytest.mark.parametrize("suffix", ["xdc", "tcl"])
@pytest.mark.parametrize(("text", "message"), BAD_COMMANDS.values(), ids=BAD_COMMANDS)
def test_bad_command_is_refused(tmp_path: Path, text: str, message: str, suffix: str) -> None:
    with pytest.raises(VivadoError) as refused:
        run_text(tmp_path, text, suffix)
    assert message in str(refused.value)


BAD_RANGES = {
    "no pair": (KU5P, "SLICE_X0Y0", "malformed range"),
    "no number": (KU5P, "SLICE_X0:SLICE_X9Y59", "malformed range"),
    "types differ": (KU5P, "SLICE_X0Y0:RAMB36_X0Y5", "joins the types SLICE and RAMB36"),
    "reversed x": (KU5P, "SLICE_X9Y0:SLICE_X0Y59", "reversed corners"),
    "reversed y": (KU5P, "SLICE_X0Y59:SLICE_X9Y0", "reversed corners"),
    "x outside": (KU5P, "SLICE_X0Y0:SLICE_X113Y59", "[Place 30-8520]"),
    "y outside": (KU5P, "SLICE_X0Y0:SLICE_X9Y240", "which ends at SLICE_X112Y239"),
    "type of another family": (KU5P, "DSP48_X0Y0:DSP48_X0Y1", "xcku5p has no sites of type DSP48"),
    "no Laguna here": (KU5P, "LAGUNA_X0Y0:LAGUNA_X1Y1", "no sites of type LAGUNA"),
    "clock region outside": (KU5P, "CLOCKREGION_X0Y0:CLOCKREGION_X4Y0", "[Place 30-8520]"),
    "SLR outside": (U250, "SLR3:SLR4", "which has 4 SLRs"),
    "SLRs reversed": (U250, "SLR1:SLR0", "reversed corners"),
    "left corner in Laguna": (U250, "SLICE_X8Y0:SLICE_X9Y9", "corner site SLICE_X8Y0 does not exist on xcu250"),
    "right corner in Laguna": (U250, "SLICE_X0Y60:SLICE_X8Y200", "corner site SLICE_X8Y200 does not exist"),
    "corner in the PS": (DEVICES / "xczu7ev.yaml", "SLICE_X0Y0:SLICE_X60Y9", "corner site SLICE_X0Y0 does not exist"),
    "corner in PCIe": (DEVICES / "xc7z045.yaml", "SLICE_X164Y0:SLICE_X165Y9", "SLICE_X164Y0 does not exist"),
    "HBM row is short": (DEVICES / "xcu280.yaml", "DSP48E2_X0Y0:DSP48E2_X0Y282", "ends at DSP48E2_X31Y281"),
}


@pytest.mark.parametrize(("device", "text", "message"), BAD_RANGES.values(), ids=BAD_RANGES)
def test_bad_range_is_refused(tmp_path: Path, device: Path, text: str, message: str) -> None:
    path = tmp_path / "script.xdc"
    path.write_text(f"create_pblock p\nresize_pblock [get_pblocks p] -add {{{text}}}\n", encoding="utf-8")
    with pytest.raises(VivadoError) as refused:
        VivadoModel(device, CELLS).run_xdc(path)
    assert message in str(refused.value)
    assert "pblock 'p'" in str(refused.value)
    assert str(refused.value).startswith("script.xdc:2: ")


BAD_DESIGNS = {
    "no ranges": ("create_pblock p\nadd_cells_to_pblock p [get_cells top/a]", "pblock 'p' has no ranges"),
    "no cells": (HARD_P, "pblock 'p' has no cells"),
    "all ranges removed": (GOOD_P + "resize_pblock p -remove SLICE_X0Y0:SLICE_X9Y59", "pblock 'p' has no ranges"),
    "soft but contains routing": (
        GOOD_P + "set_property IS_SOFT TRUE p\nset_property CONTAIN_ROUTING TRUE p",
        "CONTAIN_ROUTING needs IS_SOFT FALSE",
    ),
    "outside its parent": (GOOD_P + "set_property PARENT pblock_shell p", "SLICE_X0Y0 and 59 more sites lie outside"),
    "type its parent lacks": (
        GOOD_P + "resize_pblock p -add RAMB36_X0Y0:RAMB36_X0Y11\nresize_pblock p -remove SLICE_X0Y0:SLICE_X0Y59\n"
        "set_property PARENT pblock_shell p",
        "RAMB36_X0Y0 and 11 more sites lie outside",
    ),
    "overlap": (
        GOOD_P + MAKE_Q + "resize_pblock q -add SLICE_X9Y50:SLICE_X12Y70",
        "pblocks 'p' and 'q' overlap in 10 sites of type SLICE",
    ),
    "overlap by clock region": (
        GOOD_P + MAKE_Q + "resize_pblock q -add CLOCKREGION_X0Y0:CLOCKREGION_X0Y0",
        "pblocks 'p' and 'q' overlap in 600 sites of type SLICE",
    ),
    "cell inside another's cell": (
        GOOD_P + "create_pblock q\nresize_pblock q -add SLICE_X20Y0:SLICE_X21Y9\nadd_cells_to_pblock q [get_cells top]",
        "cell 'top/a' of pblock 'p' is inside cell 'top' of 'q'",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD_DESIGNS.values(), ids=BAD_DESIGNS)
def test_bad_floorplan_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(VivadoError) as refused:
        run_text(tmp_path, text)
    assert message in str(refused.value)


GOOD_DESIGNS = {
    "neighbours": GOOD_P + MAKE_Q + "resize_pblock q -add SLICE_X10Y0:SLICE_X12Y59",
    "nested": GOOD_P + MAKE_Q + "resize_pblock q -add SLICE_X0Y0:SLICE_X1Y9\nset_property PARENT p q",
    "soft may overlap": GOOD_P + MAKE_Q + "resize_pblock q -add SLICE_X0Y0:SLICE_X1Y9\nset_property IS_SOFT TRUE q",
    "set, list, expr": "set n [expr {1 + 1}]\nset names [list top/a]\n"
    + HARD_P
    + "add_cells_to_pblock p [get_cells $names]",
    "filter by name": HARD_P + "add_cells_to_pblock p [get_cells -hierarchical -filter {NAME == top/g[1].core/x}]",
    "local name": HARD_P + "add_cells_to_pblock p [get_cells -hierarchical a]",
    "cells move by hand": GOOD_P
    + "remove_cells_from_pblock p [get_cells top/a]\nadd_cells_to_pblock p [get_cells top/b]",
}


def test_a_cell_has_an_slr_or_a_pblock_but_not_both(tmp_path: Path) -> None:
    assign = "set_property USER_SLR_ASSIGNMENT SLR1 [get_cells top/a]\n"
    model = run_text(tmp_path, assign, device=U250)
    assert (model.slr_of, model.pblocks) == ({"top/a": "SLR1"}, {})
    with pytest.raises(VivadoError, match="cell 'top/a' of pblock 'p' is assigned to an SLR as well"):
        run_text(tmp_path, assign + HARD_P + "add_cells_to_pblock p [get_cells top/a]\n", device=U250)


@pytest.mark.parametrize("text", GOOD_DESIGNS.values(), ids=GOOD_DESIGNS)
def test_good_floorplan_is_accepted(tmp_path: Path, text: str) -> None:
    assert "p" in run_text(tmp_path, text).pblocks


NOT_XDC = {
    "if": "if {1} {create_pblock p}",
    "for": "for {set i 0} {$i < 1} {incr i} {create_pblock p}",
    "foreach": "foreach name {p q} {create_pblock $name}",
    "while": "while {1} {create_pblock p}",
    "proc": "proc make {} {create_pblock p}",
    "source": "source other.tcl",
    "uplevel": "uplevel #0 create_pblock p",
    "eval": "eval create_pblock p",
    "puts": "puts hello",
    "catch": "catch {create_pblock p}",
    "exit": "exit",
    "file": "set here [file dirname x]",
}


@pytest.mark.parametrize(("command", "text"), NOT_XDC.items(), ids=NOT_XDC)
def test_xdc_allows_no_control_flow(tmp_path: Path, command: str, text: str) -> None:
    with pytest.raises(VivadoError) as refused:
        run_text(tmp_path, text)
    if command == "exit":  # Python's Tcl leaves it out altogether
        assert "exit" in str(refused.value)
    else:
        assert f"Tcl command '{command}' is not allowed in an XDC file, only set, list, expr" in str(refused.value)


def test_tcl_allows_control_flow_and_keeps_its_output(tmp_path: Path) -> None:
    model = run_text(
        tmp_path, HARD_P + "foreach c {top/a top/b} {add_cells_to_pblock p [get_cells $c]; puts $c}", "tcl"
    )
    assert model.pblocks["p"]["cells"] == ["top/a", "top/b"]
    assert model.output == ["top/a", "top/b"]


def test_message_names_file_and_line(tmp_path: Path) -> None:
    for suffix in ("xdc", "tcl"):
        with pytest.raises(VivadoError, match=rf"^script\.{suffix}:6: get_cells: no cell matches 'ghost'"):
            run_text(tmp_path, "# comment\n\n" + MAKE_P + "\nget_cells ghost\n", suffix)


def test_unclosed_command_is_refused_where_it_starts(tmp_path: Path) -> None:
    with pytest.raises(VivadoError, match=r"^script\.xdc:2: the command that starts here is not closed"):
        run_text(tmp_path, "# one\nget_cells {top/a\n\n")


def test_laguna_sites_come_with_clock_regions_not_with_slices() -> None:
    sites = load_sites(U250)
    assert "LAGUNA" not in sites.masks("SLICE_X0Y0:SLICE_X30Y59")
    assert int(sites.masks("CLOCKREGION_X0Y0:CLOCKREGION_X0Y0")["LAGUNA"].sum()) == 480
    assert int(sites.masks("SLR1")["LAGUNA"].sum()) == 30720 // 4


@pytest.mark.parametrize(
    ("part", "lut", "dsp", "ramb36", "uram"),
    [
        ("xc7z020", 53200, 220, 140, 0),
        ("xcku5p", 216960, 1824, 480, 64),
        ("xczu7ev", 230400, 1728, 312, 96),
        ("xcu250", 1728000, 12288, 2688, 1280),
    ],
)
def test_site_counts_are_the_data_sheets(part: str, lut: int, dsp: int, ramb36: int, uram: int) -> None:
    counts = {site: int(mask.sum()) for site, mask in load_sites(DEVICES / f"{part}.yaml").exists.items()}
    lut_per_slice, dsp_site = (4, "DSP48") if part.startswith("xc7") else (8, "DSP48E2")
    assert counts["SLICE"] * lut_per_slice == lut
    assert (counts[dsp_site], counts["RAMB36"], counts.get("URAM288", 0)) == (dsp, ramb36, uram)
    assert counts["RAMB18"] == 2 * counts["RAMB36"]


def test_run_outputs_returns_both_tables(tmp_path: Path) -> None:
    folder = tmp_path / "fpga0"
    folder.mkdir()
    (folder / "pblocks.xdc").write_text(GOOD_P, encoding="utf-8")
    check_part = 'if {[get_property PART [current_design]] ne "xcku5p-ffvd900-2-i"} {error "wrong part"}\n'
    (folder / "pblocks.tcl").write_text(check_part + GOOD_P, encoding="utf-8")
    plan = '{"platform": {"fpgas": [{"name": "fpga0", "part": "xcku5p-ffvd900-2-i"}]}}'
    (tmp_path / "plan.json").write_text(plan, encoding="utf-8")
    tables = {name: model.pblocks for name, model in run_outputs(tmp_path, "fpga0", CELLS, KU5P, {}).items()}
    assert set(tables) == {"xdc", "tcl"}
    assert tables["xdc"] == tables["tcl"]
    assert set(tables["xdc"]) == {"p"}
