"""Which folding attributes each FINN kind has."""

import math
from collections.abc import Callable, Iterator

from floorflow.verify.finn.engines import ELEMENTWISE, AttributeProblem, FoldedEngine, is_signed
from floorflow.verify.finn.kinds import KINDS, max_pool_is_1d
from floorflow.verify.records import is_count

_WEIGHTED = (
    *("PE", "SIMD", "resType", "mem_mode", "ram_style", "ram_style_thresholds"),
    "runtime_writeable_weights",
)
_SIMD_ONLY = ("FMPadding", "DownSampler", "StreamingConcat", "StreamingSplit", "Upsample")

FOLDING_ATTRIBUTES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("MVAU", "VVAU"), _WEIGHTED),
    (("ConvolutionInputGenerator",), ("SIMD", "parallel_window", "ram_style")),
    (("Thresholding_rtl",), ("PE", "depth_trigger_bram", "depth_trigger_uram", "runtime_writeable_weights")),
    (("Thresholding_hls",), ("PE", "mem_mode", "ram_style", "runtime_writeable_weights")),
    (_SIMD_ONLY, ("SIMD",)),
    (("Lookup",), ()),
    (("",), ("PE",)),
)
"""Beginnings of kinds and the folding attributes that they have; the first that fits holds."""


def stray_attributes(engine: FoldedEngine) -> Iterator[str]:
    """Yield folding attributes that the kind does not have: FINN would refuse them in its configuration."""
    known = next(names for kinds, names in FOLDING_ATTRIBUTES if engine.kind.startswith(kinds))
    for name in engine.folding:
        if name not in known:
            yield f"the kind has no {name}"


Rule = Callable[[FoldedEngine], Iterator[str]]

MAX_HLS_STREAM_BITS = 8191
"""Widest ap_uint that FINN's HLS code takes for a stream."""

MAX_HLS_INPUT_FOLD = 1024
"""FINN's MVAU_hls asserts SIMD >= MW / 1024."""

MEMORY_MODES = ("internal_embedded", "internal_decoupled", "external")
RAM_STYLES = ("auto", "block", "distributed", "ultra")


def _divides(engine: FoldedEngine, name: str, whole: int, what: str) -> Iterator[str]:
    value = engine.parallelism(name)
    if whole % value:
        yield f"{name} = {value} does not divide {what} = {whole}"


def _one_of(engine: FoldedEngine, name: str, allowed: tuple[int | str, ...]) -> Iterator[str]:
    value = engine.folding.get(name)
    if name in engine.folding and (isinstance(value, bool) or value not in allowed):
        yield f"{name} = {engine.folding[name]!r}, expected one of {', '.join(map(str, allowed))}"


def _flag(engine: FoldedEngine, attribute: str) -> Iterator[str]:
    if engine.number(attribute, 0) not in (0, 1):
        yield f"attribute {attribute} is {engine.number(attribute)}, expected 0 or 1"


def _divisor(name: str, attribute: str) -> Rule:
    def rule(engine: FoldedEngine) -> Iterator[str]:
        yield from _divides(engine, name, engine.number(attribute), attribute)

    return rule


def _hls_streams(engine: FoldedEngine) -> Iterator[str]:
    ports = KINDS[engine.kind].ports(engine)
    for port in (*ports.inputs, *ports.outputs):
        if port.width_bits > MAX_HLS_STREAM_BITS:
            yield f"a stream of {port.width_bits} bits is wider than {MAX_HLS_STREAM_BITS}"


def _weight_memory(engine: FoldedEngine) -> Iterator[str]:
    yield from _flag(engine, "noActivation")
    yield from _one_of(engine, "mem_mode", MEMORY_MODES)
    yield from _one_of(engine, "ram_style", RAM_STYLES)
    yield from _one_of(engine, "ram_style_thresholds", ("auto", "block", "distributed"))
    if engine.kind.startswith("VVAU") and "ram_style_thresholds" in engine.folding:
        yield "FINN's vector units have no attribute ram_style_thresholds"
    yield from _one_of(engine, "runtime_writeable_weights", (0, 1))
    decoupled = engine.choice("mem_mode", "internal_decoupled") == "internal_decoupled"
    stream = engine.pe * engine.simd * int(engine.entry["weight_bits"])
    if decoupled and engine.kind.endswith("_hls") and stream > MAX_HLS_STREAM_BITS:
        yield f"a weight stream of {stream} bits is wider than {MAX_HLS_STREAM_BITS}"
    yield from _ultra_ram(engine)
    writeable = engine.choice("runtime_writeable_weights", 0) == 1
    if decoupled and engine.choice("ram_style", "auto") == "ultra" and not writeable and not engine.versal:
        yield "ram_style = ultra needs runtime_writeable_weights = 1: UltraRAM has no initial contents"


