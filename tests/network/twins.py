"""Say the same network in another dialect, for tests that both must read alike."""

from __future__ import annotations

from collections.abc import Iterator

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


def to_channels_last(model: onnx.ModelProto, input_too: bool) -> onnx.ModelProto:
    """Write layers, pools and batch norms as QONNX's ConvertToChannelsLastAndClean does.

    The data is turned once at the network's input (or comes turned) and back before what flattens it.
    """
    model = copy_of(model)
    nodes: list[onnx.NodeProto] = []
    turned: dict[str, str] = {}
    graph = model.graph
    constants = {t.name for t in graph.initializer}
    for node in graph.node:
        data = [name for name in node.input if name and name not in constants]
        if all(name in constants for name in data):
            constants.update(node.output)
        elif node.op_type in ("Reshape", "Flatten", "GlobalAveragePool"):
            name = node.input[0]
            if name in turned:
                nodes.append(helper.make_node("Transpose", [turned[name]], [f"{name}_back"], perm=[0, 3, 1, 2]))
                node.input[0] = f"{name}_back"
        else:
            _turn(node, nodes, turned, constants, graph, input_too)
        nodes.append(node)
    return replace_nodes(model, nodes)


def _turn(
    node: onnx.NodeProto,
    nodes: list[onnx.NodeProto],
    turned: dict[str, str],
    constants: set[str],
    graph: onnx.GraphProto,
    input_too: bool,
) -> None:
    rank4 = [v.name for v in graph.input if len(v.type.tensor_type.shape.dim) == 4]
    for position, name in enumerate(node.input):
        if name in rank4 and name not in turned:
            turned[name] = name if input_too else f"{name}_last"
            if input_too:
                value = next(v for v in graph.input if v.name == name)
                sizes = [d.dim_value for d in value.type.tensor_type.shape.dim]
                value.CopyFrom(helper.make_tensor_value_info(name, TensorProto.FLOAT, [sizes[0], *sizes[2:], sizes[1]]))
            else:
                nodes.append(helper.make_node("Transpose", [name], [turned[name]], perm=[0, 2, 3, 1]))
        if name in turned:
            node.input[position] = turned[name]
            turned.update((output, output) for output in node.output)
    if node.output[0] not in turned:
        return
    if node.op_type in ("Conv", "MaxPool", "BatchNormalization", "AveragePool"):
        node.domain = CHANNELS_LAST
        if node.op_type == "Conv":
            kernel = f"{node.input[1]}_last"
            if all(kernel not in made.output for made in nodes):
                nodes.append(helper.make_node("Transpose", [node.input[1]], [kernel], perm=[0, 2, 3, 1]))
            node.input[1] = kernel
