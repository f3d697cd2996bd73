"""The workshop: a hidden folder in which the files of a write are built, and from which they move to where they go."""

import errno
import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from floorflow.errors import InputError, some
from floorflow.output.change import Change, new_in, signals_wait
from floorflow.output.journal import Journal, held_journal

_INSIDE = ".floorflow-output"
"""Name of a workshop that lies in the output folder itself."""


class FolderWarning(UserWarning):
    """Something of the user's was kept beside what was written."""


def digest_of(data: bytes) -> str:
    """Return the SHA-256 by which run.json knows a file."""
    return hashlib.sha256(data).hexdigest()


def _workshops(out: Path) -> list[Path]:
    """Return where a workshop may lie: beside ``out`` if it can be moved from there, else in it."""
    name = out.name if len(os.fsencode(out.name)) < 200 else digest_of(os.fsencode(out.name))[:32]
    beside = [] if os.path.ismount(out) else [out.parent / f".{name}.floorflow"]
    return [*beside, out / _INSIDE]


def refuse_foreign_workshops(out: Path) -> None:
    """Refuse to work where a workshop stands that no journal of ours tells of; it is left alone."""
    for root in _workshops(out):
        if os.path.lexists(root):
            raise InputError(
                f"{root}: is in the way, and no run of yours left it there",
                hint="look into it (old/ is what a killed run took out), move it away, or choose another --out",
            )


@contextmanager
def held_alone(out: Path, patience_s: float) -> Iterator[Journal]:
    """Hold a folder alone, after undoing what a killed run left in it."""
    with held_journal(out, patience_s) as journal:
        entry = journal.last()
        if entry is not None:
            root = Path(entry["workshop"])
            if not _undo(out, root, entry.get("inode"), entry.get("change")):
                raise InputError(
                    f"{root}: holds, in old/, files that a killed run took out of {out}, and they cannot be put back",
                    hint=f"{out} was moved or replaced since: put it back, or move {root} away",
                )
        journal.clear()
        yield journal


def put(journal: Journal, out: Path, bundle: Mapping[str, bytes], plan: Callable[[Mapping[str, str]], Change]) -> None:
    """Build the new files in a workshop and move them to ``out``; whatever goes wrong, ``out`` is as it was."""
    *others, inside = _workshops(out)
    roots = [root for root in others if os.access(root.parent, os.W_OK | os.X_OK)] + [inside]
    change = plan({name: digest_of(data) for name, data in bundle.items()}) if out.exists() else None
    late: Mapping[str, str] = {}
    for root in roots:
        try:
            late = _put_by(journal, root, out, bundle, change)
        except OSError as error:
            if error.errno != errno.EXDEV or root == inside:  # a bind mount: files cannot be moved to it
                raise
        else:
            break
    kept = {**({} if change is None else change.edited), **late}
    if kept:
        _warn_of(out, kept)


def _put_by(
    journal: Journal, root: Path, out: Path, bundle: Mapping[str, bytes], change: Change | None
) -> Mapping[str, str]:
    """Do it by one workshop; return by what names files are kept that were edited meanwhile."""
    late: Mapping[str, str] = {}
    inode: list[int] | None = None
    begun: Mapping[str, Any] | None = None
    journal.note(workshop=str(root), inode=inode)
    try:
        root.mkdir(mode=0o700)
    except OSError:
        journal.clear()  # what stands there is not ours
        raise
    try:
        inode = _inode(root)
        journal.note(workshop=str(root), inode=inode)
        _build(new_in(root), {name: bundle[name] for name in (bundle if change is None else change.new)})
        with signals_wait():
            if change is None:
                new_in(root).rename(out)
            else:
                begun = asdict(change)
                journal.note(workshop=str(root), inode=inode, change=begun)
                late = change.do(out, root)
            begun = None
            journal.note(workshop=str(root), inode=inode)  # from here on nothing but the workshop is to be cleared
    finally:
        if _undo(out, root, inode, begun):
            journal.clear()
    return late


def _build(folder: Path, bundle: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, data in bundle.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _undo(out: Path, root: Path, inode: Sequence[int] | None, change: Mapping[str, Any] | None) -> bool:
    """Undo a change and clear its workshop; tell whether nothing is left that is to be put back.

    A folder that stands there instead of the workshop is left alone. Without a workshop there is nothing to put back.
    """
    if inode is None:
        with suppress(OSError):  # made, and killed before that was noted: it is empty, or not ours
            root.rmdir()
        return True
    if not os.path.lexists(root):
        return True
    # Not the device: its number may be another after a restart.
    if root.is_symlink() or not root.is_dir() or _inode(root)[1] != inode[1]:
        return change is None
    if change is not None:
        if not out.is_dir():
            return False
        with signals_wait():
            Change(dict.fromkeys(change["old"], ""), change["edited"], change["new"], tuple(change["folders"])).undo(
                out, root
            )
    shutil.rmtree(root)
    return True


def _inode(folder: Path) -> list[int]:
    status = folder.stat()
    return [status.st_dev, status.st_ino]


def _warn_of(out: Path, edited: Mapping[str, str]) -> None:
    told = some([f"{name} as {kept}" for name, kept in edited.items()])
    reason = "were edited, or come from an older floorflow that kept no digests"
    warnings.warn(f"{out}: files that {reason} are kept: {told}", FolderWarning, stacklevel=2)
