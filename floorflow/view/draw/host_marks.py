"""Marks of the host's streams beside a die where it is drawn small, with other FPGAs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.patches import FancyArrowPatch

from floorflow.view.contents.scene import Scene
from floorflow.view.sheet.die import Die
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import BAR, CROSSING
from floorflow.view.sheet.sheet import Frame, Sheet
from floorflow.view.sheet.text import Occupied, block_size

_SIZE = 6.8
_REACH = 18.0
"""Points between the die's edge and the text of an outside end: the strip of the clock regions' numbers."""
_LANE = 5.0
"""Points from the die's edge to the first stream along it from the host to another SLR, and between two."""
_HEAD = 6.0
"""Points at an arrow's tip that its head covers."""
_STYLE: dict[str, Any] = {"ha": "center", "va": "center", "weight": "bold", "linespacing": 1.1}


def slot_boxes(frame: Frame, scene: Scene, die: Die) -> dict[str, Box]:
    """Return the SLR of each slot in points, by the slot's name."""
    slrs = {name: frame.place(box) for name, box in die.slrs}
    return {slot.name: slrs[slot.slr] for slot in scene.slots}


@dataclass(frozen=True)
class _HostStream:
    """A stream between the host and a module or port: the host's ``slot`` and the other end's box, in points."""

    name: str
    width_bits: int
    slot: Box
    near: Box
    enters: bool

    @property
    def crosses(self) -> bool:
        """Whether the other end lies in another SLR than the host."""
        return not self.slot.bottom <= self.near.centre[1] <= self.slot.top


def draw_host_marks(
    sheet: Sheet, frame: Frame, scene: Scene, slots: Mapping[str, Box], ends: Mapping[str, Box], *, occupied: Occupied
) -> None:
    """Draw an arrow between the host, beside its slot, and each module or port that it feeds or that feeds it.

    ``slots`` and ``ends`` are the boxes of the slots, and of the labels of modules and ports, in points. A stream
    to another SLR runs along the die's edge, drawn as a crossing.
    """
    host_slots = {name: slots[slot.name] for slot in scene.slots for name in slot.host}
    lanes = {True: 0, False: 0}
    for stream in scene.streams:
        enters = stream.source not in ends
        host, near = (stream.source, stream.target) if enters else (stream.target, stream.source)
        if host in host_slots and near in ends:
            host_stream = _HostStream(host, stream.width_bits, host_slots[host], ends[near], enters)
            at_left = _is_left(frame, host_stream, ends)
            _draw_host_mark(sheet, frame, host_stream, at_left=at_left, lane=lanes[at_left], occupied=occupied)
            lanes[at_left] += host_stream.crosses


def _is_left(frame: Frame, stream: _HostStream, ends: Mapping[str, Box]) -> bool:
    """Choose the side: across the die from a port, else with fewer labels before the module's, else the nearer."""
    x, y = stream.near.centre
    if not frame.die.left < x < frame.die.right:
        return x > frame.die.right

    def labels_met(box: Box) -> int:
        return sum(box.overlaps(other) for other in ends.values() if other != stream.near)

    left = labels_met(Box(frame.die.left, y - 1, stream.near.left, y + 1))
    right = labels_met(Box(stream.near.right, y - 1, frame.die.right, y + 1))
    return (left, x - frame.die.left) <= (right, frame.die.right - x)


def _draw_host_mark(
    sheet: Sheet, frame: Frame, stream: _HostStream, *, at_left: bool, lane: int, occupied: Occupied
) -> None:
    """Draw the arrow of one stream, from or to a text at the left or right of the die."""
    lines = (stream.name, f"{stream.width_bits} bit")
    x, y = stream.near.centre
    is_port = not frame.die.left < x < frame.die.right
    # Above the middle in, below it out: a module may have both.
    beside = 0.0 if is_port else min(stream.near.height / 4, 8.0) * (1 if stream.enters else -1)
    height = stream.slot.centre[1] if stream.crosses or is_port else y + beside
    box = _beside(frame, lines, height, at_left=at_left, occupied=occupied)
    sheet.write(*box.centre, "\n".join(lines), _SIZE, color=BAR, **_STYLE)
    outer = (box.right + 2 if at_left else box.left - 2, box.centre[1])
    inner = (stream.near.left if at_left else stream.near.right, y + beside)
    if not stream.crosses:
        _draw_path(sheet, (outer, inner), BAR, enters=stream.enters)
        return
    inwards = 1 if at_left else -1
    edge = frame.die.left if at_left else frame.die.right
    turn = edge + inwards * (_LANE * (lane + 1))
    path = ((turn, outer[1]), (turn, inner[1]), inner)
    _draw_path(sheet, (outer, path[0]), BAR, enters=stream.enters, has_head=not stream.enters)
    _draw_path(sheet, path, CROSSING, enters=stream.enters, has_head=stream.enters)


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
