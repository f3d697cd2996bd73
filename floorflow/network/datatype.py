"""Datatypes of tensor elements, under QONNX's names: ``INT4``, ``UINT8``, ``BIPOLAR``, ``TERNARY``, ``FLOAT32``."""

import re
from dataclasses import dataclass

_SIZED = re.compile(r"(U?)INT([1-9][0-9]{0,3})")


@dataclass(frozen=True, slots=True)
class DataType:
    """A datatype: name, width in bits and the smallest and largest value that occurs.

    Two types of one name differ if one is narrow: a narrow ``INT4`` has ``min`` -7.
    """

    name: str
    bits: int
    signed: bool
    min: int
    max: int

    @property
    def is_integer(self) -> bool:
        """Whether the elements are integers, that is quantised."""
        return self.name != "FLOAT32"

    @property
    def steps(self) -> int:
        """Number of thresholds that tell the values apart; 1 for a one-bit type."""
        return 1 if self.bits == 1 else self.max - self.min


BIPOLAR = DataType("BIPOLAR", 1, signed=True, min=-1, max=1)
BINARY = DataType("BINARY", 1, signed=False, min=0, max=1)
TERNARY = DataType("TERNARY", 2, signed=True, min=-1, max=1)
FLOAT32 = DataType("FLOAT32", 32, signed=True, min=-(2**128 - 2**104), max=2**128 - 2**104)
"""Not quantised; the limits are those of finite single precision."""


def integer(bits: int, *, signed: bool, narrow: bool = False) -> DataType:
    """Return ``INT<bits>`` or ``UINT<bits>``; one bit is BIPOLAR or BINARY, as QONNX reads it.

    ``narrow`` leaves out one end of the range: the most negative value, or the largest of an unsigned type.
    """
    if bits == 1:
        return BIPOLAR if signed else BINARY
    if signed:
        half = 2 ** (bits - 1)
        return DataType(f"INT{bits}", bits, signed, 1 - half if narrow else -half, half - 1)
    return DataType(f"UINT{bits}", bits, signed, 0, 2**bits - (2 if narrow else 1))


def smallest(low: int, high: int) -> DataType:
    """Return the smallest integer type, in full range, that holds ``low`` to ``high``."""
    if low >= 0:
        return integer(max(high.bit_length(), 1), signed=False)
    return integer(max((-low - 1).bit_length(), max(high, 0).bit_length(), 1) + 1, signed=True)


def named(name: str) -> DataType:
    """Return the type of that QONNX name.

    ValueError if the name is none of ``INT<n>``, ``UINT<n>``, BIPOLAR, BINARY, TERNARY, FLOAT32.
    """
    for known in (BIPOLAR, BINARY, TERNARY, FLOAT32):
        if name == known.name:
            return known
    match = _SIZED.fullmatch(name)
    if match is None:
        raise ValueError(f"'{name}' is no datatype; expected INT<n>, UINT<n>, BIPOLAR, BINARY, TERNARY or FLOAT32")
    return integer(int(match[2]), signed=not match[1])
