"""The commands that read what was built: audit and calibrate; `cli` registers them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from floorflow import api
from floorflow.api import InputError
from floorflow.cli.calibration_table import calibration_tables
from floorflow.cli.options import (
    OUTPUT,
    DebugFlag,
    ForceFlag,
    JsonFlag,
    OutIfAny,
    OutOption,
    asks_for,
)
from floorflow.cli.progress import progress_shown
from floorflow.cli.terminal import errors_to_exit_codes, paper, plain, print_json, save_whole, talk

BUILD = "Folder that FINN, FINN+ or hls4ml wrote (an output_dir), or the files of one."
NoPlotsFlag = Annotated[bool, typer.Option("--no-plots", help="Draw no pictures.", rich_help_panel=OUTPUT)]


@asks_for(
    "clock_mhz",
    "costs",
    "finn",
    "vivado",
    defaults={"finn": None},
    clock_mhz="Clock in MHz, instead of the build's.",
    finn="Which FINN's engines they are; the build's own if it tells.",
    vivado="The Vivado that built it; the build's own if it tells.",
)
def audit(
    asked: Mapping[str, Any],
    build: Annotated[Path, typer.Argument(metavar="BUILD", help=BUILD, show_default=False)],
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            "-p",
            help="Board, YAML file of one, or part; the build's own if it tells.",
            show_default=False,
        ),
    ] = None,
    out: OutIfAny = None,
    no_plots: NoPlotsFlag = False,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Compare a build with what floorflow says of the same design: every node, FIFOs, rates, clock."""
    with errors_to_exit_codes(debug=debug):
        if out is not None:
            if api.resolved(out) == api.resolved(build):
                raise InputError(f"{out}: holds the build", hint="choose another folder for --out")
            api.require_free(out, force=force)
        with progress_shown(quiet=as_json) as tell:
            found = api.audit(build, platform, plots=not no_plots, progress=tell, **asked)
        if out is not None:
            found.save(out, force=force, command=sys.argv)
        if as_json:
            print_json(found.as_dict())
            return
        sys.stdout.write(found.text)
        if out is not None:
            talk.print(f"written to {plain(str(out))}")


def calibrate(
    reports: Annotated[
        Path,
        typer.Option(help="Folder with the reports of its build, or a build folder of FINN's.", show_default=False),
    ],
    out: OutOption,
    plan_folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="OUT",
            help="Folder that plan wrote; without it the build's own graph is planned.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="The model, if it was moved.", show_default=False)] = None,
    folding: Annotated[Path | None, typer.Option(help="The folding file, if it was moved.", show_default=False)] = None,
    platform: Annotated[
        Path | None,
        typer.Option(
            "--platform",
            "-p",
            help="Your board's file, if it was moved; without a plan the board.",
            show_default=False,
        ),
    ] = None,
    keep_folding: Annotated[
        bool, typer.Option("--keep-folding", help="Keep the folding that was built; place it anew.")
    ] = False,
    no_plots: NoPlotsFlag = False,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Measured beats estimated: read the reports of a build, and plan again with what they say."""
    with errors_to_exit_codes(debug=debug):
        if plan_folder is not None and api.resolved(out) == api.resolved(plan_folder):
            raise InputError(f"{out}: holds the plan that was built", hint="choose another folder for --out")
        api.require_free(out, force=force, later=api.LATER)
        options = {"model": model, "folding": folding, "platform": platform, "keep_folding": keep_folding}
        with progress_shown(quiet=as_json) as told:
            found, made = _calibrated(plan_folder, reports, told, plots=not no_plots, **options)

            def tell() -> None:
                if as_json:
                    print_json(found.as_dict())
                    sys.stdout.flush()
                    return
                console = paper()
                for table in (*calibration_tables(found.as_dict()), f"written to {plain(str(out))}"):
                    console.print(table)

            ending = save_whole(made, out, force=force, progress=told, tell=tell)
        ending.tell(quiet=as_json)


def _calibrated(
    folder: Path | None, reports: Path, tell: api.Callback | None, **options: Any
) -> tuple[api.Calibration, api.Plan]:
    """Return what was measured and the plan, or what there was of it when a signal came."""
    try:
        found = api.calibrate(folder, reports, progress=tell, **options)
    except api.InterruptedCalibration as interrupted:
        return interrupted.calibration, interrupted.plan
    return found, found.plan
