"""Reading: all that keeps a model from being read is told in one error, each kind once."""

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from examples.make_models import ModelBuilder
from floorflow.errors import InputError
from floorflow.network import partial_network, read
from floorflow.network.obstacles import MAX_LINES
from floorflow.network.onnx_file import load


def error_of(model: onnx.ModelProto, folder: Path) -> InputError:
    path = folder / "model.onnx"
    onnx.save(model, path)
    with pytest.raises(InputError) as caught:
        read(path)
    return caught.value


def network() -> ModelBuilder:
    builder = ModelBuilder("obstacles", (1, 4, 8, 8))
    builder.quantise(4, signed=False, narrow=False)
    return builder


def unread(builder: ModelBuilder, op_type: str, **attributes: object) -> None:
    builder.tensor = builder.node(op_type, [builder.tensor], **attributes)


def layer(builder: ModelBuilder) -> None:
    builder.conv(4, (1, 1), 4)
    builder.activation(4)


def test_operators_and_attributes_that_are_not_read_stand_in_one_error(tmp_path: Path) -> None:
    builder = network()
    unread(builder, "Erf")
    layer(builder)
    unread(builder, "LRN", size=3)
    layer(builder)
    builder.tensor = builder.node("Resize", [builder.tensor, "", builder.parameter((4,), 1.0)], mode="linear")
    unread(builder, "Erf")
    layer(builder)
    error = error_of(builder.model(), tmp_path)
    lines = str(error).splitlines()
    assert lines[0].endswith("model.onnx: 3 obstacles:") or lines[0].endswith("model.onnx: 4 obstacles:")
    assert any("2 x Erf, first at node 'Erf_0': the operator is not supported" in line for line in lines)
    assert any("node 'LRN_0' (LRN): the operator is not supported. Leave local" in line for line in lines)
    assert "Read are: Add, " in error.hint
    assert "Erf" not in error.hint


def test_one_obstacle_reads_as_it_does_alone(tmp_path: Path) -> None:
    builder = network()
    unread(builder, "Erf")
    layer(builder)
    error = error_of(builder.model(), tmp_path)
    assert str(error) == f"{tmp_path / 'model.onnx'}: node 'Erf_0' (Erf): the operator is not supported"


def test_layers_without_quantisers_are_one_kind_of_obstacle_whatever_their_tensors_are_called(tmp_path: Path) -> None:
    builder = network()
    for _ in range(3):
        builder.conv(4, (1, 1), 4)
        builder.relu()
    builder.conv(4, (1, 1), 4)
    error = error_of(builder.model(), tmp_path)
    assert "3 obstacles:\n  3 x Conv, first at node 'Conv_1': the layer has float activations" in str(error)


def test_what_only_follows_from_an_obstacle_is_none_of_its_own(tmp_path: Path) -> None:
    """Shapes behind an operator of another domain cannot be derived."""
    builder = network()
    builder.tensor = builder.node("Strange", [builder.tensor], "elsewhere")
    layer(builder)
    builder.max_pool((2, 2), (2, 2))
    error = error_of(builder.model(), tmp_path)
    assert "node 'Strange_0' (Strange): the operator of domain 'elsewhere' is not supported" in str(error)
    assert "shape" not in str(error)


def test_more_kinds_than_ten_are_counted(tmp_path: Path) -> None:
    builder = network()
    strange = ("Erf", "Abs", "Ceil", "Cos", "Exp", "Floor", "Log", "Neg", "Round", "Sign", "Sin", "Sqrt", "Tan")
    for op_type in strange:
        unread(builder, op_type)
    unread(builder, "Tan")
    layer(builder)
    lines = str(error_of(builder.model(), tmp_path)).splitlines()
    assert lines[0].endswith("14 obstacles:")
    assert len(lines) == MAX_LINES + 2
    assert lines[-1].strip() == "4 more obstacles of 3 other kinds"


def test_quantisers_of_a_dialect_are_collected_too(tmp_path: Path) -> None:
    """Each zero point is a float; an operator that is not read stands between."""
    builder = ModelBuilder("qdq", (1, 6))
    for index in range(2):
        scale, zero = builder.constant(0.5), builder.constant(0.0)
        quantised = builder.node("QuantizeLinear", [builder.tensor, scale, zero])
        builder.tensor = builder.node("DequantizeLinear", [quantised, scale])
        builder.tensor = builder.node("Erf", [builder.tensor]) if index == 0 else builder.tensor
    weights = helper.make_tensor("weights", TensorProto.INT8, [6, 3], [1] * 18)
    builder.initialisers["weights"] = weights
    dequantised = builder.node("DequantizeLinear", ["weights", builder.constant(0.5)])
    builder.tensor, builder.shape = builder.node("MatMul", [builder.tensor, dequantised]), (1, 3)
    message = str(error_of(builder.model(), tmp_path))
    assert "3 obstacles" in message
    assert "2 x QuantizeLinear, first at node 'QuantizeLinear_0': its zero point" in message
    assert "node 'Erf_0' (Erf)" in message


def test_a_network_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    builder = network()
    unread(builder, "Erf")
    layer(builder)
    onnx.save(builder.model(), tmp_path / "model.onnx")
    network_read = partial_network(load(tmp_path / "model.onnx"))
    assert [o.type for o in network_read.operations][:3] == ["quantise", "unread", "conv"]
    assert [o.name for o in network_read.obstacles] == ["Erf_0"]
