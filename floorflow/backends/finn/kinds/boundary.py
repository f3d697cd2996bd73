"""Kinds without folding: table look-up, DMA engines, and markers at the boundary of the graph.

DMA engines (IODMA_hls) are the part of a shell that grows with the network's streams. Four of PYNQ-Z2 builds, whose
structure their price follows, are met within 3%: 8, 224 and 896 bits read over 64, and 8 written over 8. They are all
that it is known from. Wider memory, as that of Alveo cards, is reckoned in the same way.
"""

from math import ceil, lcm, prod

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import Logic
from floorflow.backends.finn.cost.memory import ceil_divide, rom_luts, uram_blocks
from floorflow.backends.finn.kinds.kind import Simple, SimpleUnit
from floorflow.backends.finn.kinds.weighted import RAM_STYLES
from floorflow.resources import ZERO, Resources

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


def _lookup(reader: Reader) -> SimpleUnit:
    """Replace each index by its embedding, stored or fetched word by word from outside."""
    entries, bits = reader.positive("NumEmbeddings"), reader.bits("EmbeddingType")
    width, index = reader.positive("EmbeddingDim") * bits, reader.bits("InputType")
    style = reader.one_of("ram_style", RAM_STYLES, "block") if reader.finn == "plus" else "block"
    if reader.one_of("mem_mode", ("internal_embedded", "external"), "internal_embedded") == "external":
        width, finn, stored = reader.positive("ext_mem_width", 32), ZERO, ZERO
        if width % bits:
            raise reader.wrong("ext_mem_width", f"a multiple of the bits of EmbeddingType, which are {bits}")
    else:
        finn, stored = _finn_table(width, entries, style), estimated.stored(width, entries, style)
    own = Logic(index + width, memory=stored)
    return SimpleUnit(prod(reader.sizes("InputShape", (1,))), (index,), (width,), own, finn)


def _finn_table(width: int, entries: int, style: str) -> Resources:
    if style == "ultra":
        return Resources(uram=uram_blocks(width, entries))
    if style == "distributed":
        return Resources(lut=rom_luts(width, entries))
    return Resources(bram18=ceil_divide(width, 16) * ceil_divide(entries, 1024))


def _transfer(reader: Reader) -> SimpleUnit:
    """Read from or write to memory; FINN tells neither cycles nor resources, and built engines tell their price."""
    stream, memory = reader.positive("streamWidth", 32), reader.positive("intfWidth", 32)
    reads = reader.one_of("direction", ("in", "out"), "in") == "in"
    own = dma_resources(stream, memory, reads=reads)
    inside, outside = (memory, stream) if reads else (stream, memory)
    return SimpleUnit(0, (inside,), (outside,), Logic(0, memory=own, control="wires"))


def _marker(reader: Reader) -> SimpleUnit:
    width = reader.positive("StreamWidth")
    return SimpleUnit(0, (width,), (width,), Logic(2 * width))


def _checksum(reader: Reader) -> SimpleUnit:
    width = reader.sizes("folded_shape")[-1] * reader.bits("inputDataType")
    return SimpleUnit(0, (width,), (width,), Logic(2 * width, width))


KINDS = (
    Simple("Lookup_hls", _lookup),
    Simple("IODMA_hls", _transfer),
    Simple("TLastMarker_hls", _marker),
    Simple("CheckSum_hls", _checksum),
)
