"""Constants and parts of floorflow's own cost models; docs/cost-model.md says how well they fit.

"metafi" is the real build of a 4-bit residual CNN (Vivado 2022.2, xczu7ev) whose post-synthesis resources are
known by instance: 32 MVAU_hls, 35 sliding windows, 27 paddings, 21 thresholds, 4 pools, 12 adders, 12 duplicates
and 81 width converters. "yosys" are 36 syntheses of FINN's RTL with an open tool: shapes, and an upper guide.
"""

from dataclasses import dataclass
from typing import Literal

from floorflow.backends.finn.cost.memory import (
    FINN_EMBEDDED_LUT_DEPTH,
    auto_ram18,
    block_ram18,
    ceil_divide,
    ceiling,
    rom_luts,
    uram_blocks,
    where,
)
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology


@dataclass(frozen=True, slots=True)
class Coefficients:
    """What each part of an engine costs; the defaults are the ``estimated`` model's.

    A price is linear in them. Fields end in what they count; ``_share`` scales a structural count.

    Parameters
    ----------
    hls_lut, hls_ff, hls_lut_per_port_bit, hls_ff_per_port_bit
        Control of a small HLS kind; register slice of an HLS stream, for each bit of each port.
    streamer_lut, streamer_lut_per_bit, streamer_ff_per_bit
        Weight streamer (`memstream.sv`): address counter and credits; in FINN+ a shift register of 7 words, two bits a
        LUT, and an output register, which FINN main lacks. A memory in LUTs has two registers more, which block RAM
        has inside.
    buffer_lut_per_bit, buffer_lut_per_word, buffer_ff_per_bit
        Input buffer of MVAU_hls: MW elements in flip-flops, read by a multiplexer; FINN prices none of it.
    mvau_hls_lut, mvau_hls_ff
        Control of MVAU_hls and VVAU_hls without the streamer.
    product_lut_share, product_ff_per_bit
        Multipliers and adders in LUTs, as a share of FINN-R's count; pipeline registers for each bit of weight and
        input of a product.
    gate_lut_share, gate_ff_per_bit, gate_ff_per_bit_of_main
        The same where weight or input has one bit, so that a product is a gate, of which the register slice of the
        weights' port takes one bit, and the adder tree a bit count: 6-input compressors at half a LUT a bit and the
        adders behind them at 0.8. FINN main's builds (HLS 2022.x) have fewer registers there than FINN+'s (2023.2).
    dsp_adder_lut_share, dsp_product_ff_per_bit
        LUTs for each of FINN's adder bits when HLS multiplies, and partly adds, in DSP blocks.
    threshold_lut_per_bit, threshold_ff_per_bit
        Fused thresholds, for each compared or stored bit, after synthesis has folded constants; registers that those
        of several channels are read into.
    rtl_lut, rtl_lut_per_product_bit, rtl_ff_per_product_bit
        MVAU_rtl: lane correction and adder tree.
    window_lut, window_ff, window_lut_share, window_lut_per_word_bit, window_ff_per_bank
        Sliding window in LUTs: banks of 64 words in RAM64M8, their write decoding, their read multiplexer.
    point_window_lut, point_window_ff
        Control of a 1x1 (sampling) window, beside 3 LUT and 4 FF a bit.
    padding_lut, padding_lut_per_bit, padding_ff, padding_ff_per_bit
        FMPadding_rtl.
    pool_lut, pool_ff
        Control of Pool_hls.
    threshold_rtl_lut, threshold_rtl_lut_per_bit, threshold_rtl_memory_share, threshold_rtl_ff_per_bit
        Thresholding_rtl for each PE and stage: comparator, threshold memory, pipeline registers.
    widening_lut_per_bit, narrowing_lut_per_bit, converter_ff_share
        Width converters, for each bit of their input; share of both words in flip-flops.
    fifo_lut_share, fifo_ff_per_bit
        FIFOs, over FINN+'s fit and over the structure of shift registers; registers of a word.

    """

    hls_lut: float = 42
    hls_ff: float = 38
    hls_lut_per_port_bit: float = 1
    hls_ff_per_port_bit: float = 2
    streamer_lut: float = 40
    streamer_lut_per_bit: float = 0.5
    streamer_ff_per_bit: float = 1
    buffer_lut_per_bit: float = 0.287
    buffer_lut_per_word: float = 1.55
    buffer_ff_per_bit: float = 1.095
    mvau_hls_lut: float = 200
    mvau_hls_ff: float = 150
    product_lut_share: float = 1
    product_ff_per_bit: float = 1.56
    gate_lut_share: float = 1
    gate_ff_per_bit: float = 1.56
    gate_ff_per_bit_of_main: float = 0.4
    dsp_adder_lut_share: float = 0.65
    dsp_product_ff_per_bit: float = 1.56
    threshold_lut_per_bit: float = 0.25
    threshold_ff_per_bit: float = 0.25
    rtl_lut: float = 40
    rtl_lut_per_product_bit: float = 2
    rtl_ff_per_product_bit: float = 3.5
    window_lut: float = 144
    window_ff: float = 86
    window_lut_share: float = 1.28
    window_lut_per_word_bit: float = 0.156
    window_ff_per_bank: float = 0.37
    point_window_lut: float = 70
    point_window_ff: float = 45
    padding_lut: float = 19
    padding_lut_per_bit: float = 0.55
    padding_ff: float = 12
    padding_ff_per_bit: float = 2.02
    pool_lut: float = 95
    pool_ff: float = 66
    threshold_rtl_lut: float = 10
    threshold_rtl_lut_per_bit: float = 1.15
    threshold_rtl_memory_share: float = 1.2
    threshold_rtl_ff_per_bit: float = 2.3
    widening_lut_per_bit: float = 0.38
    narrowing_lut_per_bit: float = 0.54
    converter_ff_share: float = 1
    fifo_lut_share: float = 1
    fifo_ff_per_bit: float = 1


