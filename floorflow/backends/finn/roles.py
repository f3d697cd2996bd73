"""What other parts of floorflow ask of the kinds of FINN's engines: role, window fill and a short word for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.names import family
from floorflow.dataflow.model import Engine, Role
from floorflow.errors import InputError

_ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("MVAU", "VVAU", "Pool", "StreamingMaxPool", "GlobalAccPool"), "core"),
    **dict.fromkeys(("FMPadding", "FMPadding_Pixel", "ConvolutionInputGenerator"), "front"),
    **dict.fromkeys(("AddStreams", "ElementwiseAdd", "StreamingConcat", "StreamingEltwise"), "front"),
}
"""All others are behind what comes before them."""
_LABELS: Mapping[str, str] = {
    "AddStreams": "add",
    "ChannelwiseOp": "channelwise",
    "ConvolutionInputGenerator": "window",
    "DuplicateStreams": "duplicate",
    "ElementwiseAdd": "add",
    "ElementwiseMul": "multiply",
    "FMPadding": "pad",
    "FMPadding_Pixel": "spread",
    "GlobalAccPool": "average pool",
    "LabelSelect": "label",
    "Pool": "pool",
    "StreamingConcat": "concat",
    "StreamingMaxPool": "max pool",
    "StreamingSplit": "split",
    "Thresholding": "threshold",
    "UpsampleNearestNeighbour": "upsample",
}
"""All others are called by their op types, without hls or rtl."""


def described(engine: Engine) -> Engine:
    """Return an engine with what its kind and attributes say of its role, its window fill and its label."""
    layer = family(engine.kind)
    role = _ROLES.get(layer, "behind")
    return replace(engine, role=role, window_fill=_window_fill(engine), label=_LABELS.get(layer, layer))


def _window_fill(engine: Engine) -> Fraction:
    """Return the share of a frame until the first word: of windows and of sums over the image, else 0."""
    layer = family(engine.kind)
    if layer == "GlobalAccPool":
        return Fraction(1)
    if layer != "ConvolutionInputGenerator":
        return Fraction(0)
    reader = Reader(engine.kind, engine.attributes)
    try:
        (height, width), (kernel_h, kernel_w) = reader.pair("IFMDim"), reader.pair("ConvKernelDim")
        dilation_h, dilation_w = reader.pair("Dilation", (1, 1))
    except InputError:
        # Its foldings are refused for the same reason, with the engine's name.
        return Fraction(0)
    pixels = min((kernel_h - 1) * dilation_h * width + (kernel_w - 1) * dilation_w + 1, height * width)
    return Fraction(pixels, height * width)
