"""ConvolutionInputGenerator_rtl: the sliding window that turns an image into kernel-sized columns."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.cost.memory import Column, Mask, block_ram_width, ceil_divide, in_formulas, most, where
from floorflow.backends.finn.kinds.kind import EVERY_FINN, Batch, Choice, Folding, OneStream, divisors, priced
from floorflow.backends.finn.kinds.weighted import RAM_STYLES
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.errors import InputError
from floorflow.resources import Resources
from floorflow.technology import Technology

Pair = tuple[int, int]


WHOLE_PIXEL_MEMORY = 0.31
"""Share of the buffer's LUTs where each word is a whole pixel (SIMD = channels), as half of the control is: windows of
builds that were not fitted to took 104 to 136 LUT where 237 to 339 would have been told."""


@dataclass(frozen=True, slots=True)
class WindowUnit(OneStream):
    """One window; pairs are (height, width), of one-dimensional maps the long axis is the width.

    ``simd`` may be a column.
    """

    image: Pair
    output: Pair
    kernel: Pair
    stride: Pair
    dilation: Pair
    channels: int
    simd: int
    bits: int
    depthwise: bool
    parallel_window: bool
    ram_style: str
    finn: FinnVersion

    @property
    def folds(self) -> int:
        """Words a pixel."""
        return self.channels // self.simd

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
    def span(self) -> int:
        """Pixels from the first to the last of a window, both included."""
        return (self.kernel[0] - 1) * self.dilation[0] * self.image[1] + (self.kernel[1] - 1) * self.dilation[1] + 1

    @property
    def first_window_share(self) -> float:
        """Share of a frame that must be in before the first window is complete."""
        return self.span / (self.image[0] * self.image[1])

    @property
    def cycles(self) -> int:
        if self.parallel:
            return self.image[0] * self.image[1] * self.folds + 2
        return self._cycles_1d() if self._one_dimensional else self._cycles_2d()

    def _cycles_1d(self) -> int:
        kernel, stride, folds = self.kernel[1], self.stride[1], self.folds
        written = self.output[1] * kernel * folds
        if not self.depthwise:
            return written + 2
        skipped = folds * (kernel - 1) * (stride - 1)
        if self.finn == "plus":
            return most(written + (folds - 1) * kernel, self.image[1] * folds + skipped) + 2
        return written + skipped - (kernel - 1) + 2

    def _cycles_2d(self) -> int:
        (rows, columns), (kernel_h, kernel_w) = self.output, self.kernel
        row = max(columns * kernel_w * kernel_h, self.stride[1] * self.image[1]) * self.folds
        if not self.depthwise:
            return self.span * self.folds + rows * row
        row = row + columns * (self.stride[1] - 1) * (self.folds - 1)
        return self.span * self.folds + rows * row + (self.stride[0] - 1) * self.image[1] * self.folds

    @property
    def word_bits(self) -> int:
        """Width of the input and of the buffer."""
        return self.bits * self.simd

    @property
    def widths_bits(self) -> tuple[int, int]:
        """Of the input, and of the output: the whole window at once if parallel."""
        taps = self.kernel[0] * self.kernel[1] if self.parallel_window else 1
        return self.word_bits, self.word_bits * taps

    @property
    def buffer_words(self) -> int:
        """Words that the buffer holds, registers included."""
        if self.parallel:
            return (self.span - 1) * self.folds + 2
        taps = self.kernel[0] * self.kernel[1]
        skipped_columns = max(0, self.stride[1] - 1 - taps)
        skipped_rows = max(0, (self.stride[0] - 1) * self.image[1] - taps)
        return (self.span + skipped_columns + skipped_rows) * self.folds

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
        deep, wide = ceil_divide(depth, 16384), ceil_divide(self.word_bits, block_ram_width(depth))
        saving = wide - ceil_divide(self.word_bits, block_ram_width(depth % 16384))
        return Resources(bram18=(deep * wide - where(depth > 16384, saving, 0)) * count)

    def finn_resources(self, technology: Technology) -> Resources:
        distributed = self.word_bits * ceil_divide(self.buffer_words, 38) if self.ram_style == "distributed" else 0
        return self._memory_blocks() + Resources(lut=300 + distributed)

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by one of floorflow's own models; ``auto`` memory counts as block RAM, as FINN does."""
        if self.is_point:
            return estimated.rounded(
                prices.point_window_lut + 3 * self.word_bits,
                prices.point_window_ff + 4 * self.word_bits,
            )
        depth, count = self.memories
        whole_pixels = self.folds == 1
        lut, ff = where(whole_pixels, 0.5, 1.0) * prices.window_lut, prices.window_ff + 2 * self.word_bits
        if self.parallel:
            lut, ff = lut + self.word_bits, ff + self.kernel[0] * self.kernel[1] * self.word_bits
        if self.ram_style == "distributed":
            memory = count * estimated.window_memory_luts(self.word_bits, depth, technology, prices)
            lut = lut + where(whole_pixels, WHOLE_PIXEL_MEMORY, 1.0) * memory
            ff = ff + count * prices.window_ff_per_bank * ceil_divide(depth, 64)
        return estimated.rounded(lut, ff) + self._memory_blocks()


