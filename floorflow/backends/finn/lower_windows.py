"""Padding, sliding windows and pools."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from floorflow.backends.finn.lower_graph import Lowering, Output, Wire
from floorflow.backends.finn.lower_lookahead import next_operation
from floorflow.backends.finn.lower_types import pool_sum
from floorflow.dataflow.model import Attributes
from floorflow.network.model import Operation

Pair = tuple[int, int]


@dataclass(frozen=True)
class Window:
    """The window that an operation slides over an image, all as (height, width).

    ``image`` is without padding; ``pads`` are (top, left, bottom, right). A 1D image has width 1.
    """

    image: Pair
    kernel: Pair
    strides: Pair
    dilations: Pair
    pads: tuple[int, int, int, int]

    @property
    def padded(self) -> Pair:
        """Height and width with padding."""
        top, left, bottom, right = self.pads
        return self.image[0] + top + bottom, self.image[1] + left + right

    @property
    def reach(self) -> Pair:
        """Height and width that the dilated kernel covers."""
        (kernel_h, kernel_w), (dilation_h, dilation_w) = self.kernel, self.dilations
        return (kernel_h - 1) * dilation_h + 1, (kernel_w - 1) * dilation_w + 1

    @property
    def output(self) -> Pair:
        """Height and width of the output, rounded down."""
        (height, width), (reach_h, reach_w), (stride_h, stride_w) = self.padded, self.reach, self.strides
        return (height - reach_h) // stride_h + 1, (width - reach_w) // stride_w + 1

    @property
    def is_pixel(self) -> bool:
        """Whether every window is one pixel of the image, so that no window engine is needed."""
        return self.kernel == (1, 1) and self.strides == (1, 1) and not any(self.pads)


def window_of(lowering: Lowering, operation: Operation, wire: Wire) -> Window:
    """Return an operation's window in two dimensions.

    Raises
    ------
    InputError
        If the image is not 1D or 2D, the output is rounded up, or the window is larger than the image.

    """
    if len(wire.shape) != 4 or len(operation.integers("kernel")) > 2:
        raise lowering.refuse(operation, f"it needs an image of one or two dimensions, not {wire.shape[1:]}")
    pads = operation.integers("pads")
    first, last = _pair(pads[: len(pads) // 2], 0), _pair(pads[len(pads) // 2 :], 0)
    kernel, strides, dilations = (_pair(operation.integers(key), 1) for key in ("kernel", "strides", "dilations"))
    window = Window((wire.shape[1], wire.shape[2]), kernel, strides, dilations, (*first, *last))
    if any(reach > size for reach, size in zip(window.reach, window.padded, strict=True)):
        raise lowering.refuse(operation, f"its window {window.reach} is larger than the padded image {window.padded}")
    if any(stride > size for stride, size in zip(window.strides, window.padded, strict=True)):
        raise lowering.refuse(operation, f"its strides {window.strides} exceed the padded image {window.padded}")
    expected = channels_last(lowering.network.tensor(operation.outputs[0]).shape)[1:3]
    if window.output != expected:
        raise lowering.refuse(operation, f"its output {expected} is rounded up (ceil_mode); FINN's windows round down")
    return window


def channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return (1, height, width, channels) of (1, channels, height[, width]); other shapes stay."""
    if len(shape) == 3:
        return shape[0], shape[2], 1, shape[1]
    return (shape[0], *shape[2:], shape[1]) if len(shape) == 4 else shape


def padded(lowering: Lowering, operation: Operation, wire: Wire, window: Window) -> Wire:
    """Add FMPadding_rtl if the window needs a border of zeros."""
    if not any(window.pads):
        return wire
    channels = wire.shape[-1]
    attributes: Attributes = {
        "ImgDim": window.image,
        "Padding": window.pads,
        "NumChannels": channels,
        "inputDataType": wire.datatype.name,
        "numInputVectors": 1,
    }
    output = Output((1, *window.padded, channels), wire.datatype, wire.xnor)
    return lowering.add("FMPadding_rtl", operation, attributes, wire, output)


def windows(lowering: Lowering, operation: Operation, wire: Wire, window: Window, *, depthwise: bool) -> Wire:
    """Add ConvolutionInputGenerator_rtl, which sends every window of the padded image."""
    channels = wire.shape[-1]
    attributes: Attributes = {
        "IFMChannels": channels,
        "IFMDim": window.padded,
        "OFMDim": window.output,
        "ConvKernelDim": window.kernel,
        "Stride": window.strides,
        "Dilation": window.dilations,
        "inputDataType": wire.datatype.name,
        "outputDataType": wire.datatype.name,
        "depthwise": int(depthwise),
        "is1D": int(1 in window.padded),
        "M": 1,
        "dynamic_mode": 0,
    }
    output = Output((1, *window.output, prod(window.kernel) * channels), wire.datatype, wire.xnor)
    return lowering.add("ConvolutionInputGenerator_rtl", operation, attributes, wire, output)


