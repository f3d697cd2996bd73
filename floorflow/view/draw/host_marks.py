"""Marks of the streams from and to the outside beside a die where it is drawn small, with other FPGAs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.patches import FancyArrowPatch

from floorflow.view.contents.outside_ends import OutsideEnd
from floorflow.view.contents.scene import Scene
from floorflow.view.draw.streams import OUTSIDE_COLOURS
from floorflow.view.sheet.die import Die
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import CROSSING
from floorflow.view.sheet.sheet import Frame, Sheet
from floorflow.view.sheet.text import Occupied, block_size, shortened, text_width

_SIZE = 6.8
_REACH = 18.0
"""Points between the die's edge and the text of an outside end: the strip of the clock regions' numbers."""
_MOST_WIDTH = 54.0
"""Points that a line of such a text may take."""
_LANE = 5.0
"""Points from the die's edge to the first stream along it from the host to another SLR, and between two."""
_HEAD = 6.0
"""Points at an arrow's tip that its head covers."""
_STYLE: dict[str, Any] = {"ha": "center", "va": "center", "weight": "bold", "linespacing": 1.1}


def slr_boxes(frame: Frame, scene: Scene, die: Die) -> dict[str, Box]:
    """Return the SLR of each slot in points, by the slot's name."""
    slrs = {name: frame.place(box) for name, box in die.slrs}
    return {slot.name: slrs[slot.slr] for slot in scene.slots}


def slot_boxes(frame: Frame, scene: Scene, die: Die) -> dict[str, Box]:
    """Return each slot in points, by its name: its SLR, or the rows of its region where it shares the SLR."""
    boxes = slr_boxes(frame, scene, die)
    slrs = [slot.slr for slot in scene.slots]
    for slot in scene.slots:
        if slrs.count(slot.slr) > 1:
            slr, region = boxes[slot.name], frame.place(die.slots[slot.name])
            boxes[slot.name] = Box(slr.left, region.bottom, slr.right, region.top)
    return boxes


@dataclass(frozen=True)
class _OutsideStream:
    """A stream between the outside and a module or port: the SLR of its end outside, the other's box, in points."""

    end: OutsideEnd
    width_bits: int
    slr: Box
    near: Box
    enters: bool

    @property
    def crosses(self) -> bool:
        """Whether the other end lies in another SLR than the host."""
        return not self.slr.bottom <= self.near.centre[1] <= self.slr.top


def draw_host_marks(
    sheet: Sheet, frame: Frame, scene: Scene, slrs: Mapping[str, Box], ends: Mapping[str, Box], *, occupied: Occupied
) -> None:
    """Draw an arrow between each end outside, beside its SLR, and the module or port that it feeds or that feeds it.

    ``slrs`` and ``ends`` are the boxes of the slots' SLRs, and of the labels of modules and ports, in points. A
    stream to another SLR runs along the die's edge, drawn as a crossing.
    """
    places = {end.text: slrs[slot.name] for slot in scene.slots for end in slot.outside}
    lanes = {True: 0, False: 0}
    for stream in scene.streams:
        enters = stream.source not in ends
        far, near = (stream.source, stream.target) if enters else (stream.target, stream.source)
        if far in places and near in ends:
            outside = _OutsideStream(scene.outside[far], stream.width_bits, places[far], ends[near], enters)
            at_left = _is_left(frame, outside, ends)
            _draw_mark(sheet, frame, outside, at_left=at_left, lane=lanes[at_left], occupied=occupied)
            lanes[at_left] += outside.crosses


def _is_left(frame: Frame, stream: _OutsideStream, ends: Mapping[str, Box]) -> bool:
    """Choose the side: across the die from a port, else with fewer labels before the module's, else the nearer."""
    x, y = stream.near.centre
    if not frame.die.left < x < frame.die.right:
        return x > frame.die.right

    def labels_met(box: Box) -> int:
        return sum(box.overlaps(other) for other in ends.values() if other != stream.near)

    left = labels_met(Box(frame.die.left, y - 1, stream.near.left, y + 1))
    right = labels_met(Box(stream.near.right, y - 1, frame.die.right, y + 1))
    return (left, x - frame.die.left) <= (right, frame.die.right - x)


