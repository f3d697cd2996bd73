"""Change a valid file a little, at random from a seed: ONNX models, and the values of JSON and YAML."""

import gzip
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import onnx
from onnx import AttributeProto, TensorProto, helper

from tests.backends.finn.read.test_graph import MATRIX, WINDOW, GraphBuilder
from tests.network.twins import to_channels_last, to_qcdq
from tests.random_models import random_chain, random_graph

NUMBERS = (0, -1, 1, 2, 3, 7, 63, 65, 2**16 - 1, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**63))
TEXTS = ("", "INT0", "INT999999999999", "a b", "\n", "]; exec", "\u2028", "INT8", "same", "x" * 300)
GRAPHS = Path(__file__).parent / "backends" / "finn" / "graphs"


def finn_graph() -> onnx.ModelProto:
    """Return a small graph of FINN's engines."""
    builder = GraphBuilder()
    builder.add("ConvolutionInputGenerator_rtl", WINDOW, (1, 3, 3, 12))
    builder.add("StreamingFIFO_rtl", {"depth": 8, "folded_shape": [1, 3, 3, 12], "dataType": "UINT4"})
    builder.add("MVAU_hls", {**MATRIX, "PE": 2, "SIMD": 3}, (1, 3, 3, 6), parameters=(12, 6))
    return builder.model()


def recorded(name: str) -> onnx.ModelProto:
    """Return a graph of a build of FINN's."""
    return onnx.load_from_string(gzip.decompress((GRAPHS / f"{name}.onnx.gz").read_bytes()))


def model(kind: str, seed: int) -> onnx.ModelProto:
    """Return a valid model of a kind."""
    if kind == "finn":
        return finn_graph()
    if kind.startswith("recorded "):
        return recorded(kind.removeprefix("recorded "))
    made = random_chain(seed % 20) if seed % 2 else random_graph(seed % 20)
    if kind == "qcdq":
        return to_qcdq(made)
    return to_channels_last(made, "qonnx", input_too=bool(seed % 3)) if kind == "channels last" else made


def mutated(proto: onnx.ModelProto, rng: random.Random) -> onnx.ModelProto:
    """Return a model with one to three of its parts changed."""
    for _ in range(rng.randint(1, 3)):
        if proto.graph.node:
            rng.choice(CHANGES)(proto, rng)
    return proto


def _node(proto: onnx.ModelProto, rng: random.Random) -> onnx.NodeProto:
    return rng.choice(proto.graph.node)


def _tensors(proto: onnx.ModelProto) -> list[str]:
    nodes = [name for node in proto.graph.node for name in (*node.input, *node.output)]
    return [*nodes, *(t.name for t in proto.graph.initializer), "", "nowhere"]


def _drop_node(proto: onnx.ModelProto, rng: random.Random) -> None:
    del proto.graph.node[rng.randrange(len(proto.graph.node))]


def _bypass_node(proto: onnx.ModelProto, rng: random.Random) -> None:
    """Take a node out, and give its readers what it read."""
    index = rng.randrange(len(proto.graph.node))
    gone = proto.graph.node[index]
    for node in proto.graph.node:
        for place, name in enumerate(node.input):
            if gone.input and name in gone.output:
                node.input[place] = gone.input[0]
    del proto.graph.node[index]


def _copy_node(proto: onnx.ModelProto, rng: random.Random) -> None:
    proto.graph.node.add().CopyFrom(_node(proto, rng))


def _swap_nodes(proto: onnx.ModelProto, rng: random.Random) -> None:
    nodes = list(proto.graph.node)
    rng.shuffle(nodes)
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)


def _drop_end(proto: onnx.ModelProto, rng: random.Random) -> None:
    ends = _node(proto, rng)
    held = rng.choice((ends.input, ends.output))
    if held:
        del held[rng.randrange(len(held)) :]


def _retarget(proto: onnx.ModelProto, rng: random.Random) -> None:
    ends = _node(proto, rng)
    held = ends.input if rng.random() < 0.8 else ends.output
    if held:
        held[rng.randrange(len(held))] = rng.choice(_tensors(proto))


def _add_input(proto: onnx.ModelProto, rng: random.Random) -> None:
    _node(proto, rng).input.append(rng.choice(_tensors(proto)))


def _other_operator(proto: onnx.ModelProto, rng: random.Random) -> None:
    one, other = _node(proto, rng), _node(proto, rng)
    one.op_type, one.domain = other.op_type, other.domain
    if rng.random() < 0.3:
        one.op_type = rng.choice(OPERATORS)


def _other_attribute(proto: onnx.ModelProto, rng: random.Random) -> None:
    node = _node(proto, rng)
    if not node.attribute:
        node.attribute.append(_attribute(rng.choice(("axis", "strides", "pads", "group", "PE", "Channels")), rng))
        return
    index = rng.randrange(len(node.attribute))
    attribute, choice = node.attribute[index], rng.random()
    if choice < 0.2:
        del node.attribute[index]
    elif choice < 0.6 and attribute.type == AttributeProto.INTS and attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(NUMBERS)
    elif choice < 0.6 and attribute.type == AttributeProto.INT:
        attribute.i = rng.choice(NUMBERS)
    elif choice < 0.7 and attribute.type == AttributeProto.INTS:
        del attribute.ints[rng.randint(0, len(attribute.ints)) :]
    elif choice < 0.75:
        attribute.type = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13))
    else:
        node.attribute[index].CopyFrom(_attribute(attribute.name, rng))


