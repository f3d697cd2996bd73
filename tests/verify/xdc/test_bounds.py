"""Whatever a file holds, reading it ends, soon, in little memory, with a verdict or a sentence that says the limit."""

import os
import random
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import floorflow as ff
from floorflow import reading
from floorflow.api import InputError
from floorflow.verify.tcl import interpreter, words
from floorflow.verify.tcl.values import Cells, is_followed
from floorflow.verify.tcl.words import LimitError, UnreadableError
from tests.tools import at_most
from tests.verify.dies import SEEDS
from tests.verify.xdc.judging import found, judged

FAR = 5_000
HOSTILE: dict[str, str] = {
    "brackets in brackets": "set a " + "[" * FAR,
    "braces in braces": "set a " + "{" * FAR,
    "brackets and quotes": 'set a "' + '["' * FAR,
    "commands in commands": "set x {eval $x}\neval $x",
    "a procedure in itself": "proc f {a} { if {1} { f [list $a $a] } }\nf a",
    "procedures that call two": "".join(f"proc f{n + 1} {{}} {{ f{n}; f{n} }}\n" for n in range(40)) + "f40",
    "a value doubled": "set l abc\n" + "set l $l$l\n" * 60,
    "a list doubled": "set l {a b}\n" + "set l [concat $l $l]\n" * 60,
    "a list appended to itself": "set l ab\n" + "append l $l\n" * 60,
    "cells doubled": "set l [get_cells {a b}]\n" + "set l [concat $l $l]\n" * 60,
    "formats": "set b [format " + "%999d" * FAR + " 1" * FAR + "]",
    "long separators": f"set a [split {'x' * 9000} {{}}]\nset b [join $a {'y' * 9000}]",
    "loops in loops": "set l {" + "1 " * 99 + "}\n" + "foreach a $l {" * 6 + "}" * 6,
    "a loop without end": "while 1 {}",
    "many words": "create_pblock " + "a " * 25_000,
    "a long name": "create_pblock " + "a" * FAR,
    "a deep cell": "create_pblock p\nset_property USER_SLL_REG TRUE [get_cells {" + "a/" * FAR + "b}]",
    "instances in instances": "current_instance abc\n" * FAR,
    "parents of parents": "".join(
        f"create_pblock p{n}\nset_property PARENT p{n + 1} [get_pblocks p{n}]\n" for n in range(FAR)
    ),
    "whole dies": "".join(f"create_pblock p{n}\nresize_pblock p{n} -add {{SLR0:SLR3}}\n" for n in range(FAR)),
}
"""Texts that are refused, each for a limit that the message says."""
HARMLESS: dict[str, str] = {
    "continued": "set a " + "\\\n" * FAR * 10 + "b",
    "comments": "#" + "x\\\n" * FAR * 10,
    "semicolons": ";" * FAR * 100,
    "dollars": 'set a b\nset c "' + "$a(" * FAR * 3 + '"',
    "huge powers": "set a [expr 2**2**40]\nset a [expr {9**9**9}]\nset b [expr " + "9" * 5000 + "*2]",
    "parentheses": "set a [expr " + "(" * 150 + "1" + ")" * 150 + "]",
    "blanks to compare": "set a [expr {" + " " * FAR + "}]",
    "widths": "set a [format %1000000000d 1]",
    "branches": "if 0 {} " + "elseif 0 {} " * FAR,
    "a range beyond": "create_pblock p\nresize_pblock p -add SLICE_X0Y0:SLICE_X999999999Y999999999",
    "unknown commands": "".join(f"set_propertx{n}\n" for n in range(FAR)),
    "patterns that grow with a power": (
        f"create_pblock p\nadd_cells_to_pblock p {'a' * 3000}\n"
        "set_property HD.RECONFIGURABLE 1 [get_cells -hier -regexp {(a+)+$}]\n"
        "set_property HD.RECONFIGURABLE 1 [get_cells -hier -regexp {a?a?a?a?a?a?a?a?a?a*a*a*a*a*a*a*a*b}]\n"
        "set_property HD.RECONFIGURABLE 1 [get_cells -hier -filter {NAME =~ *a*a*a*a*a*a*a*a*a*a*b}]\n"
    ),
    "blanks that are none to Tcl": "create_pblock \u2003a\u00a0b\u3000\n\u00a0\n\x1c\n",
}
"""Texts that end with a verdict."""


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_asks_for_too_much_is_refused_in_time(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MAX_WORK", 3_000_000)
    monkeypatch.setattr(words, "MAX_WORDS", 20_000)
    monkeypatch.setattr(interpreter, "MAX_STEPS", 20_000)
    with at_most(5), pytest.raises(LimitError, match=r"limit of [0-9]"):
        judged(text, name="a.tcl")


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
@pytest.mark.parametrize("name", ["a.tcl", "a.xdc"])
def test_what_looks_harmful_has_a_verdict_in_time(text: str, name: str) -> None:
    with at_most(5):
        judged(text, name=name)


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85", "\x9b", "\ufeff", "\x7f"])
@pytest.mark.parametrize(
    "form", ["create_pblock a{}b\n", "create_pblock {{a{}b}}\n", "set_property A {} [get_cells x]\n"]
)
def test_characters_that_end_a_line_elsewhere_are_errors(char: str, form: str) -> None:
    assert ("error", "command-malformed", 1) in found(judged(form.format(char)))
    assert not judged(f"# a comment {char}\n").ordered


def test_lines_may_end_in_carriage_returns_alone() -> None:
    (block,) = judged("create_pblock p\rresize_pblock p -add SLR0\r# a\radd_cells_to_pblock p a\r").created
    assert (block.shape_place.line, [cell.text for cell in block.held]) == (2, ["a"])


def test_pblocks_may_nest_as_deep_as_the_limit() -> None:
    chain = [f"create_pblock p{n}\nset_property PARENT p{n - 1} [get_pblocks p{n}]\n" for n in range(1, 101)]
    judged("create_pblock p0\n" + "".join(chain))
    with pytest.raises(LimitError, match="by PARENT than the limit of 100"):
        judged("create_pblock p0\n" + "".join(chain) + chain[0].replace("1", "101").replace("p0", "p100"))


def pipe(path: Path) -> None:
    os.mkfifo(path)


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (pipe, "a named pipe, expected a file"),
    "a folder": (Path.mkdir, "a folder, expected a file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "a device, expected a file"),
    "itself": (lambda path: path.symlink_to(path), "symbolic links"),
    "too large": (lambda path: path.write_bytes(b"#" * 2000), "larger than 1,000 bytes"),
    "in UTF-16": (lambda path: path.write_text("create_pblock p", "utf-16"), "binary"),
    "nothing": (lambda path: None, "there is no such file"),
}


@pytest.mark.parametrize("kind", FILES)
def test_only_plain_files_are_read(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, told = FILES[kind]
    monkeypatch.setattr(reading, "MOST_BYTES", {**reading.MOST_BYTES, "floorplan": 1000})
    path = tmp_path / "a.xdc"
    make(path)
    with pytest.raises(InputError, match=told):
        ff.check_floorplan(path, part="xcu250")


@pytest.mark.parametrize("pattern", ["(.*/)?k_[0-9]+", ".*a.*b.*", "^top/x.y$", r"a\[\d+\]", "a?b+c*", "[^/]*/k", ""])
def test_patterns_take_what_they_take_in_python(pattern: str) -> None:
    chance = random.Random(0)
    texts = ["".join(chance.choice("ab/k_0x") for _ in range(chance.randrange(9))) for _ in range(300)]
    texts += ["top/k_12", "k_1", "top/x.y", "a[12]", "a" * 400 + "b", "aa/k", "top/a/b/k_7" * 40]
    assert is_followed(pattern)
    for text in texts:
        assert Cells(pattern, "regexp").taking()(text) == bool(re.fullmatch(pattern, text, re.DOTALL))


PIECES = (
    *("create_pblock", "resize_pblock", "add_cells_to_pblock", "remove_cells_from_pblock", "delete_pblocks", "set"),
    *("set_property", "foreach i {1 2 3}", "for {set i 0} {$i < 9} {incr i}", "while 1", "if", "proc f a", "eval", "f"),
    *("p", "q", "$x", "$i", "[get_pblocks *]", "[get_cells {a b}]", "[expr $x*$x]", "[concat $x $x]", "{*}$x", "-add"),
    *(
        "{SLICE_X0Y0:SLICE_X9Y9}",
        "SLR1",
        "FOO_X0Y0",
        "PARENT",
        "IS_SOFT",
        "TRUE",
        "\\",
        '"',
        "{",
        "}",
        "[",
        "]",
        "$",
        "#",
    ),
    *("\n", "\n", ";", " ", "\u2028", "\x85", "pblock_dynamic_SLR7", "level0_i/ulp/k", "%999d", "{}", "-1", "9" * 400),
)


def fragment(chance: random.Random, depth: int = 0) -> str:
    """Return words in any order, some of them whole scripts in braces, brackets or quotes."""
    parts = []
    for _ in range(chance.choice([2, 5, 20])):
        within = fragment(chance, depth + 1) if depth < 4 and chance.random() < 0.15 else chance.choice(PIECES)
        parts.append(chance.choice(["{%s}", "[%s]", "%s", "%s", '"%s"']) % within)
        parts.append(chance.choice([" ", " ", " ", "\n"]))
    return "".join(parts)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_words_have_a_verdict_or_a_sentence(seed: int) -> None:
    chance = random.Random(seed)
    with at_most(5), suppress(UnreadableError):
        verdict = judged("set x p\n" + fragment(chance), name=chance.choice(["a.tcl", "a.xdc"]))
        assert verdict.findings.counts.total() >= len(verdict.ordered)
