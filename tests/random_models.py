"""Random QONNX chains of conv, pool and fully connected layers with odd sizes, strides and paddings."""

from __future__ import annotations

import random

import onnx

from examples.make_models import ModelBuilder


def random_chain(seed: int) -> onnx.ModelProto:
    """Return a quantised chain that floorflow reads and lowers; equal seeds give equal models."""
    rng = random.Random(seed)
    shape = (1, rng.choice((1, 2, 3, 5)), rng.randint(5, 17), rng.randint(5, 17))
    builder = ModelBuilder(f"chain_{seed}", shape)
    bits = 8
    if rng.random() < 0.5:
        bits = rng.randint(1, 8)
        builder.scale("Mul", 2.0)
        builder.quantise(bits, narrow=rng.random() < 0.5)
    for _ in range(rng.randint(1, 4)):
        bits = _conv(builder, rng, bits)
        if rng.random() < 0.4:
            _max_pool(builder, rng)
    builder.flatten()
    for _ in range(rng.randint(0, 2)):
        builder.fully_connected(rng.randint(1, 20), rng.randint(1, 8))
        bits = _activation(builder, rng)
    builder.fully_connected(rng.randint(2, 12), rng.randint(1, 8))
    if rng.random() < 0.5:
        builder.scale("Mul", 0.5)
    return builder.model()


def _conv(builder: ModelBuilder, rng: random.Random, bits: int) -> int:
    """Append a convolution that fits, and its activation; one-bit data is never padded."""
    pads = (0, 0, 0, 0)
    if bits > 1:
        pads = (rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2))
    height, width = builder.shape[2] + pads[0] + pads[2], builder.shape[3] + pads[1] + pads[3]
    kernel = rng.randint(1, min(4, height)), rng.randint(1, min(4, width))
    strides = rng.randint(1, min(3, height)), rng.randint(1, min(3, width))
    builder.conv(rng.randint(1, 12), kernel, rng.randint(1, 8), strides=strides, pads=pads)
    return _activation(builder, rng)


def _activation(builder: ModelBuilder, rng: random.Random) -> int:
    """Append batch norm, ReLU or neither, and a quantiser; return its bits."""
    if rng.random() < 0.7:
        builder.batch_norm()
    bits = rng.randint(1, 8)
    if bits > 1 and rng.random() < 0.5:
        builder.relu()
        builder.quantise(bits, signed=False, narrow=False)
    else:
        builder.quantise(bits, narrow=rng.random() < 0.5)
    return bits


def _max_pool(builder: ModelBuilder, rng: random.Random) -> None:
    """Append a max pool that fits, without gaps between its windows."""
    kernel = rng.randint(1, min(3, builder.shape[2])), rng.randint(1, min(3, builder.shape[3]))
    builder.max_pool(kernel, (rng.randint(1, kernel[0]), rng.randint(1, kernel[1])))
