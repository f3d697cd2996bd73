"""Kinds that move pixels and compute nothing: padding, upsampling, sampling, concatenation."""

from math import gcd, prod

from floorflow.backends.finn.attributes import Reader, bits_of, bounds, has_zero
from floorflow.backends.finn.cost.estimated import Logic
from floorflow.backends.finn.cost.memory import ram_luts
from floorflow.backends.finn.kinds.kind import NOT_MAIN, ONLY_MAIN, ONLY_PLUS, Simple, SimpleUnit
from floorflow.resources import Resources


def _padding_own(reader: Reader, width: int) -> Logic:
    return Logic(2 * width, width) if reader.op_type.endswith("_hls") else Logic(width, control="padding")


def _told_padding(reader: Reader) -> tuple[None, None] | None:
    """Return no widths for a type without zero: FINN refuses to tell them, though it tells the cycles."""
    return None if has_zero(reader.text("inputDataType")) else (None, None)


def _padding(reader: Reader) -> SimpleUnit:
    simd, (height, width) = reader.positive("SIMD", 1), reader.pair("ImgDim")
    padding = reader.sizes("Padding")
    if len(padding) != 4:
        raise reader.wrong("Padding", "four integers")
    top, left, bottom, right = padding
    words = reader.folds("NumChannels", "SIMD", 1) * reader.pixels()
    bits = simd * reader.bits("inputDataType")
    cycles = words * (height + top + bottom) * (width + left + right)
    return SimpleUnit(cycles, (bits,), (bits,), _padding_own(reader, bits), told_bits=_told_padding(reader))


def _pixel_padding(reader: Reader) -> SimpleUnit:
    """Zeros between pixels, for transposed convolutions."""
    simd, (height, width) = reader.positive("SIMD", 1), reader.pair("ImgDim")
    stride = reader.pair("Stride")
    words = reader.folds("NumChannels", "SIMD", 1) * reader.pixels()
    bits = simd * reader.bits("inputDataType")
    cycles = words * (height + (height - 1) * (stride[0] - 1)) * (width + (width - 1) * (stride[1] - 1))
    return SimpleUnit(cycles, (bits,), (bits,), _padding_own(reader, bits), told_bits=_told_padding(reader))


def _upsample(reader: Reader) -> SimpleUnit:
    """All channels in one word, or SIMD of them (FINN dev, which names all four sizes); one row is kept to repeat."""
    channels, bits = reader.positive("NumChannels"), reader.bits("inputDataType")
    if _upsamples_channels(reader):
        simd, folds = reader.positive("SIMD"), reader.folds("NumChannels", "SIMD")
        row = reader.integer("WI") * folds
        width, pixels = simd * bits, reader.integer("HO") * reader.integer("WO") * reader.pixels("batchSize")
        cycles = pixels * folds
    else:
        output, width, row = reader.integer("OFMDim"), channels * bits, reader.integer("IFMDim")
        one_dimension = reader.integer("DimMode", 0) == 1
        cycles = output if one_dimension else output * output * reader.pixels()
    own = Logic(2 * width, 20, memory=Resources(lut=ram_luts(width, row)))
    return SimpleUnit(cycles, (width,), (width,), own)


def _upsamples_channels(reader: Reader) -> bool:
    return reader.has("HO")


def _sampling(reader: Reader) -> SimpleUnit:
    simd, side = reader.positive("SIMD", 1), reader.positive("ImgDim")
    pixels = side if reader.integer("is1D", 0) else side * side
    bits = simd * reader.bits("inputDataType")
    cycles = reader.folds("NumChannels", "SIMD", 1) * reader.pixels() * pixels
    return SimpleUnit(cycles, (bits,), (bits,), Logic(2 * bits, 20))


