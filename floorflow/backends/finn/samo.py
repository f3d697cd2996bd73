"""Foldings of FINN's engines at the cycles and resources of the estimators of SAMO's fork (``--costs samo``).

Source: SAMO (c562238) and the fork of FINN that it installs (2022-03): ``get_exp_cycles``, ``lut_estimation``,
``bram_estimation``, ``dsp_estimation``. FF has no estimate and is 0. An option's input folding is SIMD, its output
folding PE; both are equal but for StreamingFCLayer_Batch. Cycles are a batch's where attributes hold a batch.

The engines are today's; their types and attributes are told to the estimators by the fork's names. The fork has no
parallel windows, no UltraRAM, and no estimator for kinds that came later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil, log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.finn.attributes import bits_of
from floorflow.backends.finn.names import family
from floorflow.dataflow.model import Attributes, Option
from floorflow.dataflow.options import OptionTable
from floorflow.errors import InputError
from floorflow.resources import Resources

DEEPEST_IN_LUTS = 128
"""Words of constant weights up to which the fork keeps them in LUTs."""


def blocks(width: Floats, depth: Floats) -> Floats:
    """Return the blocks of memories so wide and so deep, by the aspect that suits each width."""
    cases = [width == 1, width == 2, width <= 4, width <= 9, (width <= 18) | (depth > 512)]
    counts = [
        np.ceil(depth / 16384),
        np.ceil(depth / 8192),
        np.ceil(depth / 4096) * np.ceil(width / 4),
        np.ceil(depth / 2048) * np.ceil(width / 9),
        np.ceil(depth / 1024) * np.ceil(width / 18),
    ]
    return np.select(cases, counts, np.ceil(depth / 512) * np.ceil(width / 36))


def line_width(depth: Floats) -> Floats:
    """Return how many bits of a line buffer's word one block holds at a depth."""
    steps = [depth <= most for most in (512, 1024, 2048, 4096, 8192)]
    return np.select(steps, [36.0, 18.0, 9.0, 4.0, 2.0], 1.0)


def luts_of_words(width: Floats, depth: Floats) -> Floats:
    """Return the LUTs of a distributed memory, 64 words of a bit each."""
    return width * np.ceil(depth / 64)


Floats = NDArray[np.float64]
ForkAttributes = Mapping[str, Any]
Costs = tuple[Floats, Floats, Floats, Floats]
"""Cycles, LUT, DSP and BRAM18, (n,) each."""


def _vectors(attributes: ForkAttributes) -> int:
    vectors = attributes.get("numInputVectors", [1])
    return prod(vectors) if isinstance(vectors, list | tuple) else int(vectors)


def _square(value: Any) -> tuple[int, int]:
    """Return rows and columns of what may be given as one number."""
    return (value[0], value[1]) if isinstance(value, list | tuple) else (value, value)


def _products(a: ForkAttributes, bits: tuple[int, int], lanes: Floats, pe: Floats, *, sums: int, rows: int) -> Floats:
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


def _matrix(a: ForkAttributes, simd: Floats, pe: Floats) -> Costs:
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


def _vector_vector(a: ForkAttributes, _: Floats, pe: Floats) -> Costs:
    weight, value = bits_of(a["weightDataType"]), bits_of(a["inputDataType"])
    taps, channels = prod(a["Kernel"]), a["Channels"]
    cycles = channels * taps / pe * prod(a["Dim"]) * a.get("BatchSize", 1)
    lut = _products(a, (weight, value), np.zeros_like(pe), pe, sums=taps, rows=channels)
    depth = taps * channels / pe
    in_luts = depth <= DEEPEST_IN_LUTS
    lut = np.floor(lut + np.where(in_luts, pe * luts_of_words(np.full_like(pe, weight), depth), 0))
    dsp = pe * ceil((weight + value) / 48) if a.get("resType") == "dsp" else 0 * pe
    return cycles, lut, dsp, np.where(in_luts, 0, pe * blocks(np.full_like(pe, weight), depth))


def _window(a: ForkAttributes, simd: Floats, _: Floats) -> Costs:
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


def _thresholds(a: ForkAttributes, _: Floats, pe: Floats) -> Costs:
    channels, value = a["NumChannels"], bits_of(a["inputDataType"])
    deep = np.where(channels > pe, value * pe * np.ceil(channels / pe / 64), 0)
    return channels / pe * _vectors(a), value * pe + deep, 0 * pe, 0 * pe


def _free(cycles: Callable[[ForkAttributes, Floats], Floats]) -> Callable[[ForkAttributes, Floats, Floats], Costs]:
    """Return the estimator of a node for which the fork counts cycles alone."""

    def estimator(a: ForkAttributes, simd: Floats, _: Floats) -> Costs:
        return cycles(a, simd), 0 * simd, 0 * simd, 0 * simd

    return estimator


def _pad_cycles(a: ForkAttributes, simd: Floats) -> Floats:
    (rows, columns), padding = _square(a["ImgDim"]), a["Padding"]
    padded = (rows + padding[0] + padding[2]) * (columns + padding[1] + padding[3])
    return np.asarray(a["NumChannels"] / simd * _vectors(a) * padded)


def _down_cycles(a: ForkAttributes, simd: Floats) -> Floats:
    return np.asarray(a["NumChannels"] / simd * _vectors(a) * prod(_square(a["ImgDim"])))


def _max_pool_cycles(a: ForkAttributes, simd: Floats) -> Floats:
    rows, columns = _square(a["ImgDim"])
    pool = _square(a["PoolDim"])[0]
    return np.full_like(simd, int(rows * (columns + columns / pool)) * a.get("BatchSize", 1))


