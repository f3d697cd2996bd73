"""The command line: parse, call, print. Data goes to standard output, all talk to standard error.

Exit codes: 0 done; 1 ``check`` found violations; 2 bad input or usage; 3 proven infeasible; 4 a tool failed or is
missing; 5 limit reached without a plan; 70 internal error; 130 interrupted with nothing written.
"""

from __future__ import annotations

import json
import os
import platform as python_platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from floorflow import __version__
from floorflow.cli_options import (
    INSPECTED_PART,
    MODEL_HELP,
    ActivationBitsOption,
    CapOption,
    ClockOption,
    CostsChoice,
    DebugFlag,
    EffortChoice,
    FillOption,
    FinnChoice,
    FoldingOption,
    FpsOption,
    GranularityChoice,
    JsonFlag,
    LinkOption,
    ObjectiveOption,
    TopologyChoice,
    WeightBitsOption,
)
from floorflow.errors import FloorflowError

app = typer.Typer(
    name="floorflow",
    help="From a quantised network to a legal multi-die FPGA floorplan, with a proven distance from optimal.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_talk = Console(stderr=True, highlight=False, soft_wrap=True)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)


@contextmanager
def _errors_to_exit_codes(*, debug: bool) -> Iterator[None]:
    try:
        yield
    except FloorflowError as error:
        _complain(str(error), error.hint, debug=debug)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        _complain("interrupted before a legal plan was found; nothing was written", "", debug=False)
        raise typer.Exit(130) from None
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        # The reader of our output has seen enough; keep the interpreter from complaining when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except Exception as error:  # noqa: BLE001  (the last line of defence: users see no traceback)
        _complain(
            f"internal error: {type(error).__name__}: {error}", "run again with --debug and report it", debug=debug
        )
        raise typer.Exit(70) from None


def _complain(message: str, hint: str, *, debug: bool) -> None:
    if debug:
        sys.stderr.write(traceback.format_exc())
    _talk.print(f"[bold red]error:[/] {_plain(message)}")
    if hint:
        _talk.print(f"[bold]hint:[/] {_plain(hint)}")


def _plain(text: str) -> str:
    """Escape rich markup in text that is not ours."""
    return text.replace("[", r"\[")


def _paper() -> Console:
    """Return standard output for tables: as wide as the terminal, and wide enough for anything in a pipe."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def _print_json(content: object) -> None:
    sys.stdout.write(json.dumps(content, indent=2, sort_keys=True) + "\n")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show what the search does on a terminal; stay silent in a pipe."""
    if quiet or not _talk.is_terminal:
        yield lambda _: None
        return
    with _talk.status("reading") as status:
        yield lambda text: status.update(_plain(text))


@app.command()
def plan(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP, show_default=False)],
    platform: Annotated[str, typer.Option("--platform", "-p", help="Board name or YAML file.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.", show_default=False)],
    fpgas: Annotated[str, typer.Option(help="Number of FPGAs, or auto: the least that will do.")] = "1",
    max_fpgas: Annotated[
        int | None, typer.Option(min=1, help="Most FPGAs that auto may take [16].", show_default=False)
    ] = None,
    link: LinkOption = None,
    topology: Annotated[TopologyChoice, typer.Option(help="How FPGAs are joined.")] = TopologyChoice.chain,
    fps: FpsOption = None,
    objective: ObjectiveOption = None,
    cap: CapOption = None,
    fill: FillOption = None,
    clock_mhz: ClockOption = None,
    granularity: Annotated[GranularityChoice, typer.Option(help="What gets one pblock.")] = GranularityChoice.stage,
    keep_granularity: Annotated[bool, typer.Option("--keep-granularity", help="Never merge modules to place.")] = False,
    costs: Annotated[CostsChoice, typer.Option(help="Cost model.")] = CostsChoice.calibrated,
    finn: Annotated[FinnChoice, typer.Option(help="Which FINN.")] = FinnChoice.main,
    no_runtime_weights: Annotated[
        bool, typer.Option("--no-runtime-weights", help="No weights in URAM (written at run time).")
    ] = False,
    label_select: Annotated[bool, typer.Option("--label-select", help="Add LabelSelect after the last layer.")] = False,
    weight_bits: WeightBitsOption = None,
    activation_bits: ActivationBitsOption = None,
    keep_folding: Annotated[
        bool, typer.Option("--keep-folding", help="Keep the folding that a FINN dataflow graph carries.")
    ] = False,
    folding: FoldingOption = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of every solver.")] = 0,
    effort: Annotated[EffortChoice, typer.Option(help="How long solvers may work.")] = EffortChoice.default,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw no pictures.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier plan in the folder.")] = False,
    as_json: JsonFlag = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
    debug: DebugFlag = False,
) -> None:
    """Plan a network on a platform: folding, partition, pblocks, files and pictures."""
    with _errors_to_exit_codes(debug=debug):
        from floorflow.output import require_free, write
        from floorflow.request import DEFAULT_FILL, MOST_FPGAS, PAPER_CAPS, Request, fpga_count, fractions

        started = time.perf_counter()
        require_free(out, force=force)
        request = Request(
            model=model,
            platform=platform,
            fpgas=fpga_count(fpgas, max_fpgas),
            max_fpgas=max_fpgas or MOST_FPGAS,
            link=link,
            topology=topology.value,
            fps=fps,
            objective=None if objective is None else objective.value,
            cap=fractions(PAPER_CAPS, cap or [], "--cap"),
            fill=fractions(DEFAULT_FILL, fill or [], "--fill"),
            clock_mhz=clock_mhz,
            seed=seed,
            effort=effort.value,
            granularity=granularity.value,
            keep_granularity=keep_granularity,
            costs=costs.value,
            finn=finn.value,
            runtime_weights=not no_runtime_weights,
            label_select=label_select,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            keep_folding=keep_folding or folding is not None,
            folding=folding,
            plots=not no_plots,
        )
        from floorflow import flow
        from floorflow.report import summary

        with _progress(quiet=quiet or as_json) as progress:
            outcome = flow.plan(request, progress)
        write(out, outcome.files, _run_record(started))
        if outcome.interrupted:
            _talk.print("[bold yellow]warning:[/] interrupted; what is written is the best legal plan found so far")
        if as_json:
            sys.stdout.write(outcome.plan.to_json())
        if not quiet:
            _talk.print(_plain(summary(outcome.plan, out)))


