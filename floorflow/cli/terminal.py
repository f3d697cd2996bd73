"""What every command does alike: talk on standard error, exit codes, tables and JSON."""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

from floorflow.api import FloorflowError, FolderWarning, InputError, shown
from floorflow.cli.signals import exit_code, ignore_signals

talk = Console(stderr=True, highlight=False, soft_wrap=True)


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
            f"internal error: {type(error).__name__}: {error}", "run again with --debug and report it", debug=debug
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


def complain(message: str, hint: str, *, debug: bool) -> None:
    """Print an error and what to do about it."""
    if debug:
        sys.stderr.write(traceback.format_exc())
    talk.print(f"[bold red]error:[/] {plain(message)}")
    if hint:
        talk.print(f"[bold]hint:[/] {plain(hint)}")


def plain(text: str) -> str:
    """Escape rich markup in text that is not ours."""
    return text.replace("[", r"\[")


def paper() -> Console:
    """Return standard output for tables: as wide as the terminal, and wide enough for anything in a pipe."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def print_json(content: object) -> None:
    """Print one machine-readable object."""
    sys.stdout.write(json.dumps(content, indent=2, sort_keys=True) + "\n")
