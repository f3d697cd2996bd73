"""The sheet that a picture is drawn on: one Axes over the whole figure whose data units are points (1/72 inch)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text

from floorflow.view.sheet.geometry import POINTS_PER_INCH, Box
from floorflow.view.sheet.outline import outline
from floorflow.view.sheet.palette import INK

_SETTINGS: Any = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "hatch.linewidth": 0.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "floorflow",
    "svg.image_inline": True,
    "text.hinting": "none",
    "text.parse_math": False,
}


@contextmanager
def drawing_settings() -> Iterator[None]:
    """Draw and save with matplotlib's defaults and ours, whatever the user's matplotlibrc says; restore it after."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


@dataclass(frozen=True)
class Sheet:
    """A figure with its single Axes; (0, 0) is the lower left corner, sizes in points."""

    figure: Figure
    axes: Axes
    width: float
    height: float

    def write(self, x: float, y: float, text: str, size: float = 7.5, **style: Any) -> Text:
        """Write text with its base line's left end at (x, y), unless ``ha`` and ``va`` say otherwise."""
        style = {"color": INK, "va": "baseline", "ha": "left", "zorder": 20, **style}
        return self.axes.text(x, y, text, fontsize=size, **style)

    def rectangle(self, box: Box, **style: Any) -> Rectangle:
        """Draw a rectangle."""
        patch = Rectangle((box.left, box.bottom), box.width, box.height, **style)
        self.axes.add_artist(patch)
        return patch

    def shape(self, boxes: Sequence[Box], **style: Any) -> Patch:
        """Draw disjoint boxes as one shape."""
        if len(boxes) == 1:
            return self.rectangle(boxes[0], **style)
        closed = [Path([*line, line[0]], closed=True) for line in outline(boxes)]
        patch = PathPatch(Path.make_compound_path(*closed), **style)
        self.axes.add_artist(patch)
        return patch

    def line(self, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
        """Draw a straight line."""
        self.axes.add_line(Line2D((start[0], end[0]), (start[1], end[1]), solid_capstyle="butt", **style))


def new_sheet(width: float, height: float) -> Sheet:
    """Return an empty white sheet of that size in points."""
    figure = Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_autoscale_on(False)
    axes.set_axis_off()
    return Sheet(figure, axes, width, height)


@dataclass(frozen=True)
class Frame:
    """Where a die lies on its sheet, in points, and how many columns and rows it has."""

    die: Box
    columns: int
    rows: int

    def place(self, box: Box) -> Box:
        """Take a box from grid units to points."""
        x_scale, y_scale = self.die.width / self.columns, self.die.height / self.rows
        return Box(
            self.die.left + box.left * x_scale,
            self.die.bottom + box.bottom * y_scale,
            self.die.left + box.right * x_scale,
            self.die.bottom + box.top * y_scale,
        )

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Take a point from grid units to points."""
        place = self.place(Box(x, y, x, y))
        return place.left, place.bottom