def _run_record(started: float) -> dict[str, object]:
    from importlib.metadata import version

    names = ("matplotlib", "networkx", "numpy", "onnx", "ortools", "pydantic", "pymetis")
    return {
        "argv": sys.argv,
        "python": python_platform.python_version(),
        "seconds": round(time.perf_counter() - started, 3),
        "versions": {"floorflow": __version__} | {name: version(name) for name in names},
    }


@app.command()
def inspect(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP, show_default=False)],
    platform: Annotated[
        str | None, typer.Option("--platform", "-p", help="Board name or YAML file to lower for.", show_default=False)
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            help=f"Part whose DSPs decide hls or rtl units; {INSPECTED_PART} if not given.", show_default=False
        ),
    ] = None,
    label_select: Annotated[bool, typer.Option("--label-select", help="Add LabelSelect after the last layer.")] = False,
    weight_bits: WeightBitsOption = None,
    activation_bits: ActivationBitsOption = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Show what was read and assumed, and the engines it becomes."""
    with _errors_to_exit_codes(debug=debug):
        from floorflow.backends.finn import read_source
        from floorflow.network import FloatBits
        from floorflow.report import inspection, inspection_tables
        from floorflow.technology import technology_of

        part = _part(platform, part)
        source = read_source(model, FloatBits(weight_bits, activation_bits))
        dataflow, refusal = source.inspected(technology_of(part), label_select=label_select)
        if as_json:
            _print_json(inspection(source.network, dataflow, part, refusal))
            return
        console = _paper()
        for table in inspection_tables(source.network, dataflow, part, refusal):
            console.print(table)


def _part(platform: str | None, part: str | None) -> str:
    """Return the part that ``inspect`` lowers for: the platform's, the one named, or a large one."""
    from floorflow.errors import InputError
    from floorflow.target import load_platform
    from floorflow.technology import require_known_family

    if part is not None and platform is not None:
        raise InputError(f"--part {part}: --platform {platform} says which part", hint="give one of the two")
    if platform is not None:
        return load_platform(platform).fpgas[0].board.part
    require_known_family(part or INSPECTED_PART)
    return part or INSPECTED_PART


@app.command()
def cost(
    file: Annotated[Path, typer.Argument(help="JSON lines with op_type and attrs, or - for standard input.")],
    costs: Annotated[CostsChoice, typer.Option(help="Cost model.")] = CostsChoice.calibrated,
    finn: Annotated[FinnChoice, typer.Option(help="Which FINN, unless a line says it.")] = FinnChoice.main,
    part: Annotated[str, typer.Option(help="Part, unless a line says it.")] = INSPECTED_PART,
    debug: DebugFlag = False,
) -> None:
    """Tell cycles, resources and stream widths of FINN's engines, one a line; exit 2 if a line is bad."""
    with _errors_to_exit_codes(debug=debug):
        from floorflow.costing import CostOptions, cost_lines

        failed = False
        with _lines_of(file) as lines:
            for answer in cost_lines(lines, CostOptions(costs.value, finn.value, part)):
                failed = failed or "error" in answer
                sys.stdout.write(json.dumps(answer) + "\n")
        if failed:
            _complain("a line could not be priced", "see the field error in the output", debug=False)
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


