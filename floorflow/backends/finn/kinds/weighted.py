"""What matrix-vector and depthwise units share: multipliers, adders, weights, fused thresholds."""

from dataclasses import dataclass
from math import ceil, inf, log

from floorflow.backends.finn.attributes import Reader, is_real, is_signed
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import Coefficients
from floorflow.backends.finn.cost.memory import (
    FINN_EMBEDDED_LUT_DEPTH,
    block_ram18,
    ceil_divide,
    rom_luts,
    where,
    whole,
)
from floorflow.backends.finn.names import NAMED_HLS, FinnVersion
from floorflow.errors import InputError
from floorflow.resources import Resources
from floorflow.technology import Technology

RAM_STYLES = ("auto", "block", "distributed", "ultra")
COUNT_LUTS_PER_BIT = 1.3
"""LUTs that count a bit: 3 for 6 bits, and 0.8 a bit in the adders behind."""
SUMMED_IN_DSP = {6: 4, 7: 4, 8: 8}
"""By bits of both operands, of how many products of a row one more DSP block takes the sum: block by block as metafi's
7 and 8 bits and three builds of 4 x 4 bits have it; none at 2 x 2, 8 x 1 and 8 x 8 bits. Of 6 bits none was built."""
AUTO_THRESHOLD_WORDS = 256
"""Words a PE from which HLS puts fused thresholds without a style into block RAM: seen at 256 and 512, not at 128."""
NEWER_HLS, NEWER_PRODUCT_FF = (2023, 1), 0.66
"""From this HLS on, multi-bit products in LUTs take so many flip-flops more for each bit of their operands: 2023.2
against 2022.2 in a stranger's builds, of which this figure alone is known."""
_MEMORY_MODES = ("internal_embedded", "internal_decoupled", "external")


