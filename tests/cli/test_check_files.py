"""``floorflow check FILE.xdc --part PART``: exit codes, what is printed, reports and pictures."""

import json
from pathlib import Path

import pytest

from tests.command_line import floorflow
from tests.verify.xdc.judging import FLOORPLANS

GOOD, BAD = FLOORPLANS / "ku5p_dfx.xdc", FLOORPLANS / "zu7ev_order.xdc"
TABLE = """\
| Tool Version : Vivado v.2022.2
| Design       : top
| Design State : Routed

1. Utilization by Hierarchy
---------------------------

+------------+--------+------------+------------+---------+------+-------+--------+--------+------+------------+
|  Instance  | Module | Total LUTs | Logic LUTs | LUTRAMs | SRLs |  FFs  | RAMB36 | RAMB18 | URAM | DSP Blocks |
+------------+--------+------------+------------+---------+------+-------+--------+--------+------+------------+
| top        |  (top) |      30000 |      30000 |       0 |    0 | 30000 |      0 |      0 |    0 |          0 |
|   (top)    |  (top) |        100 |        100 |       0 |    0 |   100 |      0 |      0 |    0 |          0 |
|   inst_RP  |     rp |      20000 |      20000 |       0 |    0 | 20000 |     10 |      3 |    0 |          7 |
+------------+--------+------------+------------+---------+------+-------+--------+--------+------+------------+
"""
HEADINGS = ("Instance", "Module", "Total LUTs", "FFs", "RAMB36", "RAMB18", "URAM", "DSP Blocks")
ROWS = (("top", "(top)", 30000, 30000, 0, 0, 0, 0), ("  inst_RP", "rp", 20000, 20000, 10, 3, 0, 7))


def xml() -> str:
    cells = [f'<tableheader contents="{text}"/>' for text in HEADINGS]
    rows = ["".join(f'<tablecell contents="{text}"/>' for text in row) for row in ROWS]
    lines = "".join(f"<tablerow>{row}</tablerow>" for row in ["".join(cells), *rows])
    return f'<?xml version="1.0"?><RptDoc designstate="Routed"><table>{lines}</table></RptDoc>'


def test_a_floorplan_without_errors_exits_0_and_says_so() -> None:
    done = floorflow("check", GOOD, "--part", "xcku5p")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"0 errors, 0 warnings, 0 notes; xcku5p, no shell\n{GOOD}: legal\n")


def test_errors_exit_1_and_each_is_told_with_file_line_and_what_to_do() -> None:
    done = floorflow("check", BAD, "--part", "xczu7ev-ffvc1156-2-e")
    assert done.returncode == 1
    assert f"{BAD}:6: error: control-flow: command foreach\n    expected: " in done.stdout
    assert done.stdout.endswith(f"{BAD}: violations\n")


def test_json_holds_findings_and_what_pblocks_hold() -> None:
    done = floorflow("check", BAD, "--part", "xczu7ev", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["verdict"], told["device"]) == (1, "violations", "xczu7ev")
    assert {"name", "severity", "file", "line", "pblock", "found", "expected", "todo"} == set(told["findings"][0])
    assert [row["name"] for row in told["pblocks"]] == ["pblock_a", "pblock_b"]


