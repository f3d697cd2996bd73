"""Cycles a frame of every FINN kind, from its attributes and its folding (FINN main 39f0c9a, dev 73ba5ed), and fills.

Divisions are exact for legal foldings; illegal ones are reported by `foldings` and may give any number here. A plan
with ``--costs samo`` has the cycles of SAMO's fork of FINN (2022-03; SAMO c562238 reads ``get_exp_cycles``). The fill
is how long an engine holds back its first word (docs/plan.md, *Window fill*).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from floorflow.verify.finn.engines import ELEMENTWISE, AttributeProblem, FoldedEngine

Rule = Callable[[FoldedEngine], int]


def _mvau(engine: FoldedEngine) -> int:
    folds = (engine.number("MH") // engine.pe) * (engine.number("MW") // engine.simd)
    return folds * engine.pixels() * engine.number("TH", 1)


def _vvau(engine: FoldedEngine) -> int:
    height, width = engine.pair("Kernel")
    weights = engine.number("Channels") * height * width
    return weights // engine.pe // engine.simd * math.prod(engine.pair("Dim"))


def _window_rtl(engine: FoldedEngine) -> int:
    (height, width), (kernel_h, kernel_w) = engine.pair("IFMDim"), engine.pair("ConvKernelDim")
    folds = engine.number("IFMChannels") // engine.simd
    repeats = engine.number("M", 1)
    if (engine.parallel_window and kernel_h * kernel_w * repeats > 1) or kernel_h == kernel_w == 1:
        return height * width * folds + 2
    if 1 in (height, width):
        return _window_rtl_1d(engine, folds)
    return _window_rtl_2d(engine, folds)


def _window_rtl_1d(engine: FoldedEngine, folds: int) -> int:
    # FINN swaps the axes so that the long one is the width; the short one is 1 in every attribute.
    long = 0 if engine.pair("IFMDim")[1] == 1 else 1
    pick = {
        name: engine.pair(name, [1, 1])[long] for name in ("IFMDim", "OFMDim", "ConvKernelDim", "Stride", "Dilation")
    }
    kernel, stride, outputs = pick["ConvKernelDim"], pick["Stride"], pick["OFMDim"]
    depthwise = engine.number("depthwise", 0) == 1
    if depthwise and engine.flavour == "plus":
        reads = outputs * kernel * folds + (folds - 1) * kernel
        return max(reads, pick["IFMDim"] * folds + folds * (kernel - 1) * (stride - 1)) + 2
    extra = folds * (kernel - 1) * (stride - 1) - (kernel - 1) if depthwise else 0
    return outputs * kernel * folds + 2 + extra


def _window_rtl_2d(engine: FoldedEngine, folds: int) -> int:
    width = engine.pair("IFMDim")[1]
    out_height, out_width = engine.pair("OFMDim")
    kernel_h, kernel_w = engine.pair("ConvKernelDim")
    stride_h, stride_w = engine.pair("Stride", [1, 1])
    dilation_h, dilation_w = engine.pair("Dilation", [1, 1])
    fill = ((kernel_h - 1) * dilation_h * width + (kernel_w - 1) * dilation_w + 1) * folds
    row = max(out_width * kernel_w * kernel_h * folds, stride_w * width * folds)
    if engine.number("depthwise", 0) == 1:
        row += out_width * (stride_w - 1) * (folds - 1)
        fill += (stride_h - 1) * width * folds
    return fill + out_height * row


def hls_window_is_parallel(engine: FoldedEngine) -> bool:
    """Whether the HLS window emits its kernel in one word: only in one dimension and with nothing in the way."""
    plain = {engine.pair("Stride", [1, 1]), engine.pair("Dilation", [1, 1])} == {(1, 1)}
    unfolded = engine.simd == engine.number("IFMChannels")
    dense = engine.number("depthwise", 0) == 0 and engine.number("is1D", 0) == 1
    return engine.parallel_window and plain and unfolded and dense


def _window_hls_1d(engine: FoldedEngine) -> int:
    width, outputs = engine.pair("IFMDim")[1], engine.pair("OFMDim")[1]
    kernel, stride = engine.pair("ConvKernelDim")[1], engine.pair("Stride", [1, 1])[1]
    folds = engine.number("IFMChannels") // engine.simd
    if hls_window_is_parallel(engine):
        return width + 1
    if engine.number("depthwise", 0) == 0:
        return 1 + outputs * kernel * folds
    if stride > 2 or engine.pair("Dilation", [1, 1])[1] > 1:
        return width * folds + outputs * kernel * folds
    return 1 + outputs * kernel * folds + (folds - 1) * (kernel - 1)


def _window_hls(engine: FoldedEngine) -> int:
    if engine.number("is1D", 0) == 1:
        return _window_hls_1d(engine)
    width = engine.pair("IFMDim")[1]
    out_height, out_width = engine.pair("OFMDim")
    kernel_h, kernel_w = engine.pair("ConvKernelDim")
    stride_w = engine.pair("Stride", [1, 1])[1]
    dilation_h = engine.pair("Dilation", [1, 1])[0]
    folds = engine.number("IFMChannels") // engine.simd
    row = max(out_width * kernel_w * kernel_h * folds, stride_w * width * folds)
    return width * kernel_h * dilation_h * folds + out_height * row


def _elementwise(channels: str) -> Rule:
    def cycles(engine: FoldedEngine) -> int:
        return engine.pixels() * engine.number(channels) // engine.pe

    return cycles


def _padding(engine: FoldedEngine) -> int:
    height, width = engine.pair("ImgDim")
    top, left, bottom, right = (*engine.numbers("Padding"), 0, 0, 0)[:4]
    folds = engine.number("NumChannels") // engine.simd
    return folds * engine.pixels() * (height + top + bottom) * (width + left + right)


def _padding_pixel(engine: FoldedEngine) -> int:
    (height, width), (stride_h, stride_w) = engine.pair("ImgDim"), engine.pair("Stride")
    folds = engine.number("NumChannels") // engine.simd
    return folds * engine.pixels() * (height + (height - 1) * (stride_h - 1)) * (width + (width - 1) * (stride_w - 1))


def _pool(engine: FoldedEngine) -> int:
    work = engine.number("Channels") * math.prod(engine.pair("KernelSize")) // engine.pe
    return work * math.prod(engine.pair("OutImgDims")) * engine.number("BatchSize", 1)


def max_pool_outputs(engine: FoldedEngine) -> int:
    """Return the output pixels of a one-dimensional streaming max pool."""
    width, kernel = engine.pair("ImgDim")[1], engine.pair("PoolDim")[1]
    if engine.number("CeilMode", 0):
        return -(-(width - kernel) // kernel) + 1
    return (width - kernel) // kernel + 1


def max_pool_is_1d(engine: FoldedEngine) -> bool:
    """Whether a streaming max pool runs along one axis: only then does PE fold it."""
    return engine.pair("ImgDim")[0] == 1 and engine.pair("PoolDim")[0] == 1


def _max_pool(engine: FoldedEngine) -> int:
    width, kernel = engine.pair("ImgDim")[1], engine.pair("PoolDim")[1]
    if max_pool_is_1d(engine):
        return max_pool_outputs(engine) * (engine.number("NumChannels") // engine.pe) * (kernel + 1)
    return int(width * width * (1 + 1 / (kernel * kernel)))


def _global_pool(engine: FoldedEngine) -> int:
    folds = engine.number("NumChannels") // engine.pe
    return engine.pixels() * folds + folds


def _label_select(engine: FoldedEngine) -> int:
    # FINN dev pads the labels to a multiple of PE.
    return -(-engine.number("Labels") // engine.pe)


def _channels_moved(engine: FoldedEngine) -> int:
    if not engine.has("ChannelsPerStream"):
        return engine.pixels()
    return engine.pixels() * sum(engine.numbers("ChannelsPerStream")) // engine.simd


def _upsample(engine: FoldedEngine) -> int:
    if engine.has("HO"):
        pixels = engine.number("HO") * engine.number("WO")
        return pixels * engine.number("NumChannels") // engine.simd
    side = engine.number("OFMDim")
    return (side if engine.number("DimMode", 0) else side * side) * engine.pixels()


def _down_sampler(engine: FoldedEngine) -> int:
    side = engine.pair("ImgDim")[0]
    pixels = side if engine.number("is1D", 0) else side * side
    return engine.number("NumChannels") // engine.simd * engine.pixels() * pixels


def _elementwise_binary(engine: FoldedEngine) -> int:
    return math.prod(engine.numbers("out_shape")) // engine.pe


def _lookup(engine: FoldedEngine) -> int:
    return math.prod(engine.numbers("InputShape"))


CYCLES: dict[str, Rule] = {
    "MVAU_hls": _mvau,
    "MVAU_rtl": _mvau,
    "VVAU_hls": _vvau,
    "VVAU_rtl": _vvau,
    "ConvolutionInputGenerator_rtl": _window_rtl,
    "ConvolutionInputGenerator_hls": _window_hls,
    "Thresholding_rtl": _elementwise("NumChannels"),
    "Thresholding_hls": _elementwise("NumChannels"),
    "FMPadding_rtl": _padding,
    "FMPadding_hls": _padding,
    "FMPadding_Pixel_hls": _padding_pixel,
    "Pool_hls": _pool,
    "StreamingMaxPool_hls": _max_pool,
    "AddStreams_hls": _elementwise("NumChannels"),
    "StreamingEltwise_hls": _elementwise("NumChannels"),
    **dict.fromkeys(ELEMENTWISE, _elementwise_binary),
    "DuplicateStreams_hls": _elementwise("NumChannels"),
    "ChannelwiseOp_hls": _elementwise("NumChannels"),
    "GlobalAccPool_hls": _global_pool,
    "LabelSelect_hls": _label_select,
    "StreamingConcat_hls": _channels_moved,
    "StreamingSplit_hls": _channels_moved,
    "UpsampleNearestNeighbour_hls": _upsample,
    "DownSampler_hls": _down_sampler,
    "Lookup_hls": _lookup,
    "Reshape_rtl": _elementwise_binary,
}
"""Cycles a frame of each kind that check knows."""


def _samo_window(engine: FoldedEngine) -> int:
    """Fill a kernel's rows once; then each row of windows takes its words out or the rows in, whichever is longer."""
    width, out = engine.pair("IFMDim")[1], engine.pair("OFMDim")
    kernel, stride = engine.pair("ConvKernelDim")[0], engine.pair("Stride", [1, 1])[0]
    words = Fraction(engine.number("IFMChannels"), engine.simd)
    row = max(out[1] * kernel * kernel * words, stride * width * words)
    return math.ceil(width * kernel * words + out[0] * row)