def _ultra_ram(engine: FoldedEngine) -> Iterator[str]:
    if engine.choice("ram_style", "auto") == "ultra" and not engine.has_uram:
        yield "ram_style = ultra on a part without UltraRAM"


def _rtl_weights(engine: FoldedEngine) -> Iterator[str]:
    if engine.number("noActivation", 0) != 1:
        yield "an RTL unit cannot hold thresholds (noActivation = 0)"
    if engine.choice("resType", "auto") == "lut":
        yield "an RTL unit multiplies in DSP blocks only (resType = lut)"
    if engine.number("binaryXnorMode", 0):
        yield "an RTL unit has no XNOR mode"
    signed = any(is_signed(name) for name in engine.texts("inputDataType"))
    if engine.input_bits > (9 if signed else 8):
        yield f"an RTL unit takes inputs up to 8 bits, 9 if signed; these have {engine.input_bits}"
    if int(engine.entry["weight_bits"]) > 8:
        yield f"an RTL unit takes weights up to 8 bits; these have {engine.entry['weight_bits']}"


def _mvau(engine: FoldedEngine) -> Iterator[str]:
    yield from _divides(engine, "PE", engine.number("MH"), "MH")
    yield from _divides(engine, "SIMD", engine.number("MW"), "MW")
    yield from _one_of(engine, "resType", ("auto", "lut", "dsp"))
    yield from _weight_memory(engine)


def _input_fold(engine: FoldedEngine) -> Iterator[str]:
    if engine.simd * MAX_HLS_INPUT_FOLD < engine.number("MW"):
        yield f"SIMD = {engine.simd} is below MW / {MAX_HLS_INPUT_FOLD}"


def _vvau(engine: FoldedEngine) -> Iterator[str]:
    yield from _divides(engine, "PE", engine.number("Channels"), "Channels")
    yield from _divides(engine, "SIMD", math.prod(engine.pair("Kernel")), "kernel size")
    yield from _one_of(engine, "resType", ("auto", "lut", "dsp"))
    yield from _weight_memory(engine)


def _dsp58(engine: FoldedEngine) -> Iterator[str]:
    if not engine.versal:
        yield "VVAU_rtl needs the DSP58 of Versal parts"


def _window(engine: FoldedEngine) -> Iterator[str]:
    channels = engine.number("IFMChannels")
    yield from _divides(engine, "SIMD", channels, "IFMChannels")
    yield from _one_of(engine, "parallel_window", (0, 1))
    yield from _one_of(engine, "ram_style", RAM_STYLES)
    yield from _ultra_ram(engine)
    depthwise, kernel = engine.number("depthwise", 0) == 1, engine.pair("ConvKernelDim")
    free = depthwise or kernel == (1, 1)
    if engine.parallel_window and engine.simd != channels and not free:
        yield f"parallel_window = 1 needs SIMD = {channels}"
    yield from _flag(engine, "depthwise")
    for axis in (0, 1):
        size, stride = engine.pair("IFMDim")[axis], engine.pair("Stride", [1, 1])[axis]
        reach = (engine.pair("ConvKernelDim")[axis] - 1) * engine.pair("Dilation", [1, 1])[axis] + 1
        if reach > size or not 1 <= stride <= size:
            yield f"a dilated kernel of {reach} with stride {stride} does not fit a feature map of {size}"
        elif engine.pair("OFMDim")[axis] != (size - reach) // stride + 1:
            yield f"OFMDim is {engine.pair('OFMDim')[axis]}, kernel and stride give {(size - reach) // stride + 1}"


def _plain_window(engine: FoldedEngine) -> Iterator[str]:
    square = all(len(set(engine.pair(name, [1, 1]))) == 1 for name in ("IFMDim", "OFMDim", "ConvKernelDim", "Stride"))
    if engine.number("is1D", 0) == 0 and not (square and engine.pair("Dilation", [1, 1]) == (1, 1)):
        yield "the HLS window takes square maps and kernels without dilation only"


def _thresholding(engine: FoldedEngine) -> Iterator[str]:
    yield from _divides(engine, "PE", engine.number("NumChannels"), "NumChannels")
    yield from _one_of(engine, "mem_mode", MEMORY_MODES)
    yield from _one_of(engine, "ram_style", RAM_STYLES)
    yield from _one_of(engine, "runtime_writeable_weights", (0, 1))
    yield from _ultra_ram(engine)
    for name in ("depth_trigger_bram", "depth_trigger_uram"):
        if not is_count(engine.folding.get(name, 0)):
            yield f"{name} = {engine.folding[name]!r}, expected a non-negative integer"


def _max_pool(engine: FoldedEngine) -> Iterator[str]:
    if max_pool_is_1d(engine):
        yield from _divides(engine, "PE", engine.number("NumChannels"), "NumChannels")
        return
    for axis in (0, 1):
        if engine.pair("ImgDim")[axis] % engine.pair("PoolDim")[axis]:
            yield "the pool does not divide the feature map"
    if "PE" in engine.folding:  # FINN ignores PE here, yet wants it legal
        yield from _divides(engine, "PE", engine.number("NumChannels"), "NumChannels")
    yield from _hls_streams(engine)


