"""At which of a board's memory channels the host's streams end, and what another one would take instead."""

from __future__ import annotations

from dataclasses import replace

from floorflow.errors import PlatformError
from floorflow.hardware.board import Board


def at_host_port(board: Board, name: str | None, file: str) -> Board:
    """Return a board whose host streams end at a memory channel; None: where its file says, at the first.

    Raises
    ------
    PlatformError
        If the board has no such channel.

    """
    if name is None:
        return board
    chosen = next((memory for memory in board.memories if memory.name == name), None)
    if chosen is None:
        known = ", ".join(memory.name for memory in board.memories)
        has = f"its memory channels are {known}" if known else "its file lists no memory channels"
        raise PlatformError(
            f"{file}: memories: --host-port {name}: {has}",
            hint="name one of them or leave the option out; a file of your own may list more, see platforms/README.md",
        )
    return replace(board, host_slr=chosen.slr, host_port=chosen.port, host_memory=chosen.name)
