"""Reconfigurable regions in the form that plan.json holds."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.facts import ReconfigurableEntry, RegionEntry, StaticPartEntry
from floorflow.hardware import Fpga
from floorflow.placement.region import ChosenRegion, RegionChoice, RegionProblem
from floorflow.record.values import amounts, rectangle, statistics
from floorflow.resources import Resources
from floorflow.search.many.regions import load_us


def reconfigurable_entry(
    choice: RegionChoice, problem: RegionProblem, fpga: Fpga, cells: Mapping[str, str], needs: Mapping[str, Resources]
) -> ReconfigurableEntry:
    """Return the regions of an FPGA as the plan holds them.

    By their names ``cells`` are their cells in the design, and ``needs`` what the planned phases in them turned out to
    need at most: no more than they were chosen for.

    Raises
    ------
    InputError
        If the board's file does not say at what rate a part of the device is loaded.

    """
    return ReconfigurableEntry(
        regions=[_region(region, fpga, cells[region.name], needs[region.name]) for region in choice.regions],
        static=[StaticPartEntry(name=part.name, resources=amounts(part.resources)) for part in problem.static],
        static_left=amounts(choice.static_left),
        fill=dict(problem.fill),
        stats=statistics(choice.stats),
    )


def _region(region: ChosenRegion, fpga: Fpga, cell: str, need: Resources) -> RegionEntry:
    (slot,) = (slot for slot in fpga.slots if slot.region.contains(region.rect))
    return RegionEntry(
        name=region.name,
        fpga=fpga.name,
        slot=slot.name,
        cell=cell,
        rectangle=rectangle(region.rect),
        owned=[rectangle(rect) for rect in region.owned],
        ranges=list(region.ranges),
        need=amounts(need),
        supply=amounts(region.supply),
        frames=region.frames,
        bitstream_bytes=region.bytes,
        load_us=load_us(fpga.board, region.bytes),
        assumed=region.assumed,
        snapping_mode="ROUTING" if region.snapping_mode == "ROUTING" else "ON",
        reset_after_reconfig=region.reset_after_reconfig,
    )
