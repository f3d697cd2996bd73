"""The shipped Tcl library: its guards stop a bad floorplan before a pblock is made, and it can run again."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import need_module, need_tcl

need_tcl()

from tests.vivado_model import VivadoError, VivadoModel  # noqa: E402  (needs tkinter)

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "tcl" / "floorflow.tcl"
KU5P = ROOT / "platforms" / "devices" / "xcku5p.yaml"
PART = "xcku5p-ffvd900-2-i"
U250 = ROOT / "platforms" / "devices" / "xcu250.yaml"
U250_PART = "xcu250-figd2104-2L-e"
CELLS = ("top/a", "top/b", "top/g[0].core")
SHELL = {"pblock_shell": ["CLOCKREGION_X0Y0:CLOCKREGION_X3Y0"]}

SOURCE = f"source {{{LIBRARY}}}\n"
BEGIN = SOURCE + f"floorflow::begin -part {{{PART}}}\n"
BEGIN_U250 = SOURCE + f"floorflow::begin -part {{{U250_PART}}}\n"
P = "floorflow::pblock {p} -ranges {SLICE_X0Y0:SLICE_X9Y59 RAMB36_X0Y0:RAMB36_X0Y11}"
Q = "floorflow::pblock {q} -ranges {SLICE_X10Y0:SLICE_X19Y59} -cells {{top/g[0].core}}\n"
GOOD = BEGIN + P + " -parent {pblock_shell} -cells {top/a top/b}\n" + Q + "floorflow::end\n"


DONE = "floorflow: 2 pblocks, 3 cells in them, 0 cells assigned to SLRs"


def new_model() -> VivadoModel:
    return VivadoModel(KU5P, CELLS, SHELL, PART)


def run_text(model: VivadoModel, folder: Path, text: str) -> VivadoModel:
    path = folder / "pblocks.tcl"
    path.write_text(text, encoding="utf-8")
    model.run_tcl(path)
    return model


def test_good_script_makes_hard_pblocks_in_their_parent(tmp_path: Path) -> None:
    model = run_text(new_model(), tmp_path, GOOD)
    assert model.pblocks["p"] == {
        "ranges": ["SLICE_X0Y0:SLICE_X9Y59", "RAMB36_X0Y0:RAMB36_X0Y11"],
        "cells": ["top/a", "top/b"],
        "properties": {"IS_SOFT": "FALSE"},
        "parent": "pblock_shell",
    }
    assert model.pblocks["q"]["cells"] == ["top/g[0].core"]
    assert model.pblocks["q"]["parent"] is None
    assert model.output == [DONE]


def test_script_finds_the_library_beside_its_own_folder(tmp_path: Path) -> None:
    for folder in ("fpga0", "vivado"):
        (tmp_path / folder).mkdir()
    shutil.copy(LIBRARY, tmp_path / "vivado" / "floorflow.tcl")
    find = "source [file join [file dirname [file normalize [info script]]] .. vivado floorflow.tcl]\n"
    assert GOOD.startswith(SOURCE)
    model = run_text(new_model(), tmp_path / "fpga0", find + GOOD.removeprefix(SOURCE))
    assert list(model.pblocks) == ["p", "q"]


UNBOUND = GOOD.replace("floorflow::begin -part {", "floorflow::begin -unbound TRUE -part {").replace("top/", "members:")


def test_a_script_that_is_not_bound_runs_only_if_asked_for_and_makes_pblocks_without_cells(tmp_path: Path) -> None:
    assert "-unbound TRUE" in UNBOUND
    with pytest.raises(VivadoError, match="floorflow bind"):
        run_text(new_model(), tmp_path, UNBOUND)
    model = new_model()
    model.run_tcl(tmp_path / "pblocks.tcl", ["-unbound"])
    assert {name: made["cells"] for name, made in model.pblocks.items()} == {"p": [], "q": []}


def test_second_run_leaves_the_same_pblocks(tmp_path: Path) -> None:
    model = run_text(new_model(), tmp_path, GOOD)
    first = model.pblocks
    assert run_text(model, tmp_path, GOOD).pblocks == first
    assert model.output == [DONE] * 2


def test_fpga_without_modules_runs_to_the_end(tmp_path: Path) -> None:
    model = run_text(new_model(), tmp_path, BEGIN + "floorflow::end -pblocks 0\n")
    assert (model.pblocks, model.output) == ({}, ["floorflow: 0 pblocks, 0 cells in them, 0 cells assigned to SLRs"])


def test_a_soft_pblock_is_one_that_asks_for_it(tmp_path: Path) -> None:
    soft = run_text(new_model(), tmp_path, BEGIN + P + " -soft TRUE -cells top/a\n" + Q + "floorflow::end\n").pblocks
    assert [soft[name]["properties"]["IS_SOFT"] for name in ("p", "q")] == ["TRUE", "FALSE"]


def test_cells_are_assigned_to_slrs_and_taken_back_by_the_next_run(tmp_path: Path) -> None:
    model = VivadoModel(U250, CELLS, {}, U250_PART)
    run_text(model, tmp_path, BEGIN_U250 + "floorflow::slr SLR2 -cells {top/a top/b}\nfloorflow::end -assigned 2\n")
    assert (model.slr_of, model.pblocks) == ({"top/a": "SLR2", "top/b": "SLR2"}, {})
    run_text(model, tmp_path, BEGIN_U250 + "floorflow::slr SLR1 -cells top/a\nfloorflow::end -pblocks 0 -assigned 1\n")
    assert model.slr_of == {"top/a": "SLR1"}


@pytest.mark.parametrize("box", ["top/a", "top/a/inst/ip", "top/g[0].core", "top/g[0].core/ip"])
def test_a_cell_that_is_empty_or_holds_an_empty_one_stops_it(box: str, tmp_path: Path) -> None:
    model = VivadoModel(KU5P, CELLS, SHELL, PART, black_boxes=[box])
    with pytest.raises(VivadoError, match=rf"cell '{re.escape(box)}' for pblock '[pq]' is a black box; synthesise"):
        run_text(model, tmp_path, GOOD)


def test_an_empty_cell_in_an_slr_stops_it_too(tmp_path: Path) -> None:
    model = VivadoModel(U250, CELLS, {}, U250_PART, black_boxes=["top/b"])
    with pytest.raises(VivadoError, match="cell 'top/b' for SLR 'SLR2' is a black box"):
        run_text(model, tmp_path, BEGIN_U250 + "floorflow::slr SLR2 -cells {top/a top/b}\nfloorflow::end\n")


def test_empty_cells_elsewhere_are_none_of_ours(tmp_path: Path) -> None:
    boxes = ["top/a2", "top/other/ip", "top/g[00].core"]
    assert list(run_text(VivadoModel(KU5P, CELLS, SHELL, PART, black_boxes=boxes), tmp_path, GOOD).pblocks) == [
        "p",
        "q",
    ]


PORTS = "floorflow::ports top/a -in {17 8} -out 24\n"


def with_streams(folder: Path, into: tuple[int, ...], out: tuple[int, ...]) -> VivadoModel:
    model = VivadoModel(KU5P, CELLS, SHELL, PART, {"top/a": (into, out)})
    return run_text(model, folder, BEGIN + PORTS + P + " -cells top/a\nfloorflow::end -pblocks 1 -ports 1\n")


@pytest.mark.parametrize("into", [(8, 24), (24, 8), (17, 8), (8, 20)], ids=str)
def test_a_cell_with_the_streams_of_the_plan_is_the_engine(into: tuple[int, ...], tmp_path: Path) -> None:
    """Padded to bytes or as far as synthesis left it, in any order."""
    assert list(with_streams(tmp_path, into, (24,)).pblocks) == ["p"]


@pytest.mark.parametrize(
    ("into", "out"),
    [
        ((8, 32), (24,)),
        ((8, 16), (24,)),
        ((8,), (24,)),
        ((8, 24, 24), (24,)),
        ((8, 24), (23,)),
        ((8, 24), ()),
        ((), ()),
    ],
    ids=str,
)
def test_a_cell_with_other_streams_is_another_engine(
    into: tuple[int, ...], out: tuple[int, ...], tmp_path: Path
) -> None:
    with pytest.raises(VivadoError, match=r"cell 'top/a' has streams of .* it is another engine"):
        with_streams(tmp_path, into, out)


def test_begin_resets_the_counts(tmp_path: Path) -> None:
    again = GOOD.removeprefix(SOURCE)
    assert run_text(new_model(), tmp_path, GOOD + again).output == [DONE] * 2


def test_pblocks_of_an_older_plan_are_removed(tmp_path: Path) -> None:
    model = run_text(new_model(), tmp_path, GOOD)
    assert list(run_text(model, tmp_path, BEGIN + Q + "floorflow::end\n").pblocks) == ["q"]


def test_nested_pblocks_of_an_earlier_run_are_removed_child_first(tmp_path: Path) -> None:
    child = "floorflow::pblock c -ranges SLICE_X0Y0:SLICE_X1Y9 -parent p -cells top/b\n"
    text = BEGIN + P + " -cells top/a\n" + child + "floorflow::end\n"
    model = run_text(new_model(), tmp_path, text)
    assert run_text(model, tmp_path, text).pblocks["c"]["parent"] == "p"


def test_run_after_a_failed_one_starts_clean(tmp_path: Path) -> None:
    model = new_model()
    bad_range = "floorflow::pblock {p} -ranges {SLICE_X0Y0:SLICE_X9Y999} -cells {top/a}\n"
    with pytest.raises(VivadoError, match="Place 30-8520"):
        run_text(model, tmp_path, BEGIN + bad_range)
    assert list(run_text(model, tmp_path, GOOD).pblocks) == ["p", "q"]


def test_cell_returns_the_one_object(tmp_path: Path) -> None:
    text = SOURCE + "puts [llength [floorflow::cell {top/g[0].core}]]\nputs [floorflow::cell top/a]\n"
    assert run_text(new_model(), tmp_path, text).output == ["1", "top/a"]


BAD_CALLS = {
    "no match": (BEGIN + P + " -cells {top/a top/ghost}", "cell 'top/ghost' for pblock 'p' matches 0 cells"),
    "no match says what to do": (BEGIN + P + " -cells top/ghost", "set keep_hierarchy on the cell"),
    "two matches": (BEGIN + P + " -cells {{top/a top/b}}", "cell 'top/a top/b' for pblock 'p' matches 2 cells"),
    "guard alone, no match": (SOURCE + "floorflow::cell ghost", "cell 'ghost' matches 0 cells, expected exactly 1"),
    "guard alone, two matches": (SOURCE + "floorflow::cell {top/a top/b}", "matches 2 cells, expected exactly 1"),
    "star": (BEGIN + P + " -cells top/a*", "cell name 'top/a*' holds a wildcard"),
    "question mark": (SOURCE + "floorflow::cell top/?", "cell name 'top/?' holds a wildcard"),
    "empty name": (BEGIN + P + " -cells {{}}", "the name of a cell is empty"),
    "missing parent": (
        BEGIN + P + " -parent ghost -cells top/a",
        "parent pblock 'ghost' of pblock 'p' matches 0 pblocks",
    ),
    "wildcard parent": (BEGIN + P + " -parent pblock_* -cells top/a", "parent pblock name 'pblock_*' holds a wildcard"),
    "own parent": (BEGIN + P + " -parent p -cells top/a", "pblock 'p' is its own parent"),
    "wrong part": (
        SOURCE + "floorflow::begin -part xcu250-figd2104-2L-e",
        f"the plan is for part 'xcu250-figd2104-2L-e', but the open design has part '{PART}'",
    ),
    "no part": (SOURCE + "floorflow::begin", "begin: option '-part' is missing"),
    "no pblocks": (BEGIN + "floorflow::end", "no pblock was made"),
    "fewer pblocks than planned": (
        BEGIN + P + " -cells top/a\nfloorflow::end -pblocks 2",
        "pblocks made: 1, in the plan: 2; the script is not whole",
    ),
    "more pblocks than planned": (
        BEGIN + P + " -cells top/a\nfloorflow::end -pblocks 0",
        "pblocks made: 1, in the plan: 0",
    ),
    "unknown option of end": (BEGIN + P + " -cells top/a\nfloorflow::end -pblock 1", "expected -pblocks"),
    "end without begin": (SOURCE + "floorflow::end", "floorflow::end without floorflow::begin"),
    "pblock before begin": (SOURCE + P + " -cells top/a", "pblock 'p' comes before floorflow::begin"),
    "pblock after end": (GOOD + P + " -cells top/a", "pblock 'p' comes before floorflow::begin"),
    "no ranges": (BEGIN + "floorflow::pblock p -ranges {} -cells top/a", "pblock 'p' has no ranges"),
    "no cells": (BEGIN + P + " -cells {}", "pblock 'p' has no cells"),
    "missing option": (BEGIN + P, "pblock 'p': option '-cells' is missing"),
    "unknown option": (BEGIN + P + " -cell top/a", "unknown option '-cell'; expected -ranges, -cells, -parent, -soft"),
    "option twice": (BEGIN + P + " -cells top/a -cells top/b", "option '-cells' is given twice"),
    "option without value": (BEGIN + P + " -cells", "'-cells' has no value"),
    "cell twice": (BEGIN + P + " -cells {top/a top/a}", "pblock 'p' lists cell 'top/a' twice"),
    "cell in two pblocks": (
        BEGIN + P + " -cells top/a\nfloorflow::pblock q -ranges SLICE_X20Y0:SLICE_X21Y9 -cells top/a",
        "cell 'top/a' is in pblock 'p' and again in pblock 'q'",
    ),
    "ports before begin": (SOURCE + PORTS, "ports of 'top/a' come before floorflow::begin"),
    "ports of a ghost": (
        BEGIN + "floorflow::ports ghost -in 8 -out 8",
        "cell 'ghost' whose streams the plan knows matches",
    ),
    "ports of one side": (BEGIN + "floorflow::ports top/a -in 8", "option '-out' is missing"),
    "fewer cells compared than planned": (
        BEGIN + P + " -cells top/a\nfloorflow::end -pblocks 1 -ports 3",
        "cells whose streams were compared: 0, in the plan: 3",
    ),
    "soft or not": (BEGIN + P + " -soft maybe -cells top/a", "-soft is 'maybe', expected TRUE or FALSE"),
    "SLR that the part lacks": (BEGIN + "floorflow::slr SLR1 -cells top/a", "SLR 'SLR1' matches 0 SLRs of the part"),
    "SLR before begin": (SOURCE + "floorflow::slr SLR0 -cells top/a", "slr 'SLR0' comes before floorflow::begin"),
    "SLR of no cell": (BEGIN + "floorflow::slr SLR0 -cells {}", "SLR 'SLR0' has no cells"),
    "SLR of a ghost": (BEGIN + "floorflow::slr SLR0 -cells ghost", "cell 'ghost' for SLR 'SLR0' matches 0 cells"),
    "all SLRs": (BEGIN + "floorflow::slr SLR* -cells top/a", "SLR name 'SLR*' holds a wildcard"),
    "cell in a pblock and of an SLR": (
        BEGIN + P + " -cells top/a\nfloorflow::slr SLR0 -cells top/a",
        "cell 'top/a' is in pblock 'p' and again in SLR 'SLR0'",
    ),
    "fewer cells than planned": (
        BEGIN + P + " -cells top/a\nfloorflow::end -pblocks 1 -assigned 1",
        "cells assigned to SLRs: 0, in the plan: 1; the script is not whole",
    ),
    "pblock twice": (BEGIN + (P + " -cells top/a\n") * 2, "pblock 'p' exists already"),
    "pblock of the shell": (
        BEGIN + "floorflow::pblock pblock_shell -ranges SLICE_X0Y0:SLICE_X1Y9 -cells top/a",
        "pblock 'pblock_shell' exists already and was not made by an earlier run of floorflow",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_call_stops(tmp_path: Path, text: str, message: str) -> None:
    model = new_model()
    with pytest.raises(VivadoError) as stopped:
        run_text(model, tmp_path, text)
    assert message in str(stopped.value)


def test_guard_leaves_no_half_made_pblock(tmp_path: Path) -> None:
    model = new_model()
    with pytest.raises(VivadoError):
        run_text(model, tmp_path, BEGIN + P + " -cells {top/a top/ghost}")
    assert model.pblocks == {}


def test_foreign_pblock_is_never_deleted(tmp_path: Path) -> None:
    mine = "create_pblock mine\nresize_pblock mine -add SLICE_X20Y60:SLICE_X21Y69\n"
    text = mine + "add_cells_to_pblock mine [get_cells {top/g[0].core}]\n"
    model = run_text(new_model(), tmp_path, text)
    run_text(model, tmp_path, BEGIN + P + " -cells top/a\nfloorflow::end")
    assert list(model.pblocks) == ["mine", "p"]


def test_library_passes_the_linter_and_the_formatter() -> None:
    need_module("tclint", "tclint is not installed")
    for tool in (["tclint.cli.tclint"], ["tclint.cli.tclfmt", "--check"]):
        ran = subprocess.run([sys.executable, "-m", *tool, str(LIBRARY)], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
