"""Parts that several pictures have: head, keys, the legend of networks, bars of use, and axes with round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from floorflow.view.box import Box
from floorflow.view.names import NetworkView
from floorflow.view.palette import BAR, CROSSING, INK, QUIET, RULE, TRACK, Colour, darker, ink_on, network_colour
from floorflow.view.sheet import Sheet, Style
from floorflow.view.slots import Use
from floorflow.view.text import clipped, shortened, text_width, wrapped

MARGIN = 18.0
"""Points around all pictures."""
PAGE_PAD, PAGE_HEAD = 8.0, 40.0
"""Points around a picture on a page of its own size, and of the head of a slide."""
ROW = 12.0
"""Height of a line of a table or key in points."""
BAR_ROW = 10.5
"""Height of a bar's line in points."""
BAR_KEY = "bars: share used of what shell and infrastructure leave; tick: most allowed"
KEY_SIZE = 7.0
_SIZE, _ENTRY_GAP = 6.5, 13.0
_BAR_NAME = 36.0
_SAMPLE, _LEGEND_SIZE = 19.0, 8.0
"""Width of a sample in keys, font size of the legend."""
_MOST_NAME = 150.0
"""Points that a network's name may take."""

Entry = tuple[str, str, Style]
"""Of a key: text, kind of its sample (``area``, ``line``, ``number 7``, a mark or none), and how that is drawn."""


def write_head(sheet: Sheet, title: str, *lines: str) -> float:
    """Write a picture's title and the lines below it; return where what follows may begin."""
    room = sheet.width - 2 * MARGIN
    # Bold letters are about a tenth wider.
    sheet.write(MARGIN, sheet.height - 25, clipped(title, 0.88 * room, 13), 13, bold=True)
    y = sheet.height - 40
    for line in lines:
        sheet.write(MARGIN, y, clipped(line, room, 8.5), 8.5, colour=QUIET)
        y -= ROW
    return y + 6


def key_lines(entries: Iterable[Entry], width: float) -> list[list[Entry]]:
    """Share the entries of a key among lines of a width in points."""
    lines: list[list[Entry]] = []
    room = 0.0
    for entry in (part for whole in entries for part in _fitting(whole, width)):
        if not lines or entry_width(entry) > room:
            lines.append([])
            room = width
        lines[-1].append(entry)
        room -= entry_width(entry) + _ENTRY_GAP
    return lines


def _fitting(entry: Entry, width: float) -> list[Entry]:
    """Break a sentence that is wider than the key; shorten the text of a sample that is."""
    text, kind, style = entry
    if entry_width(entry) <= width:
        return [entry]
    if kind:
        return [(shortened(text, width - _SAMPLE - 4, KEY_SIZE), kind, style)]
    return [(line, kind, style) for line in wrapped(text, width, KEY_SIZE, 3)]


def entry_width(entry: Entry) -> float:
    """Return the width of an entry with its sample, which a sentence does not have."""
    return text_width(entry[0], KEY_SIZE) + (_SAMPLE + 4 if entry[1] else 0.0)


def draw_key(
    sheet: Sheet, top: float, entries: Iterable[Entry], left: float = MARGIN, right: float | None = None
) -> float:
    """Explain colours, hatches, lines and marks between two margins, in as many lines as that takes.

    Return the base line of the next line.
    """
    y = top
    for line in key_lines(entries, (sheet.width - MARGIN if right is None else right) - left):
        x = left
        for text, kind, style in line:
            _draw_sample(sheet, x, y, kind, style)
            sheet.write(x + (_SAMPLE + 4 if kind else 0.0), y, text, KEY_SIZE, colour=INK if kind else QUIET)
            x += entry_width((text, kind, style)) + _ENTRY_GAP
        y -= ROW
    return y


def _draw_sample(sheet: Sheet, x: float, y: float, kind: str, style: Style) -> None:
    if kind == "area":
        sheet.rectangle(Box(x, y - 1.5, x + _SAMPLE, y + 6.5), **{"width": 0.5, **style}, z=5)
    elif kind == "line":
        sheet.line((x, y + 2.5), (x + _SAMPLE, y + 2.5), **{"width": 2.0, **style}, z=5)
    elif kind.startswith("number "):
        draw_number(sheet, Box(x, y - 1.8, x + _SAMPLE, y + 7.2), kind.partition(" ")[2], style["fill"], KEY_SIZE)
    elif kind:
        sheet.mark((x + _SAMPLE / 2, y + 2.6), kind, **style, z=5)


def draw_number(sheet: Sheet, box: Box, number: str, colour: Colour, size: float) -> None:
    """Write a module's number on its colour."""
    sheet.rectangle(box, fill=colour, edge=darker(colour), width=0.7, z=15)
    at = box.centre[0], box.bottom + (box.height - 0.73 * size) / 2
    sheet.write(*at, number, size, colour=ink_on(colour), bold=True, align="middle")


def legend_height(networks: Sequence[NetworkView]) -> float:
    """Return the height in points that the legend of networks needs."""
    return 12.5 * len(networks) + 5.0 * bool(networks)


