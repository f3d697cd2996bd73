"""Kinds that treat each channel alone: add, subtract, duplicate, multiply by a constant.

FINN dev's and FINN+'s elementwise kinds have two operands of any shape, one of which may be stored.
"""

from math import gcd, prod

from floorflow.backends.finn.attributes import Reader, bits_of, bits_to_hold, bounds, extreme_value, is_signed
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import Logic
from floorflow.backends.finn.cost.memory import ceil_divide, finn_weight_bram18, ram_luts, rom_luts, uram_blocks
from floorflow.backends.finn.kinds.kind import NOT_MAIN, ONLY_MAIN, Simple, SimpleUnit
from floorflow.backends.finn.kinds.weighted import RAM_STYLES
from floorflow.resources import ZERO, Resources


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


_OF_STREAMS = (
    Simple("AddStreams_hls", _add_streams, "PE", "NumChannels", versions=ONLY_MAIN),
    Simple("StreamingEltwise_hls", _eltwise, "PE", "NumChannels", versions=ONLY_MAIN),
    Simple("DuplicateStreams_hls", _duplicate, "PE", "NumChannels"),
    Simple("ChannelwiseOp_hls", _channelwise, "PE", "NumChannels", versions=ONLY_MAIN),
)


_HLS_OPERATIONS = (
    *("AbsDiff", "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater"),
    *("GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mul", "Or", "Sub", "Xor"),
)
_RTL_OPERATIONS = ("Add", "Mul", "Sub")
_SIDES = ("lhs", "rhs")


def _elementwise_binary(reader: Reader) -> SimpleUnit:
    """Read one engine; a port for each operand that is a stream."""
    pe = reader.positive("PE", 1)
    shape = reader.sizes("out_shape")
    cycles = prod(shape[:-1]) * reader.share(shape[-1], "the last dimension of out_shape", "PE", 1)
    widths = {side: pe * reader.bits(f"{side}_dtype") for side in _SIDES}
    streamed = tuple(widths[side] for side in _SIDES if not _is_constant(reader, side))
    output = pe * reader.bits("out_dtype")
    for side in _SIDES:
        last = reader.sizes(f"{side}_shape")[-1]
        if last != 1 or not _broadcasts(reader):
            reader.share(last, f"the last dimension of {side}_shape", "PE", 1)
    embeds = _embeds(reader)
    hidden = reader.finn == "plus" and _is_constant(reader, "lhs") and embeds
    told = (0 if hidden else widths["lhs"], output)
    finn = _finn_memory(reader, widths["rhs"]) if reader.finn == "plus" else ZERO
    return SimpleUnit(cycles, streamed, (output,), _own(reader, widths, output), finn, told)


def _is_constant(reader: Reader, side: str) -> bool:
    return reader.one_of(f"{side}_style", ("input", "const"), "input") == "const"


def _embeds(reader: Reader) -> bool:
    """Whether FINN keeps constants in the engine's code."""
    default = "internal_embedded" if reader.is_hls else "internal_decoupled"
    mode = reader.one_of("mem_mode", ("internal_embedded", "internal_decoupled"), default)
    return mode == "internal_embedded" and not reader.integer("mlo_max_iter", 0)


def _broadcasts(reader: Reader) -> bool:
    """Whether just one operand repeats one element along the last dimension."""
    last = [reader.sizes(f"{side}_shape")[-1] for side in _SIDES]
    return (last[0] == 1) != (last[1] == 1)


def repeats_pixel(reader: Reader, side: str) -> bool:
    """Whether a streamed operand is read once and then repeated from a buffer: one pixel for all of the output."""
    shape, output = reader.sizes(f"{side}_shape"), reader.sizes("out_shape")
    return not _is_constant(reader, side) and prod(shape[:-1]) < prod(output[:-1])


def _stored_words(reader: Reader, side: str) -> int:
    """Words of a stored operand, each of PE elements."""
    shape = reader.sizes(f"{side}_shape")
    last = 1 if shape[-1] == 1 else shape[-1] // reader.integer("PE", 1)
    return prod(shape[:-1]) * last


def _finn_memory(reader: Reader, width: int) -> Resources:
    """FINN+ prices the right operand where it is streamed from a memory, and nothing that is embedded."""
    loops = reader.integer("mlo_max_iter", 0)
    style = reader.one_of("ram_style", RAM_STYLES, "auto")
    if _embeds(reader) or not (_is_constant(reader, "rhs") or loops):
        return ZERO
    depth = _stored_words(reader, "rhs") * max(1, loops)
    if style == "distributed":
        return Resources(lut=rom_luts(width, depth))
    if style == "ultra":
        return Resources(uram=uram_blocks(width, depth))
    return Resources(bram18=finn_weight_bram18(width, depth))


def _own(reader: Reader, widths: dict[str, int], output: int) -> Logic:
    pe = reader.integer("PE", 1)
    bits = {side: reader.bits(f"{side}_dtype") for side in _SIDES}
    multiplies = "Mul" in reader.op_type or "Div" in reader.op_type
    logic = pe * estimated.multiplier_luts(bits["lhs"], bits["rhs"]) if multiplies else output
    memory = ZERO
    style = reader.one_of("ram_style", RAM_STYLES, "auto")
    for side in _SIDES:
        if _is_constant(reader, side):
            words = _stored_words(reader, side)
            shallow = "distributed" if words <= 128 else "block"
            memory = memory + estimated.stored(widths[side], words, shallow if style == "auto" else style)
        elif repeats_pixel(reader, side):
            memory = memory + Resources(lut=ram_luts(widths[side], _stored_words(reader, side)))
    return Logic(sum(widths.values()) + output, logic, memory=memory)


def _foldable(reader: Reader) -> int:
    """Return what PE must divide: the last dimension of the output and of every operand that is not repeated."""
    sizes = [reader.sizes(f"{name}_shape")[-1] for name in ("out", *_SIDES)]
    return gcd(*(size for size in sizes if size != 1)) if _broadcasts(reader) else gcd(*sizes)


_OF_OPERANDS = tuple(
    Simple(f"Elementwise{operation}_{side}", _elementwise_binary, "PE", _foldable, versions=NOT_MAIN)
    for side, operations in (("hls", _HLS_OPERATIONS), ("rtl", _RTL_OPERATIONS))
    for operation in operations
)

KINDS = (*_OF_STREAMS, *_OF_OPERANDS)
