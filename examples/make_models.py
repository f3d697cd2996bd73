"""Make the example networks: QONNX of Brevitas' CNV, TFC and MobileNet, of FINN's ResNet-50 and of DenseNet-121.

    python examples/make_models.py [FOLDER]

Weights are ConstantOfShape nodes: floorflow plans from shapes and bit widths alone. Equal runs write equal bytes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

DOMAIN = "qonnx.custom_op.general"
OPSET, IR_VERSION = 13, 8

CNV_CHANNELS = (64, 64, 128, 128, 256, 256)
"""Output channels of the six 3x3 convolutions; a 2x2 max pool follows the second and the fourth."""

CNV_NEURONS = (512, 512, 10)
BNN_PYNQ_NEURONS = (512, 512, 64)
"""BNN-PYNQ (bnn/src/network/cnvW1A1/hw/config.h) pads the ten classes to 64."""

TFC_NEURONS = (64, 64, 64, 10)

RESNET_STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
"""Blocks of each stage of ResNet-50 and the channels of their 3x3 convolution; a block ends in four times as many.

ResNet-34 has as many blocks of two 3x3 convolutions, which end in as many channels."""

MOBILENET_LAYERS = (64, 128, -128, 256, -256, 512, -512, -512, -512, -512, -512, 1024, -1024)
"""Output channels of MobileNet-v1's pairs of layers: the depthwise one has stride 2, or 1 where they are negative."""

DENSENET121_BLOCKS = (6, 12, 24, 16)
"""Dense layers of each block of DenseNet-121; each adds so many channels, from four times as many in between."""

DENSENET121_GROWTH = 32


