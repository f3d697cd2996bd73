"""The folding chart: cycles of each engine against the interval, with the slowest engine marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan, all_engines, network_in, phase_text, platform_text, reached_text
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import BAR, CROSSING, INK, QUIET, RULE
from floorflow.view.sheet.sheet import Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import clipped, shortened, text_width

_ROW, _SIZE, _MARGIN, _HEADER, _AXIS = 13.0, 7.5, 20.0, 62.0, 30.0
"""Height of a bar's line, font size, margins, all in points."""
_BAR_WIDTH, _MAX_NAME_WIDTH, _GAP = 420.0, 190.0, 9.0
"""Also in points: the gap lies between the interval's line and the column of foldings."""
_MAX_BARS = 120
"""More engines than this do not fit on a sheet that anyone reads: the fastest are left out, and the chart says so."""


@dataclass(frozen=True)
class Bar:
    """One engine's line."""

    name: str
    cycles: int
    note: str
    slowest: bool


@dataclass(frozen=True)
class CyclesAxis:
    """From cycles to points right of the axis; logarithmic if ``decades``."""

    first: float
    last: float
    width: float
    decades: bool

    def at(self, cycles: float) -> float:
        """Return the length of a bar in points."""
        if self.decades:
            return self.width * math.log10(max(cycles, self.first) / self.first) / math.log10(self.last / self.first)
        return self.width * cycles / self.last

    def ticks(self) -> tuple[float, ...]:
        """Return round numbers of cycles along the axis."""
        if self.decades:
            first, last = round(math.log10(self.first)), math.floor(math.log10(self.last))
            return tuple(10.0**power for power in range(first, last + 1))
        step = 10.0 ** math.floor(math.log10(max(self.last, 1)))
        steps = (step * part for part in (0.2, 0.5, 1.0, 2.0))
        step = next(size for size in steps if size >= 1 and self.last / size <= 6.5)
        return tuple(step * index for index in range(int(self.last / step) + 1))


def folding_chart(plan: Plan, phase: int = 0, network: str | None = None) -> Figure:
    """Draw horizontal bars of the cycles of a network's engines, in dataflow order, against the interval.

    Without ``network`` the first of the phase is drawn.

    Raises
    ------
    InputError
        If that network is not in the phase.

    """
    entry = network_in(plan, phase, network)
    with drawing_settings():
        bars, left_out = read_bars(plan, entry)
        return _draw(_header(plan, phase, entry, left_out), bars).figure


def read_bars(plan: Plan, entry: Mapping[str, Any]) -> tuple[tuple[Bar, ...], int]:
    """Return the engines of a network in a phase that are to be shown, and how many faster ones are left out."""
    by_id = {name: engine["name"] for name, network, engine in all_engines(plan) if network == entry["network"]}
    engines, interval = entry["folding"]["engines"], entry["interval_cycles"]
    inside = [name for name in by_id if name in engines]
    shown = set(sorted(inside, key=lambda name: -engines[name]["cycles"])[:_MAX_BARS])
    bars = tuple(
        Bar(by_id[name], engines[name]["cycles"], _note(engines[name]), engines[name]["cycles"] == interval)
        for name in inside
        if name in shown
    )
    return bars, len(inside) - len(bars)


def _note(engine: Mapping[str, Any]) -> str:
    """Say how parallel an engine is, and what else its folding chooses by a word."""
    words = (value for _, value in sorted(engine["attributes"].items()) if isinstance(value, str))
    parallel = (f"{part['name']} {part['value']}" for part in engine["parallelism"] if part["value"])
    return " · ".join([*parallel, *dict.fromkeys(words)])


def _cycles_axis(bars: Sequence[Bar], width: float) -> CyclesAxis:
    """Choose a logarithmic axis if on a linear one at least a third of the bars were hardly visible."""
    last = max((bar.cycles for bar in bars), default=1)
    short = sum(bar.cycles < 0.02 * last for bar in bars)
    least = max(min((bar.cycles for bar in bars), default=1), 1)
    first = 10.0 ** math.floor(math.log10(least) - 1e-9) if least > 1 else 0.5
    return CyclesAxis(first, float(max(last, 1)), width, decades=3 * short >= len(bars) > 0 and last > first)


