"""Where quantisers go before lowering, and what is assumed where they are missing."""

import re
from pathlib import Path

import pytest

from examples.make_models import ModelBuilder
from tests.backends.finn.test_lower import dataflow_of, engines, kinds, values
from tests.backends.finn.test_lower_graphs import image
from tests.backends.finn.test_lower_windows import SWG


def fire(builder: ModelBuilder, *, pooled: bool) -> None:
    """Append a fire module of SqueezeNet: a 1x1 and a 3x3 convolution, joined and quantised behind."""
    start, shape = builder.tensor, builder.shape
    ends = []
    for kernel in (1, 3):
        builder.tensor, builder.shape = start, shape
        builder.conv(6, (kernel, kernel), 2, pads=(kernel // 2,) * 4)
        builder.relu()
        ends.append(builder.tensor)
    builder.tensor, builder.shape = builder.node("Concat", ends, axis=1), (1, 12, *shape[2:])
    if pooled:
        builder.max_pool((3, 3), (2, 2))
    builder.quantise(3, signed=False, narrow=False)


@pytest.mark.parametrize("pooled", [False, True])
def test_quantisers_behind_concats_move_before_them(tmp_path: Path, *, pooled: bool) -> None:
    builder = image()
    fire(builder, pooled=pooled)
    dataflow = dataflow_of(builder.model(), tmp_path)
    expected = ["DuplicateStreams_hls", "MVAU_hls", "FMPadding_rtl", SWG, "MVAU_hls", "StreamingConcat_hls"]
    assert kinds(dataflow)[1:] == [*expected, *([SWG, "Pool_hls"] if pooled else [])]
    concat = engines(dataflow, "StreamingConcat_hls")[0]
    assert values(concat, "ElemsPerStream", "inputDataType", "numInputVectors") == ((6, 6), "UINT3", (1, 8, 8))
    assert {unit.attributes["outputDataType"] for unit in engines(dataflow, "MVAU_hls")} == {"UINT3"}


def test_dense_blocks_join_accumulators_whose_batch_norms_differ(tmp_path: Path) -> None:
    builder = image()
    builder.conv(3, (1, 1), 2)
    for channels in (5, 7):
        grown = builder.tensor
        builder.activation(4)
        builder.conv(2, (1, 1), 2)
        builder.tensor = builder.node("Concat", [grown, builder.tensor], axis=-3)
        builder.shape = (1, channels, 8, 8)
    builder.activation(4)
    dataflow = dataflow_of(builder.model(), tmp_path)
    first, second = engines(dataflow, "StreamingConcat_hls")
    assert values(first, "ElemsPerStream", "inputDataType") == ((3, 2), "INT7")
    assert values(second, "ElemsPerStream", "inputDataType") == ((5, 2), "UINT4")
    assert [e.attributes["inputDataType"] for e in engines(dataflow, "DuplicateStreams_hls")] == ["INT7", "INT7"]


def test_pools_share_the_quantiser_of_the_convolutions_beside_them(tmp_path: Path) -> None:
    """An inception module reads one float tensor through a quantiser, and through a pool and an equal quantiser."""
    builder = image()
    builder.conv(4, (1, 1), 2)
    builder.relu()
    trunk, shape = builder.tensor, builder.shape
    builder.quantise(3, signed=False, narrow=False)
    builder.conv(2, (1, 1), 2)
    left, builder.tensor, builder.shape = builder.tensor, trunk, shape
    builder.max_pool((3, 3), (1, 1), (1, 1, 1, 1))
    builder.quantise(3, signed=False, narrow=False)
    builder.conv(2, (1, 1), 2)
    builder.tensor, builder.shape = builder.node("Concat", [left, builder.tensor], axis=1), (1, 4, 8, 8)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:3] == ["MVAU_hls", "DuplicateStreams_hls"]
    assert "Thresholding_rtl" not in kinds(dataflow)[1:]
    assert engines(dataflow, "Pool_hls")[0].attributes["InputDataType"] == "UINT3"
    assert not any("nearest quantiser" in note for note in dataflow.notes)


def test_an_addition_behind_a_relu_reads_what_the_layer_beside_it_reads(tmp_path: Path) -> None:
    builder = image()
    builder.conv(4, (1, 1), 2)
    builder.relu()
    trunk = builder.tensor
    builder.quantise(3, signed=False, narrow=False)
    builder.conv(4, (1, 1), 2)
    builder.add(trunk)
    builder.relu()
    builder.quantise(3, signed=False, narrow=False)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:3] == ["MVAU_hls", "DuplicateStreams_hls"]
    assert dataflow.engines[2].attributes["inputDataType"] == "UINT3"
    assert any("'Add_0' as UINT3" in note for note in dataflow.notes)


def test_an_average_behind_a_relu_reads_what_the_next_quantiser_makes(tmp_path: Path) -> None:
    builder = image()
    builder.conv(4, (1, 1), 2)
    builder.relu()
    builder.tensor, builder.shape = builder.node("GlobalAveragePool", [builder.tensor]), (1, 4, 1, 1)
    builder.flatten()
    builder.quantise(8, signed=False, narrow=False)
    builder.fully_connected(3, 4)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:] == ["MVAU_hls", "GlobalAccPool_hls", "Thresholding_rtl", "MVAU_rtl"]
    assert dataflow.engines[1].attributes["outputDataType"] == "UINT8"
    assert any("'GlobalAveragePool_0' as UINT8" in note for note in dataflow.notes)


def test_an_average_behind_the_last_relu_is_the_hosts(tmp_path: Path) -> None:
    builder = image()
    builder.conv(5, (1, 1), 2)
    builder.relu()
    builder.tensor, builder.shape = builder.node("GlobalAveragePool", [builder.tensor]), (1, 5, 1, 1)
    builder.flatten()
    builder.tensor = builder.node("Softmax", [builder.tensor])
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[-1] == "MVAU_hls"
    assert dataflow.streams[-1].elements == 5 * 64
    (note,) = (note for note in dataflow.notes if "computed on the host" in note)
    assert re.findall(r"'(\w+)'", note) == ["Relu_0", "GlobalAveragePool_0", "Reshape_0", "Softmax_0"]
    assert "of 320 values a frame" in note