@dataclass(frozen=True, slots=True)
class Window:
    """The kind ConvolutionInputGenerator_rtl."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> WindowUnit:
        """Read one window; of a map that is one pixel wide the axes are swapped."""
        reader = Reader(self.op_type, attributes, finn)
        parallel, depthwise = reader.flag("parallel_window"), reader.flag("depthwise")
        pairs, folds = read_pairs(reader), reader.folds("IFMChannels", "SIMD")
        _check(reader, pairs)
        if parallel and folds > 1 and not depthwise and pairs["kernel"] != (1, 1):
            channels = reader.integer("IFMChannels")
            raise reader.wrong("SIMD", f"IFMChannels, which is {channels}, because parallel_window is 1")
        return WindowUnit(
            **pairs,
            channels=reader.integer("IFMChannels"),
            simd=reader.integer("SIMD"),
            bits=reader.bits("inputDataType"),
            depthwise=depthwise,
            parallel_window=parallel,
            ram_style=reader.one_of("ram_style", RAM_STYLES, "distributed"),
            finn=finn,
        )

    def batches(self, attributes: Attributes, choice: Choice) -> Iterator[Batch]:
        """Yield SIMD | IFMChannels; a parallel window needs all channels, and is not offered for depthwise ones.

        Raises InputError if the dilated kernel or the stride exceeds the feature map.
        """
        reader = Reader(self.op_type, attributes, choice.finn)
        _check(reader, read_pairs(reader))
        simd = np.array(divisors(reader.positive("IFMChannels")))
        for parallel, legal in self._parallel(reader, choice, simd):
            column = simd[legal]
            for ram_style in self._ram_styles(reader, choice) if column.size else ():
                style: Folding = {"parallel_window": parallel, "ram_style": ram_style}
                one = self.unit({**attributes, "SIMD": int(column[-1]), **style}, choice.finn)
                every = replace(one, simd=in_formulas(column))
                yield Batch({"SIMD": column}, style, every, priced(every, choice.technology, choice.model))

    @staticmethod
    def _parallel(reader: Reader, choice: Choice, simd: Column) -> Iterator[tuple[int, Mask]]:
        channels, point = int(simd[-1]), reader.pair("ConvKernelDim") == (1, 1)
        serial = np.array([_addresses_fit(reader, channels // lanes) for lanes in simd.tolist()])
        together = (simd == channels) | reader.flag("depthwise")
        if choice.styles_are_free or not reader.has("parallel_window"):
            yield 0, serial
            yield 1, together & (not point)
        elif reader.flag("parallel_window"):
            yield 1, together | point
        else:
            yield 0, serial

    @staticmethod
    def _ram_styles(reader: Reader, choice: Choice) -> tuple[str, ...]:
        if not choice.styles_are_free:
            return (reader.text("ram_style", "distributed"),)
        if reader.pair("ConvKernelDim") == (1, 1):
            return ("distributed",)
        return ("distributed", "block", "ultra") if choice.technology.has_uram else ("distributed", "block")


def read_pairs(reader: Reader, *, swap: bool = True) -> dict[str, Pair]:
    """Return sizes by height and width; with ``swap`` the axes of a map that is one pixel wide are swapped."""
    pairs = {
        "image": reader.pair("IFMDim"),
        "output": reader.pair("OFMDim"),
        "kernel": reader.pair("ConvKernelDim"),
        "stride": reader.pair("Stride"),
        "dilation": reader.pair("Dilation"),
    }
    if swap and pairs["image"][1] == 1:
        return {name: (pair[1], pair[0]) for name, pair in pairs.items()}
    return pairs


def _check(reader: Reader, pairs: dict[str, Pair]) -> None:
    image, kernel, stride, dilation = (pairs[name] for name in ("image", "kernel", "stride", "dilation"))
    for axis in (0, 1):
        reach = max((kernel[axis] - 1) * dilation[axis] + 1, stride[axis])
        if reach > image[axis]:
            raise InputError(
                f"{reader.op_type}: a window of {kernel} with dilation {dilation} and stride {stride} does not "
                f"fit the feature map {image}; expected IFMDim of at least {reach} on axis {axis}"
            )


def _addresses_fit(reader: Reader, folds: int) -> bool:
    """Whether FINN's code generator can address a buffer that is read element by element."""
    if reader.pair("ConvKernelDim") == (1, 1):
        return True
    return _steps_stay_in_buffer(reader, folds) and _loops_have_counters(reader, folds)


def _loops_have_counters(reader: Reader, folds: int) -> bool:
    """Whether some loop runs twice or more beside the innermost one's first step; FINN fails with a domain error."""
    rows, columns = reader.pair("ConvKernelDim")
    loops = [rows, columns, folds]
    if reader.flag("depthwise") and folds > 1:
        loops = [folds, rows, columns]
    innermost = next((axis for axis in (2, 1) if loops[axis] > 1), 0)
    loops[innermost] -= 1
    return max(*loops, *reader.pair("OFMDim")) >= 2


def _steps_stay_in_buffer(reader: Reader, folds: int) -> bool:
    """Whether FINN's code generator takes the strides: it moves from window to window within the buffer only.

    It refuses others with "increment > buffer size, try parallel_window=1" long after its estimates.
    """
    kernel, image = reader.pair("ConvKernelDim"), reader.pair("IFMDim")
    stride, dilation = reader.pair("Stride"), reader.pair("Dilation")
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    least = ((kernel[0] - 1) * dilation[0] * image[1] + reach[1]) * folds
    taps = kernel[0] * kernel[1]
    buffer_words = least + max(0, stride[1] - 1 - taps) * folds + max(0, (stride[0] - 1) * image[1] - taps) * folds
    windows = (image[1] - reach[1]) // stride[1] + 1
    left_over = image[1] % (reach[1] + (windows - 1) * stride[1])
    to_next_window = -least + stride[1] * folds + 1
    to_next_row = -least + (left_over + reach[1]) * folds + (stride[0] - 1) * image[1] * folds + 1
    return max(abs(to_next_window), abs(to_next_row)) <= buffer_words
