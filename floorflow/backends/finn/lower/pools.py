"""Pools, upsampling, and padding that stands alone."""

from dataclasses import replace
from math import prod

from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS
from floorflow.backends.finn.lower.joins import without_host_steps
from floorflow.backends.finn.lower.rewrite import BENDS, next_operation
from floorflow.backends.finn.lower.state import NEEDS_NEWER_FINN, Lowering, Output, Wire, pool_sum
from floorflow.backends.finn.lower.windows import Window, padded, window_of, windows
from floorflow.dataflow.model import Attributes
from floorflow.network.model import Operation

_FLOAT_HINT = "Put the quantised activation before the pool, or right behind it."


def max_pool(lowering: Lowering, operation: Operation) -> Wire:
    """Lower a max pool; ReLUs that wait for thresholds may wait behind it."""
    wire = without_host_steps(lowering, operation, lowering.input_of(operation))
    if any(step.type not in BENDS for step in wire.pending):
        raise lowering.refuse(operation, "it pools float values", _FLOAT_HINT)
    window = window_of(lowering, operation, wire)
    if window.dilations != (1, 1):
        raise lowering.refuse(operation, f"dilation {window.dilations} is not supported in pools")
    streams = not lowering.newer and _streams(window, wire)
    pooled = (_streaming_max_pool if streams else _window_max_pool)(lowering, operation, wire, window)
    shape = _shape_behind(lowering, operation, pooled)
    return replace(pooled, shape=shape, xnor=wire.xnor, pending=wire.pending)


def average_pool(lowering: Lowering, operation: Operation) -> Wire:
    """Lower an average pool: with Trunc behind it, or of a part of the image, to Pool_hls, else to GlobalAccPool_hls.

    Without Trunc both send sums; the division is a scale that the next thresholds or the host take over. An average
    behind the last ReLU of a network, which no quantiser follows, is left to the host.
    """
    wire = without_host_steps(lowering, operation, lowering.input_of(operation))
    if wire.host_only or any(step.type in BENDS for step in wire.pending):
        return wire.then(operation)
    if wire.is_one_bit:
        raise lowering.refuse(operation, "it averages values of -1 and 1", "Quantise them to at least 2 bits.")
    window = window_of(lowering, operation, wire)
    if any(window.pads) and wire.pending:
        raise lowering.refuse(operation, "it pads float values", _FLOAT_HINT)
    if any(window.pads) and not operation.integer("count_include_pad"):
        lowering.remark("averages divide by the whole window at the border too, as engines do", operation)
    truncate = next_operation(lowering.network, operation)
    if any(window.pads):
        lowering.stops("average pools with padding", operation)
    if truncate is not None and truncate.type == "truncate":
        summed = _truncated_average(lowering, operation, truncate, wire, window)
    elif window.kernel == window.image and not any(window.pads):
        summed = _global_sum(lowering, operation, wire)
    else:
        summed = _window_sum(lowering, operation, wire, window)
    return replace(summed, shape=_shape_behind(lowering, operation, summed), pending=wire.pending)


def upsample(lowering: Lowering, operation: Operation) -> Wire:
    """Lower a nearest-neighbour upsampling; FINN main's engine takes square images, or 1D ones, a pixel a word."""
    wire = without_host_steps(lowering, operation, lowering.input_of(operation))
    if wire.host_only or len(wire.shape) != 4:
        return wire.then(operation)
    (height, width), channels = wire.shape[1:3], wire.shape[-1]
    factors = operation.integers("factors")
    factor_h, factor_w = (factors[0], factors[1]) if len(factors) == 2 else (factors[0], 1)
    output = Output((1, height * factor_h, width * factor_w, channels), wire.datatype, wire.xnor)
    one_dimension = width == factor_w == 1
    square = height == width and factor_h == factor_w
    sizes: Attributes
    if not lowering.newer and (square or one_dimension) and channels * wire.datatype.bits <= MAX_STREAM_BITS:
        sizes = {"IFMDim": height, "OFMDim": output.shape[1], "DimMode": int(one_dimension), "numInputVectors": 1}
    else:
        sizes = {"HI": height, "WI": width, "HO": output.shape[1], "WO": output.shape[2], "batchSize": 1}
        if not lowering.newer:
            lowering.remark(NEEDS_NEWER_FINN, operation)
    attributes: Attributes = {**sizes, "NumChannels": channels, "inputDataType": wire.datatype.name}
    return lowering.add("UpsampleNearestNeighbour_hls", operation, attributes, wire, output).then(*wire.pending)


def pad(lowering: Lowering, operation: Operation) -> Wire:
    """Lower padding with zeros; a convolution behind it may widen the border."""
    wire = without_host_steps(lowering, operation, lowering.input_of(operation))
    if any(step.type not in BENDS for step in wire.pending):
        raise lowering.refuse(operation, "it pads float values", "Put the quantised activation before the padding.")
    if wire.is_one_bit:
        raise lowering.refuse(operation, "it pads with 0, which a BIPOLAR stream cannot carry", "Use 2 bits.")
    pads = operation.integers("pads")
    border = (pads[0], pads[1], pads[2], pads[3]) if len(pads) == 4 else (pads[0], 0, pads[1], 0)
    image = (wire.shape[1], wire.shape[2])
    window = Window(image, (1, 1), (1, 1), (1, 1), border)
    return padded(lowering, operation, wire, window).then(*wire.pending)


