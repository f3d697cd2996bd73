"""Large memories of a phase: where each lies, and what it would cost elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from floorflow.facts.partition import SlotUse
from floorflow.facts.text import table, wrapped
from floorflow.facts.values import Amount, Amounts, PlanModel
from floorflow.resources import RESOURCE_NAMES, Resources


class MemoryChoiceEntry(PlanModel):
    """Another memory that the same weights or FIFO could lie in, and what the engine or the FIFO would then use."""

    style: str
    resources: Amounts


class MemoryEntry(PlanModel):
    """A large memory: the weights of an engine or the FIFO of a channel, by their id or name.

    ``style`` is where it lies, in the back end's own word; ``resources`` are the engine's or the FIFO's.
    """

    name: str
    kind: Literal["weights", "fifo"]
    bits: Amount
    style: str
    resources: Amounts
    others: list[MemoryChoiceEntry]


SHOWN = 30
"""Memories shown, the largest first."""


def memories(
    entries: Sequence[MemoryEntry], slot_of: Mapping[str, str], uses: Sequence[SlotUse], names: Mapping[str, str]
) -> list[str]:
    """Return for each large memory where it lies, what it takes there, and the next best place for it.

    ``slot_of``: the slot of every engine's weights and of every channel's FIFO; ``names``: what these are called.
    """
    if not entries:
        return []
    rows: list[tuple[str, ...]] = [
        ("memory", "bits", "lies in", "which takes", "else in", "which takes", "and would raise")
    ]
    by_name = {use.name: use for use in uses}
    largest = sorted(entries, key=lambda memory: -memory.bits)
    rows += [_row(names[memory.name], memory, by_name[slot_of[memory.name]]) for memory in largest[:SHOWN]]
    left = len(largest) - SHOWN
    more = [f"{left} smaller ones are in plan.json (phases[].memories[])"] if left > 0 else []
    about = "engine or channel, with all that the engine or the FIFO takes"
    return [*wrapped([about]), *table(rows), *wrapped(more)]


def _row(name: str, memory: MemoryEntry, use: SlotUse) -> tuple[str, ...]:
    own = memory.resources.resources
    here = (name, f"{memory.bits:,}", memory.style, _taken(own))
    if not memory.others:
        return (*here, "-", "-", "any other takes no less of anything, or cannot be built")
    best = min(memory.others, key=lambda other: _fullest(use, own, other.resources.resources))
    return (*here, best.style, _taken(best.resources.resources), _raised(use, own, best))


def _taken(use: Resources) -> str:
    """Return the LUTs and memories of a use."""
    amounts = use.as_dict()
    return ", ".join(f"{amounts[name]:,} {name}" for name in ("LUT", "BRAM18", "URAM") if amounts[name])


def _shares(use: SlotUse, before: Resources, after: Resources) -> dict[str, tuple[float, float]]:
    """Return by resource the share of the slot's limit now and with another use instead, where that differs."""
    demand, limit = use.demand.as_dict(), use.cap_limit.as_dict()
    change = (after - before).as_dict()
    return {
        name: (demand[name] / (limit[name] or 1), (demand[name] + change[name]) / (limit[name] or 1))
        for name in RESOURCE_NAMES
        if change[name]
    }


def _fullest(use: SlotUse, before: Resources, after: Resources) -> float:
    return max((share for _, share in _shares(use, before, after).values()), default=0.0)


def _raised(use: SlotUse, own: Resources, other: MemoryChoiceEntry) -> str:
    """Say which share would rise, the fullest of several, and whether it would be too much."""
    shares = _shares(use, own, other.resources.resources)
    rising = {name: share for name, share in shares.items() if share[1] > share[0]}
    if not rising:
        return "none"
    name = max(rising, key=lambda name: rising[name][1])
    before, after = (share * use.caps[name] for share in rising[name])
    told = f"{name} of {use.name}: from {before:.1%} to {after:.1%} used, {use.caps[name]:.0%} allowed"
    return f"{told}, too much" if rising[name][1] > 1 else told
