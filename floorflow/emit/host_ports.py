"""Where the host's streams end, and what another memory channel of the board would free and take."""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.hardware import Memory, Platform
from floorflow.resources import ZERO, Resources


def host_lines(platform: Platform) -> list[str]:
    """Say at which channel the host's streams end, and what each other would free or take; nothing if none is known."""
    board = platform.fpgas[0].board
    here = board.at_host
    if here is None:
        return []
    return [f"host       its streams end at {here.name} in {board.host_slr}{_told(here)}", *_others(platform)]


def _others(platform: Platform) -> Iterator[str]:
    board = platform.fpgas[0].board
    here = board.at_host
    for memory in board.memories:
        if here is not None and memory is not here:
            yield f"           --host-port {memory.name}: in {memory.slr}{_told(memory)}; {_change(here, memory)}"


def cheaper_ports(platform: Platform) -> Iterator[str]:
    """Yield a sentence for each other memory channel whose controller takes less than the one in use."""
    board = platform.fpgas[0].board
    here = board.at_host
    for memory in board.memories if here is not None else ():
        if here is not None and _price(here).lut > _price(memory).lut:
            sure = ", which is assumed" if memory.assumed else ""
            yield f"--host-port {memory.name} (in {memory.slr}{sure}) {_change(here, memory)}"


def _told(memory: Memory) -> str:
    controller = "without a controller" if memory.controller is None else "with its controller"
    return f", {controller}{' (assumed)' if memory.assumed else ''}"


def _change(here: Memory, there: Memory) -> str:
    """Say what becomes free in one slot and is taken in another, DMA engines and interconnect aside."""
    freed, taken = _price(here), _price(there)
    if freed == taken:
        return f"takes as much there as it frees in {here.slr}"
    words = [f"frees {_amounts(freed)} of {here.slr}"] if freed != ZERO else []
    words += [f"takes {_amounts(taken)} of {there.slr}"] if taken != ZERO else []
    return " and ".join(words)


def _price(memory: Memory) -> Resources:
    return memory.controller or ZERO


def _amounts(resources: Resources) -> str:
    return ", ".join(f"{amount:,} {name}" for name, amount in resources.as_dict().items() if amount)
