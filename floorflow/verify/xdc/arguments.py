"""The arguments of a Vivado command: options, which may be shortened as long as they are clear, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from floorflow.verify.xdc.values import Value


class BadCommandError(ValueError):
    """A command that Vivado would refuse; holds the finding's name, what was found and what was expected."""

    def __init__(self, name: str, found: str, expected: str) -> None:
        super().__init__(found)
        self.name, self.found, self.expected = name, found, expected


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
    "create_pblock": Form(("-quiet", "-verbose"), (), 1, 1, "create_pblock NAME"),
    "resize_pblock": Form(
        ("-quiet", "-verbose", "-replace"),
        ("-add", "-remove", "-from", "-to", "-locs", "-add_rect", "-remove_rect"),
        1,
        1,
        "resize_pblock PBLOCK -add|-remove RANGES",
    ),
    "add_cells_to_pblock": Form(
        ("-quiet", "-verbose", "-top", "-clear_locs", "-add_primitives"),
        (),
        1,
        2,
        "add_cells_to_pblock PBLOCK CELLS|-top",
    ),
    "remove_cells_from_pblock": Form(("-quiet", "-verbose"), (), 2, 2, "remove_cells_from_pblock PBLOCK CELLS"),
    "delete_pblock": Form(("-quiet", "-verbose", "-hier"), (), 1, 99, "delete_pblocks PBLOCKS"),
    "get_pblocks": Form(
        ("-quiet", "-verbose", "-regexp", "-nocase", "-include_nested_pblocks"),
        ("-filter", "-of_objects"),
        0,
        1,
        "get_pblocks PATTERNS",
    ),
    "get_cells": Form(
        ("-quiet", "-verbose", "-hierarchical", "-regexp", "-nocase", "-include_replicated_objects"),
        ("-filter", "-of_objects", "-hsc", "-match_style"),
        0,
        1,
        "get_cells PATTERNS",
    ),
    "set_property": Form(("-quiet", "-verbose"), ("-dict", "-name", "-value"), 1, 3, "set_property NAME VALUE OBJECTS"),
    "current_instance": Form(("-quiet", "-verbose"), (), 0, 1, "current_instance CELL"),
}


def arguments(command: str, given: Sequence[Value]) -> Arguments:
    """Sort what a command was given.

    Raises
    ------
    BadCommandError
        If an option is not known or lacks its value, or there are too few or too many arguments.

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
