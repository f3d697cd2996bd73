"""The folding chart: cycles of each engine against the interval, with the slowest engine marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.view.box import Box
from floorflow.view.names import Plan, all_engines, network_in, phase_text, platform_text, reached_text
from floorflow.view.palette import BAR, CROSSING, QUIET
from floorflow.view.parts import MARGIN, Axis, write_head
from floorflow.view.sheet import Sheet
from floorflow.view.text import shortened, text_width

_ROW, _SIZE, _HEADER, _AXIS = 13.0, 7.5, 62.0, 30.0
"""Height of a bar's line, font size, title and axis, all in points."""
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


def folding_chart(plan: Plan, phase: int = 0, network: str | None = None) -> Sheet:
    """Draw horizontal bars of the cycles of a network's engines, in dataflow order, against the interval.

    Without ``network`` the first of the phase is drawn.
    """
    entry = network_in(plan, phase, network)
    bars, left_out = read_bars(plan, entry)
    names_width = min(max((text_width(bar.name, _SIZE) for bar in bars), default=0.0), _MAX_NAME_WIDTH)
    notes_width = max((text_width(bar.note, _SIZE, bold=True) for bar in bars), default=0.0)
    left = MARGIN + names_width + 6
    width = max(left + _BAR_WIDTH + _GAP + notes_width + MARGIN, 640.0)
    sheet = Sheet(width, _HEADER + _ROW * len(bars) + _AXIS + MARGIN)
    _write_header(sheet, plan, phase, entry, left_out)
    area = Box(left, MARGIN + _AXIS, left + _BAR_WIDTH, sheet.height - _HEADER)
    axis = _cycles_axis(bars, area)
    axis.draw(sheet, f"cycles a frame ({'logarithmic' if axis.logarithmic else 'linear'})")
    sheet.line((left, area.bottom), (left, area.top), width=0.8, z=3)
    sheet.line((area.right, area.bottom), (area.right, area.top), colour=CROSSING, width=1.2, dashes=(3.7, 1.6), z=4)
    sheet.write(area.right, area.top + 4, "interval", 7, colour=CROSSING, align="end", bold=True)
    sheet.write(area.right + _GAP, area.top + 4, "folding", 7, colour=QUIET)
    for index, bar in enumerate(bars):
        _draw_bar(sheet, axis, bar, area.top - (index + 0.5) * _ROW)
    return sheet


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


def _cycles_axis(bars: Sequence[Bar], area: Box) -> Axis:
    """Choose a logarithmic axis if on a linear one at least a third of the bars were hardly visible."""
    last = max((bar.cycles for bar in bars), default=1)
    short = sum(bar.cycles < 0.02 * last for bar in bars)
    least = max(min((bar.cycles for bar in bars), default=1), 1)
    first = 10.0 ** math.floor(math.log10(least) - 1e-9) if least > 1 else 0.5
    return Axis(area, first, float(max(last, 1)), logarithmic=3 * short >= len(bars) > 0 and last > first)


def _write_header(sheet: Sheet, plan: Plan, phase: int, entry: Mapping[str, Any], left_out: int) -> None:
    estimates = entry["estimates"]
    text = (
        f"interval {entry['interval_cycles']:,} cycles   ·   {reached_text(estimates)} at"
        f" {estimates['clock_mhz']:g} MHz   ·   slowest: {estimates['bottleneck']}"
    )
    if left_out:
        text += f"   ·   {left_out} faster engines not shown"
    write_head(sheet, f"Folding of {entry['network']} on {platform_text(plan)}{phase_text(plan, phase)}", text)


def _draw_bar(sheet: Sheet, axis: Axis, bar: Bar, y: float) -> None:
    """Draw an engine's bar, its cycles right of it, or in its end where they would meet the interval's line."""
    area, bold = axis.area, bar.slowest
    box = Box(area.left, y - 0.36 * _ROW, max(axis.at(bar.cycles), area.left + 0.8), y + 0.36 * _ROW)
    sheet.rectangle(box, fill=CROSSING if bold else BAR, z=2, name=bar.name)
    name = shortened(bar.name, _MAX_NAME_WIDTH, _SIZE)
    sheet.write(area.left - 5, y, name, _SIZE, align="end", middle=True, bold=bold)
    cycles = f"{bar.cycles:,}"
    width = text_width(cycles, _SIZE, bold=bold)
    if box.right + 4 + width > area.right - 3 and box.width > width + 8:
        sheet.write(box.right - 4, y, cycles, _SIZE, align="end", colour="white", middle=True, bold=bold)
    else:
        plate = {"fill": "white", "pad": 0.4}
        sheet.write(box.right + 4, y, cycles, _SIZE, plate=plate, middle=True, bold=bold)
    sheet.write(area.right + _GAP, y, bar.note, _SIZE, middle=True, bold=bold)
