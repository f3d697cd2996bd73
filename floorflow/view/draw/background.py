"""Draw the silicon below the modules: columns, clock regions, SLRs, what the shell and the board's logic occupy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from floorflow.view.sheet.die import ABSENT, Die
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import COLUMN_COLOURS, INK, QUIET
from floorflow.view.sheet.sheet import Frame, Sheet
from floorflow.view.sheet.text import Occupied, block_size

STATIC_STYLE: dict[str, Any] = {
    "facecolor": "#c9ccd1",
    "edgecolor": "#6b7078",
    "hatch": "////",
    "linewidth": 0.6,
}
RESERVED_STYLE: dict[str, Any] = {
    "facecolor": "#fff3d6",
    "edgecolor": "#8a6d1d",
    "hatch": "xxx",
    "linewidth": 0.8,
}


def draw_background(sheet: Sheet, frame: Frame, die: Die, *, numbered: bool = True) -> None:
    """Draw everything of the die that the plan has no part in, without texts inside the die.

    Clock regions are drawn only if they are ``numbered``.
    """
    _draw_image(sheet, frame, column_image(die), zorder=1)
    for box in die.static:
        sheet.rectangle(frame.place(box), zorder=2, **STATIC_STYLE)
    for _, box in die.reserved:
        sheet.rectangle(frame.place(box), zorder=2.5, **RESERVED_STYLE)
    if numbered:
        _draw_clock_regions(sheet, frame, die)
    _draw_slrs(sheet, frame, die)


def column_image(die: Die) -> NDArray[np.float64]:
    """Return the tints of the physical columns: (clock-region rows, columns, 3) in 0..1, bottom row first."""
    tints = {kind: to_rgb(colour) for kind, colour in COLUMN_COLOURS.items()}
    return np.array([[tints[kind] for kind in row] for row in die.kinds])


def draw_holes(sheet: Sheet, frame: Frame, die: Die) -> None:
    """Draw once more, over the modules' fill, where there is no fabric: their pblocks have no sites there."""
    absent = np.array([[kind == ABSENT for kind in row] for row in die.kinds])
    if absent.any():
        colours = np.zeros((*absent.shape, 4))
        colours[absent] = (*to_rgb(COLUMN_COLOURS[ABSENT]), 1.0)
        _draw_image(sheet, frame, colours, zorder=5.5)


def _draw_image(sheet: Sheet, frame: Frame, colours: NDArray[np.float64], zorder: float) -> None:
    """Draw one colour a column and row of clock regions over the whole die."""
    die = frame.die
    extent = (die.left, die.right, die.bottom, die.top)
    sheet.axes.imshow(colours, extent=extent, origin="lower", aspect="auto", interpolation="none", zorder=zorder)
    sheet.axes.set_xlim(0, sheet.width)
    sheet.axes.set_ylim(0, sheet.height)


def _draw_clock_regions(sheet: Sheet, frame: Frame, die: Die) -> None:
    """Draw the grid and number it: X below the die, Y at its left."""
    style = {"color": "#8d939b", "linewidth": 0.45, "linestyle": (0, (4, 3)), "zorder": 3}
    for number, (first, last) in enumerate(die.column_bounds):
        box = frame.place(Box(first, 0, last + 1, die.row_count))
        sheet.write(box.centre[0], box.bottom - 8, f"X{number}", 5.5, color=QUIET, ha="center")
        if number:
            sheet.line((box.left, box.bottom), (box.left, box.top), **style)
    for number, bottom in enumerate(range(0, die.row_count, die.rows_per_clock_region)):
        box = frame.place(Box(0, bottom, die.column_count, bottom + die.rows_per_clock_region))
        sheet.write(box.left - 4, box.bottom + 3, f"Y{number}", 5.5, color=QUIET, ha="right")
        if number:
            sheet.line((box.left, box.bottom), (box.right, box.bottom), **style)


def _draw_slrs(sheet: Sheet, frame: Frame, die: Die) -> None:
    for _, box in die.slrs:
        sheet.rectangle(frame.place(box), fill=False, edgecolor=INK, linewidth=1.6, zorder=4)


def label_background(sheet: Sheet, frame: Frame, die: Die, occupied: Occupied) -> None:
    """Name the shell's and the infrastructure's areas where there is room for the name."""
    named = [("static shell", box) for box in _joined(die.static)] + list(die.reserved)
    for name, box in named:
        label_area(sheet, frame.place(box), name, occupied)


def _joined(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    """Return the boxes largest first, so that the name goes to where it is seen."""
    return tuple(sorted(boxes, key=lambda box: (-box.width * box.height, box.left, box.bottom)))


def label_area(sheet: Sheet, area: Box, name: str, occupied: Occupied) -> None:
    """Name an area in points at the first free place in it, if there is one."""
    x, y = area.centre
    for size, turned, share in product((7.5, 6.5, 5.5), (False, True), (0.0, 0.25, -0.25)):
        width, height = block_size((name,), size)
        box = Box.around(x, y + share * area.height, *((height, width) if turned else (width, height)))
        if area.holds(box) and occupied.free(box):
            patch = {
                "boxstyle": "square,pad=0.15",
                "facecolor": "white",
                "edgecolor": "none",
                "alpha": 0.85,
            }
            style: dict[str, Any] = {
                "ha": "center",
                "va": "center" if turned else "center_baseline",
                "bbox": patch,
            }
            sheet.write(*box.centre, name, size, rotation=90 if turned else 0, **style)
            occupied.take(box)
            return
