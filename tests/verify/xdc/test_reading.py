"""What people and Vivado write is read as Tcl reads it; what cannot be known without Vivado is noted."""

import pytest

from floorflow.verify.tcl.words import commands, list_items
from floorflow.verify.xdc import UnreadableError
from tests.tools import need_module
from tests.verify.xdc.judging import found, judged, names

P = "create_pblock p\nadd_cells_to_pblock p top/p\n"
AREA = "CLOCKREGION_X1Y12:CLOCKREGION_X1Y13"

R = f"resize_pblock p -add {AREA}\n"


def lines(*texts: str) -> str:
    return "\n".join(texts) + "\n"


SAME = {
    "continued lines": lines(
        "create_pblock \\",
        "  p",
        "resize_pblock p \\",
        "  -add { \\",
        f"  {AREA} \\",
        "}",
        "add_cells_to_pblock p top/p",
    ),
    "comments and blanks": lines("# a pblock \\", " of two lines", "", f"  {P};# behind it", R),
    "carriage returns": (P + R).replace("\n", "\r\n"),
    "variables": lines(
        f"set name p; set area {{{AREA}}}",
        "create_pblock $name",
        "add_cells_to_pblock ${name} top/p",
        "resize_pblock $name -add $area",
    ),
    "the pblock that create returns": lines("set b [create_pblock p]", "add_cells_to_pblock $b top/p", R),
    "arithmetic": lines(P, "set y [expr 6 * 2]", "resize_pblock p -add CLOCKREGION_X1Y$y:CLOCKREGION_X1Y[expr $y + 1]"),
    "one at a time": lines(P, "resize_pblock p -add CLOCKREGION_X1Y12", "resize_pblock p -add {CLOCKREGION_X1Y13}"),
    "added and removed": lines(
        P, "resize_pblock p -add {CLOCKREGION_X1Y12:CLOCKREGION_X1Y14}", "resize_pblock p -remove CLOCKREGION_X1Y14"
    ),
    "properties in a dictionary": lines(P + R, "set_property -dict {IS_SOFT TRUE SNAPPING_MODE OFF} [get_pblocks p]"),
    "other constraints": lines(
        "create_clock -period 4 [get_ports clk]", "set_property LOC SLICE_X0Y0 [get_cells a]", P + R
    ),
    "as write_xdc writes": lines(
        "create_pblock p",
        "add_cells_to_pblock [get_pblocks p] [get_cells -quiet [list top/p]]",
        f"resize_pblock [get_pblocks p] -add {{{AREA}}}",
    ),
}
BODY = "create_pblock $b; add_cells_to_pblock $b top/$b; resize_pblock $b -add $area"
SCRIPTS = {
    "a loop": lines(f"foreach {{b area}} {{p {AREA}}} {{", BODY, "}"),
    "a procedure": lines("proc make {b area} {", BODY, "}", f"make p {AREA}"),
    "a condition that is known": lines("set big 1", "if {$big > 0} {", P + R, "} else {", "create_pblock q", "}"),
    "a list that grows": lines("lappend all top/p", "create_pblock p", R, "add_cells_to_pblock p $all"),
}


def pblocks(text: str, name: str = "a.xdc") -> dict[str, tuple[int, list[str]]]:
    """Return how many sites each pblock has, and its cells."""
    made = judged(text, name=name).created
    return {b.name: (sum(m.bit_count() for m in b.sites.values()), [c.text for c, _ in b.cells]) for b in made}


@pytest.mark.parametrize("way", SAME)
def test_ways_to_write_one_floorplan(way: str) -> None:
    assert pblocks(SAME[way]) == pblocks(P + R)
    assert not judged(SAME[way]).ordered


@pytest.mark.parametrize("way", SCRIPTS)
def test_scripts_may_hold_control_flow(way: str) -> None:
    assert pblocks(SCRIPTS[way], "a.tcl") == pblocks(P + R)
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
    text = P + R + "add_cells_to_pblock p [get_cells -of_objects [get_nets n]]\n"
    assert found(judged(text)) == {("note", "not-evaluated", 4)}


def test_a_pblock_of_a_later_file_is_known_to_the_first_as_early() -> None:
    assert names(judged("set_property IS_SOFT FALSE [get_pblocks p]\n" + P + "resize_pblock p -add SLR3\n")) == {
        "used-before-created"
    }


@pytest.mark.parametrize(
    "text", ["create_pblock {p\n", 'create_pblock "p\n', "create_pblock [list p\n", "create_pblock {p}q\n"]
)
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
    lines = [
        'note a {b c} "d e"',
        "note {a {b} c} d",
        "note a\\\n  b",
        "note a;note b",
        "note {x\\\n   y} z{q}",
        "note a}b",
        'note {} ""',
    ]
    for line in lines:
        tcl.eval("set noted {}")
        tcl.eval(line)
        told = [list(map(str, tcl.splitlist(one))) for one in tcl.splitlist(tcl.eval("set noted"))]
        assert [[word.text for word in words[1:]] for _, words in commands(line)] == told
    for text in ["a {b c} d", '{a {b} c} "d e"', " a\n b ", "a\\ b c"]:
        assert list_items(text) == list(map(str, tcl.splitlist(text)))
