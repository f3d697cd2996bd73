"""Lowering of networks with branches: every port joined once, FINN's engines around forks and joins."""

from collections import Counter
from math import prod
from pathlib import Path
from typing import get_args

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.make_models import ModelBuilder
from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.lower.lowering import lower
from floorflow.backends.finn.names import FinnVersion
from floorflow.backends.finn.read.ports import input_type
from floorflow.dataflow.model import Dataflow, Engine
from floorflow.network import read
from floorflow.technology import Technology
from tests.backends.finn.ports import elements
from tests.backends.finn.test_lower import PYNQ, VERSAL, ZCU104, dataflow_of, engines, kinds, values
from tests.random_models import random_graph

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SWG = "ConvolutionInputGenerator_rtl"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


def assert_every_port_is_joined_once(dataflow: Dataflow) -> None:
    expected: Counter[tuple[str, str, int, int]] = Counter()
    for engine in dataflow.engines:
        inputs, outputs = elements(engine)
        expected.update(("in", engine.name, port, count) for port, count in enumerate(inputs))
        expected.update(("out", engine.name, port, count) for port, count in enumerate(outputs))
    found: Counter[tuple[str, str, int, int]] = Counter()
    for stream in dataflow.streams:
        if not stream.to_outside:
            found["in", stream.target, stream.target_port, stream.elements] += 1
        if not stream.from_outside:
            found["out", stream.source, stream.source_port, stream.elements] += 1
    assert found == expected


def assert_connected_in_order(dataflow: Dataflow, inputs: int, outputs: int) -> None:
    order = {engine.name: index for index, engine in enumerate(dataflow.engines)}
    assert len(order) == len(dataflow.engines)
    inner = [s for s in dataflow.streams if not s.from_outside and not s.to_outside]
    assert all(order[stream.source] < order[stream.target] for stream in inner)
    graph = nx.Graph((stream.source, stream.target) for stream in dataflow.streams)
    graph.add_nodes_from(order)
    hosts = {node for node in graph if node not in order}
    assert hosts == {f"host:in{i}" for i in range(inputs)} | {f"host:out{i}" for i in range(outputs)}
    assert nx.is_connected(graph)


@given(st.integers(0, 10**6), st.sampled_from([ZCU104, PYNQ, VERSAL]), st.sampled_from(get_args(FinnVersion)))
def test_random_networks_become_one_graph_that_computes_every_mac(
    folder: Path, seed: int, technology: Technology, finn: FinnVersion
) -> None:
    path = folder / "graph.onnx"
    path.write_bytes(random_graph(seed).SerializeToString())
    network = read(path)
    dataflow = lower(network, technology, finn=finn)
    assert all(finn in KINDS[engine.kind].versions for engine in dataflow.engines) or any(
        "development" in note for note in dataflow.notes
    )
    assert_every_port_is_joined_once(dataflow)
    assert_connected_in_order(dataflow, len(network.inputs), len(network.outputs))
    bits = {engine.name: (engine.input_bits, engine.output_bits) for engine in dataflow.engines}
    for stream in dataflow.streams:
        assert stream.elements % stream.last_dimension == 0
        assert stream.from_outside or stream.element_bits == bits[stream.source][1]
        if not stream.to_outside:
            assert stream.element_bits == taken_bits(dataflow.engine(stream.target), stream.target_port)
    macs: Counter[str] = Counter()
    for engine in dataflow.engines:
        if engine.kind.startswith(("MVAU", "VVAU")):
            per_element = engine.attributes.get("MW") or prod(engine.attributes["Kernel"])  # type: ignore[arg-type]
            macs[engine.operation] += elements(engine)[1][0] * int(per_element)  # type: ignore[arg-type]
    assert macs == {operation.name: operation.macs for operation in network.operations if operation.macs}


def taken_bits(engine: Engine, port: int) -> int:
    """Return the bits of an input: kinds that join streams of several types name each."""
    joins = "lhs_dtype" in engine.attributes or "inputDataTypes" in engine.attributes
    return input_type(engine.attributes, port).bits if joins else engine.input_bits


def image(channels: int = 4, size: int = 8, bits: int = 4, *, signed: bool = False) -> ModelBuilder:
    builder = ModelBuilder("image", (1, channels, size, size))
    builder.quantise(bits, signed=signed, narrow=False)
    return builder


def basic_block(builder: ModelBuilder, channels: int, stride: int) -> None:
    """Append a block of Brevitas' ResNet-18: every branch has its own quantised ReLU."""
    start, shape = builder.tensor, builder.shape
    builder.conv(channels, (3, 3), 4, strides=(stride, stride), pads=(1, 1, 1, 1))
    builder.activation(4)
    builder.conv(channels, (3, 3), 4, pads=(1, 1, 1, 1))
    builder.activation(4)
    main = builder.tensor
    if stride > 1:
        builder.tensor, builder.shape = start, shape
        builder.conv(channels, (1, 1), 4, strides=(stride, stride))
        builder.activation(4)
        start = builder.tensor
    builder.tensor = main
    builder.add(start)
    builder.relu()
    builder.quantise(4, signed=False, narrow=False)


