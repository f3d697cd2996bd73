"""What a picture holds, for tests: its texts, and which of them overlap or leave the sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.text import Text

from floorflow.view.box import Box
from floorflow.view.sheet import Sheet

if TYPE_CHECKING:
    from floorflow.view.files import Drawing
    from floorflow.view.sheet import Shape


def written(drawing: Drawing) -> list[tuple[str, Box]]:
    """Return every text with its box, in points on a sheet, in pixels on a figure."""
    if isinstance(drawing, Sheet):
        return [(text.text, text.box) for text in drawing.texts]
    drawing.draw_without_rendering()
    texts = (text for text in drawing.findobj(Text) if text.get_text() and text.get_visible())
    return [(text.get_text(), Box(*Text.get_window_extent(text).extents)) for text in texts]


def texts_of(drawing: Drawing) -> list[str]:
    return [text for text, _ in written(drawing)]


def shapes_of(sheet: Sheet, kind: str, **style: object) -> list[Shape]:
    """Return the shapes of a kind in whose style these values are."""
    return [shape for shape in sheet.shapes if shape.kind == kind and style.items() <= shape.style.items()]


def misplaced(drawing: Drawing) -> list[tuple[str, ...]]:
    """Return pairs of texts that overlap, and texts that leave the sheet."""
    texts = written(drawing)
    extents = (0, 0, drawing.width, drawing.height) if isinstance(drawing, Sheet) else drawing.bbox.extents
    boxes = np.array([(box.left, box.bottom, box.right, box.top) for _, box in texts])
    low = np.maximum(boxes[:, np.newaxis, :2], boxes[np.newaxis, :, :2])
    high = np.minimum(boxes[:, np.newaxis, 2:], boxes[np.newaxis, :, 2:])
    pairs = np.argwhere(np.triu(((high - low) > 0.4).all(axis=2), k=1))
    spilling = np.flatnonzero((boxes[:, :2] < extents[:2]).any(axis=1) | (boxes[:, 2:] > extents[2:]).any(axis=1))
    return [(texts[a][0], texts[b][0]) for a, b in pairs] + [(texts[index][0],) for index in spilling]
