"""Cycles a frame by the estimators of SAMO's fork of FINN (2022-03), of the kinds that FINN counts otherwise today.

SAMO (c562238) reads them from ``get_exp_cycles`` of the fork; a plan has them with ``--costs samo``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from floorflow.verify.finn.engines import FoldedEngine


def _window(engine: FoldedEngine) -> int:
    """Fill a kernel's rows once; then each row of windows takes its words out or the rows in, whichever is longer."""
    width, out = engine.pair("IFMDim")[1], engine.pair("OFMDim")
    kernel, stride = engine.pair("ConvKernelDim")[0], engine.pair("Stride", [1, 1])[0]
    words = Fraction(engine.number("IFMChannels"), engine.simd)
    row = max(out[1] * kernel * kernel * words, stride * width * words)
    return math.ceil(width * kernel * words + out[0] * row)


def _max_pool(engine: FoldedEngine) -> int:
    height, width = engine.pair("ImgDim")
    return height * width + height * width // engine.pair("PoolDim")[0]


def _pool(engine: FoldedEngine) -> int:
    side, kernel = engine.pair("OutImgDims")[0], engine.pair("KernelSize")[0]
    return math.ceil(Fraction(engine.number("Channels") * kernel * kernel * side * side, engine.pe))


SAMO_CYCLES: Mapping[str, Callable[[FoldedEngine], int]] = {
    "ConvolutionInputGenerator_hls": _window,
    "ConvolutionInputGenerator_rtl": _window,
    "StreamingMaxPool_hls": _max_pool,
    "Pool_hls": _pool,
}
"""By kind; all others are FINN's own."""
