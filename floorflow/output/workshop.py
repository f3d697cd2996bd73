"""The workshop: a hidden folder in which one writer at a time builds a bundle, and that nobody leaves untidy."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from floorflow.errors import InputError
from floorflow.output.files import complete, move, walk

LOCK_PATIENCE_S = 60.0
"""How long a writer waits for another one that is at work on the same folder."""

INSIDE = ".floorflow-output"
"""Name of a workshop that lies in the output folder itself."""

_LOCK, _NAMES, _NEW, _COMMITTED = "lock", "names.json", "new", "committed"


def workshop_beside(out: Path) -> Path | None:
    """Return the workshop beside a folder; None where no folder can be moved to or from there."""
    name = f".{out.name}.floorflow"
    possible = bool(out.name) and len(os.fsencode(name)) < 256 and not os.path.ismount(out)
    return out.parent / name if possible and os.access(out.parent, os.W_OK | os.X_OK) else None


@dataclass(frozen=True)
class Workshop:
    """A folder in which the bundle for ``out`` is built."""

    root: Path
    out: Path

    @property
    def names(self) -> Path:
        """The list of the plan's files, earlier and new; it is there before any of them."""
        return self.root / _NAMES

    @property
    def new(self) -> Path:
        """The folder in the making, and after an exchange the one that stood at ``out``."""
        return self.root / _NEW

    @property
    def committed(self) -> Path:
        """A whole bundle that goes to ``out`` file by file."""
        return self.root / _COMMITTED


@contextmanager
def open_workshop(root: Path, out: Path, patience_s: float) -> Iterator[Workshop]:
    """Hold the workshop alone, without what a dead writer left in it; nothing of it stays."""
    lock = _locked(root, patience_s)
    workshop = Workshop(root, out)
    try:
        _recover(workshop)
        try:
            yield workshop
        finally:
            _recover(workshop)
    finally:
        with suppress(OSError):  # the next writer may be in it
            (root / _LOCK).unlink()
            root.rmdir()
        os.close(lock)


def recover_leftovers(root: Path, out: Path) -> None:
    """Complete or clear what a killed writer left, once no other is at work."""
    if root.is_dir():
        with open_workshop(root, out, LOCK_PATIENCE_S):
            pass


def _locked(root: Path, patience_s: float) -> int:
    """Make the folder if need be and return the locked file in it; the lock dies with its holder."""
    deadline = time.monotonic() + patience_s
    while True:
        with suppress(FileNotFoundError):  # its last holder removed the folder between our two steps
            root.mkdir(parents=True, exist_ok=True)
            lock = os.open(root / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
            if _is_ours(lock, root / _LOCK):
                return lock
        if time.monotonic() > deadline:
            raise InputError(f"{root}: another run is writing there", hint="wait for it, or choose another --out")
        time.sleep(0.01)


def _is_ours(lock: int, path: Path) -> bool:
    """Lock the open file and tell whether it is still the one at its path; if not, close it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), path.stat()):
            return True
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:  # a file system without locks: two writers at once are then the user's to avoid
        return True
    os.close(lock)
    return False


def _recover(workshop: Workshop) -> None:
    """Complete what was committed, and clear what was not."""
    present = {path.name for path in workshop.root.iterdir()} - {_LOCK}
    if present - {_NAMES, _NEW, _COMMITTED} or (present and _NAMES not in present):
        raise InputError(f"{workshop.root}: is no folder that floorflow left there", hint="move it away")
    if present & {_NEW, _COMMITTED}:
        names = json.loads(workshop.names.read_bytes())
        if _COMMITTED in present:
            complete(workshop.committed, workshop.out, names["earlier"], names["new"], move)
            shutil.rmtree(workshop.committed)
        if _NEW in present:
            _clear(workshop.new, workshop.out, {*names["earlier"], *names["new"]})
    workshop.names.unlink(missing_ok=True)


def _clear(folder: Path, out: Path, ours: Collection[str]) -> None:
    """Remove a folder: the plan's files and second names of the user's files. Any other file goes to ``out``."""
    for place, files in walk(folder):
        place.chmod(stat.S_IRWXU)
        for path in files:
            name = path.relative_to(folder)
            target = out / name
            if name.as_posix() in ours or (os.path.lexists(target) and os.path.samestat(path.lstat(), target.lstat())):
                path.unlink()
            else:
                _give_back(path, target)
    shutil.rmtree(folder)  # holds folders alone by now


def _give_back(path: Path, target: Path) -> None:
    """Move a file of the user's to where it belongs, or beside what stands there now."""
    target.parent.mkdir(parents=True, exist_ok=True)
    number = 0
    while os.path.lexists(target):
        number += 1
        target = target.with_name(f"{path.name}.kept{number}")
    path.rename(target)
