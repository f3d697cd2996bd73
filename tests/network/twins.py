"""Say the same network in another dialect, for tests that both must read alike."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper

CHANNELS_LAST = "qonnx.custom_op.channels_last"


def attributes_of(node: onnx.NodeProto) -> dict:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def copy_of(model: onnx.ModelProto) -> onnx.ModelProto:
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    return copied


def replace_nodes(model: onnx.ModelProto, nodes: list[onnx.NodeProto]) -> onnx.ModelProto:
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def to_qcdq(model: onnx.ModelProto) -> onnx.ModelProto:
    """Write each Quant of 2 to 8 bits as Brevitas' QCDQ export does: 8-bit integers, clipped to fewer bits."""
    model = copy_of(model)
    bits = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    for index, node in enumerate(model.graph.node):
        nodes += _qcdq(model.graph, node, index, int(bits[node.input[3]])) if node.op_type == "Quant" else [node]
    return replace_nodes(model, nodes)


def _qcdq(graph: onnx.GraphProto, node: onnx.NodeProto, index: int, bits: int) -> Iterator[onnx.NodeProto]:
    attributes = attributes_of(node)
    signed, narrow = attributes["signed"], attributes["narrow"]
    kind = TensorProto.INT8 if signed else TensorProto.UINT8
    low = -(2 ** (bits - 1)) + narrow if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1 - narrow
    zero, lowest, highest = (f"{part}_{index}" for part in ("zero", "low", "high"))
    graph.initializer.extend(
        helper.make_tensor(name, kind, [], [value]) for name, value in ((zero, 0), (lowest, low), (highest, high))
    )
    scale, quantised, clipped = node.input[1], f"quantised_{index}", f"clipped_{index}"
    yield helper.make_node("QuantizeLinear", [node.input[0], scale, zero], [quantised], node.name)
    if bits < 8 or narrow:
        yield helper.make_node("Clip", [quantised, lowest, highest], [clipped])
    else:
        clipped = quantised
    yield helper.make_node("DequantizeLinear", [clipped, scale, zero], [node.output[0]])


LAYERS = ("Conv", "MaxPool", "BatchNormalization", "AveragePool", "GlobalAveragePool")
TO_LAST, TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]


def to_channels_last(model: onnx.ModelProto, dialect: str, input_too: bool = True) -> onnx.ModelProto:
    """Write every image channels last, with whatever names an axis or has a value for each.

    Layers become QONNX's channels-last operators, or ("keras") stand between Transposes, as tf2onnx leaves them where
    it cannot take them out; what is 1x1 is a MatMul of pixels then. An input may be turned by a Transpose.
    """
    model = copy_of(model)
    graph = model.graph
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer if t.name != "flat"}
    twin = _LastTwin(graph, dialect, set(constants), constants)
    for value in [v for v in graph.input if len(v.type.tensor_type.shape.dim) == 4]:
        twin.turn_input(value, input_too)
    for node in list(graph.node):
        twin.add(node)
    for value in (v for v in graph.output if v.name in twin.images):
        turn_shape(value)
    return replace_nodes(model, twin.nodes)


def turn_shape(value: onnx.ValueInfoProto) -> None:
    """Write a shape channels last."""
    sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    value.CopyFrom(helper.make_tensor_value_info(value.name, TensorProto.FLOAT, [sizes[axis] for axis in TO_LAST]))


@dataclass
class _LastTwin:
    """The twin's nodes so far, and the names of its images."""

    graph: onnx.GraphProto
    dialect: str
    constants: set[str]
    values: dict[str, np.ndarray]
    images: set[str] = field(default_factory=set)
    nodes: list[onnx.NodeProto] = field(default_factory=list)

    def node(self, op_type: str, inputs: list[str], output: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op_type, inputs, [output], f"made/{output}", **attributes))
        return output

    def turn_input(self, value: onnx.ValueInfoProto, input_too: bool) -> None:
        name = value.name
        if input_too:
            turn_shape(value)
        else:
            value.name = f"{name}_first"
            self.node("Transpose", [value.name], name, perm=TO_LAST)
        self.images.add(name)

    def add(self, node: onnx.NodeProto) -> None:
        if self.constants.issuperset(node.input) or node.op_type == "Constant":
            self.constants.update(node.output)
        elif not self.images.isdisjoint(node.input):
            if node.op_type in LAYERS:
                self.layer(node)
                return
            self.turn_axes(node)
            if node.op_type not in ("Flatten", "Reshape") and attributes_of(node).get("keepdims", 1):
                self.images.update(node.output)
        self.nodes.append(node)

    def layer(self, node: onnx.NodeProto) -> None:
        self.images.update(node.output)
        attributes = attributes_of(node)
        plain = (
            attributes.get("group", 1) == max(attributes.get("strides", [1])) == 1 and not any(attributes["pads"])
            if node.op_type == "Conv"
            else False
        )
        if self.dialect == "keras" and plain and attributes["kernel_shape"] == [1, 1] and len(node.input) == 2:
            target = f"to_matrix_of_{node.name}"
            self.constant(target, [self.channels(node), -1])
            matrix = self.node("Reshape", [node.input[1], target], f"matrix/{node.name}")
            turned = self.node("Transpose", [matrix], f"turned/{node.name}", perm=[1, 0])
            self.nodes.append(helper.make_node("MatMul", [node.input[0], turned], node.output, node.name))
        elif self.dialect == "keras" or node.op_type not in ("Conv", "MaxPool", "BatchNormalization"):
            output = node.output[0]
            node.input[0] = self.node("Transpose", [node.input[0]], f"first/{node.name}", perm=TO_FIRST)
            node.output[0] = f"behind/{node.name}"
            self.nodes.append(node)
            self.node("Transpose", [node.output[0]], output, perm=TO_LAST)
        else:
            node.domain = CHANNELS_LAST
            if node.op_type == "Conv":
                node.input[1] = self.node("Transpose", [node.input[1]], f"kernel/{node.name}", perm=TO_LAST)
            self.nodes.append(node)

    def channels(self, node: onnx.NodeProto) -> int:
        """Return the output channels of a layer, by the shape that its weights are filled from."""
        name = node.input[1]
        while name not in self.values:
            name = next(made.input[0] for made in self.graph.node if name in made.output)
        value = self.values[name]
        return int(value.shape[0] if value.ndim > 1 else value[0])

    def constant(self, name: str, values: list[float]) -> str:
        kind = TensorProto.INT64 if isinstance(values[0], int) else TensorProto.FLOAT
        self.graph.initializer.append(helper.make_tensor(name, kind, [len(values)], values))
        return name

    def turn_axes(self, node: onnx.NodeProto) -> None:
        """Turn what names axes, or has a value for each."""
        for attribute in node.attribute:
            if attribute.name == "axis" and node.op_type in ("Concat", "Split", "Softmax"):
                attribute.i = 3 if node.op_type == "Concat" else -1
            if attribute.name == "axes":
                attribute.ints[:] = [TO_LAST.index(axis) for axis in attribute.ints]
        if node.op_type in ("Pad", "Resize"):
            position = 1 if node.op_type == "Pad" else 2
            given = self.values[node.input[position]].tolist()
            parts = [given[start : start + 4] for start in range(0, len(given), 4)]
            turned = [part[axis] for part in parts for axis in TO_LAST]
            node.input[position] = self.constant(f"{node.input[position]}_of_{node.name}", turned)
