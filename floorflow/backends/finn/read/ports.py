"""What flows through a FINN node: the datatypes and sizes of its ports and weights, from its attributes."""

import re
from collections.abc import Callable, Mapping
from math import prod
from types import MappingProxyType

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.kinds.pooling import max_pool_outputs
from floorflow.backends.finn.lower.state import pool_sum
from floorflow.backends.finn.names import family
from floorflow.dataflow.model import Attributes
from floorflow.errors import InputError
from floorflow.network.datatype import FLOAT32, DataType, named, smallest

_OUTPUT_TYPES = ("outputDataType", "OutputDataType", "out_dtype", "EmbeddingType", "dataType", "dtype")
_INPUT_TYPES = ("inputDataType", "InputDataType", "dataType", "InputType", "dtype")
_PAIRS = (("lhs_dtype", "rhs_dtype"), ("inputDataType0", "inputDataType1"))
"""Attributes of kinds whose two inputs may differ."""
_WEIGHT_TYPES = ("weightDataType", "paramDataType", "EmbeddingType")
_WIDENING = ("AddStreams", "StreamingEltwise")
"""Kinds whose results have one bit more than their inputs."""
_ODD_WIDTH = re.compile(r"(?:FIXED|SCALEDINT)<([1-9][0-9]{0,3})")


def datatype(name: str) -> DataType:
    """Return the type of that name.

    Types that engines pass on but do not compute with (floats, fixed point) have the right width and no range.
    """
    try:
        return named(name)
    except ValueError:
        match = _ODD_WIDTH.match(name)
        bits = int(match[1]) if match else 16 if name == "FLOAT16" else FLOAT32.bits
        return DataType(name, bits, signed=True, min=FLOAT32.min, max=FLOAT32.max)


def input_type(attributes: Attributes, position: int) -> DataType:
    """Return the type that an engine expects at an input."""
    for pair in _PAIRS:
        if pair[0] in attributes:
            return datatype(str(attributes[pair[min(position, 1)]]))
    types = attributes.get("inputDataTypes")
    if isinstance(types, tuple) and types:
        return datatype(str(types[min(position, len(types) - 1)]))
    return next((datatype(str(attributes[key])) for key in _INPUT_TYPES if key in attributes), FLOAT32)


def output_type(op_type: str, attributes: Attributes) -> DataType:
    """Return the type that an engine sends."""
    for key in _OUTPUT_TYPES:
        if key in attributes:
            return datatype(str(attributes[key]))
    kind = family(op_type)
    if kind in _WIDENING:
        one, other = (input_type(attributes, position) for position in (0, 1))
        return _combined(str(attributes.get("eltwiseOp", "Add")), one, other)
    source = input_type(attributes, 0)
    if kind == "GlobalAccPool":
        return pool_sum(source, _pixels(attributes))
    if "inputDataTypes" in attributes:
        # The smallest type that holds the values of all parts.
        types = attributes["inputDataTypes"]
        parts = [datatype(str(name)) for name in types] if isinstance(types, tuple) else []
        if len({part.name for part in parts}) == 1:
            return parts[0]
        return smallest(min(part.min for part in parts), max(part.max for part in parts))
    return source


def _combined(operator: str, one: DataType, other: DataType) -> DataType:
    """Return the type of a sum or difference of two streams (FINN's addstreams.py, streamingeltwise.py)."""
    far = max(abs(one.min - other.max), abs(one.max - other.min))
    if operator == "AbsDiff":
        return smallest(0, far)
    if operator == "Sub":
        return smallest(-far, 0)
    low, high = one.min + other.min, one.max + other.max
    return smallest(low, 0) if low < 0 else smallest(0, high)


def weight_type(attributes: Attributes) -> DataType | None:
    """Return the type of an engine's parameters; None if it has none."""
    for key in _WEIGHT_TYPES:
        if key in attributes:
            return datatype(str(attributes[key]))
    for side in ("lhs", "rhs"):
        if attributes.get(f"{side}_style") == "const":
            return datatype(str(attributes[f"{side}_dtype"]))
    return None


def weight_shape(op_type: str, attributes: Attributes) -> tuple[int, ...] | None:
    """Return the shape of the weights that a layer multiplies with: (inputs, neurons), or (channels, 1, h, w)."""
    kind = family(op_type)
    if kind == "MVAU":
        return _number(attributes, "MW"), _number(attributes, "MH")
    if kind == "VVAU":
        return (_number(attributes, "Channels"), 1, *numbers(attributes, "Kernel"))
    return None


def macs(op_type: str, attributes: Attributes) -> int:
    """Return the multiplications a frame of a layer, 0 for other kinds."""
    weights = prod(weight_shape(op_type, attributes) or (0,))
    pixels = prod(numbers(attributes, "Dim")) if family(op_type) == "VVAU" else _pixels(attributes)
    return weights * pixels


def _pixels(attributes: Attributes) -> int:
    return prod(numbers(attributes, "numInputVectors"))


def _number(attributes: Attributes, key: str) -> int:
    return prod(numbers(attributes, key))


def numbers(attributes: Mapping[str, object], key: str) -> tuple[int, ...]:
    """Return an attribute of integers; one integer counts as a list, what is absent or no integer as 1."""
    value = attributes.get(key, 1)
    if isinstance(value, tuple):
        return tuple(item for item in value if isinstance(item, int))
    return (value,) if isinstance(value, int) else (1,)


Sizes = tuple[tuple[int, ...], tuple[int, ...]]
"""Elements a frame at each input, and at each output."""


