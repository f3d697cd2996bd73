"""Networks without any quantiser: every layer's weights and activations are taken in a chosen number of bits.

A Quant stands where Brevitas would put one: at the weights of each layer and at the data that a layer reads, unsigned
behind a ReLU. The network's own input stays raw, as a camera or a file gives it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from floorflow.network.datatype import DataType, integer
from floorflow.network.dialects.rewriting import Rewriting, weights_of
from floorflow.network.facts import Facts, find_constants
from floorflow.network.onnx_file import Node, OnnxFile
from floorflow.network.shapes import QONNX_DOMAINS, QUANTISERS

_OTHER_QUANTISERS = ("MultiThreshold", "FloatQuant")
_MOVING = (
    *("AveragePool", "Concat", "Dropout", "Flatten", "GlobalAveragePool", "GlobalMaxPool", "Identity", "MaxPool"),
    *("Pad", "ReduceMax", "ReduceMean", "Reshape", "Resize", "Split", "Squeeze", "Transpose", "Unsqueeze"),
    "Upsample",
)
"""Operators whose results are never negative if their inputs are not."""
_SCALING = ("Add", "BatchNormalization", "Cast", "Div", "Mul", "Sub")
"""With `_MOVING`, what leaves raw data raw: the host scales it."""
_RECTIFIERS = ("HardSigmoid", "Relu", "Sigmoid", "Softmax")
_JOINS = ("Add", "Mul", "Sum")
_DEFAULT_BITS = 8


@dataclass(frozen=True)
class FloatBits:
    """Widths for a network that has no quantisers; None means 8, and that the user asked for nothing."""

    weights: int | None = None
    activations: int | None = None

    @property
    def asked(self) -> bool:
        """Whether the user chose a width."""
        return self.weights is not None or self.activations is not None


EIGHT_BITS = FloatBits()
"""Eight bits for both, because the user asked for nothing."""


@dataclass
class _Floats:
    """What is known while the nodes are walked: tensors that are raw, never negative, or quantised already."""

    rewriting: Rewriting
    facts: Facts
    weights: DataType
    activation_bits: int
    raw: set[str]
    positive: set[str] = field(default_factory=set)
    quantised: dict[str, str] = field(default_factory=dict)

    def data(self, node: Node) -> list[str]:
        return [name for name in node.inputs if name and name not in self.facts.constants]


def rewrite(source: OnnxFile, bits: FloatBits) -> OnnxFile:
    """Return the file with a Quant at the weights and the data of each layer, unless it has quantisers of its own."""
    if any(_quantises(node) for node in source.nodes):
        note = "--weight-bits and --activation-bits have no effect: the network has quantisers of its own"
        return Rewriting(source, list(source.model.graph.node), notes=[note]).finish() if bits.asked else source
    if not any(map(weights_of, source.nodes)):
        return source
    weight_bits, activation_bits = (width or _DEFAULT_BITS for width in (bits.weights, bits.activations))
    note = (
        f"the network has no quantisers: planned with {weight_bits}-bit weights and {activation_bits}-bit activations "
        "(--weight-bits, --activation-bits)"
    )
    floats = _Floats(
        Rewriting(source, notes=[note]),
        Facts(source, {}, find_constants(source)),
        integer(weight_bits, signed=True, narrow=True),
        activation_bits,
        raw={value.name for value in source.inputs},
    )
    for node in source.nodes:
        _walk(floats, node)
    return replace(floats.rewriting.finish(), activation_bits=activation_bits)


def _quantises(node: Node) -> bool:
    return (node.domain in QONNX_DOMAINS and node.op_type in QUANTISERS) or node.op_type in _OTHER_QUANTISERS


def _walk(floats: _Floats, node: Node) -> None:
    """Keep a node, a layer with quantised inputs, and note what its results are."""
    if weights_of(node):
        for position, name in enumerate(node.inputs[:2]):
            node.proto.input[position] = _quantised(floats, name)
    floats.rewriting.keep(node)
    data = floats.data(node)
    if not data:
        return
    if node.op_type in (*_MOVING, *_SCALING) and len(data) == 1 and floats.raw.issuperset(data):
        floats.raw.update(node.outputs)
    if _is_positive(floats, node, data):
        floats.positive.update(node.outputs)


def _quantised(floats: _Floats, name: str) -> str:
    """Return a tensor's quantised form; raw data and what has one already need no new Quant."""
    if name in floats.raw:
        return name
    if name not in floats.quantised:
        if name in floats.facts.constants:
            datatype = floats.weights
        else:
            datatype = integer(floats.activation_bits, signed=name not in floats.positive)
        scale = floats.rewriting.unknown(f"{name} scale")
        zero = floats.rewriting.constant(f"{name} zero", 0.0)
        made = f"{name} as {datatype.name}"
        floats.quantised[name] = floats.rewriting.quant(f"{name}_quantised", [name, scale, zero], made, datatype)
    return floats.quantised[name]


def _is_positive(floats: _Floats, node: Node, data: Iterable[str]) -> bool:
    """Whether a node's results are surely not negative."""
    if node.op_type in _RECTIFIERS:
        return True
    if node.op_type == "Clip":
        return _lower_bound(floats, node) >= 0
    joins = node.op_type in _JOINS and floats.facts.constants.isdisjoint(node.inputs)
    return (joins or node.op_type in _MOVING) and floats.positive.issuperset(data)


def _lower_bound(floats: _Floats, node: Node) -> float:
    if len(node.inputs) > 1 and node.inputs[1]:
        value = floats.facts.value(node.inputs[1])
        return float(value.min()) if value is not None and value.size else -1.0
    return float(node.attributes.get("min", -1.0))