ESTIMATED = Coefficients()
"""Fitted on metafi by instance, RTL units with vgg10 in view (docs/cost-model.md)."""

AUTO_BLOCK_DEPTHS = {"7series": 4}
"""Words from which Vivado puts a memory without a style into block RAM. 7 series: seen at 4, 6, 7 and 14 words of 864
to 7,168 bits, not at 2 of 320 (PYNQ-Z2, Vivado 2023.2)."""
AUTO_BLOCK_DEPTH = 32
"""The same on other families: vgg10's five memories of 1 to 16 words stay in LUTs (RFSoC2x2, Vivado 2024.2), and those
of 36 words and more do not. Whether the family or the version of Vivado makes the difference is not known."""
AUTO_LUT_BITS = 1024
"""Bits up to which it stays in LUTs on any part: seen at 300, 640 and 900, in block RAM from 2,700 on."""
SAME_BITS_DEPTH = 4
"""Words up to which the bits of a wide memory repeat each other (there are 16 different ones), so that synthesis keeps
few: seen at 2 words of 320 bits."""

AXILITE_LUT, AXILITE_FF = 120, 120
"""AXI-lite port for weights written at run time: bus logic, beside half a LUT and two FF a bit of the word."""


@dataclass(frozen=True, slots=True)
class Logic:
    """A small engine before it is priced: bits of all its ports, its own LUTs and flip-flops, its memories.

    ``control`` names what steers it: an HLS function, a pool, FINN's padding in RTL, whose ports are in its price, or
    nothing, of what is only wires.
    """

    port_bits: int
    lut: float = 0
    ff: float = 0
    memory: Resources = ZERO
    control: Literal["hls", "pool", "padding", "wires"] = "hls"

    def priced(self, prices: Coefficients) -> Resources:
        """Add up control, register slices and the rest."""
        memory = self.memory
        if self.control == "wires":
            return memory
        if self.control == "padding":
            lut = prices.padding_lut + prices.padding_lut_per_bit * self.port_bits
            ff = prices.padding_ff + prices.padding_ff_per_bit * self.port_bits
        else:
            pool = self.control == "pool"
            lut = (prices.pool_lut if pool else prices.hls_lut) + prices.hls_lut_per_port_bit * self.port_bits
            ff = (prices.pool_ff if pool else prices.hls_ff) + prices.hls_ff_per_port_bit * self.port_bits
        lut, ff = ceil_int(lut + self.lut) + memory.lut, ceil_int(ff + self.ff) + memory.ff
        return Resources(lut, ff, memory.bram18, memory.uram, memory.dsp)


def rounded(lut: float, ff: float, *, bram18: int = 0, uram: int = 0, dsp: int = 0) -> Resources:
    """Round logic up to whole LUTs and flip-flops."""
    return Resources(ceil_int(lut), ceil_int(ff), bram18, uram, dsp)


def unless(condition: bool, cost: Resources) -> Resources:
    """Return the cost, or nothing where the condition holds."""
    return Resources(*(where(condition, 0, amount) for amount in cost.as_tuple()))


def only_if(condition: bool, cost: Resources) -> Resources:
    """Return the cost where the condition holds, else nothing."""
    return Resources(*(where(condition, amount, 0) for amount in cost.as_tuple()))