def draw_legend(sheet: Sheet, top: float, networks: Sequence[NetworkView], *, coloured: bool = True) -> None:
    """Draw a line for each network downwards from ``top``: its colour, name, numbers of its modules, and rate."""
    names = [shortened(network.name, _MOST_NAME, _LEGEND_SIZE) for network in networks]
    name_width = max((text_width(name, _LEGEND_SIZE, bold=True) for name in names), default=0.0)
    name_left = MARGIN + _SAMPLE + 6
    text_left = name_left + name_width + 8
    for index, (network, name) in enumerate(zip(networks, names, strict=True), start=1):
        y = top - index * 12.5 + 3
        if coloured:
            _draw_sample(sheet, MARGIN, y, "area", {"fill": network_colour(network.number)})
        sheet.write(name_left, y, name, _LEGEND_SIZE, bold=True)
        first, last = network.modules or (0, 0)
        modules = (
            f"modules {first} to {last}" if first != last else f"module {first}" if first else "no module of its own"
        )
        text = clipped(f"{modules}   ·   {network.rate}", sheet.width - MARGIN - text_left, _LEGEND_SIZE)
        sheet.write(text_left, y, text, _LEGEND_SIZE, colour=QUIET)


def draw_bars(sheet: Sheet, left: float, right: float, y: float, use: Mapping[str, Use]) -> float:
    """Draw a bar a resource downwards from ``y``, its limit as a tick; return where the next line may begin."""
    track_right = right - text_width("100%, at most 100%", _SIZE) - 4
    for name, amount in use.items():
        y -= BAR_ROW
        sheet.write(left, y, name, _SIZE)
        draw_bar(sheet, Box(left + _BAR_NAME, y - 0.6, track_right, y + 5.6), amount)
        sheet.write(right, y, f"{amount.share:.0%}, at most {amount.limit:.0%}", _SIZE, align="end")
    return y


def draw_bar(sheet: Sheet, track: Box, amount: Use) -> None:
    """Draw one bar: the whole track is all that is available, the tick the limit."""
    sheet.rectangle(track, fill=TRACK, z=5)
    length = track.width * min(amount.share, 1.0)
    over = amount.share > amount.limit + 1e-9
    if length > 0:
        used = Box(track.left, track.bottom, track.left + length, track.top)
        sheet.rectangle(used, fill=CROSSING if over else BAR, z=6)
    if amount.limit < 1:
        x = track.left + track.width * amount.limit
        sheet.line((x, track.bottom - 1.4), (x, track.top + 1.4), colour=INK, z=7)


def ticks(first: float, last: float) -> tuple[float, ...]:
    """Return round numbers between two: 1, 2 and 5 times powers of ten, or only these powers on a long axis."""
    return _round_numbers(first, last, (1.0, 2.0, 5.0) if last / first < 2000 else (1.0,))


def spaced_ticks(first: float, last: float) -> tuple[float, ...]:
    """Return round numbers between two, few enough to be written side by side below a panel."""
    leads = (1.0, 2.0, 5.0) if last / first < 100 else (1.0, 3.0) if last / first < 10**4 else (1.0,)
    return _round_numbers(first, last, leads)


def _round_numbers(first: float, last: float, leads: tuple[float, ...]) -> tuple[float, ...]:
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    found = (lead * 10.0**power for power in powers for lead in leads)
    return tuple(number for number in found if first <= number <= last)


@dataclass(frozen=True)
class Axis:
    """From numbers to points across an area of the sheet: from ``first``, logarithmic, or linear from 0."""

    area: Box
    first: float
    last: float
    logarithmic: bool = False

    def at(self, number: float) -> float:
        """Return where a number lies; what is off the axis lies at its end."""
        if self.logarithmic:
            share = math.log(max(number, self.first) / self.first) / math.log(self.last / self.first)
        else:
            share = number / self.last
        return self.area.left + self.area.width * min(share, 1.0)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round numbers along the axis."""
        if self.logarithmic:
            return ticks(self.first, self.last)
        power = 10.0 ** math.floor(math.log10(max(self.last, 1)))
        steps = (power * part for part in (0.2, 0.5, 1.0, 2.0))
        step = next(size for size in steps if size >= 1 and self.last / size <= 6.5)
        return tuple(step * index for index in range(int(self.last / step) + 1))

    def draw(self, sheet: Sheet, caption: str) -> None:
        """Draw a line at each tick, with its number and the caption below the area."""
        area = self.area
        for number in self.ticks:
            x = self.at(number)
            sheet.line((x, area.bottom), (x, area.top), colour=RULE, width=0.5)
            sheet.write(x, area.bottom - 10, tick_text(number), 6.5, colour=QUIET, align="middle")
        sheet.write(area.left, area.bottom - 22, caption, 6.8, colour=QUIET)


def tick_text(number: float) -> str:
    """Write a round number shortly: 500, 20k, 1.5M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def time_unit(time_us: float) -> tuple[str, float]:
    """Return the unit in which a time is a number of few digits, and its microseconds."""
    return ("s", 1e6) if time_us >= 1e6 else ("ms", 1e3) if time_us >= 1e3 else ("µs", 1.0)


def time_text(time_us: float) -> str:
    """Write a time with four digits: ``12.34 ms``."""
    unit, size_us = time_unit(time_us)
    amount = time_us / size_us
    return f"{amount:,.0f} {unit}" if amount >= 1000 else f"{amount:.4g} {unit}"
