"""A platform: a chain of equal FPGAs as slots with what is available in each, and the wires and links between them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from floorflow.assets import asset_folder
from floorflow.errors import PlatformError
from floorflow.resources import Resources, total
from floorflow.target.board import Board, read_board
from floorflow.target.device import Device
from floorflow.target.device_file import read_device
from floorflow.target.links import Hop, Link, SlotPositions, chain, way
from floorflow.target.reading import read_text, require
from floorflow.target.slots import Infrastructure, Slot, fpga_infrastructure, fpga_slots, remainders


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


@dataclass(frozen=True)
class Platform:
    """FPGAs, the wires between their slots, the links between them, infrastructure, and where all this comes from.

    ``links[i]`` joins ``fpgas[i]`` and ``fpgas[i + 1]``. ``files`` maps paths such as ``boards/alveo-u250.yaml`` to
    the verbatim text.
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
    def _positions(self) -> SlotPositions:
        return {
            slot.name: (number, level)
            for number, fpga in enumerate(self.fpgas)
            for level, slot in enumerate(fpga.slots)
        }

    def way(self, source: str, target: str) -> tuple[Hop, ...]:
        """Return the one way between two slots, in order: runs of SLR boundaries inside an FPGA, and single links.

        It is empty from a slot to itself; an unknown slot raises KeyError.
        """
        return way(self._positions, self.links, source, target)


def known_platforms() -> tuple[str, ...]:
    """Return the names of the boards that ship with floorflow."""
    return _shipped("boards")


def _shipped(kind: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (asset_folder("platforms") / kind).glob("*.yaml")))


def load_platform(name_or_path: str | Path, fpgas: int = 1, clock_mhz: float | None = None) -> Platform:
    """Return a chain of ``fpgas`` FPGAs, by the name of a shipped board or by the path of a user's board file.

    Raises
    ------
    PlatformError
        If the name is unknown, a file is malformed, board and die contradict each other, or the board cannot link
        that many FPGAs.

    """
    path = _board_path(str(name_or_path))
    board_text = read_text(path)
    board = read_board(board_text, str(path))
    if clock_mhz is not None and not 0 < clock_mhz < float("inf"):
        raise PlatformError(f"clock_mhz: expected a clock above 0 MHz, found {clock_mhz}")
    _check_fpgas(board, fpgas, str(path))
    device_path = _device_path(board.device, path)
    device_text = read_text(device_path)
    device = read_device(device_text, str(device_path))
    _check_name_is_free("boards", board.name, board_text, path)
    _check_name_is_free("devices", device.part, device_text, device_path)
    board = replace(board, device=device.part, clock_mhz=clock_mhz or board.clock_mhz)
    files = {f"boards/{board.name}.yaml": board_text, f"devices/{device.part}.yaml": device_text}
    return _chain(board, device, fpgas, files, str(path))


def _chain(board: Board, device: Device, count: int, files: Mapping[str, str], file: str) -> Platform:
    """Join ``count`` equal FPGAs; they share one `Device`, and what the shell leaves is found once."""
    links = chain(board.link, count)
    remaining = remainders(board, device, file)
    wires = _sll_wires(board, device, file)
    placed: list[Fpga] = []
    infrastructure: list[Infrastructure] = []
    for number in range(count):
        here = fpga_infrastructure(number, links, board, device, file)
        slots = fpga_slots(f"fpga{number}", remaining, here, file)
        placed.append(Fpga(f"fpga{number}", board, device, slots))
        infrastructure += here
    boundaries = tuple(boundary for fpga in placed for boundary in _boundaries(fpga.slots, wires))
    return Platform(board.name, tuple(placed), boundaries, links, tuple(infrastructure), files)


def _is_path(text: str) -> bool:
    return "/" in text or Path(text).suffix in {".yaml", ".yml"}


def _board_path(text: str) -> Path:
    """Return the board file for a name or a path; an unknown name raises PlatformError with the nearest names."""
    if text in known_platforms():
        return asset_folder("platforms") / "boards" / f"{text}.yaml"
    if _is_path(text):
        return Path(text)
    near = difflib.get_close_matches(text.lower(), known_platforms(), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    known = ", ".join(known_platforms())
    raise PlatformError(
        f"unknown platform '{text}'", hint=f"{hint}known: {known}; or give the path of a board's YAML file"
    )


def _device_path(device: str, board_path: Path) -> Path:
    """Return the file of a board's die: a shipped one, or one beside the board's file."""
    if device in _shipped("devices"):
        return asset_folder("platforms") / "devices" / f"{device}.yaml"
    if _is_path(device):
        return board_path.parent / device
    known = ", ".join(_shipped("devices"))
    raise PlatformError(
        f"{board_path}: device: unknown die '{device}'", hint=f"known: {known}; or a path relative to the board's file"
    )


def _check_name_is_free(kind: str, name: str, text: str, path: Path) -> None:
    """Refuse a user's file that calls itself as a shipped one but differs: a plan names files, not contents."""
    shipped = asset_folder("platforms") / kind / f"{name}.yaml"
    if shipped.is_file() and read_text(shipped) != text:
        field = "name" if kind == "boards" else "part"
        raise PlatformError(f"{path}: {field}: '{name}' is a file that ships with floorflow; choose another name")


def _check_fpgas(board: Board, fpgas: int, file: str) -> None:
    """Check that the board can link that many FPGAs."""
    if fpgas < 1:
        raise PlatformError(f"fpgas: expected at least 1, found {fpgas}")
    asked = f"{board.name}: {fpgas} FPGAs were asked for"
    if fpgas > board.max_fpgas == 1:
        raise PlatformError(f"{asked}, but its boards have no link to one another", hint="use one FPGA")
    if fpgas > board.max_fpgas:
        most = f"at most {board.max_fpgas}"
        raise PlatformError(f"{asked}, {most} can be linked", hint=f"use {most} FPGAs")
    if fpgas > 1 and board.link is None:
        raise PlatformError(
            f"{file}: link: {asked}, but the field is missing",
            hint="say in the file how its boards are linked, see platforms/README.md; or use one FPGA",
        )


def _sll_wires(board: Board, device: Device, file: str) -> tuple[int, ...]:
    """Return the usable wires of each boundary of one FPGA, bottom to top."""
    wires = device.sll_wires if board.sll_wires is None else board.sll_wires
    fits = len(wires) == len(device.sll_wires) and all(a <= b for a, b in zip(wires, device.sll_wires, strict=True))
    require(fits, file, "sll_wires", f"expected for each boundary at most {list(device.sll_wires)}")
    return wires


def _boundaries(slots: tuple[Slot, ...], wires: tuple[int, ...]) -> tuple[SllBoundary, ...]:
    return tuple(SllBoundary(a.name, b.name, count) for (a, b), count in zip(pairwise(slots), wires, strict=True))
