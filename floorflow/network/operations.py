"""Translate every other operator, and the table of all that floorflow reads."""

from collections.abc import Callable, Collection, Mapping
from math import prod

from onnx import checker

from floorflow.network import layers, shaping
from floorflow.network.datatype import BIPOLAR, FLOAT32, DataType, integer, smallest
from floorflow.network.facts import Facts
from floorflow.network.layers import Translation
from floorflow.network.onnx_file import Node
from floorflow.network.shapes import QONNX_DOMAIN, QONNX_DOMAINS
from floorflow.network.soundness import STANDARD_DOMAINS

Translator = Callable[[Node, Facts], Translation]

REASONS = {
    "Slice": "Split the channels with Split (torch.split), of which every part is read.",
    "LRN": "Leave local response normalisation out, or use batch norm.",
}
"""What to do about operators that are met often and not read."""


_IMAGE_RANK = 4
"""Data of lower rank may be vectors whose features lie along the last axis."""


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
    if not bits.is_integer() or not 1 <= bits <= 32:
        raise facts.refuse(node, f"a width of {bits:g} bits is not supported; expected a whole number from 1 to 32")
    if len(facts.data_inputs(node)) > 1:
        raise facts.refuse(node, "its scale or zero point is computed from the data")
    signed = node.attributes.get("signed")
    if signed is None:
        signed = facts.type(node.inputs[0]).signed if node.op_type == "Trunc" else True
    return integer(int(bits), signed=bool(signed), narrow=bool(node.attributes.get("narrow", 0)))


def _quantise(node: Node, facts: Facts) -> Translation:
    """Translate a quantiser; ``grid`` says which values it makes, equal for quantisers that certainly agree."""
    grid = " ".join(_spelling(name, facts) for name in node.inputs[1:3])
    return Translation("quantise", quantised_type(node, facts), {"grid": grid})


def _spelling(name: str, facts: Facts) -> str:
    """Return a constant's value if it is a single number, else its name."""
    value = facts.value(name)
    return f"{float(value.flat[0])!r}" if value is not None and value.size == 1 else f"'{name}'"


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
    parameter, rank = facts.shape(node.inputs[position], node), len(facts.shape(data, node))
    elements = prod(parameter)
    varied = {axis for axis, size in enumerate(parameter, start=rank - len(parameter)) if size > 1}
    a_channel = node.op_type == "BatchNormalization" or varied in ({1}, {rank - 1} if rank < _IMAGE_RANK else {1})
    if data not in facts.raw and elements > 1 and not a_channel:
        told = facts.told(node.inputs[position], node)
        raise facts.refuse(node, f"its constant of {told} differs between pixels, which thresholds cannot")
    datatype = facts.type(data) if data in facts.raw else FLOAT32
    return Translation("affine", datatype, {"operator": node.op_type, "elements": elements})


def _multiply(node: Node, facts: Facts) -> Translation:
    """Translate Mul: a scale if one input is constant, else a product of data, one of which may hold one pixel."""
    data = facts.data_inputs(node)
    if len(data) < 2:
        return _affine(node, facts)
    types = [facts.type(name) for name in data]
    if not all(datatype.is_integer for datatype in types):
        return Translation("multiply")
    products = [a * b for a in (types[0].min, types[0].max) for b in (types[1].min, types[1].max)]
    return Translation("multiply", smallest(min(products), max(products)))


def _add(node: Node, facts: Facts) -> Translation:
    """Translate Add and Sum: a bias if one input is constant, otherwise a join of branches."""
    data = facts.data_inputs(node)
    if len(node.inputs) == 1:
        return shaping.same(node, facts)
    if len(data) == 1 and len(node.inputs) == 2:
        return _affine(node, facts)
    shapes = {facts.shape(name, node) for name in node.inputs}
    if len(data) != len(node.inputs) or len(shapes) > 1:
        listed = " and ".join(str(shape) for shape in sorted({facts.told(name, node) for name in node.inputs}))
        raise facts.refuse(node, f"only equal shapes of data can be added, not {listed}")
    types = [facts.type(name) for name in data]
    if not all(datatype.is_integer for datatype in types):
        return Translation("add")
    return Translation("add", smallest(sum(t.min for t in types), sum(t.max for t in types)))


def _relu(node: Node, facts: Facts) -> Translation:
    """Translate Relu; of integers from 0 upwards it is its input."""
    source = facts.type(node.inputs[0])
    if source.is_integer and source.min >= 0:
        return shaping.same(node, facts)
    return Translation("relu", smallest(0, source.max) if source.is_integer else FLOAT32)


def _clip(node: Node, facts: Facts) -> Translation:
    """Translate Clip (ReLU6, HardTanh) between constant bounds."""
    if len(facts.data_inputs(node)) > 1:
        raise facts.refuse(node, "its bounds are computed from the data")
    return Translation("clip")


def _selu(_node: Node, _facts: Facts) -> Translation:
    """Translate Selu, which thresholds can take over as they do a Clip."""
    return Translation("clip", attributes={"operator": "Selu"})


def _function(node: Node, _facts: Facts) -> Translation:
    """Translate an activation function that is no ReLU; ``operator`` says which."""
    return Translation("function", attributes={"operator": node.op_type})


