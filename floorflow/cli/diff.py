"""``floorflow diff``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.console import print_json
from floorflow.cli.options import OUTPUT, DebugFlag, JsonFlag
from floorflow.cli.terminal import errors_to_exit_codes


def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder that plan wrote, or its plan.json.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The plan to compare with it.")],
    require: Annotated[
        list[str] | None,
        typer.Option(help="What B must hold, as 'fps>=1000': a name that --json lists, >=, <=, ==, > or <, a number."),
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a pull request.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Compare two plans: rate, room, foldings, places, options; exit 1 where --require does not hold."""
    with errors_to_exit_codes(debug=debug):
        if as_json and as_markdown:
            raise api.InputError("--json and --markdown: only one can be printed", hint="leave one of them out")
        asked = require or []
        found = api.diff(a, b)
        unmet = found.unmet(*asked)
        if as_json:
            print_json({**found.as_dict(), "required": asked, "unmet": unmet})
        else:
            told = [f"required, does not hold: {text}" for text in unmet]
            told += [f"all that is required holds: {', '.join(asked)}"] if asked and not unmet else []
            text = found.markdown if as_markdown else found.text
            sys.stdout.write("\n".join([text, *[line for one in told for line in ("", one)][not as_markdown :]]) + "\n")
        if unmet:
            raise typer.Exit(1)
