"""Where streams enter and leave placed modules: a side of the module's box, and the rows or columns on it.

A port faces its neighbour: never on the side that the neighbour lies beyond the other of, and of the rest on that with
the shortest way. Ports of one side are ordered as what they lead to is, do not overlap, and lie as near to that as then
is possible. A row offers as many pins as a CLB has flip-flops, so that a register for each pin can stand at the edge; a
column offers half as many, since about half of a die's columns are CLBs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slot_graph import stream_weight, stream_wires
from floorflow.placement.problem import Pin


@dataclass(frozen=True, slots=True)
class _Block:
    """So many neighbours that touch, and so share one offset: (wish, weight) of all, ascending."""

    count: int
    wishes: tuple[tuple[int, int], ...]

    @property
    def offset(self) -> int:
        """The lower weighted median, the least sum of weighted distances."""
        half = sum(weight for _, weight in self.wishes) / 2
        sums = accumulate(weight for _, weight in self.wishes)
        return next(wish for (wish, _), held in zip(self.wishes, sums, strict=True) if held >= half)


def spread(
    middles2: Sequence[int], lengths: Sequence[int], weights: Sequence[int], first: int, last: int
) -> tuple[int, ...]:
    """Return the start of each interval inside ``first..last``, in order and without overlap.

    ``middles2`` are twice the middles that are wished for, ``lengths`` and ``weights`` positive; lengths must fit. The
    sum of weight times distance from the wish is least: isotonic regression by its medians (pool adjacent violators),
    for starts less what stands before them must not fall; limits cut what leaves them.

    Raises ValueError if the intervals are longer together than the line.
    """
    room = last - first + 1 - sum(lengths)
    if room < 0:
        raise ValueError(f"{sum(lengths)} do not fit into {first}..{last}")
    before = [0, *accumulate(lengths)][: len(lengths)]
    blocks: list[_Block] = []
    for middle2, length, weight, passed in zip(middles2, lengths, weights, before, strict=True):
        twice = middle2 - length + 1 - 2 * passed
        # A wish between two places is half a wish for each: on whole places the distances are the same.
        block = _Block(1, ((twice // 2, weight), (-(-twice // 2), weight)))
        while blocks and blocks[-1].offset > block.offset:
            last_block = blocks.pop()
            block = _Block(last_block.count + block.count, tuple(sorted((*last_block.wishes, *block.wishes))))
        blocks.append(block)
    offsets = [block.offset for block in blocks for _ in range(block.count)]
    return tuple(min(max(offset, first), first + room) + passed for offset, passed in zip(offsets, before, strict=True))


Side = Literal["left", "right", "bottom", "top"]
Direction = Literal["in", "out"]

PINS_PER_ROW = 16
"""Flip-flops of a CLB: one SLICE of UltraScale+, two of 7-series."""
SWEEPS = 4
"""How often each module's ports follow those that they lead to."""
_OPPOSITE: Mapping[Direction, Direction] = {"in": "out", "out": "in"}


@dataclass(frozen=True, slots=True)
class PortStream:
    """A stream between modules, by name, and pins."""

    name: str
    source: str | Pin
    target: str | Pin
    width_bits: int

    @property
    def wires(self) -> int:
        """Its padded data, valid and ready."""
        return stream_wires(self.width_bits)

    @property
    def has_ports(self) -> bool:
        """Whether it begins or ends at a module, and does not stay inside it."""
        return self.source != self.target and not (isinstance(self.source, Pin) and isinstance(self.target, Pin))

    def end(self, direction: Direction) -> str | Pin:
        """Return the end of which the port has that direction: streams go in at their target."""
        return self.target if direction == "in" else self.source


@dataclass(frozen=True, slots=True)
class Port:
    """One end of a stream: ``first..last``, inclusive, are rows of a left or right side, else columns."""

    stream: str
    direction: Direction
    side: Side
    first: int
    last: int

    def point(self, box: Rect) -> Pin:
        """Return its middle on the edge of its module's box; doubled, it is integral."""
        edge, along = 2 * getattr(box, self.side), self.first + self.last
        return Pin(edge, along) if self.side in ("left", "right") else Pin(along, edge)


@dataclass(frozen=True, slots=True)
class ModulePorts:
    """The ports of a module, by side and place, at so many pins a row and half as many a column.

    ``pins_per_row`` is `PINS_PER_ROW`, or that doubled as often as it takes for all ports to find room; a box with
    fewer rows and columns at its edge than ports has none.
    """

    pins_per_row: int
    ports: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class _End:
    stream: PortStream
    direction: Direction

    @property
    def key(self) -> tuple[str, Direction]:
        return self.stream.name, self.direction

    @property
    def other(self) -> tuple[str, Direction]:
        return self.stream.name, _OPPOSITE[self.direction]

    @property
    def neighbour(self) -> str | Pin:
        return self.stream.end(_OPPOSITE[self.direction])


