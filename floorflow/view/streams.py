"""Lead streams past the modules' labels and draw them: width by bits, colour by how far they go, marks on the way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from floorflow.view.box import Box, Point
from floorflow.view.channels import EdgePort, StreamView
from floorflow.view.die import Die, Frame
from floorflow.view.palette import BAR, CROSSING, INK, LINK, LONGEST, MEMORY, OTHER_PHASE, STREAM
from floorflow.view.parts import Entry
from floorflow.view.scene import Scene
from floorflow.view.sheet import Sheet, Style
from floorflow.view.text import Occupied, block_size

Path = NDArray[np.float64]
"""(points, 2): x and y in points along a line."""

Reach = Literal["slr", "host", "memory", "phase", "fpga", "link"]
"""How far a stream goes: within its SLR, there from or to one outside, over SLR boundaries, or over a link."""
OUTSIDE_COLOURS = {"host": BAR, "memory": MEMORY, "phase": OTHER_PHASE}
_COLOURS = {"slr": STREAM, "fpga": CROSSING, "link": LINK, **OUTSIDE_COLOURS}
_OUTSIDE_TEXTS = {
    "host": "from or to the host",
    "memory": "from or to a buffer in memory",
    "phase": "from or to another phase",
}
_CROSSING_DASHES = (4.0, 1.2)

_SAMPLES = 240
_SAME = 1e-6
"""Points between two that are one: ports of modules that touch lie on one edge."""
_CORNER, _STRAIGHT = 0.05, 1e-6
"""Sines of the turns from sample to sample that are corners, and that are none at all."""
_BEND = 0.16
"""How far a stream that skips modules bows out, as a share of its length."""
_LEAVING = 1000
"""Boxes of others that a stream rather passes over than leaving the die: all of them."""
_BENDS = (0.0, 0.08, -0.08, 0.16, -0.16, 0.24, -0.24, 0.34, -0.34, 0.46, -0.46)
"""What is tried, besides the usual bow, to lead a stream past the labels of other modules."""
_PORT_DEPTH, _LEAST_PORT = 2.8, 3.2
"""Points that a port's bar reaches into its module, and its least length along the edge."""
_SLL, _SLICE = 4.6, 4.2
"""Points across the mark of an SLR crossing, and of a register slice."""


@dataclass(frozen=True)
class Stops:
    """What a stream passes, in points, in order: ports at the edges of its modules, and Laguna columns."""

    from_port: Point | None = None
    slls: tuple[Point, ...] = ()
    to_port: Point | None = None

    @property
    def points(self) -> tuple[Point, ...]:
        """All of them."""
        return tuple(point for point in (self.from_port, *self.slls, self.to_port) if point is not None)


@dataclass(frozen=True)
class StreamLine:
    """A stream as drawn: where it runs, how wide it is, and how far it goes."""

    path: Path
    width_bits: int
    reach: Reach
    tip: bool
    """Whether there is room for an arrow head."""
    scale: float
    """Width of the line over its usual one."""
    slls: tuple[Point, ...] = ()
    """Where it crosses SLR boundaries."""
    slices: tuple[Point, ...] = ()
    """Where its register slices are marked: evenly along the line."""
    longest: bool = False

    @property
    def line_width(self) -> float:
        """Return points: 0.8 for one bit, 0.3 more for each doubling, times the scale."""
        return self.scale * (0.8 + 0.3 * math.log2(max(self.width_bits, 1)))


def stream_lines_between(
    scene: Scene, die: Die, frame: Frame, ends: Mapping[str, Box], scale: float = 1.0
) -> tuple[StreamLine, ...]:
    """Lead the streams from module to module and port, whose boxes are in points.

    A stream that only passes from link to link at one port has no line on the die.
    """
    modules = {module.name: die.slr_at(module.box.bottom) for module in scene.modules}
    links = {port.name for port in scene.ports}
    hosts = {end: die.slr_at(scene.host_port_of(end).bottom) for end in scene.outside}
    tops = {name: slr.top for name, slr in die.slrs}

    def reach(stream: StreamView) -> Reach:
        both = stream.source, stream.target
        if not links.isdisjoint(both):
            return "link"
        if len({modules[end] if end in modules else hosts.get(end) for end in both}) > 1:
            return "fpga"
        return next((scene.outside[end].kind for end in both if end in scene.outside), "slr")

    def stops(stream: StreamView) -> Stops:
        from_port, to_port = (None if port is None else frame.point(*port.point) for port in stream.ports)
        return Stops(from_port, tuple(frame.point(x, tops[slr]) for slr, x in stream.slls), to_port)

    return tuple(
        stream_line(stream, ends, reach(stream), scale, stops(stream))
        for stream in scene.streams
        if stream.source in ends and stream.target in ends and ends[stream.source] != ends[stream.target]
    )