class ModelBuilder:
    """A QONNX graph that grows node by node; ``tensor`` and ``shape`` are the end that the next layer takes."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.name, self.tensor, self.shape = name, "x", shape
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))]
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: dict[str, onnx.TensorProto] = {}
        self._counts: dict[str, int] = {}

    def constant(self, value: float) -> str:
        """Return the name of a scalar initialiser, one for each value."""
        name = f"value_{value:g}"
        self.initialisers[name] = helper.make_tensor(name, TensorProto.FLOAT, [], [value])
        return name

    def node(self, op_type: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        """Append a node and return its output."""
        index = self._counts.get(op_type, 0)
        self._counts[op_type] = index + 1
        name = f"{op_type}_{index}"
        output = f"{name}_out"
        node = helper.make_node(op_type, inputs, [output], name, domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def parameter(self, shape: tuple[int, ...], value: float) -> str:
        """Return a tensor of equal values that needs no room in the file."""
        target = "shape_" + "x".join(str(size) for size in shape)
        self.initialisers[target] = helper.make_tensor(target, TensorProto.INT64, [len(shape)], list(shape))
        filling = helper.make_tensor("value", TensorProto.FLOAT, [1], [value])
        return self.node("ConstantOfShape", [target], value=filling)

    def quantised(self, tensor: str, bits: int, *, signed: bool = True, narrow: bool = True) -> str:
        """Quantise a tensor; one bit is BipolarQuant."""
        if bits == 1:
            return self.node("BipolarQuant", [tensor, self.constant(1.0)], DOMAIN)
        inputs = [tensor, self.constant(1.0), self.constant(0.0), self.constant(bits)]
        options = {"signed": int(signed), "narrow": int(narrow), "rounding_mode": "ROUND"}
        return self.node("Quant", inputs, DOMAIN, **options)

    def quantise(self, bits: int, *, signed: bool = True, narrow: bool = True) -> None:
        """Quantise the activations."""
        self.tensor = self.quantised(self.tensor, bits, signed=signed, narrow=narrow)

    def scale(self, op_type: str, value: float) -> None:
        """Append Mul, Sub, Div or Add by one number."""
        self.tensor = self.node(op_type, [self.tensor, self.constant(value)])

    def conv(
        self,
        channels: int,
        kernel: tuple[int, int],
        bits: int,
        *,
        strides: tuple[int, int] = (1, 1),
        pads: tuple[int, int, int, int] = (0, 0, 0, 0),
        group: int = 1,
    ) -> None:
        """Append a convolution."""
        weights = self.quantised(self.parameter((channels, self.shape[1] // group, *kernel), 0.5), bits)
        windows = {"kernel_shape": list(kernel), "strides": list(strides), "pads": list(pads)}
        attributes: dict[str, Any] = {**windows, "group": group} if group > 1 else {**windows}
        self.tensor = self.node("Conv", [self.tensor, weights], **attributes)
        self.shape = (1, channels, *self._windows(kernel, strides, pads))

    def fully_connected(self, neurons: int, bits: int) -> None:
        """Append a fully connected layer."""
        weights = self.quantised(self.parameter((neurons, self.shape[1]), 0.5), bits)
        self.tensor = self.node("Gemm", [self.tensor, weights], transB=1)
        self.shape = (1, neurons)

    def batch_norm(self) -> None:
        """Append a batch norm."""
        one, zero = (self.parameter((self.shape[1],), value) for value in (1.0, 0.0))
        self.tensor = self.node("BatchNormalization", [self.tensor, one, zero, zero, one])

    def relu(self) -> None:
        """Append a ReLU."""
        self.tensor = self.node("Relu", [self.tensor])

    def max_pool(
        self, kernel: tuple[int, int], strides: tuple[int, int], pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    ) -> None:
        """Append a max pool."""
        windows = {"kernel_shape": list(kernel), "strides": list(strides)}
        attributes: dict[str, Any] = {**windows, "pads": list(pads)} if any(pads) else {**windows}
        self.tensor = self.node("MaxPool", [self.tensor], **attributes)
        self.shape = (1, self.shape[1], *self._windows(kernel, strides, pads))

    def average_pool(self, kernel: tuple[int, int], strides: tuple[int, int], truncated_bits: int = 0) -> None:
        """Append an average pool, with Brevitas' Trunc of the sum behind it if bits are given, of what they come from.

        The Trunc is QONNX' version 2, which FINN+ reads without a Mul in front of it.
        """
        windows = {"kernel_shape": list(kernel), "strides": list(strides)}
        attributes: dict[str, Any] = {**windows, "pads": [0, 0, 0, 0]} if truncated_bits else {**windows}
        self.tensor = self.node("AveragePool", [self.tensor], **attributes)
        self.shape = (1, self.shape[1], *self._windows(kernel, strides, (0, 0, 0, 0)))
        if truncated_bits:
            elements = kernel[0] * kernel[1]
            sum_bits = truncated_bits + math.ceil(math.log2(elements))
            out_scale = 2 ** (sum_bits - truncated_bits) / elements
            inputs = [self.constant(value) for value in (1 / elements, 0.0, sum_bits, out_scale, truncated_bits)]
            self.tensor = self.node("Trunc", [self.tensor, *inputs], DOMAIN, signed=0, narrow=0, rounding_mode="FLOOR")

    def add(self, other: str) -> None:
        """Append the addition of another tensor of the same shape."""
        self.tensor = self.node("Add", [self.tensor, other])

    def concat(self, first: str, channels: int) -> None:
        """Append the concatenation of another tensor of so many channels and the present one."""
        self.tensor = self.node("Concat", [first, self.tensor], axis=1)
        self.shape = (1, channels + self.shape[1], *self.shape[2:])

    def activation(self, bits: int) -> None:
        """Append batch norm, ReLU and an unsigned quantiser."""
        self.batch_norm()
        self.relu()
        self.quantise(bits, signed=False, narrow=False)

    def flatten(self) -> None:
        """Append a Reshape to one vector."""
        self.initialisers["flat"] = helper.make_tensor("flat", TensorProto.INT64, [2], [1, -1])
        self.tensor = self.node("Reshape", [self.tensor, "flat"])
        features = 1
        for size in self.shape[1:]:
            features *= size
        self.shape = (1, features)

    def model(self) -> onnx.ModelProto:
        """Return the finished model."""
        outputs = [helper.make_tensor_value_info(self.tensor, TensorProto.FLOAT, list(self.shape))]
        initialisers = [self.initialisers[name] for name in sorted(self.initialisers)]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, initialisers)
        qonnx = 2 if "Trunc" in self._counts else 1
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, qonnx)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="floorflow")

    def _windows(
        self, kernel: tuple[int, int], strides: tuple[int, int], pads: tuple[int, int, int, int]
    ) -> tuple[int, int]:
        """Return height and width of what a window leaves."""
        height, width = self.shape[2] + pads[0] + pads[2], self.shape[3] + pads[1] + pads[3]
        return (height - kernel[0]) // strides[0] + 1, (width - kernel[1]) // strides[1] + 1


def cnv(weight_bits: int, activation_bits: int, neurons: tuple[int, ...] = CNV_NEURONS) -> onnx.ModelProto:
    """Return CNV for 32x32 colour images: six convolutions, three fully connected layers."""
    builder = ModelBuilder(f"cnv_{weight_bits}w{activation_bits}a", (1, 3, 32, 32))
    builder.scale("Mul", 2.0)
    builder.scale("Sub", 1.0)
    builder.quantise(8, narrow=False)
    for index, channels in enumerate(CNV_CHANNELS):
        builder.conv(channels, (3, 3), weight_bits)
        builder.batch_norm()
        builder.quantise(activation_bits)
        if index in (1, 3):
            builder.max_pool((2, 2), (2, 2))
    builder.flatten()
    _classifier(builder, neurons, weight_bits, activation_bits)
    return builder.model()


def tfc(weight_bits: int, activation_bits: int) -> onnx.ModelProto:
    """Return TFC for 28x28 grey images: four fully connected layers."""
    builder = ModelBuilder(f"tfc_{weight_bits}w{activation_bits}a", (1, 1, 28, 28))
    builder.flatten()
    builder.scale("Mul", 2.0)
    builder.scale("Sub", 1.0)
    builder.quantise(activation_bits)
    _classifier(builder, TFC_NEURONS, weight_bits, activation_bits)
    return builder.model()


def _classifier(builder: ModelBuilder, neurons: tuple[int, ...], weight_bits: int, activation_bits: int) -> None:
    """Append fully connected layers, and the scale and bias that Brevitas' TensorNorm leaves at the end."""
    for count in neurons[:-1]:
        builder.fully_connected(count, weight_bits)
        builder.batch_norm()
        builder.quantise(activation_bits)
    builder.fully_connected(neurons[-1], weight_bits)
    for op_type, value in (("Sub", 0.0), ("Div", 1.0), ("Mul", 1.0), ("Add", 0.0)):
        builder.scale(op_type, value)


