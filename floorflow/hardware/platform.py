"""A platform: equal FPGAs as slots with what is available in each, and the wires and links between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from floorflow.assets import Topology
from floorflow.errors import PlatformError
from floorflow.hardware.board import Board, BoardLink, read_board
from floorflow.hardware.catalogue import board_path, check_name_is_free, device_path, link_path
from floorflow.hardware.crossing import Crossing, Route, boundary_crossing, link_crossing
from floorflow.hardware.device import Device
from floorflow.hardware.device_file import read_device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.link_file import read_link
from floorflow.hardware.links import (
    TOPOLOGIES,
    Link,
    RouteFinder,
    RouteStep,
    make_links,
    most_fpgas,
    shortest_routes,
)
from floorflow.hardware.ports import check_ports, host_port, link_port
from floorflow.hardware.reading import read_text, require
from floorflow.hardware.slots import Infrastructure, Slot, fpga_infrastructure, fpga_slots, remainders
from floorflow.resources import Resources, total


@dataclass(frozen=True)
class SllBoundary:
    """Wires (SLLs) between two neighbouring slots, given by name."""

    lower: str
    upper: str
    wires: int


@dataclass(frozen=True)
class Fpga:
    """One FPGA of a platform."""

    name: str
    board: Board
    device: Device
    slots: tuple[Slot, ...]

    @property
    def host_slot(self) -> str:
        """Name of the slot where the host's streams enter and leave."""
        return f"{self.name}.{self.board.host_slr}"

    @property
    def host_port(self) -> Rect:
        """Where in that slot the host's streams enter and leave."""
        return host_port(self.board, self.device)

    @property
    def link_port(self) -> Rect | None:
        """Where streams to and from other FPGAs leave and enter; None if the board has no link."""
        return link_port(self.board, self.device)


@dataclass(frozen=True)
class Platform:
    """FPGAs, the wires between their slots, the links between them, infrastructure, and where all this comes from.

    ``files`` maps paths such as ``boards/alveo-u250.yaml`` to the verbatim text.
    """

    name: str
    fpgas: tuple[Fpga, ...]
    boundaries: tuple[SllBoundary, ...]
    links: tuple[Link, ...]
    infrastructure: tuple[Infrastructure, ...]
    files: Mapping[str, str]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All slots, FPGA by FPGA, each from the bottom SLR upwards."""
        return tuple(slot for fpga in self.fpgas for slot in fpga.slots)

    @property
    def silicon(self) -> Resources:
        """Raw silicon of all slots."""
        return total(slot.capacity for slot in self.slots)

    @property
    def clock_mhz(self) -> float:
        """Clock of the design in MHz."""
        return self.fpgas[0].board.clock_mhz

    @property
    def host_in_slot(self) -> str:
        """Name of the slot where the host's streams enter: in the first FPGA."""
        return self.fpgas[0].host_slot

    @property
    def host_out_slot(self) -> str:
        """Name of the slot where the streams to the host leave: in the last FPGA."""
        return self.fpgas[-1].host_slot

    @cached_property
    def crossings(self) -> Mapping[tuple[str, str], Crossing]:
        """What lies between two slots that are joined: a boundary by lower and upper slot, a link by its two ends."""
        boards = {slot.name: fpga.board for fpga in self.fpgas for slot in fpga.slots}
        boundaries = {(b.lower, b.upper): boundary_crossing(boards[b.lower], b.wires) for b in self.boundaries}
        links = {(k.source, k.target): link_crossing(k.gbps, k.latency_us, self.clock_mhz) for k in self.links}
        return boundaries | links

    @cached_property
    def _finder(self) -> RouteFinder:
        positions = {
            slot.name: (number, level)
            for number, fpga in enumerate(self.fpgas)
            for level, slot in enumerate(fpga.slots)
        }
        between = {frozenset(positions[slot][0] for slot in (k.source, k.target)): k for k in self.links}
        return RouteFinder(positions, between, shortest_routes(positions, self.links), self.crossings)

    def route_steps(self, source: str, target: str) -> tuple[RouteStep, ...]:
        """Return the one route between two slots, in order: runs of SLR boundaries inside an FPGA, and single links.

        It passes the fewest links. It is empty from a slot to itself; an unknown slot raises KeyError.
        """
        return self._finder.steps(source, target)

    def route(self, source: str, target: str) -> Route:
        """Return what a stream passes between two slots, boundary by boundary and link by link."""
        return Route(tuple(crossing for step in self.route_steps(source, target) for crossing in step.crossings))


