"""Every dialect reads as its QONNX twin: the same engines, the same streams."""

import contextlib
from math import prod
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from examples.make_models import DOMAIN, ModelBuilder, cnv, mobilenet_v1, resnet50, tfc
from floorflow.backends.finn.lower.lowering import lower
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.network import FloatBits, Network, read
from floorflow.technology import technology_of
from tests.network.twins import to_channels_last, to_qcdq
from tests.random_family import seeds
from tests.random_models import random_chain, random_graph

PART = technology_of("xczu7ev-ffvc1156-2-e")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dialects")


def network_of(model: onnx.ModelProto, folder: Path, bits: FloatBits | None = None) -> Network:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return read(path, bits) if bits else read(path)


def dataflow_of(model: onnx.ModelProto, folder: Path) -> Dataflow:
    return lower(network_of(model, folder), PART)


def assert_twins(one: Dataflow, other: Dataflow) -> None:
    """Engines without the names of operations, which a rewriting may not keep, and streams."""
    assert [(e.name, e.kind, e.attributes, e.weight_bits) for e in one.engines] == [
        (e.name, e.kind, e.attributes, e.weight_bits) for e in other.engines
    ]
    assert one.streams == other.streams


@pytest.mark.parametrize("seed", seeds(100, few=10))
@pytest.mark.parametrize("make", [random_chain, random_graph])
def test_qcdq_reads_as_its_qonnx_twin(make, seed: int, tmp_path: Path) -> None:
    model = make(seed)
    assert_twins(dataflow_of(model, tmp_path), dataflow_of(to_qcdq(model), tmp_path))


@pytest.mark.parametrize("dialect", ["keras", "qonnx"])
@pytest.mark.parametrize("input_too", [False, True])
@pytest.mark.parametrize("make", [lambda: cnv(2, 2), lambda: mobilenet_v1(4), lambda: resnet50(2, 4, 4)])
def test_channels_last_reads_as_its_channels_first_twin(make, dialect: str, input_too: bool, tmp_path: Path) -> None:
    model = make()
    assert_twins(dataflow_of(model, tmp_path), dataflow_of(to_channels_last(model, dialect, input_too), tmp_path))


@pytest.mark.parametrize("seed", seeds(50, few=5))
@pytest.mark.parametrize("dialect", ["keras", "qonnx"])
@pytest.mark.parametrize("make", [random_chain, random_graph])
def test_random_networks_read_alike_channels_last(make, dialect: str, seed: int, tmp_path: Path) -> None:
    model = make(seed)
    assert_twins(dataflow_of(model, tmp_path), dataflow_of(to_channels_last(model, dialect, seed % 3 > 0), tmp_path))


class IntegerGraph:
    """A graph of integer operators that grows node by node; ``tensor`` is its end."""

    def __init__(self, shape: tuple[int, ...], kind: int = TensorProto.FLOAT) -> None:
        self.inputs = [helper.make_tensor_value_info("x", kind, shape)]
        self.tensor, self.nodes, self.initialisers = "x", [], []

    def constant(self, kind: int, shape: tuple[int, ...], value: float) -> str:
        name = f"constant_{len(self.initialisers)}"
        self.initialisers.append(helper.make_tensor(name, kind, shape, [value] * prod(shape)))
        return name

    def scale(self, value: float = 0.5) -> str:
        return self.constant(TensorProto.FLOAT, (), value)

    def zero(self, kind: int = TensorProto.UINT8, value: int = 0) -> str:
        return self.constant(kind, (), value)

    def add(self, op_type: str, inputs: list[str], domain: str = "", **attributes: object) -> None:
        output = f"{op_type}_{len(self.nodes)}_out"
        self.nodes.append(helper.make_node(op_type, inputs, [output], f"{op_type}_{len(self.nodes)}", **attributes))
        self.nodes[-1].domain = domain
        self.tensor = output

    def quantise(self, kind: int = TensorProto.UINT8, zero: int = 0) -> None:
        self.add("QuantizeLinear", [self.tensor, self.scale(), self.zero(kind, zero)])

    def dequantise(self, kind: int = TensorProto.UINT8) -> None:
        self.add("DequantizeLinear", [self.tensor, self.scale(), self.zero(kind)])

    def weights(self, shape: tuple[int, ...]) -> str:
        """Return stored INT8 weights behind a DequantizeLinear."""
        before = self.tensor
        self.tensor = self.constant(TensorProto.INT8, shape, 3)
        self.dequantise(TensorProto.INT8)
        made, self.tensor = self.tensor, before
        return made

    def model(self) -> onnx.ModelProto:
        outputs = [onnx.ValueInfoProto(name=self.tensor)]
        graph = helper.make_graph(self.nodes, "integers", self.inputs, outputs, self.initialisers)
        imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=imports)


