"""Widths of texts in DejaVu Sans, which matplotlib ships: labels are fitted before they are drawn."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pathlib import Path

import matplotlib as mpl
from PIL import ImageFont

from floorflow.view.box import Box

FAMILY = "DejaVu Sans"
ASCENT, DESCENT, CAPITAL = 0.76, 0.24, 0.73
"""Of the font's letters, over its size."""
LINE_HEIGHT = 1.25
"""Height that is kept free for a line of text over its font size."""

_SAFETY = 1.04
"""Hinting, where an SVG is shown, makes text up to some per cent wider than its outlines."""
_MEASURED_SIZE = 1000.0


def font_files() -> list[str]:
    """Return the files of the font, normal and bold."""
    folder = Path(mpl.get_data_path()) / "fonts" / "ttf"
    return [str(folder / f"DejaVuSans{weight}.ttf") for weight in ("", "-Bold")]


@cache
def _font(bold: bool) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_files()[bold], _MEASURED_SIZE, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=8192)
def _measured(text: str, bold: bool) -> float:
    return _font(bold).getlength(text)


def drawn_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of the outlines of one line in points at a font size in points."""
    return _measured(text, bold) * size / _MEASURED_SIZE


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width to keep free for one line in points at a font size in points."""
    return drawn_width(text, size, bold=bold) * _SAFETY


def block_size(lines: tuple[str, ...], size: float, *, bold: bool = False) -> tuple[float, float]:
    """Return (width, height) in points of lines set below one another."""
    return max(text_width(line, size, bold=bold) for line in lines), len(lines) * size * LINE_HEIGHT


def shortened(text: str, width: float, size: float) -> str:
    """Return ``text``, or as much of its two ends around an ellipsis as fits into ``width`` points.

    The middle goes, because engines' names differ at their end and say what they are at their start.
    """

    def without_middle(length: int) -> str:
        head = (length + 1) // 2
        return text[:head] + "…" + text[len(text) - (length - head) :]

    return _longest(text, without_middle, width, size)


def clipped(text: str, width: float, size: float) -> str:
    """Return ``text``, or as much of its start as fits into ``width`` points with an ellipsis."""
    return _longest(text, lambda length: text[:length] + "…", width, size)


def _longest(text: str, cut: Callable[[int], str], width: float, size: float) -> str:
    """Return ``text`` if it fits, else the cut of it that keeps the most characters; at least the ellipsis."""
    if text_width(text, size) <= width:
        return text
    return cut(bisect_left(range(1, len(text)), x=True, key=lambda length: text_width(cut(length), size) > width))


def wrapped(text: str, width: float, size: float, most_lines: int) -> tuple[str, ...]:
    """Return ``text`` cut at spaces into lines of at most ``width`` points; the last ends in an ellipsis if clipped."""
    lines: list[str] = []
    words = text.split()
    for index, word in enumerate(words):
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        elif lines and len(lines) == most_lines:
            lines[-1] = " ".join([lines[-1], *words[index:]])
            break
        else:
            lines.append(word)
    return tuple(clipped(line, width, size) for line in lines)


class Occupied:
    """Boxes that already carry text, in points: nothing else may be written there."""

    def __init__(self) -> None:
        self._boxes: list[Box] = []

    def free(self, box: Box, gap: float = 1.0) -> bool:
        """Whether nothing is written within ``gap`` of ``box``."""
        return not any(box.overlaps(taken, gap) for taken in self._boxes)

    def take(self, box: Box) -> None:
        """Remember that ``box`` now carries text."""
        self._boxes.append(box)

    def take_first(self, boxes: Iterable[Box], gap: float = 1.0) -> Box | None:
        """Take the first of some boxes that is free, if one is."""
        box = next((box for box in boxes if self.free(box, gap)), None)
        if box is not None:
            self.take(box)
        return box
