"""Ports: where the streams of the host and of links enter and leave a die, and at which memory channel.

A port is a rectangle of columns and CLB rows, such as a hard MAC or a column of transceivers, inside the SLR that the
board names. It is no keep-out: a pblock may lie over it. Where the board does not say where its port is, it is the
right-most column of that SLR, which on UltraScale+ holds transceivers.
"""

from floorflow.errors import PlatformError
from floorflow.hardware.board import Board
from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.reading import require


def host_port(board: Board, device: Device) -> Rect:
    """Return where the host's streams enter and leave."""
    return board.host_port or _right_edge(device, board.host_slr)


def link_port(board: Board, device: Device) -> Rect | None:
    """Return where streams to and from other FPGAs leave and enter; None if the board has no link."""
    if board.link is None:
        return None
    return board.link.ports.get(board.link.kind) or _right_edge(device, board.link.slr)


def check_ports(board: Board, device: Device, file: str) -> None:
    """Check that each port that the board's file gives lies inside its SLR, which must exist.

    PlatformError if a port leaves it.
    """
    ports = [("host_port", board.host_port, board.host_slr)] if not board.memories else []
    ports += [(f"memories.{memory.name}.port", memory.port, memory.slr) for memory in board.memories]
    if board.link is not None:
        ports += [(f"link.ports.{kind}", port, board.link.slr) for kind, port in board.link.ports.items()]
    for field, port, slr in ports:
        region = device.slr_region(slr)
        expected = f"expected a rectangle inside {slr}, {region.left}..{region.right} x {region.bottom}..{region.top}"
        require(port is None or region.contains(port), file, field, expected)


def _right_edge(device: Device, slr: str) -> Rect:
    region = device.slr_region(slr)
    return Rect(region.right, region.bottom, region.right, region.top)


def at_host_port(board: Board, name: str | None, file: str) -> Board:
    """Return a board whose host streams end at a memory channel; None: where its file says, at the first.

    PlatformError if the board has no such channel.
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
    return board.with_host_at(chosen)
