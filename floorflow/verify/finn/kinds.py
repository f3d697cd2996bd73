"""Streams at the ports of every FINN kind, its cycles a frame (FINN main 39f0c9a, dev 73ba5ed), and fills.

An engine takes or gives a word a cycle: its cycles are the words of its longer side, unless its kind has a formula of
its own. Divisions are exact for legal foldings; illegal ones are reported by `foldings` and may give any number here. A
plan with ``--costs samo`` has the cycles of SAMO's fork of FINN (2022-03; SAMO c562238 reads ``get_exp_cycles``). The
fill is how long an engine holds back its first word (docs/plan.md, *Window fill*).
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from floorflow.verify.back_end import Port
from floorflow.verify.finn.engines import ELEMENTWISE, AttributeProblem, FoldedEngine, bits_of

MAX_COPIES = 1024
"""Most outputs of a fork that are looked at."""


class Ports(NamedTuple):
    """Streams into and out of one engine, by port number."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @property
    def cycles(self) -> int:
        """Words a frame of the longest stream."""
        return max(port.elements // port.parallel for port in (*self.inputs, *self.outputs))


PortRule = Callable[[FoldedEngine], Ports]
Side = tuple[int, int, int]
"""Elements a word, pixels a frame, and elements a pixel: the innermost dimension."""


def _port(side: Side, bits: int) -> Port:
    parallel, pixels, size = side
    return Port(parallel, bits, pixels * size, size)


def _through(engine: FoldedEngine, inside: Side, outside: Side) -> Ports:
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


def _resampling(pixels_in: Callable[[FoldedEngine], int], pixels_out: Callable[[FoldedEngine], int]) -> PortRule:
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


def _binary(types: tuple[str, ...]) -> PortRule:
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


CycleRule = Callable[[FoldedEngine], int]


def _mvau_cycles(engine: FoldedEngine) -> int:
    folds = (engine.number("MH") // engine.pe) * (engine.number("MW") // engine.simd)
    return folds * engine.pixels() * engine.number("TH", 1)


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


def max_pool_outputs(engine: FoldedEngine) -> int:
    """Return the output pixels of a one-dimensional streaming max pool."""
    width, kernel = engine.pair("ImgDim")[1], engine.pair("PoolDim")[1]
    if engine.number("CeilMode", 0):
        return -(-(width - kernel) // kernel) + 1
    return (width - kernel) // kernel + 1


def max_pool_is_1d(engine: FoldedEngine) -> bool:
    """Whether a streaming max pool runs along one axis: only then does PE fold it."""
    return engine.pair("ImgDim")[0] == 1 and engine.pair("PoolDim")[0] == 1


def _max_pool_cycles(engine: FoldedEngine) -> int:
    width, kernel = engine.pair("ImgDim")[1], engine.pair("PoolDim")[1]
    if max_pool_is_1d(engine):
        return max_pool_outputs(engine) * (engine.number("NumChannels") // engine.pe) * (kernel + 1)
    return int(width * width * (1 + 1 / (kernel * kernel)))


def _global_pool_cycles(engine: FoldedEngine) -> int:
    ports = _global_pool(engine)
    return ports.cycles + ports.outputs[0].elements // engine.pe


def _label_select_cycles(engine: FoldedEngine) -> int:
    # FINN dev pads the labels to a multiple of PE.
    return -(-engine.number("Labels") // engine.pe)


def _channels_moved(engine: FoldedEngine) -> int:
    if not engine.has("ChannelsPerStream"):
        return engine.pixels()
    return engine.pixels() * sum(engine.numbers("ChannelsPerStream")) // engine.simd


class Kind(NamedTuple):
    """What is known of a kind: its ports, and its cycles where they are not the words of its longest stream."""

    ports: PortRule
    own_cycles: CycleRule | None = None

    def cycles(self, engine: FoldedEngine) -> int:
        """Return the cycles a frame of an engine of the kind."""
        return self.ports(engine).cycles if self.own_cycles is None else self.own_cycles(engine)


KINDS: dict[str, Kind] = {
    **dict.fromkeys(("MVAU_hls", "MVAU_rtl"), Kind(_mvau, _mvau_cycles)),
    **dict.fromkeys(("VVAU_hls", "VVAU_rtl"), Kind(_vvau)),
    "ConvolutionInputGenerator_rtl": Kind(_window, _window_rtl),
    "ConvolutionInputGenerator_hls": Kind(_window, _window_hls),
    **dict.fromkeys(("Thresholding_rtl", "Thresholding_hls", "ChannelwiseOp_hls"), Kind(_map)),
    **dict.fromkeys(("FMPadding_rtl", "FMPadding_hls"), Kind(_resampling(_image, _padded_image))),
    "FMPadding_Pixel_hls": Kind(_resampling(_image, _spread_image)),
    "Pool_hls": Kind(_pool),
    "StreamingMaxPool_hls": Kind(_max_pool, _max_pool_cycles),
    "AddStreams_hls": Kind(_binary(("inputDataTypes",))),
    "StreamingEltwise_hls": Kind(_binary(("inputDataType0", "inputDataType1"))),
    **dict.fromkeys(ELEMENTWISE, Kind(_operands)),
    "DuplicateStreams_hls": Kind(_duplicate),
    "GlobalAccPool_hls": Kind(_global_pool, _global_pool_cycles),
    "LabelSelect_hls": Kind(_label_select, _label_select_cycles),
    "StreamingConcat_hls": Kind(_concat, _channels_moved),
    "StreamingSplit_hls": Kind(_split, _channels_moved),
    "UpsampleNearestNeighbour_hls": Kind(_upsample),
    "DownSampler_hls": Kind(_resampling(_unsampled, _downsampled)),
    "Lookup_hls": Kind(_lookup),
    "Reshape_rtl": Kind(_reshape),
}
"""The kinds that check knows."""


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


SAMO_CYCLES: Mapping[str, CycleRule] = {
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
