"""How much wire each bin of an FPGA has to carry, as a heat map over the die with the pblocks' outlines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan
from floorflow.view.contents.plan_reader import read_scene
from floorflow.view.contents.scene import Scene
from floorflow.view.draw.background import draw_holes
from floorflow.view.pictures.floorplan import proportion_of
from floorflow.view.sheet.die import Die, die_of
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import CROSSING, INK, QUIET, RULE
from floorflow.view.sheet.sheet import Frame, Sheet, drawing_settings, new_sheet
from floorflow.view.sheet.text import shortened, text_width

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_MARGIN, _HEADER, _LEGEND = 18.0, 62.0, 66.0
"""Points: around all, for the title and what is said of the map, for the key."""
_DIE_WIDTH, _DIE_HEIGHT = 520.0, 640.0
"""Points that the die may take."""
_EMPTY = "#f7f7f5"
_RAMP, _RANGE = "YlOrRd", (0.08, 1.0)
_BAR_WIDTH, _BAR_HEIGHT = 240.0, 9.0


@dataclass(frozen=True)
class _Map:
    """Demand of bins in bit-tiles, rows of bins from the lowest up, with what the plan says of them."""

    demand: tuple[tuple[int, ...], ...]
    columns: int
    rows: int
    capacity: float
    peak: float
    peak_at: Box
    mean: float
    over: int

    @property
    def scale(self) -> float:
        """What the darkest colour stands for: half of the capacity, or the peak if that is more."""
        return max(self.peak, self.capacity / 2, 1.0)


def routing_chart(plan: Plan, platform: Platform, fpga: str, phase: int = 0) -> Figure:
    """Draw the routing map of one FPGA; arguments and errors as of `floorflow.view.pictures.floorplan.floorplan`."""
    scene, die = read_scene(plan, fpga, phase), die_of(platform, fpga)
    found = _map(plan, fpga, phase)
    with drawing_settings():
        width = min(_DIE_WIDTH, _DIE_HEIGHT / proportion_of(die))
        height = width * proportion_of(die)
        left = _MARGIN + (_DIE_WIDTH - width) / 2
        bottom = _MARGIN + _LEGEND
        sheet = new_sheet(2 * _MARGIN + _DIE_WIDTH, bottom + height + _HEADER)
        frame = Frame(Box(left, bottom, left + width, bottom + height), die.column_count, die.row_count)
        _draw_bins(sheet, frame, die, found)
        draw_holes(sheet, frame, die)
        _draw_outlines(sheet, frame, scene, die)
        _draw_peak(sheet, frame, found)
        _write_head(sheet, scene.title, found)
        _draw_legend(sheet, found)
        return sheet.figure


def _map(plan: Plan, fpga: str, phase: int) -> _Map:
    entry = plan["phases"][phase]["floorplan"][fpga]["congestion"]
    at = entry["peak_at"]
    return _Map(
        demand=tuple(tuple(map(int, row.split())) for row in entry["demand"]),
        columns=entry["bin_columns"],
        rows=entry["bin_rows"],
        capacity=entry["capacity"],
        peak=entry["peak"],
        peak_at=Box(at["left"], at["bottom"], at["right"] + 1, at["top"] + 1),
        mean=entry["mean"],
        over=entry["over"],
    )


def _colour(share: float) -> str | tuple[float, ...]:
    """Return the colour of a share of the scale; of nothing that of the die."""
    low, high = _RANGE
    ramp: tuple[float, ...] = mpl.colormaps[_RAMP](low + (high - low) * min(share, 1.0))
    return ramp if share > 0 else _EMPTY


def _draw_bins(sheet: Sheet, frame: Frame, die: Die, found: _Map) -> None:
    sheet.rectangle(frame.die, facecolor=_EMPTY, edgecolor=RULE, linewidth=0.8, zorder=0)
    for row, bins in enumerate(found.demand):
        for column, carried in enumerate(bins):
            if carried:
                left, bottom = column * found.columns, row * found.rows
                right = min(left + found.columns, die.column_count)
                box = Box(left, bottom, right, min(bottom + found.rows, die.row_count))
                sheet.rectangle(frame.place(box), facecolor=_colour(carried / found.scale), linewidth=0, zorder=1)


def _draw_outlines(sheet: Sheet, frame: Frame, scene: Scene, die: Die) -> None:
    """Outline SLRs and pblocks; a pblock has its number in the dataflow, as in the floorplan's table."""
    for name, box in die.slrs if len(die.slrs) > 1 else ():
        area = frame.place(box)
        sheet.rectangle(area, fill=False, edgecolor=QUIET, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4)
        sheet.write(area.left - 3, area.centre[1], name, 7, color=QUIET, ha="right", va="center")
    for module in scene.modules:
        sheet.shape([frame.place(box) for box in module.boxes], fill=False, edgecolor=INK, linewidth=0.9, zorder=6)
        # In the corner: the middle is where streams end, and so the darkest.
        area = frame.place(module.box)
        patch = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        sheet.write(area.left + 2.5, area.top - 2.5, str(module.number), 6.5, va="top", bbox=patch, zorder=7)


