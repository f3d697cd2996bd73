"""What words stand for once evaluated (texts, pblocks, cells, the unknown), and Vivado's commands (UG903, UG912)."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from floorflow.verify.tcl.words import MAX_NAME, LimitError, as_item

PATTERN = re.compile(r"[*?]")


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells by one pattern of ``get_cells``: how it is written, and how it is matched.

    ``how`` is ``name``, ``glob`` (a ``*`` stops at a slash), ``leaf`` (-hierarchical), ``regexp``, ``filter`` (a glob
    over whole names) or ``unknown`` (what only Vivado can select).
    """

    text: str
    how: str

    def __post_init__(self) -> None:
        if len(self.text) > MAX_NAME:
            raise LimitError(0, f"the name of a cell is longer than the limit of {MAX_NAME:,} characters")

    @property
    def is_exact(self) -> bool:
        """Whether it is the name of one cell."""
        return self.how == "name"

    def cost(self, names: Iterable[str]) -> int:
        """Return what it counts for to compare it with some names, as characters that are read."""
        slow = sum(map(self.text.count, "*+?")) > _REPEATS_BY_RE
        return sum(len(name) if slow or len(name) > _NAME_BY_RE else _QUICK for name in names)

    def taking(self) -> Callable[[str], bool]:
        """Return what says of a name whether that cell is among them."""
        if self.how == "name":
            return self.text.__eq__
        if self.how == "unknown":
            return lambda _: False
        matchers = _matchers(self.text, "glob" if self.how == "leaf" else self.how)
        if self.how == "leaf":
            return lambda name: matchers[0].takes(name.rpartition("/")[2])
        if len(matchers) == 1:
            return matchers[0].takes
        return lambda name: any(one.takes(name) for one in matchers)


_REPEATS_BY_RE, _NAME_BY_RE, _QUICK = 2, 300, 10
"""So many repeats and characters of a name are left to Python, whose time grows with a power of both."""
_TOKEN = re.compile(r"(\\[^A-Za-z0-9]|\\[dws]|\[\^?(?:[\w/.:*]|-(?!-))++\]|[^\\\[\](){}|*+?^$])([*+?]?)")
_ANY_PARENT = "(.*/)?"


class Matcher:
    """Characters one after the other, each once, or any number of times, or not at all.

    All ways to match are followed at once, as bits of a number, so that no pattern takes more than its length times
    that of the name.
    """

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._repeats = sum(1 << at for at, (_, often) in enumerate(tokens) if often in ("*", "+"))
        self._optional = sum(1 << at for at, (_, often) in enumerate(tokens) if often in ("*", "?"))
        self._fits: dict[str, int] = {}
        short = (self._repeats | self._optional).bit_count() <= _REPEATS_BY_RE
        self._plain = re.compile("".join(map("".join, tokens)), re.DOTALL) if short else None

    def takes(self, name: str) -> bool:
        """Whether it takes the whole of a name."""
        if self._plain is not None and len(name) <= _NAME_BY_RE:
            return bool(self._plain.fullmatch(name))
        here = self._skipping(1)
        for char in name:
            if char not in self._fits:
                fits = (1 << at for at, (one, _) in enumerate(self._tokens) if re.fullmatch(one, char, re.DOTALL))
                self._fits[char] = sum(fits)
            here &= self._fits[char]
            here = self._skipping((here << 1) | (here & self._repeats))
            if not here:
                return False
        return bool(here >> len(self._tokens) & 1)

    def _skipping(self, here: int) -> int:
        while (more := here | (here & self._optional) << 1) != here:
            here = more
        return here


@lru_cache(maxsize=4096)
def _matchers(text: str, how: str) -> tuple[Matcher, ...]:
    """Return matchers of which one takes what a pattern takes.

    ValueError if a regular expression holds more than characters, sets of them and repeats of one.
    """
    if how == "regexp":
        bare = text.removeprefix("^").removesuffix("$")
        rest = bare.removeprefix(_ANY_PARENT)
        tokens = _tokens(rest)
        return (Matcher(tokens),) if rest == bare else (Matcher(tokens), Matcher([(".", "*"), ("/", ""), *tokens]))
    any_one = "[^/]" if how == "glob" else "."
    return (
        Matcher([(any_one, "*" if char == "*" else "") if char in "*?" else (re.escape(char), "") for char in text]),
    )


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError("more than characters and repeats of them")
        re.compile(match[1])  # a set such as [z-a] is none
        found.append((match[1], match[2]))
        at = match.end()
    return found