def qdq_network() -> onnx.ModelProto:
    graph = IntegerGraph((1, 3, 8, 8))
    graph.quantise()
    graph.dequantise()
    graph.add("Conv", [graph.tensor, graph.weights((4, 3, 3, 3))], kernel_shape=[3, 3])
    graph.quantise()
    graph.dequantise()
    graph.add("Flatten", [graph.tensor])
    graph.add("MatMul", [graph.tensor, graph.weights((144, 5))])
    graph.quantise()
    graph.dequantise()
    return graph.model()


def qlinear_network() -> onnx.ModelProto:
    graph = IntegerGraph((1, 3, 8, 8))
    graph.quantise()
    weights = graph.constant(TensorProto.INT8, (4, 3, 3, 3), 3)
    parts = [graph.tensor, graph.scale(), graph.zero(), weights, graph.scale(), graph.zero(TensorProto.INT8)]
    graph.add("QLinearConv", [*parts, graph.scale(), graph.zero()], kernel_shape=[3, 3])
    graph.add("Flatten", [graph.tensor])
    weights = graph.constant(TensorProto.INT8, (144, 5), 3)
    parts = [graph.tensor, graph.scale(), graph.zero(), weights, graph.scale(), graph.zero(TensorProto.INT8)]
    graph.add("QLinearMatMul", [*parts, graph.scale(), graph.zero()])
    graph.dequantise()
    return graph.model()


def integer_network() -> onnx.ModelProto:
    """Onnxruntime's dynamic quantisation: scales are computed from the data."""
    graph = IntegerGraph((1, 6))
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], "dynamic")
    graph.nodes.append(node)
    weights = graph.constant(TensorProto.INT8, (6, 5), 3)
    graph.add("MatMulInteger", ["q", weights, "z", graph.zero(TensorProto.INT8)])
    graph.add("Cast", [graph.tensor], to=TensorProto.FLOAT)
    sums = graph.tensor
    graph.add("Mul", ["s", graph.scale()])
    graph.add("Mul", [sums, graph.tensor])
    return graph.model()


def test_qlinear_layers_read_as_their_qdq_twin(tmp_path: Path) -> None:
    one, other = dataflow_of(qdq_network(), tmp_path), dataflow_of(qlinear_network(), tmp_path)
    assert_twins(one, other)
    assert [e.weight_bits for e in other.engines if e.kind.startswith("MVAU")] == [8, 8]


def test_layers_on_integers_leave_their_sums_to_the_host_and_say_what_they_assume(tmp_path: Path) -> None:
    dataflow = dataflow_of(integer_network(), tmp_path)
    assert [e.kind for e in dataflow.engines] == ["Thresholding_rtl", "MVAU_rtl"]
    assert any("scale computed from the data" in note and "'dynamic'" in note for note in dataflow.notes)


def test_stored_integers_have_the_type_of_their_zero_point_or_their_own(tmp_path: Path) -> None:
    network = network_of(qdq_network(), tmp_path)
    assert {network.weights(layer).datatype.name for layer in network.layers} == {"INT8"}
    assert [network.tensor(layer.inputs[0]).datatype.name for layer in network.layers] == ["UINT8", "UINT8"]


