"""Tcl's words, no more: commands, braces, quotes, brackets, comments and continued lines.

Nothing is evaluated. A word that Tcl would substitute (``$name``, a bracket inside a word) is marked dynamic, so that
the rules can refuse it. XDC files are Tcl in this respect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 20
"""How deep brackets may nest; the emitted files need three."""

MAX_CHARACTERS = 8_000_000
"""How long a script may be; those of plans are a thousandth of it."""

_NOT_PLAIN = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters but tab and newline, and Unicode's separators of lines and paragraphs."""

_LIST_BLANKS = " \t\n"
_BLANKS = re.compile(r"[ \t\n]*")
_BRACE = re.compile(r"[{}\\]")
_ESCAPE = re.compile(r"\\(?:(\n)[ \t]*|[^\n])")
"""A backslash with what it escapes; one before the end of a line continues it."""


class TclProblem(Exception):  # noqa: N818 - a finding about the file, caught by the rules
    """The text is not a sequence of Tcl commands; the message names the line."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its text, or the one command that brackets enclose."""

    text: str
    nested: Command | None = None
    dynamic: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One command: the line on which it starts and its words."""

    line: int
    words: tuple[Word, ...]

    @property
    def name(self) -> str:
        """The first word."""
        return self.words[0].text


def parse_commands(text: str) -> list[Command]:
    """Split a script into commands.

    Raises
    ------
    TclProblem
        If a brace, quote or bracket is not closed, something follows a closing one, brackets nest deeper than
        `MAX_DEPTH` or hold two commands, there is a control character, or more than `MAX_CHARACTERS`.

    """
    if len(text) > MAX_CHARACTERS:
        raise TclProblem(f"the file is longer than the limit of {MAX_CHARACTERS:,} characters")
    reader = _Reader(_plain(text.replace("\r\n", "\n")))
    commands: list[Command] = []
    while reader.skip_to_command():
        commands.append(reader.command(nested=False))
    return commands


def _plain(text: str) -> str:
    """Return the text unless it holds a character that Tcl may take for the end of a line, a word or the file."""
    found = _NOT_PLAIN.search(text)
    if found:
        number = text.count("\n", 0, found.start()) + 1
        raise TclProblem(f"line {number}: control character U+{ord(found.group()):04X}")
    return text


def list_items(text: str) -> list[str]:
    """Split a Tcl list into its items, in which semicolons, brackets and dollars stand for themselves.

    Raises
    ------
    TclProblem
        If a brace or quote is not closed, something follows a closing one, or there is a backslash.

    """
    return list(_items(text))


def _items(text: str) -> Iterator[str]:
    if "\\" in text:
        raise TclProblem("a list holds a backslash")
    at = 0
    while match := _BLANKS.match(text, at):
        at = match.end()
        if at == len(text):
            return
        end = _item_end(text, at)
        if text[end : end + 1].strip(_LIST_BLANKS):
            raise TclProblem(f"text follows a closing {text[at]} in a list")
        yield text[at + 1 : end - 1] if text[at] in '{"' else text[at:end]
        at = end


def _item_end(text: str, begin: int) -> int:
    """Return the place behind an item of a list."""
    if text[begin] == '"':
        end = text.find('"', begin + 1)
        if end < 0:
            raise TclProblem("a quote is not closed in a list")
        return end + 1
    if text[begin] != "{":
        return next((at for at in range(begin, len(text)) if text[at] in _LIST_BLANKS), len(text))
    depth = 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    raise TclProblem("a brace is not closed in a list")


class _Reader:
    """A position in a script."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self._line, self._counted = 1, 0

    @property
    def line(self) -> int:
        """The line of the position, counted from the last that was asked for."""
        if self.at >= self._counted:
            self._line += self.text.count("\n", self._counted, self.at)
        else:
            self._line -= self.text.count("\n", self.at, self._counted)
        self._counted = self.at
        return self._line

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def skip_blanks(self, also: str = "") -> bool:
        """Skip blanks and continued lines; False at the end."""
        while self.at < len(self.text):
            if self.peek() in " \t" or self.peek() in also:
                self.at += 1
            elif self.peek(2) == "\\\n":
                self.at += 2
            else:
                return True
        return False

    def skip_to_command(self) -> bool:
        """Skip blanks, ends of commands and comments; False at the end."""
        while self.skip_blanks("\n;"):
            if self.peek() != "#":
                return True
            self.skip_comment()
        return False

    def skip_comment(self) -> None:
        while self.at < len(self.text) and self.peek() != "\n":
            self.at += 2 if self.peek() == "\\" else 1

    def command(self, *, nested: bool) -> Command:
        """Read words up to the end of the command, and the closing bracket of a nested one."""
        line, words = self.line, []
        ends = "]\n;" if nested else "\n;"
        while self.skip_blanks():
            if self.peek() in ends:
                break
            words.append(self.word(ends))
        if nested:
            if self.peek() != "]":
                raise TclProblem(f"line {line}: a bracket is not closed behind its one command")
            self.at += 1
        if not words:
            raise TclProblem(f"line {line}: an empty command")
        return Command(line, tuple(words))

    def word(self, ends: str) -> Word:
        start = self.peek()
        if start == "{":
            word = Word(self.braced())
        elif start == '"':
            word = self.quoted()
        elif start == "[":
            word = self.bracketed()
        else:
            return self.bare(ends)
        if self.at < len(self.text) and self.peek() not in " \t\n;" + ends and self.peek(2) != "\\\n":
            raise TclProblem(f"line {self.line}: text follows a closing {start}")
        return word

    def bracketed(self) -> Word:
        if self.depth == MAX_DEPTH:
            raise TclProblem(f"line {self.line}: brackets nest deeper than {MAX_DEPTH}")
        self.depth += 1
        self.at += 1
        begin, inner = self.at, self.command(nested=True)
        self.depth -= 1
        return Word(self.text[begin : self.at - 1], inner)

    def braced(self) -> str:
        line, begin, depth = self.line, self.at, 0
        while match := _BRACE.search(self.text, self.at):
            char = match.group()
            self.at = match.end() + (char == "\\")
            depth += {"{": 1, "}": -1}.get(char, 0)
            if depth == 0:
                inside = self.text[begin + 1 : self.at - 1]
                return _ESCAPE.sub(lambda match: " " if match.group(1) else match.group(), inside)
        raise TclProblem(f"line {line}: a brace is not closed")

    def quoted(self) -> Word:
        line, begin = self.line, self.at
        self.at += 1
        while self.at < len(self.text) and self.peek() != '"':
            self.at += 2 if self.peek() == "\\" else 1
        if self.at >= len(self.text):
            raise TclProblem(f"line {line}: a quote is not closed")
        self.at += 1
        inside = self.text[begin + 1 : self.at - 1]
        return Word(inside, dynamic=any(char in inside for char in "$[\\"))

    def bare(self, ends: str) -> Word:
        begin = self.at
        while self.at < len(self.text) and self.peek() not in " \t\n" + ends and self.peek(2) != "\\\n":
            self.at += 1
        inside = self.text[begin : self.at]
        return Word(inside, dynamic=any(char in inside for char in '$[]\\"{}'))
