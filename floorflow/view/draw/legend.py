"""The legend of networks below a title: for plans of several networks a line each, in its colours."""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.view.contents.scene import NetworkView
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import QUIET, darker, network_colours
from floorflow.view.sheet.sheet import Sheet
from floorflow.view.sheet.text import clipped, shortened, text_width

_LINE, _SIZE, _SWATCH, _SAMPLES = 12.5, 8.0, 11.0, 4
"""Height of a line, font size and width of a colour sample in points; samples of a line."""
_BELOW = 5.0
"""Points between the legend and what is below it."""
_MOST_NAME = 150.0
"""Points that a network's name may take."""


def legend_height(networks: Sequence[NetworkView]) -> float:
    """Return the height in points that the legend needs."""
    return _LINE * len(networks) + (_BELOW if networks else 0.0)


def draw_legend(sheet: Sheet, left: float, top: float, networks: Sequence[NetworkView]) -> None:
    """Draw the legend downwards from ``top``: colours, name, numbers of modules, and rate of each network."""
    room = sheet.width - 2 * left
    names = [shortened(network.name, _MOST_NAME, _SIZE) for network in networks]
    name_width = max((text_width(name, _SIZE, bold=True) for name in names), default=0.0)
    text_left = left + _SAMPLES * _SWATCH + 6 + name_width + 8
    for index, (network, name) in enumerate(zip(networks, names, strict=True), start=1):
        y = top - index * _LINE + 3
        for number, colour in enumerate(network_colours(network.number, _SAMPLES)):
            box = Box(left + number * _SWATCH, y - 1.5, left + (number + 1) * _SWATCH, y + 7)
            sheet.rectangle(box, facecolor=colour, edgecolor=darker(colour), linewidth=0.6, zorder=5)
        sheet.write(left + _SAMPLES * _SWATCH + 6, y, name, _SIZE, weight="bold")
        text = clipped(f"{_modules_text(network)}   ·   {network.rate}", left + room - text_left, _SIZE)
        sheet.write(text_left, y, text, _SIZE, color=QUIET)


def _modules_text(network: NetworkView) -> str:
    if network.modules is None:
        return "no module of its own"
    first, last = network.modules
    return f"module {first}" if first == last else f"modules {first} to {last}"
