"""``floorflow check``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.options import DebugFlag, JsonFlag
from floorflow.cli.terminal import errors_to_exit_codes, print_json


def check(
    out: Annotated[Path, typer.Argument(help="Folder that plan wrote.", show_default=False)],
    build: Annotated[
        Path | None, typer.Option("--build", help="FINN's output_dir that OUT is bound to.", show_default=False)
    ] = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Check a plan and its files independently; exit 1 if anything is wrong."""
    with errors_to_exit_codes(debug=debug):
        verdict = api.check(out, build=build)
        if as_json:
            print_json(verdict.as_dict())
        else:
            _print_verdict(out, verdict)
        if not verdict.legal:
            raise typer.Exit(1)


def _print_verdict(out: Path, verdict: api.Verdict) -> None:
    for v in verdict.violations:
        sys.stdout.write(f"{v.name}: {v.where}: {v.message}\n")
    counted = ", ".join(f"{count:,} {_named(kind, count)}" for kind, count in verdict.checked.items())
    sys.stdout.write(f"checked: {counted or 'no more than plan.json, which cannot be read as a plan'}\n")
    count = len(verdict.violations)
    told = f"{count:,} violation{'s' if count > 1 else ''}" if count else "legal"
    sys.stdout.write(f"{out}: {told}\n")


def _named(kind: str, count: int) -> str:
    """Return a kind of things as a word, in the singular for one."""
    words = kind.replace("_", " ").replace("fpga", "FPGA")
    return words.removesuffix("s") if count == 1 else words
