"""Colours: module tints in dataflow order and the fixed colours of silicon and streams, safe for the colour-blind."""

from __future__ import annotations

import matplotlib as mpl

from floorflow.view.sheet.die import ABSENT, FABRIC, HARD

Colour = tuple[float, float, float]

INK = "#1b1b1b"
DOUBT = "#b3261e"
"""What a reader must not overlook."""
QUIET = "#5f6368"
RULE = "#b9bec4"
STREAM = "#2b2f36"
CROSSING = "#d55e00"
"""Okabe and Ito's vermilion: streams that leave their SLR, bottlenecks, limits."""
OPEN = "#b07800"
"""Okabe and Ito's orange, darkened: neither found nor proven impossible."""
BAR = "#0072b2"
"""Okabe and Ito's blue."""
LINK = "#aa3377"
"""Tol's purple: streams between FPGAs."""
TRACK = "#e6e8eb"
"""What a bar could fill."""

COLUMN_COLOURS = {
    FABRIC: "#f7f7f5",
    "BRAM": "#9ecae1",
    "DSP": "#f3b6c9",
    "URAM": "#c3a6dd",
    "Laguna": "#f2c14e",
    HARD: "#dadde1",
    ABSENT: "#a9adb3",
}
"""Tints of the physical columns, in the order of the key, by what `floorflow.view.sheet.die` calls them."""


def module_colours(count: int) -> tuple[Colour, ...]:
    """Return one colour a module: viridis along the dataflow, every other one paler.

    Order stays visible (dark to light), and neighbours in the pipeline, which often abut, differ in
    lightness by more than the eye's threshold even with many modules.
    """
    ramp = mpl.colormaps["viridis"]
    colours = []
    for index in range(count):
        position = 0.12 + 0.83 * index / max(count - 1, 1)
        red, green, blue, _ = ramp(position)
        pale = 0.62 if index % 2 else 0.30
        colours.append((_mix(red, pale), _mix(green, pale), _mix(blue, pale)))
    return tuple(colours)


def darker(colour: Colour, share: float = 0.55) -> Colour:
    """Return the colour with its brightness multiplied by ``share``."""
    return colour[0] * share, colour[1] * share, colour[2] * share


def _mix(channel: float, white: float) -> float:
    return float(channel) * (1 - white) + white