def load_platform(
    name_or_path: str | Path,
    fpgas: int = 1,
    clock_mhz: float | None = None,
    link: str | None = None,
    topology: Topology = "chain",
) -> Platform:
    """Return ``fpgas`` linked FPGAs, by the name of a shipped board or by the path of a user's board file.

    ``link`` is another kind of link than the board's own: one that ships or the path of a user's file.

    Raises
    ------
    PlatformError
        If a name is unknown, a file is malformed, board and die contradict each other, or the board cannot link
        that many FPGAs.

    """
    path = board_path(str(name_or_path))
    board_text = read_text(path)
    board = read_board(board_text, str(path))
    if clock_mhz is not None and not 0 < clock_mhz < float("inf"):
        raise PlatformError(f"clock_mhz: expected a clock above 0 MHz, found {clock_mhz}")
    board, link_files = _with_link(board, link, str(path))
    _check_fpgas(board, fpgas, topology, str(path))
    die_path = device_path(board.device, path)
    device_text = read_text(die_path)
    device = read_device(device_text, str(die_path))
    check_name_is_free("boards", board.name, board_text, path)
    check_name_is_free("devices", device.part, device_text, die_path)
    most = board.max_fpgas if board.link is None else most_fpgas(topology, board.link.max_links, board.max_fpgas)
    board = replace(board, device=device.part, clock_mhz=clock_mhz or board.clock_mhz, max_fpgas=most)
    files = {f"boards/{board.name}.yaml": board_text, f"devices/{device.part}.yaml": device_text} | link_files
    return replace(_joined(board, device, fpgas, topology, str(path)), files=files)


def _with_link(board: Board, name_or_path: str | None, file: str) -> tuple[Board, dict[str, str]]:
    """Give a board another kind of link; return the link's file too, by its path in a plan's platform folder."""
    if name_or_path is None:
        return board, {}
    if board.link is None:
        raise PlatformError(
            f"{file}: link: --link {name_or_path} was asked for, but the field is missing: it says where links end",
            hint="take a board with links, or add the field to a file of your own, see platforms/README.md",
        )
    path = link_path(name_or_path)
    text = read_text(path)
    kind = read_link(text, str(path))
    check_name_is_free("links", kind.name, text, path)
    link = replace(
        board.link, kind=kind.name, gbps=kind.gbps, latency_us=kind.latency_us, core=kind.core, assumed=kind.assumed
    )
    return replace(board, link=link), {f"links/{kind.name}.yaml": text}


def _joined(board: Board, device: Device, count: int, topology: Topology, file: str) -> Platform:
    """Join ``count`` equal FPGAs; they share one `Device`, and what the shell leaves is found once."""
    links = make_links(board.link, topology, count)
    remaining = remainders(board, device, file)
    check_ports(board, device, file)
    wires = _sll_wires(board, device, file)
    placed: list[Fpga] = []
    infrastructure: list[Infrastructure] = []
    for number in range(count):
        here = fpga_infrastructure(number, links, board, device, file)
        slots = fpga_slots(f"fpga{number}", remaining, here, file)
        placed.append(Fpga(f"fpga{number}", board, device, slots))
        infrastructure += here
    boundaries = tuple(boundary for fpga in placed for boundary in _boundaries(fpga.slots, wires))
    return Platform(board.name, tuple(placed), boundaries, links, tuple(infrastructure), {})


def _check_fpgas(board: Board, fpgas: int, topology: Topology, file: str) -> None:
    """Check that the board can link that many FPGAs."""
    if fpgas < 1:
        raise PlatformError(f"fpgas: expected at least 1, found {fpgas}")
    asked = f"{board.name}: {fpgas} FPGAs were asked for"
    if fpgas > board.max_fpgas == 1 and board.link is None:
        raise PlatformError(f"{asked}, but its boards have no link to one another", hint="use one FPGA")
    if fpgas > board.max_fpgas:
        most = f"at most {board.max_fpgas}"
        raise PlatformError(f"{asked}, {most} can be linked ({file}: max_fpgas)", hint=f"use {most} FPGAs")
    if fpgas > 1 and board.link is None:
        raise PlatformError(
            f"{file}: link: {asked}, but the field is missing",
            hint="say in the file how its boards are linked, see platforms/README.md; or use one FPGA",
        )
    if board.link is not None:
        _check_topology(board, board.link, fpgas, topology, file)


def _check_topology(board: Board, link: BoardLink, fpgas: int, topology: Topology, file: str) -> None:
    """Check that each FPGA can end as many links as the topology asks of it."""
    most = most_fpgas(topology, link.max_links, board.max_fpgas)
    if fpgas > most:
        why = "a pair is two" if topology == "pair" else f"an FPGA ends at most {link.max_links} links ({file}: link)"
        raise PlatformError(
            f"{board.name}: {fpgas} FPGAs were asked for with --topology {topology}, but {why}",
            hint=f"use at most {most} FPGAs, or another topology: {', '.join(TOPOLOGIES)}",
        )


def _sll_wires(board: Board, device: Device, file: str) -> tuple[int, ...]:
    """Return the usable wires of each boundary of one FPGA, bottom to top."""
    wires = device.sll_wires if board.sll_wires is None else board.sll_wires
    fits = len(wires) == len(device.sll_wires) and all(a <= b for a, b in zip(wires, device.sll_wires, strict=True))
    require(fits, file, "sll_wires", f"expected for each boundary at most {list(device.sll_wires)}")
    return wires


def _boundaries(slots: tuple[Slot, ...], wires: tuple[int, ...]) -> tuple[SllBoundary, ...]:
    return tuple(SllBoundary(a.name, b.name, count) for (a, b), count in zip(pairwise(slots), wires, strict=True))
