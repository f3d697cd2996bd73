"""Typed access to FINN's attributes, with FINN's defaults; errors name engine kind and attribute."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from floorflow.backends.finn.datatype import bits_of
from floorflow.dataflow.model import Attributes
from floorflow.errors import InputError


@dataclass(frozen=True, slots=True)
class Reader:
    """The attributes of one engine of kind ``op_type``; a default of None means that the attribute is needed."""

    op_type: str
    attributes: Attributes

    def has(self, name: str) -> bool:
        """Whether the attribute is given."""
        return name in self.attributes

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an integer attribute; a sequence of one integer counts as that integer."""
        value = self.attributes.get(name, default)
        if isinstance(value, tuple | list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, int):
            raise self._wrong(name, "an integer")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string attribute."""
        value = self.attributes.get(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a string")
        return value

    def bits(self, name: str, default: str | None = None) -> int:
        """Return the bits of the data type that the attribute names."""
        return bits_of(self.text(name, default))

    def sizes(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Return a list of integers; one integer counts as a list of one."""
        value = self.attributes.get(name, default)
        if isinstance(value, int):
            return (value,)
        if not isinstance(value, tuple | list) or not value or not all(isinstance(item, int) for item in value):
            raise self._wrong(name, "a list of integers")
        return tuple(value)

    def pair(self, name: str, default: tuple[int, int] | None = None) -> tuple[int, int]:
        """Return two integers, height and width; one integer stands for both."""
        value = self.sizes(name, default)
        if len(value) > 2:
            raise self._wrong(name, "two integers")
        return value[0], value[-1]

    def pixels(self, name: str = "numInputVectors") -> int:
        """Product of ``numInputVectors``: how often a frame uses the engine."""
        return prod(self.sizes(name, (1,)))

    def _wrong(self, name: str, expected: str) -> InputError:
        found = repr(self.attributes[name]) if name in self.attributes else "missing"
        return InputError(f"attribute {name} of {self.op_type} is {found}, expected {expected}")
