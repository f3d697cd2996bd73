"""Split a Vivado command's words into positionals and switches, as ``commands.json`` describes them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict


class VivadoError(Exception):
    """A command that Vivado refuses, or that it accepts with a warning and this model does not."""


class CommandForm(TypedDict):
    """One command of ``commands.json``; ``unmodelled`` switches are Vivado's, but this model refuses them.

    ``guide``: where AMD describes it.
    """

    positionals: list[str]
    required: int
    flags: list[str]
    values: list[str]
    unmodelled: list[str]
    guide: NotRequired[str]


COMMANDS: dict[str, CommandForm] = json.loads(Path(__file__).with_name("commands.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Arguments:
    """What a command was given; every name is one of its form's."""

    positionals: dict[str, str]
    values: dict[str, str]
    flags: frozenset[str]

    @property
    def quiet(self) -> bool:
        return "-quiet" in self.flags


def parse_arguments(command: str, words: Sequence[str]) -> Arguments:
    """Check the words that follow ``command``; switches and positionals may come in any order."""
    form = COMMANDS[command]
    positionals: list[str] = []
    values: dict[str, str] = {}
    flags: set[str] = set()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            positionals.append(word)
            continue
        _check_switch(command, form, word, word in flags or word in values)
        if word in form["flags"]:
            flags.add(word)
        elif rest:
            values[word] = rest.pop(0)
        else:
            raise VivadoError(f"{command}: missing value of option '{word}'")
    _check_count(command, form, positionals)
    return Arguments(dict(zip(form["positionals"], positionals, strict=False)), values, frozenset(flags))


def _check_switch(command: str, form: CommandForm, word: str, seen: bool) -> None:
    if word in form["unmodelled"]:
        raise VivadoError(f"{command}: option '{word}' is not modelled; the emitted scripts do without it")
    if word not in form["flags"] and word not in form["values"]:
        raise VivadoError(f"[Common 17-170] {command}: unknown option '{word}'")
    if seen:
        raise VivadoError(f"{command}: option '{word}' is given twice")


def _check_count(command: str, form: CommandForm, positionals: Sequence[str]) -> None:
    if len(positionals) < form["required"]:
        missing = form["positionals"][len(positionals)]
        raise VivadoError(f"[Common 17-163] {command}: missing positional argument '{missing}'")
    if len(positionals) > len(form["positionals"]):
        extra = positionals[len(form["positionals"])]
        raise VivadoError(f"[Common 17-165] {command}: too many positional arguments, first extra one '{extra}'")