def _draw_mark(
    sheet: Sheet, frame: Frame, stream: _OutsideStream, *, at_left: bool, lane: int, occupied: Occupied
) -> None:
    """Draw the arrow of one stream, from or to a text at the left or right of the die."""
    colour = OUTSIDE_COLOURS[stream.end.kind]
    lines = (*_name_lines(stream.end), f"{stream.width_bits} bit")
    x, y = stream.near.centre
    is_port = not frame.die.left < x < frame.die.right
    # Above the middle in, below it out: a module may have both.
    beside = 0.0 if is_port else min(stream.near.height / 4, 8.0) * (1 if stream.enters else -1)
    height = stream.slr.centre[1] if stream.crosses or is_port else y + beside
    box = _beside(frame, lines, height, at_left=at_left, occupied=occupied)
    sheet.write(*box.centre, "\n".join(lines), _SIZE, color=colour, **_STYLE)
    outer = (box.right + 2 if at_left else box.left - 2, box.centre[1])
    inner = (stream.near.left if at_left else stream.near.right, y + beside)
    if not stream.crosses:
        _draw_path(sheet, (outer, inner), colour, enters=stream.enters)
        return
    inwards = 1 if at_left else -1
    edge = frame.die.left if at_left else frame.die.right
    turn = edge + inwards * (_LANE * (lane + 1))
    path = ((turn, outer[1]), (turn, inner[1]), inner)
    _draw_path(sheet, (outer, path[0]), colour, enters=stream.enters, has_head=not stream.enters)
    _draw_path(sheet, path, CROSSING, enters=stream.enters, has_head=stream.enters)


def _name_lines(end: OutsideEnd) -> list[str]:
    """Name an end outside in lines that fit beside a die: where it has to be, its kind stands alone."""
    *network, line = end.lines
    whole = text_width(line, _SIZE, bold=True) <= _MOST_WIDTH
    lines = [*network, line] if whole else [*network, end.kind, end.name]
    return [shortened(line, 0.9 * _MOST_WIDTH, _SIZE) for line in lines]


def _draw_path(
    sheet: Sheet, path: Sequence[tuple[float, float]], colour: str, *, enters: bool, has_head: bool = True
) -> None:
    """Draw a line through the corners of ``path``, from the host inwards, its head at the end it goes to."""
    points = path if enters else path[::-1]
    x, y = zip(*points, strict=True)
    style: dict[str, Any] = {"linestyle": (0, (4.0, 1.2))} if colour == CROSSING else {}
    (start_x, start_y), (tip_x, tip_y) = points[-2:]
    if has_head:
        length = math.hypot(tip_x - start_x, tip_y - start_y)
        share = max(1 - _HEAD / length, 0.0) if length else 0.0
        base = (start_x + share * (tip_x - start_x), start_y + share * (tip_y - start_y))
        x, y = (*x[:-1], base[0]), (*y[:-1], base[1])
        arrow = FancyArrowPatch(base, (tip_x, tip_y), arrowstyle="-|>", mutation_scale=9, shrinkA=0, shrinkB=0)
        arrow.set(color=colour, linewidth=1.0, zorder=10)
        sheet.axes.add_artist(arrow)
    sheet.axes.plot(x, y, color="white", alpha=0.75, linewidth=3.4, solid_joinstyle="miter", zorder=9)
    sheet.axes.plot(x, y, color=colour, linewidth=1.6, solid_capstyle="butt", zorder=10, **style)


def _beside(frame: Frame, lines: tuple[str, ...], y: float, *, at_left: bool, occupied: Occupied) -> Box:
    """Take a free place for a text beside the die, as near to height ``y`` as there is one."""
    width, height = block_size(lines, _SIZE, bold=True)
    x = frame.die.left - _REACH - width / 2 if at_left else frame.die.right + _REACH + width / 2
    steps = sorted(range(-80, 81), key=lambda step: (abs(step), step))
    places = [Box.around(x, y + 3 * step, width, height) for step in steps]
    box = next((place for place in places if occupied.free(place, 2.0)), places[0])
    occupied.take(box)
    return box