def test_onnxruntimes_own_operators_read_as_plain_ones(tmp_path: Path) -> None:
    graph = IntegerGraph((1, 3, 4, 4), TensorProto.UINT8)
    parameters = [graph.scale(), graph.zero()]
    graph.add("QLinearConcat", [*parameters, "x", *parameters, "x", *parameters], "com.microsoft", axis=1)
    graph.add("QLinearAdd", [graph.tensor, *parameters, graph.tensor, *parameters, *parameters], "com.microsoft")
    pool = [graph.tensor, *parameters, *parameters]
    graph.add("QLinearGlobalAveragePool", pool, "com.microsoft", channels_last=0)
    graph.add("Flatten", [graph.tensor])
    weights = graph.constant(TensorProto.INT8, (6, 5), 3)
    parts = [graph.tensor, *parameters, weights, graph.scale(), graph.zero(TensorProto.INT8)]
    graph.add("QGemm", [*parts, "", *parameters], "com.microsoft")
    network = network_of(graph.model(), tmp_path)
    types = [o.type for o in network.operations if o.type != "quantise"]
    assert types == ["concat", "add", "average_pool", "flatten", "fully_connected"]
    assert network.tensor(network.outputs[0]).datatype.name == "UINT8"


@pytest.mark.parametrize("last", [0, 1])
def test_onnxruntimes_own_operators_may_be_channels_last(tmp_path: Path, last: int) -> None:
    graph = IntegerGraph((1, 8, 6, 3) if last else (1, 3, 8, 6))
    graph.quantise()
    weights = graph.constant(TensorProto.INT8, (4, 3, 3, 3), 3)
    parts = [graph.tensor, graph.scale(), graph.zero(), weights, graph.scale(), graph.zero(TensorProto.INT8)]
    own = "com.microsoft"
    graph.add("QLinearConv", [*parts, graph.scale(), graph.zero()], own, kernel_shape=[3, 3], channels_last=last)
    pool = [graph.tensor, graph.scale(), graph.zero(), graph.scale(), graph.zero()]
    graph.add("QLinearGlobalAveragePool", pool, own, channels_last=last)
    network = network_of(graph.model(), tmp_path)
    shapes = [network.tensor(o.outputs[0]).shape for o in network.operations if o.type in ("conv", "average_pool")]
    assert shapes == [(1, 4, 6, 4), (1, 4, 1, 1)]


def test_zero_points_are_noted(tmp_path: Path) -> None:
    graph = IntegerGraph((1, 6))
    graph.quantise(zero=12)
    graph.dequantise()
    graph.add("MatMul", [graph.tensor, graph.weights((6, 5))])
    assert any("zero points" in note for note in network_of(graph.model(), tmp_path).notes)


def test_a_quantiser_to_no_known_integers_is_refused(tmp_path: Path) -> None:
    graph = IntegerGraph((1, 6))
    graph.add("QuantizeLinear", ["x", graph.scale(), graph.constant(TensorProto.FLOAT, (), 0.0)])
    graph.dequantise()
    graph.add("MatMul", [graph.tensor, graph.weights((6, 5))])
    with pytest.raises(InputError, match=r"'QuantizeLinear_0' .*no integer type"):
        network_of(graph.model(), tmp_path)


def test_channels_last_constants_meet_their_channels(tmp_path: Path) -> None:
    """Scales of (channels,) and of (1, 1, 1, channels) read as one value a channel."""
    builder = ModelBuilder("scaled", (1, 6, 6, 3))
    weights = builder.quantised(builder.parameter((4, 3, 3, 3), 0.5), 4)
    builder.quantise(8)
    builder.tensor = builder.node(
        "Conv", [builder.tensor, weights], "qonnx.custom_op.channels_last", kernel_shape=[3, 3]
    )
    for name, shape in (("flat", (4,)), ("full", (1, 1, 1, 4))):
        builder.initialisers[name] = helper.make_tensor(name, TensorProto.FLOAT, shape, [1.0, 2.0, 3.0, 4.0])
        builder.tensor = builder.node("Mul", [builder.tensor, name])
    builder.shape = (1, 4, 4, 4)
    builder.quantise(4, signed=False, narrow=False)
    network = network_of(builder.model(), tmp_path)
    assert network.tensor(network.inputs[0]).shape == (1, 3, 6, 6)
    assert [o.attributes["elements"] for o in network.operations if o.type == "affine"] == [4, 4]