Points = dict[tuple[str, Direction], Pin]
Edges = Mapping[Side, tuple[int, int]]
"""First and last row, or column, of each side of a box at which there may be ports; the last is less where none may."""
_Sides = dict[Side, list[_End]]


def whole_edges(box: Rect) -> Edges:
    """Return the sides of a box with fabric all along."""
    rows, columns = (box.bottom, box.top), (box.left, box.right)
    return {"left": rows, "right": rows, "bottom": columns, "top": columns}


def fabric_edges(device: Device, box: Rect, region: Sequence[Rect]) -> Edges:
    """Return the longest part of each side of a box that lies on its pblock's rectangles and on fabric.

    The processor is no place for a port, nor is what a pblock of several rectangles goes around.
    """

    def is_open(column: int, row: int) -> bool:
        at = Rect(column, row, column, row)
        return bool(device.fabric[row // device.rows_per_clock_region, column]) and any(r.contains(at) for r in region)

    edges: dict[Side, tuple[int, int]] = {}
    for side, (first, last) in whole_edges(box).items():
        edge, best = int(getattr(box, side)), (first, first - 1)
        start = first
        for place in range(first, last + 2):
            cell = (edge, place) if side in ("left", "right") else (place, edge)
            if place <= last and is_open(*cell):
                continue
            if place - start > best[1] - best[0] + 1:
                best = start, place - 1
            start = place + 1
        edges[side] = best
    return edges


def place_ports(
    boxes: Mapping[str, Rect], streams: Sequence[PortStream], edges: Mapping[str, Edges] | None = None
) -> dict[str, ModulePorts]:
    """Return the ports of every module, given the modules' boxes; streams inside a module have none.

    ``edges``: where on the sides of a box there may be ports; anywhere if not given.
    """
    between = [stream for stream in streams if stream.has_ports]
    ends = {name: list(_ends_of(name, between)) for name in boxes}
    open_at = {name: whole_edges(box) for name, box in boxes.items()} | dict(edges or {})
    chosen = {name: _choose_sides(box, ends[name], boxes, open_at[name]) for name, box in boxes.items()}
    best = {
        name: ModulePorts(pins, _towards(boxes[name], sides, pins, {}, boxes=boxes, edges=open_at[name]))
        for name, (pins, sides) in chosen.items()
    }
    shortest, ports, points = length_of(boxes, between, best), best, points_of(boxes, best)
    for _ in range(SWEEPS):
        ports = dict(ports)
        for name, (pins, sides) in chosen.items():
            ports[name] = ModulePorts(
                pins, _towards(boxes[name], sides, pins, points, boxes=boxes, edges=open_at[name])
            )
            points |= points_of(boxes, {name: ports[name]})
        length = length_of(boxes, between, ports)
        if length >= shortest:
            break
        shortest, best = length, ports
    return best


def points_of(boxes: Mapping[str, Rect], ports: Mapping[str, ModulePorts]) -> Points:
    """Return where each port is, by stream and direction."""
    return {(port.stream, port.direction): port.point(boxes[m]) for m, own in ports.items() for port in own.ports}


def length_of(boxes: Mapping[str, Rect], streams: Sequence[PortStream], ports: Mapping[str, ModulePorts]) -> float:
    """Return the sum over streams of weight * (|dx| + |dy|) from port to port; of modules without, their middle."""
    points, twice = points_of(boxes, ports), 0
    for stream in (stream for stream in streams if stream.has_ports):
        a, b = end_point(stream, "out", boxes, points), end_point(stream, "in", boxes, points)
        twice += stream_weight(stream.width_bits) * (abs(a.x2 - b.x2) + abs(a.y2 - b.y2))
    return twice / 2


def end_point(stream: PortStream, direction: Direction, boxes: Mapping[str, Rect], points: Points) -> Pin:
    """Return where a stream begins (``out``) or ends: at a pin, a port, or the middle of a module without ports."""
    end = stream.end(direction)
    return end if isinstance(end, Pin) else points.get((stream.name, direction), Pin.at_centre(boxes[end]))


def _ends_of(module: str, streams: Sequence[PortStream]) -> Iterator[_End]:
    for stream in streams:
        if stream.target == module:
            yield _End(stream, "in")
        if stream.source == module:
            yield _End(stream, "out")


def _rows_needed(wires: int, side: Side, pins_per_row: int) -> int:
    """Return the rows, or columns, that a port takes."""
    return -(-wires // (pins_per_row if side in ("left", "right") else pins_per_row // 2))


def _choose_sides(box: Rect, ends: Sequence[_End], boxes: Mapping[str, Rect], edges: Edges) -> tuple[int, _Sides]:
    """Give each end a side with room for it, wide ones first, at the fewest pins a row that leave room for all."""
    widest = max((end.stream.wires for end in ends), default=0)
    pins = PINS_PER_ROW
    while True:
        sides = _with_room(box, ends, boxes, pins, edges)
        if sides is not None:
            return pins, sides
        if pins // 2 >= widest:
            return PINS_PER_ROW, {}
        pins *= 2


def _with_room(box: Rect, ends: Sequence[_End], boxes: Mapping[str, Rect], pins: int, edges: Edges) -> _Sides | None:
    room = {side: last - first + 1 for side, (first, last) in edges.items()}
    sides: _Sides = {}
    for end in sorted(ends, key=lambda end: (-end.stream.wires, end.key)):
        for side in _by_preference(box, _box_of(end.neighbour, boxes)):
            need = _rows_needed(end.stream.wires, side, pins)
            if need <= room[side]:
                room[side] -= need
                sides.setdefault(side, []).append(end)
                break
        else:
            return None
    return sides


_Span = tuple[int, int, int, int]
"""Twice the left, bottom, right and top of what a stream leads to: a box, or a pin, whose sides coincide."""


def _box_of(end: str | Pin, boxes: Mapping[str, Rect]) -> _Span:
    if isinstance(end, Pin):
        return end.x2, end.y2, end.x2, end.y2
    left, bottom, right, top = boxes[end].as_tuple()
    return 2 * left, 2 * bottom, 2 * right, 2 * top


def _by_preference(box: Rect, there: _Span) -> list[Side]:
    """Return the sides but those that a neighbour lies beyond the other of, the shortest way first.

    Of sides with equal ways that comes first beyond which the neighbour is farthest.
    """
    beyond: dict[Side, int] = {
        "left": 2 * box.left - there[2],
        "right": there[0] - 2 * box.right,
        "bottom": 2 * box.bottom - there[3],
        "top": there[1] - 2 * box.top,
    }
    opposite: dict[Side, Side] = {"left": "right", "right": "left", "bottom": "top", "top": "bottom"}

    def way(side: Side) -> int:
        across, edge = _aim(box, side, there), 2 * int(getattr(box, side))
        x, y = (edge, across) if side in ("left", "right") else (across, edge)
        return max(there[0] - x, 0, x - there[2]) + max(there[1] - y, 0, y - there[3])

    facing: list[Side] = [side for side in beyond if beyond[opposite[side]] <= 0]
    return sorted(facing, key=lambda side: (way(side), -beyond[side]))


def _aim(box: Rect, side: Side, there: _Span) -> int:
    """Return twice the place on a side that is nearest: the middle of what overlaps, else the end towards it."""
    upright = side in ("left", "right")
    low, high = (2 * box.bottom, 2 * box.top) if upright else (2 * box.left, 2 * box.right)
    start, end = (there[1], there[3]) if upright else (there[0], there[2])
    if end < low:
        return low
    if start > high:
        return high
    return (max(low, start) + min(high, end)) // 2


def _towards(
    box: Rect, sides: _Sides, pins: int, points: Points, *, boxes: Mapping[str, Rect], edges: Edges
) -> tuple[Port, ...]:
    """Return a module's ports, as near as can be to those that they lead to, or to the boxes of these at first."""
    ports = []
    for side in sorted(sides):
        upright = side in ("left", "right")
        low, high = edges[side]
        wanted = []
        for end in sides[side]:
            there, point = _box_of(end.neighbour, boxes), points.get(end.other)
            aim = _aim(box, side, there) if point is None else point.y2 if upright else point.x2
            middle = there[1] + there[3] if upright else there[0] + there[2]
            wanted.append((aim, middle, end.key, _rows_needed(end.stream.wires, side, pins), end))
        wanted.sort(key=lambda row: row[:3])
        lengths = [row[3] for row in wanted]
        places = spread([row[0] for row in wanted], lengths, [row[4].stream.wires for row in wanted], low, high)
        ports += [
            Port(row[4].stream.name, row[4].direction, side, place, place + row[3] - 1)
            for row, place in zip(wanted, places, strict=True)
        ]
    return tuple(ports)
