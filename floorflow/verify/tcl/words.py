"""Tcl's words in one pass of regular expressions: commands, braces, quotes, brackets, comments, continued lines.

What people and Vivado write is read, a hundred thousand commands in seconds. Nothing is evaluated here. As files may be
anybody's, nothing goes back over what it has read: possessive repeats, no line counted twice, and a bound on all that
nests or grows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 60
"""How deep braces and brackets may nest."""
MAX_WORDS = 200_000
"""Words of one command."""
MAX_VALUE = 4_000_000
"""Characters of one word, or of what it stands for."""
MAX_NAME = 4_096
"""Characters of the name of a cell or pblock."""
MAX_WORK = 60_000_000
"""Characters that all commands of all files may be given, with what commands, objects and sites count for."""

SPACE = " \t\n\r\f\v"
"""Tcl's own blanks: U+0085, U+00A0 or U+2028, which Python takes for blanks, too, are letters of a name."""

_BLANKS = re.compile(r"(?:[ \t\r\f\v]++|\\\n)*+")
_BETWEEN = re.compile(r"(?:[ \t\r\f\v\n;]++|\\\n)*+")
_COMMENT = re.compile(r"#(?:[^\\\n]++|\\.)*+\\?", re.DOTALL)
_PLAIN_BRACES = re.compile(r"\{[^{}\\]*+\}")
_PLAIN_QUOTES = re.compile(r'"[^"\\\[]*+"')
_PLAIN_BRACKETS = re.compile(r'\[[^\[\]{}"\\\n]*+\]')
_BARE = re.compile(r"[^ \t\n;\r\f\v\[\\$]++")
_IN_BRACES = re.compile(r"[{}]|\\.", re.DOTALL)
_IN_QUOTES = re.compile(r'(?:[^"\\\[]++|\\.)*+', re.DOTALL)
_IN_BRACKETS = re.compile(r'[^\[\]{"\\]++')
_CONTINUED = re.compile(r"\\\n[ \t]*+")
_AFTER_WORD = re.compile(r"[ \t\r\f\v\n;]|\\\n|\Z")


class UnreadableError(ValueError):
    """A text is no sequence of Tcl commands; holds the line, and the file once it is known."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.file = ""


class LimitError(UnreadableError):
    """A text asks for more than is read: it is too long, too deep or too much work. The message says the limit."""


class _BrokenError(ValueError):
    """The same for one text, with the place in it instead of the line."""

    def __init__(self, at: int, message: str, *, limit: bool = False) -> None:
        super().__init__(message)
        self.at, self.limit = at, limit

    def on(self, line: int) -> UnreadableError:
        return (LimitError if self.limit else UnreadableError)(line, str(self))


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; ``number`` is the file's among those that are read, from 0."""

    file: str
    line: int
    number: int = 0

    @property
    def order(self) -> tuple[int, int]:
        """What comes first is read first."""
        return self.number, self.line

    def __str__(self) -> str:
        """Return it as compilers write it."""
        return f"{self.file}:{self.line}"


