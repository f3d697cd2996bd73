"""Write a bundle to a folder, or add to one that was just written."""

import json
import os
import pwd
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from floorflow import __version__
from floorflow.errors import InputError
from floorflow.output.change import planned_change, refuse_foreign
from floorflow.output.journal import has_journal
from floorflow.output.listed import (
    OWN_DIGEST,
    RUN_FILE,
    is_inside,
    is_plain_file,
    listed_files,
    run_digest,
    run_file_digest,
)
from floorflow.output.workshop import digest_of, held_alone, put, refuse_foreign_workshops
from floorflow.reading import require_nameable

PATIENCE_S = 60.0
"""How long a writer waits for another one that is at work on the same folder."""


@dataclass(frozen=True)
class Written:
    """What was written: the bytes of run.json, by which `add` knows the folder again."""

    run: bytes


def require_free(out: Path, *, force: bool, later: Collection[str] = ()) -> None:
    """Refuse an output folder that holds anything, unless forced and an earlier run wrote it; called before the work.

    What a killed run left behind is undone first. ``later``: files that are to be added to what is written first, and
    folders of such, which end in /; something of the user's in their place is refused as well.

    InputError if ``out`` is a file or cannot be written; if it is not empty and ``force`` is not set; with ``force`` if
    it has no run.json of ours, is a mount point or somebody's home; if a hidden folder that we would need is not ours.
    """
    out = _resolved(out)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file, expected a folder to write to", hint="choose another --out")
    parent = next(folder for folder in (out, *out.parents) if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{out}: cannot be written, {parent} is no writable folder", hint="choose another --out")
    with _refusals(out):
        _require_writable(parent)
        with held_alone(out, PATIENCE_S):
            refuse_foreign_workshops(out)
            refuse_foreign(out, later, _earlier_files(out, force=force))


def recover(folder: Path) -> None:
    """Undo what a killed run of this user left in a folder, so that it holds what it held before; for all who read it.

    Nothing is done that the user's own state folder does not tell of.

    InputError if the disk refuses, or another run keeps writing there.
    """
    if folder.is_dir() and has_journal(out := folder.resolve()):
        with _refusals(out), held_alone(out, PATIENCE_S):
            pass


def write(
    out: Path,
    files: Mapping[str, str | bytes],
    run: Mapping[str, object],
    *,
    force: bool = True,
    patience_s: float = PATIENCE_S,
) -> Written:
    """Write all files and run.json to ``out`` at once, in place of those of an earlier run; nothing else is touched.

    The files of an earlier run are those that its run.json lists. One that was edited since is kept as ``NAME.yours``,
    which a `FolderWarning` tells; so is each of a run.json without digests, and a run.json that was edited. Without
    ``force`` a folder that another run filled in the meantime is refused.

    Raises
    ------
    InputError
        As `require_free` does; if something that no run of ours wrote stands where a file must go, a name leads out of
        the folder, another run keeps writing there, or the disk refuses.
    KeyboardInterrupt
        With a message that says so if all was written when it came.

    """
    out = _resolved(out)
    bundle = _bundle(files)
    bundle[RUN_FILE] = _run_file(run, {name: digest_of(data) for name, data in bundle.items()})
    with _refusals(out), _told_if_whole(out, bundle), held_alone(out, patience_s) as journal:
        refuse_foreign_workshops(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        earlier = _earlier_files(out, force=force)
        put(journal, out, bundle, lambda new: planned_change(out, new, earlier))
    return Written(bundle[RUN_FILE])


def add(
    out: Path,
    files: Mapping[str, str | bytes],
    run: Mapping[str, object],
    written: Written,
    *,
    patience_s: float = PATIENCE_S,
) -> Written:
    """Add files to the folder that `write`, or `add`, has just written, and keep all others of it.

    A name that the folder has already is replaced (a report that was renewed); plan.json never moves. run.json comes
    anew and lists all that is there. As with `write`, all of it is done or none, an edited file is kept as
    ``NAME.yours``, and nothing of the user's is written over.

    Raises
    ------
    InputError
        If the folder is not as ``written`` any more, because another run replaced it; else as `write` does.
    KeyboardInterrupt
        With a message that says so if all was written when it came.

    """
    out = _resolved(out)
    bundle = _bundle(files)
    with _refusals(out), held_alone(out, patience_s) as journal:
        refuse_foreign_workshops(out)
        if not is_plain_file(out, RUN_FILE) or (out / RUN_FILE).read_bytes() != written.run:
            raise InputError(f"{out}: holds another result by now", hint="choose another --out")
        held = listed_files(out) or {}
        bundle[RUN_FILE] = _run_file(run, held | {name: digest_of(data) for name, data in bundle.items()})
        earlier = {
            RUN_FILE: digest_of(written.run),
            **{name: digest for name, digest in held.items() if name in bundle},
        }
        with _told_if_whole(out, bundle):
            put(journal, out, bundle, lambda new: planned_change(out, new, earlier, plan_stays=True))
    return Written(bundle[RUN_FILE])


def _resolved(out: Path) -> Path:
    require_nameable(out, "choose another --out")
    try:
        return out.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself
        raise InputError(f"{out}: cannot be written ({error})", hint="choose another --out") from error


def _bundle(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    """Return files as they will lie on disk; their names may come from a plan that anybody wrote (`bind`)."""
    for name in files:
        if not is_inside(name):
            raise InputError(
                f"{name[:80]!r}: is no name for a file of a result",
                hint="a network, a board or a plan has a name that leads elsewhere",
            )
    own = {name: data for name, data in files.items() if name != RUN_FILE}  # each write makes its own
    return {name: data.encode() if isinstance(data, str) else data for name, data in own.items()}


def _run_file(run: Mapping[str, object], digests: Mapping[str, str | None]) -> bytes:
    """Return run.json with what makes it ours, whatever the caller tells."""
    ours = {"argv": [], "versions": {"floorflow": __version__}}
    content = {**ours, **run, "files": sorted(digests), "sha256": dict(digests)}
    content[OWN_DIGEST] = run_digest(content)
    return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


def _earlier_files(out: Path, *, force: bool) -> dict[str, str | None]:
    """Return the files, run.json among them, that an earlier run wrote here and that may be replaced."""
    if not out.exists() or not any(out.iterdir()):
        return {}
    if not force:
        raise InputError(
            f"{out}: the output folder is not empty", hint="choose another --out, or --force to replace an earlier plan"
        )
    if os.path.ismount(out) or _is_home(out):
        raise InputError(
            f"{out}: is a mount point or a home, of which --force replaces nothing", hint="choose another --out"
        )
    listed = listed_files(out)
    if listed is None:
        raise InputError(
            f"{out}: has no run.json, and --force replaces only what an earlier run wrote", hint="choose another --out"
        )
    return {**listed, RUN_FILE: run_file_digest(out)}


def _is_home(out: Path) -> bool:
    """Tell whether a folder is the user's home or its owner's, or holds the user's."""
    homes = set[Path]()
    with suppress(RuntimeError):  # there is no home
        homes.add(Path.home().resolve())
    with suppress(KeyError):  # an owner without an entry
        homes.add(Path(pwd.getpwuid(out.stat().st_uid).pw_dir).resolve())
    return out in homes or any(out in home.parents for home in homes)


@contextmanager
def _told_if_whole(out: Path, bundle: Mapping[str, bytes]) -> Iterator[None]:
    """Let an interrupt say so if it came when all was written."""
    try:
        yield
    except KeyboardInterrupt:
        with suppress(OSError):
            if (out / RUN_FILE).read_bytes() == bundle[RUN_FILE]:
                raise KeyboardInterrupt(f"interrupted; {out} holds the whole new result") from None
        raise


def _require_writable(folder: Path) -> None:
    """Try to write in a folder: permissions alone do not tell of mounts that refuse, such as ``/proc``.

    A file without a name leaves nothing behind, whatever ends the process; not every file system has them.

    OSError if nothing can be written there.
    """
    with suppress(AttributeError, OSError):
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
        return
    Path(mkdtemp(prefix=".floorflow-", dir=folder)).rmdir()


@contextmanager
def _refusals(out: Path) -> Iterator[None]:
    """Turn what the disk refuses into what the user can do about it."""
    try:
        yield
    except OSError as error:
        where = error.filename2 or error.filename
        told = f"{error.strerror}: {os.fspath(where)!r}" if where else error.strerror
        raise InputError(f"{out}: cannot be written ({told})", hint="choose another --out") from error
