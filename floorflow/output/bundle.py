"""A bundle in the making, and what stands in the folder that it is for."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from floorflow.errors import InputError
from floorflow.output.files import RUN_FILE, folders_of, walk
from floorflow.output.workshop import INSIDE, Workshop


def prepare(workshop: Workshop, bundle: Mapping[str, bytes], force: bool) -> set[str]:
    """Build the bundle in the workshop, and return the files of the earlier plan in ``out``."""
    out = workshop.out
    if not force:
        require_empty(out)
    earlier = earlier_files(out)
    _refuse_foreign(out, bundle, earlier)
    workshop.names.write_text(json.dumps({"earlier": sorted(earlier), "new": sorted(bundle)}), encoding="utf-8")
    for name, data in bundle.items():
        path = workshop.new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return earlier


def require_empty(out: Path) -> None:
    """Refuse a folder that holds anything but the workshop of another run."""
    if out.is_dir() and any(path.name != INSIDE for path in out.iterdir()):
        raise InputError(
            f"{out}: the output folder is not empty", hint="choose another --out, or --force to replace an earlier plan"
        )


def _refuse_foreign(out: Path, bundle: Collection[str], earlier: Collection[str]) -> None:
    """Refuse a bundle of which a file, or a folder, would lie on something that no plan wrote."""
    folders = folders_of(bundle)
    for name in sorted({*bundle, *folders} - set(earlier)):
        path = out / name
        if os.path.lexists(path) and (name not in folders or path.is_symlink() or not path.is_dir()):
            raise InputError(f"{path}: is not of an earlier plan and would be lost", hint="choose another --out")


def earlier_files(out: Path) -> set[str]:
    """Return the files that an earlier plan wrote here, run.json among them; empty where there was none."""
    try:
        run = json.loads((out / RUN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    listed = run.get("files") if isinstance(run, dict) else None
    if not isinstance(listed, list):
        return set()
    names = {PurePosixPath(name) for name in (*listed, RUN_FILE) if isinstance(name, str) and "\0" not in name}
    return {name.as_posix() for name in names if not name.is_absolute() and _is_file_within(out, out / name)}


def _is_file_within(out: Path, path: Path) -> bool:
    """Tell whether a path is a file or a link, reached from ``out`` without a step through a link or upwards."""
    within = path.parent.resolve() == path.parent and path.is_relative_to(out)
    return within and (path.is_symlink() or path.is_file())


def link_foreign(out: Path, new: Path, earlier: Collection[str]) -> None:
    """Give the files that no plan wrote a second name in the new folder, and folders their modes and times."""
    ours = folders_of(earlier)
    for folder, files in reversed(walk(out)):
        place = folder.relative_to(out)
        foreign = [path for path in files if (place / path.name).as_posix() not in earlier]
        if foreign or place.as_posix() not in ours:
            (new / place).mkdir(parents=True, exist_ok=True)
            for path in foreign:
                os.link(path, new / place / path.name, follow_symlinks=False)
            shutil.copystat(folder, new / place)
