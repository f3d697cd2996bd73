"""The reader of Tcl's words takes what Tcl takes and evaluates nothing."""

from __future__ import annotations

import pytest

from floorflow.verify.files.tcl import TclProblem, list_items, parse_commands


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in parse_commands(text)]


def test_commands_end_at_lines_and_semicolons() -> None:
    assert words("a b; c d\n\n  e") == [["a", "b"], ["c", "d"], ["e"]]


def test_lines_are_continued_between_words_and_inside_braces() -> None:
    assert words("a \\\n  b {c \\\nd}") == [["a", "b", "c  d"]]


def test_braces_nest_and_keep_everything() -> None:
    assert words("a {b {c;d} [e] $f}") == [["a", "b {c;d} [e] $f"]]


def test_comments_run_to_the_end_of_the_line() -> None:
    assert words("# a {\nb ;# c\nd # e") == [["b"], ["d", "#", "e"]]


def test_brackets_hold_one_command() -> None:
    (command,) = parse_commands("a [get b] c")
    assert command.words[1].nested is not None
    assert [word.text for word in command.words[1].nested.words] == ["get", "b"]


@pytest.mark.parametrize("text", ["a $b", 'a "$b"', 'a "[b]"', "a b[c]", "a b$c"])
def test_substitution_is_marked(text: str) -> None:
    assert any(word.dynamic for word in parse_commands(text)[0].words)


def test_lines_are_counted() -> None:
    assert [command.line for command in parse_commands("a\n\nb \\\n c\nd")] == [1, 3, 5]


@pytest.mark.parametrize(
    "text",
    ["a {b", 'a "b', "a [b", "a {b}c", "a []", "a [b\nc]", "a [b;c]", "a [b;]", "a\rb", "a\x1a", "# a\x0b", "[" * 5000],
)
def test_what_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(TclProblem, match="line 1"):
        parse_commands(text)


def test_lists_are_split_as_tcl_splits_them() -> None:
    assert list_items(" a {b c}\n\td ") == ["a", "b c", "d"]
    assert list_items('a;b ; [c] "d e" f{g') == ["a;b", ";", "[c]", "d e", "f{g"]


@pytest.mark.parametrize("text", ["{a", '"a', "{a}b", '"a"b', "a\\ b"])
def test_lists_that_tcl_refuses_or_rewrites_are_refused(text: str) -> None:
    with pytest.raises(TclProblem, match=r"in a list|a list holds"):
        list_items(text)
