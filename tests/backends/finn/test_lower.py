"""Lowering equals FINN's own engine lists, kept here in short form, wherever weights' values play no part."""

from pathlib import Path

import onnx
import pytest

from examples.make_models import ModelBuilder, cnv, tfc
from floorflow.backends.finn.lower.lowering import lower
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.model import Dataflow, Engine, is_outside
from floorflow.network import read
from floorflow.technology import technology_of

ZCU104 = technology_of("xczu7ev-ffvc1156-2-e")
PYNQ = technology_of("xc7z020clg400-1")
VERSAL = technology_of("xcvc1902-vsva2197-2MP-e-S")

CNV_WINDOWS = ((3, 32, 30), (64, 30, 28), (64, 14, 12), (128, 12, 10), (128, 5, 3), (256, 3, 1))
"""Channels, input and output size of CNV's six 3x3 window engines."""

CNV_MATRICES = (
    (27, 64, (1, 30, 30)),
    (576, 64, (1, 28, 28)),
    (576, 128, (1, 12, 12)),
    (1152, 128, (1, 10, 10)),
    (1152, 256, (1, 3, 3)),
    (2304, 256, (1, 1, 1)),
    (256, 512, (1,)),
    (512, 512, (1,)),
    (512, 10, (1,)),
)
"""MW, MH and numInputVectors of CNV's nine matrix units."""

CNV_ORDER = (
    "Thresholding_rtl_0",
    "ConvolutionInputGenerator_rtl_0",
    "MVAU_hls_0",
    "ConvolutionInputGenerator_rtl_1",
    "MVAU_hls_1",
    "StreamingMaxPool_hls_0",
    "ConvolutionInputGenerator_rtl_2",
    "MVAU_hls_2",
    "ConvolutionInputGenerator_rtl_3",
    "MVAU_hls_3",
    "StreamingMaxPool_hls_1",
    "ConvolutionInputGenerator_rtl_4",
    "MVAU_hls_4",
    "ConvolutionInputGenerator_rtl_5",
    "MVAU_hls_5",
    "MVAU_hls_6",
    "MVAU_hls_7",
    "MVAU_hls_8",
    "LabelSelect_hls_0",
)
"""The engines' order and names in both of FINN's CNV graphs."""


def dataflow_of(
    model: onnx.ModelProto, folder: Path, part: str = "xczu7ev-ffvc1156-2-e", *, labels: bool = False
) -> Dataflow:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return lower(read(path), technology_of(part), label_select=labels)


def engines(dataflow: Dataflow, kind: str) -> list[Engine]:
    return [engine for engine in dataflow.engines if engine.kind == kind]


def kinds(dataflow: Dataflow) -> list[str]:
    return [engine.kind for engine in dataflow.engines]


def values(engine: Engine, *keys: str) -> tuple[object, ...]:
    return tuple(engine.attributes[key] for key in keys)


@pytest.mark.parametrize(("weight_bits", "activation_bits"), [(1, 1), (1, 2), (2, 2)])
def test_cnv_has_finns_engines_and_dimensions(tmp_path: Path, weight_bits: int, activation_bits: int) -> None:
    dataflow = dataflow_of(cnv(weight_bits, activation_bits), tmp_path, labels=True)
    assert tuple(engine.name for engine in dataflow.engines) == CNV_ORDER
    matrices = engines(dataflow, "MVAU_hls")
    assert tuple(values(m, "MW", "MH", "numInputVectors") for m in matrices) == CNV_MATRICES
    assert [m.attributes["noActivation"] for m in matrices] == [0] * 8 + [1]
    for engine, (channels, size, out) in zip(
        engines(dataflow, "ConvolutionInputGenerator_rtl"), CNV_WINDOWS, strict=True
    ):
        assert values(engine, "IFMChannels", "IFMDim", "OFMDim") == (channels, (size, size), (out, out))
        assert values(engine, "ConvKernelDim", "Stride", "Dilation") == ((3, 3), (1, 1), (1, 1))
        assert values(engine, "depthwise", "is1D", "M", "dynamic_mode") == (0, 0, 1, 0)
    pools = engines(dataflow, "StreamingMaxPool_hls")
    assert [values(p, "ImgDim", "PoolDim", "NumChannels", "CeilMode") for p in pools] == [
        ((28, 28), (2, 2), 64, 0),
        ((10, 10), (2, 2), 128, 0),
    ]
    first, last = dataflow.engines[0], dataflow.engines[-1]
    keys = ("NumChannels", "numSteps", "inputDataType", "weightDataType", "outputDataType", "numInputVectors", "ActVal")
    assert values(first, *keys) == (3, 255, "UINT8", "UINT8", "INT8", (1, 32, 32), -128)
    assert values(last, "Labels", "K", "outputDataType", "numInputVectors") == (10, 1, "UINT8", (1,))


