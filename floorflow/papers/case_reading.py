"""Cases from what their JSON files hold, or the first field that is not what is expected."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from floorflow.errors import InputError

Model = TypeVar("Model", bound=BaseModel)


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