@app.command()
def check(
    out: Annotated[Path, typer.Argument(help="Folder that plan wrote.", show_default=False)],
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Judge a plan and its files independently; exit 1 if anything is wrong."""
    with _errors_to_exit_codes(debug=debug):
        from floorflow.check import NotAPlan
        from floorflow.check import check as judge
        from floorflow.errors import InputError

        try:
            violations = judge(out)
        except NotAPlan as error:
            raise InputError(str(error), hint="give a folder that floorflow plan wrote") from error
        if as_json:
            _print_json([{"name": v.name, "where": v.where, "message": v.message} for v in violations])
        else:
            _print_verdict(out, violations)
        if violations:
            raise typer.Exit(1)


def _print_verdict(out: Path, violations: list[Any]) -> None:
    for v in violations:
        sys.stdout.write(f"{v.name}: {v.where}: {v.message}\n")
    verdict = "legal" if not violations else f"{len(violations)} violation{'s' if len(violations) > 1 else ''}"
    sys.stdout.write(f"{out}: {verdict}\n")


@app.command()
def compare(
    model: Annotated[Path, typer.Argument(help=MODEL_HELP, show_default=False)],
    platform: Annotated[str, typer.Option("--platform", "-p", help="Board name or YAML file.", show_default=False)],
    methods: Annotated[
        str, typer.Option(help="Comma-separated: exact, cpsat, finn, finn-wide, rule, annealing, brute.")
    ] = "exact,cpsat,finn,finn-wide,rule,annealing",
    epsilon: Annotated[
        float | None,
        typer.Option(min=0, max=1000, help="Balance cpsat's neighbouring layers to this ratio.", show_default=False),
    ] = None,
    fpgas: Annotated[int, typer.Option(min=1, help="Number of FPGAs whose limits are summed.")] = 1,
    fps: FpsOption = None,
    cap: CapOption = None,
    clock_mhz: ClockOption = None,
    costs: Annotated[CostsChoice, typer.Option(help="Cost model.")] = CostsChoice.calibrated,
    finn: Annotated[FinnChoice, typer.Option(help="Which FINN.")] = FinnChoice.main,
    weight_bits: WeightBitsOption = None,
    activation_bits: ActivationBitsOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for table and picture.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of every solver.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier comparison in the folder.")] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Fold by several methods, side by side: rate, resources, gap to the proven bound, time."""
    with _errors_to_exit_codes(debug=debug):
        from floorflow.output import require_free, write
        from floorflow.request import PAPER_CAPS, Request, fractions
        from floorflow.study.compare import compare as fold_by_all
        from floorflow.study.table import comparison_files, comparison_table

        started = time.perf_counter()
        if out is not None:
            require_free(out, force=force)
        request = Request(
            model=model,
            platform=platform,
            fpgas=fpgas,
            fps=fps,
            cap=fractions(PAPER_CAPS, cap or [], "--cap"),
            clock_mhz=clock_mhz,
            costs=costs.value,
            finn=finn.value,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            seed=seed,
        )
        names = [name.strip() for name in methods.split(",") if name.strip()]
        with _progress(quiet=as_json) as progress:
            found = fold_by_all(request, names, epsilon, progress)
        if out is not None:
            write(out, comparison_files(found), _run_record(started))
        if as_json:
            _print_json(found.as_dict())
        else:
            _paper().print(comparison_table(found))


@app.command()
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
    with _errors_to_exit_codes(debug=debug):
        from floorflow.output import require_free, write
        from floorflow.study import calibrate as study
        from floorflow.study import calibration_data
        from floorflow.study.again import Given, require_other
        from floorflow.study.calibration_table import calibration_tables

        started = time.perf_counter()
        require_other(out, plan_folder)
        require_free(out, force=force)
        given = Given(model, folding, platform, keep_folding, plots=not no_plots)
        with _progress(quiet=as_json) as progress:
            found = study.calibrate(plan_folder, reports, given, progress)
        data = calibration_data.text(found)
        write(out, found.after.files | {calibration_data.FILE: data}, _run_record(started))
        if as_json:
            sys.stdout.write(data)
            return
        console = _paper()
        for table in (*calibration_tables(json.loads(data)), f"written to {_plain(str(out))}"):
            console.print(table)


@app.command()
def platforms(
    name: Annotated[str | None, typer.Argument(help="Board name or YAML file.", show_default=False)] = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """List the known platforms, or show one: slots, resources, SLL wires, infrastructure."""
    with _errors_to_exit_codes(debug=debug):
        from floorflow.report import platform_entry, platform_tables, platforms_table
        from floorflow.target import known_platforms, load_platform

        chosen = [load_platform(n) for n in ([name] if name else known_platforms())]
        if as_json:
            _print_json(platform_entry(chosen[0]) if name else [platform_entry(p) for p in chosen])
            return
        console = _paper()
        for table in platform_tables(chosen[0]) if name else [platforms_table(chosen)]:
            console.print(table)


def _print_version(value: bool) -> None:
    if value:
        sys.stdout.write(f"floorflow {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hold options that stand before the command."""
