"""Kinds without folding: table look-up, transfers to and from memory, and markers at the boundary of the graph."""

from __future__ import annotations

from math import prod

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.dma import dma_resources
from floorflow.backends.finn.cost.estimated import Logic
from floorflow.backends.finn.cost.memory import ceil_divide, rom_luts, uram_blocks
from floorflow.backends.finn.kinds.simple import Simple, SimpleUnit
from floorflow.backends.finn.kinds.weighted import RAM_STYLES
from floorflow.resources import ZERO, Resources


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
