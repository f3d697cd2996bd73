"""Cycles and resources of the fork's nodes for every folding, from a node's type and its attributes.

Source: SAMO (c562238) and the fork of FINN that it installs (2022-03): ``get_exp_cycles``, ``lut_estimation``,
``bram_estimation``, ``dsp_estimation``. FF has no estimate and is 0. An option's input folding is SIMD, its output
folding PE; both are equal but for StreamingFCLayer_Batch. Cycles are a batch's where attributes hold a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, gcd, log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.finn.datatype import bits_of
from floorflow.backends.finn.samo.memories import DEEPEST_IN_LUTS, blocks, line_width, luts_of_words

Floats = NDArray[np.float64]
Attributes = Mapping[str, Any]
Costs = tuple[Floats, Floats, Floats, Floats]
"""Cycles, LUT, DSP and BRAM18, (n,) each."""


def options(op: str, channels_in: int, channels_out: int, attributes: Attributes) -> Floats:
    """Return every option: input, output and kernel folding, cycles, LUT, DSP, BRAM18 and FF, (n, 8).

    Raises
    ------
    KeyError
        If the fork has no estimator for the type, or an attribute is missing.

    """
    if op == "StreamingFCLayer_Batch":
        pairs = [(a, b) for a in _divisors(channels_in) for b in _divisors(channels_out)]
    else:
        pairs = [(a, a) for a in _divisors(gcd(channels_in, channels_out))]
    simd, pe = np.array(pairs, dtype=np.float64).T
    cycles, lut, dsp, bram = ESTIMATORS[op](attributes, simd, pe)
    nothing = np.zeros_like(simd)
    return np.stack([simd, pe, nothing + 1, cycles, nothing + lut, nothing + dsp, nothing + bram, nothing], axis=1)


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def _vectors(attributes: Attributes) -> int:
    vectors = attributes.get("numInputVectors", [1])
    return prod(vectors) if isinstance(vectors, list | tuple) else int(vectors)


def _square(value: Any) -> tuple[int, int]:
    """Return rows and columns of what may be given as one number."""
    return (value[0], value[1]) if isinstance(value, list | tuple) else (value, value)


def _products(a: Attributes, bits: tuple[int, int], lanes: Floats, pe: Floats, *, sums: int, rows: int) -> Floats:
    """Return the LUTs of products, adders, accumulators and thresholds: ``sums`` products a value, ``rows`` values."""
    both = sum(bits)
    accumulator = both + ceil(log2(sums))
    multiplier = 0 if a.get("resType") == "dsp" else (2 * ceil(both / 6) - 1) * both
    adder = np.where(lanes > 0, both * (2 * lanes - 1), 0)
    thresholds = comparators = np.zeros_like(pe)
    if not a.get("noActivation", 0):
        steps = 2 ** bits_of(a["outputDataType"]) - 1
        thresholds = steps * accumulator * np.ceil(rows / pe / 64)
        comparators = comparators + steps * accumulator
    return 300 + 1.1 * (pe * (np.maximum(lanes, 1) * multiplier + adder + accumulator + thresholds + comparators))


def _matrix(a: Attributes, simd: Floats, pe: Floats) -> Costs:
    weight, value = bits_of(a["weightDataType"]), bits_of(a["inputDataType"])
    height, width = a["MH"], a["MW"]
    cycles = height / pe * (width / simd) * _vectors(a)
    lut = _products(a, (weight, value), simd, pe, sums=width, rows=height)
    depth, word = width * height / (pe * simd), pe * simd * weight
    mode, style = a.get("mem_mode", "const"), a.get("ram_style", "auto")
    shallow = (depth <= DEEPEST_IN_LUTS) & (mode == "const")
    in_luts = shallow | (mode == "decoupled" and style == "distributed")
    lut = np.floor(lut + np.where(in_luts, luts_of_words(word, depth), 0))
    dsp = pe * simd * ceil((weight + value) / 48) if a.get("resType") == "dsp" else 0 * pe
    return cycles, lut, dsp, np.where(in_luts, 0, blocks(word, depth))


def _vector_vector(a: Attributes, _: Floats, pe: Floats) -> Costs:
    weight, value = bits_of(a["weightDataType"]), bits_of(a["inputDataType"])
    taps, channels = prod(a["Kernel"]), a["Channels"]
    cycles = channels * taps / pe * prod(a["Dim"]) * a.get("BatchSize", 1)
    lut = _products(a, (weight, value), np.zeros_like(pe), pe, sums=taps, rows=channels)
    depth = taps * channels / pe
    in_luts = depth <= DEEPEST_IN_LUTS
    lut = np.floor(lut + np.where(in_luts, pe * luts_of_words(np.full_like(pe, weight), depth), 0))
    dsp = pe * ceil((weight + value) / 48) if a.get("resType") == "dsp" else 0 * pe
    return cycles, lut, dsp, np.where(in_luts, 0, pe * blocks(np.full_like(pe, weight), depth))


def _window(a: Attributes, simd: Floats, _: Floats) -> Costs:
    """Sliding window: it fills once a batch, then writes each row of windows or reads the rows for it."""
    channels, value = a["IFMChannels"], bits_of(a["inputDataType"])
    kernel, stride = a["ConvKernelDim"][0], a["Stride"][0]
    rows_in, columns_in = _square(a["IFMDim"])
    rows_out, columns_out = _square(a["OFMDim"])
    words = channels / simd
    a_row = np.maximum(columns_out * kernel**2 * words, stride * columns_in * words)
    cycles = columns_in * kernel * words + rows_out * a_row * a.get("BatchSize", 1)
    buffers, depth, style = kernel + stride, rows_in * words, a.get("ram_style", "auto")
    lut = 300 + (buffers * luts_of_words(simd * value, depth) if style == "distributed" else 0 * simd)
    bram = buffers * np.ceil(simd * value / line_width(depth)) if style == "block" else 0 * simd
    return cycles, lut, 0 * simd, bram


def _thresholds(a: Attributes, _: Floats, pe: Floats) -> Costs:
    channels, value = a["NumChannels"], bits_of(a["inputDataType"])
    deep = np.where(channels > pe, value * pe * np.ceil(channels / pe / 64), 0)
    return channels / pe * _vectors(a), value * pe + deep, 0 * pe, 0 * pe


def _free(cycles: Callable[[Attributes, Floats], Floats]) -> Callable[[Attributes, Floats, Floats], Costs]:
    """Return the estimator of a node for which the fork counts cycles alone."""

    def estimator(a: Attributes, simd: Floats, _: Floats) -> Costs:
        return cycles(a, simd), 0 * simd, 0 * simd, 0 * simd

    return estimator


def _pad_cycles(a: Attributes, simd: Floats) -> Floats:
    (rows, columns), padding = _square(a["ImgDim"]), a["Padding"]
    padded = (rows + padding[0] + padding[2]) * (columns + padding[1] + padding[3])
    return np.asarray(a["NumChannels"] / simd * _vectors(a) * padded)


def _down_cycles(a: Attributes, simd: Floats) -> Floats:
    return np.asarray(a["NumChannels"] / simd * _vectors(a) * prod(_square(a["ImgDim"])))


def _max_pool_cycles(a: Attributes, simd: Floats) -> Floats:
    rows, columns = _square(a["ImgDim"])
    pool = _square(a["PoolDim"])[0]
    return np.full_like(simd, int(rows * (columns + columns / pool)) * a.get("BatchSize", 1))


def _pool_cycles(a: Attributes, simd: Floats) -> Floats:
    taps, pixels = a["KernelSize"] ** 2, a["OutImgDim"] ** 2
    return np.asarray(a["Channels"] * taps / simd * pixels * a.get("BatchSize", 1))


ESTIMATORS: Mapping[str, Callable[[Attributes, Floats, Floats], Costs]] = {
    "StreamingFCLayer_Batch": _matrix,
    "Vector_Vector_Activate_Batch": _vector_vector,
    "ConvolutionInputGenerator": _window,
    "Thresholding_Batch": _thresholds,
    "ChannelwiseOp_Batch": _thresholds,
    "FMPadding_Batch": _free(_pad_cycles),
    "DownSampler": _free(_down_cycles),
    "StreamingMaxPool_Batch": _free(_max_pool_cycles),
    "Pool_Batch": _free(_pool_cycles),
    "AddStreams_Batch": _free(lambda a, simd: np.asarray(a["NumChannels"] / simd * _vectors(a))),
    "DuplicateStreams_Batch": _free(lambda a, simd: np.asarray(a["NumChannels"] / simd * _vectors(a))),
    "LabelSelect_Batch": _free(lambda a, simd: np.full_like(simd, a["Labels"] * _vectors(a))),
}
"""By type: a function of attributes, SIMD and PE, (n,) each."""
