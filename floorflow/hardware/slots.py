"""What a board leaves of its die: slots with capacity, available resources and areas that no pblock may touch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from floorflow.errors import PlatformError
from floorflow.hardware.board import HOST, Board, BoardInfrastructure, Shell
from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.links import LinkWithCores
from floorflow.hardware.ranges import parse_range, parse_ranges, range_rect, resources_of_sites, sites_inside
from floorflow.hardware.reading import require
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.technology import technology_of


@dataclass(frozen=True)
class Slot:
    """A place for modules: one SLR of one FPGA, or a ``half`` of it, ``lower`` or ``upper``.

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
    half: str = ""


@dataclass(frozen=True)
class Infrastructure:
    """Logic beside the network in a slot, and the rectangle kept free for it, if any."""

    name: str
    slot: str
    resources: Resources
    reserved: Rect | None


Halves = Mapping[str, int]
"""The lowest row of the upper half of each SLR that is cut in two."""


def remainders(board: Board, device: Device, file: str, halves: Halves) -> tuple[Slot, ...]:
    """Return what the shell leaves of each SLR, or half, bottom to top: slots of no FPGA, before infrastructure.

    ``file`` is the board's, for messages.

    PlatformError if board and die contradict each other.
    """
    _check_names(board, device, file)
    wholes = (_remainder(slr.name, board.shell, device, file) for slr in device.slrs)
    return tuple(slot for whole in wholes for slot in _halved(whole, board.shell, device, halves.get(whole.slr)))


def slot_name(fpga: str, slr: str, half: str = "") -> str:
    """Name the slot of an SLR or of a half of it. Nobody reads a name: FPGA, SLR and half of a slot are its fields."""
    return f"{fpga}.{slr}.{half}" if half else f"{fpga}.{slr}"


def slot_at(fpga: str, slr: str, port: Rect | None, halves: Halves) -> str:
    """Name the slot of an SLR at a port: of halves that in which its middle lies, without one the lower."""
    if slr not in halves:
        return slot_name(fpga, slr)
    upper = port is not None and port.bottom + port.top >= 2 * halves[slr]
    return slot_name(fpga, slr, "upper" if upper else "lower")


def fpga_infrastructure(
    fpga: str,
    board: Board,
    device: Device,
    file: str,
    links: Sequence[LinkWithCores] = (),
    *,
    number: int = 0,
    count: int = 1,
    halves: Halves = MappingProxyType({}),
    at_host: Rect | None = None,
) -> tuple[Infrastructure, ...]:
    """Return the infrastructure of an FPGA: the board's own, then a core at the end of each of ``links`` on it.

    It is FPGA ``number`` of ``count``. Of ``halves`` of its SLR it stands in that of its range; without one in that of
    the host's port, ``at_host``, if it lies there.

    PlatformError if a reserved range does not exist in its SLR.
    """
    own = (item for item in board.placed_infrastructure if item.stands_on(number, count))
    slots = {slot_name(fpga, slr.name, half) for slr in device.slrs for half in ("", "lower", "upper")}
    cores = [
        Infrastructure(f"link core {joined.link.name}", slot, joined.core, None)
        for joined in links
        for slot in (joined.link.source, joined.link.target)
        if slot in slots and joined.core is not None
    ]
    placed = []
    for item in own:
        reserved = _reserved(item, device, file)
        port = reserved or (at_host if item.slr == board.host_slr else None)
        placed.append(Infrastructure(item.name, slot_at(fpga, item.slr, port, halves), item.resources, reserved))
    return (*placed, *cores)


