"""``floorflow next`` and ``floorflow draw``: what is read off a plan that stands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from floorflow import api
from floorflow.cli.options import OUTPUT, DebugFlag, ForceFlag
from floorflow.cli.terminal import errors_to_exit_codes

PlanFolder = Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan wrote.")]


def next_(plan: PlanFolder, debug: DebugFlag = False) -> None:
    """Show the way from a plan to a bitstream, command by command: its NEXT.md, as seen from here."""
    with errors_to_exit_codes(debug=debug):
        sys.stdout.write(api.load(plan).guide(plan))


def draw(
    plan: PlanFolder,
    picture: Annotated[
        str,
        typer.Argument(metavar="[PICTURE]", help="Such as floorplan_fpga1, folding, partition or search."),
    ] = "floorplan",
    style: Annotated[
        Literal["review", "paper", "slide"],
        typer.Option(help="Of a floorplan: whole; for a paper, no text below 7 points; for a slide of 16 to 9."),
    ] = "review",
    columns: Annotated[int, typer.Option(min=1, max=2, help="Columns of the paper: 3.5 or 7.16 inches.")] = 1,
    by: Annotated[
        Literal["kind", "order", "slot", "fill", "interval", "likelihood", "network"] | None,
        typer.Option(help="What colours of modules say; by default the network, or the order where there is one."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write: .svg, .png or .pdf.", rich_help_panel=OUTPUT),
    ] = None,
    force: ForceFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Draw a picture of a plan again, in another style, by other colours, as SVG, PNG or PDF."""
    with errors_to_exit_codes(debug=debug):
        if columns == 2 and style != "paper":
            raise api.InputError("--columns are those of a paper", hint="add --style paper")
        path = out or Path(f"{picture}.svg")
        api.require_picture_file(path, force=force)
        chosen = "wide paper" if (style, columns) == ("paper", 2) else style
        drawn = api.load(plan).drawn(picture, chosen, by)
        sys.stdout.write(f"written to {drawn.save(path, force=force)}\n")
