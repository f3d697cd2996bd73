"""The options of the command line: those of the API, and what several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from floorflow.api import OPTIONS, Option

OUTPUT = "Output"
"""Panel of what a command writes and prints."""
JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print one machine-readable object on standard output.", rich_help_panel=OUTPUT)
]
DebugFlag = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=OUTPUT)]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.", rich_help_panel=OUTPUT)]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="Folder to write.", rich_help_panel=OUTPUT)]
OutIfAny = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder to write: data and pictures.", rich_help_panel=OUTPUT)
]
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace what an earlier run wrote to the folder.", rich_help_panel=OUTPUT)
]

PROBLEM = (
    *("model", "platform", "fpgas", "cap", "max_products", "max_engine_share", "clock_mhz"),
    *("backend", "backend_options", "costs", "finn", "vivado", "impl_style", "weight_bits", "activation_bits", "seed"),
)
"""Fields of the request that state a folding problem."""

Command = Callable[..., None]


def asks_for(
    *names: str, defaults: Mapping[str, Any] | None = None, several: Collection[str] = (), **helps: str
) -> Callable[[Command], Command]:
    """Give a command some of the API's options; it gets those that were given, by name, as first argument.

    ``defaults`` and ``helps`` are this command's own for some of them; ``several`` may be given more than once here.
    """
    known = [OPTIONS[name] for name in names]
    known = [replace(option, help=helps.get(option.name, option.help)) for option in known]
    known = [replace(o, repeated=True, least=None, most=None) if o.name in several else o for o in known]
    known = [
        replace(option, default=defaults[option.name], required=False)
        if defaults and option.name in defaults
        else option
        for option in known
    ]

    def decorate(command: Command) -> Command:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @wraps(command)
        def run(context: typer.Context, **values: Any) -> None:
            given = {name: _plain(values.pop(name)) for name in names}
            asked = {name: value for name, value in given.items() if _was_given(context, name)}
            for option in known:
                if option.short_for is not None and values.pop(_flag_of(option.short_for[0])):
                    _take(asked, option, *option.short_for)
            command(asked, **values)

        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        made = [parameter for option in known for parameter in (_parameter(option), *_short(option))]
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


def _parameter(option: Option) -> inspect.Parameter:
    """Return an option as a parameter that typer makes an option, or an argument, of."""
    about: dict[str, Any] = {"help": option.help, "rich_help_panel": option.panel}
    if option.argument:
        made: Any = typer.Argument(show_default=False, metavar=_metavar(option), **about)
    else:
        spelt = f" /{option.spelling}" if option.default is True else option.spelling
        letters = [option.letter] if option.letter else []
        shown = not isinstance(option.default, bool)
        made = typer.Option(spelt, *letters, show_default=shown, min=option.least, max=option.most, **about)
    kind, missing = _typer_type(option), inspect.Parameter.empty
    default = missing if option.required else _default(option)
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, made], default=default
    )


def _metavar(option: Option) -> str:
    """Return what an argument is called where it is asked for."""
    name = option.name.upper()
    return f"{name} [{name} ...]" if option.repeated else name


def _short(option: Option) -> Iterator[inspect.Parameter]:
    """Yield the flag that is short for a value of an option, if there is one."""
    if option.short_for is not None:
        spelt, value = option.short_for
        made = typer.Option(spelt, help=f"Short for {option.spelling} {value}.", rich_help_panel=option.panel)
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(_flag_of(spelt), kind, annotation=Annotated[bool, made], default=False)


def _flag_of(spelling: str) -> str:
    """Return the parameter's name of a flag."""
    return spelling.removeprefix("--").replace("-", "_")


def _take(asked: dict[str, Any], option: Option, flag: str, value: str) -> None:
    """Take the value that a flag is short for, unless another was given."""
    if asked.setdefault(option.name, value) != value:
        raise typer.BadParameter(f"{flag} and {option.spelling} {asked[option.name]} contradict each other")


def _typer_type(option: Option) -> Any:
    """Return the type by which typer reads an option; what has no simple type is text, which the API itself reads."""
    if option.repeated:
        return list[str] if option.required else list[str] | None
    made: Any = Enum(option.name, {value: value for value in option.choices}) if option.choices else option.kind
    return made | None if option.may_be_none else made


def _default(option: Option) -> Any:
    """Return the default as typer shows it; the API has its own."""
    return str(option.default) if option.kind is str and option.default is not None else option.default
