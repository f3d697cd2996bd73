"""Windows, padding and transposed convolutions as FINN lowers them."""

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from examples.make_models import DOMAIN, ModelBuilder
from floorflow.backends.finn.lower.lowering import lower
from floorflow.backends.finn.step.early import spell_out_deconv
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.network import read
from floorflow.technology import technology_of
from tests.backends.finn.test_lower import VERSAL, dataflow_of, engines, kinds, values

SWG = "ConvolutionInputGenerator_rtl"


def image(channels: int = 4, size: int = 8, bits: int = 2, *, signed: bool = False) -> ModelBuilder:
    builder = ModelBuilder("image", (1, channels, size, size))
    builder.quantise(bits, signed=signed, narrow=False)
    return builder


def test_padding_has_an_engine_of_its_own(tmp_path: Path) -> None:
    builder = image()
    builder.conv(6, (3, 3), 2, strides=(2, 2), pads=(1, 2, 0, 1))
    padding, window, unit = dataflow_of(builder.model(), tmp_path).engines[1:]
    assert padding.name == "FMPadding_rtl_0"
    keys = ("ImgDim", "Padding", "NumChannels", "inputDataType", "numInputVectors")
    assert values(padding, *keys) == ((8, 8), (1, 2, 0, 1), 4, "UINT2", 1)
    assert values(window, "IFMDim", "OFMDim", "Stride") == ((9, 11), (4, 5), (2, 2))
    assert values(unit, "MW", "MH", "numInputVectors") == (36, 6, (1, 4, 5))


@pytest.mark.parametrize(
    ("kernel", "strides", "pads", "expected"),
    [
        ((1, 1), (1, 1), (0, 0, 0, 0), []),
        ((1, 1), (2, 2), (0, 0, 0, 0), [SWG]),
        ((1, 1), (1, 1), (1, 1, 1, 1), ["FMPadding_rtl", SWG]),
        ((1, 2), (1, 1), (0, 0, 0, 0), [SWG]),
    ],
)
def test_only_single_pixels_need_no_window(
    tmp_path: Path,
    kernel: tuple[int, int],
    strides: tuple[int, int],
    pads: tuple[int, int, int, int],
    expected: list[str],
) -> None:
    builder = image()
    builder.conv(3, kernel, 2, strides=strides, pads=pads)
    assert kinds(dataflow_of(builder.model(), tmp_path)) == ["Thresholding_rtl", *expected, "MVAU_hls"]


def test_one_dimensional_convolutions_get_a_width_of_one(tmp_path: Path) -> None:
    builder = ModelBuilder("sound", (1, 2, 20))
    builder.quantise(4, signed=False, narrow=False)
    weights = builder.quantised(builder.parameter((5, 2, 3), 0.5), 2)
    builder.tensor = builder.node("Conv", [builder.tensor, weights], kernel_shape=[3], pads=[1, 1], strides=[2])
    builder.shape = (1, 5, 10)
    padding, window, unit = dataflow_of(builder.model(), tmp_path).engines[1:]
    assert values(padding, "ImgDim", "Padding") == ((20, 1), (1, 0, 1, 0))
    assert values(window, "IFMDim", "OFMDim", "ConvKernelDim", "is1D") == ((22, 1), (10, 1), (3, 1), 1)
    assert values(unit, "MW", "numInputVectors") == (6, (1, 10, 1))


def test_bipolar_data_that_wider_weights_read_is_no_xnor(tmp_path: Path) -> None:
    builder = image(bits=1, signed=True)
    builder.conv(3, (1, 1), 2)
    thresholds, unit = dataflow_of(builder.model(), tmp_path).engines
    assert thresholds.attributes["outputDataType"] == "BIPOLAR"
    assert values(unit, "inputDataType", "weightDataType", "binaryXnorMode") == ("BIPOLAR", "INT2", 0)


