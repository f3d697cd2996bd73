"""What a board leaves of its die: slots with capacity, available resources and areas that no pblock may touch."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.errors import PlatformError
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.target.board import Board, BoardInfrastructure, Shell
from floorflow.target.device import Device, Slr
from floorflow.target.geometry import Rect
from floorflow.target.ranges import parse_range, parse_ranges, range_rect, resources_of_sites
from floorflow.target.reading import require
from floorflow.technology import technology_of


@dataclass(frozen=True)
class Slot:
    """A place for modules: one SLR of one FPGA.

    ``capacity`` is the silicon; ``available`` is that less shell less infrastructure. No pblock may touch
    ``keep_outs``: the shell's static parts and areas reserved for infrastructure.
    """

    name: str
    fpga: str
    slr: str
    region: Rect
    keep_outs: tuple[Rect, ...]
    capacity: Resources
    available: Resources


@dataclass(frozen=True)
class Infrastructure:
    """Logic beside the network in a slot, and the rectangle kept free for it, if any."""

    name: str
    slot: str
    resources: Resources
    reserved: Rect | None


def board_slots(
    fpga: str, board: Board, device: Device, file: str
) -> tuple[tuple[Slot, ...], tuple[Infrastructure, ...]]:
    """Return slots, bottom to top, and infrastructure of one FPGA; ``file`` is the board's, for messages.

    Raises
    ------
    PlatformError
        If board and die contradict each other.

    """
    _check_names(board, device, file)
    infrastructure = tuple(_infrastructure(fpga, item, device, file) for item in board.infrastructure)
    slots = tuple(
        _slot(slr, fpga=fpga, board=board, device=device, infrastructure=infrastructure, file=file)
        for slr in device.slrs
    )
    return slots, infrastructure


def _check_names(board: Board, device: Device, file: str) -> None:
    """Check that part and die are of one architecture and that every SLR that is named exists."""
    architecture = technology_of(board.part).architecture
    expected = f"{board.part} is {architecture}, its die {device.part} is {device.architecture}"
    require(architecture == device.architecture, file, "part", expected)
    names = {slr.name for slr in device.slrs}
    fields = [("host_slr", board.host_slr)]
    fields += [(f"infrastructure.{item.name}.slr", item.slr) for item in board.infrastructure]
    if board.shell is not None:
        fields += [("shell.static", slr) for slr in board.shell.static]
        fields += [("shell.measured_available", slr) for slr in board.shell.measured_available]
    for field, slr in fields:
        require(slr in names, file, field, f"{device.part} has no {slr}, only {sorted(names)}")


def _infrastructure(fpga: str, item: BoardInfrastructure, device: Device, file: str) -> Infrastructure:
    reserved = None
    if item.reserved is not None:
        field = f"infrastructure.{item.name}.reserved"
        reserved = _rect_in(device, item.slr, item.reserved, file, field)
    return Infrastructure(item.name, f"{fpga}.{item.slr}", item.resources, reserved)


def _rect_in(device: Device, slr: str, text: str, file: str, field: str) -> Rect:
    """Return a range's rectangle after checking that it lies in its SLR."""
    try:
        rect = range_rect(device, text)
    except PlatformError as error:
        raise PlatformError(f"{file}: {field}: {error}", hint=error.hint) from error
    require(device.slr_region(slr).contains(rect), file, field, f"{text} is not inside {slr}")
    return rect


def _slot(
    slr: Slr, *, fpga: str, board: Board, device: Device, infrastructure: tuple[Infrastructure, ...], file: str
) -> Slot:
    name = f"{fpga}.{slr.name}"
    region = device.slr_region(slr.name)
    here = [item for item in infrastructure if item.slot == name]
    keep_outs = [item.reserved for item in here if item.reserved is not None]
    capacity = available = device.resources(region)
    if board.shell is not None:
        keep_outs += _static_rects(board.shell, slr.name, device, file)
        available = _beside_shell(board.shell, slr.name, device, capacity)
    available = available - total(item.resources for item in here)
    fits = min(available.as_tuple()) >= 0
    require(fits, file, "infrastructure", f"it needs more than {slr.name} has: {available.as_dict()} would remain")
    return Slot(name, fpga, slr.name, region, tuple(sorted(keep_outs)), capacity, available)


def _static_rects(shell: Shell, slr: str, device: Device, file: str) -> list[Rect]:
    """Return the rectangles of the shell's ranges; LAGUNA ranges give none, as no pblock holds LAGUNA sites."""
    field = f"shell.static.{slr}"
    rects = {text: _rect_in(device, slr, text, file, field) for text in shell.static.get(slr, ())}
    return [rect for text, rect in rects.items() if parse_range(device, text).site != "LAGUNA"]


def _beside_shell(shell: Shell, slr: str, device: Device, capacity: Resources) -> Resources:
    """Return what remains beside the shell's sites, or what was measured to remain if that is less."""
    static = parse_ranges(device, shell.static.get(slr, ()))
    remaining = (capacity - resources_of_sites(device, static)).as_dict()
    measured = shell.measured_available.get(slr, {})
    return Resources.from_dict(
        {name: min(remaining[name], measured.get(name, remaining[name])) for name in RESOURCE_NAMES}
    )
