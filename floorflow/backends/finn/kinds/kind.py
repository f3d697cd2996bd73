"""What every kind of engine must tell: the one interface that the estimates and the options use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from floorflow.dataflow.model import Attributes
from floorflow.resources import Resources
from floorflow.technology import Technology

CostModel = Literal["finn", "estimated"]
"""``finn``: what FINN main reports. ``estimated``: FINN's structure with its holes closed."""

MAX_STREAM_BITS = 8191
"""Widest stream that FINN's HLS code and FINN+'s checks take (widest ``ap_uint``)."""

Folding = dict[str, int | str]
"""Folding attributes by FINN name: ``PE``, ``SIMD``, ``mem_mode``, ..."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a folding may choose.

    ``model`` "finn" leaves memory and variant attributes as given (else FINN's defaults); "estimated" tries all.
    """

    technology: Technology
    model: CostModel = "estimated"
    allow_runtime_weights: bool = True

    @property
    def styles_are_free(self) -> bool:
        """Whether memory and multiplier styles may be chosen."""
        return self.model == "estimated"


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

    def finn_resources(self, technology: Technology) -> Resources:
        """Return FINN main's estimate; FINN knows no FF and some kinds cost it nothing."""

    def own_resources(self, technology: Technology) -> Resources:
        """Price it by floorflow's ``estimated`` model; never 0 LUT."""


class EngineKind(Protocol):
    """One FINN op type."""

    @property
    def op_type(self) -> str:
        """FINN's op type, ``MVAU_hls``."""

    def unit(self, attributes: Attributes) -> Unit:
        """Read FINN's attributes, folding included; raises InputError for missing or ill-typed ones."""

    def foldings(self, attributes: Attributes, choice: Choice) -> Iterator[Folding]:
        """Yield every folding that divides; stream widths are judged by the caller."""


def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a positive number, ascending."""
    return tuple(candidate for candidate in range(1, number + 1) if number % candidate == 0)
