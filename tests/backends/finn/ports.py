"""What each kind of engine sends and takes a frame, by its attributes: the elements at every port."""

from math import prod

from floorflow.dataflow.model import Engine


def elements(engine: Engine) -> tuple[list[int], list[int]]:
    """Return the elements a frame of each input and of each output port."""
    return _RULES[engine.kind.rsplit("_", 1)[0]](engine)


def _numbers(engine: Engine, key: str) -> tuple[int, ...]:
    value = engine.attributes[key]
    assert isinstance(value, tuple | int)
    return value if isinstance(value, tuple) else (value,)


def _product(engine: Engine, *keys: str) -> int:
    return prod(prod(_numbers(engine, key)) for key in keys)


def _mvau(engine: Engine) -> tuple[list[int], list[int]]:
    return [_product(engine, "MW", "numInputVectors")], [_product(engine, "MH", "numInputVectors")]


def _vvau(engine: Engine) -> tuple[list[int], list[int]]:
    return [_product(engine, "Channels", "Kernel", "Dim")], [_product(engine, "Channels", "Dim")]


def _window(engine: Engine) -> tuple[list[int], list[int]]:
    windows = _product(engine, "IFMChannels", "OFMDim", "ConvKernelDim")
    return [_product(engine, "IFMChannels", "IFMDim")], [windows]


def _padding(engine: Engine) -> tuple[list[int], list[int]]:
    (height, width), (top, left, bottom, right) = _numbers(engine, "ImgDim"), _numbers(engine, "Padding")
    channels = _product(engine, "NumChannels")
    return [channels * height * width], [channels * (height + top + bottom) * (width + left + right)]


def _pool(engine: Engine) -> tuple[list[int], list[int]]:
    return [_product(engine, "Channels", "KernelSize", "OutImgDims")], [_product(engine, "Channels", "OutImgDims")]


def _max_pool(engine: Engine) -> tuple[list[int], list[int]]:
    inside = _product(engine, "NumChannels", "ImgDim")
    return [inside], [inside // _product(engine, "PoolDim")]


def _channelwise(engine: Engine) -> tuple[list[int], list[int]]:
    count = _product(engine, "NumChannels", "numInputVectors")
    return [count], [count]


def _add(engine: Engine) -> tuple[list[int], list[int]]:
    count = _product(engine, "NumChannels", "numInputVectors")
    return [count, count], [count]


def _operands(engine: Engine) -> tuple[list[int], list[int]]:
    shapes = [_product(engine, f"{side}_shape") for side in ("lhs", "rhs")]
    return shapes, [_product(engine, "out_shape")]


def _duplicate(engine: Engine) -> tuple[list[int], list[int]]:
    count = _product(engine, "NumChannels", "numInputVectors")
    return [count], [count] * _product(engine, "NumOutputStreams")


def _concat(engine: Engine) -> tuple[list[int], list[int]]:
    pixels = _product(engine, "numInputVectors")
    key = "ElemsPerStream" if "ElemsPerStream" in engine.attributes else "ChannelsPerStream"
    parts = [pixels * channels for channels in _numbers(engine, key)]
    return parts, [sum(parts)]


def _split(engine: Engine) -> tuple[list[int], list[int]]:
    whole, parts = _concat(engine)
    return parts, whole


def _global_sum(engine: Engine) -> tuple[list[int], list[int]]:
    return [_product(engine, "NumChannels", "numInputVectors")], [_product(engine, "NumChannels")]


def _upsample(engine: Engine) -> tuple[list[int], list[int]]:
    channels = _product(engine, "NumChannels")
    if "HO" in engine.attributes:
        return [channels * _product(engine, "HI", "WI")], [channels * _product(engine, "HO", "WO")]
    axes = 1 if engine.attributes["DimMode"] else 2
    return [channels * _product(engine, "IFMDim") ** axes], [channels * _product(engine, "OFMDim") ** axes]


_RULES = {
    "MVAU": _mvau,
    "VVAU": _vvau,
    "ConvolutionInputGenerator": _window,
    "FMPadding": _padding,
    "Pool": _pool,
    "StreamingMaxPool": _max_pool,
    "Thresholding": _channelwise,
    "ChannelwiseOp": _channelwise,
    "AddStreams": _add,
    "ElementwiseAdd": _operands,
    "ElementwiseMul": _operands,
    "StreamingSplit": _split,
    "DuplicateStreams": _duplicate,
    "StreamingConcat": _concat,
    "GlobalAccPool": _global_sum,
    "UpsampleNearestNeighbour": _upsample,
}