def is_followed(text: str) -> bool:
    """Whether a regular expression can be followed here."""
    try:
        return bool(_matchers(text, "regexp"))
    except (ValueError, re.error):
        return False


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects that a command returned: pblocks by name, cells, or others of no concern here.

    ``quiet``: those that do not exist were not to be told.
    """

    kind: str
    pblocks: tuple[str, ...] = ()
    cells: tuple[Cells, ...] = ()
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that only Vivado or the rest of Tcl could give; ``why`` names the command or variable."""

    why: str


Value = str | Selection | Unknown
OTHER = Selection("other")


class BadCommandError(ValueError):
    """A command that Vivado would refuse; holds the finding's name, what was found and what was expected."""

    def __init__(self, name: str, found: str, expected: str) -> None:
        super().__init__(found)
        self.name, self.found, self.expected = name, found, expected


class Jump(Exception):  # noqa: N818 - a way out of a body, no error
    """Return, break or continue; ``value`` is what a procedure returns."""

    def __init__(self, kind: str, value: Value = "") -> None:
        super().__init__(kind)
        self.kind, self.value = kind, value


def joined(given: Sequence[Value]) -> Value:
    """Return a list of values: objects of one kind, or texts."""
    selections = [value for value in given if isinstance(value, Selection)]
    if selections and len(selections) == len(given):
        cells = tuple(cell for one in selections for cell in one.cells)
        return Selection(selections[0].kind, tuple(name for one in selections for name in one.pblocks), cells)
    unknown = next((value for value in given if not isinstance(value, str)), None)
    if unknown is not None:
        return unknown if isinstance(unknown, Unknown) else Unknown("a list of objects and texts")
    return " ".join(as_item(value) for value in given if isinstance(value, str))


def texts_of(given: Sequence[Value]) -> list[str] | None:
    """Return values that are all texts; None if any is not."""
    texts = [value for value in given if isinstance(value, str)]
    return texts if len(texts) == len(given) else None


_DATA = json.loads(Path(__file__).with_name("vivado.json").read_text(encoding="utf-8"))
_WORDS: dict[str, list[str]] = {name: " ".join(lines).split() for name, lines in _DATA["words"].items()}
CONTROL_FLOW = frozenset(_WORDS["control flow"])
IN_XDC = frozenset(_WORDS["Tcl that XDC files may hold"] + _WORDS["objects"] + _WORDS["constraints"])
"""Commands that an XDC file may hold."""
PBLOCK_COMMANDS: tuple[str, ...] = tuple(_DATA["pblock commands"])
OTHERS, OTHERS_BEGIN = frozenset(_WORDS["Tcl"] + _WORDS["Vivado"]), tuple(_WORDS["beginnings"])
"""Commands of Tcl and Vivado that say nothing of pblocks, or how such begin."""
TALK = frozenset(_DATA["talk"])
"""Those of them whose texts are told or compared, and not run."""
PBLOCK_PROPERTIES: dict[str, tuple[str, ...]] = {
    name: tuple(values) for name, values in _DATA["pblock properties"].items()
}
"""Properties of pblocks and the values that they may have; none: any."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a command takes: options without and with a value, and how many arguments besides."""

    flags: tuple[str, ...]
    values: tuple[str, ...]
    least: int
    most: int
    written: str


@dataclass(slots=True)
class Arguments:
    """What it was given."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, Value] = field(default_factory=dict)
    rest: list[Value] = field(default_factory=list)


FORMS: dict[str, Form] = {
    name: Form(tuple(told.pop("flags")), tuple(told.pop("values")), **told) for name, told in _DATA["forms"].items()
}


def arguments(command: str, given: Sequence[Value]) -> Arguments:
    """Sort what a command was given.

    BadCommandError if an option is not known or lacks its value, or there are too few or too many arguments.
    """
    form, found = FORMS[command], Arguments()
    waiting, told = iter(given), dict[str, list[Value]]()
    for word in waiting:
        if not isinstance(word, str) or not word.startswith("-") or word[1:2].isdigit() or len(word) < 2:
            found.rest.append(word)
            continue
        fitting = [name for name in (*form.flags, *form.values) if name == word]
        fitting = fitting or [name for name in (*form.flags, *form.values) if name.startswith(word)]
        if len(fitting) != 1:
            raise BadCommandError("command-malformed", f"option {word}", form.written)
        if fitting[0] in form.flags:
            found.flags.add(fitting[0])
        elif (value := next(waiting, None)) is None:
            raise BadCommandError("command-malformed", f"{word} without a value", form.written)
        else:
            told.setdefault(fitting[0], []).append(value)
    for option, values in told.items():
        # What an option is given twice adds up, and is not known if any of it is not.
        unknown = (value for value in values if not isinstance(value, str))
        found.values[option] = next(unknown, " ".join(value for value in values if isinstance(value, str)))
    if not form.least <= len(found.rest) <= form.most:
        raise BadCommandError("command-malformed", f"{len(found.rest)} arguments", form.written)
    return found
