"""The command line: parse, call, print. Data goes to standard output, all talk to standard error.

Exit codes: 0 done; 1 ``check`` found violations; 2 bad input or usage; 3 proven infeasible; 4 a tool failed or is
missing; 5 limit reached without a plan; 70 internal error; 130 interrupted with nothing written.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from floorflow import __version__
from floorflow.cli.options import (
    INSPECTED_PART,
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
    ImplStyleChoice,
    ImplStyleOption,
    JsonFlag,
    LinkOption,
    ModelArgument,
    ObjectiveOption,
    PlatformOption,
    SeedOption,
    TopologyChoice,
    WeightBitsOption,
)
from floorflow.cli.studies import calibrate, compare, cost, pareto
from floorflow.cli.terminal import errors_to_exit_codes, paper, plain, print_json, progress_shown, run_record, talk

app = typer.Typer(
    name="floorflow",
    help="From a quantised network to a legal multi-die FPGA floorplan, with a proven distance from optimal.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)


@app.command()
def plan(
    model: ModelArgument,
    platform: PlatformOption,
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
    impl_style: ImplStyleOption = ImplStyleChoice.auto,
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
    seed: SeedOption = 0,
    effort: Annotated[EffortChoice, typer.Option(help="How long solvers may work.")] = EffortChoice.default,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw no pictures.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier plan in the folder.")] = False,
    as_json: JsonFlag = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
    debug: DebugFlag = False,
) -> None:
    """Plan a network on a platform: folding, partition, pblocks, files and pictures."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.output import require_free, write
        from floorflow.request import DEFAULT_CAP, DEFAULT_FILL, MOST_FPGAS, Request, fpga_count, parse_fractions

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
            cap=parse_fractions(DEFAULT_CAP, cap or [], "--cap"),
            fill=parse_fractions(DEFAULT_FILL, fill or [], "--fill"),
            clock_mhz=clock_mhz,
            seed=seed,
            effort=effort.value,
            granularity=granularity.value,
            keep_granularity=keep_granularity,
            costs=costs.value,
            finn=finn.value,
            impl_style=impl_style.value,
            runtime_weights=not no_runtime_weights,
            label_select=label_select,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            keep_folding=keep_folding or folding is not None,
            folding=folding,
            plots=not no_plots,
        )
        from floorflow import flow
        from floorflow.cli.tables import summary

        with progress_shown(quiet=quiet or as_json) as progress:
            outcome = flow.plan(request, progress)
        write(out, outcome.files, run_record(started))
        if outcome.interrupted:
            talk.print("[bold yellow]warning:[/] interrupted; what is written is the best legal plan found so far")
        if as_json:
            sys.stdout.write(outcome.plan.to_json())
        if not quiet:
            talk.print(plain(summary(outcome.plan, out)))


@app.command()
def inspect(
    model: ModelArgument,
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
    with errors_to_exit_codes(debug=debug):
        from floorflow.backends.finn import read_source
        from floorflow.cli.tables import inspection, inspection_tables
        from floorflow.network import FloatBits
        from floorflow.technology import technology_of

        part = _part(platform, part)
        source = read_source(model, FloatBits(weight_bits, activation_bits))
        dataflow, refusal = source.inspected(technology_of(part), label_select=label_select)
        if as_json:
            print_json(inspection(source.network, dataflow, part, refusal))
            return
        console = paper()
        for table in inspection_tables(source.network, dataflow, part, refusal):
            console.print(table)


def _part(platform: str | None, part: str | None) -> str:
    """Return the part that ``inspect`` lowers for: the platform's, the one named, or a large one."""
    from floorflow.errors import InputError
    from floorflow.hardware import load_platform
    from floorflow.technology import require_known_family

    if part is not None and platform is not None:
        raise InputError(f"--part {part}: --platform {platform} says which part", hint="give one of the two")
    if platform is not None:
        return load_platform(platform).fpgas[0].board.part
    require_known_family(part or INSPECTED_PART)
    return part or INSPECTED_PART


@app.command()
def check(
    out: Annotated[Path, typer.Argument(help="Folder that plan wrote.", show_default=False)],
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Judge a plan and its files independently; exit 1 if anything is wrong."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.errors import InputError
        from floorflow.verify import NotAPlan
        from floorflow.verify import check as judge

        try:
            violations = judge(out)
        except NotAPlan as error:
            raise InputError(str(error), hint="give a folder that floorflow plan wrote") from error
        if as_json:
            print_json([{"name": v.name, "where": v.where, "message": v.message} for v in violations])
        else:
            _print_verdict(out, violations)
        if violations:
            raise typer.Exit(1)


def _print_verdict(out: Path, violations: list[Any]) -> None:
    for v in violations:
        sys.stdout.write(f"{v.name}: {v.where}: {v.message}\n")
    verdict = "legal" if not violations else f"{len(violations)} violation{'s' if len(violations) > 1 else ''}"
    sys.stdout.write(f"{out}: {verdict}\n")


app.command()(cost)
app.command()(compare)
app.command()(pareto)
app.command()(calibrate)


@app.command()
def platforms(
    name: Annotated[str | None, typer.Argument(help="Board name or YAML file.", show_default=False)] = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """List the known platforms, or show one: slots, resources, SLL wires, infrastructure."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.cli.tables import platform_entry, platform_tables, platforms_table
        from floorflow.hardware import known_platforms, load_platform

        chosen = [load_platform(n) for n in ([name] if name else known_platforms())]
        if as_json:
            print_json(platform_entry(chosen[0]) if name else [platform_entry(p) for p in chosen])
            return
        console = paper()
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
