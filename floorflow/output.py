"""Lay a finished bundle of files on disk: complete or not at all, and never over anything of the user's."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from floorflow.errors import InputError

RUN_FILE = "run.json"
"""Holds argv, versions, wall times and the list of files written; may differ between equal runs."""


def require_free(out: Path, *, force: bool) -> None:
    """Refuse an output folder that holds anything, unless forced; called before the work starts.

    Raises
    ------
    InputError
        If ``out`` is a file or cannot be written, or is a folder that is not empty and ``force`` is not set.

    """
    out = out.resolve()
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file, expected a folder to write to", hint="choose another --out")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise InputError(
            f"{out}: the output folder is not empty", hint="choose another --out, or --force to replace an earlier plan"
        )
    parent = next(folder for folder in (out, *out.parents) if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{out}: cannot be written, {parent} is no writable folder", hint="choose another --out")


def write(out: Path, files: Mapping[str, str | bytes], run: Mapping[str, object]) -> None:
    """Write all files to a temporary folder, then move them to ``out``.

    An ``out`` that does not exist appears at once and whole. In one that does, the files of an earlier plan (those that
    its run.json lists) are replaced one by one, run.json last, and nothing else is touched.

    Raises
    ------
    InputError
        If a file that no earlier plan wrote stands where one of ours must go, or the disk refuses.

    """
    out = out.resolve()
    earlier = _earlier_files(out)
    foreign = sorted(name for name in (*files, RUN_FILE) if (out / name).exists() and name not in earlier)
    if foreign:
        raise InputError(
            f"{out / foreign[0]}: is not of an earlier plan and would be lost", hint="choose another --out"
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out if out.is_dir() else out.parent))
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror})", hint="choose another --out") from error
    try:
        _fill(fresh, files, run)
        if out.is_dir():
            _replace(out, fresh, earlier)
        else:
            fresh.rename(out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror})", hint="choose another --out") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _fill(folder: Path, files: Mapping[str, str | bytes], run: Mapping[str, object]) -> None:
    folder.chmod(0o755)
    content = dict(files)
    content[RUN_FILE] = json.dumps({**run, "files": sorted(files)}, indent=2, sort_keys=True) + "\n"
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def _replace(out: Path, fresh: Path, earlier: set[str]) -> None:
    """Remove the earlier plan's files, move ours in, and drop folders of the earlier plan that are left empty."""
    for name in sorted(earlier):
        (out / name).unlink(missing_ok=True)
    ours = sorted(path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file())
    for path in sorted(ours, key=lambda path: path.as_posix() == RUN_FILE):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (fresh / path).replace(out / path)
    folders = {parent for name in earlier for parent in Path(name).parents if parent != Path()}
    for folder in sorted(folders, key=lambda path: -len(path.parts)):
        if (out / folder).is_dir() and not any((out / folder).iterdir()):
            (out / folder).rmdir()


def _earlier_files(out: Path) -> set[str]:
    """Return the files that an earlier plan wrote here, run.json among them; empty where there was none."""
    try:
        run = json.loads((out / RUN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    files = run.get("files") if isinstance(run, dict) else None
    if not isinstance(files, list):
        return set()
    names = {str(name) for name in files if not Path(str(name)).is_absolute() and ".." not in Path(str(name)).parts}
    return names | {RUN_FILE}