def test_residual_blocks_are_finns_resnet18(tmp_path: Path) -> None:
    """Rows of FINN+'s dataflow graph of Brevitas' ResNet-18, whose ElementwiseAdd is AddStreams here."""
    builder = image(64, 32)
    basic_block(builder, 64, 1)
    basic_block(builder, 128, 2)
    dataflow = dataflow_of(builder.model(), tmp_path)
    conv = ["FMPadding_rtl", SWG, "MVAU_rtl", "Thresholding_rtl"]
    plain = ["DuplicateStreams_hls", *conv, *conv, "AddStreams_hls", "Thresholding_rtl"]
    side_by_side = [conv[0], *(kind for pair in zip(conv[1:], conv[1:], strict=True) for kind in pair)]
    strided = ["DuplicateStreams_hls", *side_by_side, *conv, "AddStreams_hls", "Thresholding_rtl"]
    assert kinds(dataflow) == ["Thresholding_rtl", *plain, *strided]
    duplicate, add = engines(dataflow, "DuplicateStreams_hls")[0], engines(dataflow, "AddStreams_hls")[1]
    keys = ("NumChannels", "NumOutputStreams", "inputDataType", "numInputVectors")
    assert values(duplicate, *keys) == (64, 2, "UINT4", (1, 32, 32))
    assert values(add, "NumChannels", "inputDataType", "numInputVectors") == (128, "UINT4", (1, 16, 16))
    after = dataflow.engines[-1]
    assert values(after, "inputDataType", "outputDataType", "numSteps") == ("UINT5", "UINT4", 15)
    skip = next(s for s in dataflow.streams if s.source == duplicate.name and s.source_port == 1)
    assert (skip.target, skip.target_port, skip.last_dimension) == ("AddStreams_hls_0", 1, 64)
    assert not any("scales" in note for note in dataflow.notes)


def test_the_resnet50_example_forks_and_adds_as_finns() -> None:
    """FINN's published ResNet-50 has as many adds, duplicates and paddings, and the same sizes of sums."""
    dataflow = lower(read(EXAMPLES / "resnet50_w1a2.onnx"), ZCU104)
    assert Counter(kinds(dataflow))["DuplicateStreams_hls"] == 16
    assert Counter(kinds(dataflow))["FMPadding_rtl"] == 18
    sums = [values(add, "NumChannels", "numInputVectors") for add in engines(dataflow, "AddStreams_hls")]
    sizes = ((256, 56, 3), (512, 28, 4), (1024, 14, 6), (2048, 7, 3))
    assert sums == [(channels, (1, size, size)) for channels, size, count in sizes for _ in range(count)]
    assert not any("scales" in note for note in dataflow.notes)


def test_branches_without_quantisers_are_added_as_accumulators(tmp_path: Path) -> None:
    builder = image()
    start = builder.tensor
    builder.conv(4, (1, 1), 4)
    builder.batch_norm()
    main, builder.tensor = builder.tensor, start
    builder.conv(4, (1, 1), 2)
    builder.add(main)
    builder.relu()
    builder.quantise(4, signed=False, narrow=False)
    dataflow = dataflow_of(builder.model(), tmp_path, "xc7z020clg400-1")
    assert kinds(dataflow)[1:] == ["DuplicateStreams_hls", "MVAU_rtl", "MVAU_hls", "AddStreams_hls", "Thresholding_rtl"]
    first, second = dataflow.engines[2:4]
    assert first.attributes["outputDataType"] == second.attributes["outputDataType"] == "INT10"
    assert values(dataflow.engines[4], "inputDataType") == ("INT10",)
    assert dataflow.engines[5].attributes["inputDataType"] == "INT11"
    assert any("'Add_0'" in note and "scales" in note for note in dataflow.notes)


def test_a_narrower_quantised_branch_is_widened_by_an_engine(tmp_path: Path) -> None:
    builder = image(bits=2)
    start = builder.tensor
    builder.conv(4, (3, 3), 2, pads=(1, 1, 1, 1))
    builder.add(start)
    builder.quantise(4)
    dataflow = dataflow_of(builder.model(), tmp_path)
    add = dataflow.engines[-2]
    (widening,) = [e for e in dataflow.engines if "Func" in e.attributes]
    keys = ("Func", "NumChannels", "inputDataType", "paramDataType", "outputDataType")
    assert values(widening, *keys) == ("mul", 4, "UINT2", "INT6", "INT8")
    assert (widening.output_bits, add.attributes["inputDataType"], add.output_bits) == (8, "INT8", 9)