def _concat(reader: Reader) -> SimpleUnit:
    """FINN main takes all elements of a pixel in one word, FINN dev (``ChannelsPerStream``) SIMD of one stream."""
    if _concatenates_channels(reader):
        simd, parts = _shared_words(reader)
        each, joint = _types(reader, len(parts))
        inputs = tuple(simd * bits for bits in each)
        output, cycles = simd * joint, reader.pixels() * (sum(parts) // simd)
    else:
        width = reader.bits("inputDataType")
        inputs = tuple(elements * width for elements in reader.sizes("ElemsPerStream"))
        output, cycles = sum(inputs), reader.pixels()
    return SimpleUnit(cycles, inputs, (output,), Logic(sum(inputs) + output))


def _types(reader: Reader, parts: int) -> tuple[tuple[int, ...], int]:
    """Return the bits of each input, and of the type that holds every value of all; lowered graphs have one type."""
    if not reader.has("inputDataTypes"):
        bits = reader.bits("inputDataType")
        return (bits,) * parts, bits
    names = reader.texts("inputDataTypes")
    if len(names) != parts:
        raise reader.wrong("inputDataTypes", f"a type for each of {parts} streams")
    least, greatest = min(bounds(name)[0] for name in names), max(bounds(name)[1] for name in names)
    joint = greatest.bit_length() if least >= 0 else (max(-least, greatest + 1) - 1).bit_length() + 1
    return tuple(bits_of(name) for name in names), joint


def _split(reader: Reader) -> SimpleUnit:
    """FINN dev's opposite of a concatenation of channels."""
    simd, parts = _shared_words(reader)
    width = simd * reader.bits("inputDataType")
    own = Logic(width * (1 + len(parts)))
    return SimpleUnit(reader.pixels() * (sum(parts) // simd), (width,), (width,) * len(parts), own)


def _shared_words(reader: Reader) -> tuple[int, tuple[int, ...]]:
    """Return SIMD, which must divide the channels of every stream, and these channels."""
    parts = reader.sizes("ChannelsPerStream")
    reader.share(gcd(*parts), "the common divisor of ChannelsPerStream", "SIMD")
    return reader.integer("SIMD"), parts


def _reshape(reader: Reader) -> SimpleUnit:
    """FINN+'s change of shape; PE divides the last dimension before and behind. Builds have no cell of it."""
    before, behind = reader.sizes("inp_shape"), reader.sizes("out_shape")
    reader.share(before[-1], "the last dimension of inp_shape", "PE", 1)
    folds = reader.share(behind[-1], "the last dimension of out_shape", "PE", 1)
    width = reader.integer("PE", 1) * reader.bits("dtype")
    return SimpleUnit(prod(behind[:-1]) * folds, (width,), (width,), Logic(0, control="wires"))


def _last_dimensions(reader: Reader) -> int:
    return gcd(reader.sizes("inp_shape")[-1], reader.sizes("out_shape")[-1])


def _concatenates_channels(reader: Reader) -> bool:
    return reader.has("ChannelsPerStream")


def _common_channels(reader: Reader) -> int:
    return gcd(*reader.sizes("ChannelsPerStream"))


KINDS = (
    Simple("FMPadding_rtl", _padding, "SIMD", "NumChannels"),
    Simple("FMPadding_hls", _padding, "SIMD", "NumChannels", versions=ONLY_MAIN),
    Simple("FMPadding_Pixel_hls", _pixel_padding, "SIMD", "NumChannels"),
    Simple("UpsampleNearestNeighbour_hls", _upsample, "SIMD", "NumChannels", _upsamples_channels),
    Simple("DownSampler_hls", _sampling, "SIMD", "NumChannels", versions=ONLY_MAIN),
    Simple("StreamingConcat_hls", _concat, "SIMD", _common_channels, _concatenates_channels),
    Simple("StreamingSplit_hls", _split, "SIMD", _common_channels, versions=NOT_MAIN),
    Simple("Reshape_rtl", _reshape, "PE", _last_dimensions, versions=ONLY_PLUS),
)