def test_cnv_1w1a_has_finns_datatypes(tmp_path: Path) -> None:
    dataflow = dataflow_of(cnv(1, 1), tmp_path, labels=True)
    keys = ("inputDataType", "weightDataType", "outputDataType", "accDataType", "ActVal", "binaryXnorMode")
    found = [values(engine, *keys) for engine in engines(dataflow, "MVAU_hls")]
    accumulators = ("INT10", "INT10", "INT11", "INT11", "INT12", "INT9", "INT10")
    assert found[0] == ("INT8", "INT2", "BINARY", "INT13", 0, 0)
    assert found[1:-1] == [("BINARY", "BINARY", "BINARY", accumulator, 0, 1) for accumulator in accumulators]
    assert found[-1] == ("BINARY", "BINARY", "INT10", "INT10", 0, 1)
    assert {engine.attributes["dataType"] for engine in engines(dataflow, "StreamingMaxPool_hls")} == {"BINARY"}
    assert dataflow.engines[-1].attributes["inputDataType"] == "INT10"


def test_cnv_2w2a_has_finns_datatypes_and_worst_case_accumulators(tmp_path: Path) -> None:
    """FINN's published accumulators are one bit narrower from the second layer on: its weights are trained."""
    dataflow = dataflow_of(cnv(2, 2), tmp_path, labels=True)
    keys = ("inputDataType", "weightDataType", "outputDataType", "ActVal", "binaryXnorMode")
    found = [values(engine, *keys) for engine in engines(dataflow, "MVAU_hls")]
    assert found[0] == ("INT8", "INT2", "INT2", -1, 0)
    assert found[1:-1] == [("INT2", "INT2", "INT2", -1, 0)] * 7
    accumulators = [engine.attributes["accDataType"] for engine in engines(dataflow, "MVAU_hls")]
    assert accumulators == ["INT13", "INT11", "INT11", "INT12", "INT12", "INT13", "INT10", "INT11", "INT11"]


def test_bipolar_weights_of_wider_activations_are_stored_in_two_bits(tmp_path: Path) -> None:
    dataflow = dataflow_of(cnv(1, 2), tmp_path)
    matrices = engines(dataflow, "MVAU_hls")
    assert {values(m, "weightDataType", "binaryXnorMode") for m in matrices} == {("INT2", 0)}
    assert {m.weight_bits for m in matrices} == {2}


def test_tfc_1w1a_is_finns(tmp_path: Path) -> None:
    dataflow = dataflow_of(tfc(1, 1), tmp_path, labels=True)
    assert kinds(dataflow) == ["Thresholding_rtl", *["MVAU_hls"] * 4, "LabelSelect_hls"]
    keys = ("MW", "MH", "inputDataType", "weightDataType", "outputDataType", "accDataType", "noActivation")
    assert [values(engine, *keys) for engine in engines(dataflow, "MVAU_hls")] == [
        (784, 64, "BINARY", "BINARY", "BINARY", "INT10", 0),
        (64, 64, "BINARY", "BINARY", "BINARY", "INT7", 0),
        (64, 64, "BINARY", "BINARY", "BINARY", "INT7", 0),
        (64, 10, "BINARY", "BINARY", "INT7", "INT7", 1),
    ]
    keys = ("NumChannels", "numSteps", "inputDataType", "outputDataType", "numInputVectors", "ActVal")
    assert values(dataflow.engines[0], *keys) == (784, 1, "UINT8", "BINARY", (1,), 0)


def test_streams_of_tfc_carry_elements_and_inner_dimensions(tmp_path: Path) -> None:
    streams = dataflow_of(tfc(1, 1), tmp_path, labels=True).streams
    assert [(s.source, s.target) for s in streams][0::5] == [
        ("host:in0", "Thresholding_rtl_0"),
        ("MVAU_hls_3", "LabelSelect_hls_0"),
    ]
    assert [s.elements for s in streams] == [784, 784, 64, 64, 64, 10, 1]
    assert [s.last_dimension for s in streams] == [784, 784, 64, 64, 64, 10, 1]
    assert [s.element_bits for s in streams] == [8, 1, 1, 1, 1, 7, 8]
    assert streams[-1].to_outside
    assert streams[-1].target == "host:out0"


def test_a_window_engines_stream_is_as_wide_as_the_window(tmp_path: Path) -> None:
    dataflow = dataflow_of(cnv(2, 2), tmp_path)
    stream = next(s for s in dataflow.streams if s.source == "ConvolutionInputGenerator_rtl_1")
    assert (stream.elements, stream.last_dimension, stream.element_bits) == (28 * 28 * 576, 576, 2)


def test_scale_and_bias_at_the_end_stay_on_the_host_and_the_last_sum_fills_bytes(tmp_path: Path) -> None:
    dataflow = dataflow_of(tfc(1, 1), tmp_path)
    assert any("host" in note and "'Add_0'" in note and "'Div_0'" in note for note in dataflow.notes)
    last = dataflow.engines[-1]
    assert values(last, "accDataType", "outputDataType") == ("INT8", "INT8")
    assert (last.output_bits, dataflow.streams[-1].element_bits) == (8, 8)


