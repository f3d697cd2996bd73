"""The five FPGA resources that every stage counts, as one value with arithmetic.

Names and units everywhere in floorflow: ``LUT``, ``FF``, ``BRAM18`` (18 Kb blocks; a RAMB36 is two), ``URAM``
(URAM288 blocks) and ``DSP`` (DSP48 slices).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

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
