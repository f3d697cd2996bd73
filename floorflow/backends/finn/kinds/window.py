"""ConvolutionInputGenerator_rtl: the sliding window that turns an image into kernel-sized columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from floorflow.backends.finn import estimated
from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.kinds.kind import Choice, Folding, divisors
from floorflow.backends.finn.memory import ceil_divide
from floorflow.dataflow.model import Attributes
from floorflow.errors import InputError
from floorflow.resources import Resources
from floorflow.technology import Technology

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WindowUnit:
    """One window; pairs are (height, width), of one-dimensional maps the long axis is the width.

    ``folds`` is channels / SIMD: words a pixel.
    """

    image: Pair
    output: Pair
    kernel: Pair
    stride: Pair
    dilation: Pair
    simd: int
    folds: int
    bits: int
    depthwise: bool
    parallel_window: bool
    ram_style: str

    @property
    def is_point(self) -> bool:
        """Whether the kernel is 1x1: the window only samples."""
        return self.kernel == (1, 1)

    @property
    def parallel(self) -> bool:
        """Whether FINN builds the parallel style, which stores lines and keeps the window in registers."""
        return self.is_point or self.parallel_window

    @property
    def _one_dimensional(self) -> bool:
        return self.image[0] == 1

    @property
    def _span(self) -> int:
        """Pixels from the first to the last of a window, both included."""
        return (self.kernel[0] - 1) * self.dilation[0] * self.image[1] + (self.kernel[1] - 1) * self.dilation[1] + 1

    @property
    def cycles(self) -> int:
        """Initiation interval for one frame."""
        if self.parallel:
            return self.image[0] * self.image[1] * self.folds + 2
        if self._one_dimensional:
            kernel, stride = self.kernel[1], self.stride[1]
            extra = self.folds * (kernel - 1) * (stride - 1) - (kernel - 1) if self.depthwise else 0
            return self.output[1] * kernel * self.folds + 2 + extra
        return self._cycles_2d()

    def _cycles_2d(self) -> int:
        (rows, columns), (kernel_h, kernel_w) = self.output, self.kernel
        row = max(columns * kernel_w * kernel_h * self.folds, self.stride[1] * self.image[1] * self.folds)
        extra = 0
        if self.depthwise:
            row += columns * (self.stride[1] - 1) * (self.folds - 1)
            extra = (self.stride[0] - 1) * self.image[1] * self.folds
        return self._span * self.folds + rows * row + extra

    @property
    def word_bits(self) -> int:
        """Width of the input and of the buffer."""
        return self.bits * self.simd

    @property
    def input_widths_bits(self) -> tuple[int, ...]:
        """Width of the one input."""
        return (self.word_bits,)

    @property
    def output_widths_bits(self) -> tuple[int, ...]:
        """Width of the one output: the whole window at once if parallel."""
        taps = self.kernel[0] * self.kernel[1] if self.parallel_window else 1
        return (self.word_bits * taps,)

    @property
    def buffer_words(self) -> int:
        """Words that the buffer holds, registers included."""
        if self.parallel:
            return (self._span - 1) * self.folds + 2
        taps = self.kernel[0] * self.kernel[1]
        skipped_columns = max(0, (self.stride[1] - 1 - taps) * self.folds)
        skipped_rows = max(0, ((self.stride[0] - 1) * self.image[1] - taps) * self.folds)
        return self._span * self.folds + skipped_columns + skipped_rows

    @property
    def memories(self) -> tuple[int, int]:
        """Depth and number of the memories: one buffer, or one for each line between the rows of a parallel window."""
        if not self.parallel:
            return self.buffer_words, 1
        if self._one_dimensional:
            return 0, 0
        width, (kernel_h, kernel_w) = self.image[1], self.kernel
        depth = width - ((kernel_w - 1) * self.dilation[1] + 1) + width * (self.dilation[0] - 1)
        return depth, kernel_h - 1

    def _memory_blocks(self) -> Resources:
        depth, count = self.memories
        if self.ram_style == "ultra":
            return Resources(uram=ceil_divide(depth, 4096) * ceil_divide(self.word_bits, 72) * count)
        if self.ram_style == "distributed" or not count:
            return Resources()
        deep, wide = ceil_divide(depth, 16384), ceil_divide(self.word_bits, _ram_width(depth))
        saving = wide - ceil_divide(self.word_bits, _ram_width(depth % 16384)) if depth > 16384 else 0
        return Resources(bram18=(deep * wide - saving) * count)

    def finn_resources(self, technology: Technology) -> Resources:  # noqa: ARG002 - the same on every family
        """Return FINN main's estimate."""
        distributed = self.word_bits * ceil_divide(self.buffer_words, 38) if self.ram_style == "distributed" else 0
        return self._memory_blocks() + Resources(lut=300 + distributed)

    def own_resources(self, technology: Technology) -> Resources:
        """Price it by floorflow's ``estimated`` model; ``auto`` memory counts as block RAM, as FINN does."""
        if self.is_point:
            return estimated.rounded(
                estimated.POINT_WINDOW_LUT + 3 * self.word_bits,
                estimated.POINT_WINDOW_FF + 4 * self.word_bits,
            )
        depth, count = self.memories
        lut, ff = float(estimated.WINDOW_LUT), float(estimated.WINDOW_FF + 2 * self.word_bits)
        if self.parallel:
            ff += self.kernel[0] * self.kernel[1] * self.word_bits
            lut += self.word_bits
        if self.ram_style == "distributed":
            lut += count * estimated.window_memory_luts(self.word_bits, depth, technology)
            ff += count * estimated.WINDOW_FF_PER_BANK * ceil_divide(depth, 64)
        return estimated.rounded(lut, ff) + self._memory_blocks()


