"""The sheet that a picture is drawn on: areas, lines, marks and texts as plain data, and their writer as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from floorflow.view.box import Box, Point, borders
from floorflow.view.palette import INK, Colour
from floorflow.view.text import ASCENT, CAPITAL, DESCENT, FAMILY, drawn_width

Dashes = tuple[float, ...]
"""Lengths of strokes and gaps in points, as multiples of a line's width."""
Style = dict[str, Any]
"""How an area or a line is drawn: arguments of `Sheet.rectangle` or `Sheet.line` by their names."""

HATCHES = {
    "/": "M-2 2L2 -2M0 8L8 0M6 10L10 6",
    "\\": "M-2 6L2 10M0 0L8 8M6 -2L10 2",
    "x": "M0 8L8 0M0 0L8 8",
    ".": "M1.4 1.8h1.2m-1.2 .4h1.2M5.4 5.8h1.2m-1.2 .4h1.2",
}
"""Lines of a tile of 8 points a side."""
_MARKS: dict[str, list[Point]] = {
    "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "diamond": [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)],
    "cross": [(-1, -0.5), (-0.5, 0), (-1, 0.5), (-0.5, 1), (0, 0.5), (0.5, 1), (1, 0.5), (0.5, 0), (1, -0.5), (0.5, -1),
              (0, -0.5), (-0.5, -1)],
    "pentagon": [(math.sin(0.4 * math.pi * corner), math.cos(0.4 * math.pi * corner)) for corner in range(5)],
}  # fmt: skip
"""Corners of marks two units across."""


@dataclass(frozen=True)
class PictureStyle:
    """For what a picture is made. The page is in points as printed: ``scale`` of them are one of the sheet."""

    width: float | None = None
    """Of the page; None: as wide as the picture needs."""
    height: float | None = None
    """Of the page; None: as high as the picture needs, of a die at most ``die_height``."""
    scale: float = 1.0
    dpi: int = 110
    least_type: float = 5.0
    """Points of the sheet that the smallest text has."""
    die_height: float = 0.0
    in_a_row: int = 4
    """FPGAs side by side."""

    @property
    def is_whole(self) -> bool:
        """Whether title, use of slots and the table of modules belong to the picture."""
        return self.width is None

    @property
    def sheet_width(self) -> float:
        """Return the width of the page in points of the sheet."""
        return (self.width or 0.0) / self.scale

    @property
    def sheet_height(self) -> float:
        """Return the most points of the sheet that it may be high: without a height of its own nine inches."""
        return (self.height or 648.0) / self.scale


REVIEW = PictureStyle()
_PAPER = PictureStyle(252.0, None, 7 / 6.5, 300, 6.5, 330.0, 2)
STYLES = {
    "review": REVIEW,
    "paper": _PAPER,
    "wide paper": replace(_PAPER, width=515.5, die_height=290.0, in_a_row=4),
    "slide": PictureStyle(960.0, 540.0, 1.8, 144, 6.5, 240.0, 4),
}
"""On a screen; in a column of 3.5 inches, or over both (7.16), with no text below 7 points; on a slide of 16 to 9."""


@dataclass(frozen=True)
class Shape:
    """Something drawn: an element of SVG, under others of higher ``z``; ``box`` is where it lies, in points.

    ``opening``: of one with a name, the element up to where other attributes may follow.
    """

    kind: str
    box: Box
    style: Style
    svg: str
    z: float
    name: str = ""
    opening: str = ""


@dataclass(frozen=True)
class Written:
    """A text with its box in points."""

    text: str
    box: Box
    style: Style


