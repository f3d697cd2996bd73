"""Reading: shapes, datatypes and MACs of good files."""

from collections.abc import Callable
from math import prod
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, shape_inference

from examples.make_models import DOMAIN, ModelBuilder, cnv, models, tfc
from floorflow.errors import InputError
from floorflow.network import Network, read
from tests.random_models import random_chain, random_graph

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def network_of(model: onnx.ModelProto, folder: Path) -> Network:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return read(path)


def types(network: Network) -> list[str]:
    return [operation.type for operation in network.operations]


def standard_shapes(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Infer shapes with ONNX alone, after renaming every quantiser to Identity."""
    plain = onnx.ModelProto()
    plain.CopyFrom(model)
    for node in plain.graph.node:
        if node.domain == DOMAIN:
            node.domain, node.op_type = "", "Identity"
            del node.attribute[:]
            del node.input[1:]
    inferred = shape_inference.infer_shapes(plain, strict_mode=True)
    values = [*inferred.graph.value_info, *inferred.graph.output]
    return {v.name: tuple(d.dim_value for d in v.type.tensor_type.shape.dim) for v in values}


def counted_macs(model: onnx.ModelProto, shapes: dict[str, tuple[int, ...]]) -> int:
    """Count MACs: every output element is a sum over one output channel's weights."""
    count = 0
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm"):
            count += prod(shapes[node.output[0]]) * prod(shapes[node.input[1]][1:])
    return count


@pytest.mark.parametrize("name", sorted(models()))
def test_committed_examples_are_what_the_script_makes(name: str) -> None:
    content = (EXAMPLES / name).read_bytes()
    assert content == models()[name]
    assert len(content) < 150_000


@given(st.sampled_from([random_chain, random_graph]), st.integers(0, 10**6))
def test_shapes_and_macs_of_random_networks_equal_a_direct_count(
    folder: Path, make: Callable[[int], onnx.ModelProto], seed: int
) -> None:
    model = make(seed)
    network = network_of(model, folder)
    shapes = standard_shapes(model)
    for operation in network.operations:
        for output in operation.outputs:
            assert network.tensor(output).shape == shapes[output]
    assert network.macs == counted_macs(model, shapes)
    assert network.macs > 0


def test_cnv_has_the_layers_and_macs_of_the_real_one() -> None:
    network = read(EXAMPLES / "cnv_2w2a.onnx")
    layers = [operation for operation in network.operations if operation.macs]
    assert [operation.type for operation in layers] == ["conv"] * 6 + ["fully_connected"] * 3
    assert network.macs == 59_461_376
    assert {network.weights(layer).datatype.name for layer in layers} == {"INT2"}
    assert network.weights(layers[0]).datatype.min == -1
    assert [network.tensor(layer.inputs[0]).datatype.name for layer in layers] == ["INT8"] + ["INT2"] * 8
    assert network.inputs == ("x",)
    assert any("8-bit" in note for note in network.notes)


@pytest.mark.parametrize(
    ("name", "layers", "macs", "bits"),
    [
        ("densenet121_w4a4", 121, 2_834_161_664, {4, 8}),
        ("mobilenet_v1_w4a4", 28, 568_026_752, {4, 8}),
        ("resnet50_w1a2", 54, 4_089_184_256, {1, 8}),
    ],
)
def test_large_examples_have_the_layers_and_macs_of_the_real_ones(
    name: str, layers: int, macs: int, bits: set[int]
) -> None:
    network = read(EXAMPLES / f"{name}.onnx")
    found = [operation for operation in network.operations if operation.macs]
    assert (len(found), network.macs) == (layers, macs)
    assert {network.weights(layer).datatype.bits for layer in found} == bits
    if name == "resnet50_w1a2":
        assert [network.tensor(layer.inputs[0]).datatype.bits for layer in found] == [8, *[2] * 52, 8]


def test_tfc_is_bipolar_throughout() -> None:
    network = read(EXAMPLES / "tfc_1w1a.onnx")
    assert types(network)[:5] == ["flatten", "affine", "affine", "quantise", "fully_connected"]
    quantised = [operation for operation in network.operations if operation.type == "quantise"]
    assert {network.tensor(operation.outputs[0]).datatype.name for operation in quantised} == {"BIPOLAR"}
    assert network.macs == 59_008


def test_every_named_tensor_is_listed() -> None:
    network = read(EXAMPLES / "cnv_2w2a.onnx")
    for operation in network.operations:
        for name in (*operation.inputs, *operation.outputs):
            assert network.tensor(name).elements > 0
        assert all(reader in network.operations for reader in network.consumers(operation.outputs[0]))


@pytest.mark.parametrize(
    "domain", ["onnx.brevitas", "finn.custom_op.general", "qonnx.custom_op.general", "", "ai.onnx"]
)
@pytest.mark.parametrize("bits", [1, 2])
def test_every_spelling_of_the_domain_is_read_alike_without_an_import(folder: Path, domain: str, bits: int) -> None:
    """An export that has dropped the domain is read, and its user told that FINN needs it."""
    model, own = tfc(bits, bits), network_of(tfc(bits, bits), folder)
    for node in model.graph.node:
        if node.domain:
            node.domain = domain
            node.op_type = "IntQuant" if node.op_type == "Quant" and domain else node.op_type
    del model.opset_import[1:]
    network = network_of(model, folder)
    assert network.operations == own.operations
    assert any("FINN needs qonnx.custom_op.general" in note for note in network.notes) == (domain in ("", "ai.onnx"))


@pytest.mark.parametrize("batch", ["N", 789_444, 0])
def test_any_batch_is_planned_as_one_and_noted(folder: Path, batch: str | int) -> None:
    model = cnv(1, 1)
    dimension = model.graph.input[0].type.tensor_type.shape.dim[0]
    dimension.Clear()
    if isinstance(batch, str):
        dimension.dim_param = batch
    elif batch:
        dimension.dim_value = batch
    network = network_of(model, folder)
    assert network.macs == 59_461_376
    assert any("batch 1" in note and (not batch or str(batch) in note) for note in network.notes)


def test_batch_baked_into_a_reshape_is_planned_as_one(folder: Path) -> None:
    model = tfc(2, 2)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 16
    target = next(tensor for tensor in model.graph.initializer if tensor.name == "flat")
    target.CopyFrom(helper.make_tensor("flat", TensorProto.INT64, [2], [16, 784]))
    assert network_of(model, folder).macs == 59_008


def test_initialisers_listed_as_inputs_are_no_inputs(folder: Path) -> None:
    model = tfc(2, 2)
    for tensor in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    assert network_of(model, folder).inputs == ("x",)


def test_shape_arithmetic_of_exporters_is_folded(folder: Path) -> None:
    builder = ModelBuilder("flatten", (1, 4, 3, 5))
    builder.quantise(4)
    first = {"start": helper.make_tensor("start", TensorProto.INT64, [], [0])}
    rest = {"rest": helper.make_tensor("rest", TensorProto.INT64, [1], [-1])}
    builder.initialisers.update({**first, **rest, "axes": helper.make_tensor("axes", TensorProto.INT64, [1], [0])})
    batch = builder.node("Gather", [builder.node("Shape", [builder.tensor]), "start"])
    target = builder.node("Concat", [builder.node("Unsqueeze", [batch, "axes"]), "rest"], axis=0)
    builder.tensor, builder.shape = builder.node("Reshape", [builder.tensor, target]), (1, 60)
    builder.fully_connected(7, 4)
    assert network_of(builder.model(), folder).macs == 420


def test_weights_are_found_through_reshape_and_transpose(folder: Path) -> None:
    builder = ModelBuilder("moved", (1, 6))
    builder.quantise(4)
    builder.initialisers["to"] = helper.make_tensor("to", TensorProto.INT64, [2], [3, 6])
    quantised = builder.quantised(builder.parameter((18,), 0.5), 3)
    weights = builder.node("Transpose", [builder.node("Reshape", [quantised, "to"])], perm=[1, 0])
    builder.tensor, builder.shape = builder.node("MatMul", [builder.tensor, weights]), (1, 3)
    network = network_of(builder.model(), folder)
    layer = network.operations[-1]
    assert (network.weights(layer).shape, network.weights(layer).datatype.name) == ((6, 3), "INT3")


def test_large_weights_outside_the_file_are_not_needed(folder: Path) -> None:
    builder = ModelBuilder("outside", (1, 100))
    builder.quantise(4)
    tensor = TensorProto(name="weights", data_type=TensorProto.FLOAT, dims=[10, 100])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="missing.bin")
    builder.initialisers["weights"] = tensor
    weights = builder.quantised("weights", 5)
    builder.tensor, builder.shape = builder.node("Gemm", [builder.tensor, weights], transB=1), (1, 10)
    assert network_of(builder.model(), folder).macs == 1000


