"""Constraint files of our own, read by the one reader of Tcl: what Tcl takes, nothing evaluated, and plainer still."""

import pytest

from floorflow.verify.rules.constraints import Refusal, _inner, _items, read_commands
from floorflow.verify.tcl.words import UnreadableError, list_items


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command] for _, command in read_commands(text)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a b; c d\n\n  e", [["a", "b"], ["c", "d"], ["e"]]),
        ("a \\\n  b {c \\\nd}", [["a", "b", "c  d"]]),
        ("a {b {c;d} [e] $f}", [["a", "b {c;d} [e] $f"]]),
        ("# a {\nb ;# c\nd # e", [["b"], ["d", "#", "e"]]),
        ("a\r\nb", [["a"], ["b"]]),
    ],
)
def test_commands_end_at_lines_and_semicolons_and_braces_keep_everything(text: str, read: list[list[str]]) -> None:
    assert words(text) == read


@pytest.mark.parametrize("text", ["a $b", 'a "$b"', 'a "[b]"', "a b[c]", "a b$c", "a [b]", "a b\\c"])
def test_substitution_is_marked(text: str) -> None:
    ((_, command),) = read_commands(text)
    assert command[1].substituted


def test_lines_are_counted() -> None:
    assert [line for line, _ in read_commands("a\n\nb \\\n c\nd")] == [1, 3, 5]


@pytest.mark.parametrize("text", ["a {b", 'a "b', "a [b", "a {b}c", "a\rb", "a\x1a", "# a\x0b", "[" * 5000])
def test_what_is_not_closed_or_not_plain_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        read_commands(text)
    assert refused.value.line == 1


def test_brackets_hold_one_command_with_one_argument() -> None:
    ((_, command),) = read_commands("a [get {b c}] b")
    assert (_inner(command[1], "get"), _inner(command[2], "get")) == ("b c", "b")


@pytest.mark.parametrize("text", ["[]", "[get b\nget c]", "[get b;get c]"])
def test_other_commands_in_brackets_are_refused(text: str) -> None:
    with pytest.raises(UnreadableError, match="one command"):
        read_commands(f"a {text}")


@pytest.mark.parametrize("text", ["[get b c]", "[got b]", "[get $b]", "x[get b]"])
def test_other_brackets_are_refused(text: str) -> None:
    ((_, command),) = read_commands(f"a {text}")
    with pytest.raises(Refusal):
        _inner(command[1], "get")


def test_lists_are_split_as_tcl_splits_them() -> None:
    assert list_items(" a {b c}\n\td ") == ["a", "b c", "d"]
    assert list_items('a;b ; [c] "d e" f{g') == ["a;b", ";", "[c]", "d e", "f{g"]


@pytest.mark.parametrize("text", ["{a", '"a', "{a}b", '"a"b', "a\\ b"])
def test_lists_that_tcl_refuses_or_rewrites_are_refused(text: str) -> None:
    with pytest.raises((UnreadableError, Refusal)):
        _items(text)
