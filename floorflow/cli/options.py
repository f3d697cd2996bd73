"""The options of the command line that more than one word describes: their types, limits and help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ObjectiveChoice(StrEnum):
    """What to plan for."""

    throughput = "throughput"
    latency = "latency"
    resources = "resources"


class ImplStyleChoice(StrEnum):
    """Whether engines are hls or rtl as FINN itself chooses, or as is best."""

    auto = "auto"
    default = "default"
    free = "free"


MODEL_HELP = "ONNX file: QONNX, QCDQ, QDQ, QLinear or float, or a FINN dataflow graph."

INSPECTED_PART = "xcu250-figd2104-2L-e"
"""Part that ``inspect`` lowers for if it is not told."""

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one machine-readable object on standard output.")]
DebugFlag = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

FpsOption = Annotated[
    float | None,
    typer.Option(
        min=0.001, max=1e15, help="Frames a second: least resources at this rate, instead of the highest rate."
    ),
]
ObjectiveOption = Annotated[
    ObjectiveChoice | None,
    typer.Option(help="What to plan for [throughput; with --fps resources].", show_default=False),
]
CapOption = Annotated[
    list[str] | None,
    typer.Option(help="Share of a slot the design may use, e.g. LUT=0.75; repeatable [LUT 0.7, FF 0.5, others 0.9]."),
]
FillOption = Annotated[
    list[str] | None,
    typer.Option(help="How full one pblock may be, e.g. LUT=0.9; repeatable [LUT and FF 0.85, others 1]."),
]
WeightBitsOption = Annotated[
    int | None,
    typer.Option(min=1, max=16, help="Bits of weights in a network without quantisers [8].", show_default=False),
]
ActivationBitsOption = Annotated[
    int | None,
    typer.Option(min=1, max=8, help="Bits of activations in a network without quantisers [8].", show_default=False),
]
FoldingOption = Annotated[
    Path | None,
    typer.Option(help="Keep the folding of this folding_config.json.", show_default=False),
]
ImplStyleOption = Annotated[
    ImplStyleChoice,
    typer.Option(help="hls or rtl: as FINN itself chooses, as is best, or that where it serves the objective."),
]
LinkOption = Annotated[
    str | None, typer.Option(help="Kind of link, or YAML file of one, instead of the board's own.", show_default=False)
]
ClockOption = Annotated[float | None, typer.Option(min=1, max=1000, help="Clock in MHz, instead of the board's.")]
SeedOption = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of every solver.")]
ModelArgument = Annotated[Path, typer.Argument(help=MODEL_HELP, show_default=False)]
PlatformOption = Annotated[str, typer.Option("--platform", "-p", help="Board name or YAML file.", show_default=False)]
SummedFpgasOption = Annotated[int, typer.Option(min=1, help="Number of FPGAs whose limits are summed.")]


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


class TopologyChoice(StrEnum):
    """How several FPGAs are joined."""

    pair = "pair"
    chain = "chain"
    ring = "ring"
    star = "star"
    full = "full"


class CostsChoice(StrEnum):
    """Whose resource estimates to use."""

    calibrated = "calibrated"
    estimated = "estimated"
    finn = "finn"


class FinnChoice(StrEnum):
    """Which FINN's estimates and rules to use."""

    main = "main"
    dev = "dev"
    plus = "plus"
