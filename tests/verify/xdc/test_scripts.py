"""Scripts are followed as Tcl runs them: loops, choices, procedures, lists; what only Vivado knows is noted."""

import pytest

from floorflow.verify.tcl import interpreter
from floorflow.verify.xdc import LimitError
from tests.tools import need_module
from tests.verify.xdc.judging import found, judged, names

SCRIPTS = {
    "for": "for {set i 0} {$i < 3} {incr i} { create_pblock p$i }",
    "while": "set i 0\nwhile {$i < 3} { create_pblock p$i; incr i }",
    "while with ways out": (
        "set i -1\nwhile {1} { incr i; if {$i == 1} { create_pblock p1; continue }\n"
        "if {$i > 2} break\ncreate_pblock p$i }"
    ),
    "foreach over two lists": "foreach a {p p p} b {0 1 2} { create_pblock $a$b }",
    "two names at a time": "foreach {a b} {p 0 p 1 p 2} { create_pblock $a$b }",
    "names made by format": "foreach n {0 1 2} { create_pblock [format %s%d p $n] }",
    "items of a list": "set all {p0 p1 p2}\nforeach i {0 1 end} { create_pblock [lindex $all $i] }",
    "a procedure with more": "proc make {first args} { create_pblock $first\nforeach n $args { create_pblock $n } }\n"
    "make p0 p1 p2",
    "a procedure that returns": "proc name {n} { return p$n }\nforeach n {0 1 2} { create_pblock [name $n] }",
    "arrays": "array set name {a p0 b p1 c p2}\nforeach k {a b c} { create_pblock $name($k) }",
    "switch": "foreach n {0 1 2 3} { switch $n { 0 - 1 - 2 { create_pblock p$n } default { set x 1 } } }",
    "texts compared": 'foreach n {0 1 2 3} { if {$n eq "3"} { continue }\ncreate_pblock p$n }',
    "global": "set letter p\nproc make n { global letter\ncreate_pblock $letter$n }\nmake 0; make 1; make 2",
    "outermost": "set letter p\nproc make n { create_pblock $::letter$n }\nmake 0; make 1; make 2",
    "and and not": "foreach n {0 1 2 3} { if {!($n == 3) && $n >= 0} { create_pblock p$n } }",
    "pblocks that are not there": (
        "create_pblock p9\nforeach n {0 1 2} { if {[llength [get_pblocks -quiet p$n]] == 0} { create_pblock p$n } }\n"
        "if {[llength [get_pblocks -quiet p9]]} { delete_pblocks [get_pblocks p9] }"
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_three_pblocks_are_made(script: str) -> None:
    verdict = judged(SCRIPTS[script], name="a.tcl")
    assert [block.name for block in verdict.created] == ["p0", "p1", "p2"]
    assert names(verdict) == {"pblock-without-ranges", "pblock-without-cells"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_as_tcl_itself_makes_them(script: str) -> None:
    need_module("tkinter", "Tcl is asked by Python's tkinter")
    import tkinter

    real = tkinter.Tcl()
    made: list[str] = []
    real.createcommand("create_pblock", made.append)
    real.createcommand("delete_pblocks", lambda *names: [made.remove(name) for name in names])
    real.createcommand("get_pblocks", lambda _quiet, *names: " ".join(n for n in names or (_quiet,) if n in made))
    real.eval(SCRIPTS[script])
    assert made == ["p0", "p1", "p2"]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("source other.tcl", "other.tcl, which is read here: give it as well, in this place"),
        ("read_xdc -unmanaged floor.xdc", "floor.xdc, which is read here: give it as well, in this place"),
        ("while {[llength [get_cells x]]} { create_pblock p }", "while with a condition that only Vivado knows"),
        ("foreach c [get_cells x] { create_pblock p }", "a foreach over what only Vivado knows"),
        ("switch [get_property PART [current_project]] { a { create_pblock p } }", "a switch on what only Vivado"),
    ],
)
def test_what_is_not_followed_is_named(script: str, told: str) -> None:
    verdict = judged(script, name="a.tcl")
    assert found(verdict) == {("note", "not-evaluated", 1)}
    assert verdict.ordered[0].found.startswith(told)
    assert not verdict.created


@pytest.mark.parametrize("script", ["while {1} {}", "proc f {} { f }\nf", "proc f {} {while 1 {set x 1}}\nf"])
def test_scripts_that_never_end_do_here(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "MAX_STEPS", 1000)
    with pytest.raises(LimitError, match=r"than the limit of (1,000|60)"):
        judged(script + "\ncreate_pblock p\n", name="a.tcl")
