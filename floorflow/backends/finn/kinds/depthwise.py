"""VVAU_hls and VVAU_rtl: depthwise convolution, one kernel for each channel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import prod

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.cost.memory import FINN_EMBEDDED_LUT_DEPTH, ceil_divide, finn_depthwise_bram18, uram_blocks
from floorflow.backends.finn.cost.vectorised import where
from floorflow.backends.finn.kinds.kind import EVERY_FINN, Batch, Choice, TellsWidths, divisors
from floorflow.backends.finn.kinds.weighted import Weighted, read_weighted, require_computable
from floorflow.backends.finn.kinds.weighted_styles import Term, batches, pairs
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import Resources, total
from floorflow.technology import Technology


@dataclass(frozen=True, slots=True)
class DepthwiseUnit(TellsWidths):
    """One VVAU, ``pixels`` outputs a channel and frame."""

    hls: bool
    pixels: int
    part: Weighted

    def of_sizes(self, pe: int, simd: int) -> DepthwiseUnit:
        """Return the same engine with other sizes, columns maybe."""
        return replace(self, part=replace(self.part, pe=pe, simd=simd))

    @property
    def cycles(self) -> int:
        """Initiation interval for one frame."""
        return self.part.depth * self.pixels

    @property
    def input_widths_bits(self) -> tuple[int, ...]:
        """Width of the one input, channels interleaved."""
        return (self.part.input_bits * self.part.simd * self.part.pe,)

    @property
    def output_widths_bits(self) -> tuple[int, ...]:
        """Width of the one output."""
        return (self.part.output_bits * self.part.pe,)

    def finn_resources(self, technology: Technology) -> Resources:  # noqa: ARG002 - FINN counts DSP58 everywhere
        """Return FINN's estimate, the same in all its versions."""
        part = self.part
        decoupled = part.mem_mode == "internal_decoupled"
        bram18 = uram = 0
        if not (decoupled and part.ram_style in {"distributed", "ultra"}):
            small = part.ram_style == "auto" and part.depth <= FINN_EMBEDDED_LUT_DEPTH
            in_luts = part.finn_memory_is_free() | small
            bram18 = where(in_luts, 0, finn_depthwise_bram18(part.word_bits, part.depth))
        if decoupled and part.ram_style == "ultra":
            uram = uram_blocks(part.word_bits, part.depth)
        return Resources(lut=self._finn_luts(), bram18=bram18, uram=uram, dsp=self._finn_dsp())

    def _finn_luts(self) -> int:
        if not self.hls:
            return 0
        part = self.part
        thresholds = part.threshold_bits * (part.output_folds / 64 + 1) if part.thresholds else 0
        return part.finn_compute_luts(part.finn_multiplier_luts(), thresholds)

    def _finn_dsp(self) -> int:
        part = self.part
        if self.hls:
            return part.pe * ceil_divide(part.operand_bits, 48) if part.res_type == "dsp" else 0
        return part.pe * ceil_divide(part.simd, 3)

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by one of floorflow's own models."""
        return total(price() for price in self.own_terms(technology, prices).values())

    def own_terms(
        self,
        technology: Technology,
        prices: Coefficients,
    ) -> dict[Term, Callable[[], Resources]]:
        """Return products with adders and control, weights and fused thresholds; each input is used at once."""
        part = self.part
        terms: dict[Term, Callable[[], Resources]] = {
            ("weights", part.mem_mode, part.ram_style, part.writeable): lambda: part.own_weights(
                technology, prices, hls=self.hls
            )
        }
        if self.hls:
            terms["logic", part.res_type, part.mem_mode, part.writeable] = lambda: part.own_hls_logic(
                technology, prices
            )
            terms["thresholds", part.ram_style_thresholds] = lambda: part.own_thresholds(prices)
        else:
            terms["logic",] = lambda: part.own_rtl_logic(self._finn_dsp(), prices)
        return terms


@dataclass(frozen=True, slots=True)
class Depthwise:
    """The kinds VVAU_hls and VVAU_rtl."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> DepthwiseUnit:
        """Read one VVAU."""
        reader = Reader(self.op_type, attributes, finn)
        channels, taps = reader.positive("Channels"), prod(reader.pair("Kernel"))
        # Both raise unless they divide.
        reader.share(taps, "Kernel", "SIMD", 1)
        reader.folds("Channels", "PE")
        part = read_weighted(reader, channels, taps, reader.integer("SIMD", 1))
        return DepthwiseUnit(reader.is_hls, prod(reader.pair("Dim")), part)

    def batches(self, attributes: Attributes, choice: Choice) -> Iterator[Batch]:
        """Yield PE | Channels, SIMD | taps; a SIMD above 1 needs a parallel window, which is another engine's choice.

        Raises
        ------
        InputError
            If an RTL unit cannot compute this layer on this family.

        """
        reader = Reader(self.op_type, attributes)
        channels, taps = reader.positive("Channels"), prod(reader.pair("Kernel"))
        require_computable(reader, needs_versal=True, technology=choice.technology)
        pe, simd = pairs(divisors(channels), divisors(taps))
        yield from batches(self, attributes, choice, pe, simd)
