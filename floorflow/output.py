"""Lay a finished bundle of files on disk: complete or not at all, and never over anything of the user's."""

from __future__ import annotations

import json
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
        If ``out`` is a file, or a folder that is not empty and ``force`` is not set.

    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file, expected a folder to write to", hint="choose another --out")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise InputError(
            f"{out}: the output folder is not empty", hint="choose another --out, or --force to replace an earlier plan"
        )


def write(out: Path, files: Mapping[str, str | bytes], run: Mapping[str, object]) -> None:
    """Write all files to a temporary folder beside ``out``, then rename it.

    Files of an earlier plan in ``out`` (listed in its run.json) are replaced; any other file there is kept.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        _fill(fresh, files, run)
        if out.exists():
            _keep_foreign(out, fresh)
            old = Path(tempfile.mkdtemp(prefix=f".{out.name}-old-", dir=out.parent))
            out.rename(old)
            fresh.rename(out)
            shutil.rmtree(old)
        else:
            fresh.rename(out)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _fill(folder: Path, files: Mapping[str, str | bytes], run: Mapping[str, object]) -> None:
    folder.chmod(0o755)
    content = dict(files)
    content[RUN_FILE] = json.dumps({**run, "files": sorted(files)}, indent=2, sort_keys=True) + "\n"
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def _keep_foreign(out: Path, fresh: Path) -> None:
    ours = {RUN_FILE, *_earlier_files(out)}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.is_file() and name not in ours and not (fresh / name).exists():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, fresh / name)


def _earlier_files(out: Path) -> list[str]:
    try:
        run = json.loads((out / RUN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    files = run.get("files") if isinstance(run, dict) else None
    return [str(name) for name in files] if isinstance(files, list) else []