def layer(weight_bits: int, activation_bits: int, *, narrow: bool = True, signed: bool = False) -> onnx.ModelProto:
    """One layer between two quantisers."""
    builder = ModelBuilder("layer", (1, 16))
    builder.quantise(activation_bits, signed=signed, narrow=False)
    weights = builder.quantised(builder.parameter((8, 16), 0.5), weight_bits, narrow=narrow)
    builder.tensor, builder.shape = builder.node("Gemm", [builder.tensor, weights], transB=1), (1, 8)
    builder.relu()
    builder.quantise(4, signed=False, narrow=False)
    return builder.model()


@pytest.mark.parametrize(
    ("weight_bits", "activation_bits", "narrow", "part", "expected"),
    [
        (4, 4, True, "xczu7ev-ffvc1156-2-e", "MVAU_rtl"),
        (8, 8, False, "xcu250-figd2104-2L-e", "MVAU_rtl"),
        (3, 4, True, "xczu7ev-ffvc1156-2-e", "MVAU_hls"),
        (4, 3, True, "xczu7ev-ffvc1156-2-e", "MVAU_hls"),
        (9, 4, True, "xczu7ev-ffvc1156-2-e", "MVAU_hls"),
        (4, 4, True, "xc7z020clg400-1", "MVAU_rtl"),
        (4, 4, False, "xc7z020clg400-1", "MVAU_hls"),
    ],
)
def test_the_matrix_unit_is_rtl_where_finn_specialises_it(
    tmp_path: Path, weight_bits: int, activation_bits: int, narrow: bool, part: str, expected: str
) -> None:
    dataflow = dataflow_of(layer(weight_bits, activation_bits, narrow=narrow), tmp_path, part)
    thresholds = ["Thresholding_rtl"] if expected == "MVAU_rtl" else []
    assert kinds(dataflow) == ["Thresholding_rtl", expected, *thresholds]
    assert dataflow.engines[1].attributes["noActivation"] == len(thresholds)


def test_thresholds_behind_an_rtl_unit_take_its_accumulator(tmp_path: Path) -> None:
    unit, thresholds = dataflow_of(layer(4, 4), tmp_path).engines[1:]
    assert values(unit, "accDataType", "outputDataType") == ("INT12", "INT12")
    keys = ("NumChannels", "numSteps", "inputDataType", "weightDataType", "outputDataType", "ActVal")
    assert values(thresholds, *keys) == (8, 15, "INT12", "INT12", "UINT4", 0)
    assert (thresholds.input_bits, thresholds.output_bits, thresholds.weight_bits) == (12, 4, 12)


def test_operations_are_named_by_the_engines_that_compute_them(tmp_path: Path) -> None:
    dataflow = dataflow_of(layer(4, 4), tmp_path)
    assert [engine.operation for engine in dataflow.engines] == ["Quant_0", "Gemm_0", "Quant_2"]


@pytest.mark.parametrize("name", ["cnv_2w2a.onnx", "tfc_1w1a.onnx"])
def test_lowering_the_examples_twice_gives_equal_dataflows(name: str) -> None:
    path = Path(__file__).resolve().parents[3] / "examples" / name
    assert lower(read(path), PYNQ) == lower(read(path), PYNQ)


EXAMPLES = Path(__file__).parents[3] / "examples"
ALVEO = technology_of("xcu250-figd2104-2L-e")


@pytest.fixture(scope="module")
def resnet50() -> Dataflow:
    return read_source(EXAMPLES / "resnet50_w1a2.onnx").lower(ALVEO)


def test_engines_of_parallel_branches_stand_level_by_level(resnet50: Dataflow) -> None:
    before: dict[str, list[str]] = {engine.name: [] for engine in resnet50.engines}
    for stream in resnet50.streams:
        if not is_outside(stream.source) and not is_outside(stream.target):
            before[stream.target].append(stream.source)
    level: dict[str, int] = {}
    for name, sources in before.items():
        level[name] = 1 + max((level[source] for source in sources), default=-1)
    levels = list(level.values())
    assert levels == sorted(levels)
    assert max(levels) + 1 < len(levels)


def test_engines_are_numbered_in_that_order(resnet50: Dataflow) -> None:
    for kind in {engine.kind for engine in resnet50.engines}:
        numbers = [int(e.name.rpartition("_")[2]) for e in resnet50.engines if e.kind == kind]
        assert numbers == list(range(len(numbers)))


def test_a_projection_stands_directly_behind_the_first_convolution_of_its_branch(resnet50: Dataflow) -> None:
    """Of FINN's ResNet-50 graph (finn-examples): the first block's two 1x1 convolutions are MVAU 1 and 2."""
    units = [engine for engine in resnet50.engines if engine.kind.startswith("MVAU")]
    sizes = [(engine.attributes["MW"], engine.attributes["MH"]) for engine in units[1:3]]
    assert sorted(map(str, sizes)) == ["(64, 256)", "(64, 64)"]
