"""Kinds that treat each channel alone: add, subtract, duplicate, multiply by a constant."""

from __future__ import annotations

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import Logic
from floorflow.backends.finn.cost.memory import ceil_divide, rom_luts
from floorflow.backends.finn.datatype import bits_of, bits_to_hold, bounds, extreme_value, is_signed
from floorflow.backends.finn.kinds.kind import ONLY_MAIN
from floorflow.backends.finn.kinds.simple import Simple, SimpleUnit
from floorflow.resources import Resources


def _cycles(reader: Reader) -> int:
    return reader.pixels() * reader.folds("NumChannels", "PE")


def _add_streams(reader: Reader) -> SimpleUnit:
    """Add; the result's type holds twice the operands' extreme value."""
    name = reader.text("inputDataType")
    return _two_operands(reader, (name, name), bits_to_hold(2 * extreme_value(name)))


def _eltwise(reader: Reader) -> SimpleUnit:
    """Add, subtract or take the distance; the result's type holds every value."""
    names = reader.text("inputDataType0"), reader.text("inputDataType1")
    if is_signed(names[0]) != is_signed(names[1]):
        raise reader.wrong("inputDataType1", f"a type that is signed exactly if {names[0]} is")
    operation = reader.one_of("eltwiseOp", ("Add", "Sub", "AbsDiff"))
    (low, high), (other_low, other_high) = bounds(names[0]), bounds(names[1])
    distance = max(abs(a - b) for a in (low, high) for b in (other_low, other_high))
    total = extreme_value(names[0]) + extreme_value(names[1])
    extreme = {"Add": total, "Sub": -distance, "AbsDiff": distance}[operation]
    return _two_operands(reader, names, bits_to_hold(extreme))


def _two_operands(reader: Reader, names: tuple[str, str], result_bits: int) -> SimpleUnit:
    pe = reader.positive("PE")
    inputs, output = (pe * bits_of(names[0]), pe * bits_of(names[1])), pe * result_bits
    own = Logic(sum(inputs) + output, output)
    return SimpleUnit(_cycles(reader), inputs, (output,), own)


def _duplicate(reader: Reader) -> SimpleUnit:
    pe, copies = reader.positive("PE"), reader.integer("NumOutputStreams", 2)
    width = pe * reader.bits("inputDataType")
    own = Logic(width * (1 + copies))
    return SimpleUnit(_cycles(reader), (width,), (width,) * copies, own)


def _channelwise(reader: Reader) -> SimpleUnit:
    pe, bits = reader.positive("PE"), reader.bits("inputDataType")
    width, output = pe * bits, pe * reader.bits("outputDataType")
    folds = reader.folds("NumChannels", "PE")
    distributed = reader.one_of("ram_style", ("distributed", "block"), "distributed") == "distributed"
    finn = Resources(lut=width)
    if folds > 1:
        stored = Resources(lut=rom_luts(width, folds))
        blocks = Resources(bram18=ceil_divide(width, 16) * ceil_divide(folds, 1024))
        finn = finn + (stored if distributed else blocks)
    return SimpleUnit(_cycles(reader), (width,), (output,), _channelwise_own(reader, folds, distributed), finn)


def _channelwise_own(reader: Reader, folds: int, distributed: bool) -> Logic:
    pe, bits, parameter_bits = (
        reader.positive("PE"),
        reader.bits("inputDataType"),
        reader.bits("paramDataType"),
    )
    output_bits = reader.bits("outputDataType")
    multiplies = reader.one_of("Func", ("cmp_le", "cmp_ge", "add", "mul"), "cmp_le") == "mul"
    operation = estimated.multiplier_luts(bits, parameter_bits) if multiplies else max(output_bits, parameter_bits)
    style = "distributed" if distributed or folds == 1 else "block"
    memory = estimated.stored(pe * parameter_bits, folds, style)
    return Logic(pe * (bits + output_bits), pe * operation, pe * parameter_bits, memory)


KINDS = (
    Simple("AddStreams_hls", _add_streams, "PE", "NumChannels", versions=ONLY_MAIN),
    Simple("StreamingEltwise_hls", _eltwise, "PE", "NumChannels", versions=ONLY_MAIN),
    Simple("DuplicateStreams_hls", _duplicate, "PE", "NumChannels"),
    Simple("ChannelwiseOp_hls", _channelwise, "PE", "NumChannels", versions=ONLY_MAIN),
)
