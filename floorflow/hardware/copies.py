"""Copies of a network on one card: places that hold one each, and what stands beside all of them.

A place is a run of SLRs, or a band of clock regions of one. Streams of the host end at a memory channel in it, as every
copy has DMA engines of its own beside it; where a board's file lists no channels, they end where the host's do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from floorflow.errors import PlatformError
from floorflow.hardware.board import HOST, Board
from floorflow.hardware.device import Device
from floorflow.hardware.platform import Fpga, Platform
from floorflow.hardware.slots import Infrastructure, fpga_infrastructure, slot_name
from floorflow.resources import Resources, total


@dataclass(frozen=True)
class Place:
    """Where one copy may lie: slots from the lowest up, the host's memory channel there, and what is kept free of it.

    ``keep_out``: ranges as ``--keep-out`` takes them.
    """

    slots: tuple[str, ...]
    memory: str | None
    keep_out: tuple[str, ...]


Division = tuple[Place, ...]
"""Places that do not overlap, equal but for what the shell keeps of them."""


def divisions(fpga: Fpga) -> list[Division]:
    """Return the ways to divide a card, that of the largest places first: into runs of SLRs, then into bands of each.

    All places of a division have the host's streams at the same distance, so that a copy is the same in each.
    """
    slots, device = fpga.slots, fpga.device
    found: dict[int, Division] = {}
    for size in range(len(slots), 0, -1):
        runs = [slots[low : low + size] for low in range(0, len(slots) - size + 1, size)]
        at = [[_memory(fpga.board, slot.slr) for slot in run] for run in runs]
        # The channel nearest to the bottom of a run at which most runs have one.
        offset = max(range(size), key=lambda k: (sum(known[k] is not None for known in at), -k))
        places = [
            _place(device, [slot.name for slot in run], known[offset], run[0].region.bottom, run[-1].region.top)
            for run, known in zip(runs, at, strict=True)
            if known[offset] is not None
        ]
        if places:
            found.setdefault(len(places), tuple(places))
    for parts in range(2, device.clock_region_rows // len(slots) + 1):
        bands = tuple(place for slot in slots for place in _bands(fpga, slot.name, slot.slr, parts))
        if bands:
            found.setdefault(len(bands), bands)
    return [found[count] for count in sorted(found)]


def _memory(board: Board, slr: str) -> str | None:
    """Return the memory channel of an SLR, the first; empty where the host's streams end without one, else None."""
    if not board.memories:
        return "" if board.host_slr == slr else None
    return next((memory.name for memory in board.memories if memory.slr == slr), None)


def _place(device: Device, slots: Sequence[str], memory: str | None, bottom: int, top: int) -> Place:
    """Return the place of these rows; all clock regions below and above are kept free."""
    height, right = device.rows_per_clock_region, len(device.clock_region_columns) - 1
    first, last = bottom // height, top // height
    below = [f"CLOCKREGION_X0Y0:CLOCKREGION_X{right}Y{first - 1}"] if first else []
    highest = device.clock_region_rows - 1
    above = [f"CLOCKREGION_X0Y{last + 1}:CLOCKREGION_X{right}Y{highest}"] if last < highest else []
    return Place(tuple(slots), memory or None, (*below, *above))


def _bands(fpga: Fpga, slot: str, slr: str, parts: int) -> list[Place]:
    """Return bands of an SLR, equal but for the last, which has what is left over; none far from the host's streams."""
    device, memory = fpga.device, _memory(fpga.board, slr)
    region, height = device.slr_region(slr), device.rows_per_clock_region
    rows = (region.top - region.bottom + 1) // height // parts * height
    if memory is None or not rows:
        return []
    bottoms = [region.bottom + number * rows for number in range(parts)]
    tops = [*(bottom - 1 for bottom in bottoms[1:]), region.top]
    return [_place(device, [slot], memory, bottom, top) for bottom, top in zip(bottoms, tops, strict=True)]


def with_hosts(platform: Platform, memories: Sequence[str | None]) -> Platform:
    """Return a card with what stands beside copies whose streams end at these channels, beside the first as it is.

    Each copy has what the board has where the host's streams end; a channel has one controller, however many use it.

    PlatformError if a slot cannot hold that.
    """
    if len(memories) < 2:
        return platform
    (fpga,) = platform.fpgas
    more, known = list[Infrastructure](), {memories[0]}
    for memory in memories[1:]:
        board = hosted(fpga.board, memory)
        here = fpga_infrastructure(fpga.name, board, fpga.device, "", at_host=board.host_port)
        own = [item for item in here if item.name in {each.name for each in board.infrastructure if each.slr == HOST}]
        more += (
            own if memory in known else [item for item in here if item in own or item.name == f"{memory} controller"]
        )
        known.add(memory)
    slots = []
    for slot in fpga.slots:
        taken = [item for item in more if item.slot == slot.name]
        left = slot.available - total(item.resources for item in taken)
        if min(left.as_tuple()) < 0:
            raise PlatformError(f"{slot.name} cannot hold the infrastructure of {len(memories)} copies")
        reserved = [item.reserved for item in taken if item.reserved is not None]
        slots.append(replace(slot, available=left, keep_outs=tuple(sorted((*slot.keep_outs, *reserved)))))
    infrastructure = (*platform.infrastructure, *more)
    return replace(platform, fpgas=(replace(fpga, slots=tuple(slots)),), infrastructure=infrastructure)


def hosted(board: Board, memory: str | None) -> Board:
    """Return the board with the host's streams at a memory channel; without one as it is."""
    return next((board.with_host_at(each) for each in board.memories if each.name == memory), board)


def seen_from(platform: Platform, memory: str | None) -> Platform:
    """Return a card as a copy sees it whose streams end at a channel."""
    (fpga,) = platform.fpgas
    board = hosted(fpga.board, memory)
    return replace(platform, fpgas=(replace(fpga, board=board, host_slot=slot_name(fpga.name, board.host_slr)),))


def in_all(platform: Platform) -> Resources:
    """Return what all slots have available."""
    return total(slot.available for slot in platform.slots)
