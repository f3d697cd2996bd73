"""The platform in the form that plan.json holds, and what its files leave in doubt."""

from __future__ import annotations

from collections.abc import Collection

from floorflow.facts.platform import BoundaryCrossing, FpgaEntry, PlatformEntry
from floorflow.hardware import Board, Fpga, Platform, assumed_facts


def platform_entry(platform: Platform) -> PlatformEntry:
    """Return the platform as the run saw it."""
    return PlatformEntry.of(platform, fpgas=[_fpga(fpga) for fpga in platform.fpgas], files=sorted(platform.files))


def _fpga(fpga: Fpga) -> FpgaEntry:
    board = fpga.board
    return FpgaEntry.of(
        fpga,
        board=board.name,
        part=board.part,
        device=fpga.device.part,
        host_memory=board.host_memory,
        crossing=BoundaryCrossing(registers=board.crossing_registers),
        unstated=board.unstated,
    )


def doubts(platform: Platform) -> list[str]:
    """Say, once for each board, what its file leaves open, and once what host port and links are in doubt."""
    boards = {fpga.board.name: fpga.board for fpga in platform.fpgas}.values()
    ports = {fpga.board.name: fpga.board.at_host for fpga in (platform.fpgas[0], platform.fpgas[-1])}
    assumed = [
        f"host port {memory.name} of {board} in {memory.slr}: place and price are assumed: confirm with platforminfo"
        for board, memory in ports.items()
        if memory is not None and memory.assumed
    ]
    lossy = [
        f"link {kind} loses packets and sends none again: a frame that loses one is wrong or never ends; take "
        "aurora-100g, or add a layer that sends again"
        for kind in sorted({link.kind for link in platform.links if not link.reliable})
    ]
    guessed = [f"{board.name}: {fact}" for board in boards for fact in assumed_facts(board)]
    return [*_unstated(boards), *guessed, *assumed, *lossy]


def _unstated(boards: Collection[Board]) -> list[str]:
    """Say what the files of boards leave open."""
    return [
        f"{board.name + ': ' if len(boards) > 1 else ''}{board.doubt}; "
        f"state the field{'s' if len(board.unstated) > 1 else ''}, or 'none' (platforms/README.md)"
        for board in boards
        if board.doubt
    ]
