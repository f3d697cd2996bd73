"""Small networks with products of two branches and with channels that are split and joined again."""

import onnx

from examples.make_models import ModelBuilder


def squeeze_and_excite(channels: int = 8, size: int = 6) -> onnx.ModelProto:
    """Return a convolution whose channels are scaled by a gate, which is computed from their averages."""
    builder = ModelBuilder("squeeze_and_excite", (1, 3, size, size))
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(channels, (3, 3), 4, pads=(1, 1, 1, 1))
    builder.activation(4)
    data, shape = builder.tensor, builder.shape
    builder.tensor = builder.node("GlobalAveragePool", [data])
    builder.shape = (1, channels, 1, 1)
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(channels // 4, (1, 1), 4)
    builder.activation(4)
    builder.conv(channels, (1, 1), 4)
    builder.tensor = builder.node("Clip", [builder.tensor, builder.constant(0.0), builder.constant(1.0)])
    builder.quantise(3, signed=False, narrow=False)
    builder.tensor, builder.shape = builder.node("Mul", [data, builder.tensor]), shape
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(channels, (1, 1), 4)
    return builder.model()


def gated_vector(features: int = 12) -> onnx.ModelProto:
    """Return two layers that read the same vector and are multiplied, one of them signed."""
    builder = ModelBuilder("gated_vector", (1, features))
    builder.quantise(4)
    start = builder.tensor
    builder.fully_connected(features, 4)
    builder.quantise(5)
    gated = builder.tensor
    builder.tensor = start
    builder.fully_connected(features, 4)
    builder.activation(3)
    builder.tensor = builder.node("Mul", [gated, builder.tensor])
    builder.quantise(4)
    builder.fully_connected(4, 4)
    return builder.model()


def split(builder: ModelBuilder, channels: tuple[int, ...]) -> list[str]:
    """Append a Split of the channels and return its outputs."""
    sizes = "split_" + "_".join(map(str, channels))
    builder.initialisers[sizes] = onnx.helper.make_tensor(sizes, onnx.TensorProto.INT64, [len(channels)], channels)
    first = builder.node("Split", [builder.tensor, sizes], axis=1)
    outputs = [first, *(f"{first}_{index}" for index in range(1, len(channels)))]
    builder.nodes[-1].output.extend(outputs[1:])
    return outputs


def split_and_joined(channels: tuple[int, int] = (4, 8), size: int = 6) -> onnx.ModelProto:
    """Return ShuffleNet's unit without its shuffle: part of the channels goes through layers, the rest around them."""
    builder = ModelBuilder("split_and_joined", (1, 3, size, size))
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(sum(channels), (3, 3), 4, pads=(1, 1, 1, 1))
    builder.activation(4)
    shape = builder.shape
    around, builder.tensor = split(builder, channels)
    builder.shape = (1, channels[1], *shape[2:])
    builder.conv(channels[1], (3, 3), 4, pads=(1, 1, 1, 1))
    builder.activation(4)
    builder.conv(channels[1], (1, 1), 4)
    builder.activation(4)
    builder.tensor, builder.shape = builder.node("Concat", [around, builder.tensor], axis=1), shape
    builder.conv(4, (1, 1), 4)
    return builder.model()


MODELS = {model.graph.name: model for model in (squeeze_and_excite(), gated_vector(), split_and_joined())}
