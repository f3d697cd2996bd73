"""The command that plans many points and makes a table of them; `cli` registers it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.console import print_json
from floorflow.cli.options import OUTPUT, DebugFlag, JsonFlag
from floorflow.cli.progress import JOBS_PIPE_S, progress_shown
from floorflow.cli.terminal import errors_to_exit_codes


def sweep(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="YAML file: models, platforms, options, time_limit.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the sweep; by default called as SPEC.", rich_help_panel=OUTPUT),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Plans at once; by default one a core.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Profile of Snakemake, to run on a cluster.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write the jobs and tell what is to plan.")] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Plan models x platforms x options of a file, each apart; one table and page of all; resumes if killed."""
    with errors_to_exit_codes(debug=debug):
        with progress_shown(quiet=as_json, pipe_s=JOBS_PIPE_S) as tell:
            made = api.sweep(spec, out, jobs=jobs, profile=profile, dry_run=dry_run, progress=tell)
        if as_json:
            print_json(made.as_dict())
        else:
            sys.stdout.write(made.text)
