"""Translate every other operator, and the table of all that floorflow reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from onnx import checker

from floorflow.network import layers
from floorflow.network.datatype import BIPOLAR, FLOAT32, DataType, integer, smallest
from floorflow.network.facts import Facts
from floorflow.network.layers import Translation
from floorflow.network.onnx_file import Node
from floorflow.network.shapes import QONNX_DOMAINS

Translator = Callable[[Node, Facts], Translation]

_QDQ_HINT = "QDQ and QCDQ models: convert them with QONNX's qcdq_to_qonnx, or export QONNX in the first place."

REASONS = {
    "QuantizeLinear": _QDQ_HINT,
    "DequantizeLinear": _QDQ_HINT,
    "Transpose": "Keep the data channels first (NCHW) all through the network.",
    "Sigmoid": "Use ReLU: FINN's thresholds need a quantised ReLU or a quantised identity.",
    "HardSwish": "Use ReLU: FINN's thresholds need a quantised ReLU or a quantised identity.",
}
"""What to do about operators that are met often and not read."""


def quantised_type(node: Node, facts: Facts) -> DataType:
    """Return the datatype that Quant, IntQuant, BipolarQuant or Trunc makes.

    The width of Quant is input 3, of Trunc the last input (input 4 in version 1, input 5 in version 2).
    """
    if node.op_type == "BipolarQuant":
        return BIPOLAR
    position = len(node.inputs) - 1 if node.op_type == "Trunc" else 3
    if len(node.inputs) <= position or position < 3:
        raise facts.refuse(node, "the input that holds the bit width is missing")
    bits = facts.number(node.inputs[position], node, "the bit width")
    if bits != int(bits) or not 1 <= bits <= 32:
        raise facts.refuse(node, f"a width of {bits:g} bits is not supported; expected a whole number from 1 to 32")
    signed = node.attributes.get("signed")
    if signed is None:
        signed = facts.type(node.inputs[0]).signed if node.op_type == "Trunc" else True
    return integer(int(bits), signed=bool(signed), narrow=bool(node.attributes.get("narrow", 0)))


def _quantise(node: Node, facts: Facts) -> Translation:
    return Translation("quantise", quantised_type(node, facts))


def _truncate(node: Node, facts: Facts) -> Translation:
    return Translation("truncate", quantised_type(node, facts))


def _affine(node: Node, facts: Facts) -> Translation:
    """Translate scale, bias and batch norm by constants; ``elements`` counts the values of one parameter."""
    if node.op_type in ("Div", "Sub") and node.inputs[0] in facts.constants:
        raise facts.refuse(node, "a constant on the left is not supported")
    data, *parameters = facts.data_inputs(node)
    if parameters:
        raise facts.refuse(node, "both inputs depend on the data")
    if facts.shape(data, node) != facts.shape(node.outputs[0], node):
        raise facts.refuse(node, "the constant changes the shape of the data")
    position = 1 if node.op_type == "BatchNormalization" or node.inputs[1] in facts.constants else 0
    elements = prod(facts.shape(node.inputs[position], node))
    datatype = facts.type(data) if data in facts.raw else FLOAT32
    return Translation("affine", datatype, {"operator": node.op_type, "elements": elements})


def _add(node: Node, facts: Facts) -> Translation:
    """Translate Add and Sum: a bias if one input is constant, otherwise a join of branches."""
    types = [facts.type(name) for name in facts.data_inputs(node)]
    if len(types) == 1 and len(node.inputs) == 2:
        return _affine(node, facts)
    if not all(datatype.is_integer for datatype in types) or len(types) != len(node.inputs):
        return Translation("add")
    return Translation("add", smallest(sum(t.min for t in types), sum(t.max for t in types)))


def _concat(node: Node, facts: Facts) -> Translation:
    """Translate Concat along the channels."""
    if node.attributes.get("axis") != 1:
        raise facts.refuse(node, "only the channels, axis 1, can be joined")
    types = [facts.type(name) for name in facts.data_inputs(node)]
    if not all(datatype.is_integer for datatype in types) or len(types) != len(node.inputs):
        return Translation("concat")
    return Translation("concat", smallest(min(t.min for t in types), max(t.max for t in types)))


def _relu(_node: Node, _facts: Facts) -> Translation:
    return Translation("relu")


def _same(node: Node, facts: Facts) -> Translation:
    return Translation("", facts.type(node.inputs[0]))


def _reshape(node: Node, facts: Facts) -> Translation:
    """Translate what keeps or flattens the shape."""
    source, target = facts.shape(node.inputs[0], node), facts.shape(node.outputs[0], node)
    if source == target:
        return _same(node, facts)
    if target != (source[0], prod(source[1:])):
        raise facts.refuse(node, f"only flattening is supported, not {source} to {target}")
    return Translation("flatten", facts.type(node.inputs[0]))


def _top_k(node: Node, facts: Facts) -> Translation:
    """Translate TopK and ArgMax over the last axis; ``indices`` names the output that holds labels."""
    last = len(facts.shape(node.inputs[0], node)) - 1
    axis = node.attributes.get("axis", -1 if node.op_type == "TopK" else 0)
    if axis not in (-1, last) or not node.attributes.get("largest", 1):
        raise facts.refuse(node, "only the largest values along the last axis are supported")
    if node.op_type == "ArgMax":
        return Translation("top_k", attributes={"k": 1, "indices": node.outputs[0]})
    if len(node.inputs) < 2 or len(node.outputs) < 2:
        raise facts.refuse(node, "it needs k as its second input, and two outputs")
    count = int(facts.number(node.inputs[1], node, "k"))
    return Translation("top_k", attributes={"k": count, "indices": node.outputs[1]})


def _softmax(_node: Node, _facts: Facts) -> Translation:
    return Translation("softmax")


_QUANTISERS: Mapping[str, Translator] = {
    "BipolarQuant": _quantise,
    "IntQuant": _quantise,
    "Quant": _quantise,
    "Trunc": _truncate,
}

_STANDARD: Mapping[str, Translator] = {
    "Add": _add,
    "ArgMax": _top_k,
    "AveragePool": layers.average_pool,
    "BatchNormalization": _affine,
    "Concat": _concat,
    "Conv": layers.conv,
    "Div": _affine,
    "Dropout": _same,
    "Flatten": _reshape,
    "Gemm": layers.gemm,
    "GlobalAveragePool": layers.average_pool,
    "Identity": _same,
    "MatMul": layers.matmul,
    "MaxPool": layers.max_pool,
    "Mul": _affine,
    "Relu": _relu,
    "Reshape": _reshape,
    "Softmax": _softmax,
    "Squeeze": _reshape,
    "Sub": _affine,
    "Sum": _add,
    "TopK": _top_k,
    "Unsqueeze": _reshape,
}


def is_quantiser(node: Node) -> bool:
    """Whether a node is one of QONNX's quantisers."""
    return node.domain in QONNX_DOMAINS and node.op_type in _QUANTISERS


