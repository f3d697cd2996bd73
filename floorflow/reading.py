"""The one way in which a user's files are opened: regular files alone, without waiting, up to a limit of the kind.

A device such as ``/dev/zero`` never ends, a named pipe waits for a writer, and a folder is none. Nobody else in the
package opens a file of the user (a test looks for it), but `verify`, which has a reader of its own.
"""

import codecs
import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from floorflow.errors import InputError

FileKind = Literal["model", "platform", "configuration", "case", "plan", "report", "floorplan", "costs"]

_MIB = 2**20
MOST_BYTES: Mapping[FileKind, int] = {
    "model": 2048 * _MIB,
    "platform": 16 * _MIB,
    "configuration": 16 * _MIB,
    "case": 256 * _MIB,
    "plan": 1024 * _MIB,
    "report": 256 * _MIB,
    "floorplan": 64 * _MIB,
    "costs": 256 * _MIB,
}
"""The largest file of each kind that is read, as docs/models.md has it. Protobuf takes no model above 2 GiB."""

_SORTS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_NO_NAME = "its name is not UTF-8; rename it, or use a locale with UTF-8"


def read_bytes(path: Path, kind: FileKind, hint: str, error: type[InputError] = InputError) -> bytes:
    """Return what a file holds.

    InputError, or ``error``, if the file is missing, no regular file, larger than its kind may be, cannot be read, or
    has a name that no file of a plan could repeat.
    """
    try:
        require_utf8(path.name)
        # Without O_NONBLOCK, to open a named pipe waits for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            os.close(descriptor)
            raise error(f"{shown(path)}: is {_sort(mode)}, expected a file", hint)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MOST_BYTES[kind] + 1)
    except (OSError, ValueError) as problem:
        raise error(f"{shown(path)}: {why(problem)}", hint) from None
    if len(data) > MOST_BYTES[kind]:
        raise error(f"{shown(path)}: is larger than {MOST_BYTES[kind]:,} bytes", hint)
    return data


