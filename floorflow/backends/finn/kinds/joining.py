"""Kinds that FINN inserts between engines, stream width converters and FIFOs: what they cost, and FINN's estimates."""

# ruff: noqa: ARG001, ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, lcm, log

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost.calibrated import coefficients
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients, Logic, rounded
from floorflow.backends.finn.kinds.fifo import STYLES, Style, fifo_estimate, finn_fifo, own_fifo
from floorflow.backends.finn.kinds.kind import (
    EVERY_FINN,
    MAX_STREAM_BITS,
    Choice,
    CostModel,
    Folding,
    FoldsOneByOne,
    OneStream,
    Simple,
    SimpleUnit,
)
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology

COMMON_LUT, COMMON_FF = 2, 4
"""A bit of the common multiple in a converter between widths of which none divides the other (HLS, as built)."""
RTL_KIND, HLS_KIND = "StreamingDataWidthConverter_rtl", "StreamingDataWidthConverter_hls"


def converter_kind(input_bits: int, output_bits: int) -> str:
    """Return FINN's op type for two widths: rtl if one divides the other, else hls."""
    wide, narrow = max(input_bits, output_bits), min(input_bits, output_bits)
    return HLS_KIND if wide % narrow else RTL_KIND


def convertible(input_bits: int, output_bits: int) -> bool:
    """Whether FINN can build a converter: an hls one holds a word of the least common multiple of the widths."""
    if converter_kind(input_bits, output_bits) == RTL_KIND:
        return True
    return lcm(input_bits, output_bits) <= MAX_STREAM_BITS


def finn_converter_luts(input_bits: int, output_bits: int) -> int:
    """FINN's estimate in every version: registers and counters over the least common multiple of the widths."""
    common = lcm(input_bits, output_bits)
    lut = 0
    if input_bits != common:
        lut += abs(ceil(log(input_bits / common, 2))) + common
    if common != output_bits:
        lut += abs(ceil(log(common / output_bits, 2))) + output_bits
    return lut


def converter_resources(input_bits: int, output_bits: int, technology: Technology, model: CostModel) -> Resources:
    """Price a converter; equal widths need none. One that is not rtl has the common multiple inside."""
    if input_bits == output_bits:
        return ZERO
    if model == "finn":
        return Resources(lut=finn_converter_luts(input_bits, output_bits))
    return own_converter(input_bits, output_bits, coefficients(model))


def own_converter(input_bits: int, output_bits: int, prices: Coefficients) -> Resources:
    """Price a converter by one of floorflow's own models."""
    if converter_kind(input_bits, output_bits) == RTL_KIND:
        return _integer_ratio(input_bits, output_bits, prices)
    # Both words of the common multiple are registered, and each bit of it is shifted out by a multiplexer.
    common = lcm(input_bits, output_bits)
    return rounded(COMMON_LUT * common, COMMON_FF * common) + Logic(0).priced(prices)


def _integer_ratio(input_bits: int, output_bits: int, prices: Coefficients) -> Resources:
    """Fits of 51 widening and 30 narrowing converters of metafi: flip-flops carry the words, LUTs shift them."""
    if output_bits > input_bits:
        lut = 5 + 0.02 * output_bits + prices.widening_lut_per_bit * input_bits
        ff = 4 + 1.04 * output_bits + 0.85 * input_bits
    else:
        lut = 5 + prices.narrowing_lut_per_bit * input_bits
        ff = 8 + 1.02 * input_bits + 1.13 * output_bits
    return rounded(lut, prices.converter_ff_share * ff)


@dataclass(frozen=True, slots=True)
class _OwnConverter:
    """A converter before it is priced; equal widths need none."""

    input_bits: int
    output_bits: int

    def priced(self, prices: Coefficients) -> Resources:
        if self.input_bits == self.output_bits:
            return ZERO
        return own_converter(self.input_bits, self.output_bits, prices)


def _converter(reader: Reader) -> SimpleUnit:
    """Read one converter; FINN+'s rtl one takes any two widths, the others' one must divide the other.

    It is as fast as its neighbours, and FINN's estimate of it is the same in all its versions.
    """
    inside, outside = reader.positive("inWidth"), reader.positive("outWidth")
    if not reader.is_hls and reader.finn != "plus" and max(inside, outside) % min(inside, outside):
        raise reader.wrong("outWidth", f"a divisor or a multiple of inWidth, which is {inside}")
    finn = Resources(lut=finn_converter_luts(inside, outside))
    return SimpleUnit(0, (inside,), (outside,), _OwnConverter(inside, outside), finn)


@dataclass(frozen=True, slots=True)
class FifoUnit(OneStream):
    """One FIFO of ``depth`` words of ``width_bits``; ``vivado``: AMD's FIFO, not FINN's own."""

    width_bits: int
    depth: int
    vivado: bool
    ram_style: Style
    finn: FinnVersion

    @property
    def cycles(self) -> int:
        """None: it never holds a pipeline back."""
        return 0

    @property
    def widths_bits(self) -> tuple[int, int]:
        return self.width_bits, self.width_bits

    def finn_resources(self, technology: Technology) -> Resources:
        """Return FINN's estimate; FINN+'s was fitted on its own FIFO."""
        if self.finn == "plus":
            versal = technology.architecture == "versal"
            estimate = fifo_estimate(self.width_bits, self.depth, self.ram_style, versal=versal)
            return Resources(lut=estimate.lut, bram18=estimate.bram18, uram=estimate.uram)
        return finn_fifo(self.width_bits, self.depth, self.ram_style, vivado=self.vivado, finn=self.finn)

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by one of floorflow's own models.

        Main and dev have shift registers, whatever ``ram_style`` says, unless AMD's FIFO is asked for, whose ``auto``
        is block RAM in every build at hand (44 of metafi's, on a part with UltraRAM).
        """
        if self.finn == "plus":
            return own_fifo(self.width_bits, max(self.depth, 2), technology, prices, self.ram_style, finn="plus")
        memory: Style = "srl" if not self.vivado else "block" if self.ram_style == "auto" else self.ram_style
        return own_fifo(self.width_bits, max(self.depth, 2), technology, prices, memory, finn="main")


@dataclass(frozen=True, slots=True)
class Fifo(FoldsOneByOne):
    """The kind StreamingFIFO_rtl."""

    op_type: str = "StreamingFIFO_rtl"
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> FifoUnit:
        """Read one FIFO; FINN+ ignores ``vivado``."""
        reader = Reader(self.op_type, attributes, finn)
        allowed = STYLES if finn == "plus" else tuple(style for style in STYLES if style != "srl")
        requested = reader.one_of("ram_style", allowed, "auto")
        kinds = ("rtl", "vivado", "virtual") if finn == "plus" else ("rtl", "vivado")
        return FifoUnit(
            width_bits=reader.sizes("folded_shape")[-1] * reader.bits("dataType"),
            depth=reader.integer("depth") if finn == "plus" else reader.positive("depth"),
            vivado=reader.one_of("impl_style", kinds, "rtl") == "vivado",
            ram_style=next(style for style in STYLES if style == requested),
            finn=finn,
        )

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        yield {}


KINDS = (
    Simple(RTL_KIND, _converter),
    Simple(HLS_KIND, _converter),
    Fifo(),
)