def float_network() -> onnx.ModelProto:
    builder = ModelBuilder("floats", (1, 3, 8, 8))
    for channels in (4, 5, 6):
        weights = builder.parameter((channels, builder.shape[1], 3, 3), 0.5)
        builder.tensor = builder.node("Conv", [builder.tensor, weights], kernel_shape=[3, 3])
        builder.shape = (1, channels, builder.shape[2] - 2, builder.shape[3] - 2)
        if channels == 4:
            builder.relu()
    return builder.model()


def test_float_networks_take_eight_bits_unless_told_otherwise(tmp_path: Path) -> None:
    network = network_of(float_network(), tmp_path)
    assert [network.weights(o).datatype.name for o in network.layers] == ["INT8"] * 3
    # Raw data stays raw; behind a ReLU activations are unsigned, without one they are signed.
    assert [network.tensor(o.inputs[0]).datatype.name for o in network.layers] == ["UINT8", "UINT8", "INT8"]
    assert any("no quantisers" in note and "--weight-bits" in note for note in network.notes)


def test_float_networks_take_the_bits_that_were_asked_for(tmp_path: Path) -> None:
    network = network_of(float_network(), tmp_path, FloatBits(weights=3, activations=5))
    assert [network.weights(o).datatype.bits for o in network.layers] == [3, 3, 3]
    assert [network.tensor(o.inputs[0]).datatype.name for o in network.layers] == ["UINT8", "UINT5", "INT5"]
    lower(network, PART)


def test_bits_for_a_quantised_network_are_said_to_have_no_effect(tmp_path: Path) -> None:
    plain = network_of(tfc(2, 2), tmp_path)
    told = network_of(tfc(2, 2), tmp_path, FloatBits(weights=3))
    assert told.operations == plain.operations
    assert any("no effect" in note for note in told.notes)


@pytest.mark.parametrize("op_type", ["HardSwish", "Sigmoid"])
def test_activations_without_an_engine_are_read_and_refused_by_name_when_lowered(tmp_path: Path, op_type: str) -> None:
    builder = ModelBuilder("functions", (1, 6))
    builder.quantise(4)
    builder.fully_connected(5, 4)
    builder.tensor = builder.node(op_type, [builder.tensor])
    builder.quantise(4)
    builder.fully_connected(3, 4)
    model = builder.model()
    model.opset_import[0].version = 14
    network = network_of(model, tmp_path)
    assert len(network.layers) == 2
    with pytest.raises(InputError, match=rf"'{op_type}_0' .*no engine computes {op_type}"):
        lower(network, PART)


def test_a_last_activation_stays_on_the_host(tmp_path: Path) -> None:
    builder = ModelBuilder("last", (1, 6))
    builder.quantise(4)
    builder.fully_connected(5, 4)
    builder.tensor = builder.node("Sigmoid", [builder.tensor])
    assert any("'Sigmoid_0'" in note for note in dataflow_of(builder.model(), tmp_path).notes)


def test_products_of_data_are_read_and_refused_when_lowered(tmp_path: Path) -> None:
    builder = ModelBuilder("gate", (1, 6))
    builder.quantise(4)
    builder.tensor = builder.node("Mul", [builder.tensor, builder.tensor])
    builder.quantise(4)
    builder.fully_connected(3, 4)
    network = network_of(builder.model(), tmp_path)
    with pytest.raises(InputError, match=r"'Mul_0' .*FINN main has no engine"):
        lower(network, PART)


