"""Kinds that only divide one number of channels: one table row each, FINN's estimate of logic mostly 0.

A row says how PE or SIMD divides, how many cycles a frame takes, how wide the ports are and what floorflow adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.kinds.kind import Choice, Folding, divisors
from floorflow.dataflow.model import Attributes
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology


@dataclass(frozen=True, slots=True)
class SimpleUnit:
    """One engine whose numbers were all read at once; ``finn`` and ``own`` are the two prices."""

    cycles: int
    input_widths_bits: tuple[int, ...]
    output_widths_bits: tuple[int, ...]
    own: Resources
    finn: Resources = ZERO

    def finn_resources(self, technology: Technology) -> Resources:  # noqa: ARG002 - the same on every family
        """Return FINN main's estimate."""
        return self.finn

    def own_resources(self, technology: Technology) -> Resources:  # noqa: ARG002 - the same on every family
        """Price it by floorflow's ``estimated`` model."""
        return self.own


@dataclass(frozen=True, slots=True)
class Simple:
    """A kind with at most one folding attribute ``parameter`` that divides ``whole``: an attribute, or computed."""

    op_type: str
    read: Callable[[Reader], SimpleUnit]
    parameter: str = ""
    whole: str | Callable[[Reader], int] = ""
    folds_if: Callable[[Reader], bool] | None = None

    def unit(self, attributes: Attributes) -> SimpleUnit:
        """Read one engine."""
        return self.read(Reader(self.op_type, attributes))

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:  # noqa: ARG002 - no styles
        """Yield every divisor, or the one way that a kind without folding has."""
        reader = Reader(self.op_type, attributes)
        if not self.parameter or (self.folds_if is not None and not self.folds_if(reader)):
            yield {}
            return
        whole = reader.integer(self.whole) if isinstance(self.whole, str) else self.whole(reader)
        for value in divisors(whole):
            yield {self.parameter: value}
