"""Tcl's words, no more: commands, braces, quotes, brackets, comments and continued lines.

Nothing is evaluated. A word that Tcl would substitute (``$name``, a bracket inside a word) is marked dynamic, so that
the rules can refuse it. XDC files are Tcl in this respect.
"""

from __future__ import annotations

from dataclasses import dataclass


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
        If a brace, quote or bracket is not closed or something follows a closing one.

    """
    reader = _Reader(text.replace("\r\n", "\n"))
    commands: list[Command] = []
    while reader.skip_to_command():
        commands.append(reader.command(nested=False))
    return commands


def list_items(text: str) -> list[str]:
    """Split a Tcl list into its items; raises TclProblem as `parse_commands` does."""
    reader = _Reader(text)
    items: list[str] = []
    while reader.skip_blanks("\n;"):
        items.append(reader.word("").text)
    return items


class _Reader:
    """A position in a script."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

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
        ends = "]" if nested else "\n;"
        while self.skip_blanks("\n" if nested else ""):
            if self.peek() in ends:
                break
            words.append(self.word(ends))
        if nested:
            if self.peek() != "]":
                raise TclProblem(f"line {line}: a bracket is not closed")
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
            self.at += 1
            begin, inner = self.at, self.command(nested=True)
            word = Word(self.text[begin : self.at - 1], inner)
        else:
            return self.bare(ends)
        if self.at < len(self.text) and self.peek() not in " \t\n;" + ends and self.peek(2) != "\\\n":
            raise TclProblem(f"line {self.line}: text follows a closing {start}")
        return word

    def braced(self) -> str:
        line, begin, depth = self.line, self.at, 0
        while self.at < len(self.text):
            char = self.peek()
            self.at += 2 if char == "\\" else 1
            depth += {"{": 1, "}": -1}.get(char, 0)
            if depth == 0:
                return self.text[begin + 1 : self.at - 1].replace("\\\n", " ")
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