def mobilenet_v1(bits: int) -> onnx.ModelProto:
    """Return Brevitas' MobileNet-v1 for 224x224 images; the first layer has 8-bit weights and reads raw pixels."""
    builder = ModelBuilder(f"mobilenet_v1_{bits}b", (1, 3, 224, 224))
    builder.conv(32, (3, 3), 8, strides=(2, 2))
    builder.activation(bits)
    for signed_channels in MOBILENET_LAYERS:
        stride = 1 if signed_channels < 0 else 2
        first = builder.shape[1] == MOBILENET_LAYERS[0] // 2
        strides = (1, 1) if first else (stride, stride)
        builder.conv(builder.shape[1], (3, 3), bits, strides=strides, pads=(1, 1, 1, 1), group=builder.shape[1])
        builder.activation(bits)
        builder.conv(abs(signed_channels), (1, 1), bits)
        builder.activation(bits)
    builder.average_pool((7, 7), (1, 1), truncated_bits=bits)
    builder.flatten()
    builder.fully_connected(1000, bits)
    return builder.model()


def resnet50(
    weight_bits: int, activation_bits: int, residual_bits: int, *, strided_first: bool = False
) -> onnx.ModelProto:
    """Return ResNet-50 for 224x224 images, quantised where FINN's is; first and last layer have 8 bits.

    Both branches of an addition share a signed quantiser of ``residual_bits``, as Brevitas needs it, and the sum gets
    as many; layers read ``activation_bits``. A stage halves height and width in its first 3x3 convolution, or with
    ``strided_first`` in the 1x1 convolution before, as the network was first published.
    """
    bits = (weight_bits, activation_bits, residual_bits)

    def convolutions(channels: int, stride: int) -> tuple[tuple[int, int, int], ...]:
        strides = (stride, 1) if strided_first else (1, stride)
        return (channels, 1, strides[0]), (channels, 3, strides[1]), (4 * channels, 1, 1)

    return _resnet(f"resnet50_w{weight_bits}a{activation_bits}", bits, convolutions, projects_first=True)


def resnet34(weight_bits: int, activation_bits: int, residual_bits: int) -> onnx.ModelProto:
    """Return ResNet-34 for 224x224 images, quantised as `resnet50`; three of its blocks project their input."""

    def convolutions(channels: int, stride: int) -> tuple[tuple[int, int, int], ...]:
        return (channels, 3, stride), (channels, 3, 1)

    bits = (weight_bits, activation_bits, residual_bits)
    return _resnet(f"resnet34_w{weight_bits}a{activation_bits}", bits, convolutions, projects_first=False)


def _resnet(
    name: str,
    bits: tuple[int, int, int],
    convolutions: Callable[[int, int], tuple[tuple[int, int, int], ...]],
    *,
    projects_first: bool,
) -> onnx.ModelProto:
    """Return a residual network; ``convolutions`` are those of a block of so many channels and such a stride."""
    builder = ModelBuilder(name, (1, 3, 224, 224))
    builder.quantise(8, narrow=False)
    builder.conv(64, (7, 7), 8, strides=(2, 2), pads=(3, 3, 3, 3))
    builder.activation(bits[2])
    builder.max_pool((3, 3), (2, 2), (1, 1, 1, 1))
    for stage, (blocks, channels) in enumerate(RESNET_STAGES):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            projects = not block and (stage > 0 or projects_first)
            _residual_block(builder, convolutions(channels, stride), stride, bits, projects=projects)
    builder.average_pool((7, 7), (1, 1))
    builder.flatten()
    builder.quantise(8, signed=False, narrow=False)
    builder.fully_connected(1000, 8)
    builder.tensor = builder.node("Softmax", [builder.tensor])
    return builder.model()


