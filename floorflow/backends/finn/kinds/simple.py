"""Kinds that only divide one number of channels: one table row each, FINN's estimate of logic mostly 0.

A row says how PE or SIMD divides, how many cycles a frame takes, how wide the ports are and what floorflow adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients, Logic
from floorflow.backends.finn.kinds.kind import EVERY_FINN, Choice, Folding, FoldsOneByOne, divisors
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology


@dataclass(frozen=True, slots=True)
class SimpleUnit:
    """One engine whose numbers were all read at once; ``finn`` is FINN's price, ``own`` what floorflow prices.

    ``told_bits``: the widths that FINN tells where they are not those of the first ports.
    """

    cycles: int
    input_widths_bits: tuple[int, ...]
    output_widths_bits: tuple[int, ...]
    own: Logic
    finn: Resources = ZERO
    told_bits: tuple[int | None, int | None] | None = None

    @property
    def finn_widths_bits(self) -> tuple[int | None, int | None]:
        """First input's and first output's width as FINN tells them."""
        return self.told_bits or (self.input_widths_bits[0], self.output_widths_bits[0])

    def finn_resources(self, technology: Technology) -> Resources:  # noqa: ARG002 - the same on every family
        """Return FINN's estimate."""
        return self.finn

    def own_resources(
        self,
        technology: Technology,  # noqa: ARG002 - the same on every family
        prices: Coefficients = ESTIMATED,
    ) -> Resources:
        """Price it by one of floorflow's own models."""
        return self.own.priced(prices)


@dataclass(frozen=True, slots=True)
class Simple(FoldsOneByOne):
    """A kind with at most one folding attribute ``parameter`` that divides ``whole``: an attribute, or computed."""

    op_type: str
    read: Callable[[Reader], SimpleUnit]
    parameter: str = ""
    whole: str | Callable[[Reader], int] = ""
    folds_if: Callable[[Reader], bool] | None = None
    versions: frozenset[FinnVersion] = EVERY_FINN

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> SimpleUnit:
        """Read one engine."""
        return self.read(Reader(self.op_type, attributes, finn))

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        """Yield every divisor, or the one way that a kind without folding has."""
        reader = Reader(self.op_type, attributes, choice.finn)
        if not self.parameter or (self.folds_if is not None and not self.folds_if(reader)):
            yield {}
            return
        whole = reader.positive(self.whole) if isinstance(self.whole, str) else self.whole(reader)
        for value in divisors(whole):
            yield {self.parameter: value}
