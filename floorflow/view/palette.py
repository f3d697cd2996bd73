"""Colours: module tints in dataflow order and the fixed colours of silicon and streams, safe for the colour-blind."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.colors import to_hex, to_rgb

from floorflow.view.die import ABSENT, FABRIC, HARD

Colour = str
"""``#rrggbb``."""

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
MEMORY = "#00725a"
"""Okabe and Ito's green, darkened: streams from and to buffers in the board's memory."""
LONGEST = "#f0e442"
"""Okabe and Ito's yellow: a glow below the longest stream."""
OTHER_PHASE = "#7a4a1e"
"""Streams that are handed from phase to phase."""
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
"""Tints of the physical columns, in the order of the key, by what `floorflow.view.die` calls them."""


APART = ("#88ccee", "#ddcc77", "#44aa99", "#cc6677", "#999933", "#117733", "#882255", "#332288")
"""Tol's muted colours: all eyes tell them apart. Things that are named have them in turn."""
UNKNOWN = "#dddddd"
"""What has no value, and names beyond those that have a colour."""


def module_colours(count: int) -> tuple[Colour, ...]:
    """Return one colour a module: viridis along the dataflow, every other one paler.

    Order stays visible (dark to light), and neighbours in the pipeline, which often abut, differ in
    lightness by more than the eye's threshold even with many modules.
    """
    ramp, colours = mpl.colormaps["viridis"], []
    for index in range(count):
        pale = 0.62 if index % 2 else 0.30
        red, green, blue, _ = ramp(0.12 + 0.83 * index / max(count - 1, 1))
        colours.append(to_hex((_pale(red, pale), _pale(green, pale), _pale(blue, pale))))
    return tuple(colours)


def network_colour(network: int) -> Colour:
    """Return the colour of a network among several, given by number."""
    return APART[network % len(APART)]


def shades(number: int, count: int) -> tuple[Colour, ...]:
    """Return shades of one of the colours that stand apart, from it to a pale one."""
    red, green, blue = to_rgb(APART[number % len(APART)])
    whites = (0.65 * index / max(count - 1, 1) for index in range(count))
    return tuple(to_hex((_pale(red, white), _pale(green, white), _pale(blue, white))) for white in whites)


def level_colour(level: float) -> Colour:
    """Return the colour of a level from 0 to 1, by cividis, which the colour-blind see alike: light to dark."""
    return to_hex(mpl.colormaps["cividis"](1 - level))


def ink_on(colour: Colour) -> Colour:
    """Return black or white, which is better read on a colour."""
    red, green, blue = to_rgb(colour)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.45 else "#ffffff"


def darker(colour: Colour, share: float = 0.55) -> Colour:
    """Return the colour with its brightness multiplied by ``share``."""
    red, green, blue = to_rgb(colour)
    return to_hex((red * share, green * share, blue * share))


def _pale(channel: float, white: float) -> float:
    return float(channel) * (1 - white) + white