def test_one_bit_unsigned_data_is_no_xnor(tmp_path: Path) -> None:
    builder = ModelBuilder("unsigned", (1, 16))
    inputs = [builder.tensor, *(builder.constant(value) for value in (1.0, 0.0, 1.0))]
    builder.tensor = builder.node("Quant", inputs, DOMAIN, signed=0)
    builder.fully_connected(3, 1)
    unit = dataflow_of(builder.model(), tmp_path).engines[-1]
    assert values(unit, "inputDataType", "weightDataType", "binaryXnorMode") == ("BINARY", "INT2", 0)


def test_depthwise_layers_are_rtl_on_versal_only(tmp_path: Path) -> None:
    builder = image(bits=4)
    builder.conv(4, (3, 3), 4, group=4)
    assert VERSAL.architecture == "versal"
    assert kinds(dataflow_of(builder.model(), tmp_path))[-1] == "VVAU_hls"
    assert kinds(dataflow_of(builder.model(), tmp_path, "xcvc1902-vsva2197-2MP-e-S"))[-1] == "VVAU_rtl"


@pytest.mark.parametrize("op_type", ["TopK", "ArgMax"])
def test_labels_are_selected_where_the_network_asks_for_them(tmp_path: Path, op_type: str) -> None:
    builder = ModelBuilder("labels", (1, 16))
    builder.quantise(2)
    builder.fully_connected(300, 2)
    builder.scale("Mul", 2.0)
    model = builder.model()
    inputs, outputs = [builder.tensor], ["labels"]
    if op_type == "TopK":
        model.graph.initializer.append(helper.make_tensor("k", TensorProto.INT64, [1], [5]))
        inputs, outputs = [*inputs, "k"], ["values", "labels"]
    model.graph.node.append(helper.make_node(op_type, inputs, outputs, axis=1))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("labels", TensorProto.INT64, None))
    dataflow = dataflow_of(model, tmp_path)
    count = 5 if op_type == "TopK" else 1
    last = dataflow.engines[-1]
    assert values(last, "Labels", "K", "inputDataType", "outputDataType") == (300, count, "INT6", "UINT16")
    assert dataflow.streams[-1].elements == count
    assert not any("host" in note for note in dataflow.notes)


def test_a_bias_of_each_class_leaves_the_label_to_the_host(tmp_path: Path) -> None:
    builder = ModelBuilder("biased", (1, 16))
    builder.quantise(2)
    builder.fully_connected(10, 2)
    builder.tensor = builder.node("Add", [builder.tensor, builder.parameter((10,), 0.5)])
    builder.tensor = builder.node("ArgMax", [builder.tensor], axis=1)
    builder.shape = (1, 1)
    model = builder.model()
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    dataflow = dataflow_of(model, tmp_path)
    assert kinds(dataflow)[-1] == "MVAU_hls"
    assert any("'ArgMax_0'" in note and "host" in note for note in dataflow.notes)


def test_scaling_of_the_raw_input_stays_on_the_host(tmp_path: Path) -> None:
    builder = ModelBuilder("raw", (1, 16))
    builder.scale("Div", 255.0)
    builder.fully_connected(4, 2)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow) == ["MVAU_hls"]
    assert dataflow.engines[0].attributes["inputDataType"] == "UINT8"
    assert any("'Div_0'" in note and "host" in note for note in dataflow.notes)


def test_padding_merges_into_the_convolution_behind_it(tmp_path: Path) -> None:
    builder = image()
    builder.initialisers["p"] = helper.make_tensor("p", TensorProto.INT64, [8], [0, 0, 0, 1, 0, 0, 2, 0])
    builder.tensor, builder.shape = builder.node("Pad", [builder.tensor, "p"]), (1, 4, 10, 9)
    builder.conv(3, (3, 3), 2, pads=(1, 1, 1, 1))
    padding, window = dataflow_of(builder.model(), tmp_path).engines[1:3]
    assert values(padding, "ImgDim", "Padding") == ((8, 8), (1, 2, 3, 1))
    assert values(window, "IFMDim", "OFMDim") == ((12, 11), (10, 9))