@dataclass(frozen=True, slots=True)
class Weighted:
    """Attributes of one unit with ``outputs`` rows of weights; ``pe`` and ``simd`` may be columns.

    ``loops``: FINN dev fetches the weights of each iteration of a loop from outside.
    """

    pe: int
    simd: int
    weight_bits: int
    input_bits: int
    input_signed: bool
    output_bits: int
    declared_accumulator_bits: int
    outputs: int
    products_per_output: int
    thresholds: bool
    mem_mode: str
    ram_style: str
    ram_style_thresholds: str
    res_type: str
    writeable: bool
    finn: FinnVersion = "main"
    loops: bool = False

    @property
    def output_folds(self) -> int:
        """How often the outputs share the PEs."""
        return self.outputs // self.pe

    @property
    def depth(self) -> int:
        """Words of the weight memory, each of PE * SIMD weights."""
        return self.output_folds * (self.products_per_output // self.simd)

    @property
    def word_bits(self) -> int:
        """Width of the weight memory."""
        return self.pe * self.simd * self.weight_bits

    @property
    def is_constant(self) -> bool:
        """Whether there is one word of weights that nothing writes: synthesis folds it into the products."""
        inside = self.mem_mode in {"internal_embedded", "internal_decoupled"} and not (self.loops or self.writeable)
        return inside & (self.depth == 1)

    @property
    def operand_bits(self) -> int:
        """Bits of one weight and one input."""
        return self.weight_bits + self.input_bits

    @property
    def accumulator_bits(self) -> int:
        """Accumulator width: as declared, or the worst case of the types if that is narrower."""
        alpha = log(self.products_per_output, 2) + self.operand_bits - 1 - int(self.input_signed)
        return min(self.declared_accumulator_bits, ceil(alpha + log(1 + 2**-alpha, 2) + 1))

    @property
    def threshold_bits(self) -> int:
        """Bits of all thresholds of one output channel."""
        return ((1 << self.output_bits) - 1) * self.accumulator_bits

    def finn_memory_is_free(self) -> bool:
        """Whether FINN counts neither block RAM nor UltraRAM for these weights: embedded in LUTs, or outside."""
        return self.loops or self.mem_mode in {"external", "external_mem"} or self._embeds_in_luts()

    def _embeds_in_luts(self) -> bool:
        return self.mem_mode == "internal_embedded" and self.depth <= FINN_EMBEDDED_LUT_DEPTH

    def finn_compute_luts(self, multiplier_luts: int, threshold_luts: float) -> int:
        """FINN-R's LUT formula; ``threshold_luts`` of one PE."""
        adders = self.operand_bits * (2 * self.simd - 1)
        each = self.simd * multiplier_luts + adders + self.accumulator_bits + threshold_luts
        decoupled = self.mem_mode == "internal_decoupled" and self.ram_style == "distributed"
        memory = where(decoupled or self._embeds_in_luts(), rom_luts(self.word_bits, self.depth), 0)
        return whole(300 + 1.1 * (self.pe * each) + memory)

    def finn_multiplier_luts(self) -> int:
        """LUTs of one multiplier in FINN's estimate."""
        return 0 if self.res_type == "dsp" else estimated.multiplier_luts(self.weight_bits, self.input_bits)

    def multiplies_in_dsp(self, technology: Technology) -> bool:
        """Whether an HLS unit's products lie in DSP blocks; of ``auto`` HLS decides, by its version.

        2022.x takes one for each product whose data has two bits or more, weights of one bit too (64 of 64 2 x 2 bits,
        27 of 27 8 x 1 bits), none where data has one bit (0 of 640). 2024.2 takes none (cybsec, 2 x 2 bits). FINN main
        and dev name 2022.2 as their version, FINN+'s tests 2024.2: what is meant where no version is given.
        """
        if self.res_type != "auto":
            return self.res_type == "dsp"
        return self.input_bits > 1 and self._hls_version(technology) < (2024, 1)

    def placement_is_unseen(self, technology: Technology) -> bool:
        """Whether no build shows where products of ``auto`` lie: by 2023.x, and by 2024.1 on but for 2 x 2 bits."""
        if self.res_type != "auto" or self.input_bits == 1 or self._hls_version(technology) < NEWER_HLS:
            return False
        return self._hls_version(technology) < (2024, 1) or self.operand_bits > 4

    def _hls_version(self, technology: Technology) -> tuple[int, int]:
        return technology.vivado or NAMED_HLS[self.finn]

    def own_hls_logic(self, technology: Technology, prices: Coefficients) -> Resources:
        """Price the products, adders and control of an HLS unit."""
        macs, summed = self.pe * self.simd, SUMMED_IN_DSP.get(self.operand_bits)
        in_dsp = self.multiplies_in_dsp(technology)
        lut, ff_per_bit = self._own_products(prices, in_dsp=in_dsp, newer=self._hls_version(technology) >= NEWER_HLS)
        moving_bits = where(self.is_constant, self.input_bits, self.operand_bits)
        return estimated.rounded(
            prices.mvau_hls_lut + lut,
            prices.mvau_hls_ff + ff_per_bit * macs * moving_bits,
            dsp=macs + (self.pe * (self.simd // summed) if summed else 0) if in_dsp else 0,
        )

    def _own_products(self, prices: Coefficients, *, in_dsp: bool, newer: bool) -> tuple[float, float]:
        """LUTs of multipliers, adders and accumulators, and flip-flops for each bit of a product's operands."""
        adders = self.operand_bits * (2 * self.simd - 1)
        if in_dsp:
            return self.pe * prices.dsp_adder_lut_share * adders, prices.dsp_product_ff_per_bit
        if min(self.weight_bits, self.input_bits) == 1:
            gates = self.simd * (max(self.weight_bits, self.input_bits) - 1 + COUNT_LUTS_PER_BIT)
            ff_per_bit = prices.gate_ff_per_bit if self.finn == "plus" else prices.gate_ff_per_bit_of_main
            return prices.gate_lut_share * self.pe * (gates + self.accumulator_bits), ff_per_bit
        multipliers = self.simd * estimated.multiplier_luts(self.weight_bits, self.input_bits)
        multipliers = where(self.is_constant, 0, multipliers)
        logic = self.pe * (multipliers + adders + self.accumulator_bits)
        return prices.product_lut_share * logic, prices.product_ff_per_bit + (NEWER_PRODUCT_FF if newer else 0)

    @property
    def luts_in_doubt(self) -> int:
        """LUTs that one build alone shows on top: two a product where one-bit data chooses weights of several bits."""
        return where(self.is_constant, 0, 2 * self.pe * self.simd) if self.input_bits == 1 < self.weight_bits else 0

    def own_rtl_logic(self, dsp: int, prices: Coefficients) -> Resources:
        """Price lane correction and adder trees of an RTL unit beside its DSP blocks."""
        bits = self.pe * self.simd * self.operand_bits
        lut, ff = prices.rtl_lut_per_product_bit * bits, prices.rtl_ff_per_product_bit * bits
        return estimated.rounded(prices.rtl_lut + lut, prices.rtl_lut + ff, dsp=dsp)

    def own_weights(self, technology: Technology, prices: Coefficients, *, hls: bool) -> Resources:
        """Price the weight memory and what streams it."""
        mem_mode = "external" if self.loops or self.mem_mode == "external_mem" else self.mem_mode
        queued = self.finn == "plus"
        memory = estimated.WeightMemory(
            self.word_bits, self.depth, mem_mode, self.ram_style, self.writeable, hls=hls, queued=queued
        )
        return memory.priced(technology, prices)

    def own_thresholds(self, prices: Coefficients) -> Resources:
        """Price fused thresholds."""
        if not self.thresholds:
            return Resources()
        share = prices.threshold_lut_per_bit
        compare = self.pe * self.threshold_bits * share
        constant = self.output_folds == 1
        least_words = {"block": 2, "auto": AUTO_THRESHOLD_WORDS}.get(self.ram_style_thresholds, inf)
        in_blocks = self.output_folds >= least_words
        blocks = self.pe * block_ram18(self.threshold_bits, self.output_folds)
        stored = self.pe * rom_luts(self.threshold_bits, self.output_folds) * share
        in_luts = where(in_blocks | constant, 0.0, stored)
        ff = where(constant, 0.0, prices.threshold_ff_per_bit * self.pe * self.threshold_bits)
        return estimated.rounded(compare + in_luts, ff, bram18=where(in_blocks, blocks, 0))


def read_weighted(reader: Reader, outputs: int, products_per_output: int, simd: int) -> Weighted:
    """Read the attributes common to MVAU and VVAU."""
    input_type = reader.text("inputDataType")
    return Weighted(
        pe=reader.positive("PE"),
        simd=simd,
        weight_bits=reader.bits("weightDataType"),
        input_bits=reader.bits("inputDataType"),
        input_signed=is_signed(input_type),
        output_bits=reader.bits("outputDataType"),
        declared_accumulator_bits=reader.bits("accDataType", "INT32"),
        outputs=outputs,
        products_per_output=products_per_output,
        thresholds=not reader.flag("noActivation"),
        mem_mode=reader.one_of("mem_mode", _memory_modes(reader), "internal_decoupled"),
        ram_style=reader.one_of("ram_style", RAM_STYLES, "auto"),
        ram_style_thresholds=reader.one_of("ram_style_thresholds", RAM_STYLES[:3], "auto"),
        res_type=reader.one_of("resType", ("auto", "lut", "dsp"), "auto"),
        writeable=reader.flag("runtime_writeable_weights"),
        finn=reader.finn,
        loops=reader.finn == "dev" and reader.op_type.startswith("MVAU") and reader.integer("mlo_max_iter", 0) > 0,
    )


def _memory_modes(reader: Reader) -> tuple[str, ...]:
    if reader.finn == "plus" and reader.op_type.startswith("MVAU"):
        return (*_MEMORY_MODES, "external_mem", "dynamic")
    return _MEMORY_MODES


def require_computable(reader: Reader, *, needs_versal: bool, technology: Technology) -> None:
    """Check that a unit can compute the layer; HLS units can compute any of integers.

    Raises InputError if its types are real, or an RTL unit holds thresholds or XNOR weights, has wide operands, or
    needs DSP58 on a part without.
    """
    for name in ("inputDataType", "weightDataType"):
        if is_real(reader.text(name)):
            raise reader.wrong(name, "a type of integers: quantise this tensor")
    if reader.is_hls:
        return
    most = 9 if is_signed(reader.text("inputDataType")) else 8
    problems = (
        (reader.integer("noActivation", 0) != 1, "noActivation is 0, expected 1: thresholds stand alone"),
        (reader.integer("binaryXnorMode", 0) != 0, "binaryXnorMode is 1, expected 0"),
        (reader.text("resType", "auto") == "lut", "resType is lut, expected dsp or auto"),
        (reader.bits("inputDataType") > most, f"inputDataType has more than {most} bits"),
        (reader.bits("weightDataType") > 8, "weightDataType has more than 8 bits"),
        (needs_versal and technology.dsp_block != "DSP58", f"the part has {technology.dsp_block}, expected DSP58"),
    )
    for wrong, sentence in problems:
        if wrong:
            hint = f"use {reader.op_type.removesuffix('_rtl')}_hls for this layer"
            raise InputError(f"{reader.op_type} cannot compute this layer: {sentence}", hint=hint)


def dsp_lanes(unit: Weighted) -> int:
    """Multiplications by one input that FINN's RTL packs into one DSP48: 4 up to 4 bits, else 2.

    FINN+ packs what fits side by side: lanes of weight and input bits less one from 26 bits of the wide operand. Its
    two builds with 8-bit inputs show it: 3 lanes with weights of 4 bits, 2 with 8.
    """
    if unit.weight_bits <= 4 and unit.input_bits <= 4:
        return 4
    return 1 + (26 - unit.weight_bits) // (unit.operand_bits - 1) if unit.finn == "plus" else 2


def versal_dsp(pe: int, simd: int, technology: Technology) -> int | None:
    """DSP58 blocks, three products each; None on other families."""
    return pe * ceil_divide(simd, 3) if technology.dsp_block == "DSP58" else None
