"""Wires and ports of pblocks: from port to port, sides that do not turn away, and Laguna columns between SLRs."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from floorflow.verify.facts import PhaseFacts, is_outside, stream_wires
from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.geometry import Device, Rectangle
from floorflow.verify.hardware.routes import Slot
from floorflow.verify.phase_records import ChannelRecord, PblockPortRecord, PblockRecord, SllColumnsRecord
from floorflow.verify.records import Direction, Side
from floorflow.verify.violations import Findings

NARROWEST = 64
"""Wires that a stream of fewer counts for in lengths."""


def wire_weight(width_bits: int) -> int:
    """Return for how many wires a stream counts in lengths."""
    return max(NARROWEST, stream_wires(width_bits))


@dataclass(frozen=True, slots=True)
class Wire:
    """A channel on an FPGA: its width, and column and row of the middles of what it ends at."""

    width_bits: int
    first: tuple[float, float]
    second: tuple[float, float]

    @property
    def tiles(self) -> float:
        """Return columns and rows between its ends."""
        return sum(abs(one - other) for one, other in zip(self.first, self.second, strict=True))


def wires_on(phase: PhaseFacts, board: Board, fpga: str, areas: Mapping[str, Rectangle]) -> Iterator[Wire]:
    """Yield the channels of the FPGA's pblocks, whose boxes are given by module.

    A channel that has an end in none of the pblocks goes to a port; without a pblock at either end it does not count.
    """
    for channel in phase.channels:
        ends = _ends(phase, board, fpga, channel, areas)
        if ends:
            yield Wire(channel["width_bits"], ends[0].box.middle, ends[1].box.middle)


def port_of(phase: PhaseFacts, board: Board, fpga: str, end: str, *, enters: bool) -> Rectangle | None:
    """Return the port through which a channel's end outside the FPGA's pblocks is reached; None if it is unknown."""
    slot = phase.slot_of_end(end, enters=enters)
    if slot is None or slot.fpga != fpga:
        return board.link_port if slot else None
    return phase.host_of(board, end).host_port if is_outside(end) else None


LEAST_PINS = 16
"""Pins of a row unless the ports of a pblock find no room: then twice, four times, ... as many."""
_ALONG = {"left": ("bottom", "top"), "right": ("bottom", "top"), "bottom": ("left", "right"), "top": ("left", "right")}
_DIRECTIONS: dict[Side, Direction] = {"source": "out", "target": "in"}


@dataclass(frozen=True, slots=True)
class _Side:
    """One end of a channel on an FPGA: the module, if there is one, and the box, of the module or of a port."""

    module: str | None
    box: Rectangle

    @property
    def reach(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of the module; a terminal is a point, the middle of its box."""
        box = self.box
        return (box.left, box.bottom, box.right, box.top) if self.module else box.middle * 2


def check_ports(phase: PhaseFacts, board: Board, fpga: str, boxes: Mapping[str, Rectangle]) -> None:
    """Judge the ports of one FPGA's pblocks, whose boxes are given by module."""
    floorplan = phase.raw["floorplan"][fpga]
    pairs = {channel["name"]: _ends(phase, board, fpga, channel, boxes) for channel in phase.channels}
    ends = {name: pair for name, pair in pairs.items() if pair}
    wires = {channel["name"]: stream_wires(channel["width_bits"]) for channel in phase.channels}
    for name, box in boxes.items():
        where, entry = f"{phase.where} pblock {name}", floorplan["pblocks"][name]
        owed = {
            (channel, direction): pair
            for channel, pair in ends.items()
            for side, direction in zip(pair, ("out", "in"), strict=True)
            if side.module == name
        }
        areas = list(map(Rectangle.of, entry["rectangles"]))
        open_cells = (sum(_is_open(board.device, areas, cell) for cell in _cells(box, side)) for side in _ALONG)
        if not entry["ports"] and any(len(owed) > count for count in open_cells):
            continue  # some side has fewer rows or columns for ports than there would be
        _check_count(entry, owed, where, phase.findings)
        _check_fabric(board.device, box, areas, entry, where=where, findings=phase.findings)
        known = [port for port in entry["ports"] if (port["channel"], port["direction"]) in owed]
        _check_edges(box, entry, known, wires, where=where, findings=phase.findings)
        for port in known:
            _check_facing(box, port, ends[port["channel"]], where, phase.findings)
    length = _length(phase, ends, floorplan["pblocks"])
    where = f"{phase.where}.floorplan.{fpga}"
    phase.expect("wrong-port-length", where, "port_length", floorplan["port_length"], length)