def _draw_peak(sheet: Sheet, frame: Frame, found: _Map) -> None:
    if found.peak:
        sheet.rectangle(frame.place(found.peak_at), fill=False, edgecolor=CROSSING, linewidth=2.0, zorder=8)


def _write_head(sheet: Sheet, title: str, found: _Map) -> None:
    width = sheet.width - 2 * _MARGIN
    sheet.write(_MARGIN, sheet.height - 24, shortened(f"routing map of {title}", width, 12), 12, weight="bold")
    over = f"{found.over} bin{'' if found.over == 1 else 's'} above capacity"
    share = found.peak / found.capacity if found.capacity else 0.0
    told = (
        f"bins of {found.columns} columns x {found.rows} rows: peak {found.peak:,.0f} bit-tiles "
        f"({share:.0%} of {found.capacity:,.0f}), mean {found.mean:,.1f}, {over}"
    )
    sheet.write(_MARGIN, sheet.height - 39, told, 8, color=QUIET)


def _draw_legend(sheet: Sheet, found: _Map) -> None:
    """Draw the scale, with the capacity on it where that is no more than the darkest, and what outlines mean."""
    y, steps = _MARGIN + 34, 48
    for step in range(steps):
        left = _MARGIN + _BAR_WIDTH * step / steps
        box = Box(left, y, left + _BAR_WIDTH / steps + 0.2, y + _BAR_HEIGHT)
        sheet.rectangle(box, facecolor=_colour((step + 0.5) / steps), linewidth=0)
    for share, text in _ticks(found):
        x = _MARGIN + _BAR_WIDTH * share
        sheet.line((x, y - 2), (x, y + _BAR_HEIGHT), color=INK, linewidth=0.7)
        sheet.write(x, y - 10, text, 6.5, color=QUIET, ha="left" if share == 0 else "center")
    unit = "bit-tiles a bin: wires of one bit over one column or row"
    sheet.write(_MARGIN + _BAR_WIDTH + 22, y + 1, unit, 7)
    _draw_key(sheet, ((INK, 0.9, "pblock, by its number in the dataflow"), (CROSSING, 2.0, "the bin with the peak")))


def _ticks(found: _Map) -> Sequence[tuple[float, str]]:
    ticks = [(0.0, "0"), (0.5, f"{found.scale / 2:,.0f}"), (1.0, f"{found.scale:,.0f}")]
    if found.capacity <= found.scale:
        return [ticks[0], (found.capacity / found.scale, f"capacity {found.capacity:,.0f}"), ticks[2]]
    return [*ticks[:2], (1.0, f"{found.scale:,.0f}; capacity {found.capacity:,.0f}")]


def _draw_key(sheet: Sheet, items: Sequence[tuple[str, float, str]]) -> None:
    x, y = _MARGIN, _MARGIN + 4
    for colour, linewidth, text in items:
        sheet.rectangle(Box(x, y - 1.5, x + 15, y + 6.5), fill=False, edgecolor=colour, linewidth=linewidth)
        sheet.write(x + 19, y, text, 7)
        x += 19 + text_width(text, 7) + 16
