"""How boards with their dies and links are joined to a platform."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from floorflow.errors import PlatformError
from floorflow.hardware.board import Board, BoardLink, LinkKind
from floorflow.hardware.catalogue import check_name_is_free, file_named_in
from floorflow.hardware.device import Device
from floorflow.hardware.device_file import read_device
from floorflow.hardware.links import Link, LinkWithCores
from floorflow.hardware.platform import Fpga, Platform, SllBoundary
from floorflow.hardware.ports import check_ports, host_port, link_port
from floorflow.hardware.reading import parse, read_text, require
from floorflow.hardware.routing import wires_between_halves
from floorflow.hardware.slots import Halves, Infrastructure, Slot, fpga_infrastructure, remainders, slot_at, slot_of


@dataclass(frozen=True)
class BoardWithDie:
    """A board, its die, the board's ``file`` for messages, and the text of both files by their paths in a plan.

    ``halves``: the first row of the upper half of each SLR that is two slots.
    """

    board: Board
    device: Device
    file: str
    files: Mapping[str, str]
    halves: Halves = field(default_factory=dict)

    @cached_property
    def remainders(self) -> tuple[Slot, ...]:
        """What the shell leaves of each SLR, once it is sure that board and die do not contradict each other."""
        found = remainders(self.board, self.device, self.file, self.halves)
        check_ports(self.board, self.device, self.file)
        return found

    @cached_property
    def sll_wires(self) -> tuple[int, ...]:
        """The usable wires of each boundary of one FPGA, bottom to top."""
        silicon, stated = self.device.sll_wires, self.board.sll_wires
        wires = silicon if stated is None else stated
        fits = len(wires) == len(silicon) and all(a <= b for a, b in zip(wires, silicon, strict=True))
        require(fits, self.file, "sll_wires", f"expected for each boundary at most {list(silicon)}")
        return wires

    def slot_at_links(self, fpga: str) -> str:
        """Name the slot in which the board's links end, if it is so called."""
        link = self.board.link
        return "" if link is None else slot_at(fpga, link.slr, link_port(self.board, self.device), self.halves)

    def boundaries(self, slots: Sequence[Slot]) -> Iterator[SllBoundary]:
        """Yield what lies between slots, bottom to top: SLLs, or between halves the long wires left to streams."""
        wires = iter(self.sll_wires)
        for lower, upper in pairwise(slots):
            half = lower.slr == upper.slr
            count = wires_between_halves(self.device, lower.region.top) if half else next(wires)
            yield SllBoundary(lower.name, upper.name, count, "half" if half else "sll")


def with_die(board: Board, text: str, path: Path) -> BoardWithDie:
    """Return a board with its die; ``text`` is the board's file, which lies at ``path``.

    PlatformError if the die's file is malformed, or a file of the user's bears the name of one that ships.
    """
    die_path = file_named_in(path, "devices", board.device, "device")
    device_text = read_text(die_path)
    device = read_device(device_text, str(die_path))
    check_name_is_free("boards", board.name, text, path)
    check_name_is_free("devices", device.part, device_text, die_path)
    files = {f"boards/{board.name}.yaml": text, f"devices/{device.part}.yaml": device_text}
    return BoardWithDie(board.model_copy(update={"device": device.part}), device, str(path), files)


def read_link(path: Path) -> tuple[LinkKind, str]:
    """Return the kind of link that a file describes, and the file's text.

    PlatformError if a field is missing, unknown or malformed, or the file bears the name of one that ships.
    """
    text = read_text(path)
    kind = parse(LinkKind, text, str(path))
    check_name_is_free("links", kind.name, text, path)
    return kind, text


def link_between(near: int, far: int, source: BoardLink, ends: tuple[str, str]) -> LinkWithCores:
    """Return the link of two FPGAs, the lower number first, between two slots of them."""
    name, sure = f"fpga{near}-fpga{far}", source.reliable
    link = Link(name, source.kind, *ends, source.gbps, source.latency_us, source.assumed, sure, source.overhead)
    return LinkWithCores(link, source.core)


def check_clock(clock_mhz: float | None) -> None:
    """Refuse a clock that is none."""
    if clock_mhz is not None and not 0 < clock_mhz < float("inf"):
        raise PlatformError(f"clock_mhz: expected a clock above 0 MHz, found {clock_mhz}")


def assembled(name: str, boards: Sequence[BoardWithDie], links: Sequence[LinkWithCores]) -> Platform:
    """Join FPGAs ``fpga0``, ``fpga1``, ...; FPGAs that are one value share their `Device`.

    PlatformError if a board and its die contradict each other, or infrastructure and link cores need more than a slot
    has.
    """
    placed: list[Fpga] = []
    infrastructure: list[Infrastructure] = []
    boundaries: list[SllBoundary] = []
    for number, each in enumerate(boards):
        fpga, board, device = f"fpga{number}", each.board, each.device
        remaining = each.remainders  # refuses what contradicts the die, before anything is asked of it
        at_host, halves, count = host_port(board, device), each.halves, len(boards)
        here = fpga_infrastructure(
            fpga, board, device, each.file, links, number=number, count=count, halves=halves, at_host=at_host
        )
        slots = tuple(slot_of(fpga, slr, here, device, each.file) for slr in remaining)
        placed.append(Fpga(fpga, board, device, slots, slot_at(fpga, board.host_slr, at_host, halves)))
        infrastructure += here
        boundaries += each.boundaries(slots)
    files = {path: text for each in boards for path, text in each.files.items()}
    joined = tuple(each.link for each in links)
    return Platform(name, tuple(placed), tuple(boundaries), joined, tuple(infrastructure), files)
