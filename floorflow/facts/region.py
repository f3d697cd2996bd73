"""Parts of a device that are loaded while the rest runs: where they lie, what is loaded, and what stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from floorflow.facts.platform import SlotEntry
from floorflow.facts.values import Amount, Amounts, PlainName, PlanModel, RectangleEntry, Stats


class RegionEntry(PlanModel):
    """A reconfigurable region of an FPGA, and the pblock that makes it one.

    ``rectangle`` is of whole interconnect pairs and clock regions; ``owned`` are disjoint rectangles of what belongs to
    it, in which all that is loaded lies, and ``ranges`` name their sites. ``need`` is the most of each resource that a
    phase in it needs. ``frames`` and ``bitstream_bytes`` are loaded at most, in ``load_us``; ``assumed``: frames of the
    family are not documented.
    """

    name: PlainName
    fpga: str
    slot: str
    cell: str
    rectangle: RectangleEntry
    owned: Annotated[list[RectangleEntry], Field(min_length=1)]
    ranges: list[str]
    need: Amounts
    supply: Amounts
    frames: Amount
    bitstream_bytes: Amount
    load_us: float
    assumed: bool
    snapping_mode: Literal["ON", "ROUTING"]
    reset_after_reconfig: bool


class StaticPartEntry(PlanModel):
    """Logic that stays while regions are loaded."""

    name: str
    resources: Amounts


class ReconfigurableEntry(PlanModel):
    """The regions of a device and what lies outside of all of them.

    ``fill`` is how full of each resource a region, and what is left beside all, may be. ``stats`` are of the frames of
    all regions, with their padding.
    """

    regions: Annotated[list[RegionEntry], Field(min_length=1)]
    static: list[StaticPartEntry]
    static_left: Amounts
    fill: dict[str, float]
    stats: Stats


def slots_in(entry: ReconfigurableEntry | None, region: str | None, slots: Sequence[SlotEntry]) -> list[SlotEntry]:
    """Return the slots as a phase sees them: that of its region has no more available than the region."""
    held = {r.slot: r.supply for r in entry.regions if r.name == region} if entry else {}
    return [
        slot.model_copy(
            update={"available": Amounts.model_validate(held[slot.name].resources.least(slot.capacity.resources))}
        )
        if slot.name in held
        else slot
        for slot in slots
    ]