DIALECTS = {
    "qcdq": lambda: to_qcdq(tfc(2, 2)),
    "qlinear": qlinear_network,
    "dynamic": integer_network,
    "channels_last": lambda: to_channels_last(cnv(2, 2), "qonnx", input_too=False),
    "floats": float_network,
    "keras": lambda: to_channels_last(random_graph(3), "keras"),
}


@pytest.mark.parametrize("name", sorted(DIALECTS))
@given(damage=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_files_of_a_dialect_end_in_a_network_or_an_input_error(
    name: str, damage: list[tuple[float, int]], folder: Path
) -> None:
    data = bytearray(DIALECTS[name]().SerializeToString())
    for position, byte in damage:
        data[int(position * (len(data) - 1))] = byte
    path = folder / "damaged.onnx"
    path.write_bytes(bytes(data))
    with contextlib.suppress(InputError):
        assert read(path).operations


class Floats(ModelBuilder):
    """A network without quantisers."""

    def layer(self, channels: int = 4, *, norm: bool = False) -> str:
        """Append a 3x3 convolution that keeps the size, and return what it makes."""
        weights = self.parameter((channels, self.shape[1], 3, 3), 0.5)
        self.tensor = self.node("Conv", [self.tensor, weights], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        self.shape = (1, channels, *self.shape[2:])
        if norm:
            self.batch_norm()
        return self.tensor

    def block(self) -> str:
        """Append two layers with ReLUs, and return what the first made before its own."""
        first = self.layer()
        self.relu()
        self.layer()
        self.relu()
        return first

    def average(self) -> None:
        self.tensor, self.shape = self.node("GlobalAveragePool", [self.tensor]), (*self.shape[:2], 1, 1)

    def dense(self) -> None:
        self.flatten()
        self.tensor = self.node("Gemm", [self.tensor, self.parameter((3, self.shape[1]), 0.5)], transB=1)
        self.shape = (1, 3)


def add_and_pool(floats: Floats) -> None:
    floats.add(floats.block())
    floats.max_pool((4, 4), (4, 4))


def add_twice(floats: Floats) -> None:
    first = floats.block()
    second = floats.tensor
    floats.add(first)
    floats.add(second)


def add_three(floats: Floats) -> None:
    first = floats.block()
    floats.tensor = floats.node("Sum", [floats.tensor, first, floats.layer()])


def add_and_average(floats: Floats) -> None:
    floats.add(floats.block())
    floats.average()


def averaged_gate(floats: Floats) -> None:
    floats.block()
    first = floats.tensor
    floats.average()
    floats.tensor = floats.node("Mul", [first, floats.tensor])
    floats.shape = (1, 4, 8, 8)


def average_and_add(floats: Floats) -> None:
    floats.block()
    floats.average()
    first = floats.tensor
    floats.tensor = floats.node("Conv", [first, floats.parameter((4, 4, 1, 1), 0.5)], kernel_shape=[1, 1])
    floats.relu()
    floats.add(first)


def input_added(floats: Floats) -> None:
    floats.layer(3)
    floats.relu()
    floats.add("x")


def norm_and_pool(floats: Floats) -> None:
    floats.layer(norm=True)
    floats.max_pool((2, 2), (2, 2))


def norm_at_the_end(floats: Floats) -> None:
    floats.layer(norm=True)


def add_and_layer(floats: Floats) -> None:
    floats.add(floats.block())
    floats.layer()


def average_and_dense(floats: Floats) -> None:
    floats.block()
    floats.average()
    floats.dense()


TAILS = (
    *(add_and_pool, add_twice, add_and_average, averaged_gate, average_and_add, input_added, norm_and_pool),
    *(add_three, norm_at_the_end, add_and_layer, average_and_dense),
)
FILLED = TAILS[:7]
"""Those in which engines would have to read floats, and no layer follows that would have a quantiser."""


@pytest.mark.parametrize("make", TAILS)
def test_what_no_quantiser_follows_in_a_float_network_is_quantised_as_all_else_is(make, tmp_path: Path) -> None:
    floats = Floats("tail", (1, 3, 8, 8))
    make(floats)
    found = lower(network_of(floats.model(), tmp_path, FloatBits(activations=6)), PART, finn="dev")
    assert any("read in 6 bits too" in note for note in found.notes) == (make in FILLED)
    if make in FILLED:
        sums = [e for e in found.engines if e.kind.startswith(("Elementwise", "Pool"))]
        assert sums
        assert all(e.input_bits <= 9 for e in sums)


def test_in_a_quantised_network_a_missing_activation_is_still_asked_for(tmp_path: Path) -> None:
    builder = ModelBuilder("own", (1, 3, 8, 8))
    builder.quantise(4, signed=False)
    builder.conv(4, (1, 1), 4)
    first = builder.tensor
    builder.relu()
    builder.add(first)
    with pytest.raises(InputError, match="no quantiser follows"):
        dataflow_of(builder.model(), tmp_path)


def converted(layer: str = "MatMul", *, weights: str = "INT2") -> onnx.ModelProto:
    """Return a network as FINN's first steps leave it: thresholds, scales behind them, integers by annotation."""
    graph = IntegerGraph((1, 16))
    steps = {"first": (1, 15), "second": (8, 3)}
    for name, shape in steps.items():
        graph.initialisers.append(helper.make_tensor(name, TensorProto.FLOAT, shape, [0.5] * prod(shape)))
    for name, shape in {"w0": (16, 8), "w1": (8, 4)}.items():
        graph.initialisers.append(helper.make_tensor(name, TensorProto.FLOAT, shape, [1.0] * prod(shape)))
    graph.add("MultiThreshold", [graph.tensor, "first"], DOMAIN, out_dtype="INT4", out_bias=0.0)
    graph.add("Add", [graph.tensor, graph.scale(-8.0)])
    graph.add("Mul", [graph.tensor, graph.scale(0.25)])
    graph.add(layer, [graph.tensor, "w0"], DOMAIN if layer != "MatMul" else "")
    graph.add("MultiThreshold", [graph.tensor, "second"], DOMAIN, out_dtype="UINT2")
    graph.add("MatMul", [graph.tensor, "w1"])
    model = graph.model()
    for name, datatype in (("x", "UINT4"), ("w0", weights), ("w1", "TERNARY")):
        annotation = model.graph.quantization_annotation.add(tensor_name=name)
        annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=datatype)
    return model


def test_annotated_weights_and_thresholds_read_as_the_quantisers_that_they_were(tmp_path: Path) -> None:
    builder = ModelBuilder("twin", (1, 16))
    builder.quantise(4, narrow=False)
    builder.tensor = builder.node("MatMul", [builder.tensor, builder.quantised(builder.parameter((16, 8), 0.5), 2)])
    builder.relu()
    builder.quantise(2, signed=False, narrow=False)
    builder.tensor = builder.node("MatMul", [builder.tensor, builder.quantised(builder.parameter((8, 4), 0.5), 2)])
    builder.shape = (1, 4)
    made, wanted = dataflow_of(converted(), tmp_path), dataflow_of(builder.model(), tmp_path)
    by_annotation = {"inputDataType": "UINT4", "weightDataType": "UINT4"}
    assert made.engines[0].attributes == {**wanted.engines[0].attributes, **by_annotation}
    kept = {"accDataType": ""}  # of full weights, where the twin's are narrow
    assert [{**e.attributes, **kept} for e in made.engines[1:]] == [
        {**e.attributes, **kept} for e in wanted.engines[1:]
    ]


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (converted("Im2Col"), r"layers no more and engines not yet: .*\(Im2Col\)"),
        (converted("XnorPopcountMatMul"), r"layers no more and engines not yet: .*\(XnorPopcountMatMul\)"),
        (converted(weights="FLOAT32"), "no finn_datatype says which integers they are: 'w0'"),
    ],
    ids=["windows", "binary", "untyped"],
)
def test_a_model_between_two_of_finns_steps_is_refused_as_such(model, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"between two of its steps, with .*{what}") as caught:
        network_of(model, tmp_path)
    assert "step_create_dataflow_partition" in caught.value.hint
