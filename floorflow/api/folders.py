"""Folders of results: written whole or not at all, with what differs between equal runs in run.json."""

from __future__ import annotations

import platform as python_platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

from floorflow import __version__, reading
from floorflow.errors import InputError
from floorflow.output import RUN_FILE, earlier_files, write

_PACKAGES = ("matplotlib", "networkx", "numpy", "onnx", "ortools", "pydantic", "pymetis")


def require_folder(folder: Path, what: str) -> None:
    """Refuse what is no folder; ``what`` was to be given."""
    reading.require_folder(folder, what)


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
    """Return the names of the files that an earlier run wrote to a folder; without run.json all but hidden ones."""
    held = folder.resolve()
    listed = earlier_files(held) or {
        name.as_posix()
        for path in held.rglob("*")
        for name in (path.relative_to(held),)
        if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in name.parts)
    }
    return listed - {RUN_FILE}


def run_of(folder: Path) -> tuple[list[str], float]:
    """Return the command line that made a folder and the seconds that took, as its run.json says; else none and 0."""
    try:
        run = reading.read_json(folder / RUN_FILE, "plan", "")
        return [str(word) for word in run["argv"]], float(run["seconds"])
    except (InputError, ValueError, KeyError, TypeError, OverflowError):
        return [], 0.0
