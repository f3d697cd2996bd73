"""Kinds that move pixels and compute nothing: padding, upsampling, sampling, concatenation."""

from __future__ import annotations

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
    """All channels in one word; one row is kept to be repeated."""
    output = reader.integer("OFMDim")
    one_dimension = reader.integer("DimMode", 0) == 1
    bits = reader.integer("NumChannels") * reader.bits("inputDataType")
    own = estimated.hls_unit(2 * bits, 20) + Resources(lut=ram_luts(bits, reader.integer("IFMDim")))
    cycles = (output if one_dimension else output * output) * reader.pixels()
    return SimpleUnit(cycles, (bits,), (bits,), own)


def _sampling(reader: Reader) -> SimpleUnit:
    simd, side = reader.integer("SIMD"), reader.integer("ImgDim")
    pixels = side if reader.integer("is1D", 0) == 1 else side * side
    bits = simd * reader.bits("inputDataType")
    cycles = reader.integer("NumChannels") // simd * reader.pixels() * pixels
    return SimpleUnit(cycles, (bits,), (bits,), estimated.hls_unit(2 * bits, 20))


def _concat(reader: Reader) -> SimpleUnit:
    """FINN main takes all elements of a pixel in one word."""
    bits = reader.bits("inputDataType")
    inputs = tuple(elements * bits for elements in reader.sizes("ElemsPerStream"))
    own = estimated.hls_unit(2 * sum(inputs))
    return SimpleUnit(reader.pixels(), inputs, (sum(inputs),), own)


KINDS = (
    Simple("FMPadding_rtl", _padding, "SIMD", "NumChannels"),
    Simple("FMPadding_hls", _padding, "SIMD", "NumChannels"),
    Simple("FMPadding_Pixel_hls", _pixel_padding, "SIMD", "NumChannels"),
    Simple("UpsampleNearestNeighbour_hls", _upsample),
    Simple("DownSampler_hls", _sampling, "SIMD", "NumChannels"),
    Simple("StreamingConcat_hls", _concat),
)
