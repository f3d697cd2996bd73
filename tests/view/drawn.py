"""What a figure holds, for tests: its texts, and which of them overlap or leave the sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox


def written(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return every text of a figure with its box in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = (artist for artist in figure.findobj(Text) if artist.get_text())
    return [(text.get_text(), Text.get_window_extent(text, renderer)) for text in texts]


def misplaced(figure: Figure) -> list[tuple[str, ...]]:
    """Return pairs of texts that overlap, and texts that leave the sheet."""
    texts = written(figure)
    boxes = np.array([box.extents for _, box in texts])
    low = np.maximum(boxes[:, np.newaxis, :2], boxes[np.newaxis, :, :2])
    high = np.minimum(boxes[:, np.newaxis, 2:], boxes[np.newaxis, :, 2:])
    pairs = np.argwhere(np.triu(((high - low) > 0.5).all(axis=2), k=1))
    sheet = figure.bbox.extents
    spilling = np.flatnonzero((boxes[:, :2] < sheet[:2]).any(axis=1) | (boxes[:, 2:] > sheet[2:]).any(axis=1))
    return [(texts[a][0], texts[b][0]) for a, b in pairs] + [(texts[index][0],) for index in spilling]
