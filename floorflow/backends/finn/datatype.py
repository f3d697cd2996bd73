"""FINN's type names: how many bits an element has, whether it is signed, and its least and greatest value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from floorflow.errors import InputError


@dataclass(frozen=True, slots=True)
class _Type:
    bits: int
    least: int
    greatest: int

    @property
    def signed(self) -> bool:
        return self.least < 0


_SPECIAL = {"BIPOLAR": _Type(1, -1, 1), "BINARY": _Type(1, 0, 1), "TERNARY": _Type(2, -1, 1)}
_INTEGER = re.compile(r"(U?)INT([1-9]\d{0,3})")
_REAL = re.compile(r"FLOAT(?P<float>16|32)|SCALEDINT<(?P<scaled>[1-9]\d{0,3})>|FIXED<(?P<fixed>[1-9]\d{0,3}),\d+>")
"""Real types have bits and a sign only; they pass through kinds that FINN builds for them (ElementwiseMul, ...)."""


def _integer(bits: int, *, signed: bool) -> _Type:
    return _Type(bits, -(1 << bits - 1), (1 << bits - 1) - 1) if signed else _Type(bits, 0, (1 << bits) - 1)


@cache
def _parse(name: str) -> _Type:
    if name in _SPECIAL:
        return _SPECIAL[name]
    match = _INTEGER.fullmatch(name)
    if match is not None:
        return _integer(int(match[2]), signed=not match[1])
    real = _REAL.fullmatch(name)
    if real is not None:
        return _integer(int(real["float"] or real["scaled"] or real["fixed"]), signed=True)
    raise InputError(
        f"data type '{name}' is unknown; expected INT<n>, UINT<n>, BIPOLAR, BINARY, TERNARY or FLOAT32",
        hint="use FINN's name of the type",
    )


def is_known(name: str) -> bool:
    """Whether a name is that of a FINN type."""
    return name in _SPECIAL or bool(_INTEGER.fullmatch(name) or _REAL.fullmatch(name))


def bits_of(name: str) -> int:
    """Return the bits of one element of a FINN type.

    Raises
    ------
    InputError
        If the name is not a type.

    """
    return _parse(name).bits


def is_signed(name: str) -> bool:
    """Whether the type has negative values."""
    return _parse(name).signed


def is_real(name: str) -> bool:
    """Whether the type is one of real numbers, which only few kinds compute with."""
    return _REAL.fullmatch(name) is not None


def has_zero(name: str) -> bool:
    """Whether zero is a value of the type, which padding needs."""
    return name != "BIPOLAR"


def bounds(name: str) -> tuple[int, int]:
    """Return the least and the greatest value.

    Raises
    ------
    InputError
        If the type is not one of integers: FINN knows no type that holds sums of others.

    """
    parsed = _parse(name)
    if is_real(name):
        raise InputError(f"data type '{name}' is real, expected one of integers, whose sums FINN can type")
    return parsed.least, parsed.greatest


def extreme_value(name: str) -> int:
    """Return the value of largest magnitude: the least of a signed type, the greatest of an unsigned one."""
    least, greatest = bounds(name)
    return least if is_signed(name) else greatest


def bits_to_hold(value: int) -> int:
    """Return the bits of FINN's smallest type that holds one value (`get_smallest_possible`)."""
    if value >= 0:
        return max(1, value.bit_length())
    return 1 if value == -1 else (-value - 1).bit_length() + 1
