"""What was read of a model, the engines it becomes, and between what their foldings may be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from floorflow.backends.backend import Source, backend_named
from floorflow.dataflow.model import Attributes, Dataflow, Engine
from floorflow.dataflow.options import FoldingRange, folding_ranges
from floorflow.errors import FloorflowError, InputError
from floorflow.network import Network
from floorflow.request import Request
from floorflow.search.candidate.preparing import read
from floorflow.technology import technology_of


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
        "layers": [
            {"name": layer.name, "type": layer.type, "macs": layer.macs, "weight_bits": weights, "input_bits": inputs}
            for layer, weights, inputs in zip(
                network.layers, _weight_bits(network), _activation_bits(network), strict=True
            )
        ],
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


def inspect(request: Request, part: str, source: Source | None = None) -> Inspection:
    """Lower a model and range over its foldings by the default cost model; what fails is why it cannot be planned."""
    technology, backend, options = technology_of(part), backend_named(request.backend), request.backend_options
    source = source or read(request)
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
