"""ConvolutionInputGenerator_hls of FINN main: square windows, or one of several variants along one axis."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.cost.memory import block_ram_width, ceil_divide
from floorflow.backends.finn.kinds.kind import ONLY_MAIN, Choice, Folding, FoldsOneByOne, OneStream, divisors
from floorflow.backends.finn.kinds.weighted import RAM_STYLES
from floorflow.backends.finn.kinds.window import Pair, read_pairs
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import Resources
from floorflow.technology import Technology


@dataclass(frozen=True, slots=True)
class HlsWindowUnit(OneStream):
    """One window; pairs are (height, width). ``folds`` is channels / SIMD: words a pixel.

    ``line``: one-dimensional, with axes swapped so that the width is the long one. ``parallel``: the whole window in
    one word. ``naive``: depthwise along a line with a stride above 2 or a dilation, which stores the whole line.
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
    line: bool
    parallel: bool
    naive: bool
    ram_style: str

    @property
    def cycles(self) -> int:
        (rows, columns), (kernel_h, kernel_w) = self.output, self.kernel
        if self.line:
            if self.parallel:
                return kernel_w + columns
            written = columns * kernel_w * self.folds
            if self.naive:
                return self.image[1] * self.folds + written
            return 1 + written + ((self.folds - 1) * (kernel_w - 1) if self.depthwise else 0)
        row = max(columns * kernel_w * kernel_h, self.stride[1] * self.image[1]) * self.folds
        return self.image[1] * kernel_h * self.dilation[0] * self.folds + rows * row

    @property
    def word_bits(self) -> int:
        """Width of the input and of the buffer."""
        return self.bits * self.simd

    @property
    def widths_bits(self) -> tuple[int, int]:
        return self.word_bits, self.word_bits * (prod(self.kernel) if self.parallel else 1)

    @property
    def _memory(self) -> tuple[int, int]:
        """Words and number of the buffers: lines of an image, or one buffer along a line."""
        if not self.line:
            return self.image[0] * self.folds, self.kernel[0] + self.stride[0]
        if self.naive:
            return self.image[1] * self.folds, 1
        return (self.kernel[1] if self.depthwise else self.kernel[1] - 1) * self.folds, 1

    def finn_resources(self, technology: Technology) -> Resources:
        depth, count = self._memory
        if self.ram_style == "distributed":
            return Resources(lut=300 + self._finn_luts(depth, count))
        if self.parallel:
            return Resources(lut=300)
        if self.ram_style == "ultra":
            width = 72 if self.line else 64
            return Resources(lut=300, uram=count * ceil_divide(self.word_bits, width) * ceil_divide(depth, 4096))
        deep = ceil_divide(depth, 18432) if self.line else 1
        return Resources(lut=300, bram18=count * ceil_divide(self.word_bits, block_ram_width(depth)) * deep)

    def _finn_luts(self, depth: int, count: int) -> int:
        if self.parallel:
            return ceil_divide(self.word_bits * (self.kernel[1] + 1), 64)
        if self.line:
            return ceil_divide(self.word_bits * depth, 64)
        return count * self.word_bits * ceil_divide(depth, 64)

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by one of floorflow's own models: as the RTL window, with HLS register slices at its ports."""
        ports = sum(self.widths_bits)
        control = estimated.Logic(ports, prices.window_lut, prices.window_ff).priced(prices)
        if self.parallel:
            return control + Resources(ff=self.word_bits * (self.kernel[1] + 1))
        depth, count = self._memory
        if self.ram_style != "distributed":
            memory = self.finn_resources(technology)
            return control + Resources(bram18=memory.bram18, uram=memory.uram)
        lut = count * estimated.window_memory_luts(self.word_bits, depth, technology, prices)
        return control + estimated.rounded(lut, 0)


@dataclass(frozen=True, slots=True)
class HlsWindow(FoldsOneByOne):
    """The kind ConvolutionInputGenerator_hls."""

    op_type: str = "ConvolutionInputGenerator_hls"
    versions: frozenset[FinnVersion] = ONLY_MAIN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> HlsWindowUnit:
        reader = Reader(self.op_type, attributes, finn)
        line, depthwise = reader.integer("is1D", 0) != 0, reader.flag("depthwise")
        ram_style = reader.one_of("ram_style", RAM_STYLES, "distributed")
        pairs, folds = read_pairs(reader, swap=line), reader.folds("IFMChannels", "SIMD")
        stride, dilated = prod(pairs["stride"]), prod(pairs["dilation"]) > 1
        plain = stride == 1 and not dilated and not depthwise
        fits = line and plain and folds == 1 and ram_style in {"auto", "distributed"}
        return HlsWindowUnit(
            **pairs,
            simd=reader.integer("SIMD"),
            folds=folds,
            bits=reader.bits("inputDataType"),
            depthwise=depthwise,
            line=line,
            parallel=fits and reader.flag("parallel_window"),
            naive=line and depthwise and (stride > 2 or dilated),
            ram_style=ram_style,
        )

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        """Yield SIMD | IFMChannels; memory and parallel window stay as given."""
        for simd in divisors(Reader(self.op_type, attributes).positive("IFMChannels")):
            yield {"SIMD": simd}
