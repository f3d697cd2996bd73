"""What the design uses of slots and of boundaries, against what it may, from the plan's own figures."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.facts import Amounts, FoldedEntry, LoadEntry, ParallelismEntry, PhaseEntry, Plan
from floorflow.hardware import Platform, free_supply
from floorflow.request import limits_of, pblock_limit
from floorflow.resources import RESOURCE_NAMES, Resources, total


@dataclass(frozen=True)
class SlotUse:
    """Demand of a slot and its limits: ``cap`` x available, and ``fill`` x what pblocks in it can hold together."""

    name: str
    demand: Resources
    cap_limit: Resources
    pblock_limit: Resources

    @property
    def limit(self) -> Resources:
        """The smaller of the two limits."""
        return self.cap_limit.least(self.pblock_limit)

    @property
    def fullest(self) -> tuple[float, str]:
        """Largest share of a limit and its resource; (0, "LUT") in an empty slot."""
        demand, limit = self.demand.as_dict(), self.limit.as_dict()
        shares = [(demand[r] / limit[r], r) for r in RESOURCE_NAMES if limit[r]]
        return max(shares, key=lambda share: share[0], default=(0.0, "LUT"))


def slot_uses(plan: Plan, phase: PhaseEntry, platform: Platform) -> tuple[SlotUse, ...]:
    """Return the use of every slot in a phase, crossing registers and slices included, in the platform's order."""
    demand = {slot.name: total(_shares(phase, slot.name)) for slot in platform.slots}
    devices = {fpga.name: fpga.device for fpga in platform.fpgas}
    available = {slot.name: resources(slot.available) for slot in plan.slots_in(phase)}
    drawable = {slot.name: free_supply(devices[slot.fpga], slot) for slot in platform.slots}
    if phase.region is not None:
        drawable = {name: supply.least(available[name]) for name, supply in drawable.items()}
    return tuple(
        SlotUse(
            slot.name,
            demand[slot.name],
            limits_of(plan.options, available[slot.name]),
            pblock_limit(plan.options, drawable[slot.name]),
        )
        for slot in platform.slots
    )


def _shares(phase: PhaseEntry, slot: str) -> list[Resources]:
    modules = [m.resources for m in phase.modules if phase.partition.assignment[m.name] == slot]
    registers = [c.crossing_resources[slot] for c in phase.channels if slot in c.crossing_resources]
    slices = [c.slice_resources[slot] for c in phase.channels if slot in c.slice_resources]
    return [resources(item) for item in (*modules, *registers, *slices)]


def resources(amounts: Amounts) -> Resources:
    """Return the plan's amounts as a value with arithmetic."""
    return Resources.from_dict(amounts.model_dump())


def share(load: LoadEntry) -> float:
    """Return the share of its capacity that a boundary or a link carries."""
    return load.use / load.capacity if load.capacity else 0.0


@dataclass(frozen=True)
class Width:
    """How parallel an engine is: in which ways, how far, and how far it could be."""

    parts: tuple[ParallelismEntry, ...]

    @property
    def is_whole(self) -> bool:
        """Whether no wider folding exists."""
        return bool(self.parts) and all(part.value >= part.most for part in self.parts)

    def __str__(self) -> str:
        return ", ".join(f"{part.name} {part.value:,} of {part.most:,}" for part in self.parts)


def width_of(folded: FoldedEntry) -> Width:
    """Return how wide an engine is folded; nothing where its kind has no folding."""
    return Width(tuple(folded.parallelism))
