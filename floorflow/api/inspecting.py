"""What was read of a model, and what it becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from floorflow.api.asking import asked
from floorflow.api.models import ANY_BOARD, AnyModel
from floorflow.api.options import InspectOptions, require_options, with_options
from floorflow.api.targets import Platform, loaded
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.technology import require_known_family

INSPECTED_PART = "xcu250-figd2104-2L-e"
"""Part that `inspect` lowers for if it is not told."""


class Inspection:
    """A model as its back end makes it for a part; ``refusal`` says why it cannot be planned, empty if it can."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as ``floorflow inspect --json`` prints it."""
        return self._content

    @property
    def refusal(self) -> str:
        """Every reason why the model cannot be planned; empty if it can."""
        return str(self._content["refusal"])

    @property
    def notes(self) -> list[str]:
        """What was assumed."""
        return list(self._content["notes"])

    @property
    def layers(self) -> list[dict[str, Any]]:
        """One flat row a layer with weights."""
        return list(self._content["layers"])

    @property
    def engines(self) -> list[dict[str, Any]]:
        """One flat row an engine: bits, and if known its legal parallelism, its cycles, the least of each resource."""
        return [_row(engine) for engine in self._content["engines"]]

    def __repr__(self) -> str:
        found = self._content
        return f"<floorflow.Inspection {found['name']} on {found['part']}: {len(found['engines'])} engines>"


def _row(engine: dict[str, Any]) -> dict[str, Any]:
    row = {key: value for key, value in engine.items() if key not in {"attributes", "folding", "legal"}}
    legal = dict(engine["legal"] or {})
    return {**row, **legal.pop("least_resources", {}), **legal}


@with_options(InspectOptions)
def inspect(
    model: AnyModel,
    platform: str | Path | Platform | None = None,
    *,
    part: str | None = None,
    **options: Unpack[InspectOptions],
) -> Inspection:
    """Tell what was read and assumed of a model, the engines it becomes, and what their foldings range over.

    Engines are made for the part of a platform, for a ``part`` by name, or else for an Alveo U250's.

    Raises
    ------
    InputError
        If the model is none, or platform or part are unknown. What cannot be planned is no error but a ``refusal``.

    """
    require_options(options, InspectOptions, "inspect")
    # What is not asked about the platform is as on any.
    request, source = asked(model, platform or ANY_BOARD, options)
    lowered_for = _part(platform, part)
    with whole_imports():
        from floorflow.study.inspection.inspect import inspect, inspection_entry

    content = inspection_entry(inspect(request, lowered_for, source))
    if platform is None and part is None:
        answers_for = f"no platform was given: engines and foldings are for {lowered_for} (alveo-u250)"
        content["notes"] = [f"{answers_for}, and for another part may differ (-p, --part)", *content["notes"]]
    return Inspection(content)


def _part(platform: str | Path | Platform | None, part: str | None) -> str:
    """Return the part that engines are made for."""
    if platform is None:
        require_known_family(part or INSPECTED_PART)
        return part or INSPECTED_PART
    if part is not None:
        name = platform.platform if isinstance(platform, Platform) else platform
        raise InputError(f"--part {part}: --platform {name} says which part", hint="give one of the two")
    held = platform if isinstance(platform, Platform) else loaded(str(platform), {})
    return held.loaded.fpgas[0].board.part