def max_pool(lowering: Lowering, operation: Operation) -> Wire:
    """Lower a max pool; biases and ReLUs that wait for thresholds may wait behind it."""
    wire = lowering.input_of(operation)
    if any(step.type in ("affine", "softmax") for step in wire.pending):
        raise lowering.refuse(
            operation,
            "it pools float values",
            "Put the quantised activation before the pool, or right behind it.",
        )
    window = window_of(lowering, operation, wire)
    if window.dilations != (1, 1):
        raise lowering.refuse(operation, f"dilation {window.dilations} is not supported in pools")
    if _streams(window, wire):
        pooled = _streaming_max_pool(lowering, operation, wire, window)
    else:
        pooled = _window_max_pool(lowering, operation, wire, window)
    return Wire(pooled.source, pooled.shape, pooled.datatype, pooled.last_dimension, 0, wire.xnor, wire.pending)


def average_pool(lowering: Lowering, operation: Operation) -> Wire:
    """Lower an average pool: with Trunc behind it to Pool_hls, over the whole image to GlobalAccPool_hls.

    GlobalAccPool sums; the division is a scale that the next layer's thresholds or the host take over.
    """
    wire = lowering.input_of(operation)
    if wire.pending:
        raise lowering.refuse(operation, "it pools float values", "Put a quantised activation before the pool.")
    window = window_of(lowering, operation, wire)
    if any(window.pads):
        raise lowering.refuse(operation, "padding is not supported in average pools")
    truncate = next_operation(lowering.network, operation)
    if truncate is not None and truncate.type == "truncate":
        return _truncated_average(lowering, operation, truncate, wire, window)
    if window.kernel != window.image:
        raise lowering.refuse(
            operation,
            "an average over part of the image needs a Trunc behind it",
            "Use Brevitas' TruncAvgPool2d.",
        )
    channels = wire.shape[-1]
    attributes: Attributes = {
        "NumChannels": channels,
        "inputDataType": wire.datatype.name,
        "numInputVectors": wire.shape[:-1],
    }
    output = Output((1, 1, 1, channels), pool_sum(wire.datatype, prod(window.image)))
    return lowering.add("GlobalAccPool_hls", operation, attributes, wire, output)


def _streams(window: Window, wire: Wire) -> bool:
    """Whether StreamingMaxPool_hls can do it: whole square tiles of a square image, or of a 1D one."""
    tiles = window.kernel == window.strides and not any(window.pads)
    divides = all(size % taps == 0 for size, taps in zip(window.image, window.kernel, strict=True))
    one_dimension = any(window.image[i] == window.kernel[i] == 1 for i in (0, 1))
    square = window.image[0] == window.image[1] and window.kernel[0] == window.kernel[1]
    return tiles and divides and (wire.datatype.bits > 1 if one_dimension else square)


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
    """Add windows and Pool_hls, which pads with 0 and so needs values from 0 upwards at a border."""
    _check_no_gaps(lowering, operation, window)
    if any(window.pads) and wire.datatype.min < 0:
        raise lowering.refuse(
            operation,
            f"it pads signed values ({wire.datatype.name}) and FINN pads with 0, which may exceed them",
            "Pool unsigned activations (QuantReLU), or pool without padding.",
        )
    wire = padded(lowering, operation, wire, window)
    return _pool(lowering, operation, wire, window, Output((1, *window.output, wire.shape[-1]), wire.datatype))


def _truncated_average(
    lowering: Lowering, operation: Operation, truncate: Operation, wire: Wire, window: Window
) -> Wire:
    """Add windows and a QuantAvgPool, which sums and shifts (QONNX's ``get_accum_size``, ``get_shifts``)."""
    _check_no_gaps(lowering, operation, window)
    if window.kernel[0] != window.kernel[1] or window.strides[0] != window.strides[1]:
        raise lowering.refuse(operation, "FINN averages over square windows with equal strides only")
    datatype = lowering.network.tensor(truncate.outputs[0]).datatype
    sum_bits = ((2**wire.datatype.bits - 1) * prod(window.kernel)).bit_length()
    output = Output((1, *window.output, wire.shape[-1]), datatype)
    return _pool(lowering, operation, wire, window, output, sum_bits=sum_bits)


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


def _pair(values: tuple[int, ...], default: int) -> Pair:
    """Return one or two values as (height, width)."""
    return (values[0], values[1]) if len(values) == 2 else (values[0], default)
