"""``floorflow bind``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.api import InputError
from floorflow.cli.options import DebugFlag, ForceFlag, JsonFlag, OutOption
from floorflow.cli.terminal import errors_to_exit_codes, plain, print_json, talk

BUILD = "FINN's output_dir, its folder of kernels (kernel_partitions), or the graph behind a stitched IP."


def bind(
    plan: Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan wrote.", show_default=False)],
    build: Annotated[Path, typer.Option("--build", help=BUILD, show_default=False)],
    out: OutOption,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Bind a plan's constraints to the cells of a build of it; exit 2 if it cannot be told which is which."""
    with errors_to_exit_codes(debug=debug):
        if api.resolved(out) in (api.resolved(plan), api.resolved(build)):
            raise InputError(f"{out}: holds the plan or the build", hint="choose another folder for --out")
        api.require_free(out, force=force)
        found = api.bind(plan, build)
        found.save(out, force=force)  # run.json keeps the plan's own command line, which tells where its model is
        if as_json:
            print_json(found.as_dict())
            return
        for engine, node in found.renamed:
            sys.stdout.write(f"renamed: {engine} is {node}\n")
        for note in found.notes:
            sys.stdout.write(f"note: {note}\n")
        sys.stdout.write(f"bound: {len(found.cells):,} engines, {len(found.renamed):,} renamed\n")
        talk.print(f"written to {plain(str(out))}")
