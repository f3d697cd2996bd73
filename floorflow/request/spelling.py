"""How the command line spells a field of a model, and what is wrong with one that pydantic refuses."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from floorflow.errors import InputError, some
from floorflow.plugins import DEFAULT_BACKEND, BackendOptions, registration


@dataclass(frozen=True)
class Spelling:
    """What the command line needs beside a field.

    The panel of ``--help``, a letter, whether it stands alone, and the option's name if it is not the field's.
    ``short_for``: a flag of its own, and the value that it stands for.
    """

    panel: str
    letter: str = ""
    argument: bool = False
    option: str = ""
    short_for: tuple[str, str] | None = None


NETWORK, GOAL = Spelling("Network"), Spelling("What to plan for")
PLATFORM, BUDGET = Spelling("Platform"), Spelling("Budget")
ENGINES, FOLDING = Spelling("Engines and their costs"), Spelling("Folding")
FLOORPLAN, EFFORT, OUTPUT = Spelling("Partition and placement"), Spelling("Effort"), Spelling("Output")


def in_words(values: Iterable[str]) -> str:
    """Return choices as a sentence has them: a, b or c."""
    *others, last = values
    return f"{', '.join(others)} or {last}" if others else last


def default_options() -> type[BackendOptions]:
    """Return the options of the default back end, which the command line has as options of its own."""
    return registration(DEFAULT_BACKEND).options


def spelled(field: str, model: type[BaseModel]) -> str:
    """Return the command line's spelling of a model's field; one that is true unless told is ``--no-...``."""
    info = model.model_fields[field]
    spelling = next((data for data in info.metadata if isinstance(data, Spelling)), None)
    if issubclass(model, BackendOptions) and (spelling is None or model is not default_options()):
        return f"--backend-option {field}"
    if spelling is None or spelling.argument:
        return field
    return spelling.option or f"--{'no-' if info.default is True else ''}{field.replace('_', '-')}"


def refused(model: type[BaseModel], error: ValidationError, elsewhere: Mapping[str, str]) -> InputError:
    """Return the first thing that pydantic has against a model, as a user can mend it.

    ``elsewhere``: the spelling of options that there are in other models, by field.
    """
    first = error.errors(include_url=False)[0]
    name, value = str(first["loc"][0]) if first["loc"] else "", first["input"]
    if name not in model.model_fields:
        return _unknown(name, model, elsewhere)
    if first["type"] == "value_error":
        return InputError(str(first["ctx"]["error"]))
    option = spelled(name, model)
    if first["type"] == "missing":
        return InputError(f"{option}: is missing")
    choice = first["type"] == "literal_error"
    expected = str(first["ctx"]["expected"]).replace("'", "") if choice else _limits(model.model_fields[name])
    return InputError(f"{option} {value}: expected {expected or first['msg'].lower()}")


def _unknown(name: str, model: type[BaseModel], elsewhere: Mapping[str, str]) -> InputError:
    """Return the error for an option that there is not, with the one that was meant, or the back end that has it."""
    if name in elsewhere:
        return InputError(f"{elsewhere[name]}: only back end {DEFAULT_BACKEND} has this option", hint="leave it out")
    near = difflib.get_close_matches(name, {*elsewhere, *model.model_fields}, n=1)
    has = f"the back end has {some(model.model_fields) or 'none'}" if issubclass(model, BackendOptions) else ""
    return InputError(f"unknown option '{name}'", hint=f"did you mean {near[0]}?" if near else has)


def _limits(field: FieldInfo) -> str:
    """Return the range of a number's field."""
    ends = {"ge": "at least", "le": "at most"}
    found = ((word, getattr(data, end, None)) for data in field.metadata for end, word in ends.items())
    return " and ".join(f"{word} {limit:,.12g}" for word, limit in found if limit is not None)
