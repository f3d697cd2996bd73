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
        from floorflow.cli.inspection import inspection_entry, print_inspection

        inspection = _inspected(request, part)
        if as_json:
            print_json(inspection_entry(inspection))
        else:
            print_inspection(paper(), inspection)


def _inspected(request: Request, part: str) -> Inspection:
    """Lower a model and range over its foldings; what fails is why it cannot be planned."""
    from floorflow.backends.backend import backend_named
    from floorflow.cli.inspection import Inspection
    from floorflow.dataflow.folding_range import folding_ranges
    from floorflow.dataflow.model import Dataflow
    from floorflow.errors import FloorflowError, InputError
    from floorflow.technology import technology_of

    technology, backend, options = technology_of(part), backend_named(request.backend), request.backend_options
    source = backend.read(request.model, options)
    network, tool = source.network, backend.tool(options)
    try:
        dataflow = backend.lower(source, technology, options)
    except InputError as error:
        refusal = f"{error}\n{error.hint}".strip()
        return Inspection(network, Dataflow(network.name, (), (), network.notes), part, tool, refusal)
    try:
        groups = backend.costs(technology, options, own_kinds=True).groups(dataflow)
    except FloorflowError as error:
        return Inspection(network, dataflow, part, tool, str(error))
    return Inspection(network, dataflow, part, tool, "", folding_ranges(groups, backend.parallel_attributes))


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