def sizes(op_type: str, attributes: Attributes) -> Sizes | None:
    """Return the elements a frame that an engine takes and sends, port by port.

    None for a kind without a rule, and where an attribute is missing or wrong: its foldings are refused for that.
    """
    kind, reader = family(op_type), Reader(op_type, attributes)
    rule = _operands if kind.startswith("Elementwise") else _SIZES.get(kind)
    try:
        return rule(reader) if rule else None
    except InputError:
        return None


def _matrix(reader: Reader) -> Sizes:
    pixels = reader.pixels()
    return (reader.integer("MW") * pixels,), (reader.integer("MH") * pixels,)


def _depthwise(reader: Reader) -> Sizes:
    elements = reader.integer("Channels") * prod(reader.pair("Dim"))
    return (elements * prod(reader.pair("Kernel")),), (elements,)


def _window(reader: Reader) -> Sizes:
    channels = reader.integer("IFMChannels")
    taken = prod(reader.pair("OFMDim")) * prod(reader.pair("ConvKernelDim"))
    return (channels * prod(reader.pair("IFMDim")),), (channels * taken,)


def _pool(reader: Reader) -> Sizes:
    elements = reader.integer("Channels") * prod(reader.pair("OutImgDims")) * reader.integer("BatchSize", 1)
    return (elements * prod(reader.pair("KernelSize")),), (elements,)


def _max_pool(reader: Reader) -> Sizes:
    channels = reader.integer("NumChannels")
    return (channels * prod(reader.pair("ImgDim")),), (channels * max_pool_outputs(reader),)


def _elementwise(reader: Reader, inputs: int = 1, outputs: int = 1) -> Sizes:
    elements = reader.integer("NumChannels") * reader.pixels()
    return (elements,) * inputs, (elements,) * outputs


def _operands(reader: Reader) -> Sizes:
    streams = (side for side in ("lhs", "rhs") if reader.attributes.get(f"{side}_style") != "const")
    return tuple(prod(reader.sizes(f"{side}_shape")) for side in streams), (prod(reader.sizes("out_shape")),)


def _global_pool(reader: Reader) -> Sizes:
    return _elementwise(reader)[0], (reader.integer("NumChannels"),)


def _label(reader: Reader) -> Sizes:
    pixels = reader.pixels()
    return (reader.integer("Labels") * pixels,), (reader.integer("K", 1) * pixels,)


def _parts(reader: Reader) -> tuple[tuple[int, ...], int]:
    """Return what each part of a concat or split holds, and what all hold."""
    channels = reader.sizes("ChannelsPerStream" if reader.has("ChannelsPerStream") else "ElemsPerStream")
    each = tuple(size * reader.pixels() for size in channels)
    return each, sum(each)


def _concat(reader: Reader) -> Sizes:
    each, whole = _parts(reader)
    return each, (whole,)


def _split(reader: Reader) -> Sizes:
    each, whole = _parts(reader)
    return (whole,), each


def _padding(reader: Reader) -> Sizes:
    (height, width), frames = reader.pair("ImgDim"), reader.integer("NumChannels") * reader.pixels()
    top, left, bottom, right = (*reader.sizes("Padding"), 0, 0, 0)[:4]
    return (frames * height * width,), (frames * (height + top + bottom) * (width + left + right),)


def _spreading(reader: Reader) -> Sizes:
    (height, width), (down, across) = reader.pair("ImgDim"), reader.pair("Stride")
    frames = reader.integer("NumChannels") * reader.pixels()
    return (frames * height * width,), (frames * ((height - 1) * down + 1) * ((width - 1) * across + 1),)


def _sampling(reader: Reader) -> Sizes:
    side, stride = reader.pair("ImgDim")[0], reader.positive("Stride")
    axes, frames = 1 if reader.integer("is1D", 0) else 2, reader.integer("NumChannels") * reader.pixels()
    return (frames * side**axes,), (frames * ((side - 1) // stride + 1) ** axes,)


def _upsampling(reader: Reader) -> Sizes:
    frames = reader.integer("NumChannels") * reader.pixels()
    if reader.has("HO"):
        before, behind = (reader.integer(f"H{side}") * reader.integer(f"W{side}") for side in "IO")
    else:
        axes = 1 if reader.integer("DimMode", 0) else 2
        before, behind = (reader.integer(name) ** axes for name in ("IFMDim", "OFMDim"))
    return (frames * before,), (frames * behind,)


def _lookup(reader: Reader) -> Sizes:
    words = prod(reader.sizes("InputShape"))
    return (words,), (words * reader.integer("EmbeddingDim"),)


_SIZES: Mapping[str, Callable[[Reader], Sizes]] = MappingProxyType(
    {
        "MVAU": _matrix,
        "VVAU": _depthwise,
        "ConvolutionInputGenerator": _window,
        "Pool": _pool,
        "StreamingMaxPool": _max_pool,
        **dict.fromkeys(("Thresholding", "ChannelwiseOp"), _elementwise),
        **dict.fromkeys(("AddStreams", "StreamingEltwise"), lambda reader: _elementwise(reader, inputs=2)),
        "DuplicateStreams": lambda reader: _elementwise(reader, outputs=reader.integer("NumOutputStreams", 2)),
        "GlobalAccPool": _global_pool,
        "LabelSelect": _label,
        "StreamingConcat": _concat,
        "StreamingSplit": _split,
        "FMPadding": _padding,
        "FMPadding_Pixel": _spreading,
        "DownSampler": _sampling,
        "UpsampleNearestNeighbour": _upsampling,
        "Lookup": _lookup,
        "Reshape": lambda reader: ((prod(reader.sizes("inp_shape")),), (prod(reader.sizes("out_shape")),)),
    }
)