def _shape_behind(lowering: Lowering, operation: Operation, wire: Wire) -> tuple[int, ...]:
    """Return a pool's output shape; a reduction that drops the pixels leaves a vector."""
    if len(lowering.network.tensor(operation.outputs[0]).shape) == 2:
        return wire.shape[0], wire.shape[-1]
    return wire.shape


def _global_sum(lowering: Lowering, operation: Operation, wire: Wire) -> Wire:
    output = Output((1, 1, 1, wire.shape[-1]), pool_sum(wire.datatype, prod(wire.shape[1:-1])))
    return lowering.add("GlobalAccPool_hls", operation, wire.attributes, wire, output)


def _streams(window: Window, wire: Wire) -> bool:
    """Whether StreamingMaxPool_hls can do it: whole square tiles of a square image, or of a 1D one."""
    tiles = window.kernel == window.strides and not any(window.pads)
    divides = all(size % taps == 0 for size, taps in zip(window.image, window.kernel, strict=True))
    one_dimension = any(window.image[i] == window.kernel[i] == 1 for i in (0, 1))
    square = window.image[0] == window.image[1] and window.kernel[0] == window.kernel[1]
    if one_dimension:
        return tiles and divides and wire.datatype.bits > 1
    return tiles and divides and square and wire.shape[-1] * wire.datatype.bits <= MAX_STREAM_BITS


def _streaming_max_pool(lowering: Lowering, operation: Operation, wire: Wire, window: Window) -> Wire:
    # FINN's one-dimensional pool runs along the second axis.
    turned = window.image[1] == window.kernel[1] == 1
    attributes: Attributes = {
        "ImgDim": window.image[::-1] if turned else window.image,
        "PoolDim": window.kernel[::-1] if turned else window.kernel,
        "NumChannels": wire.shape[-1],
        "CeilMode": operation.integer("ceil_mode"),
        "dataType": wire.datatype.name,
    }
    output = Output((1, *window.output, wire.shape[-1]), wire.datatype)
    return lowering.add("StreamingMaxPool_hls", operation, attributes, wire, output)


def _window_max_pool(lowering: Lowering, operation: Operation, wire: Wire, window: Window) -> Wire:
    """Add windows and Pool_hls, which pads with 0: harmless for values from 0 upwards or before a ReLU."""
    _check_no_gaps(lowering, operation, window)
    if any(window.pads) and wire.datatype.min < 0 and not _is_rectified(wire):
        raise lowering.refuse(
            operation,
            f"it pads signed values ({wire.datatype.name}) and FINN pads with 0, which may exceed them",
            "Pool unsigned activations (behind a ReLU, Brevitas: QuantReLU), or pool without padding.",
        )
    wire = padded(lowering, operation, wire, window)
    return _pool(lowering, operation, wire, window, Output((1, *window.output, wire.shape[-1]), wire.datatype))


def _is_rectified(wire: Wire) -> bool:
    """Whether a ReLU or Clip waits behind the pool, for which values below 0 are as good as 0."""
    return any(step.attributes.get("operator") != "Selu" for step in wire.pending)


def _truncated_average(
    lowering: Lowering, operation: Operation, truncate: Operation, wire: Wire, window: Window
) -> Wire:
    """Add windows and a QuantAvgPool, which sums and shifts (QONNX's ``get_accum_size``, ``get_shifts``)."""
    _check_no_gaps(lowering, operation, window)
    if window.kernel[0] != window.kernel[1] or window.strides[0] != window.strides[1]:
        raise lowering.refuse(operation, "FINN averages over square windows with equal strides only")
    wire = padded(lowering, operation, wire, window)
    datatype = lowering.network.tensor(truncate.outputs[0]).datatype
    sum_bits = ((2**wire.datatype.bits - 1) * prod(window.kernel)).bit_length()
    output = Output((1, *window.output, wire.shape[-1]), datatype)
    return _pool(lowering, operation, wire, window, output, sum_bits=sum_bits)


def _window_sum(lowering: Lowering, operation: Operation, wire: Wire, window: Window) -> Wire:
    """Add windows and a QuantAvgPool that shifts by nothing and so sends sums."""
    _check_no_gaps(lowering, operation, window)
    lowering.stops("average pools of a part of the image with no Trunc behind them", operation)
    summed = pool_sum(wire.datatype, prod(window.kernel))
    wire = padded(lowering, operation, wire, window)
    output = Output((1, *window.output, wire.shape[-1]), summed)
    return _pool(lowering, operation, wire, window, output, sum_bits=summed.bits)


def _pool(
    lowering: Lowering, operation: Operation, wire: Wire, window: Window, output: Output, *, sum_bits: int = 0
) -> Wire:
    """Add a window engine and Pool_hls: a maximum, or an average if ``sum_bits`` are given."""
    attributes: Attributes = {
        "Channels": wire.shape[-1],
        "KernelSize": window.kernel,
        "Function": "QuantAvgPool" if sum_bits else "MaxPool",
        "OutImgDims": window.output,
        "InputDataType": wire.datatype.name,
        "OutputDataType": output.datatype.name,
        "AccumBits": sum_bits,
        "Size": max(sum_bits - output.datatype.bits, 0),
        "BatchSize": 1,
    }
    sliding = windows(lowering, operation, wire, window, depthwise=True)
    return lowering.add("Pool_hls", operation, attributes, sliding, output)


def _check_no_gaps(lowering: Lowering, operation: Operation, window: Window) -> None:
    """Refuse strides beyond the kernel, for which FINN has no pool."""
    if any(stride > taps for stride, taps in zip(window.strides, window.kernel, strict=True)):
        raise lowering.refuse(operation, f"its strides {window.strides} exceed its kernel {window.kernel}")