def _top_k(node: Node, facts: Facts) -> Translation:
    """Translate TopK and ArgMax over the channels of an image, or all values; ``indices`` is the output of labels."""
    shape = facts.shape(node.inputs[0], node)
    axis = node.attributes.get("axis", -1 if node.op_type == "TopK" else 0) % len(shape)
    channels = 1 if len(shape) == _IMAGE_RANK else len(shape) - 1
    if axis != channels and shape[axis] != prod(shape):
        raise facts.refuse(node, "only the largest of the channels can be chosen, along no other axis")
    if not node.attributes.get("largest", 1):
        raise facts.refuse(node, "only the largest values can be chosen")
    if node.op_type == "ArgMax":
        return Translation("top_k", attributes={"k": 1, "indices": node.outputs[0]})
    if len(node.inputs) < 2 or len(node.outputs) < 2:
        raise facts.refuse(node, "it needs k as its second input, and two outputs")
    count = int(facts.number(node.inputs[1], node, "k"))
    return Translation("top_k", attributes={"k": count, "indices": node.outputs[1]})


def _softmax(_node: Node, _facts: Facts) -> Translation:
    return Translation("softmax")


_FUNCTIONS = (
    *("Celu", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Sigmoid", "Softplus"),
    *("Softsign", "Tanh", "ThresholdedRelu"),
)
"""Activation functions that are read, so that `inspect` shows the network; no engine computes them."""

_QUANTISERS: Mapping[str, tuple[str, Translator]] = {
    "BipolarQuant": ("quantise", _quantise),
    "IntQuant": ("quantise", _quantise),
    "Quant": ("quantise", _quantise),
    "Trunc": ("truncate", _truncate),
}

_STANDARD: Mapping[str, tuple[str, Translator]] = {
    **dict.fromkeys(_FUNCTIONS, ("function", _function)),
    **dict.fromkeys(("Cast", "Dropout", "Identity"), ("", shaping.same)),
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze"), ("flatten", shaping.reshape)),
    **dict.fromkeys(("AveragePool", "GlobalAveragePool", "ReduceMean"), ("average_pool", layers.average_pool)),
    **dict.fromkeys(("GlobalMaxPool", "MaxPool", "ReduceMax"), ("max_pool", layers.max_pool)),
    **dict.fromkeys(("BatchNormalization", "Div", "Sub"), ("affine", _affine)),
    **dict.fromkeys(("Add", "Sum"), ("add", _add)),
    **dict.fromkeys(("ArgMax", "TopK"), ("top_k", _top_k)),
    **dict.fromkeys(("LogSoftmax", "Softmax"), ("softmax", _softmax)),
    **dict.fromkeys(("Resize", "Upsample"), ("upsample", layers.resize)),
    "Clip": ("clip", _clip),
    "Concat": ("concat", shaping.concat),
    "Conv": ("conv", layers.conv),
    "ConvTranspose": ("conv", layers.conv_transpose),
    "Gemm": ("fully_connected", layers.gemm),
    "MatMul": ("fully_connected", layers.matmul),
    "Mul": ("affine", _multiply),
    "Pad": ("pad", shaping.pad),
    "Relu": ("relu", _relu),
    "Selu": ("clip", _selu),
    "Split": ("split", shaping.split),
    "Transpose": ("flatten", shaping.transpose),
}
"""ONNX's operators that are read: the type of operation that each mostly becomes (empty: its input), and how."""


def operators(types: Collection[str] | None = None) -> list[str]:
    """Return the operators that are read, those that become one of some types of operation or their input alone."""
    table = {**_QUANTISERS, **_STANDARD}
    return sorted(name for name, (made, _) in table.items() if types is None or not made or made in types)


def is_quantiser(node: Node) -> bool:
    """Whether a node is one of QONNX's quantisers."""
    return node.domain in QONNX_DOMAINS and node.op_type in _QUANTISERS


def is_read(node: Node) -> bool:
    """Whether a node is one of ONNX's operators that are read."""
    return node.domain in STANDARD_DOMAINS and node.op_type in _STANDARD


def is_layer(node: Node) -> bool:
    """Whether a node multiplies with weights."""
    return is_read(node) and _STANDARD[node.op_type][0] in ("conv", "fully_connected")


def translate(node: Node, facts: Facts) -> Translation:
    """Return what a node on the data path becomes, after `check_supported`.

    InputError if this use of the operator is not supported; names file, node, operator and reason.
    """
    table = _QUANTISERS if is_quantiser(node) else _STANDARD
    _, translator = table[node.op_type]
    return translator(node, facts)


def check_supported(node: Node, facts: Facts) -> None:
    """Refuse an operator that floorflow does not read, or a node that ONNX's own rules forbid.

    InputError names file, node and operator.
    """
    if is_quantiser(node):
        return
    if is_read(node):
        context = checker.C.CheckerContext()
        context.ir_version = facts.source.model.ir_version
        context.opset_imports = {"": facts.source.opset}
        try:
            checker.check_node(node.proto, context)
        except checker.ValidationError as error:
            raise facts.refuse(node, f"it breaks ONNX's rules: {str(error).splitlines()[0]}") from None
        return
    if node.op_type in _QUANTISERS:
        reason = f"its domain '{node.domain}' is none of QONNX's ({', '.join(filter(None, QONNX_DOMAINS))})"
        raise facts.refuse(node, reason, f"If it is QONNX's {node.op_type}, set its domain to {QONNX_DOMAIN}.")
    domain = f" of domain '{node.domain}'" if node.domain else ""
    reason = f"the operator{domain} is not supported"
    raise facts.refuse(node, reason, REASONS.get(node.op_type, ""), unsupported=True)
