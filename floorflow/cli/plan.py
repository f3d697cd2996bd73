"""``floorflow plan``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from floorflow.cli.ending import carried_out, exit_interrupted, written
from floorflow.cli.options import (
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
from floorflow.cli.progress import progress_shown
from floorflow.cli.terminal import errors_to_exit_codes, plain, run_record, talk


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
            with progress.stage("writing"):
                late = carried_out(lambda: write(out, outcome.files, run_record(started), force=force))
        try:
            if as_json:
                sys.stdout.write(outcome.plan.to_json())
            if not quiet:
                talk.print(plain(f"{summary(outcome.plan)}\n{written(out, outcome.files)}"))
        except KeyboardInterrupt:
            late = True
        if outcome.plan.interrupted:
            exit_interrupted(f"the best legal plan known by then is written to {out}, without pictures")
        if late:
            exit_interrupted(f"the plan was finished and is written to {out}")