@pytest.mark.parametrize("finn", ["dev", "plus"])
def test_newer_finns_add_and_join_streams_of_different_types(tmp_path: Path, finn: FinnVersion) -> None:
    builder = image(bits=2)
    start = builder.tensor
    builder.conv(4, (3, 3), 2, pads=(1, 1, 1, 1))
    builder.add(start)
    builder.quantise(4)
    builder.tensor = builder.node("Concat", [builder.tensor, start], axis=1)
    builder.shape = (1, 8, 8, 8)
    (tmp_path / "model.onnx").write_bytes(builder.model().SerializeToString())
    dataflow = lower(read(tmp_path / "model.onnx"), ZCU104, finn=finn)
    (add,), (joined,) = engines(dataflow, "ElementwiseAdd_hls"), engines(dataflow, "StreamingConcat_hls")
    assert values(add, "lhs_dtype", "rhs_dtype", "out_dtype") == ("INT8", "UINT2", "INT9")
    assert values(add, "lhs_style", "lhs_shape", "out_shape") == ("input", (1, 8, 8, 4), (1, 8, 8, 4))
    assert values(joined, "inputDataTypes", "ChannelsPerStream") == (("INT4", "UINT2"), (4, 4))
    assert (joined.output_bits, engines(dataflow, "ChannelwiseOp_hls")) == (4, [])


@pytest.mark.parametrize("finn", ["dev", "plus"])
def test_newer_finns_pool_windows_and_upsample_any_image(tmp_path: Path, finn: FinnVersion) -> None:
    builder = image()
    builder.max_pool((2, 2), (2, 2))
    (tmp_path / "model.onnx").write_bytes(builder.model().SerializeToString())
    dataflow = lower(read(tmp_path / "model.onnx"), ZCU104, finn=finn)
    assert kinds(dataflow)[-2:] == [SWG, "Pool_hls"]
    assert dataflow.engines[-2].attributes["depthwise"] == 1


def test_sums_of_many_are_trees(tmp_path: Path) -> None:
    builder = image()
    names = [builder.tensor]
    for _ in range(3):
        builder.quantise(4, signed=False, narrow=False)
        builder.tensor = builder.node("Sum", [builder.tensor, names[0], names[0]])
        builder.quantise(4, signed=False, narrow=False)
    adds = engines(dataflow_of(builder.model(), tmp_path), "AddStreams_hls")
    assert [add.operation for add in adds] == [f"Sum_{i // 2}" for i in range(6)]
    assert [add.attributes["inputDataType"] for add in adds] == ["UINT4", "UINT5"] * 3


def bipolar_fork(second_bits: int) -> ModelBuilder:
    builder = image(bits=1, signed=True)
    start, shape = builder.tensor, builder.shape
    builder.conv(2, (1, 1), 1)
    left, builder.tensor, builder.shape = builder.tensor, start, shape
    builder.conv(2, (1, 1), second_bits)
    builder.add(left)
    return builder


@pytest.mark.parametrize(("second_bits", "name", "xnor"), [(1, "BINARY", {1}), (2, "BIPOLAR", {0})])
def test_all_readers_of_one_bit_data_agree_on_its_type(
    tmp_path: Path, second_bits: int, name: str, xnor: set[int]
) -> None:
    dataflow = dataflow_of(bipolar_fork(second_bits).model(), tmp_path)
    assert dataflow.engines[0].attributes["outputDataType"] == name
    assert engines(dataflow, "DuplicateStreams_hls")[0].attributes["inputDataType"] == name
    assert {unit.attributes["binaryXnorMode"] for unit in engines(dataflow, "MVAU_hls")} == xnor


def test_several_inputs_and_outputs_are_numbered(tmp_path: Path) -> None:
    builder = image()
    first = builder.tensor
    builder.inputs.append(type(builder.inputs[0])())
    builder.inputs[-1].CopyFrom(builder.inputs[0])
    builder.inputs[-1].name, builder.tensor = "y", "y"
    builder.quantise(4, signed=False, narrow=False)
    builder.add(first)
    model = builder.model()
    model.graph.output.append(type(model.graph.output[0])())
    model.graph.output[-1].CopyFrom(model.graph.output[0])
    model.graph.output[-1].name = first
    dataflow = dataflow_of(model, tmp_path)
    ends = {(s.source, s.target) for s in dataflow.streams if s.from_outside or s.to_outside}
    assert ends == {
        ("host:in0", "Thresholding_rtl_0"),
        ("host:in1", "Thresholding_rtl_1"),
        ("AddStreams_hls_0", "host:out0"),
        ("DuplicateStreams_hls_0", "host:out1"),
    }


def test_concats_wider_than_a_stream_need_a_newer_finn(tmp_path: Path) -> None:
    builder = image(channels=1024, size=2)
    builder.tensor = builder.node("Concat", [builder.tensor, builder.tensor], axis=1)
    builder.shape = (1, 2048, 2, 2)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert dataflow.engines[-1].attributes["ChannelsPerStream"] == (1024, 1024)
    assert any("'Concat_0'" in note and "development" in note for note in dataflow.notes)
