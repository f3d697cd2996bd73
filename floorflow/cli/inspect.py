"""``floorflow inspect`` and ``floorflow platforms``: what was read, and what there is to plan on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from floorflow.cli.options import (
    INSPECTED_PART,
    ActivationBitsOption,
    DebugFlag,
    FinnChoice,
    JsonFlag,
    ModelArgument,
    WeightBitsOption,
)
from floorflow.cli.terminal import errors_to_exit_codes, paper, print_json

if TYPE_CHECKING:
    from floorflow.backends.finn import Source
    from floorflow.backends.finn.version import FinnVersion
    from floorflow.cli.inspection import Inspection


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
    finn: Annotated[FinnChoice, typer.Option(help="Which FINN is to build the engines.")] = FinnChoice.main,
    label_select: Annotated[bool, typer.Option("--label-select", help="Add LabelSelect after the last layer.")] = False,
    weight_bits: WeightBitsOption = None,
    activation_bits: ActivationBitsOption = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Show what was read and assumed, the engines it becomes, and what their foldings range over."""
    with errors_to_exit_codes(debug=debug):
        from floorflow.backends.finn import read_source
        from floorflow.cli.inspection import inspection_entry, print_inspection
        from floorflow.network import FloatBits

        part = _part(platform, part)
        source = read_source(model, FloatBits(weight_bits, activation_bits))
        inspection = _inspected(source, part, finn.value, label_select=label_select)
        if as_json:
            print_json(inspection_entry(inspection))
        else:
            print_inspection(paper(), inspection)


def _inspected(source: Source, part: str, finn: FinnVersion, *, label_select: bool) -> Inspection:
    """Lower a model and range over its foldings by the default cost model; what fails is why it cannot be planned."""
    from floorflow.backends.finn import CostTable, folding_ranges
    from floorflow.cli.inspection import Inspection
    from floorflow.errors import FloorflowError
    from floorflow.technology import technology_of

    technology = technology_of(part)
    dataflow, refusal = source.inspected(technology, label_select, finn)
    try:
        ranges = folding_ranges(dataflow, CostTable(technology, finn=finn))
    except FloorflowError as error:
        return Inspection(source.network, dataflow, part, finn, refusal or str(error))
    return Inspection(source.network, dataflow, part, finn, refusal, ranges)


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
