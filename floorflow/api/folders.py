"""Folders of results: written whole or not at all, with what differs between equal runs in run.json."""

from __future__ import annotations

import json
import platform as python_platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

from floorflow import __version__
from floorflow.errors import InputError
from floorflow.output import RUN_FILE, earlier_files, write

_PACKAGES = ("matplotlib", "networkx", "numpy", "onnx", "ortools", "pydantic", "pymetis")


def require_folder(folder: Path, what: str) -> None:
    """Refuse what is no folder; ``what`` was to be given."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder", hint=f"give {what}")


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


@dataclass(frozen=True)
class Later:
    """Files that follow a plan: what they are called together, where they begin, and what makes them."""

    what: str
    begins: str
    make: Callable[[], Mapping[str, bytes]]


def save_later(folder: str | Path, later: Sequence[Later], put: Callable[[Mapping[str, bytes]], object]) -> None:
    """Make files that follow a plan which stands in a folder, and have each kind put there as soon as it is made.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C; the message says that the plan stands, and what is missing.

    """
    made: dict[str, bytes] = {}
    try:
        for each in later:
            made |= each.make()
            put(made)
    except KeyboardInterrupt:
        missing = [each.what for each in later if not (Path(folder) / each.begins).exists()]
        without = f", without {' and '.join(missing)}" if missing else ""
        raise KeyboardInterrupt(f"the plan is finished and is written to {folder}{without}") from None


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
        run = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
        return [str(word) for word in run["argv"]], float(run["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return [], 0.0