def _check_count(entry: PblockRecord, owed: Collection[tuple[str, str]], where: str, findings: Findings) -> None:
    stated: Counter[tuple[str, str]] = Counter((port["channel"], port["direction"]) for port in entry["ports"])
    for key in sorted({*stated, *owed}):
        if stated[key] != (key in owed):
            told = f"{key[0]} {key[1]} has {stated[key]} ports, not {int(key in owed)}"
            findings.add("placed-port-mismatch", where, told)


def _ends(
    phase: PhaseFacts, board: Board, fpga: str, channel: ChannelRecord, boxes: Mapping[str, Rectangle]
) -> tuple[_Side, ...]:
    """Return source and target of a channel that leaves or enters a pblock; nothing of others."""
    homes = [phase.module_of.get(channel[end]) for end in _DIRECTIONS]
    if homes[0] == homes[1] or not any(home in boxes for home in homes):
        return ()
    sides = []
    for end, home in zip(_DIRECTIONS, homes, strict=True):
        if home in boxes:
            sides.append(_Side(home, boxes[str(home)]))
            continue
        terminal = port_of(phase, board, fpga, channel[end], enters=end == "source")
        if terminal is None:
            return ()
        sides.append(_Side(None, terminal))
    return tuple(sides)


def _cells(box: Rectangle, side: str, first: int | None = None, last: int | None = None) -> list[tuple[int, int]]:
    """Return column and row of each place of a side, or of those from one to another."""
    low, high = _ALONG[side]
    edge = getattr(box, side)
    places = range(getattr(box, low) if first is None else first, (getattr(box, high) if last is None else last) + 1)
    return [(edge, place) if low == "bottom" else (place, edge) for place in places]


def _is_open(device: Device, areas: list[Rectangle], cell: tuple[int, int]) -> bool:
    """Whether a cell is one of the pblock's own, and fabric."""
    column, row = cell
    inside = any(a.left <= column <= a.right and a.bottom <= row <= a.top for a in areas)
    return inside and device.has_fabric(column, row)


def _check_fabric(
    device: Device, box: Rectangle, areas: list[Rectangle], entry: PblockRecord, *, where: str, findings: Findings
) -> None:
    """Judge that every row or column of a port is one of the pblock's, and neither in the processor nor in a gap."""
    for port in entry["ports"]:
        low, high = (getattr(box, side) for side in _ALONG[port["side"]])
        cells = _cells(box, port["side"], max(port["first"], low), min(port["last"], high))
        closed = next((cell for cell in cells if not _is_open(device, areas, cell)), None)
        if closed is not None:
            told = f"{port['channel']} {port['direction']}, {port['side']}: column {closed[0]}, row {closed[1]}"
            findings.add("port-off-fabric", where, told)


