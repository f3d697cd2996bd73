"""Reading: one clear error, with exit code 2, for every file that cannot be read."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from hypothesis import given
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


def changed(change: Callable[[onnx.ModelProto], object]) -> onnx.ModelProto:
    """Return a small network after a change that leaves it a file of ONNX."""
    builder = ModelBuilder("changed", (1, 3, 8, 8))
    builder.quantise(4)
    builder.conv(4, (3, 3), 4, pads=(1, 1, 1, 1))
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(4, (3, 3), 4)
    builder.quantise(4)
    model = builder.model()
    model.graph.output[0].type.tensor_type.ClearField("shape")  # which most changes would contradict
    change(model)
    return model


def node_of(model: onnx.ModelProto, op_type: str) -> onnx.NodeProto:
    return next(node for node in model.graph.node if node.op_type == op_type)


def attribute(model: onnx.ModelProto, op_type: str, name: str, value: object) -> None:
    node = node_of(model, op_type)
    kept = [one for one in node.attribute if one.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


def bits(model: onnx.ModelProto, value: float) -> None:
    model.graph.initializer.append(helper.make_tensor("odd", TensorProto.FLOAT, [], [value]))
    node_of(model, "Quant").input[3] = "odd"


def size(model: onnx.ModelProto, *sizes: int) -> None:
    for dim, value in zip(model.graph.input[0].type.tensor_type.shape.dim[2:], sizes, strict=True):
        dim.dim_value = value


def weights(model: onnx.ModelProto) -> onnx.TensorProto:
    """Return an initialiser of 108 floats that is added to a model."""
    tensor = helper.make_tensor("more", TensorProto.FLOAT, [4, 3, 3, 3], bytes(4 * 108), raw=True)
    model.graph.initializer.append(tensor)
    return model.graph.initializer[-1]


def made_twice(model: onnx.ModelProto) -> None:
    model.graph.node.add().CopyFrom(node_of(model, "Conv"))


def made_by_itself(model: onnx.ModelProto) -> None:
    node_of(model, "Conv").input[0] = model.graph.output[0].name


NONSENSE: dict[str, tuple[Callable[[onnx.ModelProto], object], str]] = {
    "a size of 2^31": (lambda m: size(m, 2**31, 8), "has the shape"),
    "an image of 10^5 x 10^5": (lambda m: size(m, 10**5, 10**5), "has the shape"),
    "an image of 3000 x 3000": (lambda m: size(m, 3000, 3000), "4,194,304 pixels"),
    "pads of 2^40": (lambda m: attribute(m, "Conv", "pads", [2**40, 0, 0, 0]), "has the shape"),
    "a stride of 0": (lambda m: attribute(m, "Conv", "strides", [0, 1]), "Conv_0"),
    "a kernel of -1": (lambda m: attribute(m, "Conv", "kernel_shape", [-1, 3]), "Conv_0"),
    "pads for one dimension": (lambda m: attribute(m, "Conv", "pads", [1, 1]), "Conv_0"),
    **{f"{n} bits": (lambda m, n=n: bits(m, n), "width") for n in (float("inf"), float("nan"), -1.0, 0.0, 1e6)},
    "a Quant with one input": (lambda m: node_of(m, "Quant").input.__delitem__(slice(1, None)), "expected 4 inputs"),
    "a Conv without inputs": (lambda m: node_of(m, "Conv").ClearField("input"), "expected 2 inputs at least, found 0"),
    "a Conv without outputs": (lambda m: node_of(m, "Conv").ClearField("output"), "has no output"),
    "a tensor made twice": (made_twice, "is made twice, by node"),
    "a cycle": (made_by_itself, "is made by no earlier node"),
    "an output that nobody makes": (lambda m: setattr(m.graph.output[0], "name", "nobody"), "is made by no node"),
    "a sparse initialiser": (lambda m: m.graph.sparse_initializer.add().values.ClearField("dims"), "is sparse"),
    "an unknown type": (lambda m: setattr(weights(m), "data_type", 99), "element type 99"),
    "a negative size": (lambda m: weights(m).dims.__setitem__(0, -4), "has the shape"),
    "too few bytes": (lambda m: setattr(weights(m), "raw_data", b"1234"), "4 bytes for"),
    "an opset of 2^40": (lambda m: setattr(m.opset_import[0], "version", 2**40), "none of ONNX's"),
    "a negative IR version": (lambda m: setattr(m, "ir_version", -7), "none of ONNX's"),
    "an attribute of no type": (lambda m: setattr(node_of(m, "Conv").attribute[0], "type", 0), "Conv_0"),
    "an If": (lambda m: setattr(node_of(m, "Conv"), "op_type", "If"), "'Conv_0' (If)"),
}


@pytest.mark.parametrize(("change", "told"), NONSENSE.values(), ids=NONSENSE.keys())
def test_graphs_that_make_no_sense_say_where(
    tmp_path: Path, change: Callable[[onnx.ModelProto], object], told: str
) -> None:
    assert told in str(error_of(changed(change).SerializeToString(), tmp_path))


def test_weights_outside_the_file_are_not_looked_for(tmp_path: Path) -> None:
    def outside(model: onnx.ModelProto) -> None:
        more = weights(model)
        more.ClearField("raw_data")
        more.data_location = TensorProto.EXTERNAL
        more.external_data.add(key="location", value="../../etc/nothing")

    path = tmp_path / "outside.onnx"
    path.write_bytes(changed(outside).SerializeToString())
    assert read(path).layers


def test_an_input_without_shape_is_named(tmp_path: Path) -> None:
    model = tfc(1, 1)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    assert "input 'x' has no shape" in str(error_of(model.SerializeToString(), tmp_path))


@given(st.lists(st.tuples(st.integers(0, len(TFC) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_files_end_in_a_network_or_an_input_error(folder: Path, damage: list[tuple[int, int]]) -> None:
    content = bytearray(TFC)
    for position, byte in damage:
        content[position] = byte
    path = folder / "damaged.onnx"
    path.write_bytes(bytes(content))
    with contextlib.suppress(InputError):
        assert read(path).operations
