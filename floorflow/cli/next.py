"""``floorflow next``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.options import DebugFlag
from floorflow.cli.terminal import errors_to_exit_codes


def next_(
    plan: Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan wrote.")], debug: DebugFlag = False
) -> None:
    """Show the way from a plan to a bitstream, command by command: its NEXT.md, as seen from here."""
    with errors_to_exit_codes(debug=debug):
        sys.stdout.write(api.load(plan).guide(plan))
