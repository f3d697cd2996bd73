"""Marks on the ways of streams: ports at the edges of modules, Laguna columns between SLRs, register slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from floorflow.view.contents.scene import EdgePort, LongestView, Scene
from floorflow.view.draw.streams import StreamLine
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import CROSSING, INK
from floorflow.view.sheet.sheet import Frame, Sheet
from floorflow.view.sheet.text import Occupied

_DEPTH, _LEAST = 2.8, 3.2
"""Points that a port's bar reaches into its module, and its least length along the edge."""
_SLL, _SLICE = 4.6, 4.2
"""Points across the mark of an SLR crossing, and of a register slice."""


def draw_edge_ports(sheet: Sheet, frame: Frame, ports: Sequence[EdgePort]) -> None:
    """Draw each port as a bar inside its module, as long as the rows or columns that it takes."""
    for port in ports:
        style = {"facecolor": INK, "edgecolor": "white", "linewidth": 0.5}
        sheet.rectangle(_bar(frame, port), **style, zorder=11.5)


def _bar(frame: Frame, port: EdgePort) -> Box:
    upright = port.side in ("left", "right")
    x, y = frame.point(*port.point)
    ends = [frame.point(along, along)[1 if upright else 0] for along in (port.first, port.last)]
    length = max(ends[1] - ends[0], _LEAST)
    inwards = _DEPTH / 2 if port.side in ("left", "bottom") else -_DEPTH / 2
    return Box.around(x + inwards, y, _DEPTH, length) if upright else Box.around(x, y + inwards, length, _DEPTH)


def draw_way_marks(sheet: Sheet, stream_lines: Sequence[StreamLine], occupied: Occupied) -> None:
    """Mark SLR crossings by rings, register slices by small squares; texts keep off both."""
    for line in stream_lines:
        for x, y in line.slls:
            occupied.take(Box.around(x, y, _SLL, _SLL))
            _mark(sheet, (x, y), "o", _SLL, CROSSING)
        for x, y in line.slices:
            occupied.take(Box.around(x, y, _SLICE, _SLICE))
            _mark(sheet, (x, y), "s", _SLICE, INK)


def _mark(sheet: Sheet, at: tuple[float, float], marker: str, size: float, colour: str) -> None:
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 1.1}
    sheet.axes.plot(*at, marker=marker, markersize=size, color=colour, zorder=11.8, **hollow)


def way_keys(scene: Scene) -> Iterator[str]:
    """Yield what the marks mean, of those that there are."""
    if scene.edge_ports:
        yield "bar at an edge: port of a stream"
    if any(stream.slls for stream in scene.streams):
        yield "ring: Laguna column of an SLR crossing"
    if any(stream.slices for stream in scene.streams):
        yield "square: register slice"
    if scene.longest is not None and any(stream.longest for stream in scene.streams):
        yield f"yellow: longest stream, {_length_text(scene.longest)}"


def _length_text(longest: LongestView) -> str:
    slices = f", {longest.slices} slice{'s' * (longest.slices > 1)}" if longest.slices else ""
    return f"{longest.tiles:,.0f} columns and rows (reach {longest.reach_tiles:,.0f}{slices})"
