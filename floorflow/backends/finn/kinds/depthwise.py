"""VVAU_hls and VVAU_rtl: depthwise convolution, one kernel for each channel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from floorflow.backends.finn import estimated
from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.kinds.kind import EVERY_FINN, Choice, Folding, TellsWidths, divisors
from floorflow.backends.finn.kinds.weighted import Weighted, read_weighted, require_computable, styled
from floorflow.backends.finn.memory import ceil_divide, finn_depthwise_bram18, uram_blocks
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import Resources
from floorflow.technology import Technology


@dataclass(frozen=True, slots=True)
class DepthwiseUnit(TellsWidths):
    """One VVAU of ``channels`` kernels with ``taps`` weights each, ``pixels`` outputs a channel and frame."""

    hls: bool
    channels: int
    taps: int
    pixels: int
    part: Weighted

    @property
    def cycles(self) -> int:
        """Initiation interval for one frame."""
        return self.channels * self.taps // self.part.pe // self.part.simd * self.pixels

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
        in_luts = (decoupled and part.ram_style in {"distributed", "ultra"}) or (
            part.ram_style == "auto" and part.depth <= 128
        )
        if not in_luts and not part.finn_memory_is_free():
            bram18 = finn_depthwise_bram18(part.word_bits, part.depth)
        if decoupled and part.ram_style == "ultra":
            uram = uram_blocks(part.word_bits, part.depth)
        return Resources(lut=self._finn_luts(), bram18=bram18, uram=uram, dsp=self._finn_dsp())

    def _finn_luts(self) -> int:
        if not self.hls:
            return 0
        part = self.part
        thresholds = part.threshold_bits * (self.channels / part.pe / 64 + 1) if part.thresholds else 0
        return part.finn_compute_luts(part.finn_multiplier_luts(), thresholds)

    def _finn_dsp(self) -> int:
        part = self.part
        if self.hls:
            return part.pe * ceil_divide(part.operand_bits, 48) if part.res_type == "dsp" else 0
        return part.pe * ceil_divide(part.simd, 3)

    def own_resources(
        self,
        technology: Technology,  # noqa: ARG002 - VVAU_rtl is for DSP58 only
        prices: Coefficients = ESTIMATED,
    ) -> Resources:
        """Price it by one of floorflow's own models; a VVAU uses each input once, so it has no input buffer."""
        weights = self.part.own_weights(prices)
        if self.hls:
            return estimated.combined(self.part.own_hls_logic(prices), self.part.own_thresholds(prices), weights)
        return estimated.combined(self.part.own_rtl_logic(self._finn_dsp(), prices), weights)


@dataclass(frozen=True, slots=True)
class Depthwise:
    """The kinds VVAU_hls and VVAU_rtl."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> DepthwiseUnit:
        """Read one VVAU."""
        reader = Reader(self.op_type, attributes, finn)
        channels, taps = reader.positive("Channels"), prod(reader.pair("Kernel"))
        tap_folds, channel_folds = reader.share(taps, "Kernel", "SIMD", 1), reader.folds("Channels", "PE")
        part = read_weighted(reader, taps, reader.integer("SIMD", 1), tap_folds * channel_folds, channel_folds)
        return DepthwiseUnit(reader.is_hls, channels, taps, prod(reader.pair("Dim")), part)

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        """Yield PE | Channels with SIMD 1: more needs a parallel window before it, which is another engine's choice.

        Raises
        ------
        InputError
            If an RTL unit cannot compute this layer on this family.

        """
        reader = Reader(self.op_type, attributes)
        channels, taps = reader.positive("Channels"), prod(reader.pair("Kernel"))
        require_computable(reader, needs_versal=True, technology=choice.technology)
        for pe in divisors(channels):
            for simd in divisors(taps):
                depth = channels * taps // (pe * simd)
                yield from styled(reader, choice, {"PE": pe, "SIMD": simd}, depth, channels // pe)
