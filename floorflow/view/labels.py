"""Find the label that fits into each module's rectangle: as much of number, name and folding as there is room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from floorflow.view.box import Box, Point
from floorflow.view.scene import ModuleView
from floorflow.view.sheet import Sheet
from floorflow.view.text import Occupied, block_size, shortened

_PADDING = 3.0
"""Points between a label's text and the edge of its box."""

Wording = tuple[tuple[str, ...], float]
"""Lines of a label and their font size."""


@dataclass(frozen=True)
class Label:
    """A label: lines of text in ``box`` (points), turned by 90 degrees if ``turned``.

    ``leader`` is the point that a label outside its area belongs to, else None.
    """

    lines: tuple[str, ...]
    size: float
    turned: bool
    box: Box
    leader: Point | None = None

    def draw(self, sheet: Sheet) -> None:
        """Draw it in its box, with a line to where it belongs if that is elsewhere."""
        if self.leader is not None:
            sheet.line(self.leader, self.box.centre, width=0.6, z=12)
        plate = {"fill": "white", "edge": "#6b7078", "width": 0.5, "pad": 1.8}
        text, at = "\n".join(self.lines), self.box.centre
        sheet.write(*at, text, self.size, align="middle", middle=True, turned=self.turned, plate=plate, z=13)


def place_labels(placed: Sequence[tuple[int, Box, Iterator[Wording]]], occupied: Occupied) -> dict[int, Label]:
    """Return a label for each numbered area in points, in the first of its wordings that fits; none overlap.

    Labels that fit into their area are placed first; numbers of smaller ones take what is left.
    """
    labels: dict[int, Label] = {}
    for number, area, wordings in placed:
        label = _inside(wordings, area, occupied)
        if label is not None:
            labels[number] = label
    for number, area, _ in placed:
        if number not in labels:
            labels[number] = _outside(str(number), area, occupied)
    return labels


def _inside(wordings: Iterator[Wording], area: Box, occupied: Occupied) -> Label | None:
    for lines, size in wordings:
        width, height = _boxed(lines, size)
        for turned in (False, True):
            box = Box.around(*area.centre, *((height, width) if turned else (width, height)))
            if area.holds(box) and occupied.take_first([box]):
                return Label(lines, size, turned, box)
    return None


def _outside(number: str, area: Box, occupied: Occupied) -> Label:
    """Put the number on the nearest free place around a rectangle too small to hold it."""
    width, height = _boxed((number,), 6.0)
    x, y = area.centre
    steps = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
    places = (
        Box.around(x + step_x * reach, y + step_y * reach, width, height)
        for reach in range(0, 180, 3)
        for step_x, step_y in steps
    )
    middle = Box.around(x, y, width, height)
    box = occupied.take_first(places) or middle
    return Label((number,), 6.0, turned=False, box=box, leader=None if box == middle else (x, y))


def _boxed(lines: tuple[str, ...], size: float) -> tuple[float, float]:
    width, height = block_size(lines, size, bold=True)
    return width + 2 * _PADDING, height + _PADDING


def module_wordings(module: ModuleView) -> Iterator[Wording]:
    """Go from the fullest wording of a module to the shortest."""
    layer, headline = module.contents.layer_text(110.0, 7.0), module.contents.headline
    if layer:
        yield (f"{module.number}  {module.name}", f"{layer}: {headline}"), 8.0
        for size in (8.0, 7.0, 6.5):
            yield (f"{module.number}  {module.name}", layer), size
    yield from name_wordings(module.number, module.name)


def name_wordings(number: int, name: str) -> Iterator[Wording]:
    """Go from number and name to the number alone."""
    for size in (8.0, 7.0, 6.5):
        yield (f"{number}  {name}",), size
        yield (str(number), name), size
    for width, size in ((120.0, 7.5), (80.0, 7.0), (56.0, 6.5)):
        yield (str(number), shortened(name, width, size)), size
    yield from number_wordings(number)


def number_wordings(number: int) -> Iterator[Wording]:
    """Go from a large number to a small one."""
    for size in (8.0, 7.0, 6.0, 5.0):
        yield (str(number),), size
