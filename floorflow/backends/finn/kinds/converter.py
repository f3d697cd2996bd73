"""What a stream width converter costs."""

from __future__ import annotations

from math import ceil, lcm, log

from floorflow.backends.finn.cost.calibrated import coefficients
from floorflow.backends.finn.cost.estimated import Coefficients, Logic, rounded
from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS, CostModel
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


def converter_resources(
    input_bits: int,
    output_bits: int,
    technology: Technology,  # noqa: ARG001 - no family differs
    model: CostModel,
) -> Resources:
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