@pytest.mark.parametrize(("name", "text"), [("use.rpt", TABLE), ("use.xml", xml())])
def test_a_report_tells_how_full_pblocks_are(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    done = floorflow("check", GOOD, "--part", "xcku5p", "--report", tmp_path / name)
    assert done.returncode == 1
    assert "error: pblock-overfull: pblock_inst_RP: 20,000 LUT of 18,240 (110%)" in done.stdout
    assert "pblock_inst_RP: LUT 20,000 of 18,240, FF 20,000 of 36,480, BRAM18 23 of 96, DSP 7 of 144\n" in done.stdout


def test_several_files_are_read_in_order(tmp_path: Path) -> None:
    one, two = tmp_path / "one.xdc", tmp_path / "two.tcl"
    one.write_text("create_pblock p\nresize_pblock p -add SLR0\n")
    two.write_text("foreach c {a b} { add_cells_to_pblock p $c }\n")
    assert floorflow("check", one, two, "--part", "xcku5p").returncode == 0
    done = floorflow("check", two, one, "--part", "xcku5p")
    assert (done.returncode, "two.tcl:1: error: used-before-created" in done.stdout) == (1, True)


def test_a_board_is_judged_by_its_own_shell(tmp_path: Path) -> None:
    file = tmp_path / "a.xdc"
    file.write_text("create_pblock p\nresize_pblock p -add CLOCKREGION_X5Y5\nadd_cells_to_pblock p kernel\n")
    assert floorflow("check", file, "--part", "xcu250").returncode == 0
    done = floorflow("check", file, "--board", "u250")
    assert (done.returncode, "shell-touched" in done.stdout) == (1, True)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_picture_is_written(ending: str, tmp_path: Path) -> None:
    picture = tmp_path / f"floorplan.{ending}"
    picture.write_text("mine")
    drawn = ("check", BAD, "--part", "xczu7ev", "--picture", picture)
    assert (floorflow(*drawn).returncode, picture.read_text()) == (2, "mine")
    assert floorflow(*drawn, "--force").returncode == 1
    assert picture.read_bytes().startswith({"png": b"\x89PNG", "svg": b"<svg "}[ending])


UNREADABLE = {
    "no part": ((GOOD,), "no part is given"),
    "an unknown part": ((GOOD, "--part", "xcku5q"), "did you mean"),
    "a board for a part": ((GOOD, "--part", "alveo-u250"), "it is a board: say --board alveo-u250"),
    "an unknown board": ((GOOD, "--board", "u251"), "no such board"),
    "another part than the board's": ((GOOD, "--board", "u250", "--part", "xcku5p"), "is not the part of"),
    "a missing file": (("nothing.xdc", "--part", "xcku5p"), "there is no such file"),
    "a missing report": ((GOOD, "--part", "xcku5p", "--report", "none.rpt"), "report_utilization -hierarchical"),
    "no report": ((GOOD, "--part", "xcku5p", "--report", GOOD), "is no report"),
    "a picture of another kind": ((GOOD, "--part", "xcku5p", "--picture", "a.gif"), ".png, .svg, .pdf"),
    "a build of a file": ((GOOD, "--part", "xcku5p", "--build", "b"), "--build is for"),
    "a report of a plan": ((FLOORPLANS, "--report", GOOD), "--report is for"),
    "two folders": ((FLOORPLANS, FLOORPLANS), "several folders"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_judged_exits_2(what: str) -> None:
    words, message = UNREADABLE[what]
    done = floorflow("check", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_file_that_is_no_tcl_exits_2_and_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "a.xdc"
    file.write_text("create_pblock p\nresize_pblock p -add {SLR0\n")
    done = floorflow("check", file, "--part", "xcku5p")
    assert (done.returncode, "a.xdc:2: a brace is not closed" in done.stderr) == (2, True)


VERDICTS = {
    "legal": ("create_pblock p\nresize_pblock p -add SLR0\nadd_cells_to_pblock p k\n", 0, "legal"),
    "incomplete": ("create_pblock p\nsource more.tcl\n", 0, "no error in what was judged"),
    "violations": ("create_pblock a\u2028b\n", 1, "violations"),
    "nothing judged": ("create_clock -period 4 [get_ports c]\n", 1, "no pblock was read, so that nothing was judged"),
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_only_what_was_judged_as_a_whole_is_called_legal(verdict: str, tmp_path: Path) -> None:
    text, code, told = VERDICTS[verdict]
    file = tmp_path / "a.tcl"
    file.write_text(text, encoding="utf-8")
    done = floorflow("check", file, "--part", "xcu280")
    assert (done.returncode, done.stderr) == (code, "")
    assert f"{file}: {told}" in done.stdout.splitlines()[-1]
    assert json.loads(floorflow("check", file, "--part", "xcu280", "--json").stdout)["verdict"] == verdict


def test_a_limit_exits_2_with_file_line_and_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.xdc"
    file.write_text("set l abc\n" + "set l $l$l\n" * 60)
    done = floorflow("check", file, "--part", "xcu280")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{file}:22: a value is longer than the limit of 4,000,000 characters" in done.stderr
