"""What every kind of engine must tell: the one interface that the estimates and the options use.

Kinds that only divide one number of channels are a table row each: how PE or SIMD divides, how many cycles a frame
takes, how wide the ports are and what floorflow adds; FINN's estimate of their logic is mostly 0.
"""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Literal, Protocol

from floorflow.backends.finn.attributes import GivenAttributes, Reader
from floorflow.backends.finn.cost.calibrated import coefficients
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.cost.memory import Column, Mask
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import Attributes
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology

CostModel = Literal["finn", "estimated", "calibrated", "samo"]
"""``finn``: what FINN reports. ``estimated``: its structure with holes closed. ``calibrated``: fitted to builds.
``samo``: the estimators of SAMO's fork for engines, and ``estimated`` for what it does not count."""

EVERY_FINN: frozenset[FinnVersion] = frozenset({"main", "dev", "plus"})
ONLY_MAIN: frozenset[FinnVersion] = frozenset({"main"})
NOT_MAIN: frozenset[FinnVersion] = frozenset({"dev", "plus"})
ONLY_PLUS: frozenset[FinnVersion] = frozenset({"plus"})

MAX_STREAM_BITS = 8191
"""Widest stream that FINN's HLS code and FINN+'s checks take (widest ``ap_uint``)."""

Folding = dict[str, int | str]
"""Folding attributes by FINN name: ``PE``, ``SIMD``, ``mem_mode``, ..."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a folding may choose.

    ``model`` "finn" leaves memory and variant attributes as given (else FINN's defaults); the others try all.
    ``free_kinds`` lets an engine be hls where FINN would make it rtl, and the other way, if there is a choice.
    """

    technology: Technology
    model: CostModel = "calibrated"
    allow_runtime_weights: bool = True
    finn: FinnVersion = "main"
    free_kinds: bool = False

    @property
    def styles_are_free(self) -> bool:
        """Whether memory and multiplier styles may be chosen."""
        return self.model != "finn"


class Unit(Protocol):
    """One engine with its folding: cycles, ports and prices."""

    @property
    def cycles(self) -> int:
        """Initiation interval for one frame, FINN's formula."""

    @property
    def input_widths_bits(self) -> tuple[int, ...]:
        """Un-padded stream width of each input port."""

    @property
    def output_widths_bits(self) -> tuple[int, ...]:
        """Un-padded stream width of each output port."""

    @property
    def finn_widths_bits(self) -> tuple[int | None, int | None]:
        """First input's and first output's width as FINN tells them; None where it refuses."""

    def finn_resources(self, technology: Technology) -> Resources:
        """Return FINN's estimate; FINN knows no FF and some kinds cost it nothing."""

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
        """Price it by floorflow's own structure with a model's coefficients; never 0 LUT."""


class OneStream(ABC):
    """A unit of one stream in and one out, whose widths FINN tells as they are."""

    __slots__ = ()

    @property
    @abstractmethod
    def widths_bits(self) -> tuple[int, int]:
        """Un-padded width of the input and of the output."""

    @property
    def input_widths_bits(self) -> tuple[int, ...]:
        return self.widths_bits[:1]

    @property
    def output_widths_bits(self) -> tuple[int, ...]:
        return self.widths_bits[1:]

    @property
    def finn_widths_bits(self) -> tuple[int | None, int | None]:
        return self.widths_bits


@dataclass(frozen=True, slots=True)
class Batch:
    """Foldings that differ in ``sizes`` only (columns by FINN name), and the unit that stands for all of them.

    Numbers of the unit and ``resources`` are columns as well, or integers that all the foldings share; ``legal`` marks
    the foldings that are meant, if not all are. All batches of an engine have the same names of sizes and numbers of
    ports.
    """

    sizes: Mapping[str, Column]
    style: Folding
    unit: Unit
    resources: Resources
    legal: Mask | bool = True

    def __len__(self) -> int:
        return next((column.size for column in self.sizes.values()), 1)


class EngineKind(Protocol):
    """One FINN op type."""

    @property
    def op_type(self) -> str:
        """FINN's op type, ``MVAU_hls``."""

    @property
    def versions(self) -> frozenset[FinnVersion]:
        """The versions of FINN that have it."""

    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> Unit:
        """Read FINN's attributes, folding included; raises InputError for missing or illegal ones."""

    def batches(self, attributes: Attributes, choice: Choice) -> Iterator[Batch]:
        """Yield every folding that divides; stream widths are judged by the caller."""


class FoldsOneByOne(ABC):
    """A kind with so few foldings that it tells them one after another."""

    __slots__ = ()

    @abstractmethod
    def unit(self, attributes: GivenAttributes, finn: FinnVersion = "main") -> Unit: ...

    @abstractmethod
    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        """Yield every folding that divides."""

    def batches(self, attributes: Attributes, choice: Choice) -> Iterator[Batch]:
        for folding in self.foldings(attributes, choice):
            unit = self.unit({**attributes, **folding}, choice.finn)
            yield Batch({}, folding, unit, priced(unit, choice.technology, choice.model))


def priced(unit: Unit, technology: Technology, model: CostModel) -> Resources:
    """Price a unit by a model."""
    if model == "finn":
        return unit.finn_resources(technology)
    return unit.own_resources(technology, coefficients(model))


def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a positive number, ascending."""
    small = [candidate for candidate in range(1, isqrt(number) + 1) if number % candidate == 0]
    return *small, *(number // divisor for divisor in reversed(small) if divisor**2 < number)


class Priced(Protocol):
    """What has a price by floorflow's own models, the same on every family."""

    def priced(self, prices: Coefficients) -> Resources:
        """Return the price by a model's coefficients."""


@dataclass(frozen=True, slots=True)
class SimpleUnit:
    """One engine whose numbers were all read at once; ``finn`` is FINN's price, ``own`` what floorflow prices.

    ``told_bits``: the widths that FINN tells where they are not those of the first ports.
    """

    cycles: int
    input_widths_bits: tuple[int, ...]
    output_widths_bits: tuple[int, ...]
    own: Priced
    finn: Resources = ZERO
    told_bits: tuple[int | None, int | None] | None = None

    @property
    def finn_widths_bits(self) -> tuple[int | None, int | None]:
        return self.told_bits or (self.input_widths_bits[0], self.output_widths_bits[0])

    def finn_resources(self, technology: Technology) -> Resources:
        return self.finn

    def own_resources(self, technology: Technology, prices: Coefficients = ESTIMATED) -> Resources:
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
        return self.read(Reader(self.op_type, attributes, finn))

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        reader = Reader(self.op_type, attributes, choice.finn)
        if not self.parameter or (self.folds_if is not None and not self.folds_if(reader)):
            yield {}
            return
        whole = reader.positive(self.whole) if isinstance(self.whole, str) else self.whole(reader)
        for value in divisors(whole):
            yield {self.parameter: value}
