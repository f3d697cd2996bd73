"""FINN dev's and FINN+'s elementwise kinds: two operands of any shape, one of which may be stored."""

from __future__ import annotations

from math import gcd, prod

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.cost import estimated
from floorflow.backends.finn.cost.estimated import Logic
from floorflow.backends.finn.cost.memory import finn_weight_bram18, ram_luts, rom_luts, uram_blocks
from floorflow.backends.finn.kinds.kind import NOT_MAIN
from floorflow.backends.finn.kinds.simple import Simple, SimpleUnit
from floorflow.backends.finn.kinds.weighted import RAM_STYLES
from floorflow.resources import ZERO, Resources

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
        _check_folds(reader, side)
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


def _check_folds(reader: Reader, side: str) -> None:
    last = reader.sizes(f"{side}_shape")[-1]
    if last != 1 or not _broadcasts(reader):
        reader.share(last, f"the last dimension of {side}_shape", "PE", 1)


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


KINDS = tuple(
    Simple(f"Elementwise{operation}_{side}", _elementwise_binary, "PE", _foldable, versions=NOT_MAIN)
    for side, operations in (("hls", _HLS_OPERATIONS), ("rtl", _RTL_OPERATIONS))
    for operation in operations
)
