"""Colours: module tints in dataflow order and the fixed colours of silicon and streams, safe for the colour-blind."""

from __future__ import annotations

from collections.abc import Sequence

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


_FAMILIES = ("Blues", "Greens", "Purples", "YlOrBr", "Reds", "Greys")
"""Of several networks each has one of these ramps, in this order and over again."""


def module_colours(count: int) -> tuple[Colour, ...]:
    """Return one colour a module: viridis along the dataflow, every other one paler.

    Order stays visible (dark to light), and neighbours in the pipeline, which often abut, differ in
    lightness by more than the eye's threshold even with many modules.
    """
    return _ramp("viridis", count, (0.12, 0.95))


def network_colours(network: int, count: int) -> tuple[Colour, ...]:
    """Return one colour a module of a network among several, dark to light within the network's own hue."""
    return _ramp(_FAMILIES[network % len(_FAMILIES)], count, (0.85, 0.45))


def colours_by_network(networks: Sequence[int]) -> tuple[Colour, ...]:
    """Return one colour a module in the family of its network, given by number."""
    ramps = {network: iter(network_colours(network, networks.count(network))) for network in set(networks)}
    return tuple(next(ramps[network]) for network in networks)


def _ramp(name: str, count: int, ends: tuple[float, float]) -> tuple[Colour, ...]:
    ramp, (first, last) = mpl.colormaps[name], ends
    colours = []
    for index in range(count):
        pale = 0.62 if index % 2 else 0.30
        red, green, blue, _ = ramp(first + (last - first) * index / max(count - 1, 1))
        colours.append(to_hex((_pale(red, pale), _pale(green, pale), _pale(blue, pale))))
    return tuple(colours)


def darker(colour: Colour, share: float = 0.55) -> Colour:
    """Return the colour with its brightness multiplied by ``share``."""
    red, green, blue = to_rgb(colour)
    return to_hex((red * share, green * share, blue * share))


def _pale(channel: float, white: float) -> float:
    return float(channel) * (1 - white) + white
