"""Kinds that move pixels and compute nothing: padding, upsampling, sampling, concatenation."""

from __future__ import annotations

from math import gcd

from floorflow.backends.finn import estimated
from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.kinds.simple import Simple, SimpleUnit
from floorflow.backends.finn.memory import ram_luts
from floorflow.resources import Resources


def _padding_own(reader: Reader, width: int) -> Resources:
    if reader.op_type.endswith("_hls"):
        return estimated.hls_unit(2 * width, width)
    return estimated.rounded(
        estimated.PADDING_LUT + estimated.PADDING_LUT_PER_BIT * width,
        estimated.PADDING_FF + estimated.PADDING_FF_PER_BIT * width,
    )


def _padding(reader: Reader) -> SimpleUnit:
    simd, (height, width) = reader.integer("SIMD"), reader.pair("ImgDim")
    top, left, bottom, right = reader.sizes("Padding")
    words = reader.integer("NumChannels") // simd * reader.pixels()
    bits = simd * reader.bits("inputDataType")
    cycles = words * (height + top + bottom) * (width + left + right)
    return SimpleUnit(cycles, (bits,), (bits,), _padding_own(reader, bits))


def _pixel_padding(reader: Reader) -> SimpleUnit:
    """Zeros between pixels, for transposed convolutions."""
    simd, (height, width) = reader.integer("SIMD"), reader.pair("ImgDim")
    stride = reader.pair("Stride")
    words = reader.integer("NumChannels") // simd * reader.pixels()
    bits = simd * reader.bits("inputDataType")
    cycles = words * (height + (height - 1) * (stride[0] - 1)) * (width + (width - 1) * (stride[1] - 1))
    return SimpleUnit(cycles, (bits,), (bits,), _padding_own(reader, bits))


def _upsample(reader: Reader) -> SimpleUnit:
    """All channels in one word, or SIMD of them (FINN dev, which names all four sizes); one row is kept to repeat."""
    channels, bits = reader.integer("NumChannels"), reader.bits("inputDataType")
    if _upsamples_channels(reader):
        simd = reader.integer("SIMD")
        row = reader.integer("WI") * channels // simd
        width, pixels = simd * bits, reader.integer("HO") * reader.integer("WO") * reader.pixels("batchSize")
        cycles = pixels * channels // simd
    else:
        output, width, row = reader.integer("OFMDim"), channels * bits, reader.integer("IFMDim")
        one_dimension = reader.integer("DimMode", 0) == 1
        cycles = (output if one_dimension else output * output) * reader.pixels()
    own = estimated.hls_unit(2 * width, 20) + Resources(lut=ram_luts(width, row))
    return SimpleUnit(cycles, (width,), (width,), own)


def _upsamples_channels(reader: Reader) -> bool:
    return reader.has("HO")


def _sampling(reader: Reader) -> SimpleUnit:
    simd, side = reader.integer("SIMD"), reader.integer("ImgDim")
    pixels = side if reader.integer("is1D", 0) == 1 else side * side
    bits = simd * reader.bits("inputDataType")
    cycles = reader.integer("NumChannels") // simd * reader.pixels() * pixels
    return SimpleUnit(cycles, (bits,), (bits,), estimated.hls_unit(2 * bits, 20))


def _concat(reader: Reader) -> SimpleUnit:
    """FINN main takes all elements of a pixel in one word, FINN dev (``ChannelsPerStream``) SIMD of one stream."""
    bits = reader.bits("inputDataType")
    if _concatenates_channels(reader):
        parts, width = reader.sizes("ChannelsPerStream"), reader.integer("SIMD") * bits
        inputs, output = (width,) * len(parts), width
        cycles = reader.pixels() * sum(parts) // reader.integer("SIMD")
    else:
        inputs = tuple(elements * bits for elements in reader.sizes("ElemsPerStream"))
        output, cycles = sum(inputs), reader.pixels()
    return SimpleUnit(cycles, inputs, (output,), estimated.hls_unit(sum(inputs) + output))


def _concatenates_channels(reader: Reader) -> bool:
    return reader.has("ChannelsPerStream")


def _common_channels(reader: Reader) -> int:
    return gcd(*reader.sizes("ChannelsPerStream"))


KINDS = (
    Simple("FMPadding_rtl", _padding, "SIMD", "NumChannels"),
    Simple("FMPadding_hls", _padding, "SIMD", "NumChannels"),
    Simple("FMPadding_Pixel_hls", _pixel_padding, "SIMD", "NumChannels"),
    Simple("UpsampleNearestNeighbour_hls", _upsample, "SIMD", "NumChannels", _upsamples_channels),
    Simple("DownSampler_hls", _sampling, "SIMD", "NumChannels"),
    Simple("StreamingConcat_hls", _concat, "SIMD", _common_channels, _concatenates_channels),
)
