"""How much of a folded network could be made once: shares of topology and of implementations, layer by layer and block.

A plan's engines, foldings and channels are clustered anew, so that what placement merged does not count. Shares are
(instances - different ones) / instances:

* shapes: equal kinds and dimensions, whatever the folding;
* topology: equal foldings as well;
* implementations: equal FIFOs, converters and wires as well, and no weights, thresholds or constants in logic.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from floorflow.backends.backend import backend_named
from floorflow.channels import Channel
from floorflow.dataflow.implementations import Circuits, likenesses, reuse
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.dataflow.modules import Module, Wire, cluster
from floorflow.network.model import Network, Operation
from floorflow.resources import Resources

GRANULARITIES = ("layer", "block")


@dataclass(frozen=True)
class Shares:
    """How many modules there are, and which share of them another makes."""

    instances: int
    shapes: float
    topology: float
    implementations: float
    in_logic: int
    """Modules that hold constants in logic."""


def convolutions(network: Network) -> tuple[int, int]:
    """Return how many convolutions a network has, and of how many shapes: kernel, strides, pads, sizes, groups."""
    found = [operation for operation in network.operations if operation.type == "conv"]
    return len(found), len({_shape(network, one) for one in found})


def _shape(network: Network, operation: Operation) -> str:
    sizes = [network.tensor(name).shape for name in (*operation.inputs, *operation.outputs)]
    return repr([sorted((name, value) for name, value in operation.attributes.items() if name != "weights"), sizes])


def shares_of(plan_file: Path, granularity: str) -> Shares:
    """Return the shares of a plan of one network and one phase."""
    plan = json.loads(plan_file.read_text(encoding="utf-8"))
    folded, channels = folded_of(plan)
    modules = clustered(folded, channels, granularity)
    backend = backend_named(plan["options"]["backend"])
    in_logic = {e.name: backend.in_logic(e, folded.options[e.name]) for e in folded.dataflow.engines}
    plain = replace(folded, options={name: replace(option, folding={}) for name, option in folded.options.items()})
    shapes = [one.like for one in likenesses(Circuits(modules, plain, channels, in_logic))]
    alike = likenesses(Circuits(modules, folded, channels, in_logic))
    baked = sum(any(in_logic[engine] for engine in module.engines) for module in modules)
    topology, made = [one.like for one in alike], [one.implementation for one in alike]
    return Shares(len(modules), reuse(shapes), reuse(topology), reuse(made), baked)


def clustered(folded: FoldedDataflow, channels: tuple[Channel, ...], granularity: str) -> tuple[Module, ...]:
    """Cluster engines as `floorflow plan` does before anything is merged to be placed."""
    inside = [channel for channel in channels if not (channel.stream.from_outside or channel.stream.to_outside)]
    wires = [Wire(channel.stream.source, channel.stream.target, channel.width_bits) for channel in inside]
    use = {name: option.resources for name, option in folded.options.items()}
    return cluster(folded.dataflow, wires, use, granularity)


def folded_of(plan: dict[str, Any]) -> tuple[FoldedDataflow, tuple[Channel, ...]]:
    """Return the engines with their options, and the channels, as far as they are compared."""
    (network,), (phase,) = plan["networks"], plan["phases"]
    folding = phase["networks"][0]["folding"]["engines"]
    engines = tuple(_engine(entry) for entry in network["engines"])
    streams = tuple(_stream(entry) for entry in phase["channels"])
    options = {
        name: Option(_values(entry["attributes"]), entry["cycles"], _resources(entry["resources"]), (), ())
        for name, entry in folding.items()
    }
    channels = tuple(
        Channel(
            stream=stream,
            source_width_bits=entry["source_width_bits"],
            target_width_bits=entry["target_width_bits"],
            converter=entry["converter"],
            fifo_depth_words=entry["fifo_depth"],
            converter_resources=_resources(entry["converter_resources"]),
            fifo_resources=_resources(entry["fifo_resources"]),
            fifo_style=entry["fifo_style"],
        )
        for stream, entry in zip(streams, phase["channels"], strict=True)
    )
    return FoldedDataflow(Dataflow(network["name"], engines, streams), options), channels


def _engine(entry: dict[str, Any]) -> Engine:
    bits = (entry["weight_bits"], entry["input_bits"], entry["output_bits"])
    attributes = _values(entry["attributes"])
    return Engine(entry["name"], entry["kind"], entry["operation"], attributes, *bits, role=entry["role"])


def _stream(entry: dict[str, Any]) -> Stream:
    ends = (entry["source"], entry["source_port"], entry["target"], entry["target_port"])
    return Stream(*ends, entry["words_per_frame"] * entry["width_bits"], 1, 1)


def _values(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}


def _resources(entry: dict[str, int]) -> Resources:
    return Resources(*(entry[name] for name in ("LUT", "FF", "BRAM18", "URAM", "DSP")))
