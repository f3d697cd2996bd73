"""``floorflow bug-report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.options import OUTPUT, DebugFlag, ForceFlag
from floorflow.cli.terminal import errors_to_exit_codes


def bug_report(
    plan: Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Archive to write.", rich_help_panel=OUTPUT)] = Path(
        "floorflow-bug.zip"
    ),
    force: ForceFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Pack a plan for whoever looks for a fault: options, versions, the plan, its check; no weights."""
    with errors_to_exit_codes(debug=debug):
        names = api.bug_report(plan, out, force=force)
        told = [f"{out} holds no weights; its layers are named, and run.json has your command line with its paths:"]
        sys.stdout.write("\n".join([*told, *(f"  {name}" for name in names)]) + "\n")
