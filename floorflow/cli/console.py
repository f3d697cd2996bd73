"""Where commands write: talk on standard error, tables and JSON on standard output."""

from __future__ import annotations

import json
import sys
import traceback

from rich.console import Console

talk = Console(stderr=True, highlight=False, soft_wrap=True)


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
