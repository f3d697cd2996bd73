"""Padding and sliding windows."""

from dataclasses import dataclass, replace
from math import prod

from floorflow.backends.finn.lower.state import Lowering, Output, Wire
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

    def grown_to(self, output: Pair) -> "Window":
        """Return the window with pads at the end such that its output, rounded down, has the given size."""
        top, left, bottom, right = self.pads
        missing = [
            max((wanted - 1) * stride + reach - size, 0)
            for wanted, stride, reach, size in zip(output, self.strides, self.reach, self.padded, strict=True)
        ]
        return replace(self, pads=(top, left, bottom + missing[0], right + missing[1]))

    @property
    def is_pixel(self) -> bool:
        """Whether every window is one pixel of the image, so that no window engine is needed."""
        return self.kernel == (1, 1) and self.strides == (1, 1) and not any(self.pads)


def window_of(lowering: Lowering, operation: Operation, wire: Wire) -> Window:
    """Return an operation's window in two dimensions.

    Raises InputError if the image is not 1D or 2D, or the window is larger than the image.
    """
    if len(wire.shape) != 4 or len(operation.integers("kernel")) > 2:
        raise lowering.refuse(operation, f"it needs an image of one or two dimensions, not {wire.shape[1:]}")
    pads = operation.integers("pads")
    first, last = _pair(pads[: len(pads) // 2], 0), _pair(pads[len(pads) // 2 :], 0)
    kernel, strides, dilations = (_pair(operation.integers(key), 1) for key in ("kernel", "strides", "dilations"))
    window = Window((wire.shape[1], wire.shape[2]), kernel, strides, dilations, (*first, *last))
    if operation.attributes.get("ceil_mode"):
        output = channels_last(lowering.network.tensor(operation.outputs[0]).shape)
        window = window.grown_to((output[1], output[2]))
    if any(reach > size for reach, size in zip(window.reach, window.padded, strict=True)):
        raise lowering.refuse(operation, f"its window {window.reach} is larger than the padded image {window.padded}")
    if any(stride > size for stride, size in zip(window.strides, window.padded, strict=True)):
        raise lowering.refuse(operation, f"its strides {window.strides} exceed the padded image {window.padded}")
    return window


def channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return (1, height, width, channels) of (1, channels, height[, width]); other shapes stay."""
    if len(shape) == 3:
        return shape[0], shape[2], 1, shape[1]
    return (shape[0], *shape[2:], shape[1]) if len(shape) == 4 else shape


def padded(lowering: Lowering, operation: Operation, wire: Wire, window: Window) -> Wire:
    """Add FMPadding_rtl if the window needs a border of zeros, or widen the border that one has just made."""
    if not any(window.pads):
        return wire
    output = Output((1, *window.padded, wire.shape[-1]), wire.datatype, wire.xnor)
    last = lowering.engines.get(wire.source)
    made = last.attributes["Padding"] if last and last.kind == "FMPadding_rtl" else ()
    if last and isinstance(made, tuple) and made:
        border = tuple(a + b for a, b in zip(made, window.pads, strict=True) if isinstance(a, int))
        lowering.engines[last.name] = replace(last, attributes={**last.attributes, "Padding": border})
        return replace(wire, shape=output.shape)
    attributes: Attributes = {
        "ImgDim": window.image,
        "Padding": window.pads,
        **wire.attributes,
        "numInputVectors": 1,
    }
    return lowering.add("FMPadding_rtl", operation, attributes, wire, output)


def spread(lowering: Lowering, operation: Operation, wire: Wire) -> Wire:
    """Add FMPadding_Pixel_hls, which puts zeros between the pixels of an image."""
    if wire.is_one_bit:
        reason = "it puts zeros between the pixels, which a BIPOLAR stream cannot carry"
        raise lowering.refuse(operation, reason, "Use 2-bit activations.")
    if len(wire.shape) != 4:
        raise lowering.refuse(operation, f"it needs an image of two dimensions, not {wire.shape[1:]}")
    stride, image = _pair(operation.integers("spread"), 1), (wire.shape[1], wire.shape[2])
    attributes: Attributes = {
        "ImgDim": image,
        "Stride": stride,
        **wire.attributes,
        "numInputVectors": 1,
    }
    height, width = (size + (size - 1) * (apart - 1) for size, apart in zip(image, stride, strict=True))
    output = Output((1, height, width, wire.shape[-1]), wire.datatype)
    return lowering.add("FMPadding_Pixel_hls", operation, attributes, wire, output)


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


def _pair(values: tuple[int, ...], default: int) -> Pair:
    """Return one or two values as (height, width)."""
    return (values[0], values[1]) if len(values) == 2 else (values[0], default)
