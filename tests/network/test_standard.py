"""Files that break ONNX's standard are refused: the node is named, and what contradicts what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from examples.make_models import ModelBuilder
from floorflow.errors import InputError
from floorflow.network import read
from tests.random_models import random_graph


def image() -> ModelBuilder:
    builder = ModelBuilder("illegal", (1, 4, 8, 8))
    builder.quantise(4, signed=False, narrow=False)
    return builder


def layer(op_type: str, *weights: int, bias: int = 0, **attributes: Any) -> ModelBuilder:
    """Return a network that ends in a layer or pool of the image."""
    builder = image()
    inputs = [builder.tensor]
    if weights:
        inputs.append(builder.quantised(builder.parameter(weights, 0.5), 4))
    if bias:
        inputs.append(builder.parameter((bias,), 0.5))
    builder.tensor = builder.node(op_type, inputs, **attributes)
    return builder


def dense(op_type: str, *weights: int, **attributes: Any) -> ModelBuilder:
    builder = image()
    builder.flatten()
    inputs = [builder.tensor, builder.quantised(builder.parameter(weights, 0.5), 4)]
    builder.tensor = builder.node(op_type, inputs, **attributes)
    return builder


def norm(length: int) -> ModelBuilder:
    builder = image()
    builder.tensor = builder.node("BatchNormalization", [builder.tensor] + [builder.parameter((length,), 1.0)] * 4)
    return builder


def quantised(*scale: int) -> ModelBuilder:
    builder = image()
    inputs = [builder.tensor, builder.parameter(scale, 1.0), builder.constant(0.0), builder.constant(4.0)]
    builder.tensor = builder.node("Quant", inputs, "qonnx.custom_op.general")
    return builder


def reshaped(*shape: int) -> ModelBuilder:
    builder = image()
    builder.initialisers["target"] = helper.make_tensor("target", TensorProto.INT64, [len(shape)], shape)
    builder.tensor = builder.node("Reshape", [builder.tensor, "target"])
    return builder


def joined(op_type: str, **attributes: Any) -> ModelBuilder:
    """Join an image of 8x8 pixels and 4 channels with one of 6x6 pixels and 5."""
    builder = image()
    first = builder.tensor
    builder.conv(5, (3, 3), 4)
    builder.quantise(4, signed=False, narrow=False)
    builder.tensor = builder.node(op_type, [first, builder.tensor], **attributes)
    return builder


QUANT = "qonnx.custom_op.general"
BROKEN: dict[str, tuple[Callable[[], ModelBuilder], tuple[str, ...]]] = {
    "channels": (lambda: layer("Conv", 8, 5, 3, 3), ("'Conv_0'", "(8, 5, 3, 3)", "4 channels", "(1, 4, 8, 8)")),
    "kernel": (
        lambda: layer("Conv", 8, 4, 3, 3, kernel_shape=[5, 5]),
        ("'Conv_0'", "kernel_shape (5, 5)", "(8, 4, 3, 3)"),
    ),
    "auto_pad": (lambda: layer("Conv", 8, 4, 3, 3, auto_pad="JUNK"), ("'Conv_0'", "auto_pad 'JUNK'")),
    "group": (lambda: layer("Conv", 8, 1, 3, 3, group=3), ("'Conv_0'", "group 3")),
    "groups": (lambda: layer("Conv", 8, 4, 3, 3, group=2), ("'Conv_0'", "in 2 groups")),
    "no group": (lambda: layer("Conv", 8, 4, 3, 3, group=0), ("'Conv_0'", "group 0")),
    "rank": (lambda: layer("Conv", 8, 4, 3), ("'Conv_0'", "(8, 4, 3)")),
    "bias": (lambda: layer("Conv", 8, 4, 3, 3, bias=7), ("'Conv_0'", "bias", "(7,)", "8 channels")),
    "stride 0": (lambda: layer("Conv", 8, 4, 3, 3, strides=[0, 1]), ("'Conv_0'", "strides (0, 1)")),
    "strides": (lambda: layer("Conv", 8, 4, 3, 3, strides=[1]), ("'Conv_0'", "strides (1,)")),
    "dilation": (lambda: layer("Conv", 8, 4, 3, 3, dilations=[1, -1]), ("'Conv_0'", "dilations (1, -1)")),
    "pads": (lambda: layer("Conv", 8, 4, 3, 3, pads=[1, 1]), ("'Conv_0'", "pads (1, 1)")),
    "negative pads": (lambda: layer("Conv", 8, 4, 3, 3, pads=[0, 0, -1, 0]), ("'Conv_0'", "negative pads")),
    "large": (lambda: layer("Conv", 8, 4, 9, 9), ("'Conv_0'", "(1, 4, 8, 8)", "leaves nothing")),
    "large pool": (lambda: layer("MaxPool", kernel_shape=[9, 8]), ("'MaxPool_0'", "leaves nothing")),
    "no kernel": (lambda: layer("MaxPool"), ("'MaxPool_0'", "kernel_shape")),
    "pool": (lambda: layer("AveragePool", kernel_shape=[2]), ("'AveragePool_0'", "kernel_shape (2,)")),
    "ceil": (lambda: layer("MaxPool", kernel_shape=[2, 2], ceil_mode=2), ("'MaxPool_0'", "ceil_mode is 2")),
    "border": (
        lambda: layer("AveragePool", kernel_shape=[2, 2], count_include_pad=-1),
        ("'AveragePool_0'", "count_include_pad"),
    ),
    "gemm": (lambda: dense("Gemm", 10, 255, transB=1), ("'Gemm_0'", "(1, 256) by (10, 255)")),
    "matmul": (lambda: dense("MatMul", 255, 10), ("'MatMul_0'", "matrix multiplication")),
    "norm": (lambda: norm(5), ("'BatchNormalization_0'", "(5,)", "4 channels")),
    "quant": (lambda: quantised(5), ("'Quant_1'", "(5,)", "(1, 4, 8, 8)")),
    "quant a channel": (lambda: quantised(1, 5, 1, 1), ("'Quant_1'", "(1, 5, 1, 1)")),
    "add": (lambda: joined("Add"), ("'Add_0'", "Incompatible dimensions")),
    "concat": (lambda: joined("Concat", axis=1), ("'Concat_0'", "Inferred=6 Declared=8")),
    "axis": (lambda: joined("Concat", axis=4), ("'Concat_0'", "axis")),
    "no filters": (lambda: layer("Conv", 0, 4, 3, 3), ("'Conv_0'", "leaves nothing")),
    "order": (lambda: layer("Transpose", perm=[0, 2, 1]), ("'Transpose_0'", "perm (0, 2, 1)", "(1, 4, 8, 8)")),
    "reshape": (lambda: reshaped(1, 255), ("'Reshape_0'", "(1, 255)", "(1, 4, 8, 8)")),
    "perm": (lambda: layer("Transpose", perm=[0, 1, 1, 2]), ("'Transpose_0'", "perm (0, 1, 1, 2)")),
}


def refusal(model: onnx.ModelProto, folder: Path) -> str:
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(InputError) as caught:
        read(folder / "model.onnx")
    assert caught.value.exit_code == 2
    assert caught.value.hint
    return str(caught.value)


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_nodes_that_contradict_what_they_read_are_named(tmp_path: Path, name: str) -> None:
    make, words = BROKEN[name]
    builder = make()
    model = builder.model()
    model.graph.output[0].CopyFrom(onnx.ValueInfoProto(name=builder.tensor))
    message = refusal(model, tmp_path)
    assert all(word in message for word in words), message


def test_declared_shapes_must_be_those_that_the_nodes_make(tmp_path: Path) -> None:
    model = layer("Conv", 8, 4, 3, 3).model()
    sizes = model.graph.output[0].type.tensor_type.shape.dim
    assert "'Conv_0' (Conv): the file declares its output" in refusal(model, tmp_path)
    for dim, size in zip(sizes, (1, 8, 6, 6), strict=True):
        dim.dim_value = size
    onnx.save(model, tmp_path / "model.onnx")
    read(tmp_path / "model.onnx")
    model.graph.value_info.append(helper.make_tensor_value_info("Quant_0_out", TensorProto.FLOAT, [1, 4, 8, 7]))
    assert "'Quant_0' (Quant): the file declares its output 'Quant_0_out' as (1, 4, 8, 7)" in refusal(model, tmp_path)


@pytest.mark.parametrize("size", [0, -1])
@pytest.mark.parametrize("axis", [0, 2])
def test_an_input_without_elements_is_refused(tmp_path: Path, axis: int, size: int) -> None:
    model = image().model()
    model.graph.input[0].type.tensor_type.shape.dim[axis].dim_value = size
    told = refusal(model, tmp_path)
    assert "input 'x'" in told
    assert str(size) in told


@pytest.mark.parametrize("version", [0, -3, 10**6, None])
def test_a_version_of_onnx_that_does_not_exist_is_refused(tmp_path: Path, version: int | None) -> None:
    model = layer("Conv", 8, 4, 3, 3).model()
    if version is None:
        del model.opset_import[0]
    else:
        model.opset_import[0].version = version
    assert "version" in refusal(model, tmp_path)


def test_a_quantiser_of_one_number_may_have_parameters_of_one(tmp_path: Path) -> None:
    builder = image()
    one = builder.parameter((1,), 1.0)
    width = builder.node("Quant", [builder.constant(2.0), one, builder.constant(0.0), builder.constant(4.0)], QUANT)
    builder.tensor = builder.node("Mul", [builder.tensor, width])
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(2, (1, 1), 4)
    onnx.save(builder.model(), tmp_path / "model.onnx")
    assert read(tmp_path / "model.onnx").layers


def test_all_broken_nodes_are_told_at_once_and_none_that_only_reads_them(tmp_path: Path) -> None:
    builder = layer("Conv", 8, 5, 3, 3)
    builder.tensor = builder.node("MaxPool", [builder.tensor], kernel_shape=[7, 7])
    builder.relu()
    model = builder.model()
    model.graph.output[0].CopyFrom(onnx.ValueInfoProto(name=builder.tensor))
    message = refusal(model, tmp_path)
    assert "2 obstacles" in message
    assert "'Conv_0'" in message
    assert "'MaxPool_0'" in message


def test_declared_shapes_of_sound_files_are_no_fault(tmp_path: Path) -> None:
    """Inference's own shapes, of any batch, stand in a file that tools have cleaned up."""
    for seed in range(6):
        model = random_graph(seed)
        known = onnx.ModelProto()
        known.CopyFrom(model)
        for node in known.graph.node:
            if node.domain:
                node.CopyFrom(helper.make_node("Identity", node.input[:1], node.output))
        model.graph.value_info.extend(onnx.shape_inference.infer_shapes(known).graph.value_info)
        for value in model.graph.input:
            value.type.tensor_type.shape.dim[0].dim_value = 7
        onnx.save(model, tmp_path / "model.onnx")
        read(tmp_path / "model.onnx")