def test_padding_before_other_layers_stands_alone(tmp_path: Path) -> None:
    builder = image()
    builder.conv(4, (1, 1), 2)
    builder.relu()
    builder.initialisers["p"] = helper.make_tensor("p", TensorProto.INT64, [8], [0, 0, 1, 1, 0, 0, 1, 1])
    builder.tensor, builder.shape = builder.node("Pad", [builder.tensor, "p"]), (1, 4, 10, 10)
    builder.quantise(3, signed=False, narrow=False)
    builder.conv(3, (1, 1), 2)
    dataflow = dataflow_of(builder.model(), tmp_path)
    assert kinds(dataflow)[1:] == ["MVAU_hls", "FMPadding_rtl", "MVAU_hls"]
    assert engines(dataflow, "FMPadding_rtl")[0].attributes["inputDataType"] == "UINT3"


def test_a_relu_of_signed_integers_that_a_layer_reads_is_thresholds(tmp_path: Path) -> None:
    builder = image(bits=4, signed=True)
    builder.relu()
    builder.conv(3, (1, 1), 2)
    second = dataflow_of(builder.model(), tmp_path).engines[1]
    assert values(second, "inputDataType", "outputDataType", "numSteps") == ("INT4", "UINT3", 7)


def test_products_of_sequences_keep_their_length(tmp_path: Path) -> None:
    builder = ModelBuilder("sequence", (1, 7, 12))
    builder.quantise(4, signed=False, narrow=False)
    weights = builder.quantised(builder.parameter((12, 5), 0.5), 2)
    builder.tensor, builder.shape = builder.node("MatMul", [builder.tensor, weights]), (1, 7, 5)
    first, unit = dataflow_of(builder.model(), tmp_path).engines
    assert values(first, "NumChannels", "numInputVectors") == (12, (1, 7))
    assert values(unit, "MW", "MH", "numInputVectors") == (12, 5, (1, 7))


ZCU104 = technology_of("xczu7ev-ffvc1156-2-e")


def decoded(folder: Path, weights: tuple[int, ...] = (3, 4, 4, 4), bits: int = 4, **how: Any) -> Dataflow:
    """Return a 6x6 image through a transposed convolution, as engines."""
    builder = ModelBuilder("decoder", (1, 3, 6, 6))
    builder.quantise(bits, signed=bits == 1, narrow=False)
    stored = builder.quantised(builder.parameter(weights, 0.5), 4)
    builder.tensor = builder.node("ConvTranspose", [builder.tensor, stored], **how)
    model = builder.model()
    model.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(model, folder / "decoder.onnx")
    network = read(folder / "decoder.onnx")
    inferred = onnx.shape_inference.infer_shapes(standard(model), strict_mode=True).graph.output[0]
    shape = tuple(dim.dim_value for dim in inferred.type.tensor_type.shape.dim)
    found = lower(network, ZCU104)
    assert found.streams[-1].elements == shape[1] * shape[2] * shape[3]
    window = next((e for e in found.engines if e.kind.startswith("ConvolutionInput")), None)
    assert window is None or window.attributes["OFMDim"] == shape[2:]
    return found


