"""From what a caller gives to the request, refusing early what can be refused before anything slow is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from floorflow.api.models import AnyModel, Model, matters_for_reading, read, reading_request
from floorflow.api.options import ReadOptions
from floorflow.api.targets import Platform, platform_options
from floorflow.errors import InputError, ToolError
from floorflow.importing import whole_imports
from floorflow.plugins import DEFAULT_BACKEND, registration
from floorflow.request import RESOURCES_ALONE, Request
from floorflow.several import (
    RATE_OPTIONS,
    SeveralOptions,
    SeveralRequest,
    network_name,
    plain_name,
    read_rates,
    refuse_memory_options,
    require_distinct,
    require_known,
)

if TYPE_CHECKING:
    import onnx

    from floorflow.backends.backend import Source

_IN_MEMORY = "model.onnx"
"""Stands for the path of a model that has none yet."""


def asked(
    model: AnyModel, platform: str | Path | Platform, options: Mapping[str, Any]
) -> tuple[Request, Source | None]:
    """Return the request, its files looked for, and the model if it was read before.

    Raises InputError if a file is not there, or an option is not what was expected.
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


def asked_of_several(
    models: Sequence[AnyModel], platform: str | Path | Platform, options: Mapping[str, Any]
) -> tuple[SeveralRequest, tuple[Source | None, ...]]:
    """Return the request for several networks, and of each the model if it was read before.

    Raises InputError if a file is not there, two networks have one name, or an option is not what was expected.
    """
    shared = {name: v for name, v in options.items() if name != "fps" and name not in SeveralOptions.model_fields}
    own = SeveralOptions(**{name: options[name] for name in SeveralOptions.model_fields if name in options})
    names = [_name(model) for model in models]
    require_distinct([(name, _told(model)) for name, model in zip(names, models, strict=True)])
    rates = read_rates(_by_name(options.get("fps"), names), RATE_OPTIONS["fps"])
    require_known(rates, names, RATE_OPTIONS["fps"])
    each = []
    for name, model in zip(names, models, strict=True):
        each.append(asked(model, platform, shared | ({"fps": rates[name]} if name in rates else {})))
    return SeveralRequest(tuple(names), tuple(request for request, _ in each), own), tuple(s for _, s in each)


def _by_name(rates: Any, names: Sequence[str]) -> Any:
    """Return rates by name where the only network's is a bare number."""
    settings = [rates] if isinstance(rates, str | int | float) else rates
    bare = isinstance(settings, Sequence) and len(settings) == 1 and "=" not in str(settings[0])
    return {names[0]: settings[0]} if bare and len(names) == 1 else rates


def shares_memory(options: Mapping[str, Any]) -> bool:
    """Whether engines of the back end that options name share the external memory by a schedule."""
    return registration(str(options.get("backend", DEFAULT_BACKEND))).shares_memory


def rates_of_one(model: AnyModel, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a plan of one network: its rate is a number, or stands by its name."""
    if options.get("min_rate"):
        raise InputError("--min-rate: only several networks have it", hint="--fps is met or refused; leave it out")
    refuse_memory_options(options, str(options.get("backend", DEFAULT_BACKEND)))
    rest = {name: v for name, v in options.items() if name != "fps" and name not in SeveralOptions.model_fields}
    given = options.get("fps")
    settings = [given] if isinstance(given, str) else given
    if not isinstance(settings, Mapping | Sequence):
        return {**rest, **({"fps": given} if "fps" in options else {})}
    if isinstance(settings, Sequence) and len(settings) == 1 and "=" not in str(settings[0]):
        return {**rest, "fps": settings[0]}
    rates = read_rates(settings, RATE_OPTIONS["fps"])
    require_known(rates, [_name(model)], RATE_OPTIONS["fps"])
    return {**rest, "fps": next(iter(rates.values()), None)}


def _name(model: AnyModel) -> str:
    """Return what a model's network is called; of one in memory as its graph is."""
    if isinstance(model, str | Path):
        return network_name(Path(model))
    if isinstance(model, Model) or hasattr(model, "network"):
        return plain_name(read(model).name)
    return plain_name(cast("onnx.ModelProto", model).graph.name or "model")


def _told(model: AnyModel) -> str:
    return str(model) if isinstance(model, str | Path) else "a model that was read"


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
    """Refuse what the board refuses: more FPGAs than it links before a solver is imported."""
    several = "fpgas" in request.model_fields_set and request.fpgas not in ("auto", 1) and not request.has_copies
    if several and not request.platform.startswith(RESOURCES_ALONE):
        with whole_imports():
            from floorflow.hardware import load_platform

        topology = request.topology if "topology" in request.model_fields_set else None
        load_platform(request.platform, int(request.fpgas), request.clock_mhz, request.link, topology)
    with whole_imports():
        from floorflow.search.candidate.preparing import platform_of, settled

    platform_of(settled(request))


def paper(name: str) -> ModuleType:
    """Import a published system of `floorflow.papers` by its name.

    Raises ToolError if this installation has none of that name.
    """
    module = f"floorflow.papers.{name}"
    try:
        with whole_imports():
            return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise ToolError(f"{module}: this installation is without it", hint="install floorflow whole") from error
