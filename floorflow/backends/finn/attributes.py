"""FINN's attributes, typed and with its defaults, and its type names; errors name engine kind and attribute."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod

from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import AttributeValue
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

    Raises InputError if the name is not a type.
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

    Raises InputError if the type is not one of integers: FINN knows no type that holds sums of others.
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


GivenAttributes = Mapping[str, AttributeValue | tuple[str, ...]]
"""Attributes as FINN has them; only StreamingConcat has a list of names, its types."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The attributes of one engine of kind ``op_type``; a default of None means that the attribute is needed.

    Every method raises InputError for an attribute that is missing, ill-typed or not allowed.
    """

    op_type: str
    attributes: GivenAttributes
    finn: FinnVersion = "main"

    @property
    def is_hls(self) -> bool:
        """Whether the unit is written in HLS, not RTL."""
        return self.op_type.endswith("_hls")

    def has(self, name: str) -> bool:
        """Whether the attribute is given."""
        return name in self.attributes

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an integer attribute; a sequence of one integer counts as that integer."""
        value = self.attributes.get(name, default)
        if isinstance(value, tuple | list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, int):
            raise self.wrong(name, "an integer")
        return value

    def positive(self, name: str, default: int | None = None) -> int:
        """Return an integer attribute of 1 or more."""
        value = self.integer(name, default)
        if value < 1:
            raise self.wrong(name, "an integer of 1 or more")
        return value

    def flag(self, name: str) -> bool:
        """Return an attribute that is 0 (the default) or 1."""
        value = self.integer(name, 0)
        if value not in {0, 1}:
            raise self.wrong(name, "0 or 1")
        return value == 1

    def folds(self, whole: str, by: str, default: int | None = None) -> int:
        """Return the quotient of two attributes: how often ``by`` parallel units share ``whole``."""
        return self.share(self.positive(whole), whole, by, default)

    def share(self, amount: int, what: str, by: str, default: int | None = None) -> int:
        """Return an amount, called ``what`` in errors, over the attribute ``by``, which must divide it."""
        quotient, rest = divmod(amount, self.positive(by, default))
        if rest:
            raise self.wrong(by, f"a divisor of {what}, which is {amount}")
        return quotient

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string attribute."""
        value = self.attributes.get(name, default)
        if not isinstance(value, str):
            raise self.wrong(name, "a string")
        return value

    def one_of(self, name: str, allowed: Collection[str], default: str | None = None) -> str:
        """Return a string attribute out of those that FINN allows."""
        value = self.text(name, default)
        if value not in allowed:
            raise self.wrong(name, f"one of {', '.join(allowed)}")
        return value

    def bits(self, name: str, default: str | None = None) -> int:
        """Return the bits of the data type that the attribute names."""
        return bits_of(self.text(name, default))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings."""
        value = self.attributes.get(name)
        if not isinstance(value, tuple | list) or not value:
            raise self.wrong(name, "a list of strings")
        texts = tuple(item for item in value if isinstance(item, str))
        if len(texts) < len(value):
            raise self.wrong(name, "a list of strings")
        return texts

    def sizes(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Return a list of integers, none negative; one integer counts as a list of one."""
        value = self.attributes.get(name, default)
        if isinstance(value, int):
            value = (value,)
        if not isinstance(value, tuple | list) or not value:
            raise self.wrong(name, "a list of integers")
        sizes = tuple(item for item in value if isinstance(item, int) and item >= 0)
        if len(sizes) < len(value):
            raise self.wrong(name, "a list of integers, none negative")
        return sizes

    def pair(self, name: str, default: tuple[int, int] | None = None) -> tuple[int, int]:
        """Return two integers, height and width; one integer stands for both."""
        value = self.sizes(name, default)
        if len(value) > 2 or min(value) < 1:
            raise self.wrong(name, "two integers of 1 or more")
        return value[0], value[-1]

    def pixels(self, name: str = "numInputVectors") -> int:
        """Product of ``numInputVectors``: how often a frame uses the engine."""
        return prod(self.sizes(name, (1,)))

    def wrong(self, name: str, expected: str) -> InputError:
        """Return the error for an attribute that is not what was expected."""
        value = repr(self.attributes[name]) if name in self.attributes else "missing"
        return InputError(f"attribute {name} of {self.op_type} is {value}, expected {expected}")
