"""Read YAML into pydantic models; every failure is a PlatformError that names file, field and what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from floorflow.errors import PlatformError

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class FileModel(BaseModel):
    """A part of a platform file: unknown fields are errors, values are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Model = TypeVar("Model", bound=FileModel)


def read_text(path: Path) -> str:
    """Return a platform file's text.

    Raises
    ------
    PlatformError
        If the file is missing or not UTF-8 text.

    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlatformError(f"{path}: cannot be read: {error}", hint="give the path of a YAML file") from error


def parse(model: type[Model], text: str, file: str) -> Model:
    """Return the model that ``text``, the content of ``file``, describes.

    Raises
    ------
    PlatformError
        If the text is not YAML or a field is missing, unknown or not as expected.

    """
    try:
        data = yaml.load(text, Loader=Loader)  # noqa: S506 - a safe loader, see `Loader`
    except yaml.YAMLError as error:
        raise PlatformError(f"{file}: not valid YAML: {' '.join(str(error).split())}") from error
    try:
        return model.model_validate(data, strict=False)
    except ValidationError as error:
        raise PlatformError(
            f"{file}: {_first_problem(error)}", hint="platforms/README.md describes the format"
        ) from error


def _first_problem(error: ValidationError) -> str:
    """Say where the first problem is, what was expected there and what was found."""
    problem = error.errors()[0]
    field = ".".join(str(part) for part in problem["loc"]) or "the file"
    if problem["type"] == "extra_forbidden":
        return f"{field}: unknown field"
    if problem["type"] == "missing":
        return f"{field}: the field is missing"
    found = repr(problem["input"])
    shown = found if len(found) <= 60 else found[:57] + "..."
    return f"{field}: {problem['msg'].removeprefix('Value error, ')}; found {shown}"


def require(condition: bool, file: str, field: str, expected: str) -> None:
    """Raise PlatformError unless ``condition`` holds; ``expected`` says what ``field`` must be."""
    if not condition:
        raise PlatformError(f"{file}: {field}: {expected}", hint="platforms/README.md describes the format")
