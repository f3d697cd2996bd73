"""Tcl as far as floorplans use it: words are substituted, commands run one after another, procedures called.

In an XDC file control flow and commands that Vivado does not accept there are findings, and do nothing. In a script
what cannot be told without Vivado is noted and left. Tcl's own commands are in `commands`.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from floorflow.verify.tcl.values import (
    CONTROL_FLOW,
    IN_XDC,
    OTHER,
    OTHERS,
    OTHERS_BEGIN,
    PBLOCK_COMMANDS,
    TALK,
    BadCommandError,
    Jump,
    Selection,
    Unknown,
    Value,
    joined,
)
from floorflow.verify.tcl.words import (
    MAX_VALUE,
    LimitError,
    Place,
    UnreadableError,
    Word,
    Work,
    bracketed,
    commands,
    list_items,
)

MAX_NESTING = 60
"""How deep commands may run in each other: brackets, bodies and procedures."""
MAX_STEPS = 200_000
"""Commands that scripts may run by loops and procedures."""
_COMMAND, _OBJECT = 30, 40
"""What a command and an object that it is given count for, as characters."""
_LONGEST_COMMAND = 60
_VARIABLE = re.compile(r"\$(?:\{([^}]{0,200}+)\}|((?:::)?[A-Za-z0-9_]++(?:::[A-Za-z0-9_]++)*+(?:\([^)]{0,200}+\))?))")
_OF_PBLOCKS = re.compile(r"(?:create|resize|delete)_pblock|cells_(?:to|from)_pblock")
_BREAKS = re.compile("[\0-\b\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_TEXT = re.compile(r"[^\[$\\]++")
_BUS_INDEX = re.compile(r"\d+|\*|\d+:\d+|\?")
_STEP_BACK = {"n": "\n", "t": "\t"}


Handler = Callable[[Sequence[Value], Place], Value]
OwnHandler = Callable[["Interpreter", Sequence[Value], Place], Value]
Report = Callable[[str, Place, str, str], object]
"""Takes a finding: its name, where, what was found and what was expected."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure of a script: parameters with their defaults, and body."""

    parameters: tuple[tuple[str, str | None], ...]
    body: str
    line: int


