"""The command line that asks for what a request asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from floorflow.api.options import OPTIONS, Option
from floorflow.request import Request
from floorflow.resources import Fractions, SomeFractions


def command_line(command: str, request: Request, *more: str) -> list[str]:
    """Return the words of a command line; options that say nothing new are left out."""
    own = request.backend_options
    words: list[str] = []
    for name, option in OPTIONS.items():
        holder = request if name in type(request).model_fields else own
        if name in holder.model_fields_set and name != "backend_options":
            words += _words(option, getattr(holder, name), type(holder).model_fields[name].default)
    others = [name for name in sorted(own.model_fields_set) if name not in OPTIONS]
    settings = [word for name in others for word in ("--backend-option", f"{name}={getattr(own, name)}")]
    return ["floorflow", command, *words, *settings, *more]


def _words(option: Option, value: Any, default: Any) -> Iterator[str]:
    if value is None or value == default:
        return
    if isinstance(value, Fractions | SomeFractions):
        usual = default.as_dict()
        for name, share in value.as_dict().items():
            if share != usual.get(name):
                yield from (option.spelling, f"{name}={share:.15g}")
        return
    if not option.argument:
        yield option.spelling
    if not isinstance(value, bool):
        yield f"{value:.15g}" if isinstance(value, float) else str(value)
