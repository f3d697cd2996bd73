"""From what a caller gives to the request, refusing early what can be refused before anything slow is imported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.api.models import AnyModel, Model, matters_for_reading, read, reading_request
from floorflow.api.options import ReadOptions
from floorflow.api.targets import Platform, platform_options
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.request import Request

if TYPE_CHECKING:
    from floorflow.backends.backend import Source

_IN_MEMORY = "model.onnx"
"""Stands for the path of a model that has none yet."""


def asked(
    model: AnyModel, platform: str | Path | Platform, options: Mapping[str, Any]
) -> tuple[Request, Source | None]:
    """Return the request, its files looked for, and the model if it was read before.

    Raises
    ------
    InputError
        If a file is not there, or an option is not what was expected.

    """
    wanted = platform_options(platform, options)
    if isinstance(model, str | Path):
        request = Request(model=model, **wanted)
        request.require_files()
        return request, None
    if isinstance(model, Model):
        known, request = model, _as_it_was_read(model, wanted)
    else:
        unnamed = Request(model=_IN_MEMORY, **wanted)
        known = read(model, backend=unnamed.backend, backend_options=_given(unnamed))
        request = unnamed.changed(model=known.path)
    request.require_files(model=False)
    return request, known.source


def _as_it_was_read(model: Model, wanted: Mapping[str, Any]) -> Request:
    """Return the request with the options that the model was read with; none may be another now."""
    before = reading_request(model.path, model.options)
    request = Request(model=model.path, **{"backend": before.backend, **wanted})
    if request.backend != before.backend:
        raise _too_late("backend", request.backend)
    held, now = _given(before), _given(request)
    for name, value in now.items():
        if (name in held or matters_for_reading(before.backend, name)) and value != getattr(
            before.backend_options, name
        ):
            raise _too_late(name, value)
    return request.changed(backend_options={**now, **held})


def _given(request: Request) -> dict[str, Any]:
    """Return the options of the back end that were given; None where that is the default is as if it was not."""
    own = request.backend_options
    values = {name: (getattr(own, name), field.default) for name, field in type(own).model_fields.items()}
    given = {name: pair for name, pair in values.items() if name in own.model_fields_set}
    return {name: value for name, (value, default) in given.items() if value is not None or default is not None}


def _too_late(name: str, value: object) -> InputError:
    option = f"{name}={value!r}" if name in ReadOptions.__annotations__ else f"backend_options={{{name!r}: {value!r}}}"
    return InputError(
        f"{name}: {value} is asked for of a model that was read already, without it or with another",
        hint=f"give it to read: floorflow.read(path, {option})",
    )


def require_platform(request: Request) -> None:
    """Refuse what the board refuses."""
    with whole_imports():
        from floorflow.search.asked import platform_of, settled

    platform_of(settled(request))
