"""Streams at the ports of every FINN kind: elements a word, bits, elements a frame, innermost dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from floorflow.verify.back_end import Port
from floorflow.verify.finn.cycles import hls_window_is_parallel, max_pool_is_1d, max_pool_outputs
from floorflow.verify.finn.engines import ELEMENTWISE, AttributeProblem, FoldedEngine, bits_of

MAX_COPIES = 1024
"""Most outputs of a fork that are looked at."""


class Ports(NamedTuple):
    """Streams into and out of one engine, by port number."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


Rule = Callable[[FoldedEngine], Ports]
Side = tuple[int, int, int]
"""Elements a word, pixels a frame, and elements a pixel: the innermost dimension."""


def _port(side: Side, bits: int) -> Port:
    parallel, pixels, size = side
    return Port(parallel, bits, pixels * size, size)


def _through(engine: FoldedEngine, inside: Side, outside: Side) -> Ports:
    """One stream in, one out."""
    return Ports((_port(inside, engine.input_bits),), (_port(outside, engine.output_bits),))


def _mvau(engine: FoldedEngine) -> Ports:
    pixels = engine.pixels()
    return _through(engine, (engine.simd, pixels, engine.number("MW")), (engine.pe, pixels, engine.number("MH")))


def _vvau(engine: FoldedEngine) -> Ports:
    channels, pixels = engine.number("Channels"), math.prod(engine.pair("Dim"))
    window = channels * math.prod(engine.pair("Kernel"))
    return _through(engine, (engine.simd * engine.pe, pixels, window), (engine.pe, pixels, channels))


def _window(engine: FoldedEngine) -> Ports:
    channels, kernel = engine.number("IFMChannels"), math.prod(engine.pair("ConvKernelDim"))
    whole = hls_window_is_parallel(engine) if engine.kind.endswith("_hls") else engine.parallel_window
    outside = engine.simd * (kernel if whole else 1), math.prod(engine.pair("OFMDim")), kernel * channels
    return _through(engine, (engine.simd, math.prod(engine.pair("IFMDim")), channels), outside)


def _map(engine: FoldedEngine) -> Ports:
    """One word in, one word out, PE channels wide."""
    side = engine.pe, engine.pixels(), engine.number("NumChannels")
    return _through(engine, side, side)


def _resampling(pixels_in: Callable[[FoldedEngine], int], pixels_out: Callable[[FoldedEngine], int]) -> Rule:
    """SIMD channels wide on both sides, other numbers of pixels."""

    def ports(engine: FoldedEngine) -> Ports:
        parallel, channels = engine.simd, engine.number("NumChannels")
        return _through(engine, (parallel, pixels_in(engine), channels), (parallel, pixels_out(engine), channels))

    return ports


def _image(engine: FoldedEngine) -> int:
    return math.prod(engine.pair("ImgDim")) * engine.pixels()


def _padded_image(engine: FoldedEngine) -> int:
    height, width = engine.pair("ImgDim")
    top, left, bottom, right = (*engine.numbers("Padding"), 0, 0, 0)[:4]
    return (height + top + bottom) * (width + left + right) * engine.pixels()


def _spread_image(engine: FoldedEngine) -> int:
    (height, width), (stride_h, stride_w) = engine.pair("ImgDim"), engine.pair("Stride")
    return ((height - 1) * stride_h + 1) * ((width - 1) * stride_w + 1) * engine.pixels()


def _square(engine: FoldedEngine, side: int) -> int:
    return (side if engine.number("is1D", 0) else side * side) * engine.pixels()


def _unsampled(engine: FoldedEngine) -> int:
    return _square(engine, engine.pair("ImgDim")[0])


