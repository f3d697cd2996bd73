"""The candidates: the intervals that the search tried, the folding bound, and the one that was chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.errors import InputError
from floorflow.view.box import Box
from floorflow.view.names import Plan, frames_text, network_in, network_names, platform_text, reached_text, shared_fps
from floorflow.view.palette import BAR, CROSSING, INK, OPEN, QUIET, RULE
from floorflow.view.parts import MARGIN, Axis, Entry, draw_key
from floorflow.view.sheet import Sheet, Style
from floorflow.view.text import clipped, text_width, wrapped

_HEADER, _LINES, _AXIS, _KEY = 34.0, 40.0, 32.0, 18.0
"""Title, labels of the vertical lines, axis and key, all in points."""
_COLUMNS, _PLOT, _TEXT = 136.0, 380.0, 380.0
"""Widths left of the plot, of the plot, and of the verdicts right of it."""
_ROW, _LINE, _SIZE, _HEAD_SIZE = 15.0, 9.5, 7.2, 8.5
_MOST_ROWS = 48
_LEAST_SPAN = 4.0
"""The axis reaches at least over this factor, so that round numbers lie on it."""
_VERDICTS: dict[str, tuple[str, Style]] = {
    "legal": ("circle", {"fill": BAR, "size": 7.5}),
    "not found within the limit": ("diamond", {"fill": "white", "edge": OPEN, "width": 1.0, "size": 5.5}),
    "proven infeasible": ("cross", {"fill": CROSSING, "size": 7.5}),
}
_STAGES = {"fold": "folding", "partition": "partition", "place": "placement"}
_GOALS = {"throughput": "the interval", "latency": "the lowest latency", "resources": "the least resources"}
_RULED_OUT: Style = {"fill": "#eceef0", "hatch": "/", "hatch_colour": "#b4b9c0"}
_OPEN, _NEAREST, _CHOSEN = "#fdf0e2", "#fbe3cf", "#dcebf7"


@dataclass(frozen=True)
class Searched:
    """The search of one network: what it was for, on what, its result and trace, and the options of the plan."""

    title: str
    search: Mapping[str, Any]
    trace: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]
    reached: str
    """What follows the chosen interval: the rate that it stands for."""

    @property
    def bounded(self) -> bool:
        """Whether the interval is bounded: only where the highest rate was planned for."""
        return bool(self.options["objective"] == "throughput")

    @property
    def clock_mhz(self) -> float:
        """Clock of the plan."""
        return float(self.options["clock_mhz"])

    @property
    def requested_cycles(self) -> float | None:
        """The longest interval that reaches the rate that was asked for, if one was."""
        return None if self.options["fps"] is None else self.clock_mhz * 1e6 / self.options["fps"]

    @property
    def last_failure(self) -> int | None:
        """The longest interval below the chosen one that was tried in vain: what lies next to the choice."""
        chosen = self.search["interval_cycles"]
        failed = (row["interval_cycles"] for row in self.trace if row["verdict"] != "legal")
        return max((cycles for cycles in failed if cycles < chosen), default=None)


def read_search(plan: Plan, name: str | None) -> Searched:
    """Read the search of one of the plan's networks, without a name of the first.

    Raises InputError if the plan has no network of that name.
    """
    known = network_names(plan)
    if name is not None and name not in known:
        raise InputError(f"plan.json: no network '{name}'; it has: {', '.join(known)}", hint="name one of these")
    network = next(item for item in plan["networks"] if name in (None, item["name"]))
    title = f"{_GOALS[plan['options']['objective']]} of {network['name']} on {platform_text(plan)}"
    return Searched(title, network["search"], network["trace"], plan["options"], _reached(plan, network["name"]))


def _reached(plan: Plan, network: str) -> str:
    """Return what an interval stands for: the rate of its only phase, or that of the schedule of all."""
    if plan["schedule"] is not None:
        fps = plan["schedule"]["batch"] * 1e6 / plan["schedule"]["period_us"]
        return f" in the longest phase   ·   {frames_text(fps)} frames/s over all phases"
    fps = shared_fps(plan, network)
    if fps is not None:
        return f" if the memory never waits   ·   {frames_text(fps)} frames/s by its schedule"
    return f" = {reached_text(network_in(plan, 0, network)['estimates'])}"


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


def read_trace(searched: Searched) -> tuple[tuple[TraceRowView, ...], int]:
    """Return the last attempts of the trace, and how many earlier ones are left out."""
    trace = searched.trace
    left_out = max(len(trace) - _MOST_ROWS, 0)
    texts = [f"{row['verdict']} ({_STAGES[row['stage']]}): {row['detail']}" for row in trace[left_out:]]
    return tuple(
        TraceRowView(number, row["interval_cycles"], row["verdict"], wrapped(text, _TEXT - 14, _SIZE, 2))
        for number, (row, text) in enumerate(zip(trace[left_out:], texts, strict=True), start=left_out + 1)
    ), left_out


def search_chart(plan: Plan, network: str | None = None) -> Sheet:
    """Draw the intervals tried for a network in the order of the search, on a logarithmic axis, with bound and choice.

    Without ``network`` the plan's first is drawn.
    """
    searched = read_search(plan, network)
    shown, left_out = read_trace(searched)
    ended_by = wrapped(f"ended by: {searched.search['ended_by']}", _COLUMNS + _PLOT + _TEXT, _HEAD_SIZE, 3)
    left, bottom = MARGIN + _COLUMNS, MARGIN + _KEY + _AXIS
    body = sum(row.height for row in shown)
    sheet = Sheet(left + _PLOT + _TEXT + MARGIN, bottom + body + _HEADER + 12 * (len(ended_by) + 1) + _LINES)
    _write_header(sheet, searched, ended_by, left_out)
    axis = _axis(searched, shown, Box(left, bottom, left + _PLOT, bottom + body))
    _draw_axis(sheet, axis)
    _draw_lines(sheet, axis, searched)
    y = axis.area.top
    for row in shown:
        _draw_row(sheet, axis, row, y, searched)
        y -= row.height
    draw_key(sheet, MARGIN - 2, _key(searched))
    return sheet


def _axis(searched: Searched, shown: Sequence[TraceRowView], area: Box) -> Axis:
    marks = [searched.search["interval_cycles"], searched.search["bound_cycles"]]
    marks += [row.interval_cycles for row in shown]
    requested = searched.requested_cycles
    marks += [] if requested is None else [requested]
    first, last = max(min(marks), 1) / 1.3, max(*marks, 1) * 1.3
    wider = max(math.sqrt(_LEAST_SPAN * first / last), 1.0)
    return Axis(area, first / wider, last * wider, logarithmic=True)


def _write_header(sheet: Sheet, searched: Searched, ended_by: Sequence[str], left_out: int) -> None:
    search = searched.search
    title = clipped(f"Search for {searched.title}", sheet.width * 0.86, 13)
    sheet.write(MARGIN, sheet.height - 26, title, 13, bold=True)
    chosen, bound = search["interval_cycles"], search["bound_cycles"]
    text = f"chosen {chosen:,} cycles{searched.reached} at {searched.clock_mhz:g} MHz"
    if searched.bounded:
        text += f"   ·   folding bound {bound:,} cycles, gap {search['gap']:.1%}"
        joint = search["joint_bound_cycles"]
        text += "" if joint is None else f"   ·   joint bound {joint:,} cycles, gap {(chosen - joint) / chosen:.1%}"
    text += f"   ·   first {left_out} attempts not shown" if left_out else ""
    y = sheet.height - _HEADER - 9
    for line in (text, *ended_by):
        sheet.write(MARGIN, y, line, _HEAD_SIZE, colour=QUIET if line == text else INK)
        y -= 12


def _draw_axis(sheet: Sheet, axis: Axis) -> None:
    area = axis.area
    axis.draw(sheet, "interval in cycles (logarithmic); shorter is faster")
    sheet.rectangle(area, edge=RULE, z=3)
    y = area.top + 5
    for x, heading in ((24, "attempt"), (80, "cycles"), (132, "frames/s")):
        sheet.write(MARGIN + x, y, heading, 6.5, colour=QUIET, align="end")
    sheet.write(area.right + 10, y, "verdict (the stage that gave it): detail", 6.5, colour=QUIET)


def _draw_lines(sheet: Sheet, axis: Axis, searched: Searched) -> None:
    """Draw the bound with what it rules out, the choice, the gap between them, and the rate asked for."""
    search, area, bounded = searched.search, axis.area, searched.bounded
    bound, chosen = axis.at(search["bound_cycles"]), axis.at(search["interval_cycles"])
    if bounded:
        sheet.rectangle(Box(area.left, area.bottom, bound, area.top), **_RULED_OUT, z=0.5)
    if chosen > bound:
        sheet.rectangle(Box(bound, area.bottom, chosen, area.top), fill=_OPEN, z=0.5)
    requested = searched.requested_cycles
    same = search["bound_cycles"] == search["interval_cycles"]
    marks = [(chosen, "chosen = folding bound" if same and bounded else "chosen", BAR, 5.0)]
    marks += [] if same else [(bound, "folding bound", INK, 15.0)]
    marks += [] if requested is None else [(axis.at(requested), "rate asked for", CROSSING, 25.0)]
    for x, text, colour, above in marks:
        # Its label stands right of a line if there is room.
        sheet.line((x, area.bottom), (x, area.top + above + 6), colour=colour, width=1.3, z=4)
        at_right = x + 3 + text_width(text, 7, bold=True) <= area.right
        align, offset, plate = "start" if at_right else "end", 3 if at_right else -3, {"fill": "white", "pad": 0.7}
        sheet.write(x + offset, area.top + above, text, 7, align=align, colour=colour, bold=True, plate=plate)


def _draw_row(sheet: Sheet, axis: Axis, row: TraceRowView, top: float, searched: Searched) -> None:
    area, y = axis.area, top - _ROW / 2
    chosen = row.verdict == "legal" and row.interval_cycles == searched.search["interval_cycles"]
    if chosen or row.interval_cycles == searched.last_failure:
        band = Box(MARGIN, top - row.height, sheet.width - MARGIN, top)
        sheet.rectangle(band, fill=_CHOSEN if chosen else _NEAREST, z=0.2)
    sheet.line((MARGIN, top), (sheet.width - MARGIN, top), colour=RULE, width=0.4)
    kind, style = _VERDICTS[row.verdict]
    sheet.mark((axis.at(row.interval_cycles), y), kind, **style, z=6)
    rate = frames_text(searched.clock_mhz * 1e6 / row.interval_cycles)
    for x, text in ((24, str(row.number)), (80, f"{row.interval_cycles:,}"), (132, rate)):
        sheet.write(MARGIN + x, y - 2.6, text, _SIZE, align="end", bold=chosen)
    for index, line in enumerate(row.lines):
        sheet.write(area.right + 10, y - 2.6 - index * _LINE, line, _SIZE)


def _key(searched: Searched) -> Iterator[Entry]:
    for verdict, (kind, style) in _VERDICTS.items():
        yield verdict, kind, style
    areas = []
    if searched.bounded:
        areas.append(("shorter than the bound: not even the summed limits allow it", _RULED_OUT["fill"]))
    if searched.search["interval_cycles"] > searched.search["bound_cycles"]:
        areas += [("gap between bound and choice", _OPEN), ("nearest shorter interval tried in vain", _NEAREST)]
    for text, colour in (*areas, ("chosen", _CHOSEN)):
        yield text, "area", {"fill": colour, "edge": RULE}
