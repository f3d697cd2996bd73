"""The candidates as a figure: the intervals that the search tried, the folding bound, and the one that was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan, frames_text
from floorflow.view.contents.searched import Searched, last_failure, read_search
from floorflow.view.pictures.folding import tick_text
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import BAR, CROSSING, INK, OPEN, QUIET, RULE
from floorflow.view.sheet.sheet import Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import clipped, text_width, wrapped

_MARGIN, _HEADER, _LINES, _AXIS, _KEY = 20.0, 34.0, 40.0, 32.0, 18.0
"""Margins, title, labels of the vertical lines, axis and key, all in points."""
_COLUMNS, _PLOT, _TEXT = 132.0, 380.0, 380.0
"""Widths left of the plot, of the plot, and of the verdicts right of it."""
_ROW, _LINE, _SIZE, _HEAD_SIZE = 15.0, 9.5, 7.2, 8.5
_MOST_ROWS = 48
_LEAST_SPAN = 4.0
"""The axis reaches at least over this factor, so that round numbers lie on it."""
_VERDICTS: dict[str, dict[str, Any]] = {
    "legal": {"marker": "o", "color": BAR, "markersize": 6.5},
    "not found within the limit": {"marker": "D", "color": OPEN, "markersize": 5.5, "markerfacecolor": "white"},
    "proven infeasible": {"marker": "X", "color": CROSSING, "markersize": 7.5, "markeredgecolor": "white"},
}
_STAGES = {"fold": "folding", "partition": "partition", "place": "placement"}


@dataclass(frozen=True)
class TraceRowView:
    """A row of the trace; ``number`` counts the attempts from 1."""

    number: int
    interval_cycles: int
    verdict: str
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        """Height of the row in points."""
        return _ROW + _LINE * (len(self.lines) - 1)


@dataclass(frozen=True)
class _Axis:
    """From cycles to points along the plot, logarithmic."""

    area: Box
    first: float
    last: float

    def at(self, cycles: float) -> float:
        share = math.log(max(cycles, self.first) / self.first) / math.log(self.last / self.first)
        return self.area.left + self.area.width * min(share, 1.0)


def search_chart(plan: Plan, network: str | None = None) -> Figure:
    """Draw the intervals tried for a network in the order of the search, on a logarithmic axis, with bound and choice.

    Without ``network`` the plan's first is drawn.

    Raises
    ------
    InputError
        If the plan has no network of that name.

    """
    searched = read_search(plan, network)
    with drawing_settings():
        shown, left_out = read_trace(searched)
        ended_by = wrapped(f"ended by: {searched.search['ended_by']}", _COLUMNS + _PLOT + _TEXT, _HEAD_SIZE, 3)
        head = _HEADER + 12 * (len(ended_by) + 1) + _LINES
        body = sum(row.height for row in shown)
        width = 2 * _MARGIN + _COLUMNS + _PLOT + _TEXT
        sheet = new_sheet(width, _MARGIN + _KEY + _AXIS + body + head)
        _write_header(sheet, searched, ended_by, left_out)
        left, bottom = _MARGIN + _COLUMNS, _MARGIN + _KEY + _AXIS
        axis = _axis(searched, shown, Box(left, bottom, left + _PLOT, bottom + body))
        _draw_axis(sheet, axis)
        _draw_lines(sheet, axis, searched)
        y = axis.area.top
        for row in shown:
            _draw_row(sheet, axis, row, y, searched)
            y -= row.height
        _draw_key(sheet, searched)
        return sheet.figure


def read_trace(searched: Searched) -> tuple[tuple[TraceRowView, ...], int]:
    """Return the last attempts of the trace, and how many earlier ones are left out."""
    trace = searched.trace
    left_out = max(len(trace) - _MOST_ROWS, 0)
    return tuple(
        TraceRowView(
            number,
            row["interval_cycles"],
            row["verdict"],
            wrapped(f"{row['verdict']} ({_STAGES[row['stage']]}): {row['detail']}", _TEXT - 14, _SIZE, 2),
        )
        for number, row in enumerate(trace, start=1)
        if number > left_out
    ), left_out


def _axis(searched: Searched, shown: Sequence[TraceRowView], area: Box) -> _Axis:
    marks = [searched.search["interval_cycles"], searched.search["bound_cycles"]]
    marks += [row.interval_cycles for row in shown]
    requested = searched.requested_cycles
    marks += [] if requested is None else [requested]
    first, last = max(min(marks), 1) / 1.3, max(*marks, 1) * 1.3
    wider = max(math.sqrt(_LEAST_SPAN * first / last), 1.0)
    return _Axis(area, first / wider, last * wider)


def ticks(first: float, last: float) -> tuple[float, ...]:
    """Return round numbers between two: 1, 2 and 5 times powers of ten, or only these powers on a long axis."""
    leads = (1.0, 2.0, 5.0) if last / first < 2000 else (1.0,)
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    round_numbers = (lead * 10.0**power for power in powers for lead in leads)
    return tuple(cycles for cycles in round_numbers if first <= cycles <= last)


def _write_header(sheet: Sheet, searched: Searched, ended_by: Sequence[str], left_out: int) -> None:
    search = searched.search
    title = clipped(f"Search for {searched.title}", sheet.width * 0.86, 13)
    sheet.write(_MARGIN, sheet.height - 26, title, 13, weight="bold")
    chosen, bound = search["interval_cycles"], search["bound_cycles"]
    text = f"chosen {chosen:,} cycles{searched.reached} at {searched.clock_mhz:g} MHz"
    if searched.bounded:
        text += f"   ·   folding bound {bound:,} cycles, gap {search['gap']:.1%}"
        joint = search["joint_bound_cycles"]
        text += "" if joint is None else f"   ·   joint bound {joint:,} cycles, gap {(chosen - joint) / chosen:.1%}"
    text += f"   ·   first {left_out} attempts not shown" if left_out else ""
    y = sheet.height - _HEADER - 9
    for line in (text, *ended_by):
        sheet.write(_MARGIN, y, line, _HEAD_SIZE, color=QUIET if line == text else INK)
        y -= 12


def _draw_axis(sheet: Sheet, axis: _Axis) -> None:
    area = axis.area
    for cycles in ticks(axis.first, axis.last):
        x = axis.at(cycles)
        sheet.line((x, area.bottom), (x, area.top), color=RULE, linewidth=0.5, zorder=1)
        sheet.write(x, area.bottom - 10, tick_text(cycles), 6.5, color=QUIET, ha="center")
    sheet.rectangle(area, fill=False, edgecolor=RULE, linewidth=0.8, zorder=3)
    sheet.write(area.left, area.bottom - 22, "interval in cycles (logarithmic); shorter is faster", 6.8, color=QUIET)
    y = area.top + 5
    for x, heading in ((_MARGIN + 18, "attempt"), (_MARGIN + 70, "cycles"), (_MARGIN + 122, "frames/s")):
        sheet.write(x + 6, y, heading, 6.5, color=QUIET, ha="right")
    sheet.write(area.right + 10, y, "verdict (the stage that gave it): detail", 6.5, color=QUIET)


def _draw_lines(sheet: Sheet, axis: _Axis, searched: Searched) -> None:
    """Draw the bound with what it rules out, the choice, the gap between them, and the rate asked for."""
    search, area, bounded = searched.search, axis.area, searched.bounded
    bound, chosen = axis.at(search["bound_cycles"]), axis.at(search["interval_cycles"])
    ruled_out = {"facecolor": "#eceef0", "edgecolor": "#b4b9c0", "hatch": "////", "linewidth": 0.0}
    if bounded:
        sheet.rectangle(Box(area.left, area.bottom, bound, area.top), **ruled_out, zorder=0.5)
    if chosen > bound:
        sheet.rectangle(Box(bound, area.bottom, chosen, area.top), facecolor="#fdf0e2", edgecolor="none", zorder=0.5)
    requested = searched.requested_cycles
    same = search["bound_cycles"] == search["interval_cycles"]
    _mark(sheet, area, chosen, ("chosen = folding bound" if same and bounded else "chosen", BAR), 5.0)
    if not same:
        _mark(sheet, area, bound, ("folding bound", INK), 15.0)
    if requested is not None:
        _mark(sheet, area, axis.at(requested), ("rate asked for", CROSSING), 25.0)


def _mark(sheet: Sheet, area: Box, x: float, label: tuple[str, str], above: float) -> None:
    """Draw a vertical line with its label (text, colour) ``above`` the plot: right of it if there is room."""
    text, colour = label
    sheet.line((x, area.bottom), (x, area.top + above + 6), color=colour, linewidth=1.3, zorder=4)
    at_right = x + 3 + text_width(text, 7, bold=True) <= area.right
    patch = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    style: dict[str, Any] = {"color": colour, "weight": "bold", "bbox": patch}
    sheet.write(x + (3 if at_right else -3), area.top + above, text, 7, ha="left" if at_right else "right", **style)


def _draw_row(sheet: Sheet, axis: _Axis, row: TraceRowView, top: float, searched: Searched) -> None:
    area, y = axis.area, top - _ROW / 2
    chosen = row.verdict == "legal" and row.interval_cycles == searched.search["interval_cycles"]
    nearest = row.interval_cycles == last_failure(searched)
    if chosen or nearest:
        band = Box(_MARGIN, top - row.height, sheet.width - _MARGIN, top)
        sheet.rectangle(band, facecolor="#dcebf7" if chosen else "#fbe3cf", edgecolor="none", zorder=0.2)
    sheet.line((_MARGIN, top), (sheet.width - _MARGIN, top), color=RULE, linewidth=0.4, zorder=1)
    sheet.axes.plot((axis.at(row.interval_cycles),), (y,), linestyle="none", zorder=6, **_VERDICTS[row.verdict])
    weight = "bold" if chosen else "normal"
    rate = frames_text(searched.clock_mhz * 1e6 / row.interval_cycles)
    for x, text in ((18, str(row.number)), (70, f"{row.interval_cycles:,}"), (122, rate)):
        sheet.write(_MARGIN + x + 6, y - 2.6, text, _SIZE, ha="right", weight=weight)
    for index, line in enumerate(row.lines):
        sheet.write(area.right + 10, y - 2.6 - index * _LINE, line, _SIZE)


def _draw_key(sheet: Sheet, searched: Searched) -> None:
    x, y = _MARGIN, _MARGIN - 2
    for verdict, style in _VERDICTS.items():
        sheet.axes.plot((x + 5,), (y + 2.6,), linestyle="none", **style)
        x = _write_key(sheet, x + 13, y, verdict)
    areas = []
    if searched.bounded:
        areas.append(("#eceef0", "shorter than the bound: not even the summed limits allow it"))
    if searched.search["interval_cycles"] > searched.search["bound_cycles"]:
        areas += [("#fdf0e2", "gap between bound and choice"), ("#fbe3cf", "nearest shorter interval tried in vain")]
    areas.append(("#dcebf7", "chosen"))
    for colour, text in areas:
        sheet.rectangle(Box(x, y - 1.5, x + 16, y + 6.5), facecolor=colour, edgecolor=RULE, linewidth=0.5)
        x = _write_key(sheet, x + 20, y, text)


def _write_key(sheet: Sheet, x: float, y: float, text: str) -> float:
    """Write an entry's text; return where the next entry begins."""
    sheet.write(x, y, text, 7)
    return x + text_width(text, 7) + 14
