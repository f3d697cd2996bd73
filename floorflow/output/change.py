"""The change of a folder that stands: which files go, which come, and both ways to do it, forth and back."""

import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from floorflow.errors import InputError
from floorflow.output.listed import RUN_FILE, folders_of, is_plain_file, sha256

_MAIN = ("plan.json", "schedule.json")
"""What makes a folder a plan's: it goes first and comes last, so that nothing between two plans is one."""

_WAITING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Change:
    """Files by their names in the folder. All of it is decided before the first of them moves.

    ``old``: those of an earlier run, as it left them, that go, with digests. ``edited``: those that the user edited,
    and by what name each is kept. ``new``: those that come, with digests. ``folders``: those that are made for them.
    """

    old: Mapping[str, str]
    edited: Mapping[str, str]
    new: Mapping[str, str]
    folders: tuple[str, ...]

    def do(self, out: Path, workshop: Path) -> dict[str, str]:
        """Move the old files to the workshop, edited ones aside, and the new ones in.

        Returns by what name each is kept that was edited after all was decided: whoever had it open may have saved.
        """
        for name in self.old:
            _move(out / name, _old(workshop) / name)
        for name, kept in self.edited.items():
            _move(out / name, out / kept)
        for name in reversed([*self.new]):
            _move(new_in(workshop) / name, out / name)
        late: dict[str, str] = {}
        for name, digest in self.old.items():
            if sha256(_old(workshop) / name) != digest:
                late[name] = _free_name(out, name, ())
                _move(_old(workshop) / name, out / late[name])
        _remove_empty(out, folders_of([*self.old, *self.edited]))
        return late

    def undo(self, out: Path, workshop: Path) -> None:
        """Move everything back, from wherever `do` or an earlier `undo` was ended; what the user did since is kept.

        InputError if a link leads by now to where a file was.
        """
        for name, digest in self.new.items():
            if not (new_in(workshop) / name).exists() and os.path.lexists(out / name):
                if is_plain_file(out, name) and sha256(out / name) == digest:
                    _move(out / name, new_in(workshop) / name)
                else:
                    _move(out / name, out / _free_name(out, name, ()))
        _remove_empty(out, self.folders)  # one may have been a file
        for name, kept in reversed([*self.edited.items()]):
            if os.path.lexists(out / kept) and not is_plain_file(out, name):
                _move(out / kept, out / name)
        for name in reversed([*self.old]):
            if (_old(workshop) / name).exists():
                if is_plain_file(out, name):  # the user's, made since
                    _move(out / name, out / _free_name(out, name, ()))
                _move(_old(workshop) / name, out / name)


def new_in(workshop: Path) -> Path:
    """Return the folder of a workshop in which the new files are built."""
    return workshop / "new"


def _old(workshop: Path) -> Path:
    return workshop / "old"


def planned_change(
    out: Path, new: Mapping[str, str], earlier: Mapping[str, str | None], *, plan_stays: bool = False
) -> Change:
    """Return the change from the files of an earlier run, with their digests, to new ones. Equal files stay.

    Of an earlier file without a digest nobody knows whether it was edited, so it is kept as one that was.

    InputError if a new file, or a folder of one, would lie on something that no run of ours wrote.
    """
    refuse_foreign(out, new, earlier)
    held = {name: sha256(out / name) for name in earlier if is_plain_file(out, name)}
    equal = {name for name, digest in held.items() if new.get(name) == digest}
    if not plan_stays and not (new.keys() | held.keys()) - equal <= {RUN_FILE}:
        equal -= {*_MAIN}  # while anything else moves there must be no plan
    going = _main_first(held.keys() - equal)
    old = {name: held[name] for name in going if held[name] in (earlier[name], new.get(name))}
    edited: dict[str, str] = {}
    for name in going:
        if name not in old:
            edited[name] = _free_name(out, name, (*new, *edited.values()))
    coming = _main_first(new.keys() - equal)
    folders = tuple(name for name in folders_of(coming) if not (out / name).is_dir())
    return Change(old, edited, {name: new[name] for name in coming}, folders)


def refuse_foreign(out: Path, new: Collection[str], earlier: Collection[str]) -> None:
    """Refuse new files that would lie on something that is not of an earlier run; a name that ends in / is a folder.

    InputError if one would.
    """
    folders = {*folders_of(new), *(name.rstrip("/") for name in new if name.endswith("/"))}
    for name in sorted({*(name.rstrip("/") for name in new), *folders} - set(earlier)):
        path = out / name
        if os.path.lexists(path) and (name not in folders or path.is_symlink() or not path.is_dir()):
            raise InputError(f"{path}: is not of an earlier plan and would be lost", hint="choose another --out")


def _main_first(names: Collection[str]) -> list[str]:
    return sorted(names, key=lambda name: (name not in _MAIN, name != RUN_FILE, name))


def _free_name(out: Path, name: str, taken: Collection[str]) -> str:
    number, free = 1, f"{name}.yours"
    while os.path.lexists(out / free) or free in taken:
        number += 1
        free = f"{name}.yours{number}"
    return free


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)


def _remove_empty(out: Path, folders: Collection[str]) -> None:
    """Remove those of the folders that hold nothing; the inner ones come first."""
    for name in folders:
        with suppress(OSError):
            (out / name).rmdir()


@contextmanager
def signals_wait() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP wait for the end of some moves, and then do what they do.

    Only the main thread is ever interrupted by one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def wait(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    handlers = {number: signal.getsignal(number) for number in _WAITING}
    changed = {number: old for number, old in handlers.items() if old not in (None, signal.SIG_IGN)}
    try:
        for number in changed:
            signal.signal(number, wait)
        yield
    finally:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _WAITING)
        try:
            _give_back(changed)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for late in came:
            signal.raise_signal(late)


def _give_back(handlers: Mapping[signal.Signals, Callable[[int, FrameType | None], Any] | int | None]) -> None:
    """Give all signals back to whoever handled them, and raise only then what one raised that has its own again.

    The mask keeps signals from this thread alone: one that another thread takes is answered here as well.
    """
    raised: BaseException | None = None
    while held := [number for number, old in handlers.items() if signal.getsignal(number) != old]:
        try:
            for number in held:
                signal.signal(number, handlers[number])
        except BaseException as error:  # noqa: BLE001 - raised below
            raised = error
    if raised is not None:
        raise raised
