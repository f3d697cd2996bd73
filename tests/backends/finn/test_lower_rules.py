"""Lowering: what holds for every chain, types against brute force, and one error for each thing without engine."""

from collections.abc import Callable
from itertools import product
from math import prod
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.make_models import ModelBuilder, tfc
from floorflow.backends.finn.lower.lowering import lower
from floorflow.backends.finn.lower.state import accumulator
from floorflow.errors import InputError
from floorflow.network import read
from floorflow.network.datatype import BIPOLAR, TERNARY, DataType, integer
from tests.backends.finn.test_lower import PYNQ, ZCU104, dataflow_of
from tests.random_models import random_chain


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chains")


@given(st.integers(0, 10**6), st.sampled_from([ZCU104, PYNQ]))
def test_random_chains_become_one_pipeline_that_computes_every_mac(folder: Path, seed: int, technology: object) -> None:
    path = folder / "chain.onnx"
    path.write_bytes(random_chain(seed).SerializeToString())
    network = read(path)
    dataflow = lower(network, technology)  # type: ignore[arg-type]
    names = [engine.name for engine in dataflow.engines]
    assert len(set(names)) == len(names)
    assert [s.source for s in dataflow.streams] == ["host:in0", *names]
    assert [s.target for s in dataflow.streams] == [*names, "host:out0"]
    for before, engine, after in zip(dataflow.streams, dataflow.engines, dataflow.streams[1:], strict=False):
        assert (before.element_bits, after.element_bits) == (engine.input_bits, engine.output_bits)
        assert after.elements % after.last_dimension == 0
    macs: dict[str, int] = {}
    for engine in dataflow.engines:
        if engine.kind.startswith("MVAU"):
            a = engine.attributes
            macs[engine.operation] = int(a["MW"]) * int(a["MH"]) * prod(a["numInputVectors"])  # type: ignore[arg-type]
    assert macs == {operation.name: operation.macs for operation in network.operations if operation.macs}


TYPES = (
    BIPOLAR,
    TERNARY,
    integer(2, signed=True),
    integer(2, signed=True, narrow=True),
    integer(3, signed=True),
    integer(2, signed=False),
    integer(3, signed=False),
)


@pytest.mark.parametrize("weights", TYPES)
@pytest.mark.parametrize("data", TYPES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_accumulators_hold_every_sum_in_the_fewest_bits(count: int, data: DataType, weights: DataType) -> None:
    products = {a * b for a, b in product(range(data.min, data.max + 1), range(weights.min, weights.max + 1))}
    sums = {sum(terms) for terms in product(products, repeat=count)}
    datatype = accumulator(count, data, weights, xnor=False)
    assert datatype.min <= min(sums)
    assert max(sums) <= datatype.max
    if datatype.bits > 2:
        less = integer(datatype.bits - 1, signed=datatype.signed)
        assert min(sums) < less.min or max(sums) > less.max


@pytest.mark.parametrize(("count", "bits"), [(1, 2), (3, 2), (4, 3), (64, 7), (512, 10), (784, 10), (1024, 11)])
def test_xnor_accumulators_have_the_bits_of_a_count(count: int, bits: int) -> None:
    assert accumulator(count, BIPOLAR, BIPOLAR, xnor=True).bits == bits


def image(bits: int = 2, *, signed: bool = False) -> ModelBuilder:
    builder = ModelBuilder("refused", (1, 4, 8, 8))
    builder.quantise(bits, signed=signed, narrow=False)
    return builder


def bipolar_sum() -> onnx.ModelProto:
    builder = image(1, signed=True)
    builder.add(builder.tensor)
    builder.quantise(4)
    return builder.model()


def bipolar_average() -> onnx.ModelProto:
    builder = image(1, signed=True)
    builder.average_pool((2, 2), (2, 2))
    builder.quantise(4)
    return builder.model()


def unquantised_sum() -> onnx.ModelProto:
    builder = image()
    first, shape = builder.tensor, builder.shape
    builder.conv(4, (1, 1), 2)
    builder.relu()
    builder.add(first)
    builder.shape = shape
    return builder.model()


def layer_behind_the_host() -> onnx.ModelProto:
    builder = image()
    builder.conv(4, (1, 1), 2)
    builder.tensor = builder.node("Softmax", [builder.tensor])
    builder.quantise(4)
    return builder.model()


def bipolar_padding() -> onnx.ModelProto:
    builder = image(1, signed=True)
    builder.conv(3, (3, 3), 1, pads=(1, 1, 1, 1))
    return builder.model()


def grouped() -> onnx.ModelProto:
    builder = image()
    builder.conv(4, (3, 3), 2, group=2)
    return builder.model()


def wide_activation() -> onnx.ModelProto:
    builder = image()
    builder.conv(4, (3, 3), 2)
    builder.quantise(9)
    builder.conv(2, (1, 1), 2)
    return builder.model()


def max_pool(*, signed: bool = False, **attributes: list[int] | int) -> onnx.ModelProto:
    builder = image(signed=signed)
    builder.tensor = builder.node("MaxPool", [builder.tensor], **attributes)
    model = builder.model()
    model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info(builder.tensor, onnx.TensorProto.FLOAT, None))
    return model


