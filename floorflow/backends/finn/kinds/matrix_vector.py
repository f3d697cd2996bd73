"""MVAU_hls and MVAU_rtl: matrix times vector, for convolutions (after a window) and fully connected layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import ceil

from floorflow.backends.finn import estimated
from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.kinds.kind import EVERY_FINN, MAX_STREAM_BITS, Choice, Folding, TellsWidths, divisors
from floorflow.backends.finn.kinds.weighted import (
    Weighted,
    dsp_lanes,
    read_weighted,
    require_computable,
    styled,
    versal_dsp,
)
from floorflow.backends.finn.memory import ceil_divide, finn_weight_bram18, ram_luts, uram_blocks
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes, Option
from floorflow.resources import Resources
from floorflow.technology import Technology

MAX_HLS_INPUT_FOLD = 1024
"""FINN asserts SIMD >= MW / 1024 in HLS: the input buffer is partitioned completely."""


@dataclass(frozen=True, slots=True)
class MatrixVectorUnit(TellsWidths):
    """One MVAU: ``width`` x ``height`` weights, ``pixels`` vectors a frame.

    ``tiles``: FINN+ may spread each vector over several passes (its attribute TH).
    """

    hls: bool
    width: int
    height: int
    pixels: int
    part: Weighted
    tiles: int = 1

    @property
    def cycles(self) -> int:
        """Initiation interval for one frame."""
        return (self.height // self.part.pe) * (self.width // self.part.simd) * self.pixels * self.tiles

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
        bram18 = uram = 0
        if not part.finn_memory_is_free():
            if not (decoupled and part.ram_style in {"distributed", "ultra"}):
                bram18 = finn_weight_bram18(part.word_bits, part.depth)
            if not decoupled or part.ram_style == "ultra":
                uram = uram_blocks(part.word_bits, part.depth)
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
        return self.part.threshold_bits * (ceil(self.part.output_folds / 64) + 1)

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by one of floorflow's own models."""
        part = self.part
        terms = [self.own_logic(technology, prices), self.own_buffer(prices), part.own_weights(prices)]
        return estimated.combined(*terms, *([part.own_thresholds(prices)] if self.hls else []))

    def own_logic(self, technology: Technology, prices: Coefficients) -> Resources:
        """Price products, adders and control."""
        if self.hls:
            return self.part.own_hls_logic(prices)
        versal = versal_dsp(self.part.pe, self.part.simd, technology)
        packed = ceil_divide(self.part.pe, dsp_lanes(self.part)) * self.part.simd
        return self.part.own_rtl_logic(packed if versal is None else versal, prices)

    def own_buffer(self, prices: Coefficients) -> Resources:
        """Price what keeps one input vector while it is used for more than one row."""
        if self.part.output_folds == 1:
            return Resources()
        words = self.width // self.part.simd
        if not self.hls:
            # A replay buffer in LUTRAM.
            word_bits = self.part.input_bits * self.part.simd
            return Resources(lut=ram_luts(word_bits, words), ff=2 * word_bits)
        # Flip-flops behind a multiplexer.
        bits = self.width * self.part.input_bits
        return estimated.rounded(
            prices.buffer_lut_per_bit * bits + prices.buffer_lut_per_word * words,
            prices.buffer_ff_per_bit * bits,
        )


@dataclass(frozen=True, slots=True)
class MatrixVector:
    """The kinds MVAU_hls and MVAU_rtl."""

    op_type: str
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> MatrixVectorUnit:
        """Read one MVAU."""
        reader = Reader(self.op_type, attributes, finn)
        width, height = reader.positive("MW"), reader.positive("MH")
        input_folds, output_folds = reader.folds("MW", "SIMD"), reader.folds("MH", "PE")
        part = read_weighted(reader, width, reader.integer("SIMD"), input_folds * output_folds, output_folds)
        tiles = reader.positive("TH", 1) if finn == "plus" else 1
        return MatrixVectorUnit(reader.is_hls, width, height, reader.pixels(), part, tiles)

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        """Yield SIMD | MW, PE | MH, and for each how weights, multipliers and thresholds may be built.

        Raises
        ------
        InputError
            If an RTL unit cannot compute this layer.

        """
        reader = Reader(self.op_type, attributes)
        width, height = reader.positive("MW"), reader.positive("MH")
        require_computable(reader, needs_versal=False, technology=choice.technology)
        least_simd = width / MAX_HLS_INPUT_FOLD if reader.is_hls else 1
        for simd in divisors(width):
            if simd < least_simd or simd * reader.bits("inputDataType") > MAX_STREAM_BITS:
                continue
            for pe in divisors(height):
                if pe * reader.bits("outputDataType") > MAX_STREAM_BITS:
                    break
                depth = width * height // (pe * simd)
                yield from styled(reader, choice, {"PE": pe, "SIMD": simd}, depth, height // pe)


@dataclass(frozen=True)
class SharedTerms:
    """Prices the foldings of one MVAU, thousands of them, by terms that many of them share.

    Equal to `MatrixVectorUnit.own_resources` of each; ``base`` is the layer folded in whatever way.
    """

    base: MatrixVectorUnit
    technology: Technology
    prices: Coefficients
    known: dict[tuple[int | str | bool, ...], Resources] = field(default_factory=dict)

    def option(self, folding: Folding) -> Option:
        """Return one folding with its price; it names all that `styled` chooses."""
        pe, simd = int(folding["PE"]), int(folding["SIMD"])
        width, height, prices, part = self.base.width, self.base.height, self.prices, self.base.part
        memory = folding["mem_mode"], folding["ram_style"]
        terms = [
            self._once(
                ("logic", pe, simd, folding["resType"]), folding, lambda u: u.own_logic(self.technology, prices)
            ),
            self._once(("buffer", simd, pe == height), folding, lambda u: u.own_buffer(prices)),
            self._once(("weights", pe * simd, *memory), folding, lambda u: u.part.own_weights(prices)),
        ]
        if "ram_style_thresholds" in folding:
            key = ("thresholds", pe, folding["ram_style_thresholds"])
            terms.append(self._once(key, folding, lambda u: u.part.own_thresholds(prices)))
        cycles = (height // pe) * (width // simd) * self.base.pixels * self.base.tiles
        ports = (part.input_bits * simd,), (part.output_bits * pe,)
        return Option(folding, cycles, estimated.combined(*terms), *ports)

    def _once(
        self, key: tuple[int | str | bool, ...], folding: Folding, price: Callable[[MatrixVectorUnit], Resources]
    ) -> Resources:
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = price(self._unit(folding))
        return found

    def _unit(self, folding: Folding) -> MatrixVectorUnit:
        pe, simd = int(folding["PE"]), int(folding["SIMD"])
        folds = self.base.height // pe
        part = replace(
            self.base.part,
            pe=pe,
            simd=simd,
            depth=folds * (self.base.width // simd),
            output_folds=folds,
            mem_mode=str(folding["mem_mode"]),
            ram_style=str(folding["ram_style"]),
            ram_style_thresholds=str(folding.get("ram_style_thresholds", self.base.part.ram_style_thresholds)),
            res_type=str(folding["resType"]),
            writeable=folding["runtime_writeable_weights"] == 1,
        )
        return replace(self.base, part=part)