def _attribute(name: str, rng: random.Random) -> onnx.AttributeProto:
    choices: tuple[Any, ...] = (rng.choice(NUMBERS), [rng.choice(NUMBERS) for _ in range(rng.randint(1, 4))])
    return helper.make_attribute(name, rng.choice((*choices, rng.choice(TEXTS), float("nan"), float("inf"), 0.5)))


def _other_shape(proto: onnx.ModelProto, rng: random.Random) -> None:
    values = [*proto.graph.input, *proto.graph.output, *proto.graph.value_info]
    shape = rng.choice(values).type.tensor_type.shape
    if not shape.dim or rng.random() < 0.2:
        shape.dim.add().dim_value = rng.choice(NUMBERS)
    elif rng.random() < 0.2:
        del shape.dim[rng.randrange(len(shape.dim)) :]
    else:
        rng.choice(shape.dim).dim_value = rng.choice(NUMBERS)


def _other_initialiser(proto: onnx.ModelProto, rng: random.Random) -> None:
    if not proto.graph.initializer:
        return
    tensor, choice = rng.choice(proto.graph.initializer), rng.random()
    if choice < 0.15:
        proto.graph.initializer.remove(tensor)
    elif choice < 0.3 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(NUMBERS)
    elif choice < 0.4:
        tensor.data_type = rng.choice((0, 1, 7, 8, 9, 10, 16, 22, 99))
    elif choice < 0.5:
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="../../outside")
    elif choice < 0.6:
        tensor.raw_data = b"123"
    elif choice < 0.7:
        proto.graph.initializer.add().CopyFrom(tensor)
    else:
        value = rng.choice((float("nan"), float("inf"), -1.0, 0.0, 0.5, 1e6, 33.0, 2.0))
        tensor.CopyFrom(helper.make_tensor(tensor.name, TensorProto.FLOAT, [], [value]))


def _other_file(proto: onnx.ModelProto, rng: random.Random) -> None:
    choice = rng.randrange(6)
    if choice == 0:
        proto.ir_version = rng.choice(NUMBERS)
    elif choice == 1 and proto.opset_import:
        rng.choice(proto.opset_import).version = rng.choice(NUMBERS)
    elif choice == 2:
        del proto.opset_import[:]
    elif choice == 3:
        del proto.graph.output[rng.randint(0, len(proto.graph.output)) :]
    elif choice == 4:
        proto.graph.output.add().name = rng.choice(_tensors(proto))
    else:
        proto.graph.sparse_initializer.add().values.name = "sparse"


CHANGES: tuple[Callable[[onnx.ModelProto, random.Random], None], ...] = (
    _drop_node,
    _bypass_node,
    _copy_node,
    _swap_nodes,
    _drop_end,
    _retarget,
    _add_input,
    _other_operator,
    *(_other_attribute,) * 4,
    *(_other_shape,) * 2,
    *(_other_initialiser,) * 2,
    _other_file,
)
OPERATORS = (
    *("Add", "ArgMax", "AveragePool", "BatchNormalization", "BipolarQuant", "Cast", "Clip", "Concat", "Conv", "Div"),
    *("Dropout", "Flatten", "Gemm", "GlobalAveragePool", "If", "Loop", "MatMul", "MaxPool", "Mul", "Pad", "Quant"),
    *("QuantizeLinear", "Range", "ReduceMean", "Relu", "Reshape", "Resize", "Softmax", "Split", "Squeeze", "Sub"),
    *("TopK", "Transpose", "Trunc", "Unsqueeze", "Upsample", "ConstantOfShape", "Shape", "Constant", "ConvTranspose"),
    *("QLinearConv", "ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MultiThreshold", "QGemm"),
    *("AddStreams", "DuplicateStreams_hls", "Thresholding_rtl", "StreamingFIFO", "StreamingDataflowPartition"),
    *("StreamingConcat_hls", "FMPadding_rtl", "Pool_hls", "LabelSelect_hls", "VVAU_rtl", "IODMA_hls", "Lookup_hls"),
)


def mutated_values(content: Any, rng: random.Random) -> Any:
    """Return what a JSON or YAML file holds, with one or two of its values changed."""
    for _ in range(rng.randint(1, 2)):
        content = _mutated_value(content, rng)
    return content


def _mutated_value(content: Any, rng: random.Random) -> Any:
    if isinstance(content, Mapping) and content and rng.random() < 0.97:
        key, choice = rng.choice(sorted(content, key=str)), rng.random()
        if choice < 0.05:
            return {name: value for name, value in content.items() if name != key}
        if choice < 0.07:
            return {**content, rng.choice(TEXTS): content[key]}
        return {**content, key: _mutated_value(content[key], rng)}
    if isinstance(content, list) and content and rng.random() < 0.95:
        index = rng.randrange(len(content))
        return [*content[:index], _mutated_value(content[index], rng), *content[index + (rng.random() < 0.9) :]]
    return _other_value(content, rng)


def _other_value(content: Any, rng: random.Random) -> Any:
    """Return another value, mostly one of the same type."""
    reals = (1e308, 0.5, -0.1, 1e-300, float("nan"), float("inf"))
    whole = rng.choice((*NUMBERS, 10**400))
    if rng.random() < 0.8 and isinstance(content, bool | int | float | str):
        if isinstance(content, str):
            return rng.choice((*TEXTS, content[:-1], content + "9", content.upper()))
        if isinstance(content, bool):
            return not content
        return rng.choice((whole, content + 1, content - 1, *(reals if isinstance(content, float) else ())))
    return rng.choice((whole, rng.choice(reals), rng.choice(TEXTS), None, True, [], {}, [[]], {"a": 1}))
