"""A board before anything is planned on it: columns, clock regions, SLRs, the shell, reserved areas and ports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floorflow.hardware.ranges import range_rect
from floorflow.view.background import PLATE, RESERVED_STYLE, die_key, draw_background, label_area
from floorflow.view.box import Box
from floorflow.view.die import Die, Frame, box_of, die_of
from floorflow.view.palette import BAR, DOUBT, LINK, MEMORY, QUIET
from floorflow.view.parts import MARGIN, Entry, draw_key, write_head
from floorflow.view.sheet import Sheet, Style
from floorflow.view.text import Occupied, block_size, wrapped

if TYPE_CHECKING:
    from floorflow.hardware.platform import Fpga, Platform

_LABELS, _KEY, _ROW, _STRIP = 84.0, 46.0, 12.0, 24.0
"""Points: for the ports' names at each side, the key, a line of the head, the clock regions' numbers."""
_DIE_WIDTH, _DIE_HEIGHT = 520.0, 640.0
"""Points that the die may take."""
_NAME, _DETAIL = 7.6, 6.4
_KINDS = {"host": (BAR, "where the host's streams end"), "memory": (MEMORY, "memory"), "link": (LINK, "links")}
_KEPT_FREE: Style = {**RESERVED_STYLE, "hatch": ".", "opacity": 0.6, "width": 0.5}
"""What is kept free for the controller of a memory channel at which the host's streams do not end."""
_RESOURCES = ("LUT", "FF", "BRAM18", "URAM", "DSP")


@dataclass(frozen=True)
class _Port:
    """Ports of a kind that are named together, such as all of HBM: their areas in points and what is written."""

    kind: str
    areas: tuple[Box, ...]
    name: str
    detail: str

    @property
    def around(self) -> Box:
        """The box around all areas."""
        return Box(
            min(area.left for area in self.areas),
            min(area.bottom for area in self.areas),
            max(area.right for area in self.areas),
            max(area.top for area in self.areas),
        )


def empty_board(platform: Platform, fpga: str = "fpga0") -> Sheet:
    """Draw an FPGA of a platform without a plan.

    Raises InputError if the platform has no FPGA of that name.
    """
    die = die_of(platform, fpga)
    held = next(item for item in platform.fpgas if item.name == fpga)
    board, head = held.board, list(_head(held))
    die_width = min(_DIE_WIDTH, _DIE_HEIGHT / die.proportion)
    height = die_width * die.proportion
    width = 2 * (MARGIN + _LABELS + _STRIP) + _DIE_WIDTH
    left, below = (width - die_width) / 2, MARGIN + _KEY + 14
    doubt = wrapped(board.doubt, width - 2 * MARGIN, 8, 3) if board.doubt else ()
    sheet = Sheet(width, below + height + 46 + _ROW * (len(head) + len(doubt)))
    frame = Frame.of(die, left, below + height, die_width)
    y = write_head(sheet, f"{board.name} ({board.part}, {board.clock_mhz:g} MHz)", *head) - 6
    for number, line in enumerate(doubt):
        sheet.write(MARGIN, y - number * _ROW, line, 8, colour=DOUBT, bold=True)
    draw_background(sheet, frame, die)
    kept_free = [frame.place(box) for box in _kept_free(held)]
    for area in kept_free:
        sheet.rectangle(area, **_KEPT_FREE, z=2.4)
    occupied, ports = Occupied(), _ports(held, frame)
    _draw_ports(sheet, frame, ports, occupied)
    _label_slrs(sheet, frame, die, ports, occupied)
    _label_static(sheet, frame, die, occupied)
    draw_key(sheet, MARGIN + _KEY - 14, [*die_key([die]), *_key(ports, kept_free=bool(kept_free))])
    return sheet


def _head(fpga: Fpga) -> Iterator[str]:
    """Yield the shell, and a line for each slot, from the top down: what is left of it for a design."""
    shell = "not stated" if "shell" in fpga.board.unstated else "none"
    yield f"shell: {fpga.board.shell.name if fpga.board.shell else shell}"
    for slot in reversed(fpga.slots):
        silicon, left = slot.capacity.as_dict(), slot.available.as_dict()
        told = (f"{left[name]:,} of {silicon[name]:,} {name}" for name in _RESOURCES if silicon[name])
        yield f"{slot.slr}: available {', '.join(told)}"


def _ports(fpga: Fpga, frame: Frame) -> list[_Port]:
    """Return the ports of host, memory channels and links; channels of one name are one, the host's beside them."""
    board, found = fpga.board, []
    host = frame.place(box_of(fpga.host_port))
    at = f"memory {board.host_memory}" if board.host_memory else f"in {board.host_slr}"
    found.append(_Port("host", (host,), "host", at))
    groups: dict[str, list[tuple[str, Box]]] = {}
    for memory in board.memories:
        if memory.port is not None:
            stem = re.sub(r"\[\d+\]$", "", memory.name)
            single = sum(other.name.startswith(f"{stem}[") for other in board.memories) <= 8
            groups.setdefault(memory.name if single else stem, []).append(
                (memory.slr, frame.place(box_of(memory.port)))
            )
    for name, members in groups.items():
        count = f"[0] to [{len(members) - 1}]" if len(members) > 1 else ""
        found.append(_Port("memory", tuple(box for _, box in members), f"{name}{count}", f"in {members[0][0]}"))
    if board.link is not None:
        for kind, rect in sorted(board.link.ports.items()):
            found.append(_Port("link", (frame.place(box_of(rect)),), kind, f"in {board.link.slr}"))
    return found