def _pool_cycles(a: ForkAttributes, simd: Floats) -> Floats:
    taps, pixels = a["KernelSize"] ** 2, a["OutImgDim"] ** 2
    return np.asarray(a["Channels"] * taps / simd * pixels * a.get("BatchSize", 1))


ESTIMATORS: Mapping[str, Callable[[ForkAttributes, Floats, Floats], Costs]] = {
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


Told = dict[str, Any]
_MEMORIES = {"internal_embedded": "const", "internal_decoupled": "decoupled"}
FORK_TYPES: Mapping[str, str] = {
    "MVAU": "StreamingFCLayer_Batch",
    "VVAU": "Vector_Vector_Activate_Batch",
    "ConvolutionInputGenerator": "ConvolutionInputGenerator",
    "Thresholding": "Thresholding_Batch",
    "ChannelwiseOp": "ChannelwiseOp_Batch",
    "FMPadding": "FMPadding_Batch",
    "DownSampler": "DownSampler",
    "StreamingMaxPool": "StreamingMaxPool_Batch",
    "Pool": "Pool_Batch",
    "AddStreams": "AddStreams_Batch",
    "DuplicateStreams": "DuplicateStreams_Batch",
    "LabelSelect": "LabelSelect_Batch",
}
"""The fork's types by families of kinds."""
UNPRICED = frozenset({"GlobalAccPool"})
"""Families that are in none of SAMO's tables, of which FINN then as now counted cycles alone."""


def repriced(op_type: str, attributes: Attributes, table: OptionTable) -> OptionTable:
    """Return the foldings that the fork has, at its cycles and resources.

    Raises InputError if the fork has no estimator for the kind.
    """
    if family(op_type) in UNPRICED:
        return replace(table, numbers=np.concatenate([table.numbers[:1], 0 * table.use, table.numbers[6:]]))
    fork = _fork_type(op_type)
    table = table.take((table.attribute("parallel_window", 0) == 0) & table.of_styles(_is_in_fork))
    numbers = table.numbers.copy()
    styles: dict[int, tuple[Attributes, list[int]]] = {}
    for row, style in enumerate(table.styles):
        styles.setdefault(id(style), (style, []))[1].append(row)
    for style, listed in styles.values():
        rows = np.array(listed, dtype=np.intp)
        part = table.take(rows)
        foldings = (part.attribute(name, 1).astype(np.float64) for name in ("SIMD", "PE"))
        numbers[:6, rows] = _estimated(fork, {**attributes, **style}, *foldings)
    return replace(table, numbers=numbers)


def estimate(op_type: str, attributes: Attributes) -> tuple[int, Resources]:
    """Return cycles and resources of one folded engine.

    Raises InputError if the fork has no estimator for the kind, or it asks for an attribute that is missing.
    """
    if attributes.get("parallel_window", 0) == 1 or "ultra" in attributes.values():
        raise InputError(f"--costs samo: SAMO's FINN has no parallel windows and no UltraRAM ({op_type})")
    parallelism = [attributes.get(name, 1) for name in ("SIMD", "PE")]
    if not all(isinstance(one, int) and one > 0 for one in parallelism):
        raise InputError(f"--costs samo: SIMD and PE of {op_type} are {parallelism}, expected numbers from 1")
    foldings = (np.array([one], dtype=np.float64) for one in parallelism)
    try:
        cycles, *use = _estimated(_fork_type(op_type), dict(attributes), *foldings)[:, 0].tolist()
    except KeyError as error:
        raise InputError(f"--costs samo: attribute {error} of {op_type} is missing") from error
    return cycles, Resources(*use)


def _fork_type(op_type: str) -> str:
    fork = FORK_TYPES.get(family(op_type))
    if fork is None:
        raise InputError(
            f"--costs samo: SAMO's FINN has no estimator for {op_type}", hint="use --finn main, or other costs"
        )
    return fork


def _is_in_fork(option: Option) -> bool:
    """Whether the fork knows the memory: it has no UltraRAM."""
    return "ultra" not in option.folding.values()


def _estimated(fork: str, has: Told, simd: Floats, pe: Floats) -> NDArray[np.int64]:
    """Return cycles, LUT, FF, BRAM18, URAM and DSP of foldings of one style, (6, n_options)."""
    if fork not in {"StreamingFCLayer_Batch", "Vector_Vector_Activate_Batch"}:
        simd = pe = np.maximum(simd, pe)
    cycles, lut, dsp, bram = ESTIMATORS[fork](_told(fork, has), simd, pe)
    columns = (np.ceil(cycles), lut, 0 * pe, bram, 0 * pe, dsp)
    return np.stack([np.broadcast_to(np.asarray(column), pe.shape) for column in columns]).astype(np.int64)


def _told(fork: str, has: Told) -> Told:
    """Return attributes by the fork's names."""
    told = {**has, "mem_mode": _MEMORIES.get(str(has.get("mem_mode")), "const")}
    more: Mapping[str, Callable[[], Told]] = {
        "Pool_Batch": lambda: {"KernelSize": _first(has["KernelSize"]), "OutImgDim": _first(has["OutImgDims"])},
        "StreamingMaxPool_Batch": lambda: {"PoolDim": [_first(has["PoolDim"])] * 2},
    }
    told |= more.get(fork, dict)()
    for name, value in told.items():
        told[name] = list(value) if isinstance(value, tuple) else value
    return told


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) else value