def _ram_width(depth: int) -> int:
    """Widest RAMB18 port at this depth."""
    for rows, width in ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2)):
        if depth <= rows:
            return width
    return 1


@dataclass(frozen=True, slots=True)
class Window:
    """The kind ConvolutionInputGenerator_rtl."""

    op_type: str

    def unit(self, attributes: Attributes) -> WindowUnit:
        """Read one window; of a map that is one pixel wide the axes are swapped."""
        reader = Reader(self.op_type, attributes)
        pairs = {
            "image": reader.pair("IFMDim"),
            "output": reader.pair("OFMDim"),
            "kernel": reader.pair("ConvKernelDim"),
            "stride": reader.pair("Stride", (1, 1)),
            "dilation": reader.pair("Dilation", (1, 1)),
        }
        if pairs["image"][1] == 1:
            pairs = {name: (pair[1], pair[0]) for name, pair in pairs.items()}
        channels, simd = reader.integer("IFMChannels"), reader.integer("SIMD")
        return WindowUnit(
            **pairs,
            simd=simd,
            folds=channels // simd,
            bits=reader.bits("inputDataType"),
            depthwise=reader.integer("depthwise", 0) == 1,
            parallel_window=reader.integer("parallel_window", 0) == 1,
            ram_style=reader.text("ram_style", "distributed"),
        )

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        """Yield SIMD | IFMChannels; a parallel window needs all channels, and is not offered for depthwise ones.

        Raises
        ------
        InputError
            If the dilated kernel or the stride exceeds the feature map.

        """
        reader = Reader(self.op_type, attributes)
        self._check(reader)
        channels = reader.integer("IFMChannels")
        for simd in divisors(channels):
            for parallel in self._parallel(reader, choice, simd == channels):
                for ram_style in self._ram_styles(reader, choice):
                    yield {"SIMD": simd, "parallel_window": parallel, "ram_style": ram_style}

    @staticmethod
    def _parallel(reader: Reader, choice: Choice, all_channels: bool) -> tuple[int, ...]:
        if not choice.styles_are_free and reader.has("parallel_window"):
            given = reader.integer("parallel_window")
            free = reader.integer("depthwise", 0) == 1 or reader.pair("ConvKernelDim") == (1, 1)
            return (given,) if not given or all_channels or free else ()
        point = reader.pair("ConvKernelDim") == (1, 1)
        return (0, 1) if all_channels and not point and reader.integer("depthwise", 0) == 0 else (0,)

    @staticmethod
    def _ram_styles(reader: Reader, choice: Choice) -> tuple[str, ...]:
        if not choice.styles_are_free:
            return (reader.text("ram_style", "distributed"),)
        if reader.pair("ConvKernelDim") == (1, 1):
            return ("distributed",)
        return ("distributed", "block", "ultra") if choice.technology.has_uram else ("distributed", "block")

    @staticmethod
    def _check(reader: Reader) -> None:
        image, kernel = reader.pair("IFMDim"), reader.pair("ConvKernelDim")
        stride, dilation = reader.pair("Stride", (1, 1)), reader.pair("Dilation", (1, 1))
        for axis in (0, 1):
            reach = max((kernel[axis] - 1) * dilation[axis] + 1, stride[axis])
            if reach > image[axis] > 1:
                raise InputError(
                    f"{reader.op_type}: a window of {kernel} with dilation {dilation} and stride {stride} does not "
                    f"fit the feature map {image}; expected IFMDim of at least {reach} on axis {axis}"
                )
