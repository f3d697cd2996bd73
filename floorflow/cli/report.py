"""``floorflow report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.console import print_json
from floorflow.cli.options import OUTPUT, DebugFlag, ForceFlag, JsonFlag
from floorflow.cli.terminal import errors_to_exit_codes


def report(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="What report_utilization wrote, as text or XML.")],
    plan: Annotated[
        Path | None, typer.Argument(metavar="OUT", help="Folder that plan wrote, to hold its estimates against it.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Picture of the tree to write: .svg or .png.", rich_help_panel=OUTPUT),
    ] = None,
    depth: Annotated[int, typer.Option(min=0, help="Levels of instances to show.")] = api.DEPTH,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Show any utilisation report of Vivado: a table, a tree of instances with its picture, a plan beside it."""
    with errors_to_exit_codes(debug=debug):
        if out is not None:
            api.require_picture_file(out, force=force)
        found = api.utilisation(report)
        beside = [] if plan is None else api.beside_plan(report, plan)
        if out is not None:
            picture = api.utilisation_picture(found, depth)
            if picture is None:
                hint = "write it by report_utilization -hierarchical, or leave out --out"
                raise api.InputError(f"{report}: lists no instances that a picture could show", hint=hint)
            picture.save(out, force=force)
        if as_json:
            print_json(api.utilisation_data(found, beside))
        else:
            sys.stdout.write(api.utilisation_text(found, beside, depth))