def ceil_int(amount: float) -> int:
    """Round up, forgiving the last bits of a float."""
    return ceiling(amount - 1e-9)


def multiplier_luts(a_bits: int, b_bits: int) -> int:
    """LUTs of one multiplier without DSP (FINN-R's formula)."""
    return (2 * ceil_divide(a_bits + b_bits, 6) - 1) * (a_bits + b_bits)


@dataclass(frozen=True, slots=True)
class WeightMemory:
    """Where weights lie: ``depth`` words of ``width_bits``.

    ``hls``: they enter an HLS function by a stream port. ``queued``: FINN+'s streamer, with a queue behind the memory.
    """

    width_bits: int
    depth: int
    mem_mode: str
    ram_style: str
    writeable: bool
    hls: bool
    queued: bool

    def priced(self, technology: Technology, prices: Coefficients) -> Resources:
        """Price the memory and what streams it; ``auto`` is what Vivado would choose.

        Embedded memories deeper than 128 words are block RAM, counted once (FINN counts block RAM and UltraRAM).
        External weights cost a stream port only. A single word that nothing writes is a constant, which costs nothing.
        """
        if self.mem_mode == "internal_embedded":
            in_luts = self.depth <= FINN_EMBEDDED_LUT_DEPTH
            blocks = unless(in_luts, stored(self.width_bits, self.depth, "block"))
            return blocks + Resources(lut=where(in_luts, rom_luts(self.width_bits, self.depth), 0))
        if self.mem_mode == "external":
            return self._port(prices)
        streamed = self._memory(technology, prices) + self._port(prices)
        if self.writeable:
            return streamed + rounded(AXILITE_LUT + self.width_bits / 2, AXILITE_FF + 2 * self.width_bits)
        return unless(self.depth == 1, streamed)

    def _port(self, prices: Coefficients) -> Resources:
        if not self.hls:
            return ZERO
        bits = self.width_bits
        return rounded(prices.hls_lut_per_port_bit * bits, prices.hls_ff_per_port_bit * bits)

    def _memory(self, technology: Technology, prices: Coefficients) -> Resources:
        bits, depth = self.width_bits, self.depth
        sent = streamer(bits, prices, queued=self.queued)
        if self.ram_style == "auto":
            # Whether Vivado keeps a registered memory without a style in LUTs.
            least = AUTO_BLOCK_DEPTHS.get(technology.architecture, AUTO_BLOCK_DEPTH)
            in_luts = (depth < least) | (bits * depth <= AUTO_LUT_BITS)
            count = auto_ram18 if technology.architecture == "7series" else block_ram18
            blocks = Resources(bram18=count(bits, depth))
            return sent + only_if(in_luts, _in_luts(bits, depth)) + unless(in_luts, blocks)
        distributed = self.ram_style == "distributed"
        return sent + (_in_luts(bits, depth) if distributed else stored(bits, depth, self.ram_style))


def streamer(width_bits: int, prices: Coefficients, *, queued: bool) -> Resources:
    """Price what reads a memory word by word and sends it on (`memstream.sv`)."""
    bits = width_bits if queued else 0
    return rounded(prices.streamer_lut + prices.streamer_lut_per_bit * bits, prices.streamer_ff_per_bit * bits)


def _in_luts(width_bits: int, depth: int) -> Resources:
    """Price a memory in LUTs that is read through two registers; of up to 4 words few bits differ from each other."""
    return only_if(depth > SAME_BITS_DEPTH, Resources(lut=rom_luts(width_bits, depth), ff=2 * width_bits))


def stored(width_bits: int, depth: int, style: str) -> Resources:
    """Price a memory that is only read, in LUTs (`distributed`), UltraRAM (`ultra`) or block RAM."""
    if style == "distributed":
        return Resources(lut=rom_luts(width_bits, depth))
    if style == "ultra":
        return Resources(uram=uram_blocks(width_bits, depth))
    return Resources(bram18=block_ram18(width_bits, depth))


def window_memory_luts(width_bits: int, depth: int, technology: Technology, prices: Coefficients) -> float:
    """LUTs of a written memory in banks of 64 words: 7 bits in 8 LUTs (RAM64M8), 3 in 4 on 7 series (RAM64M)."""
    bits, luts = (3, 4) if technology.architecture == "7series" else (7, 8)
    banks = ceil_divide(depth, 64)
    bank_luts = luts * ceil_divide(width_bits, bits)
    return banks * (prices.window_lut_share * bank_luts + prices.window_lut_per_word_bit * width_bits)
