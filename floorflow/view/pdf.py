"""A sheet as a figure of matplotlib, which writes it as PDF: its elements of SVG are read back, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from matplotlib.figure import Figure
from matplotlib.patches import Circle, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text

from floorflow.view.charts import POINTS_PER_INCH, drawing_settings
from floorflow.view.sheet import HATCHES, Sheet

_STEP = re.compile(r"([MLhvz])([^MLhvz]*)")


def figure_of(sheet: Sheet) -> Figure:
    """Return a sheet as a figure of the size of its page."""
    scale = sheet.style.scale
    with drawing_settings():
        size = (sheet.width * scale / POINTS_PER_INCH, sheet.height * scale / POINTS_PER_INCH)
        figure = Figure(figsize=size, facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, sheet.width), ylim=(sheet.height, 0))
        axes.set_axis_off()
        hatches = {name: _hatch_of(pattern) for name, pattern in sheet.patterns.items()}
        for number, shape in enumerate(sheet.in_order):
            element = ElementTree.fromstring(shape.svg)  # noqa: S314  (we wrote it)
            artist = _text(element, scale) if element.tag == "text" else _patch(element, scale, hatches)
            artist.set_zorder(number)
            axes.add_artist(artist)
    return figure


def _text(element: ElementTree.Element, scale: float) -> Text:
    x, y, turn = float(element.attrib["x"]), float(element.attrib["y"]), 0
    if "transform" in element.attrib:  # a quarter turn around a point
        about_x, about_y = (float(part) for part in element.attrib["transform"][len("rotate(-90 ") : -1].split())
        x, y, turn = about_x + y - about_y, about_y - (x - about_x), 90
    align = {"start": "left", "middle": "center", "end": "right"}[element.get("text-anchor", "start")]
    return Text(
        x, y, element.text or "", color=element.attrib["fill"],
        fontsize=float(element.attrib["font-size"]) * scale, weight=element.get("font-weight", "normal"),
        rotation=turn, rotation_mode="anchor", ha=align, va="baseline",
    )  # fmt: skip


def _patch(element: ElementTree.Element, scale: float, hatches: dict[str, tuple[str, str]]) -> Any:
    known = element.attrib
    fill, edge, width = known.get("fill", "none"), known.get("stroke", "none"), float(known.get("stroke-width", 0))
    style: dict[str, Any] = {
        "facecolor": _clear(fill, known.get("fill-opacity")),
        "edgecolor": _clear(edge, known.get("stroke-opacity")),
        "linewidth": width * scale if edge != "none" else 0.0,
        "capstyle": {"round": "round", "square": "projecting"}.get(known.get("stroke-linecap", ""), "butt"),
        "joinstyle": "miter",
    }
    if "stroke-dasharray" in known:
        style["linestyle"] = (0, [float(part) / width for part in known["stroke-dasharray"].split()])
    if fill.startswith("url"):
        kind, colour = hatches[fill[5:-1]]
        style |= {"facecolor": "none", "hatch": kind * 2, "edgecolor": _clear(colour, known.get("fill-opacity"))}
    if element.tag == "circle":
        return Circle((float(known["cx"]), float(known["cy"])), float(known["r"]), **style)
    if element.tag == "rect":
        x, y, wide, high = (float(known[name]) for name in ("x", "y", "width", "height"))
        return Rectangle((x, y), wide, high, **style)
    return PathPatch(_path(element), **style)


def _path(element: ElementTree.Element) -> Path:
    if "points" in element.attrib:
        numbers = [float(part) for part in element.attrib["points"].split()]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        closed = element.tag == "polygon"
        return Path([*points, points[0]] if closed else points, closed=closed)
    steps = list(_steps(element.attrib["d"]))
    return Path([point for point, _ in steps], [code for _, code in steps])


def _steps(text: str) -> Iterator[tuple[tuple[float, float], Any]]:
    """Yield the points of a path of `Sheet.shape` with matplotlib's codes."""
    x = y = 0.0
    for letter, rest in _STEP.findall(text):
        numbers = [float(part) for part in rest.split()]
        if letter in "ML":
            x, y = numbers
        x, y = x + numbers[0] * (letter == "h") if numbers else x, y + numbers[0] * (letter == "v") if numbers else y
        yield (x, y), {"M": Path.MOVETO, "z": Path.CLOSEPOLY}.get(letter, Path.LINETO)


def _clear(colour: str, opacity: str | None) -> Any:
    return colour if colour == "none" else (colour, float(opacity or 1.0))


def _hatch_of(pattern: str) -> tuple[str, str]:
    """Return kind and colour of a hatch as `Sheet.patterns` writes it."""
    tile = ElementTree.fromstring(pattern)[0]  # noqa: S314  (we wrote it)
    kind = next(kind for kind, lines in HATCHES.items() if lines == tile.attrib["d"])
    return kind, tile.attrib["stroke"]
