"""FINN's type names: how many bits an element has and whether it is signed."""

from __future__ import annotations

import re
from functools import cache

from floorflow.errors import InputError

_SPECIAL = {"BIPOLAR": (1, True), "BINARY": (1, False), "TERNARY": (2, True)}
_INTEGER = re.compile(r"(U?)INT([1-9]\d?)")


@cache
def _parse(name: str) -> tuple[int, bool]:
    if name in _SPECIAL:
        return _SPECIAL[name]
    match = _INTEGER.fullmatch(name)
    if match is None:
        raise InputError(
            f"data type '{name}' is unknown; expected INT<n>, UINT<n>, BIPOLAR, BINARY or TERNARY",
            hint="quantise this tensor: FINN's engines take integers only",
        )
    return int(match[2]), match[1] == ""


def bits_of(name: str) -> int:
    """Return the bits of one element of a FINN type.

    Raises
    ------
    InputError
        If the name is not an integer type.

    """
    return _parse(name)[0]


def is_signed(name: str) -> bool:
    """Whether the type has negative values."""
    return _parse(name)[1]


def extreme_value(name: str) -> int:
    """Return the value of largest magnitude: the least of a signed type, the greatest of an unsigned one."""
    bits, signed = _parse(name)
    if not signed:
        return (1 << bits) - 1
    return -1 if name in _SPECIAL else -(1 << bits - 1)


def bits_to_hold(value: int) -> int:
    """Return the bits of FINN's smallest type that holds one value (`get_smallest_possible`)."""
    if value >= 0:
        return max(1, value.bit_length())
    return 1 if value == -1 else (-value - 1).bit_length() + 1