def _samo_max_pool(engine: FoldedEngine) -> int:
    height, width = engine.pair("ImgDim")
    return height * width + height * width // engine.pair("PoolDim")[0]


def _samo_pool(engine: FoldedEngine) -> int:
    side, kernel = engine.pair("OutImgDims")[0], engine.pair("KernelSize")[0]
    return math.ceil(Fraction(engine.number("Channels") * kernel * kernel * side * side, engine.pe))


SAMO_CYCLES: Mapping[str, Callable[[FoldedEngine], int]] = {
    "ConvolutionInputGenerator_hls": _samo_window,
    "ConvolutionInputGenerator_rtl": _samo_window,
    "StreamingMaxPool_hls": _samo_max_pool,
    "Pool_hls": _samo_pool,
}
"""By kind; all others are FINN's own."""


def window_fill(engine: FoldedEngine) -> Fraction:
    """Return the share of a frame until the first word: of a sliding window, all for a global sum, else 0."""
    if engine.kind == "GlobalAccPool_hls":
        return Fraction(1)
    if not engine.kind.startswith("ConvolutionInputGenerator"):
        return Fraction(0)
    try:
        (height, width), (kernel_h, kernel_w) = engine.pair("IFMDim"), engine.pair("ConvKernelDim")
        dilation_h, dilation_w = engine.pair("Dilation", [1, 1])
    except AttributeProblem:
        return Fraction(0)  # reported where the folding is checked
    image = height * width
    pixels = (kernel_h - 1) * dilation_h * width + (kernel_w - 1) * dilation_w + 1
    return Fraction(min(pixels, image), image) if image else Fraction(0)


def reads_only_padding(window: FoldedEngine, padding: FoldedEngine) -> bool:
    """Whether all that a window reads of a padded image comes before the image's first own pixel."""
    if not (window.kind.startswith("ConvolutionInputGenerator") and padding.kind.startswith("FMPadding")):
        return False
    try:
        width, (top, left) = window.pair("IFMDim")[1], tuple(padding.numbers("Padding")[:2])
        last_row, last_column = (
            (outputs - 1) * stride + (kernel - 1) * dilation
            for outputs, stride, kernel, dilation in zip(
                window.pair("OFMDim"),
                window.pair("Stride"),
                window.pair("ConvKernelDim"),
                window.pair("Dilation", [1, 1]),
                strict=True,
            )
        )
    except (AttributeProblem, ValueError):
        return False  # reported where the folding is checked
    return last_row * width + last_column < top * width + left
