"""How much wire each bin of an FPGA has to carry, as a heat map over the die with the pblocks' outlines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex

from floorflow.hardware.routing import routing_capacity
from floorflow.view.background import draw_holes
from floorflow.view.box import Box
from floorflow.view.die import Die, Frame, die_of
from floorflow.view.names import Plan
from floorflow.view.palette import CROSSING, INK, QUIET, RULE, Colour
from floorflow.view.parts import MARGIN, draw_key, write_head
from floorflow.view.scene import Scene, read_scene
from floorflow.view.sheet import Sheet, Style

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_HEADER, _LEGEND = 56.0, 66.0
"""Points: for the title and what is said of the map, for the key."""
_DIE_WIDTH, _DIE_HEIGHT = 520.0, 640.0
"""Points that the die may take."""
_EMPTY = "#f7f7f5"
_RAMP, _PALEST, _STEPS = "YlOrRd", 0.08, 48
_BAR_WIDTH, _BAR_HEIGHT = 240.0, 9.0
_NO_WIRES: Style = {"edge": "#5c636d", "hatch": "/", "width": 0.4}

Map = Mapping[str, Any]
"""Demand of bins in bit-tiles, rows of bins from the lowest up, with what the plan says of them."""


def routing_chart(plan: Plan, platform: Platform, fpga: str, phase: int = 0) -> Sheet:
    """Draw the routing map of one FPGA; arguments and errors as of `floorflow.view.pictures.floorplan.floorplan`."""
    scene, die = read_scene(plan, fpga, phase), die_of(platform, fpga)
    found = plan["phases"][phase]["floorplan"][fpga]["congestion"]
    width = min(_DIE_WIDTH, _DIE_HEIGHT / die.proportion)
    left, bottom, height = MARGIN + (_DIE_WIDTH - width) / 2, MARGIN + _LEGEND, width * die.proportion
    sheet = Sheet(2 * MARGIN + _DIE_WIDTH, bottom + height + _HEADER)
    frame = Frame.of(die, left, bottom + height, width)
    none = _without_wires(platform, fpga)
    _draw_bins(sheet, frame, die, found, none)
    draw_holes(sheet, frame, die)
    for row, column in none:
        sheet.rectangle(frame.place(_bin(found, die, row, column)), z=5.6, **_NO_WIRES)
    _draw_outlines(sheet, frame, scene, die)
    if found["peak"]:
        sheet.rectangle(frame.place(Box.of_cells(found["peak_at"])), edge=CROSSING, width=2.0, z=8)
    share = found["peak"] / found["capacity"] if found["capacity"] else 0.0
    said = (
        f"bins of {found['bin_columns']} columns x {found['bin_rows']} rows: peak {found['peak']:,.0f} bit-tiles "
        f"({share:.0%} of {found['capacity']:,.0f}), mean {found['mean']:,.1f}, "
        f"{found['over']} bin{'' if found['over'] == 1 else 's'} above capacity"
    )
    write_head(sheet, f"routing map of {scene.title}", said)
    _draw_legend(sheet, found, has_none=bool(none))
    return sheet


def _without_wires(platform: Platform, fpga: str) -> list[tuple[int, int]]:
    """Return row and column of the bins without interconnect, such as those of a processor: wires go around them."""
    device = next(item.device for item in platform.fpgas if item.name == fpga)
    return [(int(row), int(column)) for row, column in np.argwhere(routing_capacity(device).T == 0)]


def _bin(found: Map, die: Die, row: int, column: int) -> Box:
    across, up = found["bin_columns"], found["bin_rows"]
    right, top = min((column + 1) * across, die.column_count), min((row + 1) * up, die.row_count)
    return Box(column * across, row * up, right, top)


def _scale(found: Map) -> float:
    """Return what the darkest colour stands for: half of the capacity, or the peak if that is more."""
    return max(float(found["peak"]), float(found["capacity"]) / 2, 1.0)


def _colour(share: float) -> Colour:
    """Return the colour of a share of the scale, in steps: few enough to be drawn as one shape each."""
    return _colour_of_step(min(int(share * _STEPS), _STEPS - 1))


@cache
def _colour_of_step(step: int) -> Colour:
    return to_hex(mpl.colormaps[_RAMP](_PALEST + (1 - _PALEST) * step / (_STEPS - 1)))


def _draw_bins(sheet: Sheet, frame: Frame, die: Die, found: Map, none: Collection[tuple[int, int]]) -> None:
    sheet.rectangle(frame.die, fill=_EMPTY, edge=RULE, z=0)
    scale = _scale(found)
    boxes: dict[Colour, list[Box]] = {}
    for row, bins in enumerate(found["demand"]):
        for column, carried in enumerate(map(int, bins.split())):
            if carried and (row, column) not in none:
                box = frame.place(_bin(found, die, row, column))
                boxes.setdefault(_colour(carried / scale), []).append(box)
    for colour, own in boxes.items():
        sheet.shape(own, fill=colour, z=1)


def _draw_outlines(sheet: Sheet, frame: Frame, scene: Scene, die: Die) -> None:
    """Outline SLRs and pblocks; a pblock has its number in the dataflow, as in the floorplan's table."""
    for name, box in die.slrs if len(die.slrs) > 1 else ():
        area = frame.place(box)
        sheet.rectangle(area, edge=QUIET, width=1.0, dashes=(4, 2), z=4)
        sheet.write(area.left - 3, area.centre[1], name, 7, colour=QUIET, align="end", middle=True)
    for module in scene.modules:
        sheet.shape([frame.place(box) for box in module.boxes], edge=INK, width=0.9, z=6)
        # In the corner: the middle is where streams end, and so the darkest.
        area, plate = frame.place(module.box), {"fill": "white", "opacity": 0.8, "pad": 0.6}
        sheet.write(area.left + 2.5, area.top - 8, str(module.number), 6.5, plate=plate, z=7)


def _draw_legend(sheet: Sheet, found: Map, *, has_none: bool) -> None:
    """Draw the scale, with the capacity on it where that is no more than the darkest, and what outlines mean."""
    y = MARGIN + 34
    for step in range(_STEPS):
        left = MARGIN + _BAR_WIDTH * step / _STEPS
        sheet.rectangle(
            Box(left, y, left + _BAR_WIDTH / _STEPS + 0.2, y + _BAR_HEIGHT), fill=_colour((step + 0.5) / _STEPS)
        )
    for share, text in _ticks(found):
        x = MARGIN + _BAR_WIDTH * share
        sheet.line((x, y - 2), (x, y + _BAR_HEIGHT), width=0.7)
        sheet.write(x, y - 10, text, 6.5, colour=QUIET, align="middle" if share else "start")
    sheet.write(MARGIN + _BAR_WIDTH + 22, y + 1, "bit-tiles a bin: wires of one bit over one column or row", 7)
    peak = "the bin with the peak", "area", {"edge": CROSSING, "width": 2.0}
    entries = [("pblock, by its number in the dataflow", "area", {"edge": INK, "width": 0.9}), peak]
    none = ("no interconnect: wires go around", "area", _NO_WIRES)
    draw_key(sheet, MARGIN + 4, [*entries, none] if has_none else entries)


def _ticks(found: Map) -> Sequence[tuple[float, str]]:
    scale, capacity = _scale(found), found["capacity"]
    if capacity <= scale:
        return (0.0, "0"), (capacity / scale, f"capacity {capacity:,.0f}"), (1.0, f"{scale:,.0f}")
    return (0.0, "0"), (0.5, f"{scale / 2:,.0f}"), (1.0, f"{scale:,.0f}; capacity {capacity:,.0f}")
