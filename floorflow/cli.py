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
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from floorflow import __version__
from floorflow.errors import FloorflowError

app = typer.Typer(
    name="floorflow",
    help="From a quantised network to a legal multi-die FPGA floorplan, with a proven distance from optimal.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_talk = Console(stderr=True, highlight=False, soft_wrap=True)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one machine-readable object on standard output.")]
DebugFlag = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

FpsOption = Annotated[
    float | None,
    typer.Option(min=0.001, help="Frames a second: least resources at this rate, instead of the highest rate."),
]
CapOption = Annotated[
    list[str] | None,
    typer.Option(help="Share of a slot the design may use, e.g. LUT=0.75; repeatable [LUT 0.7, FF 0.5, others 0.9]."),
]
FillOption = Annotated[
    list[str] | None,
    typer.Option(help="How full one pblock may be, e.g. LUT=0.9; repeatable [LUT and FF 0.85, others 1]."),
]
ClockOption = Annotated[float | None, typer.Option(min=1, max=1000, help="Clock in MHz, instead of the board's.")]


class EffortChoice(StrEnum):
    """How long solvers may work."""

    fast = "fast"
    default = "default"
    best = "best"


class GranularityChoice(StrEnum):
    """What gets one pblock."""

    stage = "stage"
    block = "block"
    layer = "layer"
    slot = "slot"


class CostsChoice(StrEnum):
    """Whose resource estimates to use."""

    estimated = "estimated"
    finn = "finn"


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
    model: Annotated[Path, typer.Argument(help="QONNX file of the network.", show_default=False)],
    platform: Annotated[str, typer.Option("--platform", "-p", help="Board name or YAML file.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.", show_default=False)],
    fpgas: Annotated[str, typer.Option(help="Number of FPGAs, or auto: the least that will do.")] = "1",
    max_fpgas: Annotated[int, typer.Option(min=1, help="Most FPGAs that auto may take.")] = 16,
    fps: FpsOption = None,
    cap: CapOption = None,
    fill: FillOption = None,
    clock_mhz: ClockOption = None,
    granularity: Annotated[GranularityChoice, typer.Option(help="What gets one pblock.")] = GranularityChoice.stage,
    keep_granularity: Annotated[bool, typer.Option("--keep-granularity", help="Never merge modules to place.")] = False,
    costs: Annotated[CostsChoice, typer.Option(help="Cost model.")] = CostsChoice.estimated,
    no_runtime_weights: Annotated[
        bool, typer.Option("--no-runtime-weights", help="No weights in URAM (written at run time).")
    ] = False,
    label_select: Annotated[bool, typer.Option("--label-select", help="Add LabelSelect after the last layer.")] = False,
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
        from floorflow.request import DEFAULT_FILL, PAPER_CAPS, Request, fpga_count, fractions

        started = time.perf_counter()
        require_free(out, force=force)
        request = Request(
            model=model,
            platform=platform,
            fpgas=fpga_count(fpgas),
            max_fpgas=max_fpgas,
            fps=fps,
            cap=fractions(PAPER_CAPS, cap or [], "--cap"),
            fill=fractions(DEFAULT_FILL, fill or [], "--fill"),
            clock_mhz=clock_mhz,
            seed=seed,
            effort=effort.value,
            granularity=granularity.value,
            keep_granularity=keep_granularity,
            costs=costs.value,
            runtime_weights=not no_runtime_weights,
            label_select=label_select,
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
    model: Annotated[Path, typer.Argument(help="QONNX file of the network.", show_default=False)],
    part: Annotated[str, typer.Option(help="Part whose DSPs decide hls or rtl units.")] = "xcu250-figd2104-2L-e",
    label_select: Annotated[bool, typer.Option("--label-select", help="Add LabelSelect after the last layer.")] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Show what was read and assumed, and the engines it becomes."""
    with _errors_to_exit_codes(debug=debug):
        from floorflow.backends.finn import lower
        from floorflow.network import read
        from floorflow.report import inspection, inspection_tables
        from floorflow.technology import technology_of

        network = read(model)
        dataflow = lower(network, technology_of(part), label_select=label_select)
        if as_json:
            _print_json(inspection(network, dataflow))
            return
        console = _paper()
        for table in inspection_tables(network, dataflow):
            console.print(table)


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
