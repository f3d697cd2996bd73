"""The instances of a utilisation report as an icicle: each right of its parent, as high as the share that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from floorflow.view.box import Box
from floorflow.view.palette import QUIET, Colour, ink_on, level_colour
from floorflow.view.sheet import Sheet
from floorflow.view.text import clipped, shortened, text_width

_COLUMN, _HEIGHT, _MARGIN, _HEAD, _FOOT = 190.0, 560.0, 16.0, 52.0, 44.0
_SIZE, _PAD, _LEAST = 8.0, 4.0, 2.0
"""Points: font, room beside a text, and the height below which an instance is not drawn."""


@dataclass(frozen=True)
class Branch:
    """An instance: ``weight`` (sum of its shares of the five resources) is its height, ``share`` its colour."""

    name: str
    weight: float
    share: float
    told: str
    children: tuple[Branch, ...] = ()

    @property
    def depth(self) -> int:
        """Levels from here down."""
        return 1 + max((child.depth for child in self.children), default=0)


def utilisation_chart(title: str, subtitle: str, tops: Sequence[Branch]) -> Sheet:
    """Draw instances from left to right, the largest on top; the colour is the largest share of one resource."""
    columns = max(3, *(top.depth for top in tops))
    sheet = Sheet(2 * _MARGIN + columns * _COLUMN, _HEIGHT + _HEAD + _FOOT)
    room = sheet.width - 2 * _MARGIN
    sheet.write(_MARGIN, sheet.height - 22, clipped(title, 0.88 * room, 12.0), 12.0, bold=True)
    sheet.write(_MARGIN, sheet.height - 38, clipped(subtitle, room, _SIZE), _SIZE, colour=QUIET)
    most = max(_largest(top) for top in tops) or 1.0
    bottom = _FOOT
    _stack(sheet, tops, Box(_MARGIN, bottom, _MARGIN + _COLUMN, bottom + _HEIGHT), most, 0.0)
    _scale(sheet, most)
    return sheet


def _largest(branch: Branch) -> float:
    return max([branch.share, *map(_largest, branch.children)])


def _stack(sheet: Sheet, branches: Sequence[Branch], column: Box, most: float, whole: float) -> None:
    """Stack branches from the top of a column down; ``whole`` is the weight that its height stands for."""
    whole = max(whole, sum(branch.weight for branch in branches)) or 1.0
    top = column.top
    for branch in branches:
        height = column.height * branch.weight / whole
        if height >= _LEAST:
            box = Box(column.left, top - height, column.right, top)
            _draw(sheet, branch, box, most)
            beside = Box(box.right, box.bottom, box.right + _COLUMN, box.top)
            _stack(sheet, branch.children, beside, most, branch.weight)
        top -= height


def _draw(sheet: Sheet, branch: Branch, box: Box, most: float) -> None:
    fill = _colour(branch.share / most)
    sheet.rectangle(box, fill=fill, edge="#ffffff", width=0.6)
    line, room = 1.25 * _SIZE, box.width - 2 * _PAD
    if box.height < line:
        return
    name = shortened(branch.name, room, _SIZE)
    both = f"{branch.name}   {branch.told}"
    lines = [name, clipped(branch.told, room, _SIZE)]
    if text_width(both, _SIZE) <= room:
        lines = [both]
    elif box.height < 2 * line:
        lines = [name]
    sheet.write(box.left + _PAD, box.centre[1], "\n".join(lines), _SIZE, colour=ink_on(fill), middle=True)


def _colour(level: float) -> Colour:
    """Return the fill of a level from 0 to 1."""
    return level_colour(level**0.5)  # most instances are small


def _scale(sheet: Sheet, most: float) -> None:
    steps, width = 40, 4.0
    for step in range(steps):
        left = _MARGIN + step * width
        sheet.rectangle(Box(left, 14, left + width, 24), fill=_colour(step / (steps - 1)))
    told = f"0 to {most:.1%}: the largest share of one resource. Height: the sum of the shares of all five."
    sheet.write(_MARGIN + steps * width + 8, 16, told, _SIZE, colour=QUIET)
