"""What every command does alike: exit codes, and how a run ends.

Its end says where its files are and what to do with them, also after Ctrl-C.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol

import typer

from floorflow.api import Callback, FloorflowError, FolderWarning, InputError, shown
from floorflow.cli.console import complain, plain, talk
from floorflow.cli.signals import exit_code, ignore_signals


@contextmanager
def errors_to_exit_codes(*, debug: bool) -> Iterator[None]:
    """Turn what goes wrong inside into one message and the exit code that stands for it."""
    try:
        with _warnings_told():
            yield
    except FloorflowError as error:
        complain(str(error), error.hint, debug=debug)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt as error:
        ignore_signals()
        talk.print(f"[bold yellow]interrupted:[/] {plain(str(error) or 'nothing was written')}")
        raise typer.Exit(exit_code()) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:  # noqa: BLE001  (the last line of defence: users see no traceback)
        if isinstance(error, OSError) and error.filename:  # what the system refuses is the user's to mend
            hint = "check the path, and who may read and write there"
            complain(f"{shown(str(error.filename))}: {error.strerror}", hint, debug=debug)
            raise typer.Exit(InputError.exit_code) from None
        complain(
            f"internal error: {type(error).__name__}: {error}",
            "run the same command with --debug behind it, and report it",
            debug=debug,
        )
        raise typer.Exit(70) from None


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Print what was kept of the user's on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", FolderWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, FolderWarning):
                talk.print(f"[bold yellow]note:[/] {plain(str(message))}")
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show
        yield


class Saved(Protocol):
    """A plan that can be saved, and then its extras."""

    @property
    def interrupted(self) -> bool:
        """Whether a signal or a time limit cut its search short."""

    @property
    def timed_out(self) -> bool:
        """Whether it was a time limit."""

    def save(
        self, folder: Path, *, force: bool, command: Sequence[str], progress: Callback | None, extras: bool
    ) -> object:
        """Write the plan, and go on with its extras if wanted."""

    def is_in(self, folder: Path) -> bool:
        """Tell whether a folder holds it, whole."""

    def save_extras(self, folder: Path, *, command: Sequence[str], progress: Callback | None) -> tuple[str, ...]:
        """Add the extras; return the names of all files."""

    files: Mapping[str, bytes]

    def told(self, folder: Path, names: Collection[str]) -> str:
        """Return the summary of what lies in a folder with these files."""


@dataclass(frozen=True)
class Ending:
    """What is told when the progress is no longer shown: the summary, a time limit, a signal that ended the run."""

    summary: str
    at_the_limit: str = ""
    interrupted: str = ""

    def tell(self, *, quiet: bool, on_output: bool = True) -> None:
        """Print it, the summary on standard output or error, and exit where a signal came."""
        if self.summary and not quiet:
            (sys.stdout if on_output else sys.stderr).write(f"{self.summary}\n")
            sys.stdout.flush()
        if self.at_the_limit and not quiet:
            talk.print(plain(self.at_the_limit))
        if self.interrupted:
            exit_interrupted(self.interrupted)


def save_whole(made: Saved, out: Path, *, force: bool, progress: Callback | None, tell: Callable[[], None]) -> Ending:
    """Write a plan, tell of it, then add its extras; return what is to be said in the end.

    A signal while it is written has it written again, unless it waited until all was there: it is final, and that is
    short; another signal goes through. Any signal ends the run as soon as the plan stands, with a last sentence that
    says what is there.
    """
    write = partial(made.save, out, force=force, command=sys.argv, progress=progress, extras=False)
    late = False
    try:
        write()
    except KeyboardInterrupt:
        late = True
        if not made.is_in(out):
            write()
    which = "best legal plan known by then" if made.interrupted else "plan is finished and"
    there = f"the {which} is written to {out}, without pictures and extras"
    summary = ""
    try:
        tell()
        summary = made.told(out, made.files)
        if made.timed_out and not late:
            return Ending(summary, at_the_limit=f"[time limit] {there}")
        if late or made.interrupted:
            return Ending(summary, interrupted=there)
        files = made.save_extras(out, command=sys.argv, progress=progress)
        there = f"the plan is finished and is written to {out}"
        return Ending(made.told(out, files))
    except KeyboardInterrupt as error:
        return Ending(summary, interrupted=str(error) or there)
    finally:
        ignore_signals()


def exit_interrupted(what: str) -> NoReturn:
    """End with the exit code of the signal; the last sentence says what was written."""
    ignore_signals()
    talk.print(f"[bold yellow]interrupted:[/] {plain(what)}")
    raise typer.Exit(exit_code())