def _kept_free(fpga: Fpga) -> Iterator[Box]:
    """Yield what is kept free for controllers of memory channels other than the host's."""
    for memory in fpga.board.memories:
        if memory.reserved is not None and memory.name != fpga.board.host_memory:
            yield box_of(range_rect(fpga.device, memory.reserved))


def _draw_ports(sheet: Sheet, frame: Frame, ports: Sequence[_Port], occupied: Occupied) -> None:
    """Outline the ports and name them beside the die, at the nearer side and about their height."""
    for port in ports:
        colour = _KINDS[port.kind][0]
        for area in port.areas:
            width, z = 0.8 if len(port.areas) > 1 else 1.5, 8 if port.kind != "host" else 9
            sheet.rectangle(area, edge=colour, width=width, z=z)
    middle = frame.die.centre[0]
    for at_left in (True, False):
        here = [port for port in ports if (port.around.centre[0] < middle) == at_left]
        for port, y in _spread(sorted(here, key=lambda port: port.around.centre[1]), frame.die):
            line = _draw_name(sheet, frame, port, y, at_left=at_left)
            occupied.take(Box(min(line), y - 3, max(line), y + 3))


def _spread(ports: Sequence[_Port], die: Box) -> list[tuple[_Port, float]]:
    """Give each name the height of its port, or as much more as keeps it clear of the name below."""
    placed: list[tuple[_Port, float]] = []
    lowest, step = die.bottom + 8, 26.0
    for number, port in enumerate(ports):
        highest = die.top - 8 - step * (len(ports) - 1 - number)
        y = min(max(port.around.centre[1], lowest), highest)
        placed.append((port, y))
        lowest = y + step
    return placed


def _draw_name(sheet: Sheet, frame: Frame, port: _Port, y: float, *, at_left: bool) -> tuple[float, float]:
    """Write a port's name in the margin and lead a line to the port's nearest edge; return the x of its ends."""
    colour, area = _KINDS[port.kind][0], port.around
    x = frame.die.left - _STRIP if at_left else frame.die.right + _STRIP
    align = "end" if at_left else "start"
    sheet.write(x, y + 1, port.name, _NAME, colour=colour, bold=True, align=align)
    sheet.write(x, y - 7.5, port.detail, _DETAIL, colour=QUIET, align=align)
    end = area.left if at_left else area.right
    target = (end, min(max(y, area.bottom), area.top))
    gap = 3 if at_left else -3
    sheet.line((x + gap, y), target, colour=colour, width=0.9, z=10)
    sheet.mark(target, "circle", 2.6, fill=colour, z=11)
    return x, target[0]


def _label_slrs(sheet: Sheet, frame: Frame, die: Die, ports: Sequence[_Port], occupied: Occupied) -> None:
    """Name the SLRs of a die of several at their left edges: above, or as far below as keeps clear of ports."""
    outlines = [area for port in ports for area in port.areas]
    for name, box in die.slrs if len(die.slrs) > 1 else ():
        area = frame.place(box)
        width, height = block_size((name,), 9, bold=True)
        tops = [area.top - 4 - step for step in range(0, max(1, int(area.height - height - 8)), 4)]
        places = [Box(area.left + 5, top - height - 3, area.left + 9 + width, top) for top in tops]
        clear = (one for one in places if occupied.free(one) and not any(one.overlaps(area, 1) for area in outlines))
        place = next(clear, places[0])
        sheet.write(place.left + 2, place.bottom + 3, name, 9, bold=True, plate=PLATE)
        occupied.take(place)


def _label_static(sheet: Sheet, frame: Frame, die: Die, occupied: Occupied) -> None:
    """Name the largest part of the shell in each SLR, and what is reserved in it."""
    for _, slr in die.slrs:
        here = [box for box in die.static if slr.holds(box)]
        if here:
            largest = max(here, key=lambda box: (box.area, -box.left, -box.bottom))
            label_area(sheet, frame.place(largest), "static shell", occupied)
    for name, box in die.reserved:
        label_area(sheet, frame.place(box), name, occupied)


def _key(ports: Sequence[_Port], *, kept_free: bool) -> Iterator[Entry]:
    if kept_free:
        yield "kept free for a controller if the host's streams end there", "area", _KEPT_FREE
    for kind in dict.fromkeys(port.kind for port in ports):
        colour, text = _KINDS[kind]
        yield f"port: {text}", "area", {"edge": colour, "width": 1.5}
