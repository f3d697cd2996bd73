"""The files of a folder as its run.json lists them: each must lie in the folder, and no link may lead to it."""

import hashlib
import json
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from floorflow.errors import InputError

RUN_FILE = "run.json"
"""Holds argv, versions, wall times and the files written with their digests; may differ between equal runs."""

OWN_DIGEST = "run_sha256"
"""The field of run.json by which an edited one is known."""

_MAX_BYTES = 64 * 1024 * 1024
_HINT = "it is not what floorflow wrote; plan anew into another folder"


def is_inside(name: str) -> bool:
    """Tell whether a name leads to something below the folder that it is read in, and is spelt as we spell it."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return "\0" not in name and all(part not in ("", ".", "..") for part in name.split("/"))


def read_run(folder: Path) -> Mapping[str, Any] | None:
    """Return what run.json holds; None where there is none.

    InputError if it is no plain file, or no JSON object.
    """
    path = folder / RUN_FILE
    if not is_plain_file(folder, RUN_FILE):
        return None
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path}: is larger than {_MAX_BYTES:,} bytes", hint=_HINT)
        run = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON of ours ({error})", hint=_HINT) from error
    if not isinstance(run, dict):
        raise InputError(f"{path}: is a {type(run).__name__}, expected an object", hint=_HINT)
    return run


def listed_files(folder: Path) -> dict[str, str | None] | None:
    """Return the files that run.json lists and that are there, each with its SHA-256; None without a run.json.

    An older floorflow wrote no digests: then they are None.

    InputError if run.json is not ours, a name in it leads out of the folder, or to what is no plain file.
    """
    run = read_run(folder)
    if run is None:
        return None
    names, digests = run.get("files"), run.get("sha256", {})
    if not isinstance(names, list) or not isinstance(digests, dict):
        raise InputError(f"{folder / RUN_FILE}: lists no files", hint=_HINT)
    for name in names:
        if not isinstance(name, str) or not is_inside(name) or name == RUN_FILE:
            raise InputError(f"{folder / RUN_FILE}: files: {str(name)[:80]!r} is no file below {folder}", hint=_HINT)
    found = {name: digests.get(name) for name in names if is_plain_file(folder, name)}
    return {name: digest if isinstance(digest, str) else None for name, digest in found.items()}


def run_digest(run: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all that a run.json holds but this digest itself."""
    held = {key: value for key, value in run.items() if key != OWN_DIGEST}
    return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def run_file_digest(folder: Path) -> str | None:
    """Return the SHA-256 of the file run.json, which is ours; None where it was edited, or nobody knows.

    InputError if it is another program's, or lists a hidden file, of which floorflow writes none.
    """
    path, run = folder / RUN_FILE, read_run(folder) or {}
    versions = run.get("versions")
    if not isinstance(run.get("argv"), list) or not isinstance(versions, dict) or "floorflow" not in versions:
        raise InputError(f"{path}: is not floorflow's (no argv, or no version of floorflow)", hint=_HINT)
    hidden = [name for name in run["files"] if any(part.startswith(".") for part in name.split("/"))]
    if hidden:
        raise InputError(f"{path}: files: {hidden[0]!r:.80} is hidden, and floorflow writes no such file", hint=_HINT)
    return sha256(path) if run.get(OWN_DIGEST) == run_digest(run) else None


def is_plain_file(folder: Path, name: str) -> bool:
    """Tell whether a plain file has a name; False where nothing has.

    InputError if a link leads there, or it is a folder or a device.
    """
    path, parts = folder, name.split("/")
    for number, part in enumerate(parts, 1):
        path /= part
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return False
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})", hint=_HINT) from error
        if number < len(parts) and stat.S_ISREG(mode):
            return False
        if not (stat.S_ISDIR(mode) if number < len(parts) else stat.S_ISREG(mode)):
            what = "is a link" if stat.S_ISLNK(mode) else "is no plain file"
            raise InputError(f"{path}: {what}, and {folder / RUN_FILE} has a file of this name", hint=_HINT)
    return True


def sha256(path: Path) -> str:
    """Return the digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folders_of(names: Collection[str]) -> list[str]:
    """Return the folders in which files lie, as paths within the output folder, the inner ones first."""
    found = {parent.as_posix() for name in names for parent in PurePosixPath(name).parents if parent.name}
    return sorted(found, key=lambda name: (-name.count("/"), name))
