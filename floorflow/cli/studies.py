"""The commands that price, compare, draw fronts and calibrate; `cli` registers them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from floorflow import api
from floorflow.api import INSPECTED_PART, InputError
from floorflow.cli.calibration_table import calibration_tables
from floorflow.cli.comparison_table import comparison_table
from floorflow.cli.ending import carried_out, exit_interrupted
from floorflow.cli.options import (
    OUTPUT,
    DebugFlag,
    ForceFlag,
    JsonFlag,
    OutIfAny,
    OutOption,
    asks_for,
)
from floorflow.cli.pareto_table import pareto_table
from floorflow.cli.progress import progress_shown
from floorflow.cli.standard_streams import reader_is_gone
from floorflow.cli.terminal import complain, errors_to_exit_codes, paper, plain, print_json


@asks_for(
    "backend",
    "backend_options",
    "costs",
    "finn",
    defaults={"costs": "finn"},
    backend="Tool whose engines they are.",
    costs="Cost model; finn gives FINN's own numbers.",
    finn="Which FINN, unless a line says it.",
)
def cost(
    asked: Mapping[str, Any],
    file: Annotated[Path, typer.Argument(help="JSON lines, for FINN with op_type and attrs, or - for standard input.")],
    part: Annotated[str, typer.Option(help="Part, unless a line says it.")] = INSPECTED_PART,
    debug: DebugFlag = False,
) -> None:
    """Tell cycles, resources and stream widths of single engines, one a line; exit 2 if a line is bad."""
    with errors_to_exit_codes(debug=debug):
        failed = False
        with _lines_of(file) as lines:
            for answer in api.cost(lines, **asked, part=part):
                failed = failed or "error" in answer
                sys.stdout.write(json.dumps(answer) + "\n")
                if reader_is_gone():
                    break
        if failed:
            complain("a line could not be priced", "see the field error in the output", debug=False)
            raise typer.Exit(2)


@contextmanager
def _lines_of(file: Path) -> Iterator[Iterator[str]]:
    """Open a text file, or standard input for a dash."""
    if str(file) == "-":
        yield iter(sys.stdin)
        return
    try:
        opened = file.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}", hint="give a file of JSON lines, or - for input") from error
    with opened:
        yield iter(opened)


def _names(text: str) -> list[str]:
    """Return the names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _require_free(out: Path | None, *, force: bool) -> None:
    if out is not None:
        api.require_free(out, force=force)


def _finish(
    found: api.Study,
    table: Callable[[Mapping[str, Any]], RenderableType],
    out: Path | None,
    *,
    force: bool,
    as_json: bool,
    foldings: bool = False,
) -> None:
    """Save a study if there is a folder for it, and print it for a machine or for a person."""
    if out is not None:
        found.save(out, force=force, foldings=foldings, command=sys.argv)
    if as_json:
        print_json(found.as_dict())
    else:
        paper().print(table(found.as_dict()))


PROBLEM = (
    *("model", "platform", "fpgas", "cap", "clock_mhz", "backend", "backend_options", "costs", "finn", "impl_style"),
    *("weight_bits", "activation_bits", "seed"),
)
"""Fields of the request that state a folding problem."""
SUMMED = "Number of FPGAs whose limits are summed."


@asks_for(*PROBLEM, "fps", fpgas=SUMMED)
def compare(
    asked: Mapping[str, Any],
    methods: Annotated[
        str,
        typer.Option(
            help=f"Comma-separated: {', '.join(api.known_methods('fold_method'))}; all but brute unless told.",
            show_default=False,
        ),
    ] = "",
    epsilon: Annotated[
        float | None,
        typer.Option(min=0, max=1000, help="Balance cpsat's neighbouring layers to this ratio.", show_default=False),
    ] = None,
    out: OutIfAny = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Fold by several methods, side by side: rate, resources, gap to the proven bound, time."""
    with errors_to_exit_codes(debug=debug):
        _require_free(out, force=force)
        with progress_shown(quiet=as_json) as tell:
            found = api.compare(**asked, methods=_names(methods), epsilon=epsilon, progress=tell)
        _finish(found, comparison_table, out, force=force, as_json=as_json)


@asks_for(*PROBLEM, fpgas=SUMMED)
def pareto(
    asked: Mapping[str, Any],
    resources: Annotated[
        str | None,
        typer.Option(help="Comma-separated, such as LUT,BRAM18; all the board has unless told.", show_default=False),
    ] = None,
    points: Annotated[
        int, typer.Option(min=api.FEWEST_POINTS, max=api.MOST_POINTS, help="Intervals of each front.")
    ] = api.POINTS,
    out: OutIfAny = None,
    foldings: Annotated[
        bool,
        typer.Option(
            "--foldings", help="With --out: each point's folding, for plan --folding.", rich_help_panel=OUTPUT
        ),
    ] = False,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Tell what a frame rate costs: the least of each resource, and the least scarcity, by interval."""
    with errors_to_exit_codes(debug=debug):
        _require_free(out, force=force)
        if foldings and out is None:
            raise InputError("--foldings: there is no folder to write them to", hint="add --out")
        with progress_shown(quiet=as_json) as tell:
            found = api.pareto(**asked, resources=_names(resources or ""), points=points, progress=tell)
        _finish(found, pareto_table, out, force=force, as_json=as_json, foldings=foldings)


def calibrate(
    plan_folder: Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan wrote.", show_default=False)],
    reports: Annotated[Path, typer.Option(help="Folder with the reports of its build.", show_default=False)],
    out: OutOption,
    model: Annotated[Path | None, typer.Option(help="The model, if it was moved.", show_default=False)] = None,
    folding: Annotated[Path | None, typer.Option(help="The folding file, if it was moved.", show_default=False)] = None,
    platform: Annotated[
        Path | None, typer.Option("--platform", "-p", help="Your board's file, if it was moved.", show_default=False)
    ] = None,
    keep_folding: Annotated[
        bool, typer.Option("--keep-folding", help="Keep the folding that was built; place it anew.")
    ] = False,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw no pictures.", rich_help_panel=OUTPUT)] = False,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Measured beats estimated: read the reports of a build, and plan again with what they say."""
    with errors_to_exit_codes(debug=debug):
        if out.resolve() == plan_folder.resolve():
            raise InputError(f"{out}: holds the plan that was built", hint="choose another folder for --out")
        api.require_free(out, force=force)
        options = {"model": model, "folding": folding, "platform": platform, "keep_folding": keep_folding}
        with progress_shown(quiet=as_json) as tell:
            found, made = _calibrated(plan_folder, reports, tell, plots=not no_plots, **options)
            _, late = carried_out(partial(made.save, out, force=force, command=sys.argv, progress=tell))
        if as_json:
            print_json(found.as_dict())
        else:
            console = paper()
            for table in (*calibration_tables(found.as_dict()), f"written to {plain(str(out))}"):
                console.print(table)
        if made.interrupted:
            exit_interrupted(f"the best legal plan known by then is written to {out}, without pictures")
        if late:
            exit_interrupted(f"the plan was finished and is written to {out}")


def _calibrated(
    folder: Path, reports: Path, tell: api.Callback | None, **options: Any
) -> tuple[api.Calibration, api.Plan]:
    """Return what was measured and the plan with its pictures drawn, or what there was of it when Ctrl-C came."""
    try:
        found = api.calibrate(folder, reports, progress=tell, **options)
    except api.InterruptedCalibration as interrupted:
        return interrupted.calibration, interrupted.plan
    try:
        found.plan.draw(progress=tell)
    except api.Interrupted as interrupted:
        return found, interrupted.plan
    return found, found.plan
