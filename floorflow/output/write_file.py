"""Write one file: a picture, or a board's file."""

import os
import shutil
import tempfile
from pathlib import Path

from floorflow.errors import InputError


def require_no_file(path: Path, *, force: bool) -> None:
    """Refuse a path at which something stands, unless forced and it is a plain file; called before the work starts.

    InputError if so, or if its folder is none.
    """
    if os.path.lexists(path) and not (force and path.is_file() and not path.is_symlink()):
        raise InputError(
            f"{path}: there is such a file already", hint="choose another, or replace a plain file with --force"
        )
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written, {path.parent} is no folder", hint="choose another file")


def write_file(path: Path, data: bytes, *, force: bool) -> None:
    """Write a file; one that is there is replaced only with ``force``, by one step.

    InputError as `require_no_file` does, or if the disk refuses.
    """
    require_no_file(path, force=force)
    try:
        if force and path.exists():
            _replace(path, data)
            return
        with path.open("xb") as file:  # x: what another program made in the meantime stays
            file.write(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})", hint="choose another file") from error


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}-", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        shutil.copymode(path, new)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
