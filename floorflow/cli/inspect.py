"""``floorflow inspect`` and ``floorflow platforms``: what was read, and what there is to plan on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floorflow.assets import board_path
from floorflow.cli.options import (
    INSPECTED_PART,
    DebugFlag,
    JsonFlag,
    asks_for,
)
from floorflow.cli.terminal import errors_to_exit_codes, paper, print_json
from floorflow.errors import InputError
from floorflow.request import Request
from floorflow.technology import require_known_family

INSPECTED_BOARD = "alveo-u250"
"""Stands for the platform of a request that names none."""

if TYPE_CHECKING:
    from floorflow.backends.finn.options import FinnOptions
    from floorflow.backends.finn.read.source import Source
    from floorflow.cli.inspection import Inspection


@asks_for(
    "model",
    *("platform", "backend", "backend_options", "finn", "label_select", "weight_bits", "activation_bits"),
    defaults={"platform": None},
    finn="Which FINN is to build the engines.",
    platform="Board to lower for, by its name or a part of it such as u250, or YAML file of one.",
)
def inspect(
    asked: Mapping[str, Any],
    part: Annotated[
        str | None,
        typer.Option(
            help=f"Part whose DSPs decide hls or rtl units; {INSPECTED_PART} if not given.", show_default=False
        ),
    ] = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Show what was read and assumed, the engines it becomes, and what their foldings range over."""
    with errors_to_exit_codes(debug=debug):
        platform = asked.get("platform")
        # What is not asked about the platform is as on any.
        request = Request(**{"platform": INSPECTED_BOARD, **asked})
        request.require_files()
        part = _part(platform, part)
        from floorflow.backends.finn.options import finn_options
        from floorflow.backends.finn.read.source import read_source
        from floorflow.cli.inspection import inspection_entry, print_inspection
        from floorflow.network import FloatBits

        options = finn_options(request)
        source = read_source(request.model, FloatBits(options.weight_bits, options.activation_bits))
        inspection = _inspected(source, part, options)
        if as_json:
            print_json(inspection_entry(inspection))
        else:
            print_inspection(paper(), inspection)


def _inspected(source: Source, part: str, options: FinnOptions) -> Inspection:
    """Lower a model and range over its foldings by the default cost model; what fails is why it cannot be planned."""
    from floorflow.backends.finn.folding.cost_table import CostTable
    from floorflow.backends.finn.folding.folding_range import folding_ranges
    from floorflow.cli.inspection import Inspection
    from floorflow.errors import FloorflowError
    from floorflow.technology import technology_of

    technology = technology_of(part)
    dataflow, refusal = source.inspected(technology, options.label_select, options.finn)
    try:
        ranges = folding_ranges(dataflow, CostTable(technology, finn=options.finn))
    except FloorflowError as error:
        return Inspection(source.network, dataflow, part, options.finn, refusal or str(error))
    return Inspection(source.network, dataflow, part, options.finn, refusal, ranges)


def _part(platform: str | None, part: str | None) -> str:
    """Return the part that ``inspect`` lowers for: the platform's, the one named, or a large one."""
    if part is not None and platform is not None:
        raise InputError(f"--part {part}: --platform {platform} says which part", hint="give one of the two")
    if platform is not None:
        from floorflow.hardware import load_platform

        return load_platform(platform).fpgas[0].board.part
    require_known_family(part or INSPECTED_PART)
    return part or INSPECTED_PART


def platforms(
    name: Annotated[
        str | None, typer.Argument(help="Board, by its name or a part of it, or YAML file.", show_default=False)
    ] = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """List the known platforms, or show one: slots, resources, SLL wires, infrastructure."""
    with errors_to_exit_codes(debug=debug):
        if name is not None:
            board_path(name)
        from floorflow.cli.tables import platform_entry, platform_tables, platforms_table
        from floorflow.hardware import known_platforms, load_platform

        chosen = [load_platform(n) for n in ([name] if name else known_platforms())]
        if as_json:
            print_json(platform_entry(chosen[0]) if name else [platform_entry(p) for p in chosen])
            return
        console = paper()
        for table in platform_tables(chosen[0]) if name else [platforms_table(chosen)]:
            console.print(table)
