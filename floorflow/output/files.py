"""Names and moves of files within a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

RUN_FILE = "run.json"
"""Holds argv, versions, wall times and the list of files written; may differ between equal runs."""


def complete(
    source: Path, out: Path, earlier: Collection[str], new: Collection[str], put: Callable[[Path, Path], None]
) -> None:
    """Replace the earlier files in ``out`` by the new ones, run.json last; what is done already is skipped."""
    for name in set(earlier) - set(new):
        (out / name).unlink(missing_ok=True)
    for name in sorted(new, key=lambda name: name == RUN_FILE):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        put(source / name, out / name)
    for folder in sorted(folders_of(earlier), key=len, reverse=True):
        if (out / folder).is_dir() and not any((out / folder).iterdir()):
            (out / folder).rmdir()


def move(source: Path, target: Path) -> None:
    """Move a file, unless that was done."""
    if source.exists():
        source.replace(target)


def link_over(source: Path, target: Path) -> None:
    """Give a file a second name, in place of the file that has it."""
    target.unlink(missing_ok=True)
    os.link(source, target)


def folders_of(names: Collection[str]) -> set[str]:
    """Return the folders in which files lie, as paths within the output folder."""
    return {parent.as_posix() for name in names for parent in PurePosixPath(name).parents if parent.name}


def walk(folder: Path) -> list[tuple[Path, list[Path]]]:
    """Return a folder and all folders in it, the outer ones first, each with its files; a link counts as a file.

    Raises
    ------
    OSError
        If one of them cannot be read.

    """
    found = []
    for root, folders, files in os.walk(folder, onerror=_reraise):
        links = [name for name in folders if (Path(root) / name).is_symlink()]
        found.append((Path(root), [Path(root) / name for name in files + links]))
    return found


def _reraise(error: OSError) -> None:
    raise error


def require_writable(folder: Path) -> None:
    """Try to write in a folder: permissions alone do not tell of mounts that refuse, such as ``/proc``.

    A file without a name leaves nothing behind, whatever ends the process; not every file system has them.

    Raises
    ------
    OSError
        If nothing can be written there.

    """
    with suppress(AttributeError, OSError):
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
        return
    Path(mkdtemp(prefix=".floorflow-", dir=folder)).rmdir()
