"""The timeline as a figure: how the phases of a plan are loaded and run, one after the other, over one period."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan
from floorflow.view.contents.timeline import (
    RunView,
    StepView,
    TimelineView,
    read_partitions,
    read_timeline,
    time_text,
    time_unit,
)
from floorflow.view.pictures.folding import CyclesAxis
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import BAR, QUIET, RULE, TRACK, Colour, darker, network_colours
from floorflow.view.sheet.sheet import Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import clipped, shortened, text_width

_MARGIN, _HEADER, _AXIS, _KEY = 20.0, 62.0, 32.0, 16.0
"""Margins, title, axis and key in points."""
_NAMES, _PLOT, _TEXT, _GAP = 170.0, 420.0, 200.0, 10.0
"""Widths of names, of the plot, and of the times right of it, and what lies between, in points."""
_HEAD, _LANE, _SIZE, _BETWEEN = 15.0, 12.0, 7.5, 10.0
"""Heights of a step's first line and of a network's, font size, and what lies between steps, in points."""
_LOADING: dict[str, Any] = {"facecolor": "#f4dfc0", "edgecolor": "#b07800", "hatch": "////", "linewidth": 0.6}


def timeline_chart(plan: Plan) -> Figure:
    """Draw each phase's loading and running over one period, with what each network in it takes of the run.

    Raises
    ------
    InputError
        If the plan has no schedule: only one phase.

    """
    return _chart(read_timeline(plan), several=len(plan["networks"]) > 1)


def partitions_chart(plan: Plan) -> Figure:
    """Draw the same of the partitions in schedule.json."""
    return _chart(read_partitions(plan), several=False)


def _chart(timeline: TimelineView, *, several: bool) -> Figure:
    with drawing_settings():
        body = sum(_height(step) for step in timeline.steps)
        width = 2 * _MARGIN + _NAMES + _PLOT + _GAP + _TEXT
        sheet = new_sheet(width, _MARGIN + _KEY + _AXIS + body + _HEADER)
        sheet.write(_MARGIN, sheet.height - 25, clipped(timeline.title, width * 0.86, 13), 13, weight="bold")
        sheet.write(_MARGIN, sheet.height - 41, timeline.subtitle, 8.5, color=QUIET)
        left, bottom = _MARGIN + _NAMES, _MARGIN + _KEY + _AXIS
        area = Box(left, bottom, left + _PLOT, bottom + body)
        _draw_axis(sheet, area, timeline)
        top = area.top
        for step in timeline.steps:
            _draw_step(sheet, area, step, top, timeline.period_us, several=several)
            top -= _height(step)
        _draw_key(sheet, several=several)
        return sheet.figure


def _height(step: StepView) -> float:
    return _HEAD + _LANE * len(step.runs) + _BETWEEN


def _draw_axis(sheet: Sheet, area: Box, timeline: TimelineView) -> None:
    unit, size_us = time_unit(timeline.period_us)
    axis = CyclesAxis(0.0, timeline.period_us / size_us, area.width, decades=False)
    for tick in axis.ticks():
        x = area.left + axis.at(tick)
        sheet.line((x, area.bottom), (x, area.top), color=RULE, linewidth=0.5, zorder=1)
        sheet.write(x, area.bottom - 10, f"{tick:g}", 6.5, color=QUIET, ha="center")
    sheet.rectangle(area, fill=False, edgecolor=RULE, linewidth=0.8, zorder=3)
    sheet.write(area.left, area.bottom - 22, f"time in {unit}, one period", 6.8, color=QUIET)


def _draw_step(sheet: Sheet, area: Box, step: StepView, top: float, period_us: float, *, several: bool) -> None:
    """Draw a phase: its name, the hatched load, the run, and a lane for each network of it."""
    scale = area.width / period_us
    start, loaded = area.left + step.start_us * scale, area.left + (step.start_us + step.load_us) * scale
    begun, text_left = area.left + step.run_start_us * scale, area.right + _GAP
    done = begun + step.run_us * scale
    bottom = top - _height(step)
    sheet.line((_MARGIN, bottom), (sheet.width - _MARGIN, bottom), color=RULE, linewidth=0.4, zorder=1)
    high, low = top - _BETWEEN / 2, bottom + _BETWEEN / 2
    if step.load_us > 0:
        sheet.rectangle(Box(start, low, max(loaded, start + 0.8), high), zorder=4, **_LOADING)
    sheet.rectangle(Box(begun, low, max(done, begun + 0.8), high), facecolor=TRACK, edgecolor="none", zorder=2)
    y = high - _HEAD / 2
    where = f" in {step.region}" if step.region else ""
    phase = shortened(f"phase {step.phase}{where}", _NAMES * 0.85, 9)
    sheet.write(_MARGIN, y, phase, 9, va="center_baseline", weight="bold")
    times = f"load {time_text(step.load_us)}, run {time_text(step.run_us)}"
    sheet.write(text_left, y, times, _SIZE, va="center_baseline", weight="bold")
    for run in step.runs:
        y -= _LANE
        box = Box(begun, y - 0.36 * _LANE, max(begun + run.run_us * scale, begun + 0.8), y + 0.36 * _LANE)
        colour = _colour(run) if several else BAR
        edge = darker(colour) if isinstance(colour, tuple) else "none"
        sheet.rectangle(box, facecolor=colour, edgecolor=edge, linewidth=0.6, zorder=5)
        name = shortened(run.name, _NAMES - 14, _SIZE)
        sheet.write(_MARGIN + 8, y, name, _SIZE, va="center_baseline")
        text = f"{time_text(run.run_us)}, interval {run.interval_cycles:,} cycles"
        sheet.write(text_left + 8, y, text, _SIZE, va="center_baseline", color=QUIET)


def _colour(run: RunView) -> Colour:
    """Return the middle of the network's colours."""
    return network_colours(run.number, 3)[0]


def _draw_key(sheet: Sheet, *, several: bool) -> None:
    x, y = _MARGIN, _MARGIN - 2
    entries: list[tuple[dict[str, Any], str]] = [
        (_LOADING, "loading the phase"),
        ({"facecolor": TRACK, "edgecolor": RULE}, "running it on the batch"),
    ]
    lane = "what each network takes of it, in the network's colour" if several else "what the network takes of it"
    entries.append(({"facecolor": BAR, "edgecolor": "none"}, lane))
    for style, text in entries:
        sheet.rectangle(Box(x, y - 1.5, x + 19, y + 6.5), **{"linewidth": 0.5, **style}, zorder=5)
        sheet.write(x + 23, y, text, 7)
        x += 23 + text_width(text, 7) + 14
