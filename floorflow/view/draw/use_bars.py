"""Bars of use against what is available, the limit as a tick across them."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.view.contents.scene import Use
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import BAR, CROSSING, INK, TRACK
from floorflow.view.sheet.sheet import Sheet
from floorflow.view.sheet.text import text_width

BAR_ROW = 10.5
"""Height of a bar's line in points."""
BAR_KEY = "63% of 70%: used and limit (tick), both as shares of what shell and infrastructure leave"
_SIZE = 6.5
_NAME_WIDTH = 36.0
_TEXT_WIDTH = text_width("100% of 100%", _SIZE) + 4


def draw_bars(sheet: Sheet, left: float, right: float, y: float, use: Mapping[str, Use]) -> float:
    """Draw a bar a resource downwards from ``y``, its limit as a tick; return where the next line may begin."""
    for name, amount in use.items():
        y -= BAR_ROW
        sheet.write(left, y, name, _SIZE)
        track = Box(left + _NAME_WIDTH, y - 0.6, right - _TEXT_WIDTH, y + 5.6)
        draw_bar(sheet, track, amount)
        sheet.write(right, y, f"{amount.share:.0%} of {amount.limit:.0%}", _SIZE, ha="right")
    return y


def draw_bar(sheet: Sheet, track: Box, amount: Use) -> None:
    """Draw one bar: the whole track is all that is available, the tick the limit."""
    sheet.rectangle(track, facecolor=TRACK, edgecolor="none", zorder=5)
    length = track.width * min(amount.share, 1.0)
    over = amount.share > amount.limit + 1e-9
    if length > 0:
        used = Box(track.left, track.bottom, track.left + length, track.top)
        sheet.rectangle(used, facecolor=CROSSING if over else BAR, edgecolor="none", zorder=6)
    if amount.limit < 1:
        x = track.left + track.width * amount.limit
        sheet.line((x, track.bottom - 1.4), (x, track.top + 1.4), color=INK, linewidth=1.0, zorder=7)
