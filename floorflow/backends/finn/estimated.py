"""Constants and parts of floorflow's ``estimated`` cost model; docs/cost-model.md says how well they fit.

"metafi" is the real build of a 4-bit residual CNN (Vivado 2022.2, xczu7ev) whose post-synthesis resources are
known by instance: 32 MVAU_hls, 35 sliding windows, 27 paddings, 21 thresholds, 4 pools, 12 adders, 12 duplicates
and 81 width converters. "yosys" are 36 syntheses of FINN's RTL with an open tool: shapes, and an upper guide.
"""

from __future__ import annotations

from floorflow.backends.finn.memory import block_ram18, ceil_divide, rom_luts, uram_blocks
from floorflow.resources import Resources
from floorflow.technology import Technology

HLS_LUT, HLS_FF = 42, 38
"""Control of a small HLS kind; median of 24 adders and duplicates of metafi."""
HLS_LUT_PER_PORT_BIT, HLS_FF_PER_PORT_BIT = 1, 2
"""Register slice of an HLS stream, for each bit of each port."""
STREAMER_LUT, STREAMER_FF_PER_BIT = 40, 3
"""Weight streamer: address counter and handshake; word register and register slice."""
AXILITE_LUT, AXILITE_FF = 120, 120
"""AXI-lite port for weights written at run time: bus logic, beside half a LUT and two FF a bit of the word."""

BUFFER_LUT_PER_BIT, BUFFER_LUT_PER_WORD, BUFFER_FF_PER_BIT = 0.287, 1.55, 1.095
"""Input buffer of MVAU_hls: MW elements in flip-flops, read by a multiplexer; FINN prices none of it."""
MVAU_HLS_LUT, MVAU_HLS_FF, MVAU_HLS_FF_PER_MAC_BIT = 220, 168, 1.56
"""Control of MVAU_hls without its streamer; pipeline registers for each bit of weight and input of a MAC."""
HLS_DSP_ADDER_LUT = 0.65
"""LUT for each of FINN's adder bits when HLS multiplies, and partly adds, in DSP blocks."""
THRESHOLD_LUT_SHARE = 0.5
"""Share of FINN's LUTs for fused thresholds that synthesis keeps: half a LUT a compared bit, folded constants."""

RTL_LUT, RTL_LUT_PER_MAC_BIT, RTL_FF_PER_LUT = 40, 2.0, 1.75
"""MVAU_rtl: lane correction and adder tree. yosys 1.9 to 3.1 LUT a bit; vgg10 in Vivado about 1.9, FF/LUT 1.75."""

WINDOW_LUT, WINDOW_FF = 144, 86
WINDOW_LUT_PER_RAM_LUT, WINDOW_LUT_PER_WORD_BIT, WINDOW_FF_PER_BANK = 1.28, 0.156, 0.37
"""Sliding window with distributed memory: RAM64M8 banks of 64 words, their write decoding, their read multiplexer."""
POINT_WINDOW_LUT, POINT_WINDOW_FF = 70, 45
"""Control of a 1x1 (sampling) window, beside 3 LUT and 4 FF a bit."""

PADDING_LUT, PADDING_LUT_PER_BIT, PADDING_FF, PADDING_FF_PER_BIT = 19, 0.55, 12, 2.02
"""FMPadding_rtl."""
POOL_LUT, POOL_FF = 95, 66
"""Control of Pool_hls."""
THRESHOLD_RTL_LUT, THRESHOLD_RTL_LUT_PER_BIT = 10, 1.15
THRESHOLD_RTL_MEMORY, THRESHOLD_RTL_FF_PER_BIT = 1.2, 2.3
"""Thresholding_rtl for each PE and stage: comparator, threshold memory, pipeline registers (yosys, 7 shapes)."""


def hls_unit(port_bits: int, logic_lut: float = 0, logic_ff: float = 0) -> Resources:
    """Price a small HLS kind: control, register slices of all its ports, and its own logic."""
    lut = HLS_LUT + HLS_LUT_PER_PORT_BIT * port_bits + logic_lut
    ff = HLS_FF + HLS_FF_PER_PORT_BIT * port_bits + logic_ff
    return rounded(lut, ff)


def rounded(lut: float, ff: float, *, bram18: int = 0, uram: int = 0, dsp: int = 0) -> Resources:
    """Round logic up to whole LUTs and flip-flops."""
    return Resources(ceil_int(lut), ceil_int(ff), bram18, uram, dsp)


def combined(*parts: Resources) -> Resources:
    """Add up parts; the inner loop of pricing, so without a general sum's overhead."""
    return Resources(
        sum([part.lut for part in parts]),
        sum([part.ff for part in parts]),
        sum([part.bram18 for part in parts]),
        sum([part.uram for part in parts]),
        sum([part.dsp for part in parts]),
    )


def ceil_int(amount: float) -> int:
    """Round up, forgiving the last bits of a float."""
    return -int(-(amount - 1e-9) // 1) if amount > 0 else 0


def multiplier_luts(a_bits: int, b_bits: int) -> int:
    """LUTs of one multiplier without DSP (FINN-R's formula)."""
    return (2 * ceil_divide(a_bits + b_bits, 6) - 1) * (a_bits + b_bits)


def weight_memory(width_bits: int, depth: int, mem_mode: str, ram_style: str, *, writeable: bool) -> Resources:
    """Price a weight memory of ``depth`` words; ``auto`` is what a tool would choose, LUTs up to 128 words.

    Embedded memories deeper than 128 words are block RAM, counted once (FINN counts block RAM and UltraRAM).
    External weights cost a stream port only.
    """
    if mem_mode == "external":
        return rounded(0, STREAMER_FF_PER_BIT * width_bits)
    shallow = depth <= 128
    embedded = mem_mode == "internal_embedded"
    style = ram_style if not embedded and ram_style != "auto" else ("distributed" if shallow else "block")
    memory = stored(width_bits, depth, style)
    if embedded:
        return memory
    streamer = rounded(STREAMER_LUT, STREAMER_FF_PER_BIT * width_bits)
    bus = rounded(AXILITE_LUT + width_bits / 2, AXILITE_FF + 2 * width_bits) if writeable else Resources()
    return combined(memory, streamer, bus)


def stored(width_bits: int, depth: int, style: str) -> Resources:
    """Price a memory that is only read, in LUTs (`distributed`), UltraRAM (`ultra`) or block RAM."""
    if style == "distributed":
        return Resources(lut=rom_luts(width_bits, depth))
    if style == "ultra":
        return Resources(uram=uram_blocks(width_bits, depth))
    return Resources(bram18=block_ram18(width_bits, depth))


def window_memory_luts(width_bits: int, depth: int, technology: Technology) -> float:
    """LUTs of a written memory in banks of 64 words: 7 bits in 8 LUTs (RAM64M8), 3 in 4 on 7 series (RAM64M)."""
    bits, luts = (3, 4) if technology.architecture == "7series" else (7, 8)
    banks = ceil_divide(depth, 64)
    bank_luts = luts * ceil_divide(width_bits, bits)
    return banks * (WINDOW_LUT_PER_RAM_LUT * bank_luts + WINDOW_LUT_PER_WORD_BIT * width_bits)
