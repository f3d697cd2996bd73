"""The commands that price, compare, draw fronts and calibrate; `cli` registers them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from floorflow.cli.ending import carried_out, exit_interrupted
from floorflow.cli.options import (
    INSPECTED_PART,
    OUTPUT,
    DebugFlag,
    ForceFlag,
    JsonFlag,
    OutIfAny,
    OutOption,
    asks_for,
)
from floorflow.cli.progress import progress_shown
from floorflow.cli.standard_streams import reader_is_gone
from floorflow.cli.terminal import complain, errors_to_exit_codes, paper, plain, print_json, run_record
from floorflow.errors import InputError
from floorflow.output import require_free, write
from floorflow.plugins import DEFAULT_BACKEND, registration
from floorflow.request import Request, known_methods, require_method, require_resources


@asks_for(
    "costs",
    "finn",
    defaults={"costs": "finn"},
    costs="Cost model; finn gives FINN's own numbers.",
    finn="Which FINN, unless a line says it.",
)
def cost(
    asked: Mapping[str, Any],
    file: Annotated[Path, typer.Argument(help="JSON lines with op_type and attrs, or - for standard input.")],
    part: Annotated[str, typer.Option(help="Part, unless a line says it.")] = INSPECTED_PART,
    debug: DebugFlag = False,
) -> None:
    """Tell cycles, resources and stream widths of FINN's engines, one a line; exit 2 if a line is bad."""
    with errors_to_exit_codes(debug=debug):
        failed = False
        options = registration(DEFAULT_BACKEND).options(**{"costs": "finn", **asked})
        with _lines_of(file) as lines:
            from floorflow.backends.backend import backend_named

            for answer in backend_named(DEFAULT_BACKEND).cost_lines(lines, part, options):
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


def _tell(content: object, table: RenderableType, *, as_json: bool) -> None:
    """Print what was found, for a machine or for a person."""
    if as_json:
        print_json(content)
    else:
        paper().print(table)


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
        str, typer.Option(help=f"Comma-separated: {', '.join(known_methods('fold_method'))}.")
    ] = "exact,cpsat,finn,finn-wide,rule,annealing",
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
        started = time.perf_counter()
        if out is not None:
            require_free(out, force=force)
        request = Request(**asked)
        request.fixed_fpgas("compare")
        request.require_files()
        for name in _names(methods):
            require_method("fold_method", name, "--methods", request.backend)
        from floorflow.study.comparison.compare import compare as fold_by_all
        from floorflow.study.comparison.table import comparison_files, comparison_table

        with progress_shown(quiet=as_json) as progress:
            found = fold_by_all(request, _names(methods), epsilon, progress)
        if out is not None:
            write(out, comparison_files(found), run_record(started), force=force)
        _tell(found.as_dict(), comparison_table(found), as_json=as_json)


@asks_for(*PROBLEM, fpgas=SUMMED)
def pareto(
    asked: Mapping[str, Any],
    resources: Annotated[
        str | None,
        typer.Option(help="Comma-separated, such as LUT,BRAM18; all the board has unless told.", show_default=False),
    ] = None,
    points: Annotated[int, typer.Option(min=2, max=1000, help="Intervals of each front.")] = 12,
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
        started = time.perf_counter()
        if out is not None:
            require_free(out, force=force)
        elif foldings:
            raise InputError("--foldings: there is no folder to write them to", hint="add --out")
        request = Request(**asked)
        request.fixed_fpgas("pareto")
        require_resources(_names(resources or ""), "--resources")
        request.require_files()
        from floorflow.study.pareto.files import pareto_files
        from floorflow.study.pareto.pareto import pareto as find_fronts
        from floorflow.study.pareto.table import pareto_table

        with progress_shown(quiet=as_json) as progress:
            found = find_fronts(request, _names(resources or ""), points, progress)
        if out is not None:
            write(out, pareto_files(found, foldings=foldings), run_record(started), force=force)
        _tell(found.as_dict(), pareto_table(found), as_json=as_json)


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
        started = time.perf_counter()
        _require_folder(plan_folder, "a folder that plan wrote")
        _require_folder(reports, "the folder with the reports of the build")
        if out.resolve() == plan_folder.resolve():
            raise InputError(f"{out}: holds the plan that was built", hint="choose another folder for --out")
        require_free(out, force=force)
        from floorflow.study.calibration import calibrate as study
        from floorflow.study.calibration import data as calibration_data
        from floorflow.study.calibration.replan import Overrides
        from floorflow.study.calibration.table import calibration_tables

        given = Overrides(model, folding, platform, keep_folding, plots=not no_plots)
        with progress_shown(quiet=as_json) as progress:
            found = study.calibrate(plan_folder, reports, given, progress)
        data = calibration_data.text(found)
        files = found.after.files | {calibration_data.FILE: data}
        late = carried_out(lambda: write(out, files, run_record(started), force=force))
        if as_json:
            sys.stdout.write(data)
        else:
            console = paper()
            for table in (*calibration_tables(json.loads(data)), f"written to {plain(str(out))}"):
                console.print(table)
        if found.after.plan.interrupted:
            exit_interrupted(f"the best legal plan known by then is written to {out}, without pictures")
        if late:
            exit_interrupted(f"the plan was finished and is written to {out}")


def _require_folder(folder: Path, what: str) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder", hint=f"give {what}")
