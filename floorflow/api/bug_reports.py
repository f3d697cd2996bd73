"""What somebody who looks for a fault in a plan needs: one archive, without a weight in it."""

from __future__ import annotations

import io
import json
import platform as python_platform
import zipfile
from importlib.metadata import distributions
from pathlib import Path

from floorflow import reading
from floorflow.api.checking import check
from floorflow.api.folders import PLAN_FILES, files_in, require_folder
from floorflow.errors import FloorflowError, InputError
from floorflow.output import RUN_FILE, write_file

_KEPT = (*PLAN_FILES, "extras.json", "report.txt", "NEXT.md", "platform/")
"""How names of the files begin that tell of a plan; contents of memories, models and pictures stay at home."""
_SAME_DATE = (1980, 1, 1, 0, 0, 0)


def bug_report(folder: str | Path, out: str | Path, *, force: bool = False) -> tuple[str, ...]:
    """Write a zip of a plan as it was decided, its options, the platform, versions, and what `check` says of it.

    Returns the names in it. It has no weights, but names of layers, and paths of the command line in run.json.

    Raises InputError if the folder holds no plan, or ``out`` is there and ``force`` is not given.
    """
    at = Path(folder)
    require_folder(at, "a folder that plan wrote")
    names = sorted(name for name in {*files_in(at), RUN_FILE} if name.startswith((*_KEPT, RUN_FILE)))
    if not any(name in PLAN_FILES for name in names):
        raise InputError(f"{at}: holds no plan.json", hint="give the folder that floorflow plan wrote")
    held = {name: reading.read_bytes(at / name, "plan", "") for name in names if (at / name).is_file()}
    held["check.json"] = _json(_judged(at))
    held["versions.json"] = _json(_versions())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(held.items()):
            archive.writestr(zipfile.ZipInfo(name, _SAME_DATE), data, zipfile.ZIP_DEFLATED)
    write_file(Path(out), packed.getvalue(), force=force)
    return tuple(sorted(held))


def _judged(folder: Path) -> dict[str, object]:
    """Return what `check` says; of a plan that it cannot read, why: that may be the fault that is looked for."""
    try:
        return check(folder).as_dict()
    except FloorflowError as error:
        return {"verdict": "not judged", "error": str(error)}


def _versions() -> dict[str, object]:
    """Return the machine's kind, and the version of every package that this Python has."""
    packages = {one.metadata["Name"]: one.version for one in distributions()}
    return {
        "python": python_platform.python_version(),
        "system": python_platform.platform(),
        "packages": dict(sorted(packages.items(), key=lambda pair: pair[0].lower())),
    }


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()
