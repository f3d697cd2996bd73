"""Reading the files of FINN's ApplyConfig: an object of named entries, and ``Defaults`` beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from floorflow.errors import InputError
from floorflow.reading import read_json

DEFAULTS = "Defaults"


def read_config(path: Path, members: str, hint: str) -> dict[str, Any]:
    """Return the object in a file; ``members`` says in a message what it should hold.

    Raises
    ------
    InputError
        If the file cannot be read or holds no object.

    """
    config = read_json(path, "configuration", hint)
    if not isinstance(config, dict):
        raise InputError(f"{path}: expected an object of {members}", hint)
    return config
