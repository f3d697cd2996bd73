"""Write a bundle: by an exchange of folders where that can be, else file by file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from floorflow.errors import InputError
from floorflow.output.bundle import link_foreign, prepare, require_empty
from floorflow.output.exchange import Exchange, swap_folders
from floorflow.output.files import RUN_FILE, complete, link_over, require_writable
from floorflow.output.workshop import (
    INSIDE,
    LOCK_PATIENCE_S,
    Workshop,
    open_workshop,
    recover_leftovers,
    workshop_beside,
)
from floorflow.reading import require_nameable


def require_free(out: Path, *, force: bool) -> None:
    """Refuse an output folder that holds anything, unless forced; called before the work starts.

    What a killed run left behind is completed or cleared first.

    Raises
    ------
    InputError
        If ``out`` is a file or cannot be written, or is a folder that is not empty and ``force`` is not set.

    """
    require_nameable(out, "choose another --out")
    out = out.resolve()
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file, expected a folder to write to", hint="choose another --out")
    parent = next(folder for folder in (out, *out.parents) if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{out}: cannot be written, {parent} is no writable folder", hint="choose another --out")
    with _refusals(out):
        require_writable(parent)
        for root in (workshop_beside(out), out / INSIDE):
            if root is not None:
                recover_leftovers(root, out)
        if not force:
            require_empty(out)


def write(
    out: Path,
    files: Mapping[str, str | bytes],
    run: Mapping[str, object],
    *,
    force: bool = True,
    exchange: Exchange | None = None,
    patience_s: float = LOCK_PATIENCE_S,
) -> None:
    """Write all files to ``out`` at once, in place of those of an earlier plan; nothing else in ``out`` is touched.

    The files of an earlier plan are those that its run.json lists. Without ``force`` a folder that another run filled
    in the meantime is refused. ``exchange`` swaps two folders; by default as the system does it.

    Raises
    ------
    InputError
        If a file that no earlier plan wrote stands where one of ours must go, another run keeps writing there, or the
        disk refuses.
    KeyboardInterrupt
        With a message that says so if all was written when it came.

    """
    require_nameable(out, "choose another --out")
    out = out.resolve()
    bundle = {name: data.encode() if isinstance(data, str) else data for name, data in files.items()}
    bundle[RUN_FILE] = (json.dumps({**run, "files": sorted(files)}, indent=2, sort_keys=True) + "\n").encode()
    try:
        with _refusals(out):
            _write(out, bundle, force, exchange or swap_folders, patience_s)
    except KeyboardInterrupt:
        with suppress(OSError):
            if (out / RUN_FILE).read_bytes() == bundle[RUN_FILE]:
                raise KeyboardInterrupt(f"interrupted; {out} holds the whole new result") from None
        raise


def _write(out: Path, bundle: Mapping[str, bytes], force: bool, exchange: Exchange, patience_s: float) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    root = workshop_beside(out)
    if root is None:
        _move_in(out, bundle, force, patience_s)
        return
    with open_workshop(root, out, patience_s) as workshop:
        recover_leftovers(out / INSIDE, out)
        if not _swap_in(workshop, bundle, force, exchange):
            _move_in(out, bundle, force, patience_s)


def _move_in(out: Path, bundle: Mapping[str, bytes], force: bool, patience_s: float) -> None:
    """Build the bundle in ``out`` and commit to it; it is completed as the workshop is left, now or by the next run."""
    with open_workshop(out / INSIDE, out, patience_s) as workshop:
        prepare(workshop, bundle, force)
        workshop.new.rename(workshop.committed)


def _swap_in(workshop: Workshop, bundle: Mapping[str, bytes], force: bool, exchange: Exchange) -> bool:
    """Build the bundle and put it in the place of ``out``; False, and nothing done, if that cannot be exchanged."""
    new, out = workshop.new, workshop.out
    earlier = prepare(workshop, bundle, force)
    if not out.exists():
        new.rename(out)
        return True
    try:
        link_foreign(out, new, earlier)
        exchange(new, out)
    except OSError:
        return False
    with suppress(OSError):  # if this fails, the folder that is whole stays
        complete(out, new, earlier, bundle, link_over)
        exchange(new, out)
    return True


@contextmanager
def _refusals(out: Path) -> Iterator[None]:
    """Turn what the disk refuses into what the user can do about it."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror})", hint="choose another --out") from error