@dataclass
class Sheet:
    """A white sheet; (0, 0) is the lower left corner, sizes in points. What is drawn is kept in order."""

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)
    texts: list[Written] = field(default_factory=list)
    style: PictureStyle = REVIEW

    def rectangle(self, box: Box, *, z: float = 1.0, name: str = "", **style: Any) -> None:
        """Draw a rectangle; ``style`` as of `_painted`. ``name`` becomes the element's id, and shows on a pointer."""
        geometry = f'x="{_n(box.left)}" y="{self._y(box.top)}" width="{_n(box.width)}" height="{_n(box.height)}"'
        self._add("rect", box, style, f"<rect {geometry}", z=z, name=name)

    def shape(self, boxes: Sequence[Box], *, z: float = 1.0, name: str = "", **style: Any) -> None:
        """Draw disjoint boxes as one shape: no line runs between those that touch."""
        if len(boxes) == 1:
            self.rectangle(boxes[0], z=z, name=name, **style)
            return
        around = _around([corner for box in boxes for corner in ((box.left, box.bottom), (box.right, box.top))])
        fill = {key: style[key] for key in style.keys() & {"fill", "opacity", "hatch", "hatch_colour", "hatch_opacity"}}
        if fill:
            squares = (f"M{_n(b.left)} {self._y(b.top)}h{_n(b.width)}v{_n(b.height)}h{_n(-b.width)}z" for b in boxes)
            self._add("area", around, fill, f'<path d="{"".join(squares)}"', z=z, name=name)
        line = {key: style[key] for key in style.keys() - fill.keys()}
        if line:
            segments = "".join(f"M{self._at(start)}L{self._at(end)}" for start, end in borders(boxes))
            self._add("border", around, line, f'<path stroke-linecap="square" d="{segments}"', z=z)

    def polygon(self, corners: Iterable[Point], *, z: float = 1.0, **style: Any) -> None:
        """Draw a polygon."""
        points = list(corners)
        self._add("polygon", _around(points), style, f'<polygon points="{self._points(points)}"', z=z)

    def line(
        self, *points: Point, z: float = 1.0, colour: Colour = INK, round_ends: bool = False, **style: Any
    ) -> None:
        """Draw a line through points."""
        style = {"edge": colour, "width": 1.0, **style}
        cap = ' stroke-linecap="round"' if round_ends else ""
        self._add("line", _around(points), style, f'<polyline{cap} points="{self._points(points)}"', z=z)

    def arrow(self, *points: Point, head: float, z: float = 1.0, colour: Colour = INK, **style: Any) -> None:
        """Draw a line through points to the base of a head, ``head`` points long, whose tip is the last."""
        start, tip = points[-2:]
        length = math.dist(start, tip) or 1.0
        along = ((tip[0] - start[0]) / length, (tip[1] - start[1]) / length)
        base = (tip[0] - along[0] * head, tip[1] - along[1] * head)
        self.line(*points[:-1], base, z=z, colour=colour, **style)
        self.head(tip, along, head, z=z + 0.1, fill=colour)

    def head(self, tip: Point, along: Point, length: float, *, z: float, **style: Any) -> None:
        """Draw the head of an arrow; ``along`` is the direction that it points in, of length 1."""
        (x, y), (along_x, along_y) = tip, along
        base, across = (x - along_x * length, y - along_y * length), 0.42 * length
        sides = [(base[0] - side * along_y * across, base[1] + side * along_x * across) for side in (1, -1)]
        self.polygon((tip, *sides), z=z, **style)

    def mark(self, at: Point, kind: str, size: float, *, z: float = 1.0, **style: Any) -> None:
        """Draw a mark ``size`` points across: ``circle`` or one of `_MARKS`."""
        x, y = at
        if kind == "circle":
            circle = f'<circle cx="{_n(x)}" cy="{self._y(y)}" r="{_n(size / 2)}"'
            self._add(kind, Box.around(x, y, size, size), style, circle, z=z)
            return
        corners = [(x + size / 2 * dx, y + size / 2 * dy) for dx, dy in _MARKS[kind]]
        self._add(kind, _around(corners), style, f'<polygon points="{self._points(corners)}"', z=z)

    def write(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 7.5,
        *,
        colour: Colour = INK,
        bold: bool = False,
        align: str = "start",
        middle: bool = False,
        turned: bool = False,
        plate: Style | None = None,
        z: float = 20.0,
    ) -> None:
        """Write text, its lines 1.15 font sizes apart, with the first one's base line at (x, y).

        ``align`` is ``start``, ``middle`` or ``end``; ``middle``: y is the middle of all lines; ``turned``: by 90
        degrees around (x, y); ``plate``: style of a rectangle behind it, ``pad`` points larger.
        """
        if not text:
            return
        lines, step = text.split("\n"), 1.15 * size
        first = y + (len(lines) - 1) * step / 2 - CAPITAL * size / 2 if middle else y
        width = max(drawn_width(line, size, bold=bold) for line in lines)
        left = x - {"start": 0.0, "middle": width / 2, "end": width}[align]
        box = Box(left, first - (len(lines) - 1) * step - DESCENT * size, left + width, first + ASCENT * size)
        if turned:
            # A quarter turn to the left takes what lies right of (x, y) above it, and what lies above to its left.
            box = Box(x + y - box.top, y + box.left - x, x + y - box.bottom, y + box.right - x)
        style = {"size": size, "colour": colour, "bold": bold}
        self.texts.append(Written(text, box, style))
        if plate is not None:
            self.rectangle(box.grown(plate["pad"]), z=z, **{key: plate[key] for key in plate if key != "pad"})
        turn = f' transform="rotate(-90 {_n(x)} {self._y(y)})"' if turned else ""
        weight, anchor = ' font-weight="bold"' if bold else "", f' text-anchor="{align}"' if align != "start" else ""
        for number, line in enumerate(lines):
            at = f'x="{_n(x)}" y="{self._y(first - number * step)}"'
            words = f'<text {at} font-size="{_n(size)}" fill="{colour}"{anchor}{weight}{turn}>{escape(line)}</text>'
            self.shapes.append(Shape("text", box, style, words, z))

    def sign(
        self, box: Box, text: str, size: float, *, colour: Colour, plate: Style | None = None, z: float = 20.0
    ) -> None:
        """Write bold text in the middle of a box."""
        self.write(*box.centre, text, size, colour=colour, bold=True, align="middle", middle=True, plate=plate, z=z)

    def svg(self) -> str:
        """Return the sheet as SVG."""
        width, height = _n(self.width), _n(self.height)
        page = (_n(size * self.style.scale) for size in (self.width, self.height))
        size = 'width="{}pt" height="{}pt" '.format(*page) + f'viewBox="0 0 {width} {height}"'
        fonts = f'font-family="{FAMILY}, Verdana, sans-serif" xml:space="preserve"'
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {fonts}>',
            f"<defs>{''.join(self.patterns.values())}</defs>",
            '<rect width="100%" height="100%" fill="white"/>',
            *(shape.svg for shape in self.in_order),
            "</svg>\n",
        ])  # fmt: skip

    @property
    def in_order(self) -> list[Shape]:
        """The shapes as they lie over one another."""
        return sorted(self.shapes, key=lambda shape: shape.z)

    @property
    def patterns(self) -> dict[str, str]:
        """The hatches that areas are filled with, by their identifiers, which say what they are."""
        used = sorted({_hatch(shape.style) for shape in self.shapes if "hatch" in shape.style})
        tile, line = 'width="8" height="8" patternUnits="userSpaceOnUse"', 'stroke-width="0.5"'
        return {
            name: f'<pattern id="{name}" {tile}><path d="{HATCHES[kind]}" stroke="{colour}" {line}/></pattern>'
            for name, kind, colour in used
        }

    def _add(self, kind: str, box: Box, style: Style, start: str, *, z: float, name: str = "") -> None:
        """Add an element without its end; where it is hatched a second one lies over the first."""
        element = start[1:].split(maxsplit=1)[0]
        title = f" id={quoteattr(name)}><title>{escape(name)}</title></{element}>" if name else "/>"
        for number, paint in enumerate(_painted(**style)):
            own, end = (name, title) if number == 0 else ("", "/>")
            opening = f"{start} {paint}"
            self.shapes.append(Shape(kind, box, style, opening + end, z, own, opening if own else ""))

    def _y(self, y: float) -> str:
        return _n(self.height - y)

    def _at(self, point: Point) -> str:
        return f"{_n(point[0])} {self._y(point[1])}"

    def _points(self, points: Iterable[Point]) -> str:
        return " ".join(map(self._at, points))


