"""Reading the files of FINN's ApplyConfig: an object of named entries, and ``Defaults`` beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from floorflow.errors import InputError

DEFAULTS = "Defaults"


def read_config(path: Path, members: str, hint: str) -> dict[str, Any]:
    """Return the object in a file; ``members`` says in a message what it should hold.

    Raises
    ------
    InputError
        If the file cannot be read or holds no object.

    """
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", hint) from error
    except ValueError as error:
        raise InputError(f"{path}: no JSON: {error}", hint) from error
    if not isinstance(config, dict):
        raise InputError(f"{path}: expected an object of {members}", hint)
    return config
