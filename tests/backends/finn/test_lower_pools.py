"""Lowering of pools, averages and upsampling."""

from pathlib import Path

import pytest
from onnx import TensorProto, helper

from examples.make_models import DOMAIN, ModelBuilder
from tests.backends.finn.test_lower import dataflow_of, engines, kinds, values
from tests.backends.finn.test_lower_windows import SWG, image


@pytest.mark.parametrize(
    ("size", "kernel", "strides", "streaming"),
    [
        (8, (2, 2), (2, 2), True),
        (9, (3, 3), (3, 3), True),
        (9, (2, 2), (2, 2), False),
        (8, (3, 3), (2, 2), False),
        (8, (2, 4), (2, 4), False),
    ],
)
def test_max_pools_of_whole_square_tiles_stream(
    tmp_path: Path, size: int, kernel: tuple[int, int], strides: tuple[int, int], streaming: bool
) -> None:
    builder = image(size=size)
    builder.max_pool(kernel, strides)
    builder.conv(3, (1, 1), 2)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:-1] == (["StreamingMaxPool_hls"] if streaming else [SWG, "Pool_hls"])
    if not streaming:
        window, pool = dataflow.engines[1:3]
        assert window.attributes["depthwise"] == 1
        keys = (
            "Channels",
            "KernelSize",
            "Function",
            "InputDataType",
            "OutputDataType",
            "AccumBits",
            "Size",
            "BatchSize",
        )
        assert values(pool, *keys) == (4, kernel, "MaxPool", "UINT2", "UINT2", 0, 0, 1)
        assert pool.attributes["OutImgDims"] == window.attributes["OFMDim"]


def test_thresholds_move_before_a_max_pool(tmp_path: Path) -> None:
    builder = image()
    builder.conv(4, (3, 3), 2)
    builder.batch_norm()
    builder.max_pool((2, 2), (2, 2))
    builder.relu()
    builder.quantise(2, signed=False, narrow=False)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow) == ["Thresholding_rtl", SWG, "MVAU_hls", "StreamingMaxPool_hls"]
    assert dataflow.engines[-1].attributes["dataType"] == "UINT2"


def test_thresholds_stay_behind_a_scale_that_follows_a_max_pool(tmp_path: Path) -> None:
    builder = image()
    builder.conv(4, (3, 3), 2)
    builder.max_pool((2, 2), (2, 2))
    builder.batch_norm()
    builder.quantise(2, signed=False, narrow=False)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow) == ["Thresholding_rtl", SWG, "MVAU_hls", "StreamingMaxPool_hls", "Thresholding_rtl"]
    accumulator = dataflow.engines[2].attributes["accDataType"]
    assert dataflow.engines[3].attributes["dataType"] == accumulator
    assert dataflow.engines[4].attributes["inputDataType"] == accumulator


def test_bipolar_data_stays_one_bit_through_pool_and_flatten(tmp_path: Path) -> None:
    builder = image(size=4, bits=1, signed=True)
    builder.max_pool((2, 2), (2, 2))
    builder.flatten()
    builder.fully_connected(3, 1)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert values(dataflow.engines[-1], "inputDataType", "binaryXnorMode") == ("BINARY", 1)
    assert [stream.last_dimension for stream in dataflow.streams] == [4, 4, 4, 3]


def test_depthwise_layers_and_truncated_averages_are_finns_mobilenet(tmp_path: Path) -> None:
    """Rows of FINN's MobileNet-v1 4-bit graph: a padded depthwise layer, and the 7x7 average at the end."""
    builder = ModelBuilder("mobilenet", (1, 1024, 7, 7))
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(1024, (3, 3), 4, pads=(1, 1, 1, 1), group=1024)
    builder.batch_norm()
    builder.relu()
    builder.quantise(4, signed=False, narrow=False)
    builder.tensor = builder.node("AveragePool", [builder.tensor], kernel_shape=[7, 7], strides=[1, 1])
    names = [builder.tensor, *(builder.constant(value) for value in (1.0, 0.0, 10.0, 64.0, 4.0))]
    builder.tensor = builder.node("Trunc", names, DOMAIN, signed=0)
    builder.shape = (1, 1024, 1, 1)
    builder.flatten()
    builder.fully_connected(1000, 4)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:] == ["FMPadding_rtl", SWG, "VVAU_hls", SWG, "Pool_hls", "MVAU_rtl"]
    vector = engines(dataflow, "VVAU_hls")[0]
    keys = ("Channels", "Kernel", "Dim", "inputDataType", "weightDataType", "outputDataType", "noActivation")
    assert values(vector, *keys) == (1024, (3, 3), (7, 7), "UINT4", "INT4", "UINT4", 0)
    assert [engine.attributes["depthwise"] for engine in engines(dataflow, SWG)] == [1, 1]
    keys = ("Channels", "KernelSize", "Function", "OutImgDims", "OutputDataType", "AccumBits", "Size")
    pool = engines(dataflow, "Pool_hls")[0]
    assert values(pool, *keys) == (1024, (7, 7), "QuantAvgPool", (1, 1), "UINT4", 10, 6)


def test_global_averages_are_summed(tmp_path: Path) -> None:
    builder = image(channels=5, size=6)
    builder.tensor, builder.shape = builder.node("GlobalAveragePool", [builder.tensor]), (1, 5, 1, 1)
    builder.flatten()
    builder.fully_connected(3, 2)
    pool, unit = dataflow_of(builder.model(), tmp_path).engines[1:]
    assert values(pool, "NumChannels", "inputDataType", "numInputVectors") == (5, "UINT2", (1, 6, 6))
    assert pool.output_bits == 7
    assert unit.attributes["inputDataType"] == "UINT7"


