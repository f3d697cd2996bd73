"""What the charts that matplotlib draws have in common: settings, heads, the look of axes, and how they become SVG."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from floorflow.view.palette import BAR, CROSSING, INK, LINK, OPEN, QUIET, RULE
from floorflow.view.text import FAMILY, clipped

POINTS_PER_INCH = 72
TITLE_SIZE, SIZE, TICK_SIZE = 12.0, 8.5, 7.5
MARKS: tuple[tuple[str, str], ...] = (
    ("o", BAR),
    ("s", CROSSING),
    ("D", LINK),
    ("^", OPEN),
    ("v", "#009e73"),
    ("P", "#56b4e9"),
    ("X", QUIET),
)
"""Marker and colour of things in turn; markers alone tell them apart."""
_SETTINGS: Any = {
    "font.family": ["sans-serif"],
    "font.sans-serif": [FAMILY],
    "hatch.linewidth": 0.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "floorflow",
    "text.parse_math": False,
}


@contextmanager
def drawing_settings() -> Iterator[None]:
    """Draw and save with matplotlib's defaults and ours, whatever the user's matplotlibrc says; restore it after."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def figure_svg(figure: Figure) -> str:
    """Return a figure as SVG without date, with fixed identifiers."""
    stream = StringIO()
    with drawing_settings():
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": "floorflow"})
    # Without this, spaces beside one another would be one where the SVG is shown.
    return stream.getvalue().replace("<svg ", '<svg xml:space="preserve" ', 1)


def figure_pdf(figure: Figure) -> bytes:
    """Return a figure as PDF without date, its fonts in it."""
    stream = BytesIO()
    with drawing_settings():
        figure.savefig(stream, format="pdf", metadata={"CreationDate": None, "Creator": "floorflow"})
    return stream.getvalue()


def write_lines(figure: Figure, left: float, *lines: tuple[str, float]) -> None:
    """Write a figure's title and what is to be known of it: lines, each with its distance from the top in inches."""
    width, height = figure.get_size_inches()
    room = (width - 2 * left) * POINTS_PER_INCH
    for index, (line, below) in enumerate(lines):
        style: dict[str, Any] = {"color": QUIET, "fontsize": SIZE}
        if index == 0:
            style = {"color": INK, "fontsize": TITLE_SIZE, "weight": "bold"}
        # Bold letters are about a tenth wider.
        text = clipped(line, room if index else 0.88 * room, style["fontsize"])
        figure.text(left / width, 1 - below / height, text, **style)


def write_key(figure: Figure, handles: list[Artist], left: float = 0.2, **style: Any) -> None:
    """Write the key at the lower left corner, ``left`` inches from the edge."""
    width, height = figure.get_size_inches()
    style = {"ncols": 4, "fontsize": SIZE, "frameon": False, "borderaxespad": 0, **style}
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(left / width, 0.06 / height), **style)


def dress(axes: Axes) -> None:
    """Give axes the look of all charts."""
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=TICK_SIZE, color=RULE, labelcolor=QUIET, length=2.5)
    for spine in axes.spines.values():
        spine.set_color(RULE)
