"""Reading operators that move, pad, resize or reduce data, and those that only look as if they could be read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from examples.make_models import ModelBuilder
from floorflow.errors import InputError
from floorflow.network import Network, Operation, read


def image(shape: tuple[int, ...] = (1, 4, 6, 6), *, signed: bool = False) -> ModelBuilder:
    builder = ModelBuilder("moves", shape)
    builder.quantise(4, signed=signed, narrow=False)
    return builder


def integers(builder: ModelBuilder, *values: int) -> str:
    name = f"integers_{len(builder.initialisers)}"
    builder.initialisers[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
    return name


def network_of(builder: ModelBuilder, folder: Path, opset: int | None = None) -> Network:
    model = builder.model()
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info(builder.tensor, TensorProto.FLOAT, None))
    if opset:
        model.opset_import[0].version = opset
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return read(path)


def appended(builder: ModelBuilder, folder: Path, op_type: str, *inputs: str, **attributes: Any) -> Operation:
    """Return what a node at the end of the network becomes."""
    builder.tensor = builder.node(op_type, [builder.tensor, *inputs], **attributes)
    network = network_of(builder, folder)
    assert network.outputs == network.operations[-1].outputs
    return network.operations[-1]


@pytest.mark.parametrize("axes", [[2, 3], [-1, -2]])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_means_over_all_pixels_are_global_averages(tmp_path: Path, axes: list[int], keepdims: int) -> None:
    builder = image()
    operation = appended(builder, tmp_path, "ReduceMean", axes=axes, keepdims=keepdims)
    assert (operation.type, operation.attributes["kernel"]) == ("average_pool", (6, 6))


def test_axes_may_be_an_input(tmp_path: Path) -> None:
    builder = image()
    builder.tensor = builder.node("ReduceMean", [builder.tensor, integers(builder, -1, -2)], keepdims=0)
    network = network_of(builder, tmp_path, opset=18)
    assert network.operations[-1].type == "average_pool"
    assert network.tensor(builder.tensor).shape == (1, 4)


def test_means_over_other_axes_are_kept_for_the_host(tmp_path: Path) -> None:
    assert appended(image(), tmp_path, "ReduceMean", axes=[1]).type == "mean"


@pytest.mark.parametrize(
    ("op_type", "attributes"), [("GlobalMaxPool", {}), ("ReduceMax", {"axes": [2, 3], "keepdims": 0})]
)
def test_global_maxima_are_pools_of_the_image(tmp_path: Path, op_type: str, attributes: dict[str, Any]) -> None:
    operation = appended(image(), tmp_path, op_type, **attributes)
    assert (operation.type, operation.attributes["kernel"]) == ("max_pool", (6, 6))


def test_pads_of_the_image_are_read_from_the_input(tmp_path: Path) -> None:
    builder = image()
    operation = appended(builder, tmp_path, "Pad", integers(builder, 0, 0, 1, 2, 0, 0, 3, 4))
    assert (operation.type, operation.attributes["pads"]) == ("pad", (1, 2, 3, 4))


def test_pads_of_named_axes_are_read(tmp_path: Path) -> None:
    builder = image()
    inputs = [builder.tensor, integers(builder, 1, 2), "", integers(builder, -1)]
    builder.tensor = builder.node("Pad", inputs)
    assert network_of(builder, tmp_path, opset=18).operations[-1].attributes["pads"] == (0, 1, 0, 2)


def test_empty_pads_are_nothing(tmp_path: Path) -> None:
    builder = image()
    builder.tensor = builder.node("Pad", [builder.tensor, integers(builder, *[0] * 8)])
    builder.relu()
    assert [o.type for o in network_of(builder, tmp_path).operations] == ["quantise"]


@pytest.mark.parametrize(
    ("coordinates", "rounding"),
    [("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("pytorch_half_pixel", "round_prefer_ceil")],
)
def test_resizing_that_repeats_pixels_is_upsampling(tmp_path: Path, coordinates: str, rounding: str) -> None:
    builder = image()
    builder.initialisers["s"] = helper.make_tensor("s", TensorProto.FLOAT, [4], [1, 1, 3, 2])
    modes = {"mode": "nearest", "coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
    operation = appended(builder, tmp_path, "Resize", "", "s", **modes)
    assert (operation.type, operation.attributes["factors"]) == ("upsample", (3, 2))


def test_axes_of_size_one_may_move(tmp_path: Path) -> None:
    builder = image((1, 8, 1, 1))
    builder.tensor = builder.node("Transpose", [builder.tensor], perm=[0, 2, 3, 1])
    builder.tensor, builder.shape = builder.node("Squeeze", [builder.tensor, integers(builder, 1, 2)]), (1, 8)
    builder.fully_connected(3, 4)
    network = network_of(builder, tmp_path)
    assert [operation.type for operation in network.operations] == ["quantise", "flatten", "fully_connected"]
    assert network.macs == 24


def test_a_clip_is_read_as_a_float_activation(tmp_path: Path) -> None:
    builder = image()
    operation = appended(builder, tmp_path, "Clip", builder.constant(0.0), builder.constant(6.0))
    assert operation.type == "clip"


def test_a_relu_of_unsigned_data_is_nothing_and_of_signed_data_halves_its_range(tmp_path: Path) -> None:
    builder = image()
    builder.relu()
    assert [o.type for o in network_of(builder, tmp_path).operations] == ["quantise"]
    builder = image(signed=True)
    builder.relu()
    network = network_of(builder, tmp_path)
    assert network.tensor(builder.tensor).datatype.name == "UINT3"


def test_equal_quantisers_have_equal_grids(tmp_path: Path) -> None:
    builder = image()
    start = builder.tensor
    for zero in (0.0, 0.0, 1.0):
        inputs = [start, builder.constant(0.5), builder.constant(zero), builder.constant(4.0)]
        builder.tensor = builder.node("Quant", inputs, "qonnx.custom_op.general", signed=0)
        builder.add(start)
        start = builder.tensor
    network = network_of(builder, tmp_path)
    first, second, third = [o.text("grid") for o in network.operations if o.type == "quantise"][1:]
    assert first == second != third


def added(shape: tuple[int, ...]) -> ModelBuilder:
    builder = image()
    first, builder.tensor = builder.tensor, "y"
    builder.inputs.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, list(shape)))
    builder.quantise(4)
    builder.add(first)
    return builder


def scaled(*shape: int) -> ModelBuilder:
    builder = image((1, 4, 6, 5))
    builder.tensor = builder.node("Mul", [builder.tensor, builder.parameter(shape, 0.5)])
    return builder


def reshaped(*shape: int) -> ModelBuilder:
    """Return a reshape of what a layer sends; the network's input may come in any order."""
    builder = image()
    builder.conv(4, (1, 1), 4)
    builder.quantise(4)
    builder.tensor = builder.node("Reshape", [builder.tensor, integers(builder, *shape)])
    return builder