def test_input_without_quantiser_is_eight_bits_and_noted(folder: Path) -> None:
    builder = ModelBuilder("raw", (1, 3, 8, 8))
    builder.conv(4, (3, 3), 4)
    network = network_of(builder.model(), folder)
    assert network.tensor("x").datatype.name == "UINT8"
    assert any("no quantiser before 'Conv_0'" in note for note in network.notes)


@pytest.mark.parametrize(
    ("automatic", "pads"), [("SAME_UPPER", (0, 1, 1, 1)), ("SAME_LOWER", (1, 1, 0, 1)), ("VALID", (0, 0, 0, 0))]
)
def test_automatic_padding_is_resolved(folder: Path, automatic: str, pads: tuple[int, ...]) -> None:
    builder = ModelBuilder("same", (1, 3, 8, 7))
    builder.quantise(4)
    builder.conv(4, (3, 3), 4, strides=(2, 2))
    del builder.nodes[-1].attribute[:]
    options = {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": automatic}
    builder.nodes[-1].attribute.extend(helper.make_attribute(key, value) for key, value in options.items())
    model = builder.model()
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    network = network_of(model, folder)
    assert network.operations[-1].integers("pads") == pads


@pytest.mark.parametrize(("inputs", "position"), [(5, 4), (6, 5)])
def test_both_versions_of_trunc_are_read(folder: Path, inputs: int, position: int) -> None:
    builder = ModelBuilder("trunc", (1, 3, 4, 4))
    builder.quantise(4, signed=False, narrow=False)
    builder.tensor, builder.shape = builder.node("GlobalAveragePool", [builder.tensor]), (1, 3, 1, 1)
    names = [builder.tensor, *[builder.constant(9.0)] * (inputs - 1)]
    names[position] = builder.constant(3.0)
    options = {"signed": 0} if inputs == 6 else {}
    builder.tensor = builder.node("Trunc", names, DOMAIN, **options)
    builder.flatten()
    builder.fully_connected(2, 4)
    network = network_of(builder.model(), folder)
    pool, trunc = network.operations[1:3]
    assert network.tensor(pool.outputs[0]).datatype.name == "UINT8"
    assert network.tensor(trunc.outputs[0]).datatype.name == "UINT3"


def test_a_quantiser_without_attributes_is_signed_and_not_narrow(folder: Path) -> None:
    builder = ModelBuilder("plain", (1, 6))
    inputs = [builder.tensor, *(builder.constant(value) for value in (1.0, 0.0, 3.0))]
    builder.tensor = builder.node("Quant", inputs, DOMAIN)
    builder.fully_connected(2, 4)
    network = network_of(builder.model(), folder)
    datatype = network.tensor(network.operations[0].outputs[0]).datatype
    assert (datatype.name, datatype.min) == ("INT3", -4)


def test_unused_nodes_and_second_names_leave_no_operation(folder: Path) -> None:
    builder = ModelBuilder("aliases", (1, 6))
    builder.quantise(4)
    builder.node("Softmax", [builder.tensor])
    builder.tensor = builder.node("Identity", [builder.node("Dropout", [builder.tensor])])
    builder.fully_connected(3, 4)
    network = network_of(builder.model(), folder)
    assert types(network) == ["quantise", "fully_connected"]
    assert network.operations[1].inputs == network.operations[0].outputs


def test_unnamed_nodes_get_unique_names(folder: Path) -> None:
    model = tfc(1, 1)
    for node in model.graph.node:
        node.name = "" if node.op_type == "Gemm" else "same"
    names = [operation.name for operation in network_of(model, folder).operations]
    assert len(set(names)) == len(names)
    assert any(name.startswith("Gemm_") for name in names)


@pytest.mark.parametrize(("axis", "is_read"), [(1, True), (2, False), (3, False)])
def test_the_largest_of_an_images_channels_is_chosen_pixel_by_pixel(tmp_path: Path, axis: int, is_read: bool) -> None:
    builder = ModelBuilder("segments", (1, 3, 6, 7))
    builder.quantise(4)
    builder.conv(5, (1, 1), 4)
    builder.tensor = builder.node("ArgMax", [builder.tensor], axis=axis, keepdims=1)
    builder.shape = tuple(1 if position == axis else size for position, size in enumerate(builder.shape))
    if is_read:
        assert types(network_of(builder.model(), tmp_path))[-1] == "top_k"
        return
    with pytest.raises(InputError, match="the largest of the channels"):
        network_of(builder.model(), tmp_path)
