"""The commands that price, compare, draw fronts and calibrate; `cli` registers them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from floorflow.cli.ending import carried_out, exit_interrupted
from floorflow.cli.options import (
    INSPECTED_PART,
    ActivationBitsOption,
    CapOption,
    ClockOption,
    CostsChoice,
    DebugFlag,
    FinnChoice,
    FpsOption,
    ImplStyleChoice,
    ImplStyleOption,
    JsonFlag,
    ModelArgument,
    PlatformOption,
    SeedOption,
    SummedFpgasOption,
    WeightBitsOption,
)
from floorflow.cli.progress import progress_shown
from floorflow.cli.standard_streams import reader_is_gone
from floorflow.cli.terminal import complain, errors_to_exit_codes, paper, plain, print_json, run_record


def cost(
    file: Annotated[Path, typer.Argument(help="JSON lines with op_type and attrs, or - for standard input.")],
    costs: Annotated[CostsChoice, typer.Option(help="Cost model; finn gives FINN's own numbers.")] = CostsChoice.finn,
    finn: Annotated[FinnChoice, typer.Option(help="Which FINN, unless a line says it.")] = FinnChoice.main,
    part: Annotated[str, typer.Option(help="Part, unless a line says it.")] = INSPECTED_PART,
    debug: DebugFlag = False,
) -> None:
    """Tell cycles, resources and stream widths of FINN's engines, one a line; exit 2 if a line is bad."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.backends.finn.cost_command import CostOptions, cost_lines

        failed = False
        with _lines_of(file) as lines:
            for answer in cost_lines(lines, CostOptions(costs.value, finn.value, part)):
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
    from floorflow.errors import InputError

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


def compare(
    model: ModelArgument,
    platform: PlatformOption,
    methods: Annotated[
        str, typer.Option(help="Comma-separated: exact, cpsat, finn, finn-wide, rule, annealing, brute.")
    ] = "exact,cpsat,finn,finn-wide,rule,annealing",
    epsilon: Annotated[
        float | None,
        typer.Option(min=0, max=1000, help="Balance cpsat's neighbouring layers to this ratio.", show_default=False),
    ] = None,
    fpgas: SummedFpgasOption = 1,
    fps: FpsOption = None,
    cap: CapOption = None,
    clock_mhz: ClockOption = None,
    costs: Annotated[CostsChoice, typer.Option(help="Cost model.")] = CostsChoice.calibrated,
    finn: Annotated[FinnChoice, typer.Option(help="Which FINN.")] = FinnChoice.main,
    impl_style: ImplStyleOption = ImplStyleChoice.auto,
    weight_bits: WeightBitsOption = None,
    activation_bits: ActivationBitsOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for table and picture.")] = None,
    seed: SeedOption = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier comparison in the folder.")] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Fold by several methods, side by side: rate, resources, gap to the proven bound, time."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.output import require_free, write
        from floorflow.request import DEFAULT_CAP, Request, parse_fractions
        from floorflow.study.comparison.compare import compare as fold_by_all
        from floorflow.study.comparison.table import comparison_files, comparison_table

        started = time.perf_counter()
        if out is not None:
            require_free(out, force=force)
        request = Request(
            model=model,
            platform=platform,
            fpgas=fpgas,
            fps=fps,
            cap=parse_fractions(DEFAULT_CAP, cap or [], "--cap"),
            clock_mhz=clock_mhz,
            costs=costs.value,
            finn=finn.value,
            impl_style=impl_style.value,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            seed=seed,
        )
        with progress_shown(quiet=as_json) as progress:
            found = fold_by_all(request, _names(methods), epsilon, progress)
        if out is not None:
            write(out, comparison_files(found), run_record(started), force=force)
        _tell(found.as_dict(), comparison_table(found), as_json=as_json)


def pareto(
    model: ModelArgument,
    platform: PlatformOption,
    resources: Annotated[
        str | None,
        typer.Option(help="Comma-separated, such as LUT,BRAM18; all the board has unless told.", show_default=False),
    ] = None,
    points: Annotated[int, typer.Option(min=2, max=1000, help="Intervals of each front.")] = 12,
    fpgas: SummedFpgasOption = 1,
    cap: CapOption = None,
    clock_mhz: ClockOption = None,
    costs: Annotated[CostsChoice, typer.Option(help="Cost model.")] = CostsChoice.calibrated,
    finn: Annotated[FinnChoice, typer.Option(help="Which FINN.")] = FinnChoice.main,
    impl_style: ImplStyleOption = ImplStyleChoice.auto,
    weight_bits: WeightBitsOption = None,
    activation_bits: ActivationBitsOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for data and picture.")] = None,
    foldings: Annotated[
        bool, typer.Option("--foldings", help="With --out: each point's folding, for plan --folding.")
    ] = False,
    seed: SeedOption = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace earlier fronts in the folder.")] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Tell what a frame rate costs: the least of each resource, and the least scarcity, by interval."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.errors import InputError
        from floorflow.output import require_free, write
        from floorflow.request import DEFAULT_CAP, Request, parse_fractions
        from floorflow.study.pareto.files import pareto_files
        from floorflow.study.pareto.pareto import pareto as find_fronts
        from floorflow.study.pareto.table import pareto_table

        started = time.perf_counter()
        if out is not None:
            require_free(out, force=force)
        elif foldings:
            raise InputError("--foldings: there is no folder to write them to", hint="add --out")
        request = Request(
            model=model,
            platform=platform,
            fpgas=fpgas,
            cap=parse_fractions(DEFAULT_CAP, cap or [], "--cap"),
            clock_mhz=clock_mhz,
            costs=costs.value,
            finn=finn.value,
            impl_style=impl_style.value,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            seed=seed,
        )
        with progress_shown(quiet=as_json) as progress:
            found = find_fronts(request, _names(resources or ""), points, progress)
        if out is not None:
            write(out, pareto_files(found, foldings=foldings), run_record(started), force=force)
        _tell(found.as_dict(), pareto_table(found), as_json=as_json)


def calibrate(
    plan_folder: Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan wrote.", show_default=False)],
    reports: Annotated[Path, typer.Option(help="Folder with the reports of its build.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.", show_default=False)],
    model: Annotated[Path | None, typer.Option(help="The model, if it was moved.", show_default=False)] = None,
    folding: Annotated[Path | None, typer.Option(help="The folding file, if it was moved.", show_default=False)] = None,
    platform: Annotated[
        Path | None, typer.Option("--platform", "-p", help="Your board's file, if it was moved.", show_default=False)
    ] = None,
    keep_folding: Annotated[
        bool, typer.Option("--keep-folding", help="Keep the folding that was built; place it anew.")
    ] = False,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw no pictures.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier plan in the folder.")] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Measured beats estimated: read the reports of a build, and plan again with what they say."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.output import require_free, write
        from floorflow.study.calibration import calibrate as study
        from floorflow.study.calibration import data as calibration_data
        from floorflow.study.calibration.replan import Overrides, require_other_folder
        from floorflow.study.calibration.table import calibration_tables

        started = time.perf_counter()
        require_other_folder(out, plan_folder)
        require_free(out, force=force)
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
