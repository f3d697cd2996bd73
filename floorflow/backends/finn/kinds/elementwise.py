"""Kinds that treat each channel alone: add, subtract, duplicate, multiply by a constant."""

from __future__ import annotations

from floorflow.backends.finn import estimated
from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.kinds.simple import Simple, SimpleUnit
from floorflow.backends.finn.memory import ceil_divide, rom_luts
from floorflow.resources import Resources


def _cycles(reader: Reader, pe: int) -> int:
    return reader.pixels() * reader.integer("NumChannels") // pe


def _add_streams(reader: Reader) -> SimpleUnit:
    pe, bits = reader.integer("PE"), reader.bits("inputDataType")
    inputs, output = (bits * pe, bits * pe), pe * (bits + 1)
    own = estimated.hls_unit(sum(inputs) + output, output)
    return SimpleUnit(_cycles(reader, pe), inputs, (output,), own)


def _eltwise(reader: Reader) -> SimpleUnit:
    """Subtract; the result has one bit more than the wider operand."""
    pe = reader.integer("PE")
    bits = reader.bits("inputDataType0"), reader.bits("inputDataType1")
    inputs, output = (bits[0] * pe, bits[1] * pe), pe * (max(bits) + 1)
    own = estimated.hls_unit(sum(inputs) + output, output)
    return SimpleUnit(_cycles(reader, pe), inputs, (output,), own)


def _duplicate(reader: Reader) -> SimpleUnit:
    pe, copies = reader.integer("PE"), reader.integer("NumOutputStreams", 2)
    width = pe * reader.bits("inputDataType")
    own = estimated.hls_unit(width * (1 + copies))
    return SimpleUnit(_cycles(reader, pe), (width,), (width,) * copies, own)


def _channelwise(reader: Reader) -> SimpleUnit:
    pe, bits = reader.integer("PE"), reader.bits("inputDataType")
    width, output = pe * bits, pe * reader.bits("outputDataType")
    folds = reader.integer("NumChannels") // pe
    distributed = reader.text("ram_style", "distributed") == "distributed"
    finn = Resources(lut=width)
    if folds > 1:
        stored = Resources(lut=rom_luts(width, folds))
        blocks = Resources(bram18=ceil_divide(width, 16) * ceil_divide(folds, 1024))
        finn = finn + (stored if distributed else blocks)
    return SimpleUnit(_cycles(reader, pe), (width,), (output,), _channelwise_own(reader, folds, distributed), finn)


def _channelwise_own(reader: Reader, folds: int, distributed: bool) -> Resources:
    pe, bits, parameter_bits = (
        reader.integer("PE"),
        reader.bits("inputDataType"),
        reader.bits("paramDataType"),
    )
    output_bits = reader.bits("outputDataType")
    multiplies = reader.text("Func", "cmp_le") == "mul"
    operation = estimated.multiplier_luts(bits, parameter_bits) if multiplies else max(output_bits, parameter_bits)
    own = estimated.hls_unit(pe * (bits + output_bits), pe * operation, pe * parameter_bits)
    style = "distributed" if distributed or folds == 1 else "block"
    return own + estimated.stored(pe * parameter_bits, folds, style)


KINDS = (
    Simple("AddStreams_hls", _add_streams, "PE", "NumChannels"),
    Simple("StreamingEltwise_hls", _eltwise, "PE", "NumChannels"),
    Simple("DuplicateStreams_hls", _duplicate, "PE", "NumChannels"),
    Simple("ChannelwiseOp_hls", _channelwise, "PE", "NumChannels"),
)
