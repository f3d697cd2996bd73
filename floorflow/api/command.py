"""The command line that asks for what a request asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from floorflow.api.options import OPTIONS, Option
from floorflow.presets import PRESET_FIELDS
from floorflow.request import Request, preset_value
from floorflow.resources import Fractions, SomeFractions
from floorflow.several import SeveralOptions, SeveralRequest


def command_line(command: str, request: Request, *more: str) -> list[str]:
    """Return the words of a command line; options that say nothing new are left out."""
    own = request.backend_options
    words: list[str] = []
    for name, option in OPTIONS.items():
        holder = request if name in type(request).model_fields else own
        if name in holder.model_fields_set and name != "backend_options":
            words += _words(option, getattr(holder, name), _usual(request, name))
    others = [name for name in sorted(own.model_fields_set) if name not in OPTIONS]
    settings = [word for name in others for word in ("--backend-option", f"{name}={getattr(own, name)}")]
    return ["floorflow", command, *words, *settings, *more]


def command_line_of_several(command: str, request: SeveralRequest, *more: str) -> list[str]:
    """Return the words of a command line for several networks."""
    shared = command_line(command, request.shared, *more)
    models = [str(one.model) for one in request.each[1:]]
    rates = [("--fps", request.rates), ("--min-rate", request.own.min_rate)]
    given = [(option, f"{name}={rate:.15g}") for option, of in rates for name, rate in of.items()]
    rest = [*_memory_words(request), *(word for pair in given for word in pair)]
    return [*shared[:3], *models, *shared[3:], *rest]


def _memory_words(request: SeveralRequest) -> list[str]:
    """Return the options of a shared memory that are not as they are unless told."""
    own = request.own
    words = [] if own.memory_gbs is None else ["--memory-gbs", f"{own.memory_gbs:.15g}"]
    words += [] if own.fairness == SeveralOptions().fairness else ["--fairness", own.fairness]
    return [*words, "--two-sided"] if own.two_sided else words


def _usual(request: Request, name: str) -> Any:
    """Return what an option is unless told."""
    if name in PRESET_FIELDS:
        return preset_value(request.preset, name)
    if name in type(request).model_fields:
        return type(request).model_fields[name].get_default(call_default_factory=True)
    return request.backend_options.usual(request.preset, name)


def _words(option: Option, value: Any, default: Any) -> Iterator[str]:
    if value is None or value == default:
        return
    if isinstance(value, Fractions | SomeFractions):
        usual = default.as_dict()
        for name, share in value.as_dict().items():
            if share != usual.get(name):
                yield from (option.spelling, f"{name}={share:.15g}")
        return
    if isinstance(value, dict | tuple):
        for one in value if isinstance(value, tuple) else (f"{name}={area}" for name, area in value.items()):
            yield from (option.spelling, one)
        return
    if not option.argument:
        yield option.spelling
    if not isinstance(value, bool):
        yield f"{value:.15g}" if isinstance(value, float) else str(value)