def _label_select(engine: FoldedEngine) -> Iterator[str]:
    if engine.flavour == "dev":  # FINN dev pads the labels
        if engine.pe > engine.number("Labels"):
            yield f"PE = {engine.pe} is above Labels"
        return
    yield from _divides(engine, "PE", engine.number("Labels"), "Labels")


def _elementwise_binary(engine: FoldedEngine) -> Iterator[str]:
    """Yield where PE does not divide; an operand that repeats one element may have a last dimension of 1."""
    last = {name: engine.numbers(f"{name}_shape")[-1] for name in ("out", "lhs", "rhs")}
    repeats = (last["lhs"] == 1) != (last["rhs"] == 1)
    for name, size in last.items():
        if not (repeats and size == 1):
            yield from _divides(engine, "PE", size, f"the last dimension of {name}_shape")


def _reshape(engine: FoldedEngine) -> Iterator[str]:
    for name in ("inp_shape", "out_shape"):
        yield from _divides(engine, "PE", engine.numbers(name)[-1], f"the last dimension of {name}")


def _moved_channels(engine: FoldedEngine) -> Iterator[str]:
    if engine.has("ChannelsPerStream"):
        for channels in engine.numbers("ChannelsPerStream"):
            yield from _divides(engine, "SIMD", channels, "ChannelsPerStream")


def _upsample(engine: FoldedEngine) -> Iterator[str]:
    if engine.has("HO"):
        yield from _divides(engine, "SIMD", engine.number("NumChannels"), "NumChannels")


def _duplicate(engine: FoldedEngine) -> Iterator[str]:
    yield from _divides(engine, "PE", engine.number("NumChannels"), "NumChannels")
    if engine.number("NumOutputStreams", 2) < 2:
        yield f"NumOutputStreams is {engine.number('NumOutputStreams')}, expected two or more"


_OVER_PE = ("AddStreams_hls", "StreamingEltwise_hls", "ChannelwiseOp_hls", "GlobalAccPool_hls")
_OVER_SIMD = ("FMPadding_rtl", "FMPadding_hls", "FMPadding_Pixel_hls", "DownSampler_hls")

LEGALITY: dict[str, tuple[Rule, ...]] = {
    "MVAU_hls": (_mvau, _input_fold, _hls_streams),
    "MVAU_rtl": (_mvau, _rtl_weights),
    "VVAU_hls": (_vvau, _hls_streams),
    "VVAU_rtl": (_vvau, _rtl_weights, _dsp58),
    "ConvolutionInputGenerator_rtl": (_window,),
    "ConvolutionInputGenerator_hls": (_window, _plain_window, _hls_streams),
    **dict.fromkeys(("Thresholding_rtl", "Thresholding_hls"), (_thresholding,)),
    **dict.fromkeys(_OVER_SIMD, (_divisor("SIMD", "NumChannels"),)),
    **dict.fromkeys(_OVER_PE, (_divisor("PE", "NumChannels"),)),
    "Pool_hls": (_divisor("PE", "Channels"),),
    "StreamingMaxPool_hls": (_max_pool,),
    **dict.fromkeys(ELEMENTWISE, (_elementwise_binary,)),
    "DuplicateStreams_hls": (_duplicate,),
    "LabelSelect_hls": (_label_select,),
    **dict.fromkeys(("StreamingConcat_hls", "StreamingSplit_hls"), (_moved_channels, _hls_streams)),
    "UpsampleNearestNeighbour_hls": (_upsample,),
    "Lookup_hls": (),
    "Reshape_rtl": (_reshape,),
}
"""Rules of legality of each kind that check knows."""


def objections(engine: FoldedEngine) -> list[str]:
    """Return why the engine's folding is illegal; empty if it is legal."""
    try:
        return [message for rule in (*LEGALITY[engine.kind], stray_attributes) for message in rule(engine)]
    except (AttributeProblem, ArithmeticError) as problem:
        return [str(problem)]


def window_objections(window: FoldedEngine, consumer: FoldedEngine) -> Iterator[str]:
    """Yield what a depthwise window and the VVAU or pool that it feeds do not agree on.

    The window's words interleave channels, which no width converter can repair.
    """
    depthwise_unit = consumer.kind.startswith(("VVAU", "Pool"))
    if not window.kind.startswith("ConvolutionInputGenerator") or not depthwise_unit:
        return
    if window.number("depthwise", 0) == 1 and window.simd != consumer.pe:
        yield f"SIMD = {window.simd} of the window must equal PE = {consumer.pe} of {consumer.name}"
    if consumer.kind.startswith("VVAU") and consumer.simd > 1 and not window.parallel_window:
        yield f"SIMD = {consumer.simd} of {consumer.name} needs parallel_window = 1"