def _residual_block(
    builder: ModelBuilder,
    convolutions: tuple[tuple[int, int, int], ...],
    stride: int,
    bits: tuple[int, int, int],
    *,
    projects: bool,
) -> None:
    """Append convolutions (channels, kernel, stride), added to the input or to a 1x1 convolution of it."""
    weight_bits, activation_bits, residual_bits = bits
    skip, shape = builder.tensor, builder.shape
    builder.quantise(activation_bits, signed=False, narrow=False)
    narrow = builder.tensor
    for number, (channels, kernel, step) in enumerate(convolutions):
        if number:
            builder.activation(activation_bits)
        pads = (1, 1, 1, 1) if kernel == 3 else (0, 0, 0, 0)
        builder.conv(channels, (kernel, kernel), weight_bits, strides=(step, step), pads=pads)
    builder.batch_norm()
    builder.quantise(residual_bits, narrow=False)
    main, builder.tensor = builder.tensor, skip
    if projects:
        builder.tensor, builder.shape = narrow, shape
        builder.conv(convolutions[-1][0], (1, 1), weight_bits, strides=(stride, stride))
        builder.batch_norm()
    builder.quantise(residual_bits, narrow=False)
    builder.add(main)
    builder.relu()
    builder.quantise(residual_bits, signed=False, narrow=False)


def densenet121(bits: int) -> onnx.ModelProto:
    """Return DenseNet-121 for 224x224 images; first and last layer have 8 bits.

    What is concatenated shares a signed quantiser, as Brevitas needs it; layers read unsigned activations.
    """
    builder = ModelBuilder(f"densenet121_w{bits}a{bits}", (1, 3, 224, 224))
    builder.quantise(8, narrow=False)
    builder.conv(2 * DENSENET121_GROWTH, (7, 7), 8, strides=(2, 2), pads=(3, 3, 3, 3))
    builder.activation(bits)
    builder.max_pool((3, 3), (2, 2), (1, 1, 1, 1))
    for block, layers in enumerate(DENSENET121_BLOCKS):
        if block:
            _transition(builder, bits)
        builder.quantise(bits, narrow=False)
        for _ in range(layers):
            _dense_layer(builder, bits)
    builder.activation(bits)
    builder.average_pool((7, 7), (1, 1))
    builder.flatten()
    builder.quantise(8, signed=False, narrow=False)
    builder.fully_connected(1000, 8)
    return builder.model()


def _dense_layer(builder: ModelBuilder, bits: int) -> None:
    """Append 1x1 and 3x3 convolution, each behind its activation, and concatenate what they leave to the input."""
    start, channels = builder.tensor, builder.shape[1]
    builder.activation(bits)
    builder.conv(4 * DENSENET121_GROWTH, (1, 1), bits)
    builder.activation(bits)
    builder.conv(DENSENET121_GROWTH, (3, 3), bits, pads=(1, 1, 1, 1))
    builder.quantise(bits, narrow=False)
    builder.concat(start, channels)


def _transition(builder: ModelBuilder, bits: int) -> None:
    """Append a 1x1 convolution that halves the channels, and an average pool that halves height and width."""
    builder.activation(bits)
    builder.conv(builder.shape[1] // 2, (1, 1), bits)
    builder.quantise(bits, narrow=False)
    builder.average_pool((2, 2), (2, 2))


def models() -> dict[str, bytes]:
    """Return the content of every example file by its name."""
    made = {
        "cnv_2w2a.onnx": cnv(2, 2),
        "cnvw1a1.onnx": cnv(1, 1, BNN_PYNQ_NEURONS),
        "cnvw2a2.onnx": cnv(2, 2, BNN_PYNQ_NEURONS),
        "densenet121_w4a4.onnx": densenet121(4),
        "mobilenet_v1_w4a4.onnx": mobilenet_v1(4),
        "resnet50_w1a2.onnx": resnet50(1, 2, 4),
        "tfc_1w1a.onnx": tfc(1, 1),
    }
    return {name: model.SerializeToString(deterministic=True) for name, model in made.items()}


def main() -> None:
    """Write the example files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    for name, content in models().items():
        (folder / name).write_bytes(content)
        print(f"{folder / name}: {len(content)} bytes")


if __name__ == "__main__":
    main()
