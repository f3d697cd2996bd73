"""The platform in the form that plan.json holds."""

from __future__ import annotations

from dataclasses import asdict

from floorflow.facts import (
    BoundaryCrossing,
    BoundaryEntry,
    FpgaEntry,
    InfrastructureEntry,
    LinkEntry,
    PlatformEntry,
    SlotEntry,
)
from floorflow.hardware import Fpga, Platform, Slot
from floorflow.record.values import amounts, rectangle


def platform_entry(platform: Platform) -> PlatformEntry:
    """Return the platform as the run saw it."""
    return PlatformEntry(
        name=platform.name,
        fpgas=[_fpga(fpga) for fpga in platform.fpgas],
        boundaries=[
            BoundaryEntry(name=b.name, lower=b.lower, upper=b.upper, wires=b.wires) for b in platform.boundaries
        ],
        links=[LinkEntry(**asdict(link)) for link in platform.links],
        infrastructure=[
            InfrastructureEntry(name=i.name, slot=i.slot, resources=amounts(i.resources))
            for i in platform.infrastructure
        ],
        files=sorted(platform.files),
    )


def _fpga(fpga: Fpga) -> FpgaEntry:
    return FpgaEntry(
        name=fpga.name,
        board=fpga.board.name,
        part=fpga.board.part,
        device=fpga.device.part,
        host_slot=fpga.host_slot,
        host_port=rectangle(fpga.host_port),
        host_memory=fpga.board.host_memory,
        link_port=None if fpga.link_port is None else rectangle(fpga.link_port),
        crossing=BoundaryCrossing(registers=fpga.board.crossing_registers),
        unstated=list(fpga.board.unstated),
        slots=[_slot(slot) for slot in fpga.slots],
    )


def _slot(slot: Slot) -> SlotEntry:
    return SlotEntry(
        name=slot.name,
        fpga=slot.fpga,
        slr=slot.slr,
        capacity=amounts(slot.capacity),
        available=amounts(slot.available),
    )
