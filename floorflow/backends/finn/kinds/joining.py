"""Kinds that FINN inserts between engines; here so that its own estimates of them can be asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.kinds.converter import finn_converter_luts, own_converter
from floorflow.backends.finn.kinds.fifo import STYLES, Style, fifo_estimate, finn_fifo, own_fifo
from floorflow.backends.finn.kinds.kind import EVERY_FINN, Choice, Folding, FoldsOneByOne, TellsWidths
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology


@dataclass(frozen=True, slots=True)
class ConverterUnit(TellsWidths):
    """One width converter; FINN's estimate of it is the same in all its versions."""

    input_bits: int
    output_bits: int

    @property
    def cycles(self) -> int:
        """None: it is as fast as its neighbours."""
        return 0

    @property
    def input_widths_bits(self) -> tuple[int, ...]:
        """Width of the one input."""
        return (self.input_bits,)

    @property
    def output_widths_bits(self) -> tuple[int, ...]:
        """Width of the one output."""
        return (self.output_bits,)

    def finn_resources(self, technology: Technology) -> Resources:  # noqa: ARG002 - the same on every family
        """Return FINN's estimate."""
        return Resources(lut=finn_converter_luts(self.input_bits, self.output_bits))

    def own_resources(
        self,
        technology: Technology,  # noqa: ARG002 - no family differs
        prices: Coefficients = ESTIMATED,
    ) -> Resources:
        """Price it by one of floorflow's own models; equal widths need none."""
        if self.input_bits == self.output_bits:
            return ZERO
        return own_converter(self.input_bits, self.output_bits, prices)


@dataclass(frozen=True, slots=True)
class Converter(FoldsOneByOne):
    """The kinds StreamingDataWidthConverter_rtl and _hls."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> ConverterUnit:
        """Read one converter; FINN+'s rtl one takes any two widths, the others' one must divide the other."""
        return _converter(Reader(self.op_type, attributes, finn))

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:  # noqa: ARG002 - nothing folds
        """Yield the one way to build it."""
        yield {}


def _converter(reader: Reader) -> ConverterUnit:
    inside, outside = reader.positive("inWidth"), reader.positive("outWidth")
    if not reader.is_hls and reader.finn != "plus" and max(inside, outside) % min(inside, outside):
        raise reader.wrong("outWidth", f"a divisor or a multiple of inWidth, which is {inside}")
    return ConverterUnit(inside, outside)


@dataclass(frozen=True, slots=True)
class FifoUnit(TellsWidths):
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
    def input_widths_bits(self) -> tuple[int, ...]:
        """Width of the one input."""
        return (self.width_bits,)

    @property
    def output_widths_bits(self) -> tuple[int, ...]:
        """Width of the one output."""
        return (self.width_bits,)

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

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:  # noqa: ARG002 - nothing folds
        """Yield the one way to build it."""
        yield {}


KINDS = (
    Converter("StreamingDataWidthConverter_rtl"),
    Converter("StreamingDataWidthConverter_hls"),
    Fifo(),
)
