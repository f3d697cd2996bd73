"""A small residual network: a block with an identity shortcut, and one whose shortcut is a convolution."""

import onnx

from examples.make_models import ModelBuilder

CHANNELS = 4


def residual_network(bits: int = 6) -> onnx.ModelProto:
    """Return a quantised network with two residual blocks, pooled and classified."""
    builder = ModelBuilder("residual", (1, 3, 8, 8))
    builder.quantise(bits, narrow=False)
    _conv(builder, CHANNELS, bits)
    _active(builder, bits)
    start = builder.tensor
    _conv(builder, CHANNELS, bits)
    _active(builder, bits)
    _conv(builder, CHANNELS, bits)
    _join(builder, start, bits)
    start, shape = builder.tensor, builder.shape
    _conv(builder, 2 * CHANNELS, bits, stride=2)
    _active(builder, bits)
    _conv(builder, 2 * CHANNELS, bits)
    builder.quantise(bits, narrow=False)
    end, after = builder.tensor, builder.shape
    builder.tensor, builder.shape = start, shape
    builder.conv(2 * CHANNELS, (1, 1), bits, strides=(2, 2))
    builder.quantise(bits, narrow=False)
    builder.add(end)
    builder.shape = after
    _active(builder, bits)
    builder.max_pool((4, 4), (4, 4))
    builder.flatten()
    _classify(builder, 10, bits)
    return builder.model()


def _conv(builder: ModelBuilder, channels: int, bits: int, stride: int = 1) -> None:
    builder.conv(channels, (3, 3), bits, strides=(stride, stride), pads=(1, 1, 1, 1))


def _classify(builder: ModelBuilder, classes: int, bits: int) -> None:
    """Append a matrix product: of Gemm QONNX's preparation for hls4ml asks for a bias."""
    weights = builder.quantised(builder.parameter((builder.shape[1], classes), 0.5), bits)
    builder.tensor, builder.shape = builder.node("MatMul", [builder.tensor, weights]), (1, classes)


def _active(builder: ModelBuilder, bits: int) -> None:
    builder.relu()
    builder.quantise(bits, signed=False, narrow=False)


def _join(builder: ModelBuilder, other: str, bits: int) -> None:
    """Append the sum with the shortcut."""
    builder.quantise(bits, narrow=False)
    builder.add(other)
    _active(builder, bits)
