"""Read YAML into pydantic models; every failure names file, field and what was expected, and is a PlatformError."""

from collections.abc import Callable, Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, GetPydanticSchema, ValidationError
from pydantic_core.core_schema import no_info_after_validator_function

from floorflow import reading
from floorflow.errors import InputError, PlatformError

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_YAML_ERRORS = (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError)
"""What PyYAML raises: besides its own errors those of Python's types, for tags that do not fit their values."""


NAME = r"^[a-z0-9][a-z0-9._-]*$"
"""What boards, dies and links are called."""
MAX_DEPTH = 64
MAX_VALUES = 1_000_000
"""What no platform file comes near: collections inside each other, values with every alias written out."""


class Loader(_SafeLoader):  # type: ignore[misc]  # the C loader has no types
    """A safe loader that refuses a key that stands twice in a mapping, of which Python would keep the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping as Python knows it.

        yaml.YAMLError if a key stands in it twice.
        """
        seen: dict[tuple[str, str], Any] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                first = seen.setdefault((key.tag, key.value), key)
                if first is not key:
                    where = f"line {key.start_mark.line + 1} and before it in line {first.start_mark.line + 1}"
                    raise yaml.YAMLError(f"the field '{key.value}' stands twice, in {where}; keep one of them")
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


class FileModel(BaseModel):
    """A part of a platform file: unknown fields are errors, values are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Model = TypeVar("Model", bound=FileModel)


def read_as(written: Any, make: Callable[[Any], Any]) -> GetPydanticSchema:
    """Let a field hold what is made of its value in a file, which is of the type ``written``."""
    return GetPydanticSchema(
        lambda _, handler: no_info_after_validator_function(make, handler.generate_schema(written))
    )


def read_text(path: Path) -> str:
    """Return a platform file's text.

    PlatformError if the file is missing, not UTF-8 text, or larger than any such file.
    """
    return reading.read_text(path, "platform", "give the path of a platform's YAML file", PlatformError)


HINT = "platforms/README.md describes the format"


def parse(
    model: type[Model], text: str, file: str, hint: str = HINT, refused: type[InputError] = PlatformError
) -> Model:
    """Return the model that ``text``, the content of ``file``, describes.

    PlatformError, or ``refused``, if the text is not YAML or a field is missing, unknown or not as expected.
    """
    data = _loaded(text, file, hint, refused)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise refused(f"{file}: {_first_problem(error, model.model_fields)}", hint) from error


def declared_schema(text: str, file: str) -> object:
    """Return what ``schema`` of a platform file says, None if it has none; a text that is not YAML is refused."""
    data = _loaded(text, file)
    return data.get("schema") if isinstance(data, dict) else None


def _loaded(text: str, file: str, hint: str = HINT, refused: type[InputError] = PlatformError) -> Any:
    try:
        _require_plain(text)
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a safe loader, see `Loader`
    except _YAML_ERRORS as error:
        problem = " ".join(str(error).split())
        raise refused(f"{file}: not valid YAML: {problem}", hint) from error


def _require_plain(text: str) -> None:
    """Refuse text that would exhaust the loader, which recurses, or whoever follows its aliases.

    yaml.YAMLError if collections lie too deep in each other, or there are too many values.
    """
    sizes, anchored = [0], dict[str | None, int]()
    open_anchors: list[str | None] = []
    for event in yaml.parse(text, Loader=_SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            sizes.append(1)
            open_anchors.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            size = sizes.pop()
            anchored[open_anchors.pop()] = size
            sizes[-1] += size
        elif isinstance(event, yaml.NodeEvent):
            sizes[-1] += anchored.get(event.anchor, 1) if isinstance(event, yaml.AliasEvent) else 1
        if len(sizes) > MAX_DEPTH + 1:
            raise yaml.YAMLError(f"more than {MAX_DEPTH} lists or mappings lie in each other")
        if sizes[-1] > MAX_VALUES:
            raise yaml.YAMLError(f"holds more than {MAX_VALUES:,} values, with those behind its aliases")


def _first_problem(error: ValidationError, fields: Collection[str]) -> str:
    """Say where the first problem is, what was expected there and what was found; ``fields``: those of the file."""
    problem = error.errors()[0]
    field = ".".join(str(part) for part in problem["loc"]) or "the file"
    if problem["type"] == "extra_forbidden":
        near = get_close_matches(field, fields, n=1)
        return f"{field}: unknown field{f'; did you mean {near[0]}?' if near else ''}"
    if problem["type"] == "missing":
        return f"{field}: the field is missing"
    found = repr(problem["input"])
    shown = found if len(found) <= 60 else found[:57] + "..."
    return f"{field}: {problem['msg'].removeprefix('Value error, ')}; found {shown}"


def require(condition: bool, file: str, field: str, expected: str) -> None:
    """Raise PlatformError unless ``condition`` holds; ``expected`` says what ``field`` must be."""
    if not condition:
        raise PlatformError(f"{file}: {field}: {expected}", HINT)
