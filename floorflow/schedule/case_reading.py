"""Reading JSON files of cases, whatever they hold: size, syntax, and the first field that is not what is expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from floorflow.errors import InputError

Model = TypeVar("Model", bound=BaseModel)


def read_json(path: Path, hint: str, most_bytes: int, **options: Any) -> Any:
    """Return what a file holds; ``options`` are those of `json.loads`. InputError names the file."""
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})", hint=hint) from error
    if len(data) > most_bytes:
        raise InputError(f"{path}: is larger than {most_bytes:,} bytes", hint=hint)
    try:
        return json.loads(data, **options)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: the file is no JSON ({error})", hint=hint) from error


def validated(model: type[Model], content: Any, file: str, hint: str, spelt: tuple[str, str] = ("", "")) -> Model:
    """Return content as a model; ``spelt``: how fields of it begin, and how they begin in the file.

    InputError names the file and the first field that is not what is expected.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(f"{file}: {field.replace(*spelt, 1)}: {first['msg']}", hint=hint) from error
