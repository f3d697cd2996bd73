"""Reconfigurable regions in the form that plan.json holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from floorflow.errors import InputError
from floorflow.hardware import Board, Fpga
from floorflow.placement.region import ChosenRegion, RegionChoice, RegionNeed, RegionProblem, StaticPart
from floorflow.record.values import amounts, rectangle, statistics
from floorflow.resources import ZERO, Resources, total
from floorflow.schema import PhaseEntry, ReconfigurableEntry, RegionEntry, StaticPartEntry

DECOUPLER, PORT = "decoupler", "configuration port"
"""What stays beside the board's infrastructure: a decoupler for each region, and what drives the port."""


def static_parts(
    board: Board, regions: Sequence[str], decoupler: Resources, port: Resources = ZERO
) -> tuple[StaticPart, ...]:
    """Return all that stays while regions are loaded.

    ``decoupler`` is the logic of one, for the streams and the control port of a region; ``port`` is that of a
    configuration controller in the fabric, nothing where the processor's own port (PCAP) loads bitstreams.
    """
    own = (StaticPart(item.name, item.resources) for item in board.placed_infrastructure)
    decouplers = (StaticPart(f"{DECOUPLER} {name}", decoupler) for name in regions)
    return (*own, *decouplers, StaticPart(PORT, port))


def region_problem(fpga: Fpga, needs: Sequence[RegionNeed], static: Sequence[StaticPart]) -> RegionProblem:
    """Return the regions to be found on an FPGA, clear of where the host's streams leave the die."""
    return RegionProblem(fpga.device, fpga.slots, tuple(needs), tuple(static), keep_outs=(fpga.host_port,))


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


def needs_of(phases: Iterable[PhaseEntry]) -> dict[str, Resources]:
    """Return the most of each resource that the modules of a phase need together, by the region that it is in."""
    found: dict[str, Resources] = {}
    for phase in phases:
        if phase.region is not None:
            needed = total(Resources.from_dict(module.resources.model_dump()) for module in phase.modules)
            found[phase.region] = found.get(phase.region, ZERO).most(needed)
    return found


def in_regions(phases: Sequence[PhaseEntry], regions: Sequence[str]) -> list[PhaseEntry]:
    """Return phases with the region that each is loaded into, and the phase that is there before."""
    last: dict[str, str] = {}
    placed = []
    for phase, region in zip(phases, regions, strict=True):
        placed.append(phase.model_copy(update={"region": region, "loads_after": last.get(region)}))
        last[region] = phase.name
    return placed


def load_us(board: Board, part_bytes: int) -> float:
    """Return what loading a part of a board's device takes; InputError if its file does not say."""
    stated = board.reconfiguration
    answer = None if stated is None or stated.kind != "partial" else stated.load_us(part_bytes)
    if answer is None:
        hint = "state reconfiguration: {kind: partial, ms: .., bytes: ..} in a file of the board of your own"
        raise InputError(f"the file of {board.name} does not say at what rate a part of its device is loaded", hint)
    return answer


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
