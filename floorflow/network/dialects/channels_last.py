"""QONNX's channels-last operators: the standard ones, on tensors whose channels come first again.

Which tensors are channels-last is known at these operators and spreads through those that treat all elements alike.
Such tensors are given their channels-first shape in place: the Transposes between the two layouts become Identity,
and constants that meet them, kernels among them, are transposed.
"""

from __future__ import annotations

from math import prod

import onnx
from onnx import TensorProto, helper

from floorflow.network.dialects.rewriting import STANDARD_DOMAINS, Rewriting, integers, require_inputs
from floorflow.network.facts import find_constants
from floorflow.network.onnx_file import Node, OnnxFile

DOMAIN = "qonnx.custom_op.channels_last"

_ALIKE = (
    *("Add", "Cast", "Clip", "Div", "Dropout", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Mul", "Relu"),
    *("Selu", "Sigmoid", "Sub", "Sum", "Tanh", "BipolarQuant", "IntQuant", "Quant", "Trunc"),
)
"""Operators that treat all elements alike, so that their inputs and outputs have one layout."""
_OPERATORS = {"AveragePool": 1, "BatchNormalization": 1, "Concat": 1, "Conv": 2, "MaxPool": 1}
"""The channels-last operators that are read, and the inputs that each must have."""
_WITH_CONSTANTS = ("Add", "Div", "Mul", "Sub", "Sum")
"""Those whose constants are broadcast over the data."""
_RANKS = (3, 4)


def rewrite(source: OnnxFile) -> OnnxFile:
    """Return the file with channels first throughout."""
    if not any(node.domain == DOMAIN for node in source.nodes):
        return source
    require_inputs(source, _OPERATORS, (DOMAIN,))
    rewriting, constants = Rewriting(source), find_constants(source)
    last = _channels_last_tensors(source, constants)
    for node in source.nodes:
        if node.domain == DOMAIN and node.op_type in _OPERATORS:
            _standard(rewriting, node)
        elif node.op_type == "Transpose" and _turns(node) and not last.isdisjoint((*node.inputs, *node.outputs)):
            rewriting.add(node.name, "Identity", [node.inputs[0]], node.outputs[0])
        else:
            if node.op_type in _WITH_CONSTANTS and not last.isdisjoint(node.outputs):
                _turn_constants(rewriting, node, constants)
            rewriting.keep(node)
    for value in source.inputs:
        if value.name in last:
            _turn_input(value)
    return rewriting.finish()


def _channels_last_tensors(source: OnnxFile, constants: frozenset[str]) -> set[str]:
    """Return the names of all data tensors whose channels come last."""
    last: set[str] = set()
    for node in source.nodes:
        if node.domain == DOMAIN:
            data = node.inputs if node.op_type == "Concat" else node.inputs[:1]
            last.update((*data, *node.outputs))
    alike = [
        {name for name in (*node.inputs, *node.outputs) if name and name not in constants}
        for node in source.nodes
        if node.op_type in _ALIKE and node.domain != DOMAIN
    ]
    grown = True
    while grown:
        before = len(last)
        for names in alike:
            if not last.isdisjoint(names):
                last |= names
        grown = len(last) > before
    return last - constants


def _standard(rewriting: Rewriting, node: Node) -> None:
    """Keep an operator as ONNX's own; a kernel is stored (out, height, width, in)."""
    inputs = list(node.inputs)
    if node.op_type == "Conv":
        rank = len(integers(node, "kernel_shape") or (1, 1)) + 2
        inputs[1] = _turned(rewriting, node, inputs[1], rank)
    if node.op_type == "Concat":
        rewriting.add(node.name, "Concat", inputs, node.outputs[0], axis=1)
    else:
        rewriting.like(node, node.op_type, inputs, node.outputs[0])


def _turned(rewriting: Rewriting, node: Node, name: str, rank: int) -> str:
    """Return a constant with its last axis moved to the channels' place."""
    made = f"{name} channels first at {node.name}"
    return rewriting.add(f"{node.name}_{name}_turned", "Transpose", [name], made, perm=_to_first(rank))


def _turn_constants(rewriting: Rewriting, node: Node, constants: frozenset[str]) -> None:
    """Let a node read its constants channels first; one value a channel may be stored without the other axes."""
    for position, name in enumerate(node.inputs):
        tensor = rewriting.source.initialisers.get(name)
        if name not in constants or (tensor is not None and prod(tensor.dims) == 1):
            continue
        if tensor is not None and len(tensor.dims) == 1:
            made = f"{name} channels first at {node.name}"
            shape = f"{made} shape"
            rewriting.initialisers.append(helper.make_tensor(shape, TensorProto.INT64, [4], [1, -1, 1, 1]))
            node.proto.input[position] = rewriting.add(f"{node.name}_{name}_turned", "Reshape", [name, shape], made)
        elif tensor is None or len(tensor.dims) in _RANKS:
            rank = len(tensor.dims) if tensor is not None else max(_RANKS)
            node.proto.input[position] = _turned(rewriting, node, name, rank)


def _turn_input(value: onnx.ValueInfoProto) -> None:
    """Give an input of the network its channels-first shape."""
    dimensions = list(value.type.tensor_type.shape.dim)
    if len(dimensions) in _RANKS:
        shape = onnx.TensorShapeProto()
        shape.dim.extend(dimensions[axis] for axis in _to_first(len(dimensions)))
        value.type.tensor_type.shape.CopyFrom(shape)


def _turns(node: Node) -> bool:
    """Whether a Transpose only changes the layout."""
    order = list(integers(node, "perm")) if node.inputs and node.outputs else []
    layouts = [_to_first(len(order)), _to_last(len(order))] if len(order) in _RANKS else []
    return node.domain in STANDARD_DOMAINS and order in layouts


def _to_first(rank: int) -> list[int]:
    return [0, rank - 1, *range(1, rank - 1)]


def _to_last(rank: int) -> list[int]:
    return [0, *range(2, rank), 1]
