"""``floorflow check``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from floorflow.cli.options import (
    DebugFlag,
    JsonFlag,
)
from floorflow.cli.terminal import errors_to_exit_codes, print_json


def check(
    out: Annotated[Path, typer.Argument(help="Folder that plan wrote.", show_default=False)],
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Check a plan and its files independently; exit 1 if anything is wrong."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.errors import InputError
        from floorflow.verify import NotAPlan
        from floorflow.verify import check as verify

        try:
            violations = verify(out)
        except NotAPlan as error:
            raise InputError(str(error), hint="give a folder that floorflow plan wrote") from error
        if as_json:
            print_json([{"name": v.name, "where": v.where, "message": v.message} for v in violations])
        else:
            _print_verdict(out, violations)
        if violations:
            raise typer.Exit(1)


def _print_verdict(out: Path, violations: list[Any]) -> None:
    for v in violations:
        sys.stdout.write(f"{v.name}: {v.where}: {v.message}\n")
    verdict = "legal" if not violations else f"{len(violations)} violation{'s' if len(violations) > 1 else ''}"
    sys.stdout.write(f"{out}: {verdict}\n")
