"""Reading: one clear error, with exit code 2, for every file that cannot be read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from examples.make_models import ModelBuilder, models, tfc
from floorflow.errors import InputError
from floorflow.network import read

TFC = models()["tfc_1w1a.onnx"]
GARBAGE = bytes(range(255, 0, -1))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


def error_of(content: bytes, folder: Path) -> InputError:
    path = folder / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.exit_code == 2
    assert caught.value.hint
    assert str(path) in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (GARBAGE, "not an ONNX model"),
        (b"# a readme\n\nnot a model at all\n", "not an ONNX model"),
        (b"\x08\x07", "no graph"),
        (TFC[: len(TFC) // 2], "truncated"),
        (TFC[:-1], "truncated"),
    ],
)
def test_files_that_are_no_model_say_why(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in str(error_of(content, tmp_path))


def test_missing_files_and_folders_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "absent.onnx")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)


def test_a_graph_without_nodes_says_so(tmp_path: Path) -> None:
    model = helper.make_model(helper.make_graph([], "empty", [], []))
    assert "no graph with nodes" in str(error_of(model.SerializeToString(), tmp_path))


def float_weights() -> onnx.ModelProto:
    builder = ModelBuilder("weights", (1, 6))
    builder.quantise(4)
    weights = builder.parameter((3, 6), 0.5)
    builder.tensor, builder.shape = builder.node("Gemm", [builder.tensor, weights], transB=1), (1, 3)
    return builder.model()


def float_activations() -> onnx.ModelProto:
    builder = ModelBuilder("activations", (1, 6))
    builder.quantise(4)
    builder.fully_connected(5, 4)
    builder.relu()
    builder.fully_connected(3, 4)
    return builder.model()


def unsupported(op_type: str = "Erf", domain: str = "") -> onnx.ModelProto:
    builder = ModelBuilder("unsupported", (1, 6))
    builder.quantise(4)
    builder.tensor = builder.node(op_type, [builder.tensor], domain)
    builder.fully_connected(3, 4)
    return builder.model()


def computed_weights() -> onnx.ModelProto:
    builder = ModelBuilder("computed", (1, 1))
    builder.quantise(4)
    builder.tensor, builder.shape = builder.node("MatMul", [builder.tensor, builder.tensor]), (1, 1)
    return builder.model()


def odd_reshape() -> onnx.ModelProto:
    builder = ModelBuilder("reshape", (1, 6))
    builder.quantise(4)
    builder.fully_connected(6, 4)
    builder.initialisers["to"] = helper.make_tensor("to", TensorProto.INT64, [3], [1, 2, 3])
    builder.tensor, builder.shape = builder.node("Reshape", [builder.tensor, "to"]), (1, 2, 3)
    return builder.model()


def computed_width() -> onnx.ModelProto:
    model = tfc(2, 2)
    quantiser = next(node for node in model.graph.node if node.op_type == "Quant")
    quantiser.input[3] = "x"
    return model


def computed_scale() -> onnx.ModelProto:
    builder = ModelBuilder("scale", (1, 6))
    inputs = [builder.tensor, builder.tensor, builder.constant(0.0), builder.constant(4.0)]
    builder.tensor = builder.node("Quant", inputs, "qonnx.custom_op.general")
    return builder.model()


def half_bits() -> onnx.ModelProto:
    builder = ModelBuilder("half", (1, 6))
    inputs = [builder.tensor, builder.constant(1.0), builder.constant(0.0), builder.constant(2.5)]
    builder.tensor = builder.node("Quant", inputs, "qonnx.custom_op.general")
    return builder.model()


def missing_tensor() -> onnx.ModelProto:
    model = tfc(2, 2)
    model.graph.node[0].input[0] = "nowhere"
    return model


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (float_weights, ("'Gemm_0'", "float weights")),
        (float_activations, ("'Gemm_1'", "float activations", "'Relu_0_out'")),
        (unsupported, ("'Erf_0' (Erf)", "not supported")),
        (lambda: unsupported("Quant", "elsewhere"), ("'Quant_1' (Quant)", "domain 'elsewhere' is none of QONNX's")),
        (lambda: unsupported("MultiThreshold"), ("'MultiThreshold_0'", "expected 2 inputs")),
        (computed_weights, ("'MatMul_0'", "computed from the data")),
        (odd_reshape, ("'Reshape_0'", "only flattening")),
        (computed_width, ("(Quant)", "bit width")),
        (computed_scale, ("'Quant_0'", "computed from the data")),
        (half_bits, ("'Quant_0'", "2.5 bits")),
        (missing_tensor, ("'Reshape_0'", "'nowhere'")),
    ],
)
def test_networks_that_cannot_be_read_name_node_and_reason(
    tmp_path: Path, make: Callable[[], onnx.ModelProto], words: tuple[str, ...]
) -> None:
    message = str(error_of(make().SerializeToString(), tmp_path))
    assert all(word in message for word in words), message


def test_unsupported_operators_list_the_supported_ones(tmp_path: Path) -> None:
    hint = error_of(unsupported("LRN").SerializeToString(), tmp_path).hint
    assert "batch norm" in hint
    assert "Conv, " in hint
    assert "BipolarQuant" in hint


def test_a_dynamic_size_names_input_and_dimension(tmp_path: Path) -> None:
    model = tfc(1, 1)
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
    message = str(error_of(model.SerializeToString(), tmp_path))
    assert "dimension 2 of input 'x' is dynamic ('height')" in message


def test_an_input_without_shape_is_named(tmp_path: Path) -> None:
    model = tfc(1, 1)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    assert "input 'x' has no shape" in str(error_of(model.SerializeToString(), tmp_path))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(TFC) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_files_end_in_a_network_or_an_input_error(folder: Path, damage: list[tuple[int, int]]) -> None:
    content = bytearray(TFC)
    for position, byte in damage:
        content[position] = byte
    path = folder / "damaged.onnx"
    path.write_bytes(bytes(content))
    with contextlib.suppress(InputError):
        assert read(path).operations