def stream_line(
    stream: StreamView, ends: Mapping[str, Box], reach: Reach, scale: float = 1.0, stops: Stops | None = None
) -> StreamLine:
    """Run from box to box, by way of ``stops`` if these are known.

    Without them it runs straight to the next module in dataflow order, and bowed past modules in between. If a stretch
    meets other boxes of ``ends``, the bow that meets the fewest is taken.
    """
    source, target = ends[stream.source], ends[stream.target]
    stops = stops or Stops()
    if stops.points:
        path = _by_way_of(ends, source, target, stops)
    else:
        path = _past(ends, source, target, 0.0 if stream.ahead in (0, 1) else _BEND)
    outside = ~(_within(path, source, 0.5) | _within(path, target, 1.5))
    clear = path[outside]
    long_enough = len(clear) > 1 and float(np.hypot(*(clear[-1] - clear[0]))) > 7.0
    shown = clear if long_enough else path
    # Equal ways between the points and to the ends of the path.
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(shown, axis=0).T))])
    wanted = along[-1] * np.arange(1, stream.slices + 1) / (stream.slices + 1)
    pairs = zip(np.interp(wanted, along, shown[:, 0]), np.interp(wanted, along, shown[:, 1]), strict=True)
    marks = tuple((float(x), float(y)) for x, y in pairs)
    return StreamLine(shown, stream.width_bits, reach, long_enough, scale, stops.slls, marks, longest=stream.longest)


def _by_way_of(ends: Mapping[str, Box], source: Box, target: Box, stops: Stops) -> Path:
    """Run straight inside modules, from the label to the port, and past labels between ports and Laguna columns."""
    points = [source.centre, *stops.points, target.centre]
    straight = {0} if stops.from_port else set()
    straight |= {len(points) - 2} if stops.to_port else set()
    parts = []
    for number, (a, b) in enumerate(pairwise(points)):
        boxes = [source if number == 0 else Box(*a, *a), target if number == len(points) - 2 else Box(*b, *b)]
        parts.append(_curve(a, b, 0.0) if number in straight else _past(ends, boxes[0], boxes[1], 0.0))
    path = np.vstack(parts)
    return np.asarray(path[np.append(True, np.hypot(*np.diff(path, axis=0).T) > _SAME)])


def _past(ends: Mapping[str, Box], source: Box, target: Box, usual: float) -> Path:
    """Return the curve that meets the fewest boxes but its own, among these the one nearest to the usual bend."""
    boxes = np.array([(box.left, box.bottom, box.right, box.top) for box in ends.values()])
    others = np.array([box not in (source, target) for box in ends.values()])
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)

    def boxes_met(path: Path) -> int:
        """Count the boxes met, and points outside all boxes' hull as more than any: bows stay on the die."""
        points = path[::4, np.newaxis, :]
        inside = ((points > boxes[:, :2] - 1) & (points < boxes[:, 2:] + 1)).all(axis=2).any(axis=0)
        return int((inside & others).sum()) + _LEAVING * int(((path < low) | (path > high)).any())

    bends = (usual, *sorted(_BENDS, key=lambda bend: (abs(bend - usual), bend)))
    return min((_curve(source.centre, target.centre, bend) for bend in bends), key=boxes_met)


def _curve(start: tuple[float, float], end: tuple[float, float], bend: float) -> Path:
    """Sample a quadratic Bezier curve whose middle control point lies ``bend`` x length to the left."""
    first, last = np.array(start), np.array(end)
    along = last - first
    control = (first + last) / 2 + bend * np.array([-along[1], along[0]])
    t = np.linspace(0.0, 1.0, _SAMPLES)[:, np.newaxis]
    return np.asarray((1 - t) ** 2 * first + 2 * t * (1 - t) * control + t**2 * last)


def _within(path: Path, box: Box, gap: float) -> NDArray[np.bool_]:
    x, y = path[:, 0], path[:, 1]
    beside = (x < box.left - gap) | (x > box.right + gap)
    return np.asarray(~(beside | (y < box.bottom - gap) | (y > box.top + gap)))


def draw_stream_lines(sheet: Sheet, lines: Sequence[StreamLine]) -> None:
    """Draw all streams: a white casing, so that they stand out from the modules, then lines and arrow heads."""
    for item in lines:
        colour, width, path = _COLOURS[item.reach], item.line_width, item.path
        dashes = _CROSSING_DASHES if item.reach == "fpga" else ()
        if item.tip:
            step = path[-1] - path[max(len(path) - 12, 0)]
            along, length = step / np.hypot(*step), 3.5 * item.scale + 1.5 * width
            sheet.head(tuple(path[-1]), tuple(along), length, fill=colour, edge="white", width=0.4, z=11)
            shaft = path[np.hypot(*(path - path[-1]).T) >= 0.8 * length]
            path = shaft if len(shaft) > 1 else path[:2]
        points = [(float(x), float(y)) for x, y in path[_needed(path)]]
        sheet.line(*points, colour="white", width=width + 1.8, line_opacity=0.75, z=9)
        if item.longest:
            sheet.line(*points, colour=LONGEST, width=width + 6.0, round_ends=True, z=8.9)
        sheet.line(*points, colour=colour, width=width, dashes=dashes, z=10)


