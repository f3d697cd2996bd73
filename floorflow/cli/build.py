"""The command that has Vivado make what a stitched plan needs; `cli` registers it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.console import print_json
from floorflow.cli.options import DebugFlag, JsonFlag
from floorflow.cli.progress import JOBS_PIPE_S, progress_shown
from floorflow.cli.terminal import errors_to_exit_codes


def build(
    plan_folder: Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan --flow stitch wrote.")],
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Runs of Vivado at once; by default as memory and cores allow."),
    ] = None,
    vivado: Annotated[str | None, typer.Option(help="The program, if it is not on the PATH.")] = None,
    library: Annotated[
        Path | None, typer.Option(help="Store of implemented modules, for several plans; by default the plan's own.")
    ] = None,
    modules: Annotated[
        Path | None, typer.Option(help=f"Folder with the packaged IP of modules; by default OUT/{api.MODULES}.")
    ] = None,
    licences: Annotated[int | None, typer.Option(min=1, help="Licences of Vivado, if fewer than -j.")] = None,
    profile: Annotated[str | None, typer.Option(help="Profile of Snakemake, to run on a cluster.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write the jobs and tell what they take.")] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Have Vivado implement a stitched plan's modules, many at once, and stitch its cards; resumes if killed."""
    with errors_to_exit_codes(debug=debug):
        with progress_shown(quiet=as_json, pipe_s=JOBS_PIPE_S) as tell:
            built = api.build(
                plan_folder,
                jobs=jobs,
                vivado=vivado,
                library=library,
                modules=modules,
                licences=licences,
                profile=profile,
                dry_run=dry_run,
                progress=tell,
            )
        if as_json:
            print_json(built.as_dict())
        else:
            sys.stdout.write(built.text)
        sys.stdout.flush()
        built.require_all()
