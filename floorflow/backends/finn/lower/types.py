"""Datatypes in FINN's engines: stored weights, accumulators, and whether a matrix unit is HLS or RTL."""

from __future__ import annotations

from floorflow.network.datatype import BINARY, BIPOLAR, TERNARY, DataType, integer, named, smallest
from floorflow.technology import Technology

THRESHOLD_BITS = 8
"""FINN turns quantisers of up to 8 bits into thresholds (``max_multithreshold_bit_width``)."""

_TWO_BITS = integer(2, signed=True)
_LEAST_RTL_BITS, _MOST_RTL_BITS = 2, 8
"""Widths for which the RTL unit exists; signed data may have one bit more."""
_PREFERRED_RTL_BITS = 4
"""From this width on SpecializeLayers prefers the RTL unit."""


def stored_weights(weights: DataType, *, xnor: bool) -> DataType:
    """Return the type that weights are stored in: BIPOLAR is BINARY for XNOR and INT2 otherwise.

    FINN's ``minimize_weight_bit_width`` on values -1 and 1, or -1, 0 and 1.
    """
    if xnor:
        return BINARY
    return _TWO_BITS if weights in (BIPOLAR, TERNARY) else weights


def accumulator(count: int, data: DataType, weights: DataType, *, xnor: bool) -> DataType:
    """Return the type of a sum of ``count`` products, for any weights of their type.

    FINN's ``minimize_accumulator_width`` with worst-case weights. The XNOR unit counts 0 to ``count`` ones; FINN
    calls the type of these bits INT because it takes the weights as -1 and 1.
    """
    if xnor:
        return integer(max(count.bit_length(), 2), signed=True)
    products = [a * b for a in (data.min, data.max) for b in (weights.min, weights.max)]
    return smallest(count * min(products), count * max(products))


def pool_sum(data: DataType, pixels: int) -> DataType:
    """Return the type of GlobalAccPool's sum (``get_output_datatype``)."""
    full = named(data.name)
    return smallest(0 if full.min >= 0 else full.min * pixels, full.max * pixels)


def rounded_to_bytes(datatype: DataType) -> DataType:
    """Return the type widened to a multiple of 8 bits, as FINN does for the last accumulator of a network."""
    return integer(-(-datatype.bits // 8) * 8, signed=datatype.signed)


def activation_value(datatype: DataType) -> int:
    """Return ``ActVal``, the value below the first threshold; one-bit types are encoded from 0."""
    return 0 if datatype.bits == 1 else datatype.min


def is_rtl(data: DataType, weights: DataType, technology: Technology, *, depthwise: bool) -> bool:
    """Whether SpecializeLayers makes the RTL unit unless told otherwise, given that no thresholds are fused."""
    return min(data.bits, weights.bits) >= _PREFERRED_RTL_BITS and has_rtl(
        data, weights, technology, depthwise=depthwise
    )


def has_rtl(data: DataType, weights: DataType, technology: Technology, *, depthwise: bool) -> bool:
    """Whether there is an RTL unit, given that no thresholds are fused.

    DSP48E1 needs narrow weights (no ``-2^(bits-1)``), and the RTL depthwise unit exists on Versal only.
    """
    if not weights.signed or weights.bits > _MOST_RTL_BITS or data.bits > _MOST_RTL_BITS + data.signed:
        return False
    if min(data.bits, weights.bits) < _LEAST_RTL_BITS:
        return False
    if depthwise:
        return technology.architecture == "versal"
    narrow = weights.min > -(2 ** (weights.bits - 1))
    return narrow or technology.dsp_block != "DSP48E1"