@dataclass
class Interpreter:
    """One file being read; ``handlers`` are Vivado's commands that matter here, ``own`` are Tcl's.

    ``exists`` says whether there is a pblock; None if it may be one of a shell.
    """

    file: str
    is_xdc: bool
    handlers: dict[str, Handler]
    report: Report
    own: Mapping[str, OwnHandler]
    variables: dict[str, Value] = field(default_factory=dict)
    procedures: dict[str, Procedure] = field(default_factory=dict)
    number: int = 0
    work: Work = field(default_factory=Work)
    exists: Callable[[str], bool | None] = lambda _name: None
    count: int = 0
    steps: int = 0
    others: int = 0
    looping: int = 0
    _depth: int = 0
    _nesting: int = 0
    _frames: list[dict[str, Value]] = field(default_factory=list)

    def run(self, text: str, line: int = 1, *, inner: bool = False) -> Value:
        """Run every command of a text; return the value of the last.

        UnreadableError if the text is no Tcl; in brackets and bodies that is a finding instead.
        """
        value: Value = ""
        if self._nesting >= MAX_NESTING:
            raise LimitError(line, f"commands nest deeper than the limit of {MAX_NESTING}")
        if inner:
            self.work.charge(len(text), line)
        self._nesting += 1
        try:
            for number, words in commands(text, line):
                self.count += not inner
                place = Place(self.file, number, self.number)
                if self._depth or self.looping:
                    self.step(place)
                value = self._command(words, place) if inner else self._outer(words, place)
        except UnreadableError as error:
            if not inner or isinstance(error, LimitError):
                raise
            place, expected = Place(self.file, line, self.number), "closed braces and brackets"
            self.report("command-malformed", place, str(error), expected)
            return Unknown("a broken text")
        finally:
            self._nesting -= 1
        return value

    def _outer(self, words: Sequence[Word], place: Place) -> Value:
        """Run a command of the file itself, which a way out of loops and procedures leads back to."""
        try:
            return self._command(words, place)
        except Jump as jump:
            return jump.value

    def _command(self, words: Sequence[Word], place: Place) -> Value:
        given = self._evaluated(words, place)
        if not given:
            return ""
        self.work.charge(_COMMAND + sum(map(_size, given)), place.line)
        name = given[0].removeprefix("::") if isinstance(given[0], str) else ""
        if self.is_xdc and (name in CONTROL_FLOW or (name and name not in IN_XDC)):
            return self._refused(name, place)
        handler, own = self.handlers.get(name), self.own.get(name)
        if handler is None and own is None:
            return self._other(name, given[1:], place)
        try:
            if handler is not None:
                _refuse_breaks(given)
                return self._short(handler(given[1:], place), place)
            return self._short(own(self, given[1:], place) if own is not None else "", place)
        except BadCommandError as error:
            self.report(error.name, place, f"{name}: {error.found}", error.expected)
        except UnreadableError as error:
            if isinstance(error, LimitError):
                error.line = error.line or place.line
            if error.line:
                raise
            self.report("command-malformed", place, f"{name}: {error}", "a list with closed braces")
        return Unknown(name)

    @staticmethod
    def _short(value: Value, place: Place) -> Value:
        """Return a value, if it is not longer than values may be."""
        if isinstance(value, str) and len(value) > MAX_VALUE:
            raise LimitError(place.line, f"a value is longer than the limit of {MAX_VALUE:,} characters")
        return value

    def _evaluated(self, words: Sequence[Word], place: Place) -> list[Value]:
        found: list[Value] = []
        for word in words:
            if not word.substituted:
                found.append(self._short(word.text, place))
            elif word.text.startswith("{*}"):
                value = self.substituted(word.text[3:], place)
                found += list_items(value) if isinstance(value, str) else [value]
            else:
                found.append(self.substituted(word.text, place))
        return found

    def _refused(self, name: str, place: Place) -> Value:
        if _BUS_INDEX.fullmatch(name):
            return f"[{name}]"
        if name in CONTROL_FLOW:
            self.report("control-flow", place, f"command {name}", "commands of constraints alone")
            return Unknown(name)
        near = _meant(name)
        if near:
            self.report("command-unknown", place, f"command {name}", near)
        else:
            self.report("command-not-allowed", place, f"command {name}", "a command of constraints, set, list or expr")
        return Unknown(name)

    def _other(self, name: str, given: Sequence[Value], place: Place) -> Value:
        """Pass over a command that says nothing of pblocks, unless it looks like one that would."""
        if _BUS_INDEX.fullmatch(name):
            return f"[{name}]"
        if name in self.procedures:
            return self._call(name, given, place)
        near = _meant(name) if "_" in name else ""
        if near and name not in IN_XDC:
            self.report("command-unknown", place, f"command {name}", near)
        # It may say something of pblocks all the same: it is computed or unknown, or runs a text.
        if not name:
            self.noted("a command whose name is computed", place)
        elif name not in IN_XDC and name not in OTHERS and not name.startswith(OTHERS_BEGIN):
            self.noted(f"command {name}, which is not followed here", place)
        elif name not in TALK and any(_OF_PBLOCKS.search(value) for value in given if isinstance(value, str)):
            self.noted(f"what {name} does with a text on pblocks", place)
        self.others += 1
        return OTHER if name.startswith(("get_", "all_")) else Unknown(name)

    # what words stand for

    def substituted(self, text: str, place: Place) -> Value:
        """Return what a word with dollars, brackets or backslashes stands for."""
        parts: list[Value] = []
        at, length = 0, 0
        while at < len(text):
            value, at = self._part(text, at, place)
            parts.append(value)
            length += len(value) if isinstance(value, str) else 0
            if length > MAX_VALUE:
                raise LimitError(place.line, f"a value is longer than the limit of {MAX_VALUE:,} characters")
        if len(parts) == 1:
            return parts[0]
        for part in parts:
            if not isinstance(part, str):
                return part if isinstance(part, Unknown) else Unknown("an object inside a word")
        return "".join(part for part in parts if isinstance(part, str))

    def _part(self, text: str, at: int, place: Place) -> tuple[Value, int]:
        char = text[at]
        if char == "[":
            end = bracketed(text, at, place.line)
            return self.run(text[at + 1 : end - 1], place.line, inner=True), end
        if char == "\\" and at + 1 < len(text):
            return _STEP_BACK.get(text[at + 1], text[at + 1]), at + 2
        match = _VARIABLE.match(text, at) if char == "$" else None
        if match:
            return self.variable(match[1] or match[2], place), match.end()
        plain = _TEXT.match(text, at + 1)
        end = plain.end() if plain else at + 1
        return text[at:end], end

    def variable(self, name: str, place: Place) -> Value:
        """Return what a variable stands for."""
        known = self.outermost if name.startswith("::") else self.variables
        name = name.removeprefix("::")
        if "(" in name and any(char in name for char in "$["):
            index = self.substituted(name.partition("(")[2][:-1], place)
            name = f"{name.partition('(')[0]}({index if isinstance(index, str) else ''})"
        if name in known:
            return known[name]
        if name.startswith("env(") or "(" in name or "::" in name or not self.is_xdc:
            return Unknown(f"variable {name}")
        self.report("variable-unset", place, f"${name}", "a variable set before in the files")
        return Unknown(f"variable {name}")

    def copied(self, value: Value) -> None:
        """Count the copying of a value that is no argument: quicker than reading it."""
        self.work.charge(_size(value) // 128)

    def step(self, place: Place) -> None:
        """Count a command that is run by a loop or procedure; there is a limit (LimitError)."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            message = f"loops and procedures run more than the limit of {MAX_STEPS:,} commands"
            raise LimitError(place.line, message)

    def _call(self, name: str, given: Sequence[Value], place: Place) -> Value:
        procedure = self.procedures[name]
        self.work.charge(_OBJECT * len(procedure.parameters), place.line)
        outside, self.variables = self.variables, {}
        self._frames.append(outside)
        for number, (parameter, default) in enumerate(procedure.parameters):
            value: Value | None = given[number] if number < len(given) else default
            if parameter == "args":
                value = joined(given[number:])
            self.variables[parameter] = Unknown(parameter) if value is None else value
        self._depth += 1
        try:
            return self.run(procedure.body, procedure.line, inner=True)
        except Jump as jump:
            return jump.value
        finally:
            self._depth -= 1
            self.variables = self._frames.pop()

    @property
    def outermost(self) -> dict[str, Value]:
        """The variables outside all procedures."""
        return self._frames[0] if self._frames else self.variables

    def noted(self, what: str, place: Place) -> Value:
        """Note what was not run, and return a value that is not known."""
        self.report("not-evaluated", place, what, "commands that can be read without Vivado")
        return Unknown(what)


def _refuse_breaks(given: Sequence[Value]) -> None:
    """Refuse what other readers of the file take for the end of a line, and what no terminal shows."""
    found = next((match for value in given if isinstance(value, str) and (match := _BREAKS.search(value))), None)
    if found:
        told = f"the character U+{ord(found.group()):04X} in a word"
        raise BadCommandError("command-malformed", told, "names and values of characters that can be seen")


def _size(value: Value) -> int:
    """Return what an argument counts for: its characters, or its objects."""
    if isinstance(value, str):
        return len(value)
    return _OBJECT * (len(value.cells) + len(value.pblocks)) if isinstance(value, Selection) else 0


@lru_cache(maxsize=4096)
def _meant(name: str) -> str:
    """Return the command for pblocks that a name may be meant for; empty if it is like none."""
    if len(name) > _LONGEST_COMMAND:
        return ""
    return next(iter(difflib.get_close_matches(name, PBLOCK_COMMANDS, n=1, cutoff=0.85)), "")