def standard(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy in which quantisers are Identity."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    for node in copy.graph.node:
        if node.domain:
            node.op_type, node.domain = "Identity", ""
            del node.input[1:], node.attribute[:]
    return copy


@pytest.mark.parametrize(
    ("how", "border", "weights"),
    [
        ({"strides": [2, 2], "pads": [1, 1, 1, 1]}, 2, (3, 4, 4, 4)),
        ({"strides": [2, 2]}, 3, (3, 4, 4, 4)),
        ({"strides": [3, 3], "pads": [1, 1, 1, 1]}, 1, (3, 5, 3, 3)),
        ({"pads": [1, 1, 1, 1]}, 1, (3, 5, 3, 3)),
        ({"strides": [2, 3], "pads": [3, 3, 3, 3]}, 0, (3, 4, 4, 4)),
        ({"strides": [2, 2], "dilations": [2, 2], "pads": [2, 2, 2, 2]}, 4, (3, 4, 4, 4)),
        ({"strides": [2, 2]}, 0, (3, 4, 1, 1)),
    ],
)
def test_zeros_between_the_pixels_and_around_them_then_a_plain_convolution(
    how: dict[str, Any], border: int, weights: tuple[int, ...], tmp_path: Path
) -> None:
    engines = {engine.kind: engine.attributes for engine in decoded(tmp_path, weights, **how).engines}
    spread = engines["FMPadding_Pixel_hls"]
    assert (spread["ImgDim"], spread["NumChannels"]) == ((6, 6), 3)
    stride = how.get("strides", [1, 1])
    assert spread["Stride"] == tuple(stride)
    if border:
        padding = engines["FMPadding_rtl"]
        assert padding["Padding"] == (border,) * 4
        assert padding["ImgDim"] == tuple(5 * apart + 1 for apart in stride)
    assert ("FMPadding_rtl" in engines) == bool(border)
    assert engines["ConvolutionInputGenerator_rtl"]["Stride"] == (1, 1)
    assert engines["MVAU_rtl"]["MW"] == 3 * weights[2] * weights[3]
    assert engines["MVAU_rtl"]["MH"] == weights[1]


@pytest.mark.parametrize(
    ("weights", "bits", "how", "reason"),
    [
        ((3, 4, 4, 4), 4, {"strides": [2, 2], "output_padding": [1, 1]}, "output_padding"),
        ((3, 1, 4, 4), 4, {"strides": [2, 2], "group": 3}, "3 groups"),
        ((3, 4, 4, 2), 4, {"strides": [2, 2]}, "pads all sides alike"),
        ((3, 4, 4, 4), 4, {"strides": [2, 2], "pads": [1, 1, 2, 2]}, "pads all sides alike"),
        ((3, 4, 4, 4), 4, {"strides": [2, 2], "auto_pad": "SAME_UPPER"}, "auto_pad or output_shape"),
        ((3, 4, 4, 4), 4, {"strides": [2, 2], "output_shape": [12, 12]}, "auto_pad or output_shape"),
        ((3, 4, 1, 1), 4, {"pads": [1, 1, 1, 1]}, "cut off more"),
        ((3, 4, 4, 4), 1, {"strides": [2, 2]}, "BIPOLAR"),
    ],
)
def test_what_finn_has_no_engine_for_is_refused_with_a_hint(
    weights: tuple[int, ...], bits: int, how: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=f"'ConvTranspose_0'.*{reason}") as caught:
        decoded(tmp_path, weights, bits, **how)
    assert caught.value.hint


def test_each_transposed_convolution_is_given_the_kernel_of_its_own_stored_weights() -> None:
    """FINN's InferPixelPaddingDeconv reads kernel_shape, which ONNX lets be left out."""
    stored = helper.make_tensor("stored", TensorProto.FLOAT, (3, 4, 5, 2), [0.0] * 120)
    nodes = [
        helper.make_node("Quant", ["stored", "s", "z", "b"], ["weights"]),
        helper.make_node("ConvTranspose", ["x", "weights"], ["y"]),
        helper.make_node("ConvTranspose", ["y", "computed"], ["z0"]),
        helper.make_node("ConvTranspose", ["z0", "stored"], ["end"], kernel_shape=[5, 2], strides=[2, 2]),
    ]
    graph = helper.make_graph(nodes, "g", [], [], [stored])
    spell_out_deconv(graph)
    told = [{a.name: helper.get_attribute_value(a) for a in node.attribute} for node in graph.node[1:]]
    assert [each.get("kernel_shape") for each in told] == [[5, 2], None, [5, 2]]
    assert [each["strides"] for each in told] == [[1, 1], [1, 1], [2, 2]]
