"""The journal of a write: what is to be undone if it is killed. One writer at a time holds that of a folder."""

import errno
import fcntl
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorflow.errors import InputError


def _state_folder(out: Path, *, make: bool) -> Path | None:
    """Return the user's own folder for journals; None where there is none, it lies in ``out``, or none can be made.

    An archive is owned by whoever unpacked it, keeps modes and times, and may hold any list: so neither owner nor
    content of what lies in an output folder proves that a run of ours left it. What no archive brings is a file in the
    user's state folder. Without one (a container without a home) a write is as whole, but what a killed one leaves
    must be cleared by hand.
    """
    told = os.environ.get("XDG_STATE_HOME", "")
    try:
        folder = (Path(told) if Path(told).is_absolute() else Path.home() / ".local" / "state") / "floorflow"
        if folder.resolve().is_relative_to(out):  # it would fill what must be empty, and come with an archive
            return None
        if make:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return folder if is_own and os.access(folder, os.W_OK | os.X_OK) else None


def _path_of(out: Path, *, make: bool) -> Path | None:
    folder = _state_folder(out, make=make)
    return None if folder is None else folder / f"{hashlib.sha256(os.fsencode(out)).hexdigest()[:32]}.journal"


def has_journal(out: Path) -> bool:
    """Tell whether a run of this user is writing to a folder, or was killed while it did."""
    path = _path_of(out, make=False)
    return path is not None and path.exists()


@dataclass(frozen=True)
class Journal:
    """Lines of JSON, each written before what it tells of is done; the last whole one holds."""

    file: int | None

    def note(self, **entry: Any) -> None:
        """Add a line."""
        if self.file is not None:
            line = (json.dumps(entry) + "\n").encode()
            if os.write(self.file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def last(self) -> Mapping[str, Any] | None:
        """Return the last whole line; None if there is none."""
        if self.file is None:
            return None
        with os.fdopen(os.dup(self.file), "rb") as file:
            file.seek(0)
            lines = file.read().split(b"\n")[:-1]  # what follows the last line end was cut off by a kill
        entry: Mapping[str, Any] | None = json.loads(lines[-1]) if lines else None
        return entry

    def clear(self) -> None:
        """Take all lines out: there is nothing to undo."""
        if self.file is not None:
            os.ftruncate(self.file, 0)


@contextmanager
def held_journal(out: Path, patience_s: float) -> Iterator[Journal]:
    """Hold the journal of a folder alone. It is gone afterwards, unless something is left to be undone."""
    path = _path_of(out, make=True)
    if path is None:
        yield Journal(None)
        return
    file = _locked(path, out, patience_s)
    try:
        yield Journal(file)
    finally:
        with suppress(OSError):
            if os.fstat(file).st_size == 0:
                path.unlink()
        os.close(file)


def _locked(path: Path, out: Path, patience_s: float) -> int:
    """Return the opened file once no other writer holds it; the lock dies with its holder."""
    deadline = time.monotonic() + patience_s
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        if _is_locked(file, path):
            return file
        os.close(file)
        if time.monotonic() > deadline:
            raise InputError(f"{out}: another run is writing there", hint="wait for it, or choose another --out")
        time.sleep(0.01)


def _is_locked(file: int, path: Path) -> bool:
    """Lock the open file and tell whether it is still the one at its path: its last holder may have removed it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError:  # a file system without locks: two writers at once are then the user's to avoid
        return True
