"""Lead streams past the modules' labels and draw them: width by bits, colour by how far they go."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from numpy.typing import NDArray

from floorflow.view.contents.scene import StreamView
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import BAR, CROSSING, LINK, LONGEST, MEMORY, OTHER_PHASE, STREAM
from floorflow.view.sheet.sheet import Sheet
from floorflow.view.sheet.text import Occupied, block_size

Path = NDArray[np.float64]
"""(points, 2): x and y in points along a line."""

Reach = Literal["slr", "host", "memory", "phase", "fpga", "link"]
"""How far a stream goes: within its SLR, there from or to one outside, over SLR boundaries, or over a link."""
OUTSIDE_COLOURS = {"host": BAR, "memory": MEMORY, "phase": OTHER_PHASE}
_COLOURS = {"slr": STREAM, "fpga": CROSSING, "link": LINK, **OUTSIDE_COLOURS}

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


Point = tuple[float, float]


@dataclass(frozen=True)
class Stops:
    """What a stream passes, in points, in order: ports at the edges of its modules, and Laguna columns."""

    from_port: Point | None = None
    slls: tuple[Point, ...] = ()
    to_port: Point | None = None

    @property
    def points(self) -> tuple[Point, ...]:
        """All of them."""
        ports = [() if port is None else (port,) for port in (self.from_port, self.to_port)]
        return (*ports[0], *self.slls, *ports[1])


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
    marks = _evenly(shown, stream.slices)
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


def _evenly(path: Path, count: int) -> tuple[Point, ...]:
    """Return so many points along a path, with equal ways between them and to its ends."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    wanted = along[-1] * np.arange(1, count + 1) / (count + 1)
    pairs = zip(np.interp(wanted, along, path[:, 0]), np.interp(wanted, along, path[:, 1]), strict=True)
    return tuple((float(x), float(y)) for x, y in pairs)


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
    curves = (_curve(source.centre, target.centre, bend) for bend in bends)
    best = next(curves)
    fewest = boxes_met(best)
    for curve in curves:
        if fewest == 0:
            break
        count = boxes_met(curve)
        if count < fewest:
            best, fewest = curve, count
    return best


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


def draw_stream_lines(sheet: Sheet, stream_lines: Sequence[StreamLine]) -> None:
    """Draw all streams: a white casing, so that they stand out from the modules, then lines and arrow heads."""
    if not stream_lines:
        return
    lines = [_shaft(item) for item in stream_lines]
    widths = [item.line_width for item in stream_lines]
    colours = [_COLOURS[item.reach] for item in stream_lines]
    casing = LineCollection(lines, linewidths=[width + 1.8 for width in widths], colors="white", alpha=0.75, zorder=9)
    halo = [(line, width) for line, width, item in zip(lines, widths, stream_lines, strict=True) if item.longest]
    for line, width in halo:
        glow = LineCollection([line], linewidths=width + 6.0, colors=LONGEST, zorder=8.9, capstyle="round")
        sheet.axes.add_collection(glow, autolim=False)
    styles = [(0, (4.0, 1.2)) if item.reach == "fpga" else "solid" for item in stream_lines]
    shafts = LineCollection(lines, linewidths=widths, colors=colours, linestyles=styles, zorder=10)
    heads = [_head(item) for item in stream_lines if item.tip]
    head_colours = [colour for colour, item in zip(colours, stream_lines, strict=True) if item.tip]
    sheet.axes.add_collection(casing, autolim=False)
    sheet.axes.add_collection(shafts, autolim=False)
    sheet.axes.add_collection(
        PolyCollection(heads, facecolors=head_colours, edgecolors="white", linewidths=0.4, zorder=11),
        autolim=False,
    )


def _head_length(item: StreamLine) -> float:
    return 3.5 * item.scale + 1.5 * item.line_width


def _direction(path: Path) -> Path:
    step = path[-1] - path[max(len(path) - 12, 0)]
    return np.asarray(step / np.hypot(*step))


def _shaft(item: StreamLine) -> Path:
    """Return the line up to the base of its arrow head, thinned out to what the eye needs."""
    path = item.path
    if item.tip:
        distance = np.hypot(*(path - path[-1]).T)
        shaft = path[distance >= 0.8 * _head_length(item)]
        path = shaft if len(shaft) > 1 else path[:2]
    return np.round(path[_needed(path)], 2)


def _needed(path: Path) -> NDArray[np.int64]:
    """Return which points the eye needs: both ends, sharp corners, and of bends every tenth."""
    steps = np.diff(path, axis=0)
    steps = steps / np.maximum(np.hypot(*steps.T), 1e-9)[:, np.newaxis]
    turns = np.abs(steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0])
    inner = np.arange(1, len(path) - 1)
    bent = (turns > _CORNER) | ((turns > _STRAIGHT) & (inner % 10 == 0))
    return np.concatenate([[0], inner[bent], [len(path) - 1]])


def _head(item: StreamLine) -> Path:
    tip, along, length = item.path[-1], _direction(item.path), _head_length(item)
    across = np.array([-along[1], along[0]]) * length * 0.42
    base = tip - along * length
    return np.round(np.array([tip, base + across, base - across]), 2)


def label_crossings(
    sheet: Sheet, stream_lines: Sequence[StreamLine], boundaries: Sequence[float], occupied: Occupied
) -> None:
    """Write the width in bits beside each crossing stream, on the first boundary it meets, if a place is free.

    Widths that find no place are still in the table of modules.
    """
    for item in stream_lines:
        if item.reach != "fpga":
            continue
        text, size = f"{item.width_bits} bit", 6.5
        width, height = block_size((text,), size, bold=True)
        box = _free_box(item.path, boundaries, width + 3, height, occupied)
        if box is not None:
            occupied.take(box)
            patch = {
                "boxstyle": "square,pad=0.12",
                "facecolor": "white",
                "edgecolor": CROSSING,
                "linewidth": 0.6,
            }
            style: dict[str, Any] = {"ha": "center", "va": "center_baseline", "weight": "bold", "bbox": patch}
            sheet.write(*box.centre, text, size, color=CROSSING, **style)


def _free_box(path: Path, boundaries: Sequence[float], width: float, height: float, occupied: Occupied) -> Box | None:
    """Return a free place on the line as near as possible to the first boundary that it crosses."""
    low, high = sorted((float(path[0, 1]), float(path[-1, 1])))
    crossed = [y for y in boundaries if low <= y <= high]
    start = int(np.argmin(np.abs(path[:, 1] - crossed[0]))) if crossed else len(path) // 2
    for index in sorted(range(0, len(path), 3), key=lambda position: (abs(position - start), position)):
        box = Box.around(float(path[index, 0]), float(path[index, 1]), width, height)
        if occupied.free(box, 4.0):
            return box
    return None
