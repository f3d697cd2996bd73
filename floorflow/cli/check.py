"""``floorflow check``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from floorflow.cli.options import (
    DebugFlag,
    JsonFlag,
)
from floorflow.cli.terminal import errors_to_exit_codes, print_json

if TYPE_CHECKING:
    from floorflow.verify import Verdict


def check(
    out: Annotated[Path, typer.Argument(help="Folder that plan wrote.", show_default=False)],
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Check a plan and its files independently; exit 1 if anything is wrong."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.errors import InputError
        from floorflow.verify import NotAPlan, judge

        try:
            verdict = judge(out)
        except NotAPlan as error:
            raise InputError(str(error), hint="give a folder that floorflow plan wrote") from error
        if as_json:
            print_json(_as_dict(verdict))
        else:
            _print_verdict(out, verdict)
        if verdict.violations:
            raise typer.Exit(1)


def _as_dict(verdict: Verdict) -> dict[str, object]:
    return {
        "verdict": "violations" if verdict.violations else "legal",
        "violations": [{"name": v.name, "where": v.where, "message": v.message} for v in verdict.violations],
        "checked": verdict.checked,
    }


def _print_verdict(out: Path, verdict: Verdict) -> None:
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