def translate(node: Node, facts: Facts) -> Translation:
    """Return what a node on the data path becomes, after `check_supported`.

    Raises
    ------
    InputError
        If this use of the operator is not supported; names file, node, operator and reason.

    """
    table = _QUANTISERS if is_quantiser(node) else _STANDARD
    return table[node.op_type](node, facts)


def check_supported(node: Node, facts: Facts) -> None:
    """Refuse an operator that floorflow does not read, or a node that ONNX's own rules forbid.

    Raises
    ------
    InputError
        Names file, node and operator, and lists what is supported.

    """
    if is_quantiser(node):
        return
    if node.domain in ("", "ai.onnx") and node.op_type in _STANDARD:
        _check_signature(node, facts)
        return
    known = ", ".join(sorted((*_QUANTISERS, *_STANDARD)))
    domain = f" of domain '{node.domain}'" if node.domain else ""
    hint = f"{REASONS.get(node.op_type, '')} Supported: {known}.".strip()
    raise facts.refuse(node, f"the operator{domain} is not supported", hint)


def _check_signature(node: Node, facts: Facts) -> None:
    """Refuse a node whose inputs or attributes break ONNX's rules."""
    context = checker.C.CheckerContext()
    context.ir_version = facts.source.model.ir_version
    context.opset_imports = {"": facts.source.opset}
    try:
        checker.check_node(node.proto, context)
    except checker.ValidationError as error:
        raise facts.refuse(node, f"it breaks ONNX's rules: {str(error).splitlines()[0]}") from None