def node(op_type: str, **attributes: Any) -> ModelBuilder:
    builder = image()
    builder.tensor = builder.node(op_type, [builder.tensor], **attributes)
    return builder


def resized(factor: float, **modes: str) -> ModelBuilder:
    builder = image()
    builder.initialisers["s"] = helper.make_tensor("s", TensorProto.FLOAT, [4], [1, 1, factor, factor])
    builder.tensor = builder.node("Resize", [builder.tensor, "", "s"], **modes)
    return builder


def padded(*amounts: int, mode: str = "constant", value: float = 0.0) -> ModelBuilder:
    builder = image()
    inputs = [builder.tensor, integers(builder, *amounts), builder.constant(value)]
    builder.tensor = builder.node("Pad", inputs, mode=mode)
    return builder


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: added((1, 4, 1, 1)), ("'Add_0' (Add)", "equal shapes")),
        (lambda: scaled(6, 1), ("'Mul_0' (Mul)", "(6, 1)", "between pixels")),
        (lambda: scaled(5), ("'Mul_0' (Mul)", "between pixels")),
        (lambda: reshaped(1, 2, 2, 6, 6), ("'Reshape_0'", "channel shuffle")),
        (lambda: reshaped(1, 8, 3, 6), ("'Reshape_0'", "only flattening")),
        (lambda: node("Transpose", perm=[0, 2, 1, 3]), ("'Transpose_0'", "reorders")),
        (lambda: node("ReduceMax", axes=[1]), ("'ReduceMax_0'", "all pixels")),
        (lambda: resized(2.0, mode="linear"), ("'Resize_0'", "linear")),
        (lambda: resized(1.5, mode="nearest"), ("'Resize_0'", "whole factors")),
        (lambda: resized(2.0, mode="nearest", nearest_mode="floor"), ("'Resize_0'", "repeat pixels")),
        (lambda: padded(0, 0, 1, 1, 0, 0, 1, 1, mode="reflect"), ("'Pad_0'", "reflect")),
        (lambda: padded(0, 0, 1, 1, 0, 0, 1, 1, value=2.0), ("'Pad_0'", "with zeros")),
        (lambda: padded(0, 1, 0, 0, 0, 0, 0, 0), ("'Pad_0'", "only images")),
        (lambda: padded(0, 0, -1, 0, 0, 0, 0, 0), ("'Pad_0'", "negative")),
        (lambda: node("LRN", size=3), ("'LRN_0' (LRN)", "not supported")),
    ],
)
def test_moves_without_meaning_for_streams_name_node_and_reason(
    tmp_path: Path, make: Callable[[], ModelBuilder], words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        network_of(make(), tmp_path)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert caught.value.hint


def test_random_graphs_are_valid_onnx() -> None:
    from tests.random_models import random_graph

    for seed in range(30):
        onnx.checker.check_model(random_graph(seed), check_custom_domain=False)
