"""The five FPGA resources that every stage counts, as one value with arithmetic, and shares of them.

Names and units everywhere in floorflow: ``LUT``, ``FF``, ``BRAM18`` (18 Kb blocks; a RAMB36 is two), ``URAM``
(URAM288 blocks) and ``DSP`` (DSP48 slices).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import floor
from typing import Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

MOST_TOLD = 0.98
"""No likelihood is told above it unless nothing can turn out otherwise: bands are held against 70 stages of real builds
(benchmarks/pblocks.py), and of 70 that all hold nobody can say more than that 70 of the next 71 do."""

RESOURCE_NAMES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
"""Order of the five resources in every array and file."""


@dataclass(frozen=True, slots=True)
class Resources:
    """An amount of each resource, in units of that resource."""

    lut: int = 0
    ff: int = 0
    bram18: int = 0
    uram: int = 0
    dsp: int = 0

    def __add__(self, other: Self) -> Resources:
        return Resources(
            self.lut + other.lut,
            self.ff + other.ff,
            self.bram18 + other.bram18,
            self.uram + other.uram,
            self.dsp + other.dsp,
        )

    def __sub__(self, other: Self) -> Resources:
        return Resources(*(a - b for a, b in zip(self.as_tuple(), other.as_tuple(), strict=True)))

    def times(self, count: int) -> Resources:
        """Return so many of it."""
        return Resources(*(amount * count for amount in self.as_tuple()))

    def fits(self, limit: Self) -> bool:
        """Whether no resource exceeds ``limit``."""
        return (
            self.lut <= limit.lut
            and self.ff <= limit.ff
            and self.bram18 <= limit.bram18
            and self.uram <= limit.uram
            and self.dsp <= limit.dsp
        )

    def least(self, other: Self) -> Resources:
        """Return the smaller amount of each resource."""
        return Resources(*(min(a, b) for a, b in zip(self.as_tuple(), other.as_tuple(), strict=True)))

    def most(self, other: Self) -> Resources:
        """Return the larger amount of each resource."""
        return Resources(*(max(a, b) for a, b in zip(self.as_tuple(), other.as_tuple(), strict=True)))

    def as_tuple(self) -> tuple[int, int, int, int, int]:
        """Return the amounts in the order of `RESOURCE_NAMES`."""
        return self.lut, self.ff, self.bram18, self.uram, self.dsp

    def as_dict(self) -> dict[str, int]:
        """Return ``{"LUT": ..., "FF": ..., ...}`` as plan.json holds it."""
        return dict(zip(RESOURCE_NAMES, self.as_tuple(), strict=True))

    @classmethod
    def from_dict(cls, amounts: Mapping[str, int]) -> Resources:
        """Read ``{"LUT": ...}``; names that are left out are 0, unknown names raise KeyError."""
        unknown = set(amounts) - set(RESOURCE_NAMES)
        if unknown:
            raise KeyError(f"unknown resource {sorted(unknown)}; expected {RESOURCE_NAMES}")
        return cls(*(int(amounts.get(name, 0)) for name in RESOURCE_NAMES))


ZERO = Resources()


def total(amounts: Iterable[Resources]) -> Resources:
    """Add up any number of amounts."""
    result = ZERO
    for amount in amounts:
        result = result + amount
    return result


def shortfall(demand: Resources, limit: Resources) -> dict[str, int]:
    """Return by how much each resource exceeds its limit; resources that fit are left out."""
    return {
        name: need - have
        for name, need, have in zip(RESOURCE_NAMES, demand.as_tuple(), limit.as_tuple(), strict=True)
        if need > have
    }


def scarcity(use: Resources, silicon: Resources) -> float:
    """Sum of LUT, BRAM18, URAM and DSP over the platform's raw totals; resources the part lacks are left out."""
    pairs = ((use.lut, silicon.lut), (use.bram18, silicon.bram18), (use.uram, silicon.uram), (use.dsp, silicon.dsp))
    return sum(used / have for used, have in pairs if have)


def largest_share(demand: Resources, limit: Resources) -> float:
    """Largest demand over limit of any resource; infinite if a resource is needed that the limit lacks."""
    shares = [0.0]
    for need, have in zip(demand.as_tuple(), limit.as_tuple(), strict=True):
        if need:
            shares.append(need / have if have else float("inf"))
    return max(shares)


