"""MVAU_hls and MVAU_rtl: matrix times vector, for convolutions (after a window) and fully connected layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.cost.memory import ceil_divide, finn_weight_bram18, ram_luts, uram_blocks
from floorflow.backends.finn.cost.vectorised import where
from floorflow.backends.finn.kinds.kind import EVERY_FINN, Batch, Choice, TellsWidths, divisors
from floorflow.backends.finn.kinds.weighted import Weighted, dsp_lanes, read_weighted, require_computable, versal_dsp
from floorflow.backends.finn.kinds.weighted_styles import Term, batches, pairs
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import Resources, total
from floorflow.technology import Technology

MAX_HLS_INPUT_FOLD = 1024
"""FINN asserts SIMD >= MW / 1024 in HLS: the input buffer is partitioned completely."""


@dataclass(frozen=True, slots=True)
class MatrixVectorUnit(TellsWidths):
    """One MVAU, ``pixels`` vectors a frame.

    ``tiles``: FINN+ may spread each vector over several passes (its attribute TH).
    """

    hls: bool
    pixels: int
    part: Weighted
    tiles: int = 1

    def of_sizes(self, pe: int, simd: int) -> MatrixVectorUnit:
        """Return the same engine with other sizes, columns maybe."""
        return replace(self, part=replace(self.part, pe=pe, simd=simd))

    @property
    def width(self) -> int:
        """Elements of a vector: FINN's MW."""
        return self.part.products_per_output

    @property
    def cycles(self) -> int:
        """Initiation interval for one frame."""
        return self.part.depth * self.pixels * self.tiles

    @property
    def input_widths_bits(self) -> tuple[int, ...]:
        """Width of the one input."""
        return (self.part.input_bits * self.part.simd,)

    @property
    def output_widths_bits(self) -> tuple[int, ...]:
        """Width of the one output."""
        return (self.part.output_bits * self.part.pe,)

    def finn_resources(self, technology: Technology) -> Resources:
        """Return FINN's estimate, the same in all its versions."""
        part = self.part
        decoupled = part.mem_mode == "internal_decoupled"
        memory_is_free = part.finn_memory_is_free()
        bram18 = uram = 0
        if not (decoupled and part.ram_style in {"distributed", "ultra"}):
            bram18 = where(memory_is_free, 0, finn_weight_bram18(part.word_bits, part.depth))
        if not decoupled or part.ram_style == "ultra":
            uram = where(memory_is_free, 0, uram_blocks(part.word_bits, part.depth))
        if self.hls:
            lut = part.finn_compute_luts(part.finn_multiplier_luts(), self._finn_threshold_luts())
            dsp = part.pe * part.simd * ceil_divide(part.operand_bits, 48) if part.res_type == "dsp" else 0
        else:
            lut = 0
            versal = versal_dsp(part.pe, part.simd, technology)
            dsp = ceil_divide(part.pe, 4) * part.simd if versal is None else versal
        return Resources(lut=lut, bram18=bram18, uram=uram, dsp=dsp)

    def _finn_threshold_luts(self) -> int:
        if not self.part.thresholds or self.part.ram_style_thresholds != "distributed":
            return 0
        return self.part.threshold_bits * (ceil_divide(self.part.output_folds, 64) + 1)

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by one of floorflow's own models."""
        return total(price() for price in self.own_terms(technology, prices).values())

    def own_terms(self, technology: Technology, prices: Coefficients) -> dict[Term, Callable[[], Resources]]:
        """Return products with adders and control, the input buffer, weights and fused thresholds."""
        part = self.part
        terms: dict[Term, Callable[[], Resources]] = {
            ("logic", part.res_type, part.mem_mode, part.writeable): lambda: self.own_logic(technology, prices),
            ("buffer",): lambda: self.own_buffer(prices),
            ("weights", part.mem_mode, part.ram_style, part.writeable): lambda: part.own_weights(
                technology, prices, hls=self.hls
            ),
        }
        if self.hls:
            terms["thresholds", part.ram_style_thresholds] = lambda: part.own_thresholds(prices)
        return terms

    def own_logic(self, technology: Technology, prices: Coefficients) -> Resources:
        """Price products, adders and control."""
        if self.hls:
            return self.part.own_hls_logic(technology, prices)
        versal = versal_dsp(self.part.pe, self.part.simd, technology)
        packed = ceil_divide(self.part.pe, dsp_lanes(self.part)) * self.part.simd
        return self.part.own_rtl_logic(packed if versal is None else versal, prices)

    def own_buffer(self, prices: Coefficients) -> Resources:
        """Price what keeps one input vector while it is used for more than one row."""
        words = self.width // self.part.simd
        if self.hls:
            # Flip-flops behind a multiplexer.
            bits = self.width * self.part.input_bits
            lut = prices.buffer_lut_per_bit * bits + prices.buffer_lut_per_word * words
            buffer = estimated.rounded(lut, prices.buffer_ff_per_bit * bits)
        else:
            # A replay buffer in LUTRAM.
            word_bits = self.part.input_bits * self.part.simd
            buffer = Resources(lut=ram_luts(word_bits, words), ff=2 * word_bits)
        return estimated.unless(self.part.output_folds == 1, buffer)


@dataclass(frozen=True, slots=True)
class MatrixVector:
    """The kinds MVAU_hls and MVAU_rtl."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> MatrixVectorUnit:
        """Read one MVAU."""
        reader = Reader(self.op_type, attributes, finn)
        width, height = reader.positive("MW"), reader.positive("MH")
        # Both raise unless they divide.
        reader.folds("MW", "SIMD")
        reader.folds("MH", "PE")
        part = read_weighted(reader, height, width, reader.integer("SIMD"))
        tiles = reader.positive("TH", 1) if finn == "plus" else 1
        return MatrixVectorUnit(reader.is_hls, reader.pixels(), part, tiles)

    def batches(self, attributes: Attributes, choice: Choice) -> Iterator[Batch]:
        """Yield SIMD | MW, PE | MH, and for each how weights, multipliers and thresholds may be built.

        Raises
        ------
        InputError
            If an RTL unit cannot compute this layer.

        """
        reader = Reader(self.op_type, attributes)
        width, height = reader.positive("MW"), reader.positive("MH")
        require_computable(reader, needs_versal=False, technology=choice.technology)
        simd, pe = pairs(divisors(width), divisors(height))
        fits = simd >= (width / MAX_HLS_INPUT_FOLD if reader.is_hls else 1)
        yield from batches(self, attributes, choice, pe[fits], simd[fits])
