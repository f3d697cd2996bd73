"""``floorflow inspect``: what was read of a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from floorflow import api
from floorflow.cli.console import paper, print_json
from floorflow.cli.fitting_table import FittingTable
from floorflow.cli.options import DebugFlag, JsonFlag, asks_for
from floorflow.cli.terminal import errors_to_exit_codes


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
        str | None, typer.Option(help=f"Part whose DSPs decide hls or rtl units; {api.INSPECTED_PART} if not given.")
    ] = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Show what was read and assumed, the engines it becomes, and what their foldings range over."""
    with errors_to_exit_codes(debug=debug):
        found = api.inspect(**asked, part=part).as_dict()
        if as_json:
            print_json(found)
            return

        print_inspection(paper(), found)


_SHOWN_RESOURCES = ("LUT", "BRAM18", "URAM", "DSP")
_RANGES = ("fastest_cycles", "slowest_cycles", "least_resources")
"""What is told of an engine's foldings beside their parallelism."""
_ALL_VALUES = 4
"""As many values of PE or SIMD are listed in full; of more the first three and the last."""

Content = Mapping[str, Any]
"""An inspection, or a part of one, as ``inspect --json`` prints it."""


def print_inspection(console: Console, found: Content) -> None:
    """Print the engines, or the layers of a network that has none, and what was assumed."""
    count = f"{len(found['engines'])} engines, {found['totals']['macs']:,} MACs a frame"
    title = escape(f"{found['name']} on {found['part']} with {found['tool']}: {count}")
    tables = [_engine_table(found, title) if found["engines"] else _layer_table(found["layers"], title)]
    ranged = [engine for engine in found["engines"] if engine["legal"]]
    if ranged:
        tables.append(_folding_table(ranged))
    for table in tables:
        console.print(table)
    console.print(_totals(found["totals"]))
    if found["refusal"]:
        console.print(escape(f"cannot be planned: {found['refusal']}"))
    for note in found["notes"]:
        console.print(escape(f"assumed: {note}"))


def _engine_table(found: Content, title: str) -> Table:
    macs = {operation["name"]: operation["macs"] for operation in found["operations"]}
    table = FittingTable(title, names=("engine", "operation"), numbers=("MACs", "weights", "in", "out"))
    for engine in found["engines"]:
        count = macs.get(engine["operation"], 0) if engine["weight_bits"] else 0
        bits = [_bits(engine[end]) for end in ("weight_bits", "input_bits", "output_bits")]
        table.add_row(engine["name"], escape(engine["operation"]), f"{count:,}" if count else "", *bits)
    return table


def _layer_table(layers: Iterable[Content], title: str) -> Table:
    table = FittingTable(title, names=("layer", "type"), numbers=("MACs", "weights", "in"))
    for layer in layers:
        bits = (_bits(layer["weight_bits"]), _bits(layer["input_bits"]))
        table.add_row(escape(layer["name"]), layer["type"], f"{layer['macs']:,}", *bits)
    return table


def _folding_table(engines: Sequence[Content]) -> Table:
    """Return the engines' ranges, and below them the network's: an estimate of it before anything is planned."""
    title = "legal foldings: interval of the fastest and the slowest in cycles a frame, least of each resource over all"
    table = FittingTable(title, names=("engine", "parallelism"), numbers=("fastest", "slowest", *_SHOWN_RESOURCES))
    for engine in engines:
        legal = engine["legal"]
        cycles = (f"{legal['fastest_cycles']:,}", f"{legal['slowest_cycles']:,}")
        least = (f"{legal['least_resources'][name]:,}" for name in _SHOWN_RESOURCES)
        table.add_row(engine["name"], _parallelism(legal), *cycles, *least)
    all_legal = [engine["legal"] for engine in engines]
    whole = [max(legal[name] for legal in all_legal) for name in _RANGES[:2]]
    whole += [sum(legal["least_resources"][name] for legal in all_legal) for name in _SHOWN_RESOURCES]
    table.add_section()
    table.add_row("the network", "", *(f"{value:,}" for value in whole))
    return table


def _parallelism(legal: Content) -> str:
    told = (f"{name} {_compact(values)}" for name, values in legal.items() if name not in _RANGES)
    return "; ".join(told) or "one way"


def _compact(values: Sequence[int]) -> str:
    """Write ascending values as ``1,2,4..64``."""
    if len(values) <= _ALL_VALUES:
        return ",".join(map(str, values))
    return f"{','.join(map(str, values[:3]))}..{values[-1]}"


def _bits(width: int) -> str:
    return f"{width} bit" if width else ""


def _totals(totals: Content) -> str:
    weights, inputs = (
        ", ".join(f"{bits} bit x {count}" for bits, count in totals[kind].items())
        for kind in ("weight_bits", "activation_bits")
    )
    if not totals["layers"]:
        return "no layer with weights"
    return f"{totals['layers']} layers, {totals['parameters']:,} parameters; weights {weights}; activations {inputs}"
