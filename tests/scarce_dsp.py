"""A small network whose matrix units FINN makes hls, rtl and rtl again, and what leaves it hardly any DSP."""

import onnx

from examples.make_models import ModelBuilder
from floorflow.request import DEFAULT_CAP

FEW_DSP = {**DEFAULT_CAP, "DSP": 0.001}
"""Of 1,824 DSPs of an xcku5p one is left."""


def mixed_bits(first: int = 2) -> onnx.ModelProto:
    """Return convolutions with weights of ``first`` and 4 bits and fully connected layers of 4 and 2; data has 4."""
    builder = ModelBuilder("mixed_bits", (1, 3, 10, 10))
    for bits in (first, 4):
        builder.conv(8, (3, 3), bits)
        builder.relu()
        builder.quantise(4, signed=False, narrow=False)
    builder.flatten()
    builder.fully_connected(16, 4)
    builder.relu()
    builder.quantise(4, signed=False, narrow=False)
    builder.fully_connected(10, 2)
    return builder.model()
