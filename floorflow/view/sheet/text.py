"""Widths and outlines of texts in DejaVu Sans, which matplotlib ships: labels are fitted before they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.path import Path
from matplotlib.textpath import TextToPath
from numpy.typing import NDArray

from floorflow.view.sheet.geometry import POINTS_PER_INCH, Box

LINE_HEIGHT = 1.25
"""Height of a line of text over its font size."""

_SAFETY = 1.04
"""Hinting, where an SVG is shown, makes text up to some per cent wider than its outlines."""

FAMILY = "DejaVu Sans"

FONT_SCALE = 100.0
"""Font size in points at which texts are measured."""

Weight = str | int

_GLYPHS: dict[str, tuple[NDArray[np.float64], NDArray[np.uint8]]] = {}
"""Vertices and codes of the glyphs drawn so far, by the names of font and glyph."""


@lru_cache(maxsize=8192)
def metrics(text: str, weight: Weight) -> tuple[float, float, float]:
    """Return width, height and descent in points of one line at font size `FONT_SCALE`."""
    width, height, descent = TextToPath().get_text_width_height_descent(text, _font(weight), False)  # noqa: FBT003 - its own API
    return width, height, descent


@lru_cache(maxsize=8192)
def outline(text: str, weight: Weight) -> Path:
    """Return the outline in points of one line at font size `FONT_SCALE`, its base line from (0, 0) to the right."""
    font = get_font(findfont(_font(weight)))
    font.set_size(FONT_SCALE, POINTS_PER_INCH)
    places, new, _ = TextToPath().get_glyphs_with_font(font, text, _GLYPHS, return_new_glyphs_only=True)
    _GLYPHS.update(new)
    glyphs = [(*_GLYPHS[name], (x, y)) for name, x, y, _ in places]
    inked = [(vertices + place, codes) for vertices, codes, place in glyphs if len(codes)]
    if not inked:
        return Path(np.empty((0, 2)))
    vertices, codes = zip(*inked, strict=True)
    return Path(np.concatenate(vertices), np.concatenate(codes))


@lru_cache
def _font(weight: Weight) -> FontProperties:
    return FontProperties(family=FAMILY, size=FONT_SCALE, weight=weight)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of one line in points at a font size in points."""
    width, _, _ = metrics(text, "bold" if bold else "normal")
    return width * (size / FONT_SCALE) * _SAFETY


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
    fitting, too_many = 0, len(text)
    while too_many - fitting > 1:
        length = (fitting + too_many) // 2
        if text_width(cut(length), size) <= width:
            fitting = length
        else:
            too_many = length
    return cut(fitting)


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