@dataclass
class Work:
    """What all commands of all files have cost so far."""

    spent: int = 0

    def charge(self, amount: int, line: int = 0) -> None:
        """Add to it, and end with LimitError if it is more than `MAX_WORK`."""
        self.spent += amount
        if self.spent > MAX_WORK:
            raise LimitError(
                line, f"to read and judge this much is more work than the limit of {MAX_WORK:,} characters"
            )


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its text, and whether Tcl would substitute in it."""

    text: str
    substituted: bool


Words = list[Word]


def commands(text: str, line: int = 1) -> Iterator[tuple[int, Words]]:
    """Yield the line and the words of each command; lines end in a newline alone.

    UnreadableError if a brace, quote or bracket is not closed, or something follows a closing brace or quote.
    """
    at, counted = 0, 0
    while True:
        at = _skipped(text, at)
        if at >= len(text):
            return
        line += text.count("\n", counted, at)
        counted = at
        try:
            words, at = _words(text, at)
        except _BrokenError as error:
            raise error.on(line + text.count("\n", counted, error.at)) from None
        yield line, words


def _skipped(text: str, at: int) -> int:
    while True:
        at = _end(_BETWEEN, text, at)
        if text[at : at + 1] != "#":
            return at
        at = _end(_COMMENT, text, at)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _words(text: str, at: int) -> tuple[Words, int]:
    words: Words = []
    while True:
        at = _end(_BLANKS, text, at)
        if at >= len(text) or text[at] in "\n;":
            return words, at
        if len(words) >= MAX_WORDS:
            raise _BrokenError(at, f"a command has more words than the limit of {MAX_WORDS:,}", limit=True)
        start, begin = text[at], at
        if start == "{":
            at = _braced(text, at)
            inside = text[begin + 1 : at - 1]
            if inside == "*" and not _AFTER_WORD.match(text, at):  # {*}list
                word, at = _word(text, at)
                words.append(Word("{*}" + word.text, substituted=True))
                continue
            words.append(Word(_CONTINUED.sub(" ", inside) if "\\" in inside else inside, substituted=False))
        elif start == '"':
            at = _quoted(text, at, 0)
            inside = text[begin + 1 : at - 1]
            words.append(Word(inside, any(char in inside for char in "$[\\")))
        else:
            word, at = _word(text, at)
            words.append(word)
            continue
        if not _AFTER_WORD.match(text, at):
            raise _BrokenError(at, f"text follows a closing {start}")


def _word(text: str, at: int) -> tuple[Word, int]:
    """Read a word without quotes or braces around it; each turn goes on by a character at least, or ends."""
    begin, substituted = at, False
    while at < len(text):
        char = text[at]
        if char in SPACE or char == ";":
            break
        if char == "[":
            at, substituted = _bracketed(text, at, 0), True
        elif char == "\\":
            if text[at + 1 : at + 2] == "\n":
                break
            at, substituted = at + 2, True
        elif char == "$":
            at, substituted = _variable(text, at), True
        else:
            at = _end(_BARE, text, at)
    return Word(text[begin:at], substituted), at


def _variable(text: str, at: int) -> int:
    if text[at + 1 : at + 2] == "{":
        end = text.find("}", at)
        return len(text) if end < 0 else end + 1
    return at + 1


def _braced(text: str, at: int) -> int:
    match = _PLAIN_BRACES.match(text, at)
    if match:
        return match.end()
    depth = 0
    for sign in _IN_BRACES.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(sign.group(), 0)
        if depth > MAX_DEPTH:
            raise _BrokenError(at, f"braces nest deeper than the limit of {MAX_DEPTH}", limit=True)
        if depth == 0:
            return sign.end()
    raise _BrokenError(at, "a brace is not closed")


def _quoted(text: str, at: int, depth: int) -> int:
    match = _PLAIN_QUOTES.match(text, at)
    if match:
        return match.end()
    begin, at = at, at + 1
    while at < len(text):
        at = _end(_IN_QUOTES, text, at)
        if text[at : at + 1] == '"':
            return at + 1
        if text[at : at + 1] != "[":
            break
        at = _bracketed(text, at, depth + 1)
    raise _BrokenError(begin, "a quote is not closed")


def bracketed(text: str, at: int, line: int) -> int:
    """Return the place behind the closing bracket of a command in brackets.

    UnreadableError if it is not closed, or what is inside is not.
    """
    try:
        return _bracketed(text, at, 0)
    except _BrokenError as error:
        raise error.on(line) from None


def _bracketed(text: str, at: int, depth: int) -> int:
    match = _PLAIN_BRACKETS.match(text, at)
    if match:
        return match.end()
    if depth > MAX_DEPTH:
        raise _BrokenError(at, f"brackets nest deeper than the limit of {MAX_DEPTH}", limit=True)
    begin, at = at, at + 1
    while at < len(text):
        char = text[at]
        if char == "]":
            return at + 1
        if char == "[":
            at = _bracketed(text, at, depth + 1)
        elif char == "{" and text[at - 1] in " \t\n[{":
            at = _braced(text, at)
        elif char == '"' and text[at - 1] in " \t\n[":
            at = _quoted(text, at, depth + 1)
        elif char in '{"\\':
            at += 2 if char == "\\" else 1
        else:
            at = _end(_IN_BRACKETS, text, at)
    raise _BrokenError(begin, "a bracket is not closed")


_LIST_BLANKS = re.compile(r"[ \t\n\r\f\v]*+")
_LIST_ITEM = re.compile(r"(?:[^ \t\n\r\f\v\\]++|\\.)*+\\?", re.DOTALL)
_LIST_QUOTES = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_SPECIAL = re.compile(r'[{}"\\]')
_TO_SPLIT_BY_PYTHON = re.compile(r"[\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|[{}\"\\]")
"""What keeps a list from being split by Python: what Tcl writes items with, and blanks that are none to Tcl."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def list_items(text: str) -> list[str]:
    """Split a Tcl list into its items; an escaped name of Verilog keeps what follows its backslash.

    UnreadableError if a brace or quote is not closed; the line is 0.
    """
    if not _TO_SPLIT_BY_PYTHON.search(text):
        return text.split()
    try:
        return list(_list_items(text))
    except _BrokenError as error:
        raise error.on(0) from None


def _list_items(text: str) -> Iterator[str]:
    at = 0
    while True:
        at = _end(_LIST_BLANKS, text, at)
        if at >= len(text):
            return
        begin = at
        if text[at] == "{":
            at = _braced(text, at)
            _check_end(text, at)
            yield text[begin + 1 : at - 1].strip(SPACE)
        elif text[at] == '"':
            match = _LIST_QUOTES.match(text, at)
            if match is None:
                raise _BrokenError(at, "a quote is not closed in a list")
            at = match.end()
            _check_end(text, at)
            yield match[1]
        else:
            at = _end(_LIST_ITEM, text, at)
            yield _ESCAPED.sub(r"\1", text[begin:at])


def _check_end(text: str, at: int) -> None:
    """Refuse what follows a closing brace or quote at once."""
    if text[at : at + 1].strip(SPACE):
        raise _BrokenError(at, f"text follows a closing {text[at - 1]} in a list")


def as_item(text: str) -> str:
    """Return a text as one item of a Tcl list."""
    return "{" + text + "}" if not text or _SPECIAL.search(text) or any(char in SPACE for char in text) else text
