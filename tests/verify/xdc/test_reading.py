"""What people and Vivado write is read as Tcl reads it; what cannot be known without Vivado is noted."""

from __future__ import annotations

import pytest

from floorflow.verify.xdc import UnreadableError
from floorflow.verify.xdc.words import commands, list_items
from tests.tools import need_module
from tests.verify.xdc.judging import found, judged, names

P = "create_pblock p\nadd_cells_to_pblock p top/p\n"
AREA = "CLOCKREGION_X1Y12:CLOCKREGION_X1Y13"

SAME = {
    "continued lines": f"create_pblock \\\n  p\nresize_pblock p \\\n  -add {{ \\\n  {AREA} \\\n}}\nadd_cells_to_pblock p top/p\n",
    "comments and blanks": f"# a pblock \\\n of two lines\n\n  {P};# behind it\nresize_pblock p -add {AREA}\n",
    "carriage returns": (P + f"resize_pblock p -add {AREA}\n").replace("\n", "\r\n"),
    "variables": f"set name p\nset area {{{AREA}}}\ncreate_pblock $name\nadd_cells_to_pblock ${{name}} top/p\nresize_pblock $name -add $area\n",
    "the pblock that create returns": f"set b [create_pblock p]\nadd_cells_to_pblock $b top/p\nresize_pblock $b -add {AREA}\n",
    "arithmetic": P + "set y [expr 6 * 2]\nresize_pblock p -add CLOCKREGION_X1Y$y:CLOCKREGION_X1Y[expr $y + 1]\n",
    "one at a time": P + "resize_pblock p -add CLOCKREGION_X1Y12\nresize_pblock p -add {CLOCKREGION_X1Y13}\n",
    "added and removed": P + "resize_pblock p -add {CLOCKREGION_X1Y12:CLOCKREGION_X1Y14}\nresize_pblock p -remove CLOCKREGION_X1Y14\n",
    "properties in a dictionary": P + f"resize_pblock p -add {AREA}\nset_property -dict {{IS_SOFT TRUE SNAPPING_MODE OFF}} [get_pblocks p]\n",
    "other constraints": f"create_clock -period 4 [get_ports clk]\nset_property LOC SLICE_X0Y0 [get_cells a]\n{P}resize_pblock p -add {AREA}\n",
    "as write_xdc writes": (
        "create_pblock p\nadd_cells_to_pblock [get_pblocks p] [get_cells -quiet [list top/p]]\n"
        f"resize_pblock [get_pblocks p] -add {{{AREA}}}\n"
    ),
}
SCRIPTS = {
    "a loop": f"foreach {{b area}} {{p {AREA}}} {{\n create_pblock $b\n add_cells_to_pblock $b top/$b\n resize_pblock $b -add $area\n}}\n",
    "a procedure": f"proc make {{b area}} {{\n create_pblock $b\n add_cells_to_pblock $b top/p\n resize_pblock $b -add $area\n}}\nmake p {AREA}\n",
    "a condition that is known": f"set big 1\nif {{$big > 0}} {{\n{P}resize_pblock p -add {AREA}\n}} else {{\ncreate_pblock q\n}}\n",
    "a list that grows": f"lappend all top/p\n create_pblock p; resize_pblock p -add {AREA}\nadd_cells_to_pblock p $all\n",
}


def pblocks(text: str, name: str = "a.xdc") -> dict[str, tuple[int, list[str]]]:
    """Return how many sites each pblock has, and its cells."""
    made = judged(text, name=name).created
    return {b.name: (sum(m.bit_count() for m in b.sites.values()), [c.text for c, _ in b.cells]) for b in made}


@pytest.mark.parametrize("way", SAME)
def test_ways_to_write_one_floorplan(way: str) -> None:
    assert pblocks(SAME[way]) == pblocks(P + f"resize_pblock p -add {AREA}\n")
    assert not judged(SAME[way]).ordered


@pytest.mark.parametrize("way", SCRIPTS)
def test_scripts_may_hold_control_flow(way: str) -> None:
    assert pblocks(SCRIPTS[way], "a.tcl") == pblocks(P + f"resize_pblock p -add {AREA}\n")
    assert not judged(SCRIPTS[way], name="a.tcl").ordered
    assert not judged(SCRIPTS[way]).is_legal, "an XDC file may not"


def test_cells_by_patterns_and_below_an_instance() -> None:
    text = (
        "create_pblock p\nresize_pblock p -add CLOCKREGION_X1Y12\ncurrent_instance top/sub\n"
        "add_cells_to_pblock [get_pblocks p] [get_cells {a b[0].c \\d[1].e }]\ncurrent_instance -quiet\n"
        "add_cells_to_pblock p [get_cells -hier -filter {NAME =~ */x/* || NAME == top/y}] -clear_locs\n"
    )
    cells = [(c.text, c.how) for c, _ in judged(text).created[0].cells]
    assert cells[:2] == [("top/sub/a", "name"), ("top/sub/b[0].c", "name")]
    assert cells[-2:] == [("*/x/*", "filter"), ("top/y", "name")]


def test_bus_indices_in_names_are_no_commands() -> None:
    assert pblocks(P + "add_cells_to_pblock p [get_cells top/g[0].u[3]]\n")["p"][1] == ["top/p", "top/g[0].u[3]"]


def test_what_only_vivado_knows_is_noted() -> None:
    text = P + f"resize_pblock p -add {AREA}\nadd_cells_to_pblock p [get_cells -of_objects [get_nets n]]\n"
    assert found(judged(text)) == {("note", "not-evaluated", 4)}


def test_a_pblock_of_a_later_file_is_known_to_the_first_as_early() -> None:
    assert names(judged("set_property IS_SOFT FALSE [get_pblocks p]\n" + P + "resize_pblock p -add SLR3\n")) == {"used-before-created"}


@pytest.mark.parametrize("text", ["create_pblock {p\n", 'create_pblock "p\n', "create_pblock [list p\n", "create_pblock {p}q\n"])
def test_what_is_no_tcl_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        judged("\n\n" + text)
    assert (caught.value.file, caught.value.line) == ("a.xdc", 3)


def test_words_are_those_of_tcl() -> None:
    """Lines without substitution, split by Tcl itself."""
    need_module("tkinter", "Tcl is asked by Python's tkinter")
    import tkinter

    tcl = tkinter.Tcl()
    tcl.eval("proc note args { lappend ::noted $args }; set noted {}")
    lines = ["note a {b c} \"d e\"", "note {a {b} c} d", "note a\\\n  b", "note a;note b", "note {x\\\n   y} z{q}", "note a}b", "note {} \"\""]
    for line in lines:
        tcl.eval("set noted {}")
        tcl.eval(line)
        told = [list(map(str, tcl.splitlist(one))) for one in tcl.splitlist(tcl.eval("set noted"))]
        assert [[word.text for word in words[1:]] for _, words in commands(line)] == told
    for text in ["a {b c} d", "{a {b} c} \"d e\"", " a\n b ", "a\\ b c"]:
        assert list_items(text) == list(map(str, tcl.splitlist(text)))
