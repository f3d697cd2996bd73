"""Vivado's commands: which an XDC file may hold (UG903), their arguments, and the properties of pblocks (UG912)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from floorflow.verify.tcl.values import BadCommandError, Value

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
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

    def give(self, option: str, values: Sequence[Value]) -> None:
        """Give an option its value; what an option is given twice adds up, and is not known if any of it is not."""
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) == len(values):
            self.values[option] = " ".join(texts)
        else:
            self.values[option] = next(value for value in values if not isinstance(value, str))


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
        found.give(option, values)
    if not form.least <= len(found.rest) <= form.most:
        raise BadCommandError("command-malformed", f"{len(found.rest)} arguments", form.written)
    return found
