"""Folders of results: written whole or not at all, with what differs between equal runs in run.json."""

from __future__ import annotations

import platform as python_platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

from floorflow import __version__
from floorflow.errors import InputError
from floorflow.output import RUN_FILE, listed_files, read_run, recover, write

_PACKAGES = ("matplotlib", "networkx", "numpy", "onnx", "ortools", "pydantic", "pymetis")


def require_folder(folder: Path, what: str) -> None:
    """Refuse what is no folder; ``what`` was to be given. What a killed run left in it is undone."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder", hint=f"give {what}")
    recover(folder)


def save(
    folder: str | Path,
    files: Mapping[str, str | bytes],
    command: Sequence[str],
    seconds: float,
    *,
    force: bool,
    steps: Mapping[str, float] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Write files and run.json to a folder; return the names of the files, run.json among them.

    ``steps``: the seconds of single steps, where these are told.
    """
    run = {
        "argv": list(command),
        "python": python_platform.python_version(),
        "seconds": round(seconds, 3),
        **({"seconds_of": {name: round(spent, 3) for name, spent in steps.items()}} if steps else {}),
        "versions": {"floorflow": __version__} | {name: version(name) for name in _PACKAGES},
    }
    write(Path(folder), files, run, force=force)
    return (*sorted(files), RUN_FILE)


def files_in(folder: Path) -> set[str]:
    """Return the names of the files that an earlier run wrote to a folder; without run.json all but hidden ones.

    Raises
    ------
    InputError
        If run.json is not ours, or lists what does not lie in the folder.

    """
    held = folder.resolve()
    listed = listed_files(held)
    if listed is not None:
        return set(listed)
    return {
        name.as_posix()
        for path in held.rglob("*")
        for name in (path.relative_to(held),)
        if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in name.parts)
    }


def run_of(folder: Path) -> tuple[list[str], float]:
    """Return the command line that made a folder and the seconds that took, as its run.json says; else none and 0."""
    run = read_run(folder.resolve()) or {}
    try:
        return [str(word) for word in run["argv"]], float(run["seconds"])
    except (ValueError, KeyError, TypeError, OverflowError):
        return [], 0.0
