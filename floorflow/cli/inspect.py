"""``floorflow inspect`` and ``floorflow platforms``: what was read, and what there is to plan on."""

from __future__ import annotations

from typing import Annotated

import typer

from floorflow.cli.options import (
    INSPECTED_PART,
    ActivationBitsOption,
    DebugFlag,
    JsonFlag,
    ModelArgument,
    WeightBitsOption,
)
from floorflow.cli.terminal import errors_to_exit_codes, paper, print_json


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