def read_head(path: Path, most_bytes: int) -> str:
    """Return the start of a file as text, to see what it is; empty if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(most_bytes) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except (OSError, ValueError):
        return ""
    return _decoded(data)


def _decoded(data: bytes) -> str:
    """Return the text of a report: UTF-8, or UTF-16 where its first two bytes say so (PowerShell's ``>``)."""
    wide = data[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}
    return data.decode("utf-16" if wide else "utf-8", "replace").removeprefix("\ufeff")


def read_text(
    path: Path, kind: FileKind, hint: str, error: type[InputError] = InputError, *, replace: bool = False
) -> str:
    """Return a file's text, which is UTF-8.

    ``replace``: it is a report, which may be UTF-16, too, and what is no character becomes U+FFFD.
    """
    data = read_bytes(path, kind, hint, error)
    if replace:
        return _decoded(data)
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        place = f"byte {problem.start:,} of it"
        raise error(f"{shown(path)}: cannot be read: it is no UTF-8 text ({place})", hint) from None


def read_json(path: Path, kind: FileKind, hint: str, **options: Any) -> Any:
    """Return what a JSON file holds; ``options`` are those of `json.loads`.

    InputError as `read_text`, and if it is no JSON, lies too deep in itself, or has a key twice in one object.
    """
    return parse_json(read_text(path, kind, hint), str(path), hint, **options)


def parse_json(text: str, file: str, hint: str, **options: Any) -> Any:
    """Return what a text that stands in ``file`` holds as JSON; as `read_json`."""
    try:
        return json.loads(text, **{"object_pairs_hook": _object, "parse_constant": _no_number, **options})
    except RecursionError:
        raise InputError(
            f"{shown(file)}: the file is no JSON that can be read: it lies too deep in itself", hint
        ) from None
    except ValueError as problem:
        raise InputError(f"{shown(file)}: the file is no JSON: {problem}", hint) from None


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; of a key that stands twice Python would keep the last."""
    held: dict[str, Any] = {}
    for key, value in pairs:
        if key in held:
            raise ValueError(f"{key!r} stands twice in one object; keep one of them")
        held[key] = value
    return held


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def files_below(folder: Path) -> list[Path]:
    """Return all regular files below a folder, by their paths; links to folders are not followed.

    InputError if the folder, or one below it, cannot be read.
    """

    def refuse(problem: OSError) -> None:
        where = problem.filename or folder
        raise InputError(f"{shown(where)}: {why(problem)}", "make it readable, or give another folder")

    return sorted(
        path
        for root, _, names in os.walk(folder, onerror=refuse)
        for path in (Path(root) / name for name in names)
        if is_file(path)
    )


def linked_folders_below(folder: Path) -> list[Path]:
    """Return the links to folders that `files_below` does not follow, by their paths."""
    walked = ((Path(root), names) for root, names, _ in os.walk(folder))
    return sorted(root / name for root, names in walked for name in names if os.path.islink(root / name))  # noqa: PTH114


def is_file(path: Path) -> bool:
    """Whether a path is that of a regular file; where that cannot be told, it is none."""
    return os.path.isfile(path)  # noqa: PTH113  (a Path's raises where a name is too long or a folder forbidden)


def is_folder(path: Path) -> bool:
    """Whether a path is that of a folder; where that cannot be told, it is none."""
    return os.path.isdir(path)  # noqa: PTH112  (as above)


def exists(path: Path) -> bool:
    """Whether something stands at a path; where that cannot be told, nothing does."""
    return os.path.exists(path)  # noqa: PTH110  (as above)


def require_file(path: Path, hint: str, option: str = "", error: type[InputError] = InputError) -> None:
    """Refuse the path of no regular file; ``option`` is told before it.

    InputError, or ``error``: says what stands there instead, or why that cannot be told.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  (as above)
    except (OSError, ValueError) as problem:
        raise error(f"{option}{shown(path)}: {why(problem)}", hint) from None
    if not stat.S_ISREG(mode):
        raise error(f"{option}{shown(path)}: is {_sort(mode)}, expected a file", hint)


def resolved(path: Path) -> Path:
    """Return a path without links; of links in a circle what can be told of it."""
    return Path(os.path.realpath(path))  # a Path's `resolve` raises RuntimeError


def require_folder(path: Path, expected: str) -> None:
    """Refuse what is no folder that can be listed; ``expected`` says what is.

    InputError says what stands there instead, or why that cannot be told.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  (takes a name with a zero byte for a ValueError, too)
        if not stat.S_ISDIR(mode):
            raise InputError(f"{shown(path)}: is no folder, but {_sort(mode)}", f"give {expected}")
        with os.scandir(path):
            pass
    except (OSError, ValueError) as problem:
        told = "there is no such folder" if isinstance(problem, FileNotFoundError) else why(problem)
        raise InputError(f"{shown(path)}: {told}", f"give {expected}") from None


def require_nameable(path: Path, hint: str) -> None:
    """Refuse a path at which nothing can be made: too long a name, links in a circle, a file on the way.

    InputError says why.
    """
    if any(len(os.fsencode(part)) > _LONGEST_NAME for part in path.parts):
        raise InputError(f"{shown(path)}: cannot be written: a name in it is too long", hint)
    try:
        os.stat(path)  # noqa: PTH116  (as above)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as problem:
        raise InputError(f"{shown(path)}: {why(problem, 'written')}", hint) from None


def require_utf8(name: str) -> None:
    """Raise ValueError for a file's name of other bytes, which no file of a plan could repeat."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(_NO_NAME) from None


def shown(path: Path | str) -> str:
    """Return a path as it can be printed: what is not UTF-8 in it as an escape, and a long one cut."""
    text = str(path).encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


_MOST_SHOWN = 200
_LONGEST_NAME = 255


def why(problem: OSError | ValueError, done: str = "read") -> str:
    """Say in words why the system refuses a path."""
    if isinstance(problem, FileNotFoundError):
        return "there is no such file"
    words = problem.strerror if isinstance(problem, OSError) else ""
    return f"cannot be {done}: {(words or str(problem)).lower()}"


def _sort(mode: int) -> str:
    return next((sort for is_sort, sort in _SORTS if is_sort(mode)), "a file" if stat.S_ISREG(mode) else "no file")