def float_pool() -> onnx.ModelProto:
    builder = image()
    builder.conv(4, (3, 3), 2)
    builder.max_pool((2, 2), (2, 2))
    builder.batch_norm()
    builder.max_pool((3, 3), (3, 3))
    return builder.model()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (bipolar_sum, ("'Add_0' (add)", "-1 and 1")),
        (bipolar_average, ("'AveragePool_0' (average_pool)", "-1 and 1")),
        (unquantised_sum, ("'Add_0' (add)", "'Relu_0'", "no quantiser follows")),
        (layer_behind_the_host, ("(quantise)", "'Softmax_0'", "no engine")),
        (bipolar_padding, ("'Conv_0' (conv)", "BIPOLAR")),
        (grouped, ("'Conv_0' (conv)", "2 groups")),
        (wide_activation, ("(quantise)", "9 bits", "limit is 8")),
        (lambda: max_pool(kernel_shape=[2, 2], strides=[3, 3]), ("'MaxPool_0' (max_pool)", "exceed its kernel")),
        (lambda: max_pool(kernel_shape=[2, 2], dilations=[2, 2]), ("(max_pool)", "dilation")),
        (lambda: max_pool(signed=True, kernel_shape=[3, 3], pads=[1, 1, 1, 1]), ("(max_pool)", "pads signed")),
        (float_pool, ("'MaxPool_1' (max_pool)", "pools float values")),
    ],
)
def test_what_has_no_engine_names_operation_and_reason(
    tmp_path: Path, make: Callable[[], onnx.ModelProto], words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        dataflow_of(make(), tmp_path)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert caught.value.hint
    assert caught.value.exit_code == 2


def test_label_select_on_request_refuses_to_stand_before_a_bias(tmp_path: Path) -> None:
    model = tfc(2, 2)
    bias = onnx.helper.make_tensor("bias", onnx.TensorProto.FLOAT, [10], [0.5] * 10)
    model.graph.initializer.append(bias)
    model.graph.node[-1].input[1] = "bias"
    with pytest.raises(InputError, match=r"'Add_0'.*largest"):
        dataflow_of(model, tmp_path, labels=True)


def selu(*, signed: bool = True, narrow: bool = False, scale: bool = False, layer: bool = True) -> onnx.ModelProto:
    builder = image()
    builder.conv(4, (3, 3), 2)
    builder.tensor = builder.node("Selu", [builder.tensor])
    if scale:
        builder.scale("Mul", 0.5)
    if layer:
        builder.quantise(3, signed=signed, narrow=narrow)
        builder.conv(2, (1, 1), 2)
    return builder.model()


def test_thresholds_take_selu_over_ahead_of_a_signed_quantiser(tmp_path: Path) -> None:
    found = dataflow_of(selu(), tmp_path)
    assert next(e.attributes["outputDataType"] for e in found.engines if e.kind == "MVAU_hls") == "INT3"
    assert len([e for e in found.engines if e.kind.startswith("Thresholding")]) == 1
    assert any("host" in note and "'Selu_0'" in note for note in dataflow_of(selu(layer=False), tmp_path).notes)


@pytest.mark.parametrize("how", [{"signed": False}, {"narrow": True}, {"scale": True}])
def test_what_finn_makes_no_thresholds_of_selu_for_is_refused(how: dict[str, bool], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'Selu_0' \(Selu\).* signed quantiser of full range"):
        dataflow_of(selu(**how), tmp_path)