def _downsampled(engine: FoldedEngine) -> int:
    return _square(engine, (engine.pair("ImgDim")[0] - 1) // engine.number("Stride") + 1)


def _pool(engine: FoldedEngine) -> Ports:
    channels = engine.number("Channels")
    pixels = math.prod(engine.pair("OutImgDims")) * engine.number("BatchSize", 1)
    window = channels * math.prod(engine.pair("KernelSize"))
    return _through(engine, (engine.pe, pixels, window), (engine.pe, pixels, channels))


def _max_pool(engine: FoldedEngine) -> Ports:
    channels = engine.number("NumChannels")
    (height, width), (kernel_h, kernel_w) = engine.pair("ImgDim"), engine.pair("PoolDim")
    if max_pool_is_1d(engine):
        parallel, pixels = engine.pe, max_pool_outputs(engine)
    else:
        parallel, pixels = channels, (height // kernel_h) * (width // kernel_w)
    return _through(engine, (parallel, height * width, channels), (parallel, pixels, channels))


def _bits_of_inputs(engine: FoldedEngine, attributes: tuple[str, ...], count: int) -> list[int]:
    """Bits of each input: by data type where the kind names one a port, else the engine's ``input_bits``."""
    names = [name for attribute in attributes for name in engine.texts(attribute)]
    bits = [bits_of(name) for name in names]
    return [bits[i] or engine.input_bits if i < len(bits) else engine.input_bits for i in range(count)]


def _binary(types: tuple[str, ...]) -> Rule:
    """Two equal streams in, one out: additions and other operations on channels."""

    def ports(engine: FoldedEngine) -> Ports:
        side = engine.pe, engine.pixels(), engine.number("NumChannels")
        inputs = tuple(_port(side, bits) for bits in _bits_of_inputs(engine, types, 2))
        return Ports(inputs, (_port(side, engine.output_bits),))

    return ports


def _operands(engine: FoldedEngine) -> Ports:
    """Return one stream out, and one in for each operand that the engine does not store."""
    bits = _bits_of_inputs(engine, ("lhs_dtype", "rhs_dtype"), 2)
    shapes = {"lhs": engine.numbers("lhs_shape"), "rhs": engine.numbers("rhs_shape")}
    inputs = (
        Port(engine.pe, bit, math.prod(shape), shape[-1])
        for (side, shape), bit in zip(shapes.items(), bits, strict=True)
        if engine.texts(f"{side}_style") != ["const"]
    )
    shape = engine.numbers("out_shape")
    return Ports(tuple(inputs), (Port(engine.pe, engine.output_bits, math.prod(shape), shape[-1]),))


def _reshape(engine: FoldedEngine) -> Ports:
    sides = ((engine.pe, math.prod(shape[:-1]), shape[-1]) for shape in map(engine.numbers, ("inp_shape", "out_shape")))
    return _through(engine, *sides)


def _duplicate(engine: FoldedEngine) -> Ports:
    """Return the same stream at the input and at every output."""
    single, copies = _map(engine), engine.number("NumOutputStreams", 2)
    if not 0 <= copies <= MAX_COPIES:
        raise AttributeProblem(f"attribute NumOutputStreams is {copies}, expected at most {MAX_COPIES}")
    return Ports(single.inputs, single.inputs * copies)


def _global_pool(engine: FoldedEngine) -> Ports:
    channels = engine.number("NumChannels")
    return _through(engine, (engine.pe, engine.pixels(), channels), (engine.pe, 1, channels))


def _label_select(engine: FoldedEngine) -> Ports:
    pixels = engine.pixels()
    return _through(engine, (engine.pe, pixels, engine.number("Labels")), (1, pixels, engine.number("K", 1)))


def _parts(engine: FoldedEngine) -> list[tuple[int, int]]:
    """``(parallel, channels)`` of each stream that a concat joins or a split makes."""
    if engine.has("ChannelsPerStream"):
        return [(engine.simd, channels) for channels in engine.numbers("ChannelsPerStream")]
    return [(channels, channels) for channels in engine.numbers("ElemsPerStream")]


def _concat(engine: FoldedEngine) -> Ports:
    pixels, parts = engine.pixels(), _parts(engine)
    bits = _bits_of_inputs(engine, ("inputDataTypes",), len(parts))
    channels = sum(size for _, size in parts)
    inputs = tuple(Port(parallel, bit, size * pixels, size) for (parallel, size), bit in zip(parts, bits, strict=True))
    whole = engine.simd if engine.has("ChannelsPerStream") else channels
    return Ports(inputs, (Port(whole, engine.output_bits, channels * pixels, channels),))


def _split(engine: FoldedEngine) -> Ports:
    pixels, parts = engine.pixels(), _parts(engine)
    channels = sum(size for _, size in parts)
    inside = Port(engine.simd, engine.input_bits, channels * pixels, channels)
    outputs = tuple(Port(parallel, engine.output_bits, size * pixels, size) for parallel, size in parts)
    return Ports((inside,), outputs)


def _upsample(engine: FoldedEngine) -> Ports:
    channels, frames = engine.number("NumChannels"), engine.pixels()
    if engine.has("HO"):
        parallel = engine.simd
        before, after = engine.number("HI") * engine.number("WI"), engine.number("HO") * engine.number("WO")
    else:
        parallel, axes = channels, 1 if engine.number("DimMode", 0) else 2
        before, after = engine.number("IFMDim") ** axes, engine.number("OFMDim") ** axes
    return _through(engine, (parallel, before * frames, channels), (parallel, after * frames, channels))


def _lookup(engine: FoldedEngine) -> Ports:
    words, size = math.prod(engine.numbers("InputShape")), engine.number("EmbeddingDim")
    return _through(engine, (1, words, 1), (size, words, size))


PORTS: dict[str, Rule] = {
    "MVAU_hls": _mvau,
    "MVAU_rtl": _mvau,
    "VVAU_hls": _vvau,
    "VVAU_rtl": _vvau,
    "ConvolutionInputGenerator_rtl": _window,
    "ConvolutionInputGenerator_hls": _window,
    "Thresholding_rtl": _map,
    "Thresholding_hls": _map,
    "FMPadding_rtl": _resampling(_image, _padded_image),
    "FMPadding_hls": _resampling(_image, _padded_image),
    "FMPadding_Pixel_hls": _resampling(_image, _spread_image),
    "Pool_hls": _pool,
    "StreamingMaxPool_hls": _max_pool,
    "AddStreams_hls": _binary(("inputDataTypes",)),
    "StreamingEltwise_hls": _binary(("inputDataType0", "inputDataType1")),
    **dict.fromkeys(ELEMENTWISE, _operands),
    "DuplicateStreams_hls": _duplicate,
    "ChannelwiseOp_hls": _map,
    "GlobalAccPool_hls": _global_pool,
    "LabelSelect_hls": _label_select,
    "StreamingConcat_hls": _concat,
    "StreamingSplit_hls": _split,
    "UpsampleNearestNeighbour_hls": _upsample,
    "DownSampler_hls": _resampling(_unsampled, _downsampled),
    "Lookup_hls": _lookup,
    "Reshape_rtl": _reshape,
}
"""Ports of each kind that check knows."""
