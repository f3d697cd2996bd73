"""The options of the command line: those of the request, made from its fields, and what several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from enum import Enum
from functools import wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from floorflow.plugins import DEFAULT_BACKEND, BackendOptions, registration
from floorflow.request import Request, Spelling, known_methods, option_of
from floorflow.resources import Fractions
from floorflow.stats import MethodNames

INSPECTED_PART = "xcu250-figd2104-2L-e"
"""Part that ``inspect`` lowers for if it is not told."""

OUTPUT = "Output"
"""Panel of what a command writes and prints."""
JsonFlag = Annotated[
    bool,
    typer.Option("--json", help="Print one machine-readable object on standard output.", rich_help_panel=OUTPUT),
]
DebugFlag = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=OUTPUT)]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.", rich_help_panel=OUTPUT)]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="Folder to write.", show_default=False, rich_help_panel=OUTPUT)
]
OutIfAny = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Folder to write: data and pictures.", rich_help_panel=OUTPUT),
]
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace what an earlier run wrote to the folder.", rich_help_panel=OUTPUT)
]

Command = Callable[..., None]


def _fields() -> dict[str, FieldInfo]:
    """Return the fields of the request, and behind its back end's those of the one that it has unless told."""
    made: dict[str, FieldInfo] = {}
    for name, info in Request.model_fields.items():
        made[name] = info
        if name == "backend_options":
            made |= registration(DEFAULT_BACKEND).options.model_fields
    return made


FIELDS = _fields()
"""What the command line has options for."""


def asks_for(*fields: str, defaults: Mapping[str, Any] | None = None, **helps: str) -> Callable[[Command], Command]:
    """Give a command options for some of `FIELDS`; it gets those that were given, by field, as first argument.

    ``defaults`` and ``helps`` are this command's own for some fields.
    """
    known = {name: copy(FIELDS[name]) for name in fields}
    for name, value in (defaults or {}).items():
        known[name].default = value
    for name, text in helps.items():
        known[name].description = text

    def decorate(command: Command) -> Command:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @wraps(command)
        def run(context: typer.Context, **values: Any) -> None:
            given = {name: _plain(values.pop(name)) for name in fields}
            asked = {name: value for name, value in given.items() if _was_given(context, name)}
            command(asked, **values)

        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        made = [_parameter(name, field) for name, field in known.items()]
        kept = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__signature__ = inspect.Signature([context, *made, *kept])  # type: ignore[attr-defined]
        run.__annotations__ = {}
        return run

    return decorate


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    """Return a field as a parameter that typer makes an option, or an argument, of."""
    spelling = next(data for data in field.metadata if isinstance(data, Spelling))
    kind = _typer_type(name, field)
    about: dict[str, Any] = {"help": _help(name, field), "rich_help_panel": spelling.panel}
    if spelling.argument:
        made: Any = typer.Argument(show_default=False, **about)
    else:
        dashed = option_of(name)
        spelt = f" /{dashed}" if field.default is True else dashed
        letters = [spelling.letter] if spelling.letter else []
        made = typer.Option(
            spelt, *letters, show_default=not isinstance(field.default, bool), **_limits(field), **about
        )
    default = inspect.Parameter.empty if field.is_required() else _default(field, kind)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, made], default=default)


def _help(name: str, field: FieldInfo) -> str:
    """Return a field's description; of methods that are no choice for typer, with their names."""
    methods = next((data for data in field.metadata if isinstance(data, MethodNames)), None)
    listed = f" {', '.join(known_methods(name))}." if methods is not None and methods.of_backend else ""
    return f"{field.description}{listed}"


def _typer_type(name: str, field: FieldInfo) -> Any:
    """Return the type by which typer reads a field; what has no simple type is text, which the request itself reads."""
    kinds = _members(field.annotation)
    methods = next((data for data in field.metadata if isinstance(data, MethodNames)), None)
    # Which methods there are depends on the back end, too.
    names = () if methods is None or methods.of_backend else methods.known
    choices = names or (get_args(kinds[0]) if len(kinds) == 1 and get_origin(kinds[0]) is Literal else ())
    if kinds[0] in (Fractions, BackendOptions):
        return list[str] | None
    simple = kinds[0] if len(kinds) == 1 else str
    made = _choice(name, choices) if choices else simple
    return made | None if NoneType in get_args(field.annotation) else made


def _choice(name: str, values: Sequence[str]) -> Any:
    return Enum(name, {value: value for value in values})


def _members(annotation: Any) -> list[Any]:
    """Return the types of a union, or the one type, without None and what is annotated."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return [get_args(part)[0] if get_origin(part) is Annotated else part for part in parts if part is not NoneType]


def _default(field: FieldInfo, kind: Any) -> Any:
    """Return the default as typer shows it; the request has its own."""
    if isinstance(field.default, Fractions | BackendOptions):
        return None
    return str(field.default) if kind is str and field.default is not None else field.default


def _limits(field: FieldInfo) -> dict[str, Any]:
    """Return the range of a number."""
    ends = {"ge": "min", "le": "max"}
    return {end: getattr(data, at) for data in field.metadata for at, end in ends.items() if hasattr(data, at)}