def _check_names(board: Board, device: Device, file: str) -> None:
    """Check that part and die are of one architecture and that every SLR that is named exists."""
    architecture = technology_of(board.part).architecture
    expected = f"{board.part} is {architecture}, its die {device.part} is {device.architecture}"
    require(architecture == device.architecture, file, "part", expected)
    names = {slr.name for slr in device.slrs}
    fields = [("host_slr", board.host_slr)] if not board.memories else []
    fields += [(f"infrastructure.{item.name}.slr", item.slr) for item in board.infrastructure if item.slr != HOST]
    fields += [(f"memories.{memory.name}.slr", memory.slr) for memory in board.memories]
    if board.link is not None:
        fields.append(("link.slr", board.link.slr))
    if board.shell is not None:
        fields += [("shell.static", slr) for slr in board.shell.static]
        fields += [("shell.measured_available", slr) for slr in board.shell.measured_available]
    for field, slr in fields:
        require(slr in names, file, field, f"{device.part} has no {slr}, only {sorted(names)}")
    for memory in board.memories:
        if memory.reserved is not None:
            _rect_in(device, memory.slr, memory.reserved, file, f"memories.{memory.name}.controller.reserved")


def _reserved(item: BoardInfrastructure, device: Device, file: str) -> Rect | None:
    field = f"infrastructure.{item.name}.reserved"
    return None if item.reserved is None else _rect_in(device, item.slr, item.reserved, file, field)


def _rect_in(device: Device, slr: str, text: str, file: str, field: str) -> Rect:
    """Return a range's rectangle after checking that it lies in its SLR."""
    try:
        rect = range_rect(device, text)
    except PlatformError as error:
        raise PlatformError(f"{file}: {field}: {error}", hint=error.hint) from error
    require(device.slr_region(slr).contains(rect), file, field, f"{text} is not inside {slr}")
    return rect


def _remainder(slr: str, shell: Shell | None, device: Device, file: str) -> Slot:
    region = device.slr_region(slr)
    capacity = device.resources(region)
    if shell is None:
        return Slot("", "", slr, region, (), capacity, capacity)
    static = tuple(_static_rects(shell, slr, device, file))
    return Slot("", "", slr, region, static, capacity, _beside_shell(shell, slr, device, capacity))


def _halved(whole: Slot, shell: Shell | None, device: Device, first_row: int | None) -> Iterator[Slot]:
    """Yield an SLR, or its halves: what was measured to lack beside the shell's sites is taken from both."""
    if first_row is None:
        yield whole
        return
    region, texts = whole.region, () if shell is None else shell.static.get(whole.slr, ())
    static = parse_ranges(device, texts)
    lacking = whole.capacity - resources_of_sites(device, static) - whole.available
    for half, bottom, top in (("lower", region.bottom, first_row - 1), ("upper", first_row, region.top)):
        rect = replace(region, bottom=bottom, top=top)
        inside = {name: mask & sites_inside(device, name, rect) for name, mask in static.items()}
        capacity = device.resources(rect)
        left = (capacity - resources_of_sites(device, inside) - lacking).as_dict()
        available = Resources.from_dict({name: max(0, amount) for name, amount in left.items()})
        yield replace(whole, half=half, region=rect, capacity=capacity, available=available)


def slot_of(fpga: str, remaining: Slot, infrastructure: Sequence[Infrastructure], device: Device, file: str) -> Slot:
    """Return the slot of an FPGA that the shell leaves, less its infrastructure; ``file`` is the board's, for messages.

    What is reserved in the other half of its SLR and reaches into it is taken from it as well.

    PlatformError if infrastructure and link cores need more than the shell leaves.
    """
    name, region = slot_name(fpga, remaining.slr, remaining.half), remaining.region
    here = [item for item in infrastructure if item.slot == name]
    reserved = [
        item.reserved for item in infrastructure if item.reserved is not None and item.reserved.overlaps(region)
    ]
    beyond = (item.reserved for item in infrastructure if item.reserved in reserved and item.slot != name)
    taken = total(device.resources(rect.shared(region)) for rect in beyond if rect is not None)
    available = remaining.available - total(item.resources for item in here) - taken
    fits = min(available.as_tuple()) >= 0
    names = ", ".join(item.name for item in here)
    require(fits, file, "infrastructure", f"{name} cannot hold {names}: {available.as_dict()} would remain")
    keep_outs = tuple(sorted((*reserved, *remaining.keep_outs)))
    return replace(remaining, name=name, fpga=fpga, keep_outs=keep_outs, available=available)


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
