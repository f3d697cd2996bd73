"""How figures become PNG and SVG: matplotlib's renderers, but for texts and images, which took most of their time.

A text is measured once for all its sizes, both formats and the fitting of labels, and drawn into a PNG as one outline
rather than glyph by glyph. All texts are in one font, normal or bold, and none is mathematics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Affine2D, Transform
from numpy.typing import NDArray

from floorflow.view.sheet.geometry import POINTS_PER_INCH
from floorflow.view.sheet.text import FAMILY, FONT_SCALE, metrics, outline

_FAMILIES = (FAMILY, "Verdana", "sans-serif")
"""What an SVG asks for: where it is shown there may be another font only."""


class _MeasuredTexts:
    """Tells the extents of texts as they were measured once."""

    pixels_per_point = 1.0

    def get_text_width_height_descent(
        self,
        s: str,
        prop: FontProperties,
        ismath: Any,  # noqa: ARG002 - as matplotlib calls it
    ) -> tuple[float, float, float]:
        """Return width, height and descent of a line of text in pixels."""
        width, height, descent = metrics(s, prop.get_weight())
        scale = prop.get_size_in_points() / FONT_SCALE * self.pixels_per_point
        return width * scale, height * scale, descent * scale


class PngRenderer(_MeasuredTexts, RendererAgg):
    """Draws pixels; texts as outlines, images that are not smoothed by repeating their pixels."""

    def __init__(self, width: float, height: float, dpi: float) -> None:
        super().__init__(width, height, dpi)  # type: ignore[no-untyped-call]
        self.pixels_per_point = dpi / POINTS_PER_INCH
        # The parent, too, has this method on the instance.
        self._draw_pixels = self.draw_image
        self.draw_image = self._draw_scaled  # type: ignore[method-assign]

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """What was drawn: (rows, columns, 4), top row first."""
        return np.asarray(self.buffer_rgba())  # type: ignore[no-untyped-call]

    def option_scale_image(self) -> bool:
        """Ask for images as they are, with the transform to where they lie."""
        return True

    def _draw_scaled(
        self, gc: GraphicsContextBase, x: float, y: float, im: Any, transform: Transform | None = None
    ) -> None:
        """Draw an image, rows from the bottom up; if it comes with a transform, this takes the unit square to it."""
        if transform is None:
            self._draw_pixels(gc, x, y, im)
            return
        place = transform + Affine2D().translate(x, y)
        (left, bottom), (right, top) = place.transform([(0.0, 0.0), (1.0, 1.0)])
        columns, rows = _nearest(left, right, im.shape[1]), _nearest(bottom, top, im.shape[0])
        self._draw_pixels(gc, round(left), round(bottom), im[rows[:, np.newaxis], columns])

    def draw_text(  # noqa: PLR0917 - as the parent is called
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,  # noqa: ARG002
        mtext: Any = None,  # noqa: ARG002
    ) -> None:
        """Fill the outline of a line of text whose base line begins at (x, y), in pixels from the upper left corner."""
        scale = prop.get_size_in_points() / FONT_SCALE * self.pixels_per_point
        place = Affine2D().scale(scale).rotate_deg(angle).translate(x, self.height - y)
        filled = self.new_gc()
        filled.copy_properties(gc)
        filled.set_linewidth(0)
        filled.set_snap(False)
        self.draw_path(filled, outline(s, prop.get_weight()), place, gc.get_rgb())  # type: ignore[no-untyped-call]


class SvgRenderer(_MeasuredTexts, RendererSVG):
    """Writes SVG, texts as text; its pixels are points."""

    def draw_text(  # noqa: PLR0917 - as the parent is called
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        """Write a line of text, naming fonts to fall back on."""
        named = prop.copy()
        named.set_family(_FAMILIES)
        super().draw_text(gc, x, y, s, named, angle, ismath, mtext)  # type: ignore[no-untyped-call]


def _nearest(low: float, high: float, count: int) -> NDArray[np.intp]:
    """Return which of ``count`` equal parts of an extent lies at the middle of each of its pixels."""
    middles = np.arange(round(low), round(high)) + 0.5
    parts = (middles - low) / (high - low) * count
    return np.asarray(np.clip(parts, 0, count - 1), dtype=np.intp)
