"""What ``inspect`` shows: what was read, the engines it becomes, and between what their foldings may be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from floorflow.dataflow.folding_range import FoldingRange
from floorflow.dataflow.model import Attributes, Dataflow, Engine
from floorflow.network import Network
from floorflow.text.table import FittingTable

_SHOWN_RESOURCES = ("LUT", "BRAM18", "URAM", "DSP")
_ALL_VALUES = 4
"""As many values of PE or SIMD are listed in full; of more the first three and the last."""


@dataclass(frozen=True)
class Inspection:
    """A model as a back end's tool makes it for a part; ``refusal`` says why it cannot be planned, empty if it can.

    ``ranges`` tell of each engine by its name what its foldings range over, none where that is not known.
    """

    network: Network
    dataflow: Dataflow
    part: str
    tool: str
    refusal: str = ""
    ranges: Mapping[str, FoldingRange] = field(default_factory=dict)


def inspection_entry(found: Inspection) -> dict[str, Any]:
    """Return an inspection as plain data."""
    network = found.network
    return {
        "name": network.name,
        "part": found.part,
        "tool": found.tool,
        "refusal": found.refusal,
        "totals": {
            "layers": len(network.layers),
            "parameters": sum(network.weights(layer).elements for layer in network.layers),
            "macs": network.macs,
            "weight_bits": _counted(_weight_bits(network)),
            "activation_bits": _counted(_activation_bits(network)),
        },
        "operations": [{"name": o.name, "type": o.type, "macs": o.macs} for o in network.operations],
        "engines": [_engine_entry(engine, found.ranges.get(engine.name)) for engine in found.dataflow.engines],
        "notes": list(found.dataflow.notes),
    }


def _engine_entry(engine: Engine, foldings: FoldingRange | None) -> dict[str, Any]:
    return {
        "name": engine.name,
        "kind": engine.kind,
        "operation": engine.operation,
        "attributes": _plain(engine.attributes),
        "folding": _plain(engine.folding),
        "weight_bits": engine.weight_bits,
        "input_bits": engine.input_bits,
        "output_bits": engine.output_bits,
        "legal": foldings
        and {
            **{name: list(values) for name, values in foldings.parallelism.items()},
            "fastest_cycles": foldings.fastest_cycles,
            "slowest_cycles": foldings.slowest_cycles,
            "least_resources": foldings.least.as_dict(),
        },
    }


def _plain(attributes: Attributes) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in attributes.items()}


def _weight_bits(network: Network) -> list[int]:
    return [network.weights(layer).datatype.bits for layer in network.layers]


def _activation_bits(network: Network) -> list[int]:
    return [network.tensor(layer.inputs[0]).datatype.bits for layer in network.layers]


def _counted(bits: Sequence[int]) -> dict[str, int]:
    """Return how many layers have each width, as ``{"8": 2, "4": 19}``."""
    return {str(width): bits.count(width) for width in sorted(set(bits))}


def print_inspection(console: Console, found: Inspection) -> None:
    """Print the engines, or the layers of a network that has none, and what was assumed."""
    network, dataflow = found.network, found.dataflow
    count = f"{len(dataflow.engines)} engines, {network.macs:,} MACs a frame"
    title = f"{network.name} on {found.part} with {found.tool}: {count}"
    tables = [_engine_table(network, dataflow, escape(title)) if dataflow.engines else _layer_table(network, title)]
    if found.ranges:
        tables.append(_folding_table(found.ranges))
    for table in tables:
        console.print(table)
    console.print(_totals(network))
    if found.refusal:
        console.print(escape(f"cannot be planned: {found.refusal}"))
    for note in dataflow.notes:
        console.print(escape(f"assumed: {note}"))


def _engine_table(network: Network, dataflow: Dataflow, title: str) -> Table:
    macs = {o.name: o.macs for o in network.operations}
    table = FittingTable(title, names=("engine", "operation"), numbers=("MACs", "weights", "in", "out"))
    for engine in dataflow.engines:
        count = macs.get(engine.operation, 0) if engine.weight_bits else 0
        bits = [_bits(b) for b in (engine.weight_bits, engine.input_bits, engine.output_bits)]
        table.add_row(engine.name, escape(engine.operation), f"{count:,}" if count else "", *bits)
    return table


def _layer_table(network: Network, title: str) -> Table:
    table = FittingTable(escape(title), names=("layer", "type"), numbers=("MACs", "weights", "in"))
    for layer, weights, inputs in zip(network.layers, _weight_bits(network), _activation_bits(network), strict=True):
        table.add_row(escape(layer.name), layer.type, f"{layer.macs:,}", _bits(weights), _bits(inputs))
    return table


def _folding_table(ranges: Mapping[str, FoldingRange]) -> Table:
    title = "legal foldings: interval of the fastest and the slowest in cycles a frame, least of each resource over all"
    table = FittingTable(title, names=("engine", "parallelism"), numbers=("fastest", "slowest", *_SHOWN_RESOURCES))
    for name, foldings in ranges.items():
        least = foldings.least.as_dict()
        cycles = (f"{foldings.fastest_cycles:,}", f"{foldings.slowest_cycles:,}")
        table.add_row(name, _parallelism(foldings), *cycles, *(f"{least[r]:,}" for r in _SHOWN_RESOURCES))
    return table


def _parallelism(foldings: FoldingRange) -> str:
    return "; ".join(f"{name} {_compact(values)}" for name, values in foldings.parallelism.items()) or "one way"


def _compact(values: Sequence[int]) -> str:
    """Write ascending values as ``1,2,4..64``."""
    if len(values) <= _ALL_VALUES:
        return ",".join(map(str, values))
    return f"{','.join(map(str, values[:3]))}..{values[-1]}"


def _bits(width: int) -> str:
    return f"{width} bit" if width else ""


def _totals(network: Network) -> str:
    parameters = sum(network.weights(layer).elements for layer in network.layers)
    weights, inputs = (
        ", ".join(f"{bits} bit x {count}" for bits, count in _counted(widths).items())
        for widths in (_weight_bits(network), _activation_bits(network))
    )
    return f"{len(network.layers)} layers, {parameters:,} parameters; weights {weights}; activations {inputs}"