def _painted(
    *,
    fill: Colour | None = None,
    opacity: float = 1.0,
    hatch: str | None = None,
    hatch_colour: Colour | None = None,
    hatch_opacity: float = 1.0,
    edge: Colour | None = None,
    line_opacity: float = 1.0,
    width: float = 0.8,
    dashes: Dashes = (),
) -> Iterator[str]:
    """Yield the attributes of each layer of an area or line: its fill and line, and the hatch over them."""
    clear = "" if opacity == 1.0 else f' fill-opacity="{_n(opacity)}"'
    line = "" if edge is None or not width else f' stroke="{edge}" stroke-width="{_n(width)}"'
    line += f' stroke-opacity="{_n(line_opacity)}"' if line_opacity != 1.0 else ""
    dash = f' stroke-dasharray="{" ".join(_n(length * width) for length in dashes)}"' if dashes and line else ""
    yield f'fill="{fill or "none"}"{clear}{line}{dash}'
    if hatch is not None:
        name, _, _ = _hatch({"hatch": hatch, "hatch_colour": hatch_colour, "edge": edge})
        yield f'fill="url(#{name})" fill-opacity="{_n(hatch_opacity)}"'


def _hatch(style: Style) -> tuple[str, str, Colour]:
    """Return the identifier, kind and colour of a hatch, which is the line's unless it has one of its own."""
    colour = style.get("hatch_colour") or style["edge"]
    return f"hatch{list(HATCHES).index(style['hatch'])}{colour[1:]}", style["hatch"], colour


def _around(points: Sequence[Point]) -> Box:
    xs, ys = zip(*points, strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))


def _n(number: float) -> str:
    """Write a number of points with two decimals at most."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
