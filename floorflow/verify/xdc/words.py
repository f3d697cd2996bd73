"""Tcl's words in one pass of regular expressions: commands, braces, quotes, brackets, comments, continued lines.

Apart from `floorflow.verify.files.tcl`, which refuses all that floorflow does not emit: this one reads what people and
Vivado write, a hundred thousand commands in seconds. Nothing is evaluated here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 60
"""How deep braces and brackets may nest."""

_BLANKS = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)*")
_BETWEEN = re.compile(r"(?:[\s;]|\\\r?\n)*")
_COMMENT = re.compile(r"#(?:[^\\\n]|\\.|\\\n)*", re.DOTALL)
_PLAIN_BRACES = re.compile(r"\{[^{}\\]*\}")
_PLAIN_QUOTES = re.compile(r'"[^"\\\[]*"')
_PLAIN_BRACKETS = re.compile(r'\[[^\[\]{}"\\\n]*\]')
_BARE = re.compile(r'[^\s;\[\]{}"\\$]+')
_IN_BRACES = re.compile(r"[{}]|\\.", re.DOTALL)
_CONTINUED = re.compile(r"\\\r?\n[ \t]*")
_AFTER_WORD = re.compile(r"[\s;]|\\\r?\n|\Z")


class UnreadableError(ValueError):
    """A text is no sequence of Tcl commands; holds the line, and the file once it is known."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.file = ""


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its text, and whether Tcl would substitute in it."""

    text: str
    substituted: bool


Words = list[Word]


def commands(text: str, line: int = 1) -> Iterator[tuple[int, Words]]:
    """Yield the line and the words of each command.

    Raises
    ------
    UnreadableError
        If a brace, quote or bracket is not closed, or something follows a closing brace or quote.

    """
    at, counted = 0, 0
    while True:
        at = _skipped(text, at)
        if at >= len(text):
            return
        line += text.count("\n", counted, at)
        counted = at
        words, at = _words(text, at, line)
        yield line, words


def _skipped(text: str, at: int) -> int:
    """Return where the next command begins."""
    while True:
        at = _end(_BETWEEN, text, at)
        if text[at : at + 1] != "#":
            return at
        at = _end(_COMMENT, text, at)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _words(text: str, at: int, line: int) -> tuple[Words, int]:
    words: Words = []
    begin = at
    while True:
        at = _end(_BLANKS, text, at)
        if at >= len(text) or text[at] in "\n;":
            return words, at
        start = text[at]
        if start == "{":
            end = _braced(text, at, line + text.count("\n", begin, at))
            inside = text[at + 1 : end - 1]
            expands = inside == "*" and not _AFTER_WORD.match(text, end)  # {*}list
            if expands:
                word, at = _word(text, end, line + text.count("\n", begin, at))
                words.append(Word("{*}" + word.text, substituted=True))
                continue
            words.append(Word(_CONTINUED.sub(" ", inside) if "\\" in inside else inside, substituted=False))
        elif start == '"':
            end = _quoted(text, at, line + text.count("\n", begin, at))
            inside = text[at + 1 : end - 1]
            words.append(Word(inside, any(char in inside for char in "$[\\")))
        else:
            word, at = _word(text, at, line + text.count("\n", begin, at))
            words.append(word)
            continue
        if not _AFTER_WORD.match(text, end):
            raise UnreadableError(line + text.count("\n", begin, end), f"text follows a closing {start}")
        at = end


def _word(text: str, at: int, line: int) -> tuple[Word, int]:
    """Read a word without quotes or braces around it."""
    begin, substituted = at, False
    while at < len(text):
        char = text[at]
        if char in " \t\n;\r\f\v":
            break
        if char == "[":
            at, substituted = bracketed(text, at, line), True
        elif char == "\\":
            if text[at + 1 : at + 2] == "\n" or text[at + 1 : at + 3] == "\r\n":
                break
            at, substituted = at + 2, True
        elif char == "$":
            at, substituted = _variable(text, at), True
        elif char in '{}"]':
            at += 1
        else:
            at = _end(_BARE, text, at)
    return Word(text[begin:at], substituted), at


def _variable(text: str, at: int) -> int:
    if text[at + 1 : at + 2] == "{":
        end = text.find("}", at)
        return len(text) if end < 0 else end + 1
    return at + 1


def _braced(text: str, at: int, line: int) -> int:
    """Return the place behind the closing brace."""
    match = _PLAIN_BRACES.match(text, at)
    if match:
        return match.end()
    depth = 0
    for sign in _IN_BRACES.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(sign.group(), 0)
        if depth > MAX_DEPTH:
            raise UnreadableError(line, f"braces nest deeper than {MAX_DEPTH}")
        if depth == 0:
            return sign.end()
    raise UnreadableError(line, "a brace is not closed")


def _quoted(text: str, at: int, line: int) -> int:
    match = _PLAIN_QUOTES.match(text, at)
    if match:
        return match.end()
    begin, at = at, at + 1
    while at < len(text):
        if text[at] == '"':
            return at + 1
        if text[at] == "[":
            at = bracketed(text, at, line + text.count("\n", begin, at))
        else:
            at += 2 if text[at] == "\\" else 1
    raise UnreadableError(line, "a quote is not closed")


def bracketed(text: str, at: int, line: int, depth: int = 0) -> int:
    """Return the place behind the closing bracket of a command in brackets."""
    match = _PLAIN_BRACKETS.match(text, at)
    if match:
        return match.end()
    if depth > MAX_DEPTH:
        raise UnreadableError(line, f"brackets nest deeper than {MAX_DEPTH}")
    begin, at = at, at + 1
    while at < len(text):
        char = text[at]
        if char == "]":
            return at + 1
        if char == "[":
            at = bracketed(text, at, line, depth + 1)
        elif char == "{" and text[at - 1] in " \t\n[{":
            at = _braced(text, at, line + text.count("\n", begin, at))
        elif char == '"' and text[at - 1] in " \t\n[":
            at = _quoted(text, at, line + text.count("\n", begin, at))
        else:
            at += 2 if char == "\\" else 1
    raise UnreadableError(line, "a bracket is not closed")


_LIST_BLANKS = re.compile(r"\s*")
_LIST_ITEM = re.compile(r"(?:\\.|[^\s\\])+|\\", re.DOTALL)
_SPECIAL = re.compile(r'[{}"\\]')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def list_items(text: str) -> list[str]:
    """Split a Tcl list into its items; an escaped name of Verilog keeps what follows its backslash.

    Raises
    ------
    UnreadableError
        If a brace or quote is not closed; the line is 0.

    """
    if not _SPECIAL.search(text):
        return text.split()
    at = 0
    items: list[str] = []
    while True:
        at = _end(_LIST_BLANKS, text, at)
        if at >= len(text):
            return items
        if text[at] == "{":
            end = _braced(text, at, 0)
            items.append(text[at + 1 : end - 1].strip())
        elif text[at] == '"':
            end = _quoted(text, at, 0)
            items.append(text[at + 1 : end - 1])
        else:
            end = _end(_LIST_ITEM, text, at)
            items.append(_ESCAPED.sub(r"\1", text[at:end]))
        at = end


def as_item(text: str) -> str:
    """Return a text as one item of a Tcl list."""
    return "{" + text + "}" if not text or _SPECIAL.search(text) or any(char.isspace() for char in text) else text
