"""What FINN's DMA engines (IODMA_hls) take: the part of a shell that grows with the network's streams.

Four engines of PYNQ-Z2 builds, whose structure this follows, are met within 3%: 8, 224 and 896 bits read over 64, and 8
written over 8. They are all that it is known from. Wider memory, as that of Alveo cards, is reckoned in the same way.
"""

from __future__ import annotations

from math import ceil, lcm

from floorflow.resources import Resources

_CONTROL = Resources(lut=980, ff=1400)
"""AXI master, bursts and registers."""
_LUT_PER_MEMORY_BIT, _FF_PER_MEMORY_BIT = 1.7, 5
"""Buffers at the memory's side."""
_READ_BITS_PER_BRAM18, _WRITE_BITS_PER_BRAM18 = 36, 72
"""Bursts wait in block RAM: two for 64 bits that are read, one for 64 that are written."""
_LUT_PER_WORD_BIT, _FF_PER_WORD_BIT = 0.53, 3
"""A word that is wider than the memory's is gathered, and registered at both ends of the function."""
_LUT_PER_SHARED_BIT = 1.2
"""Widths of which neither divides the other meet in their least common multiple, which is then taken apart."""


def dma_resources(stream_bits: int, memory_bits: int, *, reads: bool) -> Resources:
    """Return what an engine takes between a stream and memory, whose words are ``memory_bits`` wide."""
    lut, ff = _LUT_PER_MEMORY_BIT * memory_bits, _FF_PER_MEMORY_BIT * memory_bits
    word = lcm(stream_bits, memory_bits)
    if word > memory_bits:
        lut, ff = lut + _LUT_PER_WORD_BIT * word, ff + _FF_PER_WORD_BIT * word
    if word > max(stream_bits, memory_bits):
        lut, ff = lut + _LUT_PER_SHARED_BIT * word, ff + _FF_PER_WORD_BIT * stream_bits
    bram18 = ceil(memory_bits / (_READ_BITS_PER_BRAM18 if reads else _WRITE_BITS_PER_BRAM18))
    return _CONTROL + Resources(lut=round(lut), ff=round(ff), bram18=bram18)
