"""The part of a network that one phase runs, cut out of FINN's graph of the whole."""

from collections.abc import Iterable
from typing import Any

import onnx

from floorflow.backends.finn.step.graph import BuiltGraph, BuiltNode, as_planned, read_graph
from floorflow.backends.finn.step.match import Mismatch, matched
from floorflow.backends.finn.step.settings import StepPlan


def cut_out(plan: StepPlan, graph: onnx.GraphProto) -> None:
    """Leave of the whole network's graph what the plan's phase runs; streams that are cut become its ends.

    Raises
    ------
    Mismatch
        If the graph is not that of the whole network, or does not say what a tensor at a cut is.

    """
    whole = plan["whole"]
    built = as_planned(read_graph(graph), whole["engines"])
    of = matched(whole["engines"], whole["streams"], built, ports=bool(plan["ports_of_finn"]))
    kept = _with_between(built, {of[str(engine["id"])] for engine in plan["engines"]})
    inside = [node for node in built.nodes if node in kept]
    made = {tensor for node in inside for tensor in node.outputs}
    read_outside = {tensor for node in built.nodes if node not in kept for tensor in node.inputs}
    outside = read_outside | {value.name for value in graph.output}
    inputs = dict.fromkeys(tensor for node in inside for tensor in node.inputs if tensor not in made)
    outputs = [tensor for node in inside for tensor in node.outputs if tensor in outside]
    leave(graph, inside, list(inputs), outputs)


def _with_between(built: BuiltGraph, engines: set[BuiltNode]) -> set[BuiltNode]:
    """Return the engines with what their streams to one another pass."""
    between = [stream for stream in built.streams if {stream.source, stream.target} <= engines]
    return engines | {node for stream in between for node in stream.chain}


def leave(graph: onnx.GraphProto, inside: list[BuiltNode], inputs: list[str], outputs: list[str]) -> None:
    """Take away all but some nodes and what they read and make, and give the graph its ends."""
    told = {value.name: value for value in (*graph.input, *graph.output, *graph.value_info)}
    for name in (*inputs, *outputs):
        if name not in told:
            raise Mismatch(f"the graph does not say what tensor '{name}' is, at which the network is cut")
    tensors = {name for node in inside for name in (*node.proto.input, *node.proto.output)}
    annotations = graph.quantization_annotation
    left = (
        (graph.node, [node.proto for node in inside]),
        (graph.initializer, [tensor for tensor in graph.initializer if tensor.name in tensors]),
        (annotations, [annotation for annotation in annotations if annotation.tensor_name in tensors]),
        (graph.input, [told[name] for name in inputs]),
        (graph.output, [told[name] for name in outputs]),
        (graph.value_info, [told[name] for name in told if name in tensors - {*inputs, *outputs}]),
    )
    for field, messages in [(field, _copies(messages)) for field, messages in left]:
        del field[:]
        field.extend(messages)


def _copies(messages: Iterable[Any]) -> list[Any]:
    """Return copies: what is taken out of a graph is gone."""
    found = []
    for message in messages:
        found.append(type(message)())
        found[-1].CopyFrom(message)
    return found