def test_outputs_that_are_rounded_up_pad_the_end(tmp_path: Path) -> None:
    builder = image()
    options = {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}
    builder.tensor, builder.shape = builder.node("MaxPool", [builder.tensor], **options), (1, 4, 4, 4)
    builder.conv(3, (1, 1), 2)
    padding, window, pool = dataflow_of(builder.model(), tmp_path).engines[1:4]
    assert values(padding, "Padding") == ((0, 0, 1, 1),)
    assert values(window, "IFMDim", "OFMDim") == ((9, 9), (4, 4))
    assert pool.attributes["OutImgDims"] == (4, 4)


def test_padded_max_pools_may_stand_before_a_relu_that_thresholds_take(tmp_path: Path) -> None:
    builder = image()
    builder.conv(4, (1, 1), 2)
    builder.relu()
    builder.max_pool((3, 3), (2, 2), (1, 1, 1, 1))
    builder.batch_norm()
    builder.quantise(3)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:] == ["MVAU_hls", "FMPadding_rtl", SWG, "Pool_hls", "Thresholding_rtl"]


def test_averages_of_a_part_of_the_image_are_sums_of_windows(tmp_path: Path) -> None:
    builder = image()
    builder.average_pool((2, 3), (2, 1))
    builder.quantise(3, signed=False, narrow=False)
    builder.conv(3, (1, 1), 2)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:4] == [SWG, "Pool_hls", "Thresholding_rtl"]
    keys = ("KernelSize", "Function", "OutImgDims", "OutputDataType", "AccumBits", "Size")
    assert values(dataflow.engines[2], *keys) == ((2, 3), "QuantAvgPool", (4, 6), "UINT5", 5, 0)


@pytest.mark.parametrize(("counted", "notes"), [(0, 1), (1, 0)])
def test_averages_over_borders_are_noted_unless_zeros_count(tmp_path: Path, counted: int, notes: int) -> None:
    builder = image()
    options = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": counted}
    builder.tensor = builder.node("AveragePool", [builder.tensor], **options)
    builder.quantise(3, signed=False, narrow=False)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:3] == ["FMPadding_rtl", SWG]
    assert len([note for note in dataflow.notes if "border" in note]) == notes


def test_truncation_without_a_pool_is_thresholds(tmp_path: Path) -> None:
    builder = image(bits=6)
    inputs = [builder.constant(value) for value in (1.0, 0.0, 6.0, 4.0)]
    builder.tensor = builder.node("Trunc", [builder.tensor, *inputs], DOMAIN, signed=0)
    builder.conv(3, (1, 1), 2)
    second = dataflow_of(builder.model(), tmp_path).engines[1]
    assert values(second, "inputDataType", "outputDataType", "numSteps") == ("UINT6", "UINT4", 15)


def upsampled(shape: tuple[int, ...], factors: tuple[int, ...]) -> ModelBuilder:
    builder = ModelBuilder("up", shape)
    builder.quantise(4, signed=False, narrow=False)
    builder.initialisers["s"] = helper.make_tensor("s", TensorProto.FLOAT, [len(shape)], [1, 1, *factors])
    options = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    builder.tensor = builder.node("Resize", [builder.tensor, "", "s"], **options)
    builder.shape = (*shape[:2], *(size * factor for size, factor in zip(shape[2:], factors, strict=True)))
    return builder


@pytest.mark.parametrize(("shape", "factors", "mode"), [((1, 4, 5, 5), (3, 3), 0), ((1, 4, 7), (2,), 1)])
def test_upsampling_repeats_square_or_one_dimensional_images(
    tmp_path: Path, shape: tuple[int, ...], factors: tuple[int, ...], mode: int
) -> None:
    dataflow = dataflow_of(upsampled(shape, factors).model(), tmp_path)
    engine = dataflow.engines[1]
    assert engine.name == "UpsampleNearestNeighbour_hls_0"
    expected = (shape[2], shape[2] * factors[0], 4, mode, "UINT4")
    assert values(engine, "IFMDim", "OFMDim", "NumChannels", "DimMode", "inputDataType") == expected
    assert not any("development" in note for note in dataflow.notes)


@pytest.mark.parametrize(
    ("shape", "factors", "expected"), [((1, 4, 5, 6), (1, 3), (5, 6, 5, 18)), ((1, 4096, 2, 2), (2, 2), (2, 2, 4, 4))]
)
def test_other_upsampling_needs_a_newer_finn(
    tmp_path: Path, shape: tuple[int, ...], factors: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    dataflow = dataflow_of(upsampled(shape, factors).model(), tmp_path)
    assert values(dataflow.engines[1], "HI", "WI", "HO", "WO") == expected
    assert any("'Resize_0'" in note and "development" in note for note in dataflow.notes)


def test_max_pools_too_wide_to_stream_slide_windows(tmp_path: Path) -> None:
    builder = image(channels=1024, size=4, bits=8)
    builder.max_pool((2, 2), (2, 2))
    builder.conv(3, (1, 1), 2)
    assert kinds(dataflow_of(builder.model(), tmp_path))[1:3] == [SWG, "Pool_hls"]