def _check_edges(
    box: Rectangle,
    entry: PblockRecord,
    ports: list[PblockPortRecord],
    wires: Mapping[str, int],
    *,
    where: str,
    findings: Findings,
) -> None:
    """Judge that ports lie on their sides, apart, with room for their wires."""
    pins = entry["pins_per_row"]
    if pins < LEAST_PINS or pins % LEAST_PINS or (pins // LEAST_PINS).bit_count() != 1:
        findings.add("port-narrow", where, f"{pins} pins a row are not {LEAST_PINS}, doubled or not")
    for port in ports:
        low, high = _ALONG[port["side"]]
        place = f"{port['channel']} at {port['first']} to {port['last']}, {port['side']}"
        if not getattr(box, low) <= port["first"] <= port["last"] <= getattr(box, high):
            findings.add("port-off-edge", where, place)
        offered = (port["last"] - port["first"] + 1) * (pins if low == "bottom" else pins // 2)
        if offered < wires[port["channel"]]:
            findings.add("port-narrow", where, f"{place}: {offered} pins for {wires[port['channel']]} wires")
    for side in _ALONG:
        own = sorted((p for p in ports if p["side"] == side), key=lambda p: (p["first"], p["last"]))
        for one, other in pairwise(own):
            if other["first"] <= one["last"]:
                findings.add("port-overlap", where, f"{one['channel']} and {other['channel']} on the {side}")


def _check_facing(
    box: Rectangle, port: PblockPortRecord, ends: tuple[_Side, ...], where: str, findings: Findings
) -> None:
    """Judge that a port is not on the far side of what it leads to."""
    left, bottom, right, top = ends[port["direction"] == "out"].reach
    away = {"left": left > box.right, "right": right < box.left, "bottom": bottom > box.top, "top": top < box.bottom}
    if away[port["side"]]:
        findings.add("port-turned-away", where, f"{port['channel']} {port['direction']} is on the {port['side']}")


def _length(phase: PhaseFacts, ends: Mapping[str, tuple[_Side, ...]], pblocks: Mapping[str, PblockRecord]) -> float:
    """Sum weight x distance from port to port; where there is none, the middle of the pblock or terminal counts."""
    total = 0.0
    for channel in phase.channels:
        pair = ends.get(channel["name"], ())
        points = [
            next(_points(side, channel["name"], direction, pblocks), side.box.middle)
            for side, direction in zip(pair, ("out", "in"), strict=False)
        ]
        if points:
            total += wire_weight(channel["width_bits"]) * sum(abs(a - b) for a, b in zip(*points, strict=True))
    return total


def _points(
    side: _Side, channel: str, direction: str, pblocks: Mapping[str, PblockRecord]
) -> Iterator[tuple[float, float]]:
    for port in pblocks[side.module]["ports"] if side.module else ():
        if (port["channel"], port["direction"]) == (channel, direction):
            edge, along = float(getattr(side.box, port["side"])), (port["first"] + port["last"]) / 2
            yield (edge, along) if port["side"] in ("left", "right") else (along, edge)


def check_sll_columns(phase: PhaseFacts, board: Board, fpga: str) -> None:
    """Judge in which columns the streams of one FPGA cross its SLR boundaries."""
    where = f"{phase.where}.floorplan.{fpga}.sll_columns"
    lower_of, owed = {}, {}
    for channel, (lower, upper) in _crossings(phase, fpga):
        name = f"{lower.name}-{upper.name}"
        lower_of[name], owed[channel["name"], name] = lower.slr, stream_wires(channel["width_bits"])
    entries = phase.raw["floorplan"][fpga]["sll_columns"]
    counts = Counter((entry["channel"], entry["boundary"]) for entry in entries)
    for key in sorted({*counts, *owed}):
        if counts[key] != (key in owed):
            told = f"{key[0]} over {key[1]} is listed {counts[key]} times, not {int(key in owed)}"
            phase.add("sll-columns-mismatch", where, told)
    known = [entry for entry in entries if (entry["channel"], entry["boundary"]) in owed]
    usable = {name: _usable(board, lower_of[name]) for name in {entry["boundary"] for entry in known}}
    for entry in known:
        _check_entry(entry, owed[entry["channel"], entry["boundary"]], usable[entry["boundary"]], where, phase.findings)
    _check_use(board, known, where, phase.findings)


def _check_entry(entry: SllColumnsRecord, owed: int, usable: Collection[int], where: str, findings: Findings) -> None:
    """Judge that a stream crosses with all its wires, in columns that may be used."""
    columns = [share["column"] for share in entry["columns"]]
    wires = sum(share["wires"] for share in entry["columns"])
    if wires != owed or len({*columns}) < len(columns):
        told = f"{entry['channel']} has {wires} wires in columns {columns}, not {owed} in different ones"
        findings.add("sll-columns-mismatch", where, told)
    for column in columns:
        if column not in usable:
            told = f"{entry['channel']} crosses {entry['boundary']} in column {column}"
            findings.add("sll-column-unknown", where, told)


def _check_use(board: Board, entries: list[SllColumnsRecord], where: str, findings: Findings) -> None:
    """Judge that no column has more wires at a boundary than it has there."""
    used: Counter[tuple[str, int]] = Counter()
    for entry in entries:
        for share in entry["columns"]:
            used[entry["boundary"], share["column"]] += share["wires"]
    most = board.device.raw["sll"]["wires_per_column"] if board.device.raw.get("sll") else 0
    for (boundary, column), wires in sorted(used.items()):
        if wires > most:
            findings.add("sll-column-overload", where, f"{wires} wires over {boundary} in column {column} of {most}")


def _crossings(phase: PhaseFacts, fpga: str) -> Iterator[tuple[ChannelRecord, tuple[Slot, Slot]]]:
    for channel in phase.channels:
        for lower, upper in phase.boundaries(phase.route(channel) or ()):
            if lower.fpga == fpga:
                yield channel, (lower, upper)


def _usable(board: Board, lower: int) -> set[int]:
    """Return the Laguna columns at the boundary above an SLR of which the shell keeps nothing beside it.

    Where these are fewer than the wires that the board's file gives the boundary, all may be used.
    """
    sll = board.device.raw.get("sll")
    if not sll:
        return set()
    below = board.device.slr_rows(lower)[1]
    first, last = below - board.device.region_rows + 1, below + board.device.region_rows
    beside = [area for area in board.areas_beside_laguna if area.bottom <= last and area.top >= first]
    free = {k for k in sll["columns"] if not any(area.left <= k <= area.right for area in beside)}
    enough = len(free) * sll["wires_per_column"] >= list(board.sll_wires())[lower]
    return free if enough else {*sll["columns"]}