class Fractions(BaseModel):
    """A fraction of each resource, above 0 and up to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    LUT: float = Field(gt=0, le=1)
    FF: float = Field(gt=0, le=1)
    BRAM18: float = Field(gt=0, le=1)
    URAM: float = Field(gt=0, le=1)
    DSP: float = Field(gt=0, le=1)

    def as_dict(self) -> dict[str, float]:
        """Return the fractions by resource."""
        return {name: getattr(self, name) for name in RESOURCE_NAMES}


class SomeFractions(BaseModel):
    """A fraction of some resources, above 0 and up to 1; None for the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    LUT: float | None = Field(default=None, gt=0, le=1)
    FF: float | None = Field(default=None, gt=0, le=1)
    BRAM18: float | None = Field(default=None, gt=0, le=1)
    URAM: float | None = Field(default=None, gt=0, le=1)
    DSP: float | None = Field(default=None, gt=0, le=1)

    def as_dict(self) -> dict[str, float]:
        """Return the fractions that there are, by resource."""
        return {name: share for name in RESOURCE_NAMES if (share := getattr(self, name)) is not None}

    def over(self, defaults: Mapping[str, float]) -> dict[str, float]:
        """Return a fraction of every resource: those that there are, and defaults for the others."""
        return {**defaults, **self.as_dict()}


def listed(fractions: Mapping[str, float]) -> str:
    """Return ``LUT 0.7, FF 0.5, ...``."""
    return ", ".join(f"{name} {share:g}" for name, share in fractions.items())


NONE = "none"
"""The word that lifts a limit."""


Defaults = Callable[[Mapping[str, Any]], Mapping[str, float]]
"""From the fields that were read before to the fractions that stand behind those which are given."""


def fractions_over(defaults: Defaults, option: str, *, may_be_lifted: bool = False) -> BeforeValidator:
    """Let some fractions stand for all: what a mapping, or a list of ``LUT=0.75``, leaves out is as in ``defaults``.

    ``may_be_lifted``: ``none`` stands for the whole of every resource.
    """

    def complete(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, Fractions):
            return value
        if may_be_lifted and value in (None, NONE, [NONE], (NONE,)):
            return Fractions(**dict.fromkeys(RESOURCE_NAMES, 1.0))
        pairs = value.items() if isinstance(value, Mapping) else _settings(value, option)
        return Fractions(**{**defaults(info.data), **{name: _fraction(name, share, option) for name, share in pairs}})

    return BeforeValidator(complete)


def some_fractions(defaults: Defaults, option: str) -> BeforeValidator:
    """Read fractions of some resources from a mapping, or from a list of ``LUT=0.75``, over those of ``defaults``."""

    def read(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, SomeFractions | Fractions):
            return SomeFractions(**value.as_dict())
        pairs = value.items() if isinstance(value, Mapping) else _settings(value, option)
        # plan.json names all five, those without a fraction as null: nothing stands behind these.
        given = {name: None if share is None else _fraction(name, share, option) for name, share in pairs}
        return SomeFractions(**{**defaults(info.data), **given})

    return BeforeValidator(read)


def _settings(value: object, option: str) -> Iterable[tuple[str, object]]:
    """Yield name and value of ``LUT=0.75`` settings, of which none may be given twice."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        # Pydantic tells only of values.
        raise ValueError(  # noqa: TRY004
            f"{option} {value}: expected a fraction for each of some resources, such as LUT=0.75"
        )
    given: dict[str, str] = {}
    for setting in map(str, value):
        name, _, share = setting.partition("=")
        if name in given:
            raise ValueError(f"{option} {setting}: {name} is given twice, before as {given[name]}")
        given[name] = setting
        yield name, share


def _fraction(name: str, value: Any, option: str) -> float:
    setting = f"{option} {name}={value}"
    if name not in RESOURCE_NAMES:
        raise ValueError(f"{setting}: unknown resource {name!r}, expected one of {', '.join(RESOURCE_NAMES)}")
    try:
        fraction = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        fraction = -1.0
    if not 0 < fraction <= 1:
        raise ValueError(f"{setting}: expected a fraction above 0 and up to 1, such as {name}=0.75")
    return fraction


ROUNDING = 1e-9
"""Added before a limit is rounded down, so that 0.7 x 10 is 7."""


def scaled_down(amount: Resources, fractions: Mapping[str, float]) -> Resources:
    """Return floor(fraction x amount) of each resource."""
    return Resources(
        *(floor(fractions[n] * have + ROUNDING) for n, have in zip(RESOURCE_NAMES, amount.as_tuple(), strict=True))
    )
