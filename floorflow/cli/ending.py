"""The end of a run: where its files are and what to do with them, also after Ctrl-C."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

import typer

from floorflow.cli.terminal import deaf_to_ctrl_c, plain, talk

Written = TypeVar("Written")


def written(out: Path, files: Collection[str], next_steps: Sequence[str]) -> str:
    """Name the picture, the report, the check and what comes next, of the files that were written to ``out``."""
    drawn = sorted(name for name in files if name.endswith(".png"))
    # Where nothing is placed there is no floorplan.
    pictures = [name for name in drawn if name.startswith("plots/floorplan_")] or drawn
    others = f" and {len(pictures) - 1} more" if len(pictures) > 1 else ""
    lines = [f"written to {out}"]
    lines += [f"  picture   {out / pictures[0]}{others}"] if pictures else []
    lines += [
        f"  report    {out / 'report.txt'}",
        f"  check     floorflow check {shlex.quote(str(out))}",
    ]
    lines += [f"  next      {'; '.join(next_steps)}"] if next_steps else []
    return "\n".join(lines)


def carried_out(write: Callable[[], Written]) -> tuple[Written, bool]:
    """Write a whole folder; return what that returns, and whether Ctrl-C came meanwhile.

    It then begins anew, which is safe as it leaves the old or the new folder, and short; a second Ctrl-C goes through.
    """
    try:
        return write(), False
    except KeyboardInterrupt:
        return write(), True


def exit_interrupted(what: str) -> NoReturn:
    """End with exit code 130; the last sentence says what was written."""
    deaf_to_ctrl_c()
    talk.print(f"[bold yellow]interrupted:[/] {plain(what)}")
    raise typer.Exit(130)