def _draw(header: tuple[str, str], bars: Sequence[Bar]) -> Sheet:
    names_width = min(max((text_width(bar.name, _SIZE) for bar in bars), default=0.0), _MAX_NAME_WIDTH)
    notes_width = max((text_width(bar.note, _SIZE, bold=True) for bar in bars), default=0.0)
    left = _MARGIN + names_width + 6
    height = _HEADER + _ROW * len(bars) + _AXIS + _MARGIN
    sheet = new_sheet(max(left + _BAR_WIDTH + _GAP + notes_width + _MARGIN, 640.0), height)
    sheet.write(_MARGIN, sheet.height - 25, clipped(header[0], sheet.width * 0.86, 13), 13, weight="bold")
    sheet.write(_MARGIN, sheet.height - 41, header[1], 8.5, color=QUIET)
    area = Box(left, _MARGIN + _AXIS, left + _BAR_WIDTH, sheet.height - _HEADER)
    axis = _cycles_axis(bars, _BAR_WIDTH)
    _draw_axis(sheet, area, axis)
    for index, bar in enumerate(bars):
        _draw_bar(sheet, area, axis, bar, area.top - (index + 0.5) * _ROW)
    return sheet


def _header(plan: Plan, phase: int, entry: Mapping[str, Any], left_out: int) -> tuple[str, str]:
    """Return title and subtitle."""
    estimates = entry["estimates"]
    title = f"Folding of {entry['network']} on {platform_text(plan)}{phase_text(plan, phase)}"
    text = (
        f"interval {entry['interval_cycles']:,} cycles   ·   {reached_text(estimates)} at"
        f" {estimates['clock_mhz']:g} MHz   ·   slowest: {estimates['bottleneck']}"
    )
    if left_out:
        text += f"   ·   {left_out} faster engines not shown"
    return title, text


def _draw_axis(sheet: Sheet, area: Box, axis: CyclesAxis) -> None:
    for cycles in axis.ticks():
        x = area.left + axis.at(cycles)
        sheet.line((x, area.bottom), (x, area.top), color=RULE, linewidth=0.5, zorder=1)
        sheet.write(x, area.bottom - 10, tick_text(cycles), 6.5, color=QUIET, ha="center")
    sheet.line((area.left, area.bottom), (area.left, area.top), color=INK, linewidth=0.8, zorder=3)
    sheet.line(
        (area.right, area.bottom),
        (area.right, area.top),
        color=CROSSING,
        linewidth=1.2,
        linestyle="--",
        zorder=4,
    )
    sheet.write(area.right, area.top + 4, "interval", 7, color=CROSSING, ha="right", weight="bold")
    sheet.write(area.right + _GAP, area.top + 4, "folding", 7, color=QUIET)
    kind = "logarithmic" if axis.decades else "linear"
    sheet.write(
        area.left,
        area.bottom - 22,
        f"cycles a frame ({kind})",
        6.8,
        color=QUIET,
    )


def tick_text(cycles: float) -> str:
    """Write a round number shortly: 500, 20k, 1.5M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if cycles >= size:
            return f"{cycles / size:g}{unit}"
    return f"{cycles:g}"


def _draw_bar(sheet: Sheet, area: Box, axis: CyclesAxis, bar: Bar, y: float) -> None:
    length = max(axis.at(bar.cycles), 0.8)
    colour, weight = (CROSSING, "bold") if bar.slowest else (BAR, "normal")
    box = Box(area.left, y - 0.36 * _ROW, area.left + length, y + 0.36 * _ROW)
    sheet.rectangle(box, facecolor=colour, edgecolor="none", zorder=2).set_gid(bar.name)
    name = shortened(bar.name, _MAX_NAME_WIDTH, _SIZE)
    sheet.write(area.left - 5, y, name, _SIZE, ha="right", va="center_baseline", weight=weight)
    _write_cycles(sheet, area, box, bar, y)
    if bar.note:
        sheet.write(area.right + _GAP, y, bar.note, _SIZE, va="center_baseline", weight=weight)


def _write_cycles(sheet: Sheet, area: Box, box: Box, bar: Bar, y: float) -> None:
    """Write the cycles right of the bar, or into its end where they would meet the interval's line."""
    text = f"{bar.cycles:,}"
    width = text_width(text, _SIZE, bold=bar.slowest)
    style: dict[str, Any] = {"va": "center_baseline", "weight": "bold" if bar.slowest else "normal"}
    if box.right + 4 + width > area.right - 3 and box.width > width + 8:
        sheet.write(box.right - 4, y, text, _SIZE, ha="right", color="white", **style)
    else:
        patch = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"}
        sheet.write(box.right + 4, y, text, _SIZE, bbox=patch, **style)
