"""Power: an estimate of what each card draws, by what lies on it and its clock, beside what its board may draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from floorflow.facts.phase import PhaseEntry
from floorflow.facts.platform import FpgaEntry, PlatformEntry
from floorflow.facts.text import wrapped
from floorflow.facts.values import PlanModel
from floorflow.resources import Resources, total
from floorflow.technology import Architecture, technology_of

BAND = 1.5
"""Low and high are so many times below and above likely: 46 published ones lie within (benchmarks/POWER.md)."""


class PowerFigures(PlanModel):
    """Nanowatts: for each LUT of the die what leaks at 25 to 40 C, for each resource in use what a MHz takes."""

    leakage_nw_per_lut: float
    dynamic_nw_per_mhz: dict[str, float]


_DYNAMIC = {"LUT": 6.0, "FF": 28.0, "BRAM18": 11_000.0, "URAM": 44_000.0, "DSP": 1_100.0}
_ULTRASCALE = PowerFigures(leakage_nw_per_lut=2_550, dynamic_nw_per_mhz=_DYNAMIC)
_SEVEN = PowerFigures(leakage_nw_per_lut=1_000, dynamic_nw_per_mhz={name: 2 * nw for name, nw in _DYNAMIC.items()})
FIGURES: Mapping[Architecture, PowerFigures] = {"7series": _SEVEN, "ultrascale+": _ULTRASCALE, "versal": _ULTRASCALE}
"""Fitted to the builds of benchmarks/data/power.json, all of UltraScale+, and rounded; with wires and clock trees.

Assumed: a URAM as four BRAM18; in use 7 series twice as much as UltraScale+, at 1.0 V in 28 nm; Versal as much.
"""


class CardPower(PlanModel):
    """Watts of a card: ``static_w`` leaks and is the board's own, ``dynamic_w`` is of what the plan puts there."""

    fpga: str
    static_w: float
    dynamic_w: float
    low_w: float
    likely_w: float
    high_w: float


class PowerAssumptions(PlanModel):
    """By what watts are worked out: the clock, the band of low and high, and the figures of each family of parts."""

    clock_mhz: float
    band: float
    families: dict[str, PowerFigures]


class PowerEntry(PlanModel):
    """Watts of each card, and of all; ``times``: so many times the cards are needed, for copies of the network."""

    cards: list[CardPower] = Field(min_length=1)
    times: int
    low_w: float
    likely_w: float
    high_w: float
    assumptions: PowerAssumptions


def power_of(platform: PlatformEntry, phases: Sequence[PhaseEntry], clock_mhz: float, times: int = 1) -> PowerEntry:
    """Return what a plan draws, when its engines work all the time."""
    cards = [_card(fpga, platform, phases, clock_mhz) for fpga in platform.fpgas]
    families = {technology_of(fpga.part).architecture for fpga in platform.fpgas}
    likely = times * sum(card.likely_w for card in cards)
    figures: dict[str, PowerFigures] = {family: FIGURES[family] for family in families}
    assumptions = PowerAssumptions(clock_mhz=clock_mhz, band=BAND, families=figures)
    return PowerEntry(cards=cards, times=times, **_in_band(likely), assumptions=assumptions)


def _card(fpga: FpgaEntry, platform: PlatformEntry, phases: Sequence[PhaseEntry], clock_mhz: float) -> CardPower:
    figures, slots = FIGURES[technology_of(fpga.part).architecture], {slot.name for slot in fpga.slots}
    leakage = figures.leakage_nw_per_lut * sum(slot.capacity.LUT for slot in fpga.slots) / 1e9
    beside = total(item.resources.resources for item in platform.infrastructure if item.slot in slots)

    def watts(use: Resources) -> float:
        by_name = figures.dynamic_nw_per_mhz
        return clock_mhz * sum(by_name[name] * amount for name, amount in use.as_dict().items()) / 1e9

    regions: dict[str | None, float] = defaultdict(float)  # of what follows one another in a region: the most
    for phase in phases:
        own = watts(total(phase.demand(slot) + phase.beside(slot) for slot in slots))
        regions[phase.region] = max(regions[phase.region], own)
    static, dynamic = leakage + (fpga.power_base_w or 0.0), watts(beside) + sum(regions.values())
    return CardPower(fpga=fpga.name, static_w=static, dynamic_w=dynamic, **_in_band(static + dynamic))


def _in_band(likely: float) -> dict[str, float]:
    return {"low_w": likely / BAND, "likely_w": likely, "high_w": likely * BAND}


def power_warnings(power: PowerEntry, fpgas: Sequence[FpgaEntry]) -> Iterator[str]:
    """Yield a sentence for each card that is more likely than not to draw more than its board may."""
    for card, fpga in zip(power.cards, fpgas, strict=True):
        limit = fpga.power_limit_w
        if limit is not None and card.likely_w > limit:
            yield (
                f"power: {card.fpga} is likely to draw {card.likely_w:.3g} W, {fpga.board} may draw {limit:g} W: "
                "a lower --clock-mhz, less rate or more cards take less"
            )


def power_lines(power: PowerEntry, fpgas: Sequence[FpgaEntry]) -> list[str]:
    """Return a line for each card, one for all where they are several, and what the figures are."""
    lines = [_line(card, fpga) for card, fpga in zip(power.cards, fpgas, strict=True)]
    if len(lines) * power.times > 1:
        lines.append(f"all cards  {_watts(power)}" + (f", {power.times} times these" if power.times > 1 else ""))
    told = (
        f"estimated by resources at {power.assumptions.clock_mhz:g} MHz, of engines that work all the time on a die at "
        "25 to 40 C: enough to plan supply and cooling by; report_power and a meter know better"
    )
    silent = sorted({fpga.board for fpga in fpgas if fpga.power_base_w is None})
    without = [f"the file of {board} has no power, so what it draws beside the chip is left out" for board in silent]
    return [*lines, *wrapped([told, *without])]


def _line(card: CardPower, fpga: FpgaEntry) -> str:
    limit = "" if fpga.power_limit_w is None else f"; {fpga.board} may draw {fpga.power_limit_w:g} W"
    alone = ", the chip alone" if fpga.power_base_w is None else ""
    parts = f"{card.static_w:.3g} W at rest, {card.dynamic_w:.3g} W of the plan"
    return f"{card.fpga:<10} {_watts(card)}{alone}: {parts}{limit}"


def _watts(told: CardPower | PowerEntry) -> str:
    return f"{told.likely_w:.3g} W likely, between {told.low_w:.3g} and {told.high_w:.3g} W"
