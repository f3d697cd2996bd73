"""``floorflow explain``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.console import print_json
from floorflow.cli.options import OUTPUT, DebugFlag, JsonFlag
from floorflow.cli.terminal import errors_to_exit_codes


def explain(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan wrote.")],
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC",
            help="Layer, engine, module, slot (fpga0/slr1), stream, resource (lut) or word of the report (gap).",
        ),
    ] = None,
    faster: Annotated[
        Path | None, typer.Option(help="Folder to write the folding with the faster step to.", rich_help_panel=OUTPUT)
    ] = None,
    slower: Annotated[Path | None, typer.Option(help="The same with the slower step.", rich_help_panel=OUTPUT)] = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Explain a plan: why this rate, what is short, what one step more or less gives; or one thing in it."""
    with errors_to_exit_codes(debug=debug):
        found = api.explain(out, topic, faster=faster, slower=slower)
        if as_json:
            print_json(found.as_dict())
        else:
            sys.stdout.write(f"{found.text}\n")
        for folder in filter(None, (faster, slower)):
            sys.stderr.write(f"the folding with that step is written to {folder}\n")
