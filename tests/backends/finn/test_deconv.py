"""Transposed convolutions become FINN's pixel padding, padding, window and matrix unit, or are refused as FINN does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from examples.make_models import ModelBuilder
from floorflow.backends.finn.lower.lowering import lower
from floorflow.backends.finn.step.early import spell_out_deconv
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.network import read
from floorflow.technology import technology_of

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
    inferred = onnx.shape_inference.infer_shapes(_standard(model), strict_mode=True).graph.output[0]
    shape = tuple(dim.dim_value for dim in inferred.type.tensor_type.shape.dim)
    found = lower(network, ZCU104)
    assert found.streams[-1].elements == shape[1] * shape[2] * shape[3]
    window = next((e for e in found.engines if e.kind.startswith("ConvolutionInput")), None)
    assert window is None or window.attributes["OFMDim"] == shape[2:]
    return found


def _standard(model: onnx.ModelProto) -> onnx.ModelProto:
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
