"""From what a caller gives to the request, refusing early what can be refused before anything slow is imported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.api.models import READING, AnyModel, Model, read
from floorflow.api.targets import Platform, platform_options
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.request import Request

if TYPE_CHECKING:
    from floorflow.backends.backend import Source


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
    known = model if isinstance(model, Model) else read(model, **{k: v for k, v in options.items() if k in READING})
    request = Request(model=known.path, **_as_it_was_read(known, wanted))
    request.require_files(model=False)
    return request, known.source


def _as_it_was_read(model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
    for name in READING:
        if options.get(name) is not None and options[name] != model.options.get(name):
            raise InputError(
                f"{name}: {options[name]} is asked for of a model that was read already",
                hint=f"give it to read: floorflow.read(path, {name}={options[name]})",
            )
    return {**model.options, **options}


def require_platform(request: Request) -> None:
    """Refuse what the board refuses."""
    with whole_imports():
        from floorflow.search.asked import platform_of, settled

    platform_of(settled(request))