def _needed(path: Path) -> NDArray[np.int64]:
    """Return which points the eye needs: both ends, sharp corners, and of bends every tenth."""
    steps = np.diff(path, axis=0)
    steps = steps / np.maximum(np.hypot(*steps.T), 1e-9)[:, np.newaxis]
    turns = np.abs(steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0])
    inner = np.arange(1, len(path) - 1)
    bent = (turns > _CORNER) | ((turns > _STRAIGHT) & (inner % 10 == 0))
    return np.concatenate([[0], inner[bent], [len(path) - 1]])


def label_crossings(sheet: Sheet, lines: Sequence[StreamLine], boundaries: Sequence[float], occupied: Occupied) -> None:
    """Write the width in bits beside each crossing stream, on the first boundary it meets, if a place is free.

    Widths that find no place are still in the table of modules.
    """
    plate: Style = {"fill": "white", "edge": CROSSING, "width": 0.6, "pad": 0.8}
    for item in lines:
        if item.reach == "fpga":
            text, path = f"{item.width_bits} bit", item.path
            width, height = block_size((text,), 6.5, bold=True)
            low, high = sorted((float(path[0, 1]), float(path[-1, 1])))
            crossed = [y for y in boundaries if low <= y <= high]
            start = int(np.argmin(np.abs(path[:, 1] - crossed[0]))) if crossed else len(path) // 2
            nearest = sorted(range(0, len(path), 3), key=lambda index: (abs(index - start), index))
            places = (Box.around(float(path[n, 0]), float(path[n, 1]), width + 3, height) for n in nearest)
            box = occupied.take_first(places, 4.0)
            if box is not None:
                sheet.sign(box, text, 6.5, colour=CROSSING, plate=plate)


def draw_edge_ports(sheet: Sheet, frame: Frame, ports: Sequence[EdgePort]) -> None:
    """Draw each port as a bar inside its module, as long as the rows or columns that it takes."""
    for port in ports:
        (x, y), upright = frame.point(*port.point), port.side in ("left", "right")
        first, last = (frame.point(along, along)[upright] for along in (port.first, port.last))
        length, inwards = (
            max(last - first, _LEAST_PORT),
            _PORT_DEPTH / 2 * (1 if port.side in ("left", "bottom") else -1),
        )
        box = (
            Box.around(x + inwards, y, _PORT_DEPTH, length)
            if upright
            else Box.around(x, y + inwards, length, _PORT_DEPTH)
        )
        sheet.rectangle(box, fill=INK, edge="white", width=0.5, z=11.5)


def draw_way_marks(sheet: Sheet, lines: Sequence[StreamLine], occupied: Occupied) -> None:
    """Mark SLR crossings by rings, register slices by small squares; texts keep off both."""
    for line in lines:
        marks = [(at, "circle", _SLL, CROSSING) for at in line.slls]
        marks += [(at, "square", _SLICE, INK) for at in line.slices]
        for at, kind, size, colour in marks:
            occupied.take(Box.around(*at, size, size))
            sheet.mark(at, kind, size, fill="white", edge=colour, width=1.1, z=11.8)


def way_texts(scene: Scene) -> Iterator[str]:
    """Yield what the marks mean, of those that there are."""
    if scene.edge_ports:
        yield "bar at an edge: port of a stream"
    if any(stream.slls for stream in scene.streams):
        yield f"ring: SLR crossing, {scene.at_boundaries}"
    if any(stream.slices for stream in scene.streams):
        yield "square: register slice"
    longest = scene.longest
    if longest is not None and any(stream.longest for stream in scene.streams):
        slices = f", {longest['slices']} slice{'s' * (longest['slices'] > 1)}" if longest["slices"] else ""
        reach = f"reach {longest['reach_tiles']:,.0f}{slices}"
        yield f"yellow: longest stream, {longest['built_tiles']:,.0f} between registers ({reach})"


def stream_key(scenes: Sequence[Scene], dies: Sequence[Die]) -> Iterator[Entry]:
    """Yield the key of the streams on some dies."""
    yield "stream; the wider the more bits", "line", {"colour": STREAM}
    if any(len(die.slrs) > 1 for die in dies):
        yield "stream that leaves its SLR", "line", {"colour": CROSSING, "dashes": _CROSSING_DASHES}
    outside = {kind for scene in scenes for kind in scene.outside_kinds}
    for kind, colour in OUTSIDE_COLOURS.items():
        if kind in outside:
            yield _OUTSIDE_TEXTS[kind], "line", {"colour": colour}
    if any(scene.ports for scene in scenes):
        yield "stream over a link", "line", {"colour": LINK}
